"""Random networks: mica's answers beside ONNX Runtime's, in several ways of running each.

    python tests/random_nets --mica build/mica [--seed N] [--count N] [--keep FOLDER]

Each network runs with one thread and with three, which must give the same bits, and in one more way drawn by its seed:
another instruction set, --exact, row chains wherever they fit, or less memory. Every answer must be within 1e-4 of the
reference's largest value. Prints each failure and ends with `N passed, N failed, N skipped`; without onnx and
onnxruntime (./setup --dev installs them) everything is skipped. --keep leaves failing networks there.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).resolve().parents[1] / "support"))
from beside_onnxruntime import plain_session, run_mica  # noqa: E402

TOLERANCE = 1e-4  # of max|reference|: what a whole float network may differ by
ROUNDING = 1e-5   # a difference of numbers near 1 keeps their rounding, however small it is itself
WAYS = (("--isa", "sse2"), ("--isa", "avx2"), ("--isa", "portable"), ("--exact",), ("--row-chains", "always"),
        ("--row-chains", "never"), ("--memory", "low"), ("--reference",))


def sets_of(mica):
    """The instruction sets that this processor has of the build's."""
    told = subprocess.run([mica, "doctor"], capture_output=True, text=True).stdout
    return {name for name in ("portable", "sse2", "avx2", "avx512", "neon") if name in told}


def difference(wanted, got):
    """What is wrong with an output; empty when nothing is."""
    if wanted.shape != got.shape or wanted.dtype != got.dtype:
        return f"{got.dtype}{got.shape}, expected {wanted.dtype}{wanted.shape}"
    if not np.isfinite(wanted).all():
        return "" if np.array_equal(wanted, got, equal_nan=True) else "not finite in other places"
    off, most = (float(np.abs(a.astype(np.float64)).max(initial=0)) for a in (wanted.astype(np.float64) - got, wanted))
    return "" if off <= TOLERANCE * most + ROUNDING else f"differs by {off:.3g}, largest {most:.3g}"


def same_bits(some, others):
    return all(a.tobytes() == b.tobytes() for a, b in zip(some, others))


def check(mica, ways, seed, keep):
    """'passed', 'failed' or 'skipped', and why."""
    import nets

    model, shape = nets.random_model(seed)
    model, x = model.SerializeToString(), np.random.default_rng(seed).standard_normal(shape).astype(np.float32)
    try:
        session = plain_session(model)
        names = [output.name for output in session.get_outputs()]
        wanted = session.run(names, {"x": x})
    except Exception as error:  # whatever it says: there is nothing to compare with
        return "skipped", str(error).splitlines()[0]
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "model.onnx").write_bytes(model)
        first, wrong = None, ""
        for options in (("--threads", "1"), ("--threads", "3"), ways[seed % len(ways)]):
            found, wrong = run_mica(mica, folder, {"x": x}, options, timeout=300)
            got = [found[name] for name in names] if found else None
            for want, value in zip(wanted, got or ()):
                wrong = wrong or difference(want, value)
            if options[0] == "--threads" and first and got and not same_bits(first, got):
                wrong = wrong or "other bits than with one thread"
            first = first or got
            if wrong:
                wrong = f"{' '.join(options)}: {wrong}"
                break
        if wrong and keep:
            shutil.copytree(folder, Path(keep, str(seed)), dirs_exist_ok=True)
    return ("failed", wrong) if wrong else ("passed", "")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mica", default="build/mica")
    parser.add_argument("--seed", type=int, default=1, help="of the first network")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--keep", help="folder for failing networks")
    arguments = parser.parse_args()
    try:
        import onnx  # noqa: F401
        import onnxruntime  # noqa: F401
    except ImportError as error:
        print(f"left out: {error} (./setup --dev makes an environment with it)\n0 passed, 0 failed, 1 skipped")
        return 0
    known = sets_of(arguments.mica)
    ways = [way for way in WAYS if way[0] != "--isa" or way[1] in known]
    total = {"passed": 0, "failed": 0, "skipped": 0}
    seeds = range(arguments.seed, arguments.seed + arguments.count)
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        checked = pool.map(lambda seed: check(arguments.mica, ways, seed, arguments.keep), seeds)
        for seed, (verdict, why) in zip(seeds, checked):
            total[verdict] += 1
            if why:
                print(f"seed {seed} {verdict}: {why[:600]}", flush=True)
    print(f"{total['passed']} passed, {total['failed']} failed, {total['skipped']} skipped")
    return 1 if total["failed"] or not total["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
