"""Random layers as they stand in networks: a search for weak kernels, not a record. One thread, one process, turns."""
import argparse
import importlib
import json
import math
import os
import random
import sys
import tempfile
import time
from pathlib import Path

from peer_table import convert, install

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PROGRAMS = ("mica", "onnxruntime", "openvino")
AGREE = 1e-4   # of the largest value of the answer
TURNS, TURN_SECONDS = 3, 0.05


def arguments():
    parser = argparse.ArgumentParser(
        prog="bench/layers", description="Random layers, four of a kind between 1x1 convolutions, Mica beside ONNX "
        "Runtime and OpenVINO: least times on one thread, the slowest beside the better peer first.")
    add = parser.add_argument
    add("--count", type=int, default=100, help="networks (default: 100)")
    add("--seed", type=int, default=0, help="of the first network; the next ones count up")
    add("--kinds", default="", help="comma-separated; default: all")
    add("--library", default=str(ROOT / "build" / "libmica.so"), help="Mica's shared library")
    add("--venv", default=str(install.CACHE / "peers"), help="virtual environment of the peers; made when missing")
    add("--json", default="", help="a file for the figures")
    return parser.parse_args()


def turn(runner):
    """The least time of a turn, in milliseconds."""
    least, end = math.inf, time.perf_counter() + TURN_SECONDS
    while time.perf_counter() < end or least == math.inf:
        begin = time.perf_counter()
        runner.run()
        least = min(least, time.perf_counter() - begin)
    return least * 1e3


def measured(adapters, model, shape, folder):
    """(least time by program, why not by program); a wrong answer is a failure of its program."""
    import numpy
    import onnx
    file = str(Path(folder) / "layers.onnx")
    onnx.save(model, file)
    feed = {"x": numpy.random.default_rng(1).standard_normal(shape).astype(numpy.float32)}
    runners, problems, answers = {}, {}, {}
    for name, adapter in adapters.items():
        try:
            runner = adapter.load(converted(name, file), feed)
            runner.run()
            answers[name] = runner.answers()[0]
            runners[name] = runner
        except Exception as failure:   # whatever a peer raises is its result
            problems[name] = (str(failure).strip().splitlines() or [type(failure).__name__])[-1][:120]
    wanted = answers.get("onnxruntime")
    for name, answer in answers.items():
        if wanted is not None and not numpy.abs(answer - wanted).max() <= AGREE * numpy.abs(wanted).max():
            problems[name] = "wrong answer"
            del runners[name]
    times = {name: math.inf for name in runners}
    for _ in range(TURNS):
        for name, runner in runners.items():
            times[name] = min(times[name], turn(runner))
    return times, problems


def converted(name, file):
    """Mica's own file beside the ONNX file; the peers read that one."""
    if name != "mica":
        return file
    to = file.replace(".onnx", ".mica")
    program = Path(os.environ["MICA_LIBRARY"]).parent / "mica"
    problem = convert.run([program, "convert", file, "-o", to, "--no-check"], Path(file).parent)
    if problem:
        raise RuntimeError(problem)
    return to


def row_of(times, problems, words, seed):
    peers = [times[name] for name in PROGRAMS[1:] if name in times]
    ratio = min(peers) / times["mica"] if peers and "mica" in times else None
    return {"seed": seed, "words": words, "ratio": ratio, "ms": times, "problems": problems}


def text_of(row):
    shown = "  ".join(f"{name} {row['ms'][name]:.3f}" if name in row["ms"] else f"{name} {row['problems'].get(name)}"
                      for name in PROGRAMS)
    ratio = f"{row['ratio']:.2f}" if row["ratio"] else "  --"
    return f"{ratio}  {shown}  {row['words']} ({row['seed']})"


def main():
    args = arguments()
    install.enter(args.venv, HERE.parent / "layers")
    from peer_table import layer_kinds
    kinds = args.kinds.split(",") if args.kinds else sorted(layer_kinds.KINDS)
    unknown = [kind for kind in kinds if kind not in layer_kinds.KINDS]
    if unknown:
        sys.exit(f"no such kind: {', '.join(unknown)}; there are {', '.join(sorted(layer_kinds.KINDS))}")
    os.environ["MICA_LIBRARY"] = str(Path(args.library).resolve())
    adapters = {name: importlib.import_module(f"peer_table.adapters.{name}").Adapter(1) for name in PROGRAMS}
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(args.seed, args.seed + args.count):
            choice = random.Random(seed)
            made = layer_kinds.network(choice, choice.choice(kinds))
            if made is None:
                continue
            rows.append(row_of(*measured(adapters, made[0], made[1], folder), made[2], seed))
            print(f"\r\033[K{len(rows)} of at most {args.count}: {made[2]}", end="", file=sys.stderr, flush=True)
    print("\r\033[K", end="", file=sys.stderr)
    rows.sort(key=lambda row: row["ratio"] or 0)
    for row in rows:
        print(text_of(row))
    ratios = [row["ratio"] for row in rows if row["ratio"]]
    if ratios:
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        print(f"geometric mean {mean:.3f} of {len(ratios)}, {sum(r < 0.9 for r in ratios)} below 0.9")
    if args.json:
        Path(args.json).write_text(json.dumps(rows, indent=1) + "\n")
    return 1 if any("mica" in row["problems"] for row in rows) else 0
