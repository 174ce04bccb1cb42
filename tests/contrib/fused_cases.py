"""Operators fused by an optimiser: a standard operator with an activation, a bias, a transpose."""

import numpy as np

from cases import MICROSOFT, generator

ACTIVATIONS = (
    ("Relu", None),
    ("Sigmoid", None),
    ("Tanh", None),
    ("LeakyRelu", [0.2]),
    ("Clip", [-0.3, 0.6]),
    ("HardSigmoid", [0.3, 0.4]),
)

# What only products are fused with.
MORE_ACTIVATIONS = (("Elu", [0.7]), ("Softplus", None), ("Softsign", None), ("ThresholdedRelu", [0.3]))


def conv_attributes(c, kernel):
    return dict(
        kernel_shape=list(kernel),
        pads=c.pick(None, [1, 0, 1, 1]),
        strides=c.pick(None, [2, 1]),
        dilations=c.pick(None, [1, 2]),
    )


@generator("FusedConv", 12)
def fused_conv(c):
    groups = c.pick(1, 2)
    name, parameters = c.pick(*ACTIVATIONS, (None, None))
    x = c.input("x", c.floats(2, 4, 9, 11))
    w = c.constant("w", c.floats(6, 4 // groups, 3, 2))
    attributes = conv_attributes(c, (3, 2))
    bias = c.pick("b", "")
    if bias:
        c.constant("b", c.floats(6))
    inputs = [x, w, bias]
    if c.pick(0, 1):
        h = (9 + (2 if attributes["pads"] else 0) - 3) // (2 if attributes["strides"] else 1) + 1
        wide = 11 + (1 if attributes["pads"] else 0) - (3 if attributes["dilations"] else 2) + 1
        inputs.append(c.input("z", c.floats(2, 6, h, wide)))
    while not inputs[-1]:
        inputs.pop()
    c.node("FusedConv", inputs, ["y"], group=groups, activation=name, activation_params=parameters, **attributes)
    c.output("y")


@generator("FusedGemm", 24)
def fused_gemm(c):
    a, b = c.pick(0, 1), c.pick(0, 1)
    name, parameters = c.pick(*ACTIVATIONS, *MORE_ACTIVATIONS, ("Selu", [1.5, 1.25]))
    places = ("activation_alpha", "activation_gamma" if name == "Selu" else "activation_beta")
    extra = dict(zip(places, parameters or []))
    inputs = [c.input("a", c.floats(*((7, 5) if a else (5, 7)))), c.either("b", c.floats(*((3, 7) if b else (7, 3))))]
    if c.pick(0, 1):
        inputs.append(c.either("c", c.floats(*c.pick((3,), (5, 3), (5, 1), (1,)))))
    c.node(
        "FusedGemm",
        inputs,
        ["y"],
        transA=a,
        transB=b,
        alpha=c.pick(None, 0.5),
        beta=c.pick(None, 2.0),
        activation=name,
        **extra,
    )
    c.output("y")


def matmul_operand(c, name, shape, flip, flip_batch):
    """A matrix behind batches. `flip`: transposed; `flip_batch`: the axis of rows stands before the batches."""
    shape = [*shape[:-2], shape[-1], shape[-2]] if flip else list(shape)
    if flip_batch:
        shape = [shape[-2], *shape[:-2], shape[-1]]
    return c.either(name, c.floats(*shape))


@generator("FusedMatMul", 16)
def fused_matmul(c):
    batch = c.pick((), (3,), (2, 3))
    flips = [c.pick(0, 1) for _ in range(4)]
    if not batch:
        flips[2:] = [0, 0]
    a = matmul_operand(c, "a", (*batch, 4, 5), flips[0], flips[2])
    b = matmul_operand(c, "b", (*batch, 5, 6), flips[1], flips[3])
    names = ("transA", "transB", "transBatchA", "transBatchB")
    c.node("FusedMatMul", [a, b], ["y"], alpha=c.pick(None, 0.25), **dict(zip(names, flips)))
    c.output("y")


@generator("FusedMatMulActivation", 4)
def fused_matmul_activation(c):
    name, alpha = c.pick(("Relu", None), ("LeakyRelu", 0.25), ("Tanh", None))
    a, b = c.input("a", c.floats(3, 5, 4)), c.input("b", c.floats(5, 6))
    c.node("FusedMatMulActivation", [a, b], ["y"], transA=1, alpha=0.5, activation=name, activation_alpha=alpha)
    c.means("FusedMatMul", [a, b], ["product"], domain=MICROSOFT, transA=1, alpha=0.5)
    c.means(name, ["product"], ["y"], **({"alpha": alpha} if alpha else {}))
    c.output("y")


@generator("TransposeMatMul", 4)
def transpose_matmul(c):
    a, b = c.pick(0, 1), c.pick(0, 1)
    c.node(
        "TransposeMatMul",
        [c.input("a", c.floats(2, *((5, 4) if a else (4, 5)))), c.input("b", c.floats(2, *((6, 5) if b else (5, 6))))],
        ["y"],
        transA=a,
        transB=b,
        alpha=c.pick(None, 2.0),
    )
    c.output("y")


@generator("BiasGelu")
def bias_gelu(c):
    width = c.pick(1, 5, 16)
    c.node("BiasGelu", [c.input("x", c.floats(2, 3, width, low=-4, high=4)), c.either("b", c.floats(width))], ["y"])
    c.output("y")


@generator("FastGelu")
def fast_gelu(c):
    inputs = [c.input("x", c.floats(2, 3, 5, low=-4, high=4))] + c.pick([], [c.either("b", c.floats(5))])
    c.node("FastGelu", inputs, ["y"])
    c.output("y")


@generator("Gelu")
def gelu(c):
    c.node("Gelu", [c.input("x", c.floats(*c.pick((3, 7), (), (0, 3)), low=-4, high=4))], ["y"])
    c.output("y")


@generator("QuickGelu")
def quick_gelu(c):
    c.node("QuickGelu", [c.input("x", c.floats(3, 7, low=-4, high=4))], ["y"], alpha=c.pick(None, 1.0, 0.5))
    c.output("y")


@generator("BiasSoftmax", 4)
def bias_softmax(c):
    inner = c.pick(0, 1)
    bias = c.floats(2, 1, 1, 5) if inner else c.floats(1, 1, 4, 5)
    c.node(
        "BiasSoftmax",
        [c.input("x", c.floats(2, 3, 4, 5, low=-3, high=3)), c.input("b", bias)],
        ["y"],
        axis=3,
        is_inner_broadcast=inner,
    )
    c.means("Add", ["x", "b"], ["sum"])
    c.means("Softmax", ["sum"], ["y"], axis=3)
    c.output("y")


@generator("BiasSplitGelu", 3)
def bias_split_gelu(c):
    c.opset(20)
    c.node("BiasSplitGelu", [c.input("x", c.floats(2, 3, 8)), c.constant("b", c.floats(8))], ["y"])
    c.means("Add", ["x", "b"], ["sum"])
    c.means("Split", ["sum"], ["left", "right"], axis=-1, num_outputs=2)
    c.means("Gelu", ["right"], ["gate"])
    c.means("Mul", ["left", "gate"], ["y"])
    c.output("y")


@generator("Inverse")
def inverse(c):
    n = c.pick(1, 2, 5, 9)
    x = c.floats(*c.pick((), (3,), (2, 2)), n, n) + 3 * np.eye(n, dtype=np.float32)
    c.node("Inverse", [c.input("x", x)], ["y"])
    c.output("y")


@generator("ExpandDims", 4)
def expand_dims(c):
    c.node(
        "ExpandDims", [c.input("x", c.floats(2, 3)), c.constant("axis", np.array(c.pick(0, 1, 2, -1), np.int32))], ["y"]
    )
    c.output("y")


@generator("Trilu", 4)
def trilu(c):
    c.node(
        "Trilu",
        [c.input("x", c.floats(2, 4, 5)), c.constant("k", np.array(c.pick(-1, 0, 2), np.int64))],
        ["y"],
        upper=c.pick(0, 1),
    )
    c.output("y")
