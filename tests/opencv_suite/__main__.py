"""opencv_suite --mica PROGRAM [FOLDER]: every model of the suite opencv-dnn-onnx beside the outputs that it comes with.

FOLDER has models/NAME.onnx, data/input_NAME.npy (or input_NAME_0.npy and so on) and data/output_NAME.npy; without it
$MICA_SUITES/opencv-dnn-onnx. Unset: left out; missing, or without models: a failure. Exceptions stand in
exceptions.txt.
The last line is `N passed, N failed, N skipped`.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

# Sums of a few hundred products in single precision, in another order than the reference's.
TOLERANCE = 1e-5


def input_names(mica, model):
    command = [mica, "inspect", model, "--stage", "import", "--format", "json"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr.strip().replace("\n", " "))
    return [node["name"] for node in json.loads(done.stdout)["nodes"] if node["kind"] == "input"]


def problem(mica, model, data, folder):
    """What is wrong with a model's answer; empty for nothing."""
    single = data / f"input_{model.stem}.npy"
    files = [single] if single.exists() else sorted(data.glob(f"input_{model.stem}_[0-9].npy"))
    names = input_names(mica, model)
    if not files or len(files) != len(names):
        return f"{len(names)} inputs, {len(files)} files of them"
    command = [mica, "run", model, "--save", folder / "out.npz"]
    for name, file in zip(names, files):
        command += ["--input", f"{name}={file}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    if done.returncode:
        return done.stderr.strip().replace("\n", " ")
    with np.load(folder / "out.npz") as saved:
        outputs = [saved[name] for name in saved.files]
    want = np.load(data / f"output_{model.stem}.npy")
    if len(outputs) != 1 or outputs[0].shape != want.shape:
        return f"outputs of shapes {[value.shape for value in outputs]}, expected {want.shape}"
    off, most = np.abs(outputs[0].astype(np.float64) - want), np.abs(want).max(initial=0)
    # A comparison with NaN is false: so is what follows, unless all is well.
    return "" if off.size and off.max() <= TOLERANCE * most else f"differs by {off.max(initial=0)}, largest {most}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?")
    parser.add_argument("--mica", default="build/mica")
    options = parser.parse_args()
    if not options.folder and not os.environ.get("MICA_SUITES"):
        print("opencv_suite was left out: MICA_SUITES is not set\n0 passed, 0 failed, 1 skipped")
        return 0
    suite = Path(options.folder or os.path.join(os.environ["MICA_SUITES"], "opencv-dnn-onnx"))
    rows = (line.partition("#") for line in Path(__file__).with_name("exceptions.txt").read_text().splitlines())
    exceptions = {name.strip(): reason.strip() for name, _, reason in rows if name.strip()}
    models = sorted((suite / "models").glob("*.onnx"))
    passed = failed = skipped = 0
    with tempfile.TemporaryDirectory() as folder:
        for model in models:
            try:
                wrong = problem(options.mica, model, suite / "data", Path(folder))
            except (RuntimeError, OSError, subprocess.TimeoutExpired) as error:
                wrong = str(error)
            if wrong and model.stem in exceptions:
                skipped += 1
                print(f"exception {model.stem}: {exceptions[model.stem]}")
                continue
            if model.stem in exceptions:
                wrong = "is named as an exception, but passes"
            passed, failed = passed + (not wrong), failed + bool(wrong)
            if wrong:
                print(f"FAILED {model.stem}: {wrong[:300]}")
    if not models:
        failed += 1
        print(f"there are no models in {suite}")
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
