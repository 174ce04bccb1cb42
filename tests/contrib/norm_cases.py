"""Normalisations with what an optimiser fuses to them."""

import numpy as np

from cases import HALF, generator


def width_of(c):
    return c.pick(4, 7, 16, 33)


@generator("LayerNormalization")
def layer_norm(c):
    """The spelling of domain ai.onnx, version 1, that an optimiser writes whatever the opset."""
    width = width_of(c)
    inputs = [c.input("x", c.floats(2, 3, width)), c.either("g", c.floats(width))] + c.pick(
        [], [c.either("b", c.floats(width))]
    )
    c.node("LayerNormalization", inputs, ["y"], domain="", axis=-1, epsilon=c.pick(None, 1e-3))
    c.output("y")


@generator("SimplifiedLayerNormalization")
def simplified(c):
    width = width_of(c)
    c.node(
        "SimplifiedLayerNormalization",
        [c.input("x", c.floats(2, 3, width)), c.either("g", c.floats(width))],
        ["y"],
        domain="",
        axis=-1,
        epsilon=c.pick(None, 1e-3),
        stash_type=1,
    )
    c.output("y")


def skip_norm(c, op, beta):
    width = width_of(c)
    inputs = [
        c.input("x", c.floats(2, 3, width)),
        c.input("s", c.floats(*c.pick((2, 3, width), (1, 3, width), (3, width)))),
        c.either("g", c.floats(width)),
    ]
    if beta:
        inputs.append(c.pick("", c.either("b", c.floats(width))))
    if c.pick(0, 1):
        inputs.append(c.either("bias", c.floats(width)))
    while not inputs[-1]:
        inputs.pop()
    outputs = ["y", "", "", "sum"] if c.pick(0, 1) else ["y"]
    c.node(op, inputs, outputs, epsilon=c.pick(1e-5, 1e-3))
    c.output(*[o for o in outputs if o])


@generator("SkipLayerNormalization", 12)
def skip_layer(c):
    skip_norm(c, "SkipLayerNormalization", True)


@generator("SkipSimplifiedLayerNormalization", 12)
def skip_simplified(c):
    skip_norm(c, "SkipSimplifiedLayerNormalization", False)


@generator("SkipLayerNormalization", 3)
def skip_half(c):
    c.tolerance = HALF
    c.node(
        "SkipLayerNormalization",
        [
            c.input("x", c.floats(2, 3, 8, dtype=np.float16)),
            c.input("s", c.floats(2, 3, 8, dtype=np.float16)),
            c.constant("g", c.floats(8, dtype=np.float16)),
            c.constant("b", c.floats(8, dtype=np.float16)),
        ],
        ["y"],
        epsilon=1e-5,
    )
    c.output("y")


@generator("EmbedLayerNormalization", 12)
def embed(c):
    batch, length, width = c.pick(1, 3), c.pick(1, 5), width_of(c)
    c.dynamic = c.pick(False, True)
    ids = c.input("ids", c.ints(0, 20, batch, length, dtype=np.int32))
    segments = c.pick("", c.input("segments", c.ints(0, 2, batch, length, dtype=np.int32)))
    tables = [c.constant("words", c.floats(20, width)), c.constant("positions", c.floats(8, width))]
    tables.append(c.constant("types", c.floats(2, width)) if segments else "")
    tables += [c.constant("g", c.floats(width)), c.constant("b", c.floats(width))]
    mask = c.pick("", c.input("mask", (np.arange(length) < c.ints(1, length + 1, batch, 1)).astype(np.int32)))
    places = c.pick("", c.input("places", c.ints(0, 8, c.pick(1, batch), length, dtype=np.int32)))
    inputs = [ids, segments, *tables, mask, places]
    while not inputs[-1]:
        inputs.pop()
    outputs = ["y", "index"] + c.pick([], ["sum"])
    c.node("EmbedLayerNormalization", inputs, outputs, epsilon=1e-5, mask_index_type=1)
    c.output(*outputs)


@generator("QEmbedLayerNormalization")
def quantized_embed(c):
    batch, length, width, dtype = 2, c.pick(1, 5), 8, c.pick(np.uint8, np.int8)
    low, high = (0, 256) if dtype == np.uint8 else (-128, 128)
    ids = c.input("ids", c.ints(0, 20, batch, length, dtype=np.int32))
    segments = c.pick("", c.input("segments", c.ints(0, 2, batch, length, dtype=np.int32)))
    shapes = {"words": (20, width), "positions": (8, width), "types": (2, width), "g": (width,), "b": (width,)}
    names = [name if segments or name != "types" else "" for name in shapes]
    for name, shape in shapes.items():
        c.constant(name, c.ints(low, high, *shape, dtype=dtype))
        c.constant(f"{name}_scale", np.float32(c.rng.uniform(0.005, 0.02)))
        c.constant(f"{name}_zero", np.array(c.rng.integers(low + 100, high - 100), dtype))
    mask = c.pick("", c.input("mask", np.ones((batch, length), np.int32)))
    inputs = [ids, segments, *names, mask] + [n and f"{n}_{part}" for part in ("scale", "zero") for n in names]
    c.node("QEmbedLayerNormalization", inputs, ["y", "index"], epsilon=1e-5)
    c.output("y", "index")


def grouped(c, x, last, groups, activation):
    """What GroupNorm means, from value `x`."""
    c.opset(21)
    if last:
        c.means("Transpose", [x], ["first"], perm=[0, 3, 1, 2])
    c.means("GroupNormalization", ["first" if last else x, "g", "b"], ["norm"], num_groups=groups, epsilon=1e-5)
    if activation:
        c.means("Sigmoid", ["norm"], ["gate"])
    c.means(*(("Mul", ["norm", "gate"]) if activation else ("Identity", ["norm"])), ["made" if last else "y"])
    if last:
        c.means("Transpose", ["made"], ["y"], perm=[0, 2, 3, 1])


@generator("GroupNorm")
def group_norm(c):
    channels, last, groups, activation = 8, c.pick(0, 1), c.pick(1, 2, 8), c.pick(0, 1)
    x = c.input("x", c.floats(*((2, 3, 5, channels) if last else (2, channels, 3, 5))))
    c.node(
        "GroupNorm",
        [x, c.constant("g", c.floats(channels)), c.constant("b", c.floats(channels))],
        ["y"],
        groups=groups,
        activation=activation,
        channels_last=last,
        epsilon=1e-5,
    )
    grouped(c, x, last, groups, activation)
    c.output("y")


@generator("SkipGroupNorm")
def skip_group_norm(c):
    channels, groups, activation, flat = 8, c.pick(1, 2, 8), c.pick(0, 1), c.pick(0, 1)
    inputs = [
        c.input("x", c.floats(2, 3, 5, channels)),
        c.constant("g", c.floats(channels)),
        c.constant("b", c.floats(channels)),
        c.input("s", c.floats(2, channels) if flat else c.floats(2, 3, 5, channels)),
    ] + c.pick([], [c.constant("bias", c.floats(channels))])
    c.node("SkipGroupNorm", inputs, ["y", "sum"], groups=groups, activation=activation, channels_last=1, epsilon=1e-5)
    c.constant("axes", np.array([1, 2]))
    c.means(*(("Unsqueeze", ["s", "axes"]) if flat else ("Identity", ["s"])), ["skip"])
    c.means("Add", ["x", "skip"], ["part"])
    c.means(*(("Add", ["part", "bias"]) if len(inputs) == 5 else ("Identity", ["part"])), ["sum"])
    grouped(c, "sum", True, groups, activation)
    c.output("y", "sum")


@generator("BiasAdd", 3)
def bias_add(c):
    c.node(
        "BiasAdd",
        [c.input("x", c.floats(2, 6, 8)), c.constant("b", c.floats(8)), c.input("s", c.floats(2, 6, 8))],
        ["y"],
    )
    c.means("Sum", ["x", "b", "s"], ["y"])
    c.output("y")
