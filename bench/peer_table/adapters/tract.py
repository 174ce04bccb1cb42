"""tract, which computes on one thread."""
import importlib.metadata

import tract


class Adapter:
    def __init__(self, threads):
        self.threads = threads

    def version(self):
        return importlib.metadata.version("tract")

    def notes(self):
        return "one thread" if self.threads > 1 else ""

    def load(self, file, feed):
        return Runner(tract.onnx().load(file).into_model().into_runnable(), feed)


class Runner:
    def __init__(self, runnable, feed):
        self.runnable, self.feed, self.results = runnable, list(feed.values()), []

    def run(self):
        self.results = self.runnable.run(self.feed)

    def answers(self):
        return [value.to_numpy() for value in self.results]
