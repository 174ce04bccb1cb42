"""The multiply-add ceiling of a program's own process, measured at the end of each of its turns, so that what slows
the program for a while (a neighbour on the core's other thread, a lower clock) slows what it is held against."""
import ctypes
import os
import statistics
import threading
import time

from peer_table import native

LIBRARY = "MICA_BENCH_CEILING"   # names the library in a worker's environment; without it there is no ceiling
TRY_SECONDS, TRIES = 0.001, 9


def build(folder):
    """The library, or None where there is no C compiler."""
    return native.library("ceiling", folder, "-march=native", "-ffp-contract=fast")


class Ceiling:
    """GFLOP/s of `threads` threads at once."""

    def __init__(self, threads):
        path, self.threads, self.rounds = os.environ.get(LIBRARY), threads, 0
        self.library = ctypes.CDLL(path) if path else None
        if self.library:
            self.library.multiply_adds.restype = ctypes.c_float
            self.library.multiply_adds.argtypes = [ctypes.c_long, ctypes.c_float, ctypes.c_float]
            self.flops = self.library.round_flops()

    def seconds(self, rounds, now):
        began = now()
        self.library.multiply_adds(rounds, 0.5, 1.0)
        return (now() - began) * 1e-9

    def measure(self, now=time.perf_counter_ns):
        """The sum over threads of each one's median over tries, as a turn's figure is the median over its runs; None
        without the library. now: the clock of the program's runs, in nanoseconds."""
        if not self.library:
            return None
        while not self.rounds:
            probe = 10 ** 5
            self.rounds = int(probe * TRY_SECONDS / max(self.seconds(probe, now), 1e-9))
        rates = []

        def tries():
            taken = statistics.median(self.seconds(self.rounds, now) for _ in range(TRIES))
            rates.append(self.flops * self.rounds / taken * 1e-9)
        others = [threading.Thread(target=tries) for _ in range(self.threads - 1)]
        for other in others:
            other.start()
        tries()
        for other in others:
            other.join()
        return sum(rates)
