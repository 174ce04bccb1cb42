"""Runs an exported model by Mica on the inputs of its cases and compares with torch's outputs."""

import os
import subprocess
import tempfile

import numpy as np

TOLERANCE = 1e-4  # of the largest absolute reference


def difference(got, expected):
    """What is wrong with an output, or nothing; written so that NaN never passes."""
    if got.shape != expected.shape:
        return f"shape {got.shape}, expected {expected.shape}"
    if expected.size == 0:
        return ""
    if expected.dtype.kind != "f":
        wrong = int((got != expected).sum())
        return f"{wrong} of {expected.size} elements differ" if wrong else ""
    largest = float(np.abs(expected.astype(np.float64)).max())
    error = float(np.abs(got.astype(np.float64) - expected.astype(np.float64)).max())
    return "" if error <= TOLERANCE * largest else f"error {error:.3g} of {largest:.3g}"


def run_case(mica, model, case, seconds):
    """The first thing that is wrong when Mica runs the case, or nothing."""
    data = np.load(case)
    with tempfile.TemporaryDirectory() as folder:
        command = [mica, "run", model, "--threads", "1", "--save", os.path.join(folder, "out.npz")]
        for index, key in enumerate(k for k in data.files if k.startswith("in:")):
            path = os.path.join(folder, f"{index}.npy")
            np.save(path, data[key])
            command += ["--input", f"{key[3:]}={path}"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=seconds)
        except subprocess.TimeoutExpired:
            return f"no answer in {seconds} s"
        if done.returncode != 0:
            return f"exit {done.returncode}: " + " ".join(done.stderr.split())[:600]
        got = np.load(os.path.join(folder, "out.npz"))
        for key in (k for k in data.files if k.startswith("out:")):
            if key[4:] not in got.files:
                return f"output {key[4:]} is missing"
            if trouble := difference(got[key[4:]], data[key]):
                return f"output {key[4:]}: {trouble}"
    return ""


def run_folder(mica, folder, seconds=60):
    """The first thing that is wrong in any case of the folder, or nothing."""
    cases = sorted(name for name in os.listdir(folder) if name.startswith("case"))
    for name in cases:
        if trouble := run_case(mica, os.path.join(folder, "model.onnx"), os.path.join(folder, name), seconds):
            return f"{name[:-4]}: {trouble}"
    return "" if cases else "no cases"
