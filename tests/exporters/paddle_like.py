"""What PaddlePaddle's exporter leaves: Constant nodes everywhere, shapes by Slice and Concat, activations in parts."""
import numpy as np
from onnx import TensorProto

from build import graph

FLOAT, INT32, INT64 = TensorProto.FLOAT, TensorProto.INT32, TensorProto.INT64


def part(b, x, begin, end):
    """Some sizes of a value, as Shape and Slice give them."""
    return b("Slice", b("Shape", x), np.int64([begin]), np.int64([end]), np.int64([0]))


def hard_swish(b, x):
    inner = b("Clip", b("Add", x, np.float32([3])), np.float32(0), np.float32(6))
    return b("Div", b("Mul", x, inner), np.float32([6]))


@graph(11, "node")
def paddle_squeeze_and_excitation(b):
    x = b.input("x", ["p2o.DynamicDimension.0", 3, "p2o.DynamicDimension.1", "p2o.DynamicDimension.2"])
    x = b("Conv", x, b.floats(8, 3, 3, 3), strides=[2, 2], pads=[1, 1, 1, 1], kernel_shape=[3, 3])
    one = [b.const(np.abs(b.random.normal(size=8)) + 0.1, np.float32) for _ in range(4)]
    x = hard_swish(b, b("BatchNormalization", x, *one, epsilon=1e-5, momentum=0.9))
    s = b("GlobalAveragePool", x)
    s = b("Relu", b("Conv", s, b.floats(4, 8, 1, 1), b.floats(4)))
    s = b("Conv", s, b.floats(8, 4, 1, 1))
    s = b("HardSigmoid", b("Add", s, b("Reshape", b.floats(8), np.int64([1, 8, 1, 1]))), alpha=1 / 6, beta=0.5)
    x = b("Mul", x, s)
    x = b("Reshape", b("GlobalAveragePool", x), b("Concat", part(b, x, 0, 1), np.int64([-1]), axis=0))
    x = b("Add", b("MatMul", x, b.floats(8, 5)), b.floats(5))
    b.output(b("Softmax", x, axis=1), "save_infer_model/scale_0.tmp_0")
    for shape in ((1, 3, 16, 24), (2, 3, 33, 9)):
        b.feed(x=b.random.normal(size=shape).astype(np.float32))


@graph(11, "node")
def paddle_pyramid(b):
    x = b.input("image", ["p2o.DynamicDimension.0", 3, -1, -1])
    fine = b("Conv", x, b.floats(4, 3, 3, 3), strides=[2, 2], pads=[1, 1, 1, 1])
    coarse = b("Conv", fine, b.floats(4, 4, 3, 3), strides=[2, 2], pads=[1, 1, 1, 1])
    target = b("Cast", b("Cast", part(b, fine, 2, 4), to=INT32), to=INT64)
    sizes = b("Concat", part(b, coarse, 0, 2), target, axis=0)
    none = np.float32([])
    up = b("Resize", coarse, none, none, sizes, mode="nearest", coordinate_transformation_mode="asymmetric",
           nearest_mode="floor")  # fmt: skip
    smooth = b("Resize", coarse, none, none, sizes, mode="linear", coordinate_transformation_mode="pytorch_half_pixel")
    b.output(b("Add", fine, up), "p2o.Add.0")
    b.output(b("ArgMax", b("Concat", fine, smooth, axis=1), axis=1, keepdims=1), "p2o.ArgMax.0")
    for shape in ((1, 3, 16, 20), (2, 3, 17, 31)):
        b.feed(image=b.random.normal(size=shape).astype(np.float32))


@graph(12, "node")
def paddle_multiclass_nms(b):
    boxes, scores = b.input("bboxes", [1, "n", 4]), b.input("scores", [1, 3, "n"])
    found = b("NonMaxSuppression", boxes, scores, np.int64([5]), np.float32([0.4]), np.float32([0.1]))
    classes = b("Gather", found, np.int64([1]), axis=1)
    places = b("Gather", found, np.int64([2]), axis=1)
    count = b("Squeeze", b("Slice", b("Shape", scores), np.int64([2]), np.int64([3])), axes=[0])
    flat = b("Add", b("Mul", classes, count), places)
    picked = b("Gather", b("Reshape", scores, np.int64([-1])), b("Squeeze", flat, axes=[1]), axis=0)
    kept = b("Min", b("Shape", picked), np.int64([6]))
    values, order = b("TopK", picked, kept, outputs=2, axis=0, largest=1, sorted=1)
    kept_places = b("Gather", b("Squeeze", places, axes=[1]), order, axis=0)
    of_kept = b("Gather", b("Squeeze", boxes, axes=[0]), kept_places, axis=0)
    labels = b("Cast", b("Gather", classes, order, axis=0), to=FLOAT)
    b.output(b("Concat", labels, b("Unsqueeze", values, axes=[1]), of_kept, axis=1), "multiclass_nms3_0.tmp_0")
    b.output(b("Cast", kept, to=INT32), "multiclass_nms3_0.tmp_2")
    for count in (25, 4):
        corner = b.random.uniform(0, 40, size=(1, count, 2))
        far = corner + b.random.uniform(5, 30, size=(1, count, 2))
        b.feed(bboxes=np.concatenate([corner, far], 2).astype(np.float32),
               scores=b.random.uniform(size=(1, 3, count)).astype(np.float32))  # fmt: skip


@graph(12, "node")
def paddle_positions_and_mask(b):
    ids = b.input("input_ids", ["batch", "length"], INT64)
    length = b("Squeeze", part(b, ids, 1, 2), axes=[0])
    ones = b("ConstantOfShape", b("Shape", ids), value=_one())
    positions = b("Sub", b("CumSum", ones, np.int64(1)), ones)
    straight = b("Expand", b("Unsqueeze", b("Range", np.int64(0), length, np.int64(1)), axes=[0]), b("Shape", ids))
    places = b("Where", b("Equal", ids, np.int64(0)), straight, positions)
    x = b("Add", b("Gather", b.floats(11, 8), ids), b("Gather", b.floats(32, 8), places))
    mean = b("ReduceMean", x, axes=[-1])
    off = b("Sub", x, mean)
    spread = b("Sqrt", b("Add", b("ReduceMean", b("Pow", off, np.float32(2)), axes=[-1]), np.float32(1e-5)))
    x = b("Add", b("Mul", b("Div", off, spread), b.floats(8)), b.floats(8))
    heads = b("Concat", part(b, ids, 0, 2), np.int64([2, 4]), axis=0)
    q, k, v = (b("Transpose", b("Reshape", b("MatMul", x, b.floats(8, 8)), heads), perm=[0, 2, 1, 3]) for _ in range(3))
    scores = b("Mul", b("MatMul", q, b("Transpose", k, perm=[0, 1, 3, 2])), np.float32(0.5))
    pad = b("Unsqueeze", b("Equal", ids, np.int64(0)), axes=[1, 2])
    scores = b("Add", scores, b("Where", pad, np.float32(-1e4), np.float32(0)))
    y = b("Transpose", b("MatMul", b("Softmax", scores, axis=-1), v), perm=[0, 2, 1, 3])
    b.output(b("Reshape", y, np.int64([0, 0, 8])), "hidden")
    for shape in ((1, 5), (3, 12)):
        tokens = b.random.integers(1, 11, size=shape)
        tokens[:, -1] = 0
        b.feed(input_ids=tokens.astype(np.int64))


def _one():
    from onnx import helper

    return helper.make_tensor("value", INT64, [1], [1])


@graph(11, "node")
def paddle_text_recognition(b):
    x = b.input("x", ["p2o.DynamicDimension.0", 3, 8, "p2o.DynamicDimension.1"])
    x = b("Relu", b("Conv", x, b.floats(6, 3, 8, 3), pads=[0, 1, 0, 1]))
    x = b("Transpose", b("Squeeze", x, axes=[2]), perm=[2, 0, 1])
    batch = b("Slice", b("Shape", x), np.int64([1]), np.int64([2]))
    start = b("ConstantOfShape", b("Concat", np.int64([2]), batch, np.int64([5]), axis=0))
    y, *_ = b("LSTM", x, b.floats(2, 20, 6), b.floats(2, 20, 5), b.floats(2, 40), "", start, start, outputs=3,
              hidden_size=5, direction="bidirectional")  # fmt: skip
    y = b("Reshape", b("Transpose", y, perm=[2, 0, 1, 3]), b("Concat", batch, np.int64([-1, 10]), axis=0))
    y = b("Softmax", b("Add", b("MatMul", y, b.floats(10, 9)), b.floats(9)), axis=2)
    b.output(y, "softmax_0.tmp_0")
    b.output(b("ArgMax", y, axis=-1, keepdims=0), "p2o.ArgMax.1")
    for shape in ((1, 3, 8, 20), (2, 3, 8, 33)):
        b.feed(x=b.random.normal(size=shape).astype(np.float32))
