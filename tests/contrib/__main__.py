"""Random models of com.microsoft and ai.onnx.ml: the answers of mica and of ONNX Runtime are compared.

Where its own processor code lacks an operator, ONNX Runtime runs the operator's definition in others.

    python tests/contrib --mica build/mica [--only TEXT] [--seed N] [--count N] [--keep FOLDER]

Each operator of these domains that the ONNX project's own cases do not use must have three cases that pass; the
counts are printed. Prints each failure and ends with `N passed, N failed, N skipped`. Skipped are the cases that ONNX
Runtime itself refuses, and those of modules that are not in the build; without onnx and onnxruntime (./setup --dev
installs them) everything is. --keep leaves failing models there.
"""

import argparse
import collections
import json
import os
import shutil
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).resolve().parents[1] / "support"))
from beside_onnxruntime import plain_session, run_mica  # noqa: E402

MODULES = ("fused_cases", "norm_cases", "quant_cases", "attention_cases", "ml_cases", "text_cases")
LEAST = 3  # cases of each operator


def feeds_of(case):
    """Arrays by the names of mica's inputs: a map is two lists."""
    feeds = dict(case.feeds)
    for name, (keys, values) in case.maps.items():
        feeds |= {f"{name}.keys": keys, f"{name}.values": values}
    return {name: value.astype("U") if value.dtype == object else value for name, value in feeds.items()}


def difference(case, name, want, got):
    """What is wrong with one output; empty when nothing is."""
    if got is None:
        return "missing"
    if want.shape != got.shape:
        return f"shape {got.shape}, expected {want.shape}"
    if want.dtype.kind in "OU":
        return "" if [str(s) for s in want.ravel()] == [s.decode() for s in got.ravel()] else "other strings"
    if want.dtype != got.dtype:
        return f"{got.dtype}, expected {want.dtype}"
    if name in case.mask:
        want, got = want[case.mask[name]], got[case.mask[name]]
    if want.size == 0:
        return ""
    if want.dtype.kind in "biu":
        off = np.abs(want.astype(np.int64) - got.astype(np.int64))
        # Values between two steps are rare: more of them than one in twenty (and two) is an error of another kind.
        many = np.count_nonzero(off) > max(2, want.size // 20) and case.steps < 2
        return (
            f"{np.count_nonzero(off)} of {want.size} differ, by {off.max()}" if off.max() > case.steps or many else ""
        )
    want, got = want.astype(np.float64), got.astype(np.float64)
    if not np.array_equal(np.isnan(want), np.isnan(got)):
        return "NaN in other places"
    if not np.array_equal(np.where(np.isinf(want), want, 0), np.where(np.isinf(got), got, 0), equal_nan=True):
        return "infinities in other places, or of other signs"
    finite = np.isfinite(want)
    if not finite.any():
        return ""
    off, most = np.abs(want - got)[finite].max(), np.abs(want[finite]).max()
    return f"differs by {off:.3g}, largest {most:.3g}" if not off <= case.tolerance * most + 1e-6 else ""


def check(arguments, folder, case):
    """'passed', 'skipped' or 'failed', and why."""
    model = case.model().SerializeToString()
    Path(folder, "model.onnx").write_bytes(model)
    try:
        session = plain_session(case.model(case.definition).SerializeToString())
        maps = {name: dict(zip(keys.tolist(), values.tolist())) for name, (keys, values) in case.maps.items()}
        wanted = dict(zip(case.outputs, session.run(case.outputs, case.feeds | maps)))
    except Exception as error:  # whatever it says: there is nothing to compare with
        return "skipped", str(error).splitlines()[0]
    got, error = run_mica(arguments.mica, folder, feeds_of(case), ("--threads", "1"))
    if got is None:
        return ("skipped" if "is not in this build" in error else "failed"), error
    for name, value in wanted.items():
        wrong = difference(case, name, np.asarray(value), got.get(name))
        if wrong:
            return "failed", f"output {name}: {wrong}"
    return "passed", ""


def must_have_cases(mica):
    """The operators of both domains that the ONNX project's own cases do not use."""
    import cases
    from onnx.backend.test.case.node import collect_testcases

    spellings = json.loads(subprocess.check_output([mica, "ops", "--format", "json"]))["spellings"]
    names = {(s["domain"], s["name"]) for s in spellings if s["domain"] in (cases.MICROSOFT, cases.ML)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for case in collect_testcases(None):
            names -= {(node.domain, node.op_type) for node in case.model.graph.node}
    return sorted(name for _, name in names)


def too_few(passed, without, names):
    """Prints how many cases of each operator passed; the number of operators that have fewer than they must have, those
    aside whose module is not in the build."""
    print(", ".join(f"{name} {passed[name]}" for name in sorted(passed)))
    few = [name for name in names if passed[name] < LEAST and not without[name]]
    for name in few:
        print(f"{name}: {passed[name]} cases passed, at least {LEAST} are needed")
    print(f"{len(names)} operators that the ONNX project's cases do not use; {len(few)} with fewer than {LEAST} cases")
    return len(few)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mica", default="build/mica")
    parser.add_argument("--only", default="", help="operators whose name contains this")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=1, help="so many times the usual number of cases")
    parser.add_argument("--keep", help="folder for failing models")
    arguments = parser.parse_args()
    try:
        import onnx  # noqa: F401
        import onnxruntime  # noqa: F401
    except ImportError as error:
        print(f"left out: {error} (./setup --dev makes an environment with it)\n0 passed, 0 failed, 1 skipped")
        return 0
    for module in MODULES:
        __import__(module)
    import cases

    total, skipped, of_operator, without = (collections.Counter() for _ in range(4))
    with tempfile.TemporaryDirectory() as folder:
        for op, count, make in cases.GENERATORS:
            if arguments.only and arguments.only not in op:
                continue
            for k in range(count * arguments.count):
                seed = arguments.seed * 1000 + k
                verdict, why = check(arguments, folder, make(seed))
                total[verdict] += 1
                of_operator[op] += verdict == "passed"
                without[op] += "is not in this build" in why
                if verdict == "skipped":
                    skipped[f"{op}: {why[:200]}"] += 1
                if verdict == "failed":
                    print(f"{op} seed {seed}: {why[:600]}", flush=True)
                    if arguments.keep:
                        shutil.copytree(folder, Path(arguments.keep, f"{op}-{seed}"), dirs_exist_ok=True)
    for why, count in skipped.items():
        print(f"skipped {count}: {why}")
    if not arguments.only:
        total["failed"] += too_few(of_operator, without, must_have_cases(arguments.mica))
    print(f"{total['passed']} passed, {total['failed']} failed, {total['skipped']} skipped")
    return 1 if total["failed"] or not total["passed"] else 0


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    sys.exit(main())
