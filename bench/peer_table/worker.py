"""The process that one peer lives in: worker.py ADAPTER THREADS READ WRITE.

Words: `hello` (version), `open` (load and first run of one network), `time` (runs for some seconds), `answers`.
"""
import importlib
import sys
import time
from pathlib import Path

# Not this folder, whose files bear common names, and the package's own folder after those of the libraries.
sys.path[:] = [*sys.path[1:], str(Path(__file__).resolve().parents[1])]

from peer_table.ceiling import Ceiling  # noqa: E402
from peer_table.protocol import serve  # noqa: E402


def status_mb(key):
    """A line of this process's memory account, in MiB."""
    line = next(l for l in Path("/proc/self/status").read_text().splitlines() if l.startswith(key))
    return int(line.split()[1]) / 1024


def forget_peak():
    """Lets the kernel count the peak of resident memory anew."""
    Path("/proc/self/clear_refs").write_text("5")


class Serving:
    """What the words do. Loading the adapter's library belongs to the empty process, loading a network does not."""

    def __init__(self, adapter_name, threads):
        self.adapter = importlib.import_module(f"peer_table.adapters.{adapter_name}").Adapter(threads)
        self.runner, self.feed = None, {}   # adapters use the arrays in place
        self.last_run = 0.0                 # seconds
        self.ceiling = Ceiling(threads)

    def hello(self):
        return {"version": self.adapter.version(), "notes": self.adapter.notes()}

    def open(self, file, inputs):
        import numpy as np
        with np.load(inputs) as stored:
            self.feed = {name: np.asarray(stored[name], order="C") for name in stored.files}
        forget_peak()
        empty = status_mb("VmRSS")
        began = time.perf_counter()
        self.runner = self.adapter.load(file, self.feed)
        loaded = time.perf_counter()
        self.runner.run()
        ran = time.perf_counter()
        return {"load_ms": (loaded - began) * 1e3, "first_ms": (ran - loaded) * 1e3,
                "memory_mb": status_mb("VmHWM") - empty}

    def time(self, seconds, warm_seconds=0.0, least=1, clock="wall"):
        """Milliseconds of each run, by the clock on the wall or of processor time (of all threads), and what this
        process could have computed just then. The warm-up is not among them; where one run is longer than the turn,
        it needs none."""
        run, now = self.runner.run, {"wall": time.perf_counter_ns, "cpu": time.process_time_ns}[clock]
        warm = self.last_run <= max(seconds, warm_seconds)
        end = now() + warm_seconds * 1e9
        while warm and now() < end:
            run()
        times, end = [], now() + seconds * 1e9
        while len(times) < least or now() < end:
            began = now()
            run()
            times.append(now() - began)
        self.last_run = min(times) * 1e-9
        return {"times_ms": [t * 1e-6 for t in times], "peak_gflops": self.ceiling.measure(now)}

    def answers(self, to):
        import numpy as np
        np.savez(to, *[np.asarray(a) for a in self.runner.answers()])


def main():
    adapter_name, threads, read_from, write_to = sys.argv[1], *map(int, sys.argv[2:5])
    made = {}

    def serving(word):
        def call(**details):
            if "it" not in made:
                made["it"] = Serving(adapter_name, threads)
            return getattr(made["it"], word)(**details)
        return call
    serve({word: serving(word) for word in ("hello", "open", "time", "answers")}, read_from, write_to)


if __name__ == "__main__":
    main()
