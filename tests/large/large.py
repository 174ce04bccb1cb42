#!/usr/bin/env python3
"""Converts and runs a model beyond protobuf's 2 GiB, whose weights lie in three files beside it.

    large.py --mica build/mica [--gib 2.5] [--folder FOLDER]

The model is a chain of products with square matrices, every other one transposed and with a bias and a Relu behind it.
What must hold: the conversion's largest anonymous memory (RssAnon, asked for every few milliseconds) is at most 1.3
times the weights, and the answer is numpy's within 1e-4 of its largest value. Needs twice the model's size on the disk
of FOLDER, a new folder below TMPDIR by itself, which is removed in the end. The last line is
`N passed, N failed, 0 skipped`.
"""
import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import time

import numpy as np
import onnx
from onnx import TensorProto, helper

WIDTH = 4096
FILES = 3
MOST_OVER_WEIGHTS = 1.3
TOLERANCE = 1e-4


def matrix(index, stock):
    """A matrix of its own for each index, whose products keep the size of their operand."""
    return np.roll(stock, 7919 * index) * np.float32(1 if index % 3 else -1)


def make(folder, layers):
    """Writes the model and its data; returns the input and the right answer."""
    rng = np.random.default_rng(1)
    stock = rng.standard_normal(WIDTH * WIDTH, np.float32) * np.float32(1.4 / WIDTH**0.5)
    x = rng.standard_normal((1, WIDTH), np.float32)
    nodes, tensors, right = [], [], x.astype(np.float64)
    for first in range(FILES):
        (folder / f"weights-{first}").write_bytes(b"")
    for i in range(layers):
        place = folder / f"weights-{i * FILES // layers}"
        tensor = TensorProto(name=f"w{i}", data_type=TensorProto.FLOAT, dims=[WIDTH, WIDTH],
                             data_location=TensorProto.EXTERNAL)
        for key, value in (("location", place.name), ("offset", place.stat().st_size), ("length", 4 * WIDTH * WIDTH)):
            tensor.external_data.add(key=key, value=str(value))
        tensors.append(tensor)
        values = matrix(i, stock).reshape(WIDTH, WIDTH)
        with place.open("ab") as file:
            values.tofile(file)
        if i % 2:
            bias = rng.standard_normal(WIDTH, np.float32) / np.float32(8)
            tensors.append(helper.make_tensor(f"b{i}", TensorProto.FLOAT, [WIDTH], bias.tobytes(), raw=True))
            nodes.append(helper.make_node("Gemm", [f"v{i}", f"w{i}", f"b{i}"], [f"g{i}"], transB=1))
            nodes.append(helper.make_node("Relu", [f"g{i}"], [f"v{i + 1}"]))
            right = np.maximum(right.astype(np.float32) @ values.T + bias, 0)
        else:
            nodes.append(helper.make_node("MatMul", [f"v{i}", f"w{i}"], [f"v{i + 1}"]))
            right = right.astype(np.float32) @ values
    ports = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, WIDTH]) for name in ("v0", f"v{layers}")]
    graph = helper.make_graph(nodes, "large", ports[:1], ports[1:], tensors)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8),
              str(folder / "large.onnx"))
    np.save(folder / "x.npy", x)
    return right


def anonymous_bytes(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) * 1024
    return 0


def peak_of(command):
    """Runs the command; the largest anonymous memory that was seen, and the seconds that it took."""
    began = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    peak = 0

    def watch():
        nonlocal peak
        while process.poll() is None:
            try:
                peak = max(peak, anonymous_bytes(process.pid))
            except OSError:
                return
            time.sleep(0.005)

    watcher = threading.Thread(target=watch)
    watcher.start()
    watcher.join()
    if process.wait():
        raise SystemExit(f"{' '.join(map(str, command))}: exit status {process.returncode}")
    return peak, time.monotonic() - began


def check(options, folder):
    layers = round(options.gib * 2**30 / (4 * WIDTH * WIDTH))
    right = make(folder, layers)
    weights = sum(path.stat().st_size for path in folder.glob("weights-*"))
    verdicts = []

    def verdict(good, text):
        verdicts.append(good)
        print("ok    " if good else "FAILED", text, flush=True)

    peak, seconds = peak_of([options.mica, "convert", folder / "large.onnx", "-o", folder / "large.mica"])
    print(f"figure model_bytes {weights}\nfigure convert_anonymous_bytes {peak}\nfigure convert_seconds {seconds:.1f}")
    verdict(peak <= MOST_OVER_WEIGHTS * weights,
            f"converting {weights / 2**30:.2f} GiB took {peak / 2**30:.2f} GiB of anonymous memory, "
            f"{peak / weights:.2f} times the weights")
    for path in folder.glob("weights-*"):
        path.unlink()
    peak, seconds = peak_of([options.mica, "run", folder / "large.mica", "--input", f"v0={folder / 'x.npy'}",
                             "--save", folder / "out.npz"])
    print(f"figure run_anonymous_bytes {peak}\nfigure run_seconds {seconds:.1f}")
    got = np.load(folder / "out.npz")[f"v{layers}"]
    difference = float(np.max(np.abs(got - right)) / np.max(np.abs(right)))
    verdict(got.shape == right.shape and difference <= TOLERANCE,
            f"the answer's largest difference is {difference:.2g} of the largest value")
    return verdicts


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mica", type=pathlib.Path, default="build/mica")
    parser.add_argument("--gib", type=float, default=2.5)
    parser.add_argument("--folder", type=pathlib.Path)
    options = parser.parse_args()
    folder = options.folder or pathlib.Path(tempfile.mkdtemp(prefix="mica-large-"))
    try:
        verdicts = check(options, folder)
    finally:
        if not options.folder:
            shutil.rmtree(folder)
    print(f"{sum(verdicts)} passed, {len(verdicts) - sum(verdicts)} failed, 0 skipped")
    return 0 if all(verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
