"""Small networks with random weights whose sizes are open: a text encoder, a detector and two decoders."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

WIDTH, HEADS, LAYERS, WORDS = 32, 4, 2, 50
SIZE = WIDTH // HEADS


class Network:
    """Collects nodes; weights are drawn as they are asked for."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.nodes, self.constants, self.count = [], [], 0

    def name(self, stem):
        self.count += 1
        return f"{stem}_{self.count}"

    def constant(self, value):
        name = self.name("c")
        self.constants.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def weight(self, *shape):
        scale = 1 / np.sqrt(shape[0] if len(shape) == 2 else np.prod(shape[1:]))
        return self.constant((self.random.standard_normal(shape) * scale).astype(np.float32))

    def __call__(self, op, *inputs, out=None, outputs=1, **attributes):
        names = [out] if isinstance(out, str) else out or [self.name(op.lower()) for _ in range(outputs)]
        self.nodes.append(helper.make_node(op, list(inputs), names, **attributes))
        return names[0] if len(names) == 1 else names

    def linear(self, x, columns, rows=WIDTH):
        bias = self.constant((self.random.standard_normal(columns) * 0.1).astype(np.float32))
        return self("Add", self("MatMul", x, self.weight(rows, columns)), bias)

    def normal(self, x):
        ones = self.constant(np.ones(WIDTH, np.float32))
        return self("LayerNormalization", x, ones, self.constant(np.zeros(WIDTH, np.float32)), axis=-1)

    def extent(self, x, axis):
        return self("Gather", self("Shape", x), self.constant(np.array([axis])), axis=0)

    def heads(self, x, length):
        """[1, length, WIDTH] to [1, HEADS, length, SIZE]."""
        shape = self("Concat", self.constant([1]), length, self.constant([HEADS, SIZE]), axis=0)
        return self("Transpose", self("Reshape", x, shape), perm=[0, 2, 1, 3])

    def attend(self, q, k, v, mask, length):
        scores = self("MatMul", q, self("Transpose", k, perm=[0, 1, 3, 2]))
        scores = self("Mul", scores, self.constant(np.float32(SIZE**-0.5)))
        weights = self("Softmax", self("Add", scores, mask), axis=-1)
        mixed = self("Transpose", self("MatMul", weights, v), perm=[0, 2, 1, 3])
        shape = self("Concat", self.constant([1]), length, self.constant([WIDTH]), axis=0)
        return self.linear(self("Reshape", mixed, shape), WIDTH)

    def block(self, x, attended):
        x = self.normal(self("Add", x, attended))
        inner = self.linear(x, 2 * WIDTH)
        half = self("Mul", inner, self.constant(np.float32(0.5)))
        erf = self("Erf", self("Mul", inner, self.constant(np.float32(0.5**0.5))))
        gelu = self("Mul", half, self("Add", erf, self.constant(np.float32(1))))
        return self.normal(self("Add", x, self.linear(gelu, WIDTH, 2 * WIDTH)))

    def save(self, path, inputs, outputs):
        info = helper.make_tensor_value_info
        graph = helper.make_graph(
            self.nodes, "network", [info(*i) for i in inputs], [info(*o) for o in outputs], self.constants
        )
        opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
        onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), path)
        return path


def hiding(n, seen):
    """0 where seen, a large negative number elsewhere."""
    return n("Where", seen, n.constant(np.float32(0)), n.constant(np.float32(-1e9)))


def encoder(path):
    n = Network(1)
    length = n.extent("ids", 1)
    places = n("Slice", n.weight(512, WIDTH), n.constant([0]), length, n.constant([0]))
    x = n("Add", n("Gather", n.weight(WORDS, WIDTH), "ids"), places)
    mask = n("Unsqueeze", hiding(n, n("Cast", "mask", to=TensorProto.BOOL)), n.constant([1, 2]))
    for _ in range(LAYERS):
        q, k, v = (n.heads(n.linear(x, WIDTH), length) for _ in range(3))
        x = n.block(x, n.attend(q, k, v, mask, length))
    n("Identity", x, out="states")
    n("ReduceMean", x, axes=[1], keepdims=0, out="pooled")
    ids = ("ids", TensorProto.INT64, [1, "length"])
    return n.save(
        path,
        [ids, ("mask", TensorProto.INT64, [1, "length"])],
        [("states", TensorProto.FLOAT, [1, "length", WIDTH]), ("pooled", TensorProto.FLOAT, [1, WIDTH])],
    )


def detector(path):
    """Two scales, the coarse one resized to the fine one's size; boxes around the pixels, and the best of them."""
    n = Network(2)
    conv = lambda x, a, b, stride: n("Relu", n("Conv", x, n.weight(b, a, 3, 3), pads=[1] * 4, strides=[stride] * 2))
    fine = conv(conv("picture", 3, 8, 2), 8, 16, 2)
    coarse = conv(fine, 16, 16, 2)
    sizes = n("Concat", n.constant([1, 16]), n.extent(fine, 2), n.extent(fine, 3), axis=0)
    large = n("Resize", coarse, "", "", sizes, mode="linear", coordinate_transformation_mode="half_pixel")
    both = n("Concat", fine, large, axis=1)
    head = n("Conv", both, n.weight(6, 32, 1, 1))
    rows = n("Reshape", n("Transpose", head, perm=[0, 2, 3, 1]), n.constant([1, -1, 6]))
    place, extent, scores = n("Split", rows, n.constant([2, 2, 2]), axis=2, outputs=3)
    height, width = (n("Squeeze", n.extent(fine, axis)) for axis in (2, 3))
    zero, one = n.constant(np.int64(0)), n.constant(np.int64(1))
    y = n("Unsqueeze", n("Range", zero, height, one), n.constant([1]))
    x = n("Unsqueeze", n("Range", zero, width, one), n.constant([0]))
    ones = n("ConstantOfShape", n("Concat", n.extent(fine, 2), n.extent(fine, 3), axis=0),
             value=numpy_helper.from_array(np.array([1], np.int64)))
    grid = [n("Unsqueeze", n("Mul", ones, axis), n.constant([2])) for axis in (y, x)]
    grid = n("Reshape", n("Cast", n("Concat", *grid, axis=2), to=TensorProto.FLOAT), n.constant([1, -1, 2]))
    centre = n("Add", grid, n("Sigmoid", place))
    reach = n("Mul", n("Exp", extent), n.constant(np.float32(1.5)))
    n("Concat", n("Sub", centre, reach), n("Add", centre, reach), axis=2, out="boxes")
    n("Sigmoid", n("Transpose", scores, perm=[0, 2, 1]), out="scores")
    overlap, least = (n.constant(np.array([x], np.float32)) for x in (0.4, 0.5))
    found = n("NonMaxSuppression", "boxes", "scores", n.constant(np.array([20])), overlap, least)
    which = n("Squeeze", n("Slice", found, n.constant([2]), n.constant([3]), n.constant([1])), n.constant([1]))
    n("Gather", n("Squeeze", "boxes", n.constant([0])), which, axis=0, out="best")
    picture = ("picture", TensorProto.FLOAT, [1, 3, "height", "width"])
    outputs = [("boxes", [1, None, 4]), ("scores", [1, 2, None]), ("best", [None, 4])]
    return n.save(path, [picture], [(name, TensorProto.FLOAT, shape) for name, shape in outputs])


def decoder(path):
    """Keys and values of earlier words come in and go out one row longer, as exporters write it."""
    n = Network(3)
    length = n.extent("ids", 1)
    past = n.extent("past.0.key", 2)
    total = n("Add", past, length)
    zero, one = n.constant(np.int64(0)), n.constant(np.int64(1))
    place = n("Range", n("Squeeze", past), n("Squeeze", total), one)
    x = n("Add", n("Gather", n.weight(WORDS, WIDTH), "ids"), n("Gather", n.weight(512, WIDTH), place))
    columns = n("Unsqueeze", n("Range", zero, n("Squeeze", total), one), n.constant([0]))
    earlier = n("LessOrEqual", columns, n("Unsqueeze", place, n.constant([1])))
    shown = n("Unsqueeze", n("Cast", "mask", to=TensorProto.BOOL), n.constant([1, 2]))
    mask = hiding(n, n("And", earlier, shown))
    for layer in range(LAYERS):
        q, k, v = (n.heads(n.linear(x, WIDTH), length) for _ in range(3))
        k, v = (
            n("Concat", f"past.{layer}.{kind}", fresh, axis=2, out=f"present.{layer}.{kind}")
            for kind, fresh in (("key", k), ("value", v))
        )
        x = n.block(x, n.attend(q, k, v, mask, length))
    n("MatMul", x, n.weight(WIDTH, WORDS), out="logits")
    return n.save(path, *decoder_ports(HEADS))


def decoder_ports(heads):
    ports = [f"{layer}.{kind}" for layer in range(LAYERS) for kind in ("key", "value")]
    inputs = [("ids", TensorProto.INT64, [1, 1]), ("mask", TensorProto.INT64, [1, "past + 1"])]
    inputs += [(f"past.{p}", TensorProto.FLOAT, [1, heads, "past", SIZE]) for p in ports]
    outputs = [("logits", TensorProto.FLOAT, [1, 1, WORDS])]
    outputs += [(f"present.{p}", TensorProto.FLOAT, [1, heads, "past + 1", SIZE]) for p in ports]
    return inputs, outputs


def grouped_decoder(path):
    """The same with one operator for attention, two heads to each pair of keys and values."""
    n = Network(4)
    sum_of = n("ReduceSum", "mask", n.constant([1]), keepdims=1)
    last = n("Cast", n("Sub", sum_of, n.constant(np.int64(1))), to=TensorProto.INT32)
    last = n("Squeeze", last, n.constant([1]))
    total = n("Cast", n("Squeeze", n.extent("mask", 1)), to=TensorProto.INT32)
    x = n("Gather", n.weight(WORDS, WIDTH), "ids")
    for layer in range(LAYERS):
        q, k, v = n.linear(x, WIDTH), n.linear(x, WIDTH // 2), n.linear(x, WIDTH // 2)
        mixed = n("GroupQueryAttention", q, k, v, f"past.{layer}.key", f"past.{layer}.value", last, total,
                  out=[n.name("mixed"), f"present.{layer}.key", f"present.{layer}.value"],
                  domain="com.microsoft", num_heads=HEADS, kv_num_heads=HEADS // 2)
        x = n.block(x, n.linear(mixed[0], WIDTH))
    n("MatMul", x, n.weight(WIDTH, WORDS), out="logits")
    return n.save(path, *decoder_ports(HEADS // 2))
