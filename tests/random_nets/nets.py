"""Random networks as ONNX models, from a seed: layers of the kinds that passes join and kernels choose by, in orders
and shapes that nobody would write.

A layer is a function (net, value) -> Value, registered with its weight; None where the value's shape does not suit it.
"""

import math
import random
from dataclasses import dataclass

import numpy as np
from onnx import TensorProto, helper, numpy_helper

CHANNELS = (1, 2, 3, 4, 5, 6, 7, 8, 12, 13, 16, 17, 20, 24, 31, 32, 33, 40, 48, 64, 65, 96)
SIDES = (1, 3, 5, 7, 8, 9, 13, 14, 16, 17, 28, 31, 32, 37, 40, 56, 63)
MOST_ELEMENTS, MOST_CHANNELS = 300_000, 200
LAYERS = []  # (function, weight)


@dataclass(frozen=True)
class Value:
    """A tensor N x C x H x W inside the network."""

    name: str
    shape: tuple


class Net:
    """Nodes and constants so far, and the values that later layers may go back to."""

    def __init__(self, seed):
        self.random, self.numbers = random.Random(seed), np.random.default_rng(seed)
        self.nodes, self.constants, self.values = [], [], []
        self.count = 0

    def name(self):
        self.count += 1
        return f"t{self.count}"

    def constant(self, array):
        name = self.name()
        self.constants.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def number(self, value):
        return self.constant(np.float32(value))

    def integers(self, *values):
        return self.constant(np.array(values, np.int64))

    def weights(self, *shape, inputs):
        """Of unit variance at a product's result."""
        return self.constant((self.numbers.standard_normal(shape) / math.sqrt(inputs)).astype(np.float32))

    def uniform(self, *shape, low=0.0):
        return self.constant((self.numbers.random(shape) + low).astype(np.float32))

    def op(self, kind, *inputs, **attributes):
        (name,) = self.ops(kind, 1, *inputs, **attributes)
        return name

    def ops(self, kind, outputs, *inputs, **attributes):
        names = [self.name() for _ in range(outputs)]
        self.nodes.append(helper.make_node(kind, list(inputs), names, **attributes))
        return names

    def some(self, *choices):
        return self.random.choice(choices)

    def chance(self, probability):
        return self.random.random() < probability

    def divisor(self, number):
        return self.random.choice([d for d in range(1, number + 1) if number % d == 0])


def layer(weight):
    def register(function):
        LAYERS.append((function, weight))
        return function

    return register


PLAIN = ("Relu", "Relu", "HardSwish", "Sigmoid", "Tanh", "Elu", "Softplus", "Mish", "Abs")
SPELT = ("none", "none", "clip", "silu", "gelu", "leaky", "prelu", "hard_sigmoid")


def activated(net, x, channels):
    """One of the activations, some of them as exporters spell them."""
    kind = net.random.choice(PLAIN + SPELT)
    if kind in PLAIN:
        return net.op(kind, x)
    if kind == "clip":
        return net.op("Clip", x, net.number(0), net.number(6))
    if kind == "silu":
        return net.op("Mul", x, net.op("Sigmoid", x))
    if kind == "gelu":
        erf = net.op("Erf", net.op("Div", x, net.number(math.sqrt(2))))
        return net.op("Mul", net.op("Mul", x, net.op("Add", erf, net.number(1))), net.number(0.5))
    if kind == "leaky":
        return net.op("LeakyRelu", x, alpha=0.1)
    if kind == "prelu":
        return net.op("PRelu", x, net.uniform(channels, 1, 1))
    return net.op("HardSigmoid", x, alpha=1 / 6) if kind == "hard_sigmoid" else x


def normalized(net, x, channels):
    return net.op("BatchNormalization", x, *(net.uniform(channels, low=0.5) for _ in range(4)))


@dataclass(frozen=True)
class Filters:
    """Of a convolution."""

    count: int
    kernel: tuple
    groups: int = 1
    stride: tuple = (1, 1)
    dilation: tuple = (1, 1)


def conv(net, x, filters):
    """Of any padding; None where nothing would be left."""
    batch, channels, *sides = x.shape
    outputs, kernel = filters.count, filters.kernel
    reach = [(k - 1) * d for k, d in zip(kernel, filters.dilation)]
    pads = [r // 2 for r in reach] * 2 if net.chance(0.75) else [net.random.randint(0, k) for k in (*kernel, *kernel)]
    room = [s + a + b - r - 1 for s, a, b, r in zip(sides, pads[:2], pads[2:], reach)]
    if min(room) < 0:
        return None
    shape = (batch, outputs, *(r // s + 1 for r, s in zip(room, filters.stride)))
    width = channels // filters.groups
    inputs = [x.name, net.weights(outputs, width, *kernel, inputs=width * kernel[0] * kernel[1])]
    if net.chance(0.8):
        inputs.append(net.weights(outputs, inputs=25))
    name = net.op("Conv", *inputs, kernel_shape=kernel, strides=filters.stride, dilations=filters.dilation,
                  group=filters.groups, pads=pads)
    if net.chance(0.25):
        name = normalized(net, name, outputs)
    return Value(activated(net, name, outputs), shape)


def kernel_of(net):
    side = net.some(1, 2, 3, 3, 3, 3, 5, 5, 7)
    return (side, net.some(1, 3, 5, 7)) if net.chance(0.15) else (side, side)


def stride_of(net):
    side = net.some(1, 1, 1, 2, 3)
    return (side, net.some(1, 2)) if net.chance(0.2) else (side, side)


def dilation_of(net):
    return (1, 1) if net.chance(0.8) else (net.some(1, 2, 3), net.some(1, 2, 3))


@layer(9)
def plain_conv(net, x):
    return conv(net, x, Filters(net.random.choice(CHANNELS), kernel_of(net), 1, stride_of(net), dilation_of(net)))


@layer(6)
def pointwise_conv(net, x):
    return conv(net, x, Filters(net.random.choice(CHANNELS), (1, 1), stride=(1, 1) if net.chance(0.9) else (2, 2)))


@layer(6)
def depthwise_conv(net, x):
    channels = x.shape[1]
    count = channels * net.some(1, 1, 1, 1, 2)
    return conv(net, x, Filters(count, kernel_of(net), channels, stride_of(net), dilation_of(net)))


@layer(2)
def grouped_conv(net, x):
    groups = net.divisor(x.shape[1])
    return conv(net, x, Filters(groups * net.some(1, 2, 3, 4, 8), kernel_of(net), groups, stride_of(net)))


@layer(2)
def inverted_residual(net, x):
    """1x1, depthwise, 1x1 and the sum, of which row chains are made."""
    channels, side = min(MOST_CHANNELS, x.shape[1] * net.some(2, 4, 6)), net.some(3, 5)
    wide = conv(net, x, Filters(channels, (1, 1)))
    deep = wide and conv(net, wide, Filters(channels, (side, side), channels))
    narrow = deep and conv(net, deep, Filters(x.shape[1], (1, 1)))
    if narrow and narrow.shape == x.shape:
        return Value(net.op("Add", narrow.name, x.name), x.shape)
    return narrow


@layer(1)
def transposed_conv(net, x):
    batch, channels, *sides = x.shape
    kernel, stride = net.some(2, 3, 4, 5), net.some(1, 2, 3)
    pad, extra = net.random.randrange(min(kernel, 2)), net.random.randrange(stride)
    shape = [(s - 1) * stride - 2 * pad + kernel + extra for s in sides]
    if min(shape) < 1:
        return None
    groups = channels if net.chance(0.2) else 1
    outputs = net.random.choice(CHANNELS) if groups == 1 else channels * net.some(1, 2)
    width = channels // groups
    w = net.weights(channels, outputs // groups, kernel, kernel, inputs=width * kernel * kernel)
    name = net.op("ConvTranspose", x.name, w, kernel_shape=(kernel, kernel), strides=(stride, stride), pads=[pad] * 4,
                  output_padding=(extra, extra), group=groups)
    return Value(name, (batch, outputs, *shape))


@layer(2)
def pool(net, x):
    batch, channels, *sides = x.shape
    kernel, stride = net.some(2, 3, 5), net.some(1, 2, 3)
    pad = net.random.randint(0, kernel // 2)
    if min(sides) + 2 * pad < kernel:
        return None
    window = {"kernel_shape": (kernel, kernel), "strides": (stride, stride), "pads": [pad] * 4}
    if net.chance(0.5):
        name = net.op("MaxPool", x.name, **window)
    else:
        name = net.op("AveragePool", x.name, count_include_pad=net.some(0, 1), **window)
    return Value(name, (batch, channels, *((s + 2 * pad - kernel) // stride + 1 for s in sides)))


@layer(1)
def squeeze_excitation(net, x):
    channels = x.shape[1]
    few = max(1, channels // 4)
    mean = net.op("GlobalAveragePool", x.name)
    inner = net.op("Relu", net.op("Conv", mean, net.weights(few, channels, 1, 1, inputs=channels)))
    scale = net.op("Conv", inner, net.weights(channels, few, 1, 1, inputs=few), net.weights(channels, inputs=1))
    gate = net.op("HardSigmoid", scale, alpha=1 / 6) if net.chance(0.5) else net.op("Sigmoid", scale)
    return Value(net.op("Mul", x.name, gate), x.shape)


@layer(1)
def batch_norm(net, x):
    return Value(normalized(net, x.name, x.shape[1]), x.shape)


@layer(2)
def joined(net, x):
    """With a value of before, or a branch of its own, element by element."""
    side = net.some(1, 3, 5)
    branch = conv(net, x, Filters(x.shape[1], (side, side), net.some(1, x.shape[1])))
    others = [v for v in (*net.values, branch) if v and v.shape == x.shape and v != x]
    if not others:
        return None
    name = net.op(net.some("Add", "Add", "Add", "Mul", "Sub", "Max"), x.name, net.random.choice(others).name)
    return Value(activated(net, name, x.shape[1]), x.shape)


@layer(2)
def concat(net, x):
    batch, channels, *sides = x.shape
    others = [v for v in net.values if v != x and (v.shape[0], *v.shape[2:]) == (batch, *sides)]
    if not others:
        return None
    pair = [x, net.random.choice(others)]
    net.random.shuffle(pair)
    return Value(net.op("Concat", *(v.name for v in pair), axis=1), (batch, sum(v.shape[1] for v in pair), *sides))


@layer(1)
def split(net, x):
    batch, channels, *sides = x.shape
    if channels < 2:
        return None
    first = net.random.randrange(1, channels)
    names = net.ops("Split", 2, x.name, net.integers(first, channels - first), axis=1)
    parts = [Value(name, (batch, count, *sides)) for name, count in zip(names, (first, channels - first))]
    net.values.append(parts[1])
    return parts[0]


@layer(1)
def channel_shuffle(net, x):
    batch, channels, *sides = x.shape
    groups = net.divisor(channels)
    apart = net.op("Reshape", x.name, net.integers(batch, groups, channels // groups, *sides))
    turned = net.op("Transpose", apart, perm=(0, 2, 1, 3, 4))
    return Value(net.op("Reshape", turned, net.integers(*x.shape)), x.shape)


@layer(1)
def resize(net, x):
    batch, channels, height, width = x.shape
    scales = net.constant(np.array([1, 1, 2, 2], np.float32))
    if net.chance(0.5):
        how = {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
    else:
        how = {"mode": "linear",
               "coordinate_transformation_mode": net.some("asymmetric", "half_pixel", "align_corners")}
    return Value(net.op("Resize", x.name, "", scales, **how), (batch, channels, 2 * height, 2 * width))


@layer(1)
def depth_to_space(net, x):
    batch, channels, height, width = x.shape
    if channels % 4:
        return None
    name = net.op("DepthToSpace", x.name, blocksize=2, mode=net.some("DCR", "CRD"))
    return Value(name, (batch, channels // 4, 2 * height, 2 * width))


@layer(1)
def softmax(net, x):
    return Value(net.op("Softmax", x.name, axis=net.some(1, 2, 3, -1)), x.shape)


@layer(1)
def group_norm(net, x):
    """As exporters spell it; of as many groups as channels, an instance norm."""
    channels = x.shape[1]
    groups = net.some(channels, net.divisor(channels))
    rows = net.op("Reshape", x.name, net.integers(x.shape[0], groups, -1))
    name = net.op("InstanceNormalization", rows, net.uniform(groups, low=0.5), net.uniform(groups), epsilon=1e-3)
    name = net.op("Reshape", name, net.integers(*x.shape))
    return Value(net.op("Add", net.op("Mul", name, net.uniform(channels, 1, 1)), net.uniform(channels, 1, 1)), x.shape)


@layer(1)
def tokens(net, x):
    """A layer norm over channels, and two products with an activation between them."""
    channels = x.shape[1]
    last = net.op("Transpose", x.name, perm=(0, 2, 3, 1))
    name = net.op("LayerNormalization", last, net.uniform(channels, low=0.5), net.uniform(channels), axis=-1,
                  epsilon=1e-3)
    if net.chance(0.6):
        name = net.op("MatMul", name, net.weights(channels, 2 * channels, inputs=channels))
        name = net.op(net.some("Relu", "HardSwish", "Tanh"), net.op("Add", name, net.weights(2 * channels, inputs=9)))
        name = net.op("MatMul", name, net.weights(2 * channels, channels, inputs=2 * channels))
    if net.chance(0.4):
        name = net.op("Add", name, last)
    return Value(net.op("Transpose", name, perm=(0, 3, 1, 2)), x.shape)


@layer(1)
def attention(net, x):
    """Heads over the pixels of each image."""
    batch, channels, height, width = x.shape
    count = height * width
    heads = net.divisor(channels)
    if count > 400:
        return None
    rows = net.op("Transpose", net.op("Reshape", x.name, net.integers(batch, channels, count)), perm=(0, 2, 1))

    def projected(perm):
        name = net.op("MatMul", rows, net.weights(channels, channels, inputs=channels))
        apart = net.op("Reshape", name, net.integers(batch, count, heads, channels // heads))
        return net.op("Transpose", apart, perm=perm)

    scores = net.op("MatMul", projected((0, 2, 1, 3)), projected((0, 2, 3, 1)))
    shares = net.op("Softmax", net.op("Mul", scores, net.number((channels // heads) ** -0.5)), axis=-1)
    mixed = net.op("Transpose", net.op("MatMul", shares, projected((0, 2, 1, 3))), perm=(0, 2, 1, 3))
    back = net.op("Transpose", net.op("Reshape", mixed, net.integers(batch, count, channels)), perm=(0, 2, 1))
    return Value(net.op("Reshape", back, net.integers(*x.shape)), x.shape)


@layer(1)
def mixed_tokens(net, x):
    """Two products of tokens around a depthwise convolution of the image that they are."""
    batch, channels, height, width = x.shape
    wide, count = 2 * channels, height * width
    rows = net.op("Transpose", net.op("Reshape", x.name, net.integers(batch, channels, count)), perm=(0, 2, 1))
    name = net.op("MatMul", rows, net.weights(channels, wide, inputs=channels))
    if net.chance(0.5):
        name = net.op("Add", name, net.weights(wide, inputs=9))
    name = net.op("Reshape", net.op("Transpose", name, perm=(0, 2, 1)), net.integers(batch, wide, height, width))
    name = net.op("Conv", name, net.weights(wide, 1, 3, 3, inputs=9), pads=[1] * 4, group=wide)
    name = net.op("Reshape", activated(net, name, wide), net.integers(batch, wide, count))
    name = net.op("MatMul", net.op("Transpose", name, perm=(0, 2, 1)), net.weights(wide, channels, inputs=wide))
    if net.chance(0.7):
        name = net.op("Add", name, rows)
    back = net.op("Transpose", name, perm=(0, 2, 1))
    return Value(net.op("Reshape", back, net.integers(*x.shape)), x.shape)


@layer(1)
def decoded(net, x):
    """An enlargement, perhaps beside something else or with a border, and a convolution behind it."""
    batch, channels, height, width = x.shape
    factor, count = net.some(2, 2, 3), net.some(64, 40)
    if height * width > 1500:
        return None
    small = net.op("Conv", x.name, net.weights(count, channels, 1, 1, inputs=channels))
    scales = net.constant(np.array([1, 1, factor, factor], np.float32))
    mode = net.some("nearest", "nearest", "linear", "cubic")
    name = net.op("Resize", small, "", scales, mode=mode, coordinate_transformation_mode="asymmetric",
                  nearest_mode="floor")
    side, border = net.some(1, 3, 3, 5), 0
    if net.chance(0.4):
        border = 1
        name = net.op("Pad", name, net.integers(0, 0, 1, 1, 0, 0, 1, 1), mode=net.some("edge", "reflect"))
    elif net.chance(0.4):
        other = net.op("Conv", net.op("Resize", x.name, "", scales, mode="linear"),
                       net.weights(3, channels, 1, 1, inputs=channels))
        count += 3
        name = net.op("Concat", other, name, axis=1)
    made, pad = net.some(16, 20), 0 if border else net.random.randrange((side + 1) // 2)
    name = net.op("Conv", name, net.weights(made, count, side, side, inputs=count * side**2), pads=[pad] * 4)
    shape = [factor * s + 2 * (border + pad) - side + 1 for s in (height, width)]
    return Value(activated(net, name, made), (batch, made, *shape)) if min(shape) > 0 else None


@layer(1)
def averaged(net, x):
    """A product of channels, an average, and another product."""
    batch, channels, height, width = x.shape
    count = net.some(8, 16, 24)
    if min(height, width) < 2:
        return None
    name = net.op("Conv", x.name, net.weights(count, channels, 1, 1, inputs=channels), net.uniform(count))
    name = net.op("AveragePool", name, kernel_shape=(2, 2), strides=(2, 2))
    made = net.some(channels, 8)
    return Value(net.op("Conv", name, net.weights(made, count, 1, 1, inputs=count)),
                 (batch, made, height // 2, width // 2))


@layer(1)
def first_of(net, x):
    """One row or column of a result of products and norms."""
    channels, axis = x.shape[1], net.some(2, 3)
    rows = net.op("Transpose", x.name, perm=(0, 2, 3, 1))
    name = net.op("MatMul", rows, net.weights(channels, channels, inputs=channels))
    name = net.op("Add", net.op("Mul", name, net.uniform(channels)), rows)
    name = net.op("LayerNormalization", name, net.uniform(channels, low=0.5), net.uniform(channels), epsilon=1e-3)
    back = net.op("Transpose", name, perm=(0, 3, 1, 2))
    place = net.random.randrange(x.shape[axis])
    name = net.op("Slice", back, net.integers(place), net.integers(place + 1), net.integers(axis))
    return Value(name, (*x.shape[:axis], 1, *x.shape[axis + 1 :]))


@layer(1)
def transposed(net, x):
    batch, channels, height, width = x.shape
    return Value(net.op("Transpose", x.name, perm=(0, 1, 3, 2)), (batch, channels, width, height))


@layer(1)
def pad(net, x):
    batch, channels, height, width = x.shape
    top, left, bottom, right = (net.random.randrange(3) for _ in range(4))
    mode = net.some("constant", "edge", "reflect") if min(height, width) > 3 else net.some("constant", "edge")
    name = net.op("Pad", x.name, net.integers(0, 0, top, left, 0, 0, bottom, right), mode=mode)
    return Value(name, (batch, channels, height + top + bottom, width + left + right))


@layer(1)
def slice_of(net, x):
    axis = net.some(1, 2, 3)
    begin = net.random.randrange(x.shape[axis])
    end = net.random.randint(begin + 1, x.shape[axis])
    name = net.op("Slice", x.name, net.integers(begin), net.integers(end), net.integers(axis))
    return Value(name, (*x.shape[:axis], end - begin, *x.shape[axis + 1 :]))


@layer(1)
def with_constant(net, x):
    return Value(net.op(net.some("Mul", "Add"), x.name, net.uniform(1, x.shape[1], 1, 1)), x.shape)


def number_of_any_shape(net, x, value):
    """The same number again and again, in a shape that goes with x's: (its name, the shape of both). Where x has one
    element on an axis the constant may have more."""
    dims = [net.some(1, 1, side if side > 1 else net.some(1, 2, 3)) for side in x.shape]
    shape = tuple(max(a, b) for a, b in zip(dims, x.shape))
    while dims and dims[0] == 1 and net.chance(0.5):
        dims.pop(0)
    return net.constant(np.full(dims, value, np.float32)), shape


@layer(1)
def spelt_with_any_shape(net, x):
    """Functions as exporters spell them, but for the shape of a constant: small and square images become larger."""
    kind = net.some("gelu", "gelu_tanh", "hard_sigmoid", "hard_swish", "factor")
    small = Value(net.op("ReduceMean", x.name, net.integers(2), keepdims=1), (*x.shape[:2], 1, x.shape[3]))
    x = small if net.chance(0.5) else x
    values = {"gelu": math.sqrt(2), "gelu_tanh": 0.044715, "factor": net.some(1, 1.0000001)}
    number, shape = number_of_any_shape(net, x, values.get(kind, 3))
    if kind == "factor":
        return Value(net.op("Ceil", net.op("Mul", x.name, number)), shape)
    if kind.startswith("hard"):
        gate = net.op("Clip", net.op("Add", x.name, number), net.number(0), net.number(6))
        name = gate if kind == "hard_sigmoid" else net.op("Mul", x.name, gate)
        return Value(net.op("Div", name, net.number(6)), shape)
    if kind == "gelu":
        inner = net.op("Erf", net.op("Div", x.name, number))
    else:
        cube = net.op("Mul", x.name, net.op("Mul", x.name, x.name))
        inner = net.op("Add", x.name, net.op("Mul", cube, number))
        inner = net.op("Tanh", net.op("Mul", inner, net.number(math.sqrt(2 / math.pi))))
    name = net.op("Mul", x.name, net.op("Add", inner, net.number(1)))
    return Value(net.op("Mul", name, net.number(0.5)), shape)


@layer(1)
def across_rows(net, x):
    """Filters as wide as the image, often of one channel to one."""
    batch, channels, height, width = x.shape
    name, count, down = x.name, net.some(1, 1, 3, 17), net.some(1, 2, 3)
    if net.chance(0.5):
        name, channels = net.op("ReduceMean", name, net.integers(1), keepdims=1), 1
    if height < down:
        return None
    w, stride = net.weights(count, channels, down, width, inputs=channels * down * width), net.some(1, 2)
    return Value(net.op("Conv", name, w, strides=(stride, 1)), (batch, count, (height - down) // stride + 1, 1))


@layer(1)
def beside_its_input(net, x):
    """A convolution and a scaled copy of what it reads, which may be one pixel beside many."""
    batch, channels, *sides = x.shape
    name, pad = x.name, 1
    if net.chance(0.5):
        name, sides, pad = net.op("GlobalAveragePool", name), [1, 1], 2
    w = net.weights(channels, channels, 3, 3, inputs=9 * channels)
    made = net.op("Conv", name, w, pads=[pad] * 4)
    scaled = net.op("Mul", name, net.uniform(channels, 1, 1))
    return Value(net.op("Add", made, scaled), (batch, channels, *(s + 2 * pad - 2 for s in sides)))


def random_model(seed):
    """(model, shape of its input x). Up to twelve layers, and up to three values inside as outputs, too."""
    net = Net(seed)
    height = net.random.choice(SIDES)
    shape = (net.some(1, 1, 1, 2, 3), net.some(1, 2, 3, 3, 3, 4, 8, 16, 17, 32), height,
             height if net.chance(0.6) else net.random.choice(SIDES))
    first = x = Value("x", shape)
    functions, weights = zip(*LAYERS)
    for function in net.random.choices(functions, weights, k=net.random.randint(1, 12)):
        made = function(net, x)
        if made and math.prod(made.shape) <= MOST_ELEMENTS and made.shape[1] <= MOST_CHANNELS:
            net.values.append(x)
            x = made
    if x is first:
        x = Value(net.op("Relu", "x"), shape)
    outputs = [x.name] + [v.name for v in net.values[-3:] if v not in (x, first) and net.chance(0.15)]
    graph = helper.make_graph(net.nodes, "random", [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
                              [helper.make_tensor_value_info(o, TensorProto.FLOAT, None) for o in outputs],
                              net.constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8), shape
