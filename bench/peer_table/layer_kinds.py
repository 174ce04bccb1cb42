"""Layers that random networks are made of. Each leaves the shape [1, channels, height, width] as it is, so that several
of a kind follow each other; None: not for this shape. Shapes with one row are lines."""
import math

import numpy
from onnx import TensorProto, helper, numpy_helper

CHANNELS = (4, 8, 12, 16, 24, 32, 40, 48, 64, 72, 80, 96, 112, 128, 160, 192, 256, 320, 384, 512)
SIDES = (7, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 56, 64, 80, 96, 112)
LENGTHS = (50, 100, 128, 200, 400, 500, 1000)
MOST_ELEMENTS = 2_500_000
NEAREST = {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
FUNCTIONS = ("Elu", "Tanh", "Sigmoid", "Mish", "Softplus", "LeakyRelu", "HardSigmoid", "HardSwish", "Erf", "Celu")


class Net:
    """Nodes and constants of a graph, and what the layers of one network have in common."""
    def __init__(self, random):
        self.random, self.numbers = random, numpy.random.default_rng(random.randrange(1 << 30))
        self.nodes, self.constants, self.names = [], [], 0
        self.channels = random.choice(CHANNELS)
        is_line = random.random() < 0.2
        self.height = 1 if is_line else random.choice(SIDES)
        self.width = random.choice(LENGTHS) if is_line else self.height
        while self.channels * self.height * self.width > MOST_ELEMENTS:
            self.height, self.width = max(1, self.height // 2), self.width // 2
        self.side = random.choice((3, 5, 7, 9, 11, 13))
        self.tall = 1 if is_line else self.side
        self.dilation = random.choice((2, 3, 4, 6))
        self.groups = random.choice([g for g in (2, 4, 8, 16, 32) if self.channels % g == 0])
        self.function = random.choice(FUNCTIONS)

    def name(self):
        self.names += 1
        return f"v{self.names}"

    def constant(self, array):
        self.constants.append(numpy_helper.from_array(numpy.asarray(array), self.name()))
        return self.constants[-1].name

    def op(self, kind, *inputs, **attributes):
        made = self.name()
        self.nodes.append(helper.make_node(kind, list(inputs), [made], **attributes))
        return made

    def conv(self, x, outputs, kernel, **attributes):
        """Same padding; `inputs`, `group`, `dilations` and `strides` may be given."""
        inputs, group = attributes.pop("inputs", self.channels), attributes.get("group", 1)
        reach = [(k - 1) * d // 2 for k, d in zip(kernel, attributes.get("dilations", (1, 1)))]
        shape = (outputs, inputs // group, *kernel)
        weights = self.numbers.standard_normal(shape) / math.sqrt(math.prod(shape[1:]))
        return self.op("Conv", x, self.constant(weights.astype(numpy.float32)),
                       self.constant(numpy.zeros(outputs, numpy.float32)), pads=reach * 2, **attributes)

    def vector(self, number, *dims):
        return self.constant(numpy.full(dims or (self.channels,), number, numpy.float32))


def relu(net, x):
    return net.op("Relu", x)


def twice(net):
    return net.constant(numpy.array([1, 1, 1 if net.height == 1 else 2, 2], numpy.float32))


def halved(net, x):
    sides = [1 if net.height == 1 else 2, 2]
    return net.op("MaxPool", x, kernel_shape=sides, strides=sides)


def enlarged(net, x, **attributes):
    return halved(net, net.op("Resize", x, "", twice(net), **attributes))


def halves(net, x):
    """The first and the second half of the channels."""
    middle, end = net.channels // 2, net.channels
    return [net.op("Slice", x, *(net.constant(numpy.array([v])) for v in (a, b, 1)))
            for a, b in ((0, middle), (middle, end))]


def strided(net, x, group):
    if net.height % 2 or net.width % 2:
        return None
    small = net.conv(x, net.channels, (net.side, net.side), strides=[2, 2], group=group)
    return net.op("Resize", small, "", twice(net), **NEAREST)


def turned_norm(net, x):
    y = net.op("Transpose", x, perm=[0, 2, 3, 1])
    y = net.op("LayerNormalization", y, net.vector(1), net.vector(0), axis=-1)
    return net.op("Transpose", y, perm=[0, 3, 1, 2])


def shuffled(net, x):
    parts = [1, net.groups, net.channels // net.groups, net.height, net.width]
    y = net.op("Transpose", net.op("Reshape", x, net.constant(numpy.array(parts))), perm=[0, 2, 1, 3, 4])
    whole = [1, net.channels, net.height, net.width]
    return relu(net, net.op("Reshape", y, net.constant(numpy.array(whole))))


def split_and_joined(net, x):
    first, second = halves(net, x)
    width = net.channels // 2
    return net.op("Concat", second, relu(net, net.conv(first, width, (1, 1), inputs=width)), axis=1)


def gated(net, x):
    few = max(4, net.channels // 4)
    y = relu(net, net.conv(net.op("GlobalAveragePool", x), few, (1, 1)))
    return net.op("Mul", x, net.op("Sigmoid", net.conv(y, net.channels, (1, 1), inputs=few)))


def pixel_shuffled(net, x):
    if net.height == 1:
        return None
    return halved(net, net.op("DepthToSpace", net.conv(x, 4 * net.channels, (1, 1)), blocksize=2, mode="CRD"))


def transposed(net, x):
    if net.height == 1:
        return None
    side = net.random.choice((2, 3, 4))
    w = net.numbers.standard_normal((net.channels, net.channels, side, side)) / (side * math.sqrt(net.channels))
    made = net.op("ConvTranspose", x, net.constant(w.astype(numpy.float32)), strides=[2, 2],
                  output_shape=[2 * net.height, 2 * net.width])
    return halved(net, made)


def over_channels(kind):
    return lambda net, x: net.op(kind, x, net.constant(numpy.array([1])), keepdims=1)


def small_conv(net, x, **attributes):
    return relu(net, net.conv(x, net.channels, (min(net.tall, 3), 3), **attributes))


def crossed(net, x):
    return relu(net, net.conv(net.conv(x, net.channels, (1, net.side)), net.channels, (net.tall, 1)))


def pooled(net, x, kind):
    return net.op(kind, x, kernel_shape=[net.tall, net.side], pads=[net.tall // 2, net.side // 2] * 2)


KINDS = {
    "conv": lambda net, x: relu(net, net.conv(x, net.channels, (net.tall, net.side))),
    "conv-strided": lambda net, x: strided(net, x, 1),
    "conv-dilated": lambda net, x: small_conv(net, x, dilations=[net.dilation] * 2),
    "conv-crossed": crossed,
    "conv-grouped": lambda net, x: small_conv(net, x, group=net.groups),
    "conv-transposed": transposed,
    "depthwise": lambda net, x: relu(net, net.conv(x, net.channels, (net.tall, net.side), group=net.channels)),
    "depthwise-strided": lambda net, x: strided(net, x, net.channels),
    "depthwise-dilated": lambda net, x: small_conv(net, x, group=net.channels, dilations=[net.dilation] * 2),
    "max-pool": lambda net, x: pooled(net, x, "MaxPool"),
    "average-pool": lambda net, x: pooled(net, x, "AveragePool"),
    "layer-norm": turned_norm,
    "group-norm": lambda net, x: net.op("GroupNormalization", x, net.vector(1), net.vector(0), num_groups=net.groups),
    "instance-norm": lambda net, x: net.op("InstanceNormalization", x, net.vector(1), net.vector(0)),
    "batch-norm": lambda net, x: relu(net, net.op("BatchNormalization", x,
                                                  *(net.vector(number) for number in (1.1, 0.1, 0.1, 1.2)))),
    "response-norm": lambda net, x: net.op("LRN", x, size=5),
    "length-norm": lambda net, x: net.op("Div", x, over_channels("ReduceL2")(net, x)),
    "mean": lambda net, x: net.op("Add", x, over_channels("ReduceMean")(net, x)),
    "softmax": lambda net, x: net.op("Softmax", x, axis=1),
    "shuffle": shuffled,
    "split": split_and_joined,
    "squeeze-excite": gated,
    "prelu": lambda net, x: net.op("PRelu", x, net.vector(0.25, net.channels, 1, 1)),
    "function": lambda net, x: net.op(net.function, x),
    "pixel-shuffle": pixel_shuffled,
    "resize-linear": lambda net, x: enlarged(net, x, mode="linear", coordinate_transformation_mode="half_pixel"),
    "resize-nearest": lambda net, x: enlarged(net, x, **NEAREST),
}


def network(random, kind, layers=4, ends=8):
    """(model, shape of its input, words): `layers` of a kind between 1x1 convolutions from and to `ends` channels."""
    net = Net(random)
    x = net.conv("x", net.channels, (1, 1), inputs=ends)
    for _ in range(layers):
        x = KINDS[kind](net, x)
        if x is None:
            return None
    x = net.conv(x, ends, (1, 1))
    shape = [1, ends, net.height, net.width]
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name in ("x", x)]
    graph = helper.make_graph(net.nodes, "layers", values[:1], values[1:], net.constants)
    words = f"{kind} {net.channels}x{net.height}x{net.width}"
    words += f", side {net.side}, dilation {net.dilation}, groups {net.groups}, {net.function}"
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10), shape, words
