"""What tf2onnx leaves: channels last around channels first, shapes in 32-bit integers, loops, and SAME padding."""
import numpy as np
from onnx import TensorProto, helper

from build import body, graph

FLOAT, INT32, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT32, TensorProto.INT64, TensorProto.BOOL
TO_FIRST, TO_LAST = [0, 3, 1, 2], [0, 2, 3, 1]


def pictures(b, *shapes):
    for shape in shapes:
        b.feed(images=b.random.normal(size=shape).astype(np.float32))


def batch_of(b, x):
    """The batch as TensorFlow's StridedSlice gives it: a 32-bit scalar."""
    shape = b("Cast", b("Shape", x), to=INT32)
    first = b("Slice", b("Cast", shape, to=INT64), np.int64([0]), np.int64([1]), np.int64([0]))
    return b("Cast", b("Squeeze", first, np.int64([0])), to=INT32)


@graph(13)
def tf_convolutions_between_transposes(b):
    x = b("Transpose", b.input("images", ["batch", None, None, 3]), perm=TO_FIRST)
    x = b("Conv", x, b.floats(8, 3, 3, 3), auto_pad="SAME_UPPER", strides=[2, 2], kernel_shape=[3, 3])
    one = [b.const(np.abs(b.random.normal(size=8)) + 0.1, np.float32) for _ in range(4)]
    x = b("Transpose", b("Relu", b("BatchNormalization", x, *one, epsilon=1e-3)), perm=TO_LAST)
    x = b("Add", b("Mul", x, b.floats(8)), b.floats(1, 1, 1, 8))
    x = b("Transpose", x, perm=TO_FIRST)
    x = b("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], auto_pad="SAME_UPPER")
    y = b("AveragePool", x, kernel_shape=[2, 2], strides=[1, 1], auto_pad="SAME_LOWER")
    b.output(b("Transpose", b("Concat", x, y, axis=1), perm=TO_LAST), "Identity:0")
    pictures(b, (1, 17, 23, 3), (2, 32, 32, 3))


@graph(13)
def tf_dynamic_batch_flatten(b):
    x = b.input("images", ["batch", 4, 6, 5])
    size = b("Concat", b("Unsqueeze", batch_of(b, x), np.int64([0])), np.int32([-1]), axis=0)
    flat = b("Reshape", x, b("Cast", size, to=INT64))
    y = b("Softmax", b("Add", b("MatMul", flat, b.floats(120, 7)), b.floats(7)), axis=-1)
    b.output(y, "probabilities")
    b.output(b("ArgMax", y, axis=1, keepdims=0), "classes")
    pictures(b, (1, 4, 6, 5), (5, 4, 6, 5))


@graph(13)
def tf_depthwise_and_means(b):
    x = b("Transpose", b.input("images", ["batch", None, None, 6]), perm=TO_FIRST)
    x = b("Pad", x, np.int64([0, 0, 0, 0, 0, 0, 1, 1]))
    x = b("Conv", x, b.floats(12, 1, 3, 3), group=6, strides=[2, 2], kernel_shape=[3, 3])
    x = b("Clip", x, np.float32(0), np.float32(6))
    x = b("Conv", x, b.floats(4, 12, 1, 1), b.floats(4))
    last = b("Transpose", b("LeakyRelu", x, alpha=0.2), perm=TO_LAST)
    mean = b("ReduceMean", last, axes=[1, 2], keepdims=1)
    b.output(b("Squeeze", mean, np.int64([1, 2])), "features")
    b.output(b("Sub", last, mean), "centred")
    pictures(b, (1, 16, 16, 6), (3, 9, 20, 6))


@graph(13)
def tf_one_dimensional_convolution(b):
    x = b("Unsqueeze", b.input("images", ["batch", "time", 4]), np.int64([1]))
    x = b("Transpose", x, perm=TO_FIRST)
    x = b("Pad", x, np.int64([0, 0, 0, 4, 0, 0, 0, 0]))
    x = b("Conv", x, b.floats(6, 4, 1, 3), kernel_shape=[1, 3], dilations=[1, 2])
    x = b("Squeeze", b("Transpose", x, perm=TO_LAST), np.int64([1]))
    b.output(b("Mul", b("Tanh", x), b("Sigmoid", x)), "y")
    pictures(b, (1, 11, 4), (2, 30, 4))


@graph(15)
def tf_while_loop(b):
    x, limit = b.input("images", ["n", 3]), b.input("limit", [], INT32)
    node = helper.make_node
    nodes = [
        node("Constant", [], ["one"], value=helper.make_tensor("one", INT32, [], [1])),
        node("Add", ["count", "one"], ["next"]),
        node("MatMul", ["state", "weight"], ["h"]),
        node("Tanh", ["h"], ["state_out"]),
        node("ReduceSum", ["state_out"], ["total"], keepdims=0),
        node("Less", ["next", "limit"], ["goes_on"]),
        node("Identity", ["next"], ["next_out"]),
    ]
    weight = b.floats(3, 3)
    b.initializers[-1].name = "weight"
    assert weight
    loop = body(
        "while",
        [("i", INT64, []), ("cond", BOOL, []), ("count", INT32, []), ("state", FLOAT, None)],
        [("goes_on", BOOL, []), ("next_out", INT32, []), ("state_out", FLOAT, None), ("total", FLOAT, [])],
        nodes,
    )
    start = b("Less", np.int32(0), limit)
    count, state, totals = b("Loop", "", start, np.int32(0), x, outputs=3, body=loop)
    for name, value in (("count", count), ("state", state), ("totals", totals)):
        b.output(value, name)
    for rows, limit in ((2, 5), (1, 0), (4, 1)):
        b.feed(images=b.random.normal(size=(rows, 3)).astype(np.float32), limit=np.array(limit, np.int32))


@graph(15)
def tf_tensor_array_as_scan(b):
    x = b("Transpose", b.input("images", ["batch", "time", 4]), perm=[1, 0, 2])
    shape = b("Concat", b("Unsqueeze", batch_of(b, x), np.int64([0])), np.int32([5]), axis=0)
    del shape  # TensorFlow asks for more shapes than it uses
    batch = b("Gather", b("Shape", x), np.int64([1]), axis=0)
    zero = b("ConstantOfShape", b("Concat", batch, np.int64([5]), axis=0))
    for name, size in (("wx", (4, 5)), ("wh", (5, 5))):
        b.floats(*size)
        b.initializers[-1].name = name
    node = helper.make_node
    cell = body(
        "cell",
        [("h", FLOAT, None), ("step", FLOAT, None)],
        [("h_out", FLOAT, None), ("y", FLOAT, None)],
        [
            node("MatMul", ["step", "wx"], ["a"]),
            node("MatMul", ["h", "wh"], ["r"]),
            node("Add", ["a", "r"], ["s"]),
            node("Tanh", ["s"], ["h_out"]),
            node("Identity", ["h_out"], ["y"]),
        ],
    )
    last, every = b("Scan", zero, x, outputs=2, body=cell, num_scan_inputs=1)
    b.output(last, "last")
    b.output(b("Transpose", every, perm=[1, 0, 2]), "sequence")
    pictures(b, (1, 3, 4), (2, 9, 4))


@graph(15)
def tf_tensor_array_as_sequence(b):
    x = b.input("images", ["n", "k"])
    count = b("Squeeze", b("Slice", b("Shape", x), np.int64([0]), np.int64([1])), np.int64([0]))
    node, i64 = helper.make_node, TensorProto.INT64
    sequence = helper.make_sequence_type_proto(helper.make_tensor_type_proto(FLOAT, None))
    loop = body(
        "body",
        [("i", i64, []), ("cond", BOOL, [])],
        [("cond_out", BOOL, [])],
        [
            node("Gather", ["images", "i"], ["row"], axis=0),
            node("CumSum", ["row", "axis"], ["sums"]),
            node("SequenceInsert", ["items", "sums"], ["items_out"]),
            node("Identity", ["cond"], ["cond_out"]),
            node("Constant", [], ["axis"], value=helper.make_tensor("axis", i64, [], [0])),
        ],
    )
    loop.node.insert(0, loop.node.pop())
    loop.input.append(helper.make_value_info("items", sequence))
    loop.output.append(helper.make_value_info("items_out", sequence))
    items = b("Loop", count, "", b("SequenceEmpty"), body=loop)
    b.output(b("ConcatFromSequence", items, axis=0, new_axis=1), "stacked")
    pictures(b, (3, 4), (1, 7))


@graph(11)
def tf_resizes(b):
    x = b.input("images", ["batch", "h", "w", 2])
    first = b("Transpose", x, perm=TO_FIRST)
    shape = b("Shape", first)
    places = b("Slice", shape, np.int64([2]), np.int64([4]), np.int64([0]))
    twice = b("Concat", b("Slice", shape, np.int64([0]), np.int64([2])), b("Mul", places, np.int64([2, 3])), axis=0)
    none = np.float32([])
    forms = (
        dict(mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor"),
        dict(mode="nearest", coordinate_transformation_mode="tf_half_pixel_for_nn", nearest_mode="floor"),
        dict(mode="linear", coordinate_transformation_mode="asymmetric"),
        dict(mode="linear", coordinate_transformation_mode="half_pixel"),
        dict(mode="linear", coordinate_transformation_mode="align_corners"),
    )
    for k, form in enumerate(forms):
        b.output(b("Transpose", b("Resize", first, none, none, twice, **form), perm=TO_LAST), f"resized_{k}")
    b.output(b("Resize", first, none, np.float32([1, 1, 0.5, 0.75]), mode="linear"), "smaller")
    pictures(b, (1, 4, 8, 2), (2, 6, 4, 2))


@graph(13)
def tf_suppression_behind_a_detector(b):
    boxes, scores = b.input("boxes", ["anchors", 4]), b.input("scores", ["anchors", 3])
    by_class = b("Unsqueeze", b("Transpose", scores, perm=[1, 0]), np.int64([0]))
    best = b("ReduceMax", by_class, axes=[1], keepdims=1)
    of_one = b("NonMaxSuppression", b("Unsqueeze", boxes, np.int64([0])), best, np.int64([6]), np.float32([0.5]),
               np.float32([0.2]))  # fmt: skip
    places = b("Slice", of_one, np.int64([2]), np.int64([3]), np.int64([1]))
    chosen = b("Cast", b("Squeeze", places, np.int64([1])), to=INT32)
    b.output(b("Gather", boxes, chosen, axis=0), "detection_boxes")
    picked = b("Gather", scores, chosen, axis=0)
    b.output(b("ReduceMax", picked, axes=[1], keepdims=0), "detection_scores")
    b.output(b("Cast", b("ArgMax", picked, axis=1, keepdims=0), to=FLOAT), "detection_classes")
    b.output(b("Cast", b("Shape", chosen), to=FLOAT), "num_detections")
    for anchors in (20, 7):
        corner = b.random.uniform(0, 0.6, size=(anchors, 2))
        far = corner + b.random.uniform(0.1, 0.4, size=(anchors, 2))
        b.feed(boxes=np.hstack([corner, far]).astype(np.float32),
               scores=b.random.uniform(size=(anchors, 3)).astype(np.float32))  # fmt: skip
