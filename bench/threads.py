#!/usr/bin/env python3
"""How two threads fare: on an idle machine, beside a busy neighbour, and as four sessions at once.

    bench/threads.py MODEL... [--mica build/mica] [--threads 2] [--seconds 1] [--rounds 5] [--json FILE]

For each model, medians over rounds of `mica bench` runs, one thread and several in turn, each after its warm-up:
  idle     time of one thread over that of several: how the work scales
  beside   time of several threads over that of one, both beside a process that keeps one processor busy
  four     runs a second of four processes at once over those of one, all with several threads
The limits: `beside` at most 1.05 in the median of all models and 1.15 for each, `four` at least 0.95. Exit code 1 when
one does not hold. For a machine without other work; ratios of a machine with other work say nothing.
"""

import argparse
import contextlib
import json
import os
import statistics
import subprocess
import sys

MOST_BESIDE, MOST_BESIDE_OF_ONE, LEAST_OF_FOUR = 1.05, 1.15, 0.95


def start(options, model, threads):
    command = [options.mica, "bench", model, "--threads", str(threads), "--seconds", str(options.seconds)]
    return subprocess.Popen(command + ["--format", "json"], stdout=subprocess.PIPE, text=True)


def finished(process):
    text, _ = process.communicate()
    if process.returncode:
        sys.exit(f"mica bench ended with {process.returncode}")
    return json.loads(text)["median_ms"]


def times(options, model):
    """Median ms of one thread and of several, round by round."""
    return [[finished(start(options, model, n)) for n in (1, options.threads)] for _ in range(options.rounds)]


@contextlib.contextmanager
def busy_neighbour(processor):
    """A process that keeps one processor busy."""
    spin = f"import os; os.sched_setaffinity(0, {{{processor}}})\nwhile True: pass"
    process = subprocess.Popen([sys.executable, "-c", spin])
    try:
        yield
    finally:
        process.kill()
        process.wait()


def four_at_once(options, model):
    alone = 1 / finished(start(options, model, options.threads))
    together = [start(options, model, options.threads) for _ in range(4)]
    return sum(1 / finished(process) for process in together) / alone


def measure(options, model, neighbour):
    idle = [one / several for one, several in times(options, model)]
    with busy_neighbour(neighbour):
        beside = [several / one for one, several in times(options, model)]
    four = [four_at_once(options, model) for _ in range(options.rounds)]
    name = os.path.splitext(os.path.basename(model))[0]
    return {"model": name} | {
        key: statistics.median(ratios) for key, ratios in (("idle", idle), ("beside", beside), ("four", four))
    }


def problems(rows):
    beside = statistics.median(row["beside"] for row in rows)
    if beside > MOST_BESIDE:
        yield f"beside a busy neighbour the median of all models is {beside:.3f}, more than {MOST_BESIDE}"
    for row in rows:
        if row["beside"] > MOST_BESIDE_OF_ONE:
            yield f"{row['model']} beside a busy neighbour: {row['beside']:.3f}, more than {MOST_BESIDE_OF_ONE}"
        if row["four"] < LEAST_OF_FOUR:
            yield f"{row['model']}, four sessions: {row['four']:.3f} of one's runs, less than {LEAST_OF_FOUR}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", metavar="MODEL")
    parser.add_argument("--mica", default="build/mica")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    neighbour = max(os.sched_getaffinity(0))
    rows = []
    print(f"{'model':24}{'idle':>8}{'beside':>8}{'four':>8}")
    for model in options.models:
        rows.append(measure(options, model, neighbour))
        print("{model:24}{idle:8.3f}{beside:8.3f}{four:8.3f}".format(**rows[-1]), flush=True)
    if options.json:
        with open(options.json, "w") as file:
            json.dump(rows, file, indent=1)
    found = list(problems(rows))
    print("\n".join(found) or "all limits hold")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
