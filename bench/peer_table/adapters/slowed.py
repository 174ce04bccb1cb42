"""Mica with a planted slowdown, for the self-test of tools/perf_gate: after each run it computes for a share of the
run's time more. MICA_SLOWED is the factor."""
import os
import time

from peer_table.adapters import mica

FACTOR = float(os.environ.get("MICA_SLOWED", "1"))


class Adapter(mica.Adapter):
    def load(self, file, feed):
        return Runner(super().load(file, feed))


class Runner:
    def __init__(self, inner):
        self.inner = inner

    def run(self):
        began = time.process_time_ns()
        self.inner.run()
        spent = time.process_time_ns() - began
        while time.process_time_ns() < began + FACTOR * spent:
            pass

    def answers(self):
        return self.inner.answers()
