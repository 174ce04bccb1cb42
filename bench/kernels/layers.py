"""One-layer networks for the kernel gates, as ONNX files. Needs onnx and numpy."""
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def write(path, shapes, operator, weight, **attributes):
    """input → operator(input, weight, bias) → output. shapes: (of the input, of the output); weight: its shape."""
    draw = np.random.default_rng(1)
    fan_in = int(np.prod(weight[1:] if operator == "Conv" else weight[:1]))
    constants = [
        numpy_helper.from_array((draw.standard_normal(weight) * fan_in ** -0.5).astype(np.float32), "weight"),
        numpy_helper.from_array((draw.standard_normal(shapes[1][1]) * 0.1).astype(np.float32), "bias")]
    node = helper.make_node(operator, ["input", "weight", "bias"], ["output"], name="gate", **attributes)
    value = helper.make_tensor_value_info
    graph = helper.make_graph([node], "gate", [value("input", TensorProto.FLOAT, shapes[0])],
                              [value("output", TensorProto.FLOAT, shapes[1])], constants)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


def pointwise(path, pixels, inputs, outputs):
    side = int(pixels ** 0.5)
    write(path, ((1, inputs, side, side), (1, outputs, side, side)), "Conv", (outputs, inputs, 1, 1),
          kernel_shape=[1, 1])


def three_by_three(path, side, channels):
    shape = (1, channels, side, side)
    write(path, (shape, shape), "Conv", (channels, channels, 3, 3), kernel_shape=[3, 3], pads=[1] * 4)


def one_row(path, inputs, outputs):
    """A fully connected layer at batch 1: a matrix by a vector."""
    write(path, ((1, inputs), (1, outputs)), "Gemm", (inputs, outputs))
