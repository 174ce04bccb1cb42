#!/usr/bin/env python3
"""Writes three image networks as ONNX, with random weights that keep activations at about unit variance.

    bench/nets.py FOLDER [--only mobilenet_v2,resnet50,vit_tiny]

Layer tables: MobileNetV2 (Sandler et al. 2018, table 2), ResNet-50 (He et al. 2015, table 1, stride in the 3x3
convolution), ViT-Ti/16 (Dosovitskiy et al. 2021; Touvron et al. 2021 for the width: 12 blocks, 192 wide, 3 heads).
Batch-normalisation is folded into the convolutions, as exporters do. Attention and GELU are spelt as PyTorch exports
them. Needs onnx and numpy only.
"""
import argparse
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 17
PICTURE = (1, 3, 224, 224)
CLASSES = 1000


class Graph:
    """Nodes and constants of one network; every method returns the name of the value that it makes."""

    def __init__(self, seed):
        self.random, self.nodes, self.constants = np.random.default_rng(seed), [], []

    def constant(self, value):
        name = f"constant_{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def normal(self, shape, deviation):
        return self.constant((self.random.standard_normal(shape) * deviation).astype(np.float32))

    def number(self, value):
        return self.constant(np.float32(value))

    def integers(self, *values):
        return self.constant(np.array(values, np.int64))

    def add(self, operator, *inputs, **attributes):
        name = f"{operator}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, list(inputs), [name], name=name, **attributes))
        return name

    def conv(self, value, channels, kernel=1, **options):
        """channels: (in, out). The weights' variance is gain / fan-in: 2 before a rectifier, 1 without.

        Options: stride, groups, gain, pad.
        """
        defaults = (("stride", 1), ("groups", 1), ("gain", 2.0), ("pad", None))
        stride, groups, gain, pad = (options.get(k, d) for k, d in defaults)
        fan_in = channels[0] // groups * kernel * kernel
        weight = self.normal((channels[1], channels[0] // groups, kernel, kernel), np.sqrt(gain / fan_in))
        pad = kernel // 2 if pad is None else pad
        return self.add("Conv", value, weight, self.normal((channels[1],), 0.05), kernel_shape=[kernel] * 2,
                        strides=[stride] * 2, pads=[pad] * 4, group=groups)

    def classifier(self, value, width):
        flat = self.add("Flatten", self.add("GlobalAveragePool", value), axis=1)
        return self.head(flat, width)

    def head(self, value, width):
        weight = self.normal((CLASSES, width), width ** -0.5)
        return self.add("Gemm", value, weight, self.normal((CLASSES,), 0.05), transB=1)

    def linear(self, value, inputs, outputs):
        product = self.add("MatMul", value, self.normal((inputs, outputs), inputs ** -0.5))
        return self.add("Add", self.normal((outputs,), 0.05), product)

    def model(self, name, output):
        graph = helper.make_graph(
            self.nodes, name, [helper.make_tensor_value_info("image", TensorProto.FLOAT, PICTURE)],
            [helper.make_tensor_value_info(output, TensorProto.FLOAT, (1, CLASSES))], self.constants)
        made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8)
        onnx.checker.check_model(made)
        return made


def mobilenet_v2():
    g = Graph(1)

    def relu6(value):
        return g.add("Clip", value, g.number(0), g.number(6))

    value, width = relu6(g.conv("image", (3, 32), 3, stride=2)), 32
    # expansion, channels, repeats, stride of the first
    stages = [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]
    for expansion, channels, repeats, first_stride in stages:
        for stride in [first_stride] + [1] * (repeats - 1):
            inner, wide = value, width * expansion
            if expansion > 1:
                inner = relu6(g.conv(inner, (width, wide)))
            inner = relu6(g.conv(inner, (wide, wide), 3, stride=stride, groups=wide))
            inner = g.conv(inner, (wide, channels))
            value = g.add("Add", value, inner) if stride == 1 and width == channels else inner
            width = channels
    return g.model("mobilenet_v2", g.classifier(relu6(g.conv(value, (width, 1280))), 1280))


def resnet50():
    g = Graph(2)

    def relu(value):
        return g.add("Relu", value)

    value = relu(g.conv("image", (3, 64), 7, stride=2))
    value = g.add("MaxPool", value, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    width = 64
    for stage, (middle, repeats) in enumerate([(64, 3), (128, 4), (256, 6), (512, 3)]):
        for block in range(repeats):
            stride, outer = 2 if block == 0 and stage > 0 else 1, 4 * middle
            inner = relu(g.conv(value, (width, middle)))
            inner = relu(g.conv(inner, (middle, middle), 3, stride=stride))
            # A small last gain keeps the sum of sixteen branches near unit variance.
            inner = g.conv(inner, (middle, outer), gain=0.2)
            aside = g.conv(value, (width, outer), 1, stride=stride, gain=1.0) if block == 0 else value
            value, width = relu(g.add("Add", inner, aside)), outer
    return g.model("resnet50", g.classifier(value, width))


def attention(g, value, width, heads, tokens):
    head = width // heads
    joined = g.add("Reshape", g.linear(value, width, 3 * width), g.integers(1, tokens, 3, heads, head))
    parts = g.add("Transpose", joined, perm=[2, 0, 3, 1, 4])
    q, k, v = (g.add("Gather", parts, g.constant(np.int64(i)), axis=0) for i in range(3))
    scores = g.add("MatMul", g.add("Mul", q, g.number(head ** -0.5)), g.add("Transpose", k, perm=[0, 1, 3, 2]))
    mixed = g.add("MatMul", g.add("Softmax", scores, axis=-1), v)
    together = g.add("Reshape", g.add("Transpose", mixed, perm=[0, 2, 1, 3]), g.integers(1, tokens, width))
    return g.linear(together, width, width)


def gelu(g, value):
    error = g.add("Erf", g.add("Div", value, g.number(np.sqrt(2))))
    return g.add("Mul", g.add("Mul", value, g.add("Add", error, g.number(1))), g.number(0.5))


def vit_tiny(width=192, heads=3, blocks=12, patch=16):
    g = Graph(3)
    tokens = (PICTURE[2] // patch) ** 2 + 1

    def normalised(value):
        spread = g.random.standard_normal(width).astype(np.float32)
        scale = g.constant(np.ones(width, np.float32) + np.float32(0.1) * spread)
        return g.add("LayerNormalization", value, scale, g.normal((width,), 0.1), axis=-1, epsilon=1e-6)

    patches = g.conv("image", (3, width), patch, stride=patch, gain=1.0, pad=0)
    rows = g.add("Transpose", g.add("Reshape", patches, g.integers(1, width, tokens - 1)), perm=[0, 2, 1])
    value = g.add("Concat", g.normal((1, 1, width), 1.0), rows, axis=1)
    value = g.add("Add", value, g.normal((1, tokens, width), 0.1))
    for _ in range(blocks):
        value = g.add("Add", value, attention(g, normalised(value), width, heads, tokens))
        inner = gelu(g, g.linear(normalised(value), width, 4 * width))
        value = g.add("Add", value, g.linear(inner, 4 * width, width))
    first = g.add("Gather", normalised(value), g.constant(np.int64(0)), axis=1)
    return g.model("vit_tiny", g.head(first, width))


NETS = {"mobilenet_v2": mobilenet_v2, "resnet50": resnet50, "vit_tiny": vit_tiny}


def write(folder, names):
    """Files that exist are kept: the weights come from fixed seeds."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        path = folder / f"{name}.onnx"
        if not path.exists():
            onnx.save(NETS[name](), path)
        yield name, path


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder")
    parser.add_argument("--only", default=",".join(NETS))
    arguments = parser.parse_args()
    for _, written in write(arguments.folder, arguments.only.split(",")):
        print(f"{written}: {written.stat().st_size / 1e6:.1f} MB")
