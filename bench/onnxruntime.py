#!/usr/bin/env python3
"""One interleaved run of Mica and ONNX Runtime on MobileNetV2, ResNet-50 and ViT-tiny, one thread each.

    bench/onnxruntime.py [--mica build/mica] [--rounds 5] [--seconds 2] [--cpu 0] [--only TEXT] [--json FILE]
                         [--nets FOLDER]

Each round times the two programs one after the other on the same input, each in a process of its own that is pinned
to one processor, the first to go changing from round to round. Each figure is the median over rounds of a round's
median, the ratio's quartiles are those over rounds. Load time includes the compilation of the ONNX file; memory is
the peak above that of the same program with a network of a few kilobytes. Exit 1 when the answers differ by more than
1e-4 of max|reference| or Mica takes over 3 times as long. Needs onnx, numpy, onnxruntime.
"""
import argparse, datetime, json, os, statistics, subprocess, sys, tempfile, time
from pathlib import Path

HERE = Path(__file__).resolve().parent
LIMIT = 3.0          # Mica's time over ONNX Runtime's; the requirement
TOLERANCE = 1e-4     # of max|reference|


def peak_mb():
    """The most memory that this process has had in RAM."""
    line = next(l for l in Path("/proc/self/status").read_text().splitlines() if l.startswith("VmHWM"))
    return int(line.split()[1]) / 1024


def reference(model, feed, seconds, out):
    """The other program: times the runs of one network in this process and prints its figures as JSON."""
    sys.path[:] = [p for p in sys.path if Path(p or ".").resolve() != HERE]   # this file bears the package's name
    import numpy as np
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    began = time.perf_counter()
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    figures = {"load_ms": (time.perf_counter() - began) * 1e3}
    first = session.get_inputs()[0]
    value = np.load(feed) if feed else np.zeros([d if isinstance(d, int) else 1 for d in first.shape], np.float32)
    times, end = [], None
    answer = session.run(None, {first.name: value})[0]
    warm = time.perf_counter() + seconds / 4
    while time.perf_counter() < warm:
        session.run(None, {first.name: value})
    end = time.perf_counter() + seconds
    while len(times) < 3 or time.perf_counter() < end:
        began = time.perf_counter()
        session.run(None, {first.name: value})
        times.append((time.perf_counter() - began) * 1e3)
    np.save(out, answer)
    figures |= {"median_ms": statistics.median(times), "min_ms": min(times), "runs": len(times)}
    print(json.dumps(figures | {"peak_rss_mb": peak_mb(), "version": onnxruntime.__version__}))


def pinned(args, command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=600,
                          preexec_fn=lambda: os.sched_setaffinity(0, {args.cpu}))
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\nexit {done.returncode}: {done.stderr.strip()[-2000:]}")
    return done.stdout


def time_mica(args, model, feed, seconds):
    given = ["--input", f"image={feed}"] if feed else []
    options = ["--threads", "1", "--seconds", str(seconds), "--format", "json"]
    return json.loads(pinned(args, [args.mica, "bench", model, *options, *given]))


def time_reference(args, model, feed, seconds, out):
    return json.loads(pinned(args, [sys.executable, __file__, "--reference", model, feed or "", str(seconds), out]))


def difference(args, model, feed, theirs, folder):
    """max|ours - theirs| / max|theirs|; infinite for another size or anything that is not finite."""
    import numpy as np
    options = ["--threads", "1", "--top", "0", "--input", f"image={feed}", "--save", f"{folder}/ours.npy"]
    pinned(args, [args.mica, "run", model, *options])
    ours, theirs = np.load(f"{folder}/ours.npy").ravel().astype(np.float64), np.load(theirs).ravel().astype(np.float64)
    if ours.shape != theirs.shape or not np.isfinite(ours).all():
        return float("inf")
    return float(np.abs(ours - theirs).max() / np.abs(theirs).max())


def quartiles(values):
    return statistics.quantiles(values, n=4, method="inclusive") if len(values) > 1 else [values[0]] * 3


def measure(args, name, model, empty, folder):
    import numpy as np
    feed, theirs = f"{folder}/{name}.npy", f"{folder}/{name}_reference.npy"
    np.save(feed, np.random.default_rng(7).standard_normal((1, 3, 224, 224)).astype(np.float32))
    rounds = {"mica": [], "reference": []}
    for k in range(args.rounds):
        for who in ("mica", "reference") if k % 2 == 0 else ("reference", "mica"):
            timed = (args, model, feed, args.seconds)
            rounds[who].append(time_mica(*timed) if who == "mica" else time_reference(*timed, theirs))
    row = {"net": name}
    for who, got in rounds.items():
        keys = ("median_ms", "load_ms", "peak_rss_mb")
        median_ms, load_ms, peak = (statistics.median(g[key] for g in got) for key in keys)
        row[who] = {"median_ms": median_ms, "min_ms": min(g["min_ms"] for g in got), "load_ms": load_ms,
                    "memory_mb": peak - empty[who]}
    ratios = [m["median_ms"] / r["median_ms"] for m, r in zip(rounds["mica"], rounds["reference"])]
    row["ratio_quartiles"] = quartiles(ratios)
    row["difference"] = difference(args, model, feed, theirs, folder)
    row["passed"] = row["ratio_quartiles"][1] <= LIMIT and row["difference"] <= TOLERANCE
    return row


def show(row):
    m, r, (low, middle, high) = row["mica"], row["reference"], row["ratio_quartiles"]
    print(f"{row['net']:<13} {m['median_ms']:>8.2f} {r['median_ms']:>8.2f} {m['min_ms']:>8.2f} {r['min_ms']:>8.2f}  "
          f"{middle:>5.2f} ({low:.2f}-{high:.2f}) {m['load_ms']:>7.0f} {r['load_ms']:>7.0f} {m['memory_mb']:>7.0f} "
          f"{r['memory_mb']:>7.0f} {row['difference']:>9.1e}  {'ok' if row['passed'] else 'FAILED'}", flush=True)


def processor():
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next((l.split(":", 1)[1].strip() for l in lines if l.startswith("model name")), "unknown processor")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mica", default=str(HERE.parent / "build" / "mica"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--cpu", type=int, default=min(os.sched_getaffinity(0)))
    parser.add_argument("--only", default="")
    parser.add_argument("--json")
    parser.add_argument("--nets", help="keeps the networks here; they are made when missing")
    args = parser.parse_args()
    sys.path.insert(0, str(HERE))
    import nets
    rows, digits = [], str(HERE.parent / "examples" / "digits" / "digits.onnx")
    with tempfile.TemporaryDirectory() as folder:
        tiny = time_reference(args, digits, "", 0, f"{folder}/digits.npy")
        empty = {"mica": time_mica(args, digits, "", 0)["peak_rss_mb"], "reference": tiny["peak_rss_mb"]}
        head = {"processor": processor(), "date": datetime.date.today().isoformat(),
                "reference": f"ONNX Runtime {tiny['version']}", "threads": 1}
        print(f"{head['processor']}, {head['date']}, {head['reference']}, 1 thread; Mica | ONNX Runtime")
        print(f"{'net':<13} {'median ms':>17} {'minimum ms':>17}  {'ratio (quartiles)':>17} {'load ms':>15} "
              f"{'memory MB':>15} {'difference':>10}")
        for name, model in nets.write(args.nets or folder, [n for n in nets.NETS if args.only in n]):
            rows.append(measure(args, name, str(model), empty, folder))
            show(rows[-1])
    passed = sum(r["passed"] for r in rows)
    if args.json:
        counts = {"passed": passed, "failed": len(rows) - passed}
        Path(args.json).write_text(json.dumps(head | counts | {"rows": rows}, indent=1))
    print(f"{passed} passed, {len(rows) - passed} failed")
    return 0 if rows and passed == len(rows) else 1


if __name__ == "__main__":
    if sys.argv[1:2] == ["--reference"]:
        reference(sys.argv[2], sys.argv[3], float(sys.argv[4]), sys.argv[5])
    else:
        sys.exit(main())
