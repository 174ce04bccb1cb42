#!/usr/bin/env python3
"""Trains the digits network that ships with Mica, and writes everything in this folder that is not this script.

    pip install numpy scikit-learn onnx && python train.py [--out FOLDER] [--epochs N]

Data: the 1,797 handwritten digits bundled with scikit-learn, 8x8 pixels with values 0..16, stored here as 8-bit pixels
(value x 16, at most 255). A quarter of each class, drawn with a fixed seed, is held back and never trained on.
Network: three 3x3 convolutions with ReLU (the second with stride 2), one fully connected layer and a softmax. Forward
and backward passes are written out below in numpy; the weights are trained with Adam on cross-entropy over randomly
shifted digits. One thread and fixed seeds: the same versions give the same file.
"""
import argparse
import json
import os
import struct
import zlib
from pathlib import Path

for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[threads] = "1"  # a BLAS that splits its sums by thread would not give the same weights twice

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from sklearn.datasets import load_digits

SEED = 20
HELD_BACK = 0.25
SIDE = 8
ENLARGE = 8  # the PNG files show each pixel as a block of this many pixels a side
SCALE = 1 / 256
CHANNELS = (16, 32, 32)
STRIDES = (1, 2, 1)


def split(labels, rng):
    """Index arrays (train, held back): of each class, HELD_BACK of its samples, to the nearest whole number."""
    held = []
    for digit in range(10):
        of_class = np.flatnonzero(labels == digit)
        held.append(rng.permutation(of_class)[: round(len(of_class) * HELD_BACK)])
    held = np.sort(np.concatenate(held))
    return np.setdiff1d(np.arange(len(labels)), held), held


def unfold(x, stride):
    """[n, c, h, w] to rows [n*oh*ow, c*9] of the 3x3 windows of x padded by one zero on each side."""
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))[:, :, ::stride, ::stride]
    n, c, oh, ow = windows.shape[:4]
    return np.ascontiguousarray(windows.transpose(0, 2, 3, 1, 4, 5)).reshape(n * oh * ow, c * 9), (n, oh, ow)


def fold(rows, shape, stride):
    """The transpose of `unfold`: adds the rows of windows back to an array of `shape` [n, c, h, w]."""
    n, c, h, w = shape
    oh, ow = (h - 1) // stride + 1, (w - 1) // stride + 1
    windows = rows.reshape(n, oh, ow, c, 3, 3).transpose(0, 3, 4, 5, 1, 2)
    padded = np.zeros((n, c, h + 2, w + 2), rows.dtype)
    for y in range(3):
        for x in range(3):
            padded[:, :, y : y + stride * oh : stride, x : x + stride * ow : stride] += windows[:, :, y, x]
    return padded[:, :, 1:-1, 1:-1]


class Network:
    """Parameters by name, and the two passes over them."""

    def __init__(self, rng):
        self.weights = {}
        fan = 1
        for i, channels in enumerate(CHANNELS, 1):
            # Standard deviation sqrt(2 / fan-in) keeps the variance through a ReLU (He et al., 2015).
            self.weights[f"conv{i}.weight"] = rng.normal(0, np.sqrt(2 / (fan * 9)), (channels, fan, 3, 3))
            self.weights[f"conv{i}.bias"] = np.zeros(channels)
            fan = channels
        fan *= (SIDE // 2) ** 2  # the map is halved once
        self.weights["classifier.weight"] = rng.normal(0, np.sqrt(1 / fan), (10, fan))
        self.weights["classifier.bias"] = np.zeros(10)
        self.weights = {name: value.astype(np.float32) for name, value in self.weights.items()}

    def forward(self, x):
        """x: [n, 1, 8, 8] already scaled. Returns class probabilities [n, 10] and what `backward` needs."""
        kept = []
        for i, stride in enumerate(STRIDES, 1):
            weight = self.weights[f"conv{i}.weight"]
            rows, (n, oh, ow) = unfold(x, stride)
            y = rows @ weight.reshape(len(weight), -1).T + self.weights[f"conv{i}.bias"]
            kept.append((rows, x.shape, y > 0))
            x = np.maximum(y, 0).reshape(n, oh, ow, -1).transpose(0, 3, 1, 2)
        flat = x.reshape(len(x), -1)
        logits = flat @ self.weights["classifier.weight"].T + self.weights["classifier.bias"]
        exponent = np.exp(logits - logits.max(axis=1, keepdims=True))
        return exponent / exponent.sum(axis=1, keepdims=True), (kept, flat, x.shape)

    def backward(self, probabilities, labels, saved):
        """Gradients, by parameter name, of the mean cross-entropy."""
        kept, flat, shape = saved
        gradients = {}
        d = probabilities.copy()
        d[np.arange(len(labels)), labels] -= 1  # softmax with cross-entropy: probability minus one-hot
        d /= len(labels)
        gradients["classifier.weight"] = d.T @ flat
        gradients["classifier.bias"] = d.sum(axis=0)
        d = (d @ self.weights["classifier.weight"]).reshape(shape)
        for i in range(len(STRIDES), 0, -1):
            rows, input_shape, active = kept[i - 1]
            weight = self.weights[f"conv{i}.weight"]
            d = d.transpose(0, 2, 3, 1).reshape(-1, len(weight)) * active
            gradients[f"conv{i}.weight"] = (d.T @ rows).reshape(weight.shape)
            gradients[f"conv{i}.bias"] = d.sum(axis=0)
            if i > 1:
                d = fold(d @ weight.reshape(len(weight), -1), input_shape, STRIDES[i - 1])
        return gradients


def scaled(images):
    """8-bit images [n, 8, 8] to the network's input [n, 1, 8, 8]: the pre-processing that the model file records."""
    return images[:, None].astype(np.float32) * np.float32(SCALE)


def shifted(x, rng):
    """Each image moved by -1, 0 or 1 pixels along each axis, zeros coming in."""
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    at = rng.integers(0, 3, (len(x), 2))
    return np.stack([padded[i, :, r : r + SIDE, c : c + SIDE] for i, (r, c) in enumerate(at)])


def train(network, images, labels, epochs, rng):
    """Adam (Kingma & Ba, 2015) with the learning rate falling along half a cosine."""
    batch, steps = 64, 0
    first = {name: np.zeros_like(value) for name, value in network.weights.items()}
    second = {name: np.zeros_like(value) for name, value in network.weights.items()}
    total = epochs * (len(images) // batch)
    for epoch in range(epochs):
        order, loss = rng.permutation(len(images)), 0.0
        for start in range(0, len(order) - batch + 1, batch):
            chosen = order[start : start + batch]
            probabilities, saved = network.forward(shifted(scaled(images[chosen]), rng))
            loss -= np.log(probabilities[np.arange(batch), labels[chosen]] + 1e-12).mean()
            rate = 3e-3 * 0.5 * (1 + np.cos(np.pi * steps / total))
            steps += 1
            for name, gradient in network.backward(probabilities, labels[chosen], saved).items():
                first[name] = 0.9 * first[name] + 0.1 * gradient
                second[name] = 0.999 * second[name] + 0.001 * gradient**2
                mean, spread = first[name] / (1 - 0.9**steps), second[name] / (1 - 0.999**steps)
                network.weights[name] -= (rate * mean / (np.sqrt(spread) + 1e-8)).astype(np.float32)
        print(f"epoch {epoch + 1}/{epochs}: loss {loss / (len(images) // batch):.4f}", flush=True)


def to_onnx(network):
    """The network as an ONNX model that also says how a picture becomes its input, and what its outputs are called."""
    nodes, value = [], "image"
    for i, stride in enumerate(STRIDES, 1):
        inputs = [value, f"conv{i}.weight", f"conv{i}.bias"]
        nodes.append(helper.make_node("Conv", inputs, [f"conv{i}.out"], f"conv{i}", kernel_shape=[3, 3],
                                      strides=[stride, stride], pads=[1, 1, 1, 1]))
        nodes.append(helper.make_node("Relu", [f"conv{i}.out"], [f"relu{i}.out"], f"relu{i}"))
        value = f"relu{i}.out"
    nodes.append(helper.make_node("Flatten", [value], ["flatten.out"], "flatten", axis=1))
    inputs = ["flatten.out", "classifier.weight", "classifier.bias"]
    nodes.append(helper.make_node("Gemm", inputs, ["logits"], "classifier", transB=1))
    nodes.append(helper.make_node("Softmax", ["logits"], ["probabilities"], "softmax", axis=1))
    graph = helper.make_graph(
        nodes, "digits",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, ["batch", 1, SIDE, SIDE])],
        [helper.make_tensor_value_info("probabilities", TensorProto.FLOAT, ["batch", 10])],
        [numpy_helper.from_array(value, name) for name, value in network.weights.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8,
                              producer_name="mica-digits", doc_string="Handwritten digits, 8x8 pixels, ten classes.")
    helper.set_model_props(model, {
        "mica.preprocess": json.dumps({"input": "image", "layout": "NCHW", "channels": "gray", "size": [SIDE, SIDE],
                                       "fit": "stretch", "mean": [0], "scale": [SCALE]}),
        "mica.labels": json.dumps([str(digit) for digit in range(10)])})
    onnx.checker.check_model(model, full_check=True)
    return model


def png(image):
    """An 8-bit greyscale PNG file of `image` [h, w] as bytes."""
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    height, width = image.shape
    rows = b"".join(b"\0" + row.tobytes() for row in image)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b""))


def write_pictures(out, images, labels, probabilities):
    """One held-back picture of each digit, the first that is answered rightly. Returns their places."""
    places = {}
    for digit in range(10):
        right = np.flatnonzero((labels == digit) & (probabilities.argmax(axis=1) == digit))
        places[str(digit)] = int(right[0])
        (out / f"{digit}.png").write_bytes(png(np.kron(images[right[0]], np.ones((ENLARGE, ENLARGE), np.uint8))))
    return places


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--out", type=Path, default=Path(__file__).parent, help="default: beside this script")
    options.add_argument("--epochs", type=int, default=60)
    options = options.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)

    digits = load_digits()
    images = np.minimum(digits.images.astype(np.int64) * 16, 255).astype(np.uint8)
    labels = digits.target.astype(np.int64)
    rng = np.random.default_rng(SEED)
    trained, held = split(labels, rng)
    network = Network(rng)
    train(network, images[trained], labels[trained], options.epochs, rng)

    probabilities, _ = network.forward(scaled(images[held]))
    correct = int((probabilities.argmax(axis=1) == labels[held]).sum())
    onnx.save(to_onnx(network), options.out / "digits.onnx")
    np.savez_compressed(options.out / "test.npz", images=images[held], labels=labels[held].astype(np.uint8))
    (options.out / "labels.txt").write_text("".join(f"{digit}\n" for digit in range(10)))
    places = write_pictures(options.out, images[held], labels[held], probabilities)
    record = {
        "data": "scikit-learn load_digits, 1797 images; pixel = min(255, 16 x value)",
        "split": f"of each class {HELD_BACK:.0%} held back, drawn by numpy default_rng({SEED}); test.npz holds them in "
                 "the order of load_digits",
        "seed": SEED, "trained_on": len(trained),
        "count": len(held), "correct": correct, "accuracy": correct / len(held),
        "preprocessing": {"mean": 0, "scale": SCALE}, "pictures": places,
        "parameters": int(sum(value.size for value in network.weights.values())),
    }
    (options.out / "accuracy.json").write_text(json.dumps(record, indent=2) + "\n")
    print(f"{correct} of {len(held)} held-back digits right ({correct / len(held):.2%})")


if __name__ == "__main__":
    main()
