"""Graphs under construction, and the inputs that they are run on."""
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

GRAPHS = []


class Build:
    """Nodes in order. `constants`: "initializer", or "node" for a Constant node where each is used first."""

    def __init__(self, opset, seed, constants="initializer"):
        self.nodes, self.initializers, self.inputs, self.feeds, self.outputs = [], [], [], [], []
        self.opset, self.constants, self.random, self.count = opset, constants, np.random.default_rng(seed), 0

    def fresh(self, stem):
        self.count += 1
        return f"{stem}_{self.count}"

    def const(self, value, dtype=None):
        array, name = np.asarray(value, dtype), self.fresh("const")
        tensor = numpy_helper.from_array(array, name)
        if self.constants == "node":
            self.nodes.append(helper.make_node("Constant", [], [name], value=tensor))
        else:
            self.initializers.append(tensor)
        return name

    def floats(self, *shape, scale=0.5):
        return self.const(self.random.normal(size=shape) * scale, np.float32)

    def input(self, name, dims, dtype=TensorProto.FLOAT):
        self.inputs.append(helper.make_tensor_value_info(name, dtype, dims))
        return name

    def __call__(self, op, *inputs, outputs=1, **attributes):
        """Adds a node; operands that are no names become constants. Returns the name of its output, or all names."""
        names = [x if isinstance(x, str) else self.const(x) for x in inputs]
        made = [self.fresh(op) for _ in range(outputs)]
        self.nodes.append(helper.make_node(op, names, made, name=self.fresh("node"), **attributes))
        return made[0] if outputs == 1 else made

    def output(self, value, name):
        self.nodes.append(helper.make_node("Identity", [value], [name]))
        self.outputs.append(name)

    def feed(self, **arrays):
        self.feeds.append(arrays)

    def model(self):
        outputs = [onnx.ValueInfoProto(name=name) for name in self.outputs]
        graph = helper.make_graph(self.nodes, "graph", self.inputs, outputs, self.initializers)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=8)


def body(name, inputs, outputs, nodes):
    """A region; inputs and outputs as (name, type, shape)."""
    ports = lambda rows: [helper.make_tensor_value_info(*row) for row in rows]
    return helper.make_graph(nodes, name, ports(inputs), ports(outputs))


def graph(opset, constants="initializer"):
    def wrap(function):
        def made():
            b = Build(opset, len(function.__name__), constants)
            function(b)
            return b

        GRAPHS.append((function.__name__, made))
        return function

    return wrap
