"""Quantized operators, and quantized weights."""

import numpy as np
from onnx import TensorProto

from cases import generator


def scale_and_zero(c, name, dtype=np.uint8, scale=None):
    """Names of constants."""
    low, high = (0, 256) if dtype == np.uint8 else (-128, 128)
    c.constant(f"{name}_scale", np.float32(scale or c.rng.uniform(0.01, 0.05)))
    c.constant(f"{name}_zero", np.array(c.rng.integers(low + 64, high - 64), dtype))
    return [f"{name}_scale", f"{name}_zero"]


def quantized(c, name, *shape, dtype=np.uint8):
    """Names of an input, its scale, its zero point."""
    low, high = (0, 256) if dtype == np.uint8 else (-128, 128)
    return [c.input(name, c.ints(low, high, *shape, dtype=dtype)), *scale_and_zero(c, name, dtype)]


def binary(c, op):
    c.steps, dtype = 1, c.pick(np.uint8, np.int8)
    shapes = c.pick(((3, 5), (3, 5)), ((2, 3, 5), (5,)), ((4, 1), (1, 6)), ((7,), ()))
    c.node(
        op,
        [
            *quantized(c, "a", *shapes[0], dtype=dtype),
            *quantized(c, "b", *shapes[1], dtype=dtype),
            *scale_and_zero(c, "y", dtype),
        ],
        ["y"],
    )
    c.output("y")


@generator("QLinearAdd")
def add(c):
    binary(c, "QLinearAdd")


@generator("QLinearMul")
def mul(c):
    binary(c, "QLinearMul")


def unary(c, op, scale=None, **attributes):
    c.steps, dtype = 1, c.pick(np.uint8, np.int8)
    c.node(op, [*quantized(c, "x", 3, 17, dtype=dtype), *scale_and_zero(c, "y", dtype, scale)], ["y"], **attributes)
    c.output("y")


@generator("QLinearLeakyRelu")
def leaky(c):
    unary(c, "QLinearLeakyRelu", alpha=c.pick(None, 0.1, 0.5))


@generator("QLinearSigmoid")
def sigmoid(c):
    unary(c, "QLinearSigmoid", scale=1 / 256)


@generator("QLinearSoftmax")
def softmax(c):
    c.steps, dtype, old = 1, c.pick(np.uint8, np.int8), c.pick(0, 1)
    x = quantized(c, "x", 2, 3, 4, dtype=dtype)
    c.constant("y_scale", np.float32(1 / 256))
    c.constant("y_zero", np.array(0 if dtype == np.uint8 else -128, dtype))
    c.node("QLinearSoftmax", [*x, "y_scale", "y_zero"], ["y"], axis=c.pick(-1, 1), opset=12 if old else 13)
    c.output("y")


@generator("QLinearAveragePool", 8)
def average_pool(c):
    c.steps, last = 1, c.pick(0, 1)
    shape = (2, 9, 8, 3) if last else (2, 3, 9, 8)
    c.node(
        "QLinearAveragePool",
        [*quantized(c, "x", *shape), *scale_and_zero(c, "y")],
        ["y"],
        kernel_shape=[3, 2],
        strides=c.pick(None, [2, 2]),
        pads=c.pick(None, [1, 0, 1, 1]),
        count_include_pad=c.pick(0, 1),
        ceil_mode=c.pick(None, 1),
        channels_last=last,
    )
    c.output("y")


@generator("QLinearGlobalAveragePool")
def global_average_pool(c):
    c.steps, last = 1, c.pick(0, 1)
    c.node(
        "QLinearGlobalAveragePool",
        [*quantized(c, "x", *((2, 5, 6, 3) if last else (2, 3, 5, 6))), *scale_and_zero(c, "y")],
        ["y"],
        channels_last=last,
    )
    c.output("y")


@generator("QLinearConcat")
def concat(c):
    c.steps, axis = 1, c.pick(0, 1, -1)
    parts = []
    for k in range(c.pick(1, 2, 3)):
        shape = [2, 3, 4]
        shape[axis] = int(c.rng.integers(1, 5))
        parts += quantized(c, f"x{k}", *shape)
    c.node("QLinearConcat", [*scale_and_zero(c, "y"), *parts], ["y"], axis=axis)
    c.output("y")


@generator("QLinearWhere")
def where(c):
    c.steps = 1
    condition = c.input("c", c.rng.random((3, 4)) < 0.5)
    c.node(
        "QLinearWhere",
        [condition, *quantized(c, "a", 3, 4), *quantized(c, "b", *c.pick((3, 4), (4,))), *scale_and_zero(c, "y")],
        ["y"],
    )
    c.output("y")


@generator("QLinearReduceMean", 4)
def reduce_mean(c):
    c.steps = 1
    inputs, attributes = [*quantized(c, "x", 2, 3, 4), *scale_and_zero(c, "y")], dict(
        axes=c.pick([1], [-1], [1, 2]), keepdims=c.pick(0, 1)
    )
    c.node("QLinearReduceMean", inputs, ["y"], **attributes)
    c.means("DequantizeLinear", inputs[:3], ["real"])
    c.means("ReduceMean", ["real"], ["mean"], **attributes)
    c.means("QuantizeLinear", ["mean", *inputs[3:]], ["y"])
    c.output("y")


@generator("QGemm", 10)
def gemm(c):
    c.steps, a, b, of_a, of_b = 1, c.pick(0, 1), c.pick(0, 1), c.pick(np.uint8, np.int8), c.pick(np.uint8, np.int8)
    if of_a == np.int8:
        of_b = np.int8
    weights = c.constant("b", c.byte_weights(*((4, 6) if b else (6, 4)), dtype=of_b))
    if c.pick(0, 1):
        quant = [
            c.constant("b_scale", c.floats(4, low=0.01, high=0.05)),
            c.constant("b_zero", c.ints(*((100, 150) if of_b == np.uint8 else (-20, 20)), 4, dtype=of_b)),
        ]
    else:
        quant = scale_and_zero(c, "b", of_b)
    inputs = [*quantized(c, "a", *((6, 5) if a else (5, 6)), dtype=of_a), weights, *quant]
    inputs.append(c.pick("", c.constant("c", c.ints(-5000, 5000, 4, dtype=np.int32))))
    if c.pick(0, 1):
        inputs += scale_and_zero(c, "y", of_a, scale=0.2)
    while not inputs[-1]:
        inputs.pop()
    c.node("QGemm", inputs, ["y"], transA=a, transB=b, alpha=c.pick(1.0, 0.5))
    c.output("y")


def weight_scales(c, columns, dtype):
    """Scale and zero point of weights, one or one per column."""
    low, high = (100, 150) if dtype == np.uint8 else (-20, 20)
    shape = c.pick((), (columns,))
    zero = c.pick("", c.constant("b_zero", c.ints(low, high, *shape, dtype=dtype)))
    return c.constant("b_scale", np.asarray(c.floats(*shape, low=0.01, high=0.05), np.float32)), zero


@generator("DynamicQuantizeMatMul", 8)
def dynamic_matmul(c):
    dtype = c.pick(np.uint8, np.int8)
    weights = c.constant("b", c.byte_weights(6, 4, dtype=dtype))
    scale, zero = weight_scales(c, 4, dtype)
    inputs = [
        c.input("a", c.floats(*c.pick((5, 6), (2, 3, 6)))),
        weights,
        scale,
        zero,
        c.pick("", c.constant("bias", c.floats(4))),
    ]
    while not inputs[-1]:
        inputs.pop()
    c.tolerance = 1e-4
    c.node("DynamicQuantizeMatMul", inputs, ["y"])
    c.output("y")


@generator("MatMulIntegerToFloat", 8)
def integer_to_float(c):
    of_a, of_b = c.pick(np.uint8, np.int8), c.pick(np.uint8, np.int8)
    of_b = np.int8 if of_a == np.int8 else of_b
    a = c.input("a", c.ints(*((0, 256) if of_a == np.uint8 else (-128, 128)), *c.pick((5, 6), (2, 3, 6)), dtype=of_a))
    b = c.constant("b", c.byte_weights(6, 4, dtype=of_b))
    b_scale, b_zero = weight_scales(c, 4, of_b)
    a_scale, a_zero = scale_and_zero(c, "a", of_a)
    inputs = [a, b, a_scale, b_scale, c.pick("", a_zero), b_zero, c.pick("", c.constant("bias", c.floats(4)))]
    while not inputs[-1]:
        inputs.pop()
    c.node("MatMulIntegerToFloat", inputs, ["y"])
    c.output("y")


@generator("QuantizeLinear")
def quantize(c):
    c.steps, dtype = 1, c.pick(np.uint8, np.int8, np.uint16, np.int16)
    per_axis = c.pick(0, 1)
    scale = c.constant("s", np.asarray(c.floats(*((3,) if per_axis else ()), low=0.01, high=0.1), np.float32))
    zero = c.constant("z", c.ints(1, 100, *((3,) if per_axis else ()), dtype=dtype))
    c.node("QuantizeLinear", [c.input("x", c.floats(2, 3, 4)), scale, zero], ["y"], axis=1 if per_axis else None)
    c.output("y")


@generator("DequantizeLinear")
def dequantize(c):
    dtype = c.pick(np.uint8, np.int8, np.uint16, np.int16, np.int32)
    per_axis = c.pick(0, 1)
    scale = c.constant("s", np.asarray(c.floats(*((3,) if per_axis else ()), low=0.01, high=0.1), np.float32))
    zero = "" if dtype == np.int32 else c.constant("z", c.ints(1, 100, *((3,) if per_axis else ()), dtype=dtype))
    c.node(
        "DequantizeLinear",
        [c.input("x", c.ints(0, 120, 2, 3, 4, dtype=dtype)), scale, *([zero] if zero else [])],
        ["y"],
        axis=1 if per_axis else None,
    )
    c.output("y")


def spatial(c):
    return dict(pads=c.pick(None, [1, 0, 1, 1]), strides=c.pick(None, [2, 1]), dilations=c.pick(None, [1, 2]))


@generator("NhwcMaxPool")
def nhwc_max_pool(c):
    dtype = c.pick(np.uint8, np.int8)
    c.node(
        "NhwcMaxPool",
        [c.input("x", c.ints(0, 127, 2, 9, 8, 3, dtype=dtype))],
        ["y"],
        kernel_shape=[3, 2],
        ceil_mode=c.pick(None, 1),
        **spatial(c),
    )
    c.output("y")


def nhwc_conv(c, op):
    groups = c.pick(1, 2)
    inputs = [c.input("x", c.floats(2, 9, 8, 4)), c.constant("w", c.floats(6, 4 // groups, 3, 2))] + c.pick(
        [], [c.constant("b", c.floats(6))]
    )
    extra, window = {"activation": c.pick("Relu", "Sigmoid")} if op == "NhwcFusedConv" else {}, spatial(c)
    c.node(op, inputs, ["y"], group=groups, **window, **extra)
    c.means("Transpose", ["x"], ["first"], perm=[0, 3, 1, 2])
    c.means("Conv", ["first", *inputs[1:]], ["conv"], group=groups, **window)
    c.means(extra.get("activation", "Identity"), ["conv"], ["made"])
    c.means("Transpose", ["made"], ["y"], perm=[0, 2, 3, 1])
    c.output("y")


@generator("NhwcConv")
def nhwc_plain(c):
    nhwc_conv(c, "NhwcConv")


@generator("NhwcFusedConv")
def nhwc_fused(c):
    nhwc_conv(c, "NhwcFusedConv")


def pack(values, bits):
    """Rows of small numbers as bytes, the first in the low bits; rows end with whole bytes."""
    per_byte = 8 // bits
    rows = np.pad(values, [(0, 0)] * (values.ndim - 1) + [(0, -values.shape[-1] % per_byte)]).astype(np.uint32)
    rows = rows.reshape(*rows.shape[:-1], -1, per_byte)
    return (rows << (bits * np.arange(per_byte, dtype=np.uint32))).sum(axis=-1).astype(np.uint8)


@generator("MatMulNBits", 24)
def matmul_bits(c):
    bits, block, n, k = c.pick(2, 4, 4, 8), c.pick(16, 32), c.pick(3, 8), c.pick(16, 32, 48, 80)
    blocks = -(-k // block)
    weights = c.constant("b", pack(c.ints(0, 1 << bits, n, blocks, block), bits).reshape(n, blocks, block * bits // 8))
    scales = c.constant("s", c.floats(n, blocks, low=0.01, high=0.2))
    zeros = c.pick("", "packed", "float")
    if zeros == "packed":
        zeros = c.constant("z", pack(c.ints(0, 1 << bits, n, blocks), bits))
    elif zeros:
        zeros = c.constant("z", c.floats(n, blocks, low=0, high=3))
    inputs = [
        c.input("a", c.floats(*c.pick((5, k), (2, 3, k), (1, k)))),
        weights,
        scales,
        zeros,
        "",
        c.pick("", c.constant("bias", c.floats(n))),
    ]
    while not inputs[-1]:
        inputs.pop()
    c.node("MatMulNBits", inputs, ["y"], K=k, N=n, bits=bits, block_size=block, accuracy_level=c.pick(None, 1))
    c.output("y")


@generator("GatherBlockQuantized", 16)
def gather_blocks(c):
    bits, block, rows, width = c.pick(4, 4, 8), 16, 7, c.pick(32, 48)
    blocks = width // block
    indices = c.input("i", c.ints(-rows, rows, *c.pick((3,), (2, 2), ()), dtype=c.pick(np.int32, np.int64)))
    form = c.pick("bytes", "u4", "i4") if bits == 4 else "bytes"
    values, zeros = c.ints(0, 1 << bits, rows, width), c.ints(0, 1 << bits, rows, blocks)
    has_zeros = c.pick(0, 1)
    if form == "bytes":
        c.constant("d", pack(values, bits))
        c.constant("z", pack(zeros, bits))
    else:
        kind = TensorProto.UINT4 if form == "u4" else TensorProto.INT4
        c.raw_constant("d", kind, [rows, width], pack(values, 4).tobytes())
        c.raw_constant("z", kind, [rows, blocks], pack(zeros.ravel(), 4).tobytes())
    c.constant("s", c.floats(rows, blocks, low=0.01, high=0.2))
    c.node(
        "GatherBlockQuantized",
        ["d", indices, "s"] + (["z"] if has_zeros else []),
        ["y"],
        gather_axis=0,
        quantize_axis=1,
        block_size=block,
        bits=bits if form == "bytes" else None,
    )
    c.output("y")


@generator("DynamicQuantizeLSTM")
def lstm(c):
    """Its weights stand for numbers, and it is the standard's LSTM with these."""
    directions, per_column, hidden, width = c.pick(1, 2), c.pick(0, 1), 5, 4
    shape = (directions, 4 * hidden) if per_column else (directions,)
    c.input("x", c.floats(3, 2, width))
    for name, rows in (("w", width), ("r", hidden)):
        q, zero = c.ints(-128, 128, directions, rows, 4 * hidden, dtype=np.int8), c.ints(-9, 9, *shape, dtype=np.int8)
        scale = c.floats(*shape, low=0.002, high=0.01)
        real = (q - zero.astype(np.float32).reshape(directions, 1, -1)) * scale.reshape(directions, 1, -1)
        for suffix, value in (
            ("", q),
            ("_scale", scale),
            ("_zero", zero),
            ("_real", real.transpose(0, 2, 1).astype(np.float32)),
        ):
            c.constant(name + suffix, value)
    rest = [c.pick("", c.constant("bias", c.floats(directions, 8 * hidden))), "", *c.pick(["", ""], ["h", "c"]), ""]
    for name in rest[2:4]:
        if name:
            c.input(name, c.floats(directions, 2, hidden))
    attributes = dict(
        hidden_size=hidden, direction=c.pick("forward", "reverse") if directions == 1 else "bidirectional"
    )
    outputs = ["y", "y_h", "y_c"]
    c.node(
        "DynamicQuantizeLSTM", ["x", "w", "r", *rest, "w_scale", "w_zero", "r_scale", "r_zero"], outputs, **attributes
    )
    c.means("LSTM", ["x", "w_real", "r_real", *rest], outputs, **attributes)
    c.output(*outputs)
