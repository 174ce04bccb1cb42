"""MobileNetV2 as ONNX, with random weights: neither what it needs of a runtime nor its time depends on them.

Layer table: Sandler et al. 2018, table 2. Batch-normalisation is folded into the convolutions, as exporters do.
"""
import numpy as np
from onnx import TensorProto, helper, numpy_helper

PICTURE, CLASSES = (1, 3, 224, 224), 1000
# Expansion, channels, repeats, stride of the first.
STAGES = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))


class Graph:
    """Nodes and constants; every method returns the name of the value that it makes."""

    def __init__(self):
        self.random, self.nodes, self.constants = np.random.default_rng(1), [], []

    def constant(self, value):
        name = f"constant_{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(value, np.float32), name))
        return name

    def normal(self, shape, deviation):
        return self.constant(self.random.standard_normal(shape) * deviation)

    def add(self, operator, *inputs, **attributes):
        name = f"{operator}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, inputs, [name], name=name, **attributes))
        return name

    def conv(self, value, channels, kernel=1, stride=1, groups=1):
        """channels: (in, out). Results keep about the variance that the values have."""
        fan_in = channels[0] // groups * kernel * kernel
        weight = self.normal((channels[1], channels[0] // groups, kernel, kernel), np.sqrt(2 / fan_in))
        return self.add("Conv", value, weight, self.normal((channels[1],), 0.05), kernel_shape=[kernel] * 2,
                        strides=[stride] * 2, pads=[kernel // 2] * 4, group=groups)

    def relu6(self, value):
        return self.add("Clip", value, self.constant(0), self.constant(6))


def model():
    g = Graph()
    value, width = g.relu6(g.conv("image", (3, 32), 3, stride=2)), 32
    for expansion, channels, repeats, first_stride in STAGES:
        for stride in [first_stride] + [1] * (repeats - 1):
            inner, wide = value, width * expansion
            if expansion > 1:
                inner = g.relu6(g.conv(inner, (width, wide)))
            inner = g.relu6(g.conv(inner, (wide, wide), 3, stride, groups=wide))
            inner = g.conv(inner, (wide, channels))
            value = g.add("Add", value, inner) if stride == 1 and width == channels else inner
            width = channels
    value = g.add("GlobalAveragePool", g.relu6(g.conv(value, (width, 1280))))
    scores = g.add("Gemm", g.add("Flatten", value, axis=1), g.normal((CLASSES, 1280), 1280 ** -0.5),
                   g.normal((CLASSES,), 0.05), transB=1)
    graph = helper.make_graph(
        g.nodes, "mobilenet_v2", [helper.make_tensor_value_info("image", TensorProto.FLOAT, PICTURE)],
        [helper.make_tensor_value_info(scores, TensorProto.FLOAT, (1, CLASSES))], g.constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
