"""sklearn [--mica PROGRAM]: pipelines of scikit-learn, converted by skl2onnx as it does by default (with ZipMap),
beside scikit-learn's own answers. Left out where skl2onnx is not installed. The last line is `N passed, N failed`.
"""
import argparse
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

try:
    import numpy as np
    import skl2onnx
    import sklearn
except ImportError as missing:
    print(f"sklearn was left out: {missing}\n0 passed, 0 failed, 1 skipped")
    sys.exit(0)

sys.path.insert(0, str(Path(__file__).parent))
from pipelines import all_pipelines  # noqa: E402


def to_file(path, value):
    np.save(path, value.astype("U") if value.dtype == object else value)


def run(program, model, feed, folder):
    """The outputs by name. Raises RuntimeError with what the program said."""
    command = [program, "run", str(model), "--save", str(folder / "out.npz")]
    for name, value in feed.items():
        to_file(folder / f"{name}.npy", value)
        command += ["--input", f"{name}={folder / name}.npy"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr.strip().replace("\n", " ")[:300])
    with np.load(folder / "out.npz", allow_pickle=False) as found:
        return {name: found[name] for name in found.files}


def texts(value):
    value = np.asarray(value)
    return value.astype("U") if value.dtype.kind in "OSU" else value


def difference(got, expected):
    """Empty when they agree: labels and counts exactly, numbers to 1e-4 of the largest."""
    got, expected = texts(got), texts(expected)
    if got.size != expected.size:
        return f"{got.shape} instead of {expected.shape}"
    got = got.reshape(expected.shape)
    if expected.dtype.kind in "USbi":
        wrong = np.count_nonzero(got.astype(expected.dtype) != expected)
        return f"{wrong} of {got.size} labels differ" if wrong else ""
    if not np.array_equal(np.isnan(got), np.isnan(expected)):
        return "NaN in other places"
    worst = np.max(np.abs(np.nan_to_num(got) - np.nan_to_num(expected)), initial=0)
    room = 1e-4 * max(np.max(np.abs(np.nan_to_num(expected)), initial=0), 1e-3)
    return "" if worst <= room else f"differs by {worst:.3g}"


def one(program, pipeline, folder):
    """What is wrong; empty for nothing."""
    model, types, feed, answers = pipeline.fit()
    try:
        onnx = skl2onnx.convert_sklearn(model, initial_types=types, target_opset=pipeline.opset)
    except Exception as refused:  # the converter has many ways to say no
        return None, f"skl2onnx: {str(refused)[:200]}"
    (folder / "model.onnx").write_bytes(onnx.SerializeToString())
    outputs = run(program, folder / "model.onnx", feed, folder)
    for output, expected in zip(onnx.graph.output, answers):
        if problem := difference(outputs[output.name], expected):
            return False, f"{output.name}: {problem}"
    return True, ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--mica", default="build/mica")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    passed = failed = skipped = 0
    for pipeline in all_pipelines():
        if options.only not in pipeline.name:
            continue
        with tempfile.TemporaryDirectory() as folder:
            try:
                good, problem = one(options.mica, pipeline, Path(folder))
            except RuntimeError as error:
                good, problem = False, str(error)
        if good is None:
            skipped += 1
            print(f"{pipeline.name}: not converted: {problem}")
        elif good:
            passed += 1
        else:
            failed += 1
            print(f"FAILED {pipeline.name}: {problem}")
    print(f"scikit-learn {sklearn.__version__}, skl2onnx {skl2onnx.__version__}")
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
