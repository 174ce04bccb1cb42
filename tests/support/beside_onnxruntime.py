"""What the suites that hold mica against ONNX Runtime share."""
import subprocess
from pathlib import Path

import numpy as np


def plain_session(model):
    """ONNX Runtime's session of a serialized model: each node as its definition says, on one thread."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def run_mica(mica, folder, feeds, options=(), timeout=60):
    """mica's outputs of FOLDER/model.onnx by name and "", or None and what it said. feeds: name → array."""
    saved = Path(folder, "out.npz")
    saved.unlink(missing_ok=True)
    command = [mica, "run", Path(folder, "model.onnx"), "--save", saved, *options]
    for k, (name, value) in enumerate(feeds.items()):
        np.save(f"{folder}/in{k}.npy", value)
        command += ["--input", f"{name}={folder}/in{k}.npy"]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=timeout)
    if done.returncode:
        return None, done.stderr.strip() or f"exit code {done.returncode}"
    with np.load(saved) as arrays:
        return {name: arrays[name] for name in arrays.files}, ""
