"""exporters --mica PROGRAM [--only TEXT] [--keep FOLDER]: graphs as tf2onnx and PaddlePaddle's exporter leave them.

Each runs on inputs of several sizes: the answers of mica and of ONNX Runtime are compared. The last line is `N passed,
N failed, N skipped`; without onnx and onnxruntime (./setup --dev installs them) all is left out.
"""
import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).resolve().parents[1] / "support"))
from beside_onnxruntime import run_mica  # noqa: E402

# Relative to the largest value of each output: sums of a few hundred products in single precision, in another order.
TOLERANCE = 2e-5


def difference(got, want):
    """What is wrong with one output; empty when nothing is."""
    if got.shape != want.shape or got.dtype != want.dtype:
        return f"{got.dtype} {got.shape}, expected {want.dtype} {want.shape}"
    if want.dtype.kind != "f":
        return "" if np.array_equal(got, want) else f"{np.count_nonzero(got != want)} of {want.size} differ"
    if not np.isfinite(want).all() or not np.isfinite(got).all():
        return "values that are not finite"
    off = np.abs(got.astype(np.float64) - want).max(initial=0)
    return "" if off <= TOLERANCE * np.abs(want).max(initial=0) + 1e-7 else f"differs by {off:.3g}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mica", default="build/mica")
    parser.add_argument("--only", default="")
    parser.add_argument("--keep", help="folder for the models")
    options = parser.parse_args()
    try:
        import onnxruntime
        import paddle_like  # noqa: F401
        import tf2onnx_like  # noqa: F401
        from build import GRAPHS
    except ImportError as error:
        print(f"exporters was left out: {error}\n0 passed, 0 failed, 1 skipped")
        return 0
    onnxruntime.set_default_logger_severity(4)
    passed = failed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for title, make in GRAPHS:
            if options.only not in title:
                continue
            built = make()
            model = built.model().SerializeToString()
            for place in filter(None, (folder / "model.onnx", options.keep and Path(options.keep) / f"{title}.onnx")):
                place.write_bytes(model)
            session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
            wrong = []
            for feed in built.feeds:
                wanted = dict(zip(built.outputs, session.run(built.outputs, feed)))
                try:
                    found, problem = run_mica(options.mica, folder, feed, timeout=120)
                except subprocess.TimeoutExpired as error:
                    found, problem = None, str(error)
                if found is None:
                    wrong.append(problem.replace("\n", " ")[:400])
                    continue
                problems = ((key, difference(found[key], np.asarray(want))) for key, want in wanted.items())
                wrong += [f"{key} at {[v.shape for v in feed.values()]}: {what}" for key, what in problems if what]
            passed, failed = passed + (not wrong), failed + bool(wrong)
            for line in wrong:
                print(f"FAILED {title}: {line}")
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
