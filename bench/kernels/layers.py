"""Small networks for the kernel gates, as ONNX files; the layer in question is named "gate". Needs onnx and numpy."""
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

# Channels of the ends of a network of pointwise layers, and how many pairs of layers stand between them.
ENDS, PAIRS = 16, 3


def constants(weight, fan_in, outputs, suffix=""):
    """A weight that keeps the variance of what passes a ReLU, and a bias."""
    draw = np.random.default_rng(1)
    return [numpy_helper.from_array((draw.standard_normal(weight) * (2 / fan_in) ** 0.5).astype(np.float32),
                                    "weight" + suffix),
            numpy_helper.from_array((draw.standard_normal(outputs) * 0.1).astype(np.float32), "bias" + suffix)]


def save(path, nodes, shapes, initializers):
    """input → nodes → output. shapes: of the input, of the output."""
    value = helper.make_tensor_value_info
    graph = helper.make_graph(nodes, "gate", [value("input", TensorProto.FLOAT, shapes[0])],
                              [value("output", TensorProto.FLOAT, shapes[1])], initializers)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


def pointwise(path, pixels, inputs, outputs):
    """The layer in the middle of a network of its kind: its input was just made by another layer, both sides keep the
    kernels' layout, and the other layers' weights pass through the caches between two runs of it."""
    side = int(pixels ** 0.5)
    widths = [ENDS, *[inputs, outputs] * PAIRS, ENDS]
    last = len(widths) - 2
    nodes, weights = [], []
    for i, (k, n) in enumerate(zip(widths, widths[1:])):
        weights += constants((n, k, 1, 1), k, n, str(i))
        nodes += [helper.make_node("Conv", [f"value{i}" if i else "input", f"weight{i}", f"bias{i}"], [f"sum{i}"],
                                   kernel_shape=[1, 1], name="gate" if i == PAIRS else f"layer{i}"),
                  helper.make_node("Relu", [f"sum{i}"], [f"value{i + 1}" if i < last else "output"])]
    save(path, nodes, ((1, ENDS, side, side), (1, ENDS, side, side)), weights)


def three_by_three(path, side, channels):
    shape = (1, channels, side, side)
    node = helper.make_node("Conv", ["input", "weight", "bias"], ["output"], kernel_shape=[3, 3], pads=[1] * 4,
                            name="gate")
    save(path, [node], (shape, shape), constants((channels, channels, 3, 3), 9 * channels, channels))


def one_row(path, inputs, outputs):
    """A fully connected layer at batch 1: a matrix by a vector."""
    node = helper.make_node("Gemm", ["input", "weight", "bias"], ["output"], name="gate")
    save(path, [node], ((1, inputs), (1, outputs)), constants((inputs, outputs), inputs, outputs))
