"""LiteRT's interpreter, whose default delegate is XNNPACK. Files are channels last."""
import importlib.metadata

import numpy as np
from ai_edge_litert.interpreter import Interpreter


class Adapter:
    def __init__(self, threads):
        self.threads = threads

    def version(self):
        return importlib.metadata.version("ai-edge-litert")

    def notes(self):
        return ""

    def load(self, file, feed):
        return Runner(Interpreter(file, num_threads=self.threads), feed)


class Runner:
    def __init__(self, interpreter, feed):
        self.interpreter = interpreter
        interpreter.allocate_tensors()
        wanted = sorted(interpreter.get_input_details(), key=lambda detail: detail["name"])
        for detail, value in zip(wanted, feed.values(), strict=True):
            shape = tuple(detail["shape"])
            if shape != value.shape:
                value = np.moveaxis(value, 1, -1)
            interpreter.set_tensor(detail["index"], np.ascontiguousarray(value, detail["dtype"]))
        self.outputs = sorted(interpreter.get_output_details(), key=lambda detail: detail["name"])

    def run(self):
        self.interpreter.invoke()

    def answers(self):
        return [self.interpreter.get_tensor(detail["index"]) for detail in self.outputs]
