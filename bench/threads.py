#!/usr/bin/env python3
"""How two threads fare: on an idle machine, beside a busy neighbour, and as four sessions at once.

    bench/threads.py MODEL... [--mica build/mica] [--threads 2] [--seconds 1] [--rounds 5] [--patience 60]
                     [--json FILE]

For each model, medians over rounds of `mica bench` runs, one thread and several in turn, each after its warm-up (of
times, medians; of runs a second, means):
  idle     time of one thread over that of several: how the work scales. Virtual processors may be threads of one core
           for a while, or of cores that share no cache: a round counts only when multiply-adds alone scale with the
           threads and a line of memory goes to the other thread and back in 150 ns, both before it and after it. Rounds
           go on until enough count, for --patience seconds; none: no figure, and the limit is missed
  far      the same of rounds in which the threads shared no cache, where there were any
  beside   time of several threads over that of one, both beside a process that keeps one processor busy, behind 100
           runs to warm up
  four     runs a second of four processes at once over those of one, all with several threads
The limits: `idle` at least 0.925 a thread, `beside` at most 1.05 in the median of all models and 1.15 for each, `four`
at least 0.95. Exit code 1 when one does not hold. For a machine without other work; ratios of a machine with other work
say nothing.
"""

import argparse
import contextlib
import json
import os
import statistics
import subprocess
import sys
import time

LEAST_IDLE, LEAST_CEILING = 0.925, 0.95  # of a thread, each
MOST_HANDOVER = 150  # ns to another thread and back: 50 to 100 within a shared cache, 300 and more beyond
WARM_UP = 100  # runs beside the neighbour before those that count
MOST_BESIDE, MOST_BESIDE_OF_ONE, LEAST_OF_FOUR = 1.05, 1.15, 0.95


def start(options, model, threads, warm_up=0):
    command = [options.mica, "bench", model, "--threads", str(threads), "--seconds", str(options.seconds)]
    command += ["--warm-up", str(warm_up)]
    return subprocess.Popen(command + ["--format", "json"], stdout=subprocess.PIPE, text=True)


def finished(process, figure="median_ms"):
    text, _ = process.communicate()
    if process.returncode:
        sys.exit(f"mica bench ended with {process.returncode}")
    return json.loads(text)[figure]


def runs_at_once(options, model, threads, processes, figure="median_ms"):
    """Runs a millisecond of so many processes together."""
    together = [start(options, model, threads) for _ in range(processes)]
    return sum(1 / finished(process, figure) for process in together)


def times(options, model):
    """Median ms of one thread and of several behind their warm-up, round by round."""
    return [[finished(start(options, model, n, WARM_UP)) for n in (1, options.threads)] for _ in range(options.rounds)]


def state(options):
    """Of the machine right now: "near" or "far" where multiply-adds scale with the threads, else None."""
    doctor = subprocess.run([options.mica, "doctor", "--format", "json"], capture_output=True, text=True, check=True)
    ceilings = json.loads(doctor.stdout)["ceilings"]
    one, all_threads = ceilings["fma_gflops"]
    if all_threads / one / options.threads < LEAST_CEILING or "handover_ns" not in ceilings:
        return None
    return "near" if ceilings["handover_ns"] <= MOST_HANDOVER else "far"


def idle(options, model):
    """Medians of the rounds that count, and how many these are."""
    ratios, apart, end = {"near": [], "far": []}, [], time.monotonic() + options.patience
    before = state(options)
    while len(ratios["near"]) < options.rounds and time.monotonic() < end:
        one, several = (finished(start(options, model, n)) for n in (1, options.threads))
        together = runs_at_once(options, model, 1, options.threads)
        after = state(options)
        if before and before == after:
            ratios[after].append(one / several)
            apart.append(one * together)
        before = after
    return {
        "idle": statistics.median(ratios["near"]) if ratios["near"] else None,
        "idle_rounds": len(ratios["near"]),
        "far": statistics.median(ratios["far"]) if ratios["far"] else None,
        "apart": statistics.median(apart) if apart else None,
    }


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
    """By means: a run in which the process had to wait counts as much as the others."""
    alone = finished(start(options, model, options.threads), "mean_ms")
    return runs_at_once(options, model, options.threads, 4, "mean_ms") * alone


def measure(options, model, neighbour):
    scaling = idle(options, model)
    with busy_neighbour(neighbour):
        beside = [several / one for one, several in times(options, model)]
    four = [four_at_once(options, model) for _ in range(options.rounds)]
    name = os.path.splitext(os.path.basename(model))[0]
    return {"model": name} | scaling | {
        key: statistics.median(ratios) for key, ratios in (("beside", beside), ("four", four))
    }


def problems(rows, threads):
    for row in rows:
        if row["idle"] is None:
            yield f"{row['model']} has no figure: multiply-adds alone did not scale, or the threads shared no cache"
        elif row["idle"] < LEAST_IDLE * threads:
            yield f"{row['model']} scales to {row['idle']:.3f}, less than {LEAST_IDLE * threads:.2f}"
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
    parser.add_argument("--patience", type=float, default=60)
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    neighbour = max(os.sched_getaffinity(0))
    rows = []
    columns = ("idle", "far", "apart", "beside", "four")
    print(f"{'model':24}" + "".join(f"{column:>8}" for column in columns))
    for model in options.models:
        rows.append(measure(options, model, neighbour))
        cells = ("-" if rows[-1][column] is None else f"{rows[-1][column]:.3f}" for column in columns)
        print(f"{rows[-1]['model']:24}" + "".join(f"{cell:>8}" for cell in cells), flush=True)
    if options.json:
        with open(options.json, "w") as file:
            json.dump(rows, file, indent=1)
    found = list(problems(rows, options.threads))
    print("\n".join(found) or "all limits hold")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
