"""What the case files share: a Case is one small model with its inputs, made from a seed."""

import functools
import platform
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

MICROSOFT, ML = "com.microsoft", "ai.onnx.ml"
GENERATORS = []

# What a case's outputs may differ by, relative to max|reference| of each output: sums of a few hundred products in
# single precision, in another order; 2^-10 for each rounding to 16-bit floats on the way.
FLOAT, HALF = 2e-5, 4e-3

# Without an instruction for products of four bytes ONNX Runtime adds pairs of products in 16 bits, which saturate.
PAIRS_SATURATE = platform.machine() == "x86_64" and "vnni" not in Path("/proc/cpuinfo").read_text()


class Case:
    """A model under construction.

    `steps`: what integer outputs may differ by, where a value stands between two that round apart. `mask`: by the name
    of an output, which of its elements have a meaning. `dynamic`: the sizes of the inputs are symbols.
    """

    def __init__(self, rng, opset=17, ml=3):
        self.rng, self.nodes, self.feeds, self.constants, self.outputs = rng, [], {}, [], []
        self.definition, self.maps = [], {}
        self.opsets = [helper.make_opsetid("", opset), helper.make_opsetid(MICROSOFT, 1), helper.make_opsetid(ML, ml)]
        self.tolerance, self.steps, self.mask, self.dynamic = FLOAT, 0, {}, False

    def opset(self, version):
        self.opsets[0].version = version

    def input(self, name, array):
        """A graph input with its contents; returns the name."""
        self.feeds[name] = np.asarray(array)
        return name

    def map(self, name, keys, values):
        """A graph input that is a map; to Mica it comes as two lists."""
        self.maps[name] = (np.asarray(keys), np.asarray(values))
        return name

    def constant(self, name, array):
        array = np.asarray(array)
        self.constants.append(array if isinstance(array, onnx.TensorProto) else numpy_helper.from_array(array, name))
        return name

    def raw_constant(self, name, data_type, dims, raw):
        self.constants.append(helper.make_tensor(name, data_type, dims, raw, raw=True))
        return name

    def either(self, name, array):
        """A graph input or a constant, as the dice say."""
        return self.input(name, array) if self.rng.random() < 0.5 else self.constant(name, array)

    def floats(self, *shape, low=-1.0, high=1.0, dtype=np.float32):
        return self.rng.uniform(low, high, shape).astype(dtype)

    def ints(self, low, high, *shape, dtype=np.int64):
        return self.rng.integers(low, high, shape).astype(dtype)

    def byte_weights(self, *shape, dtype):
        """Weights of a product of bytes, so small where pairs saturate that none does."""
        signed = (-64, 64) if PAIRS_SATURATE else (-128, 128)
        return self.ints(*((0, 256) if dtype == np.uint8 else signed), *shape, dtype=dtype)

    def pick(self, *choices):
        return choices[int(self.rng.integers(len(choices)))]

    def node(self, op, inputs, outputs, domain=MICROSOFT, **attributes):
        attributes = {k: v for k, v in attributes.items() if v is not None}
        self.nodes.append(helper.make_node(op, inputs, outputs, domain=domain, **attributes))

    def means(self, op, inputs, outputs, domain="", **attributes):
        """A node of what the operator means, in operators that ONNX Runtime has."""
        self.definition.append(helper.make_node(op, inputs, outputs, domain=domain, **attributes))

    def output(self, *names):
        self.outputs += names

    def prune(self):
        """Forgets inputs and constants that no node reads."""
        read = {name for node in self.nodes + self.definition for name in node.input}
        self.feeds = {name: array for name, array in self.feeds.items() if name in read}
        self.constants = [tensor for tensor in self.constants if tensor.name in read]

    def model(self, nodes=None):
        """With the operator, or with other nodes in its place."""

        def info(name, array):
            kind = helper.np_dtype_to_tensor_dtype(array.dtype) if array.dtype.kind not in "OU" else TensorProto.STRING
            dims = [f"{name}_{i}" for i in range(array.ndim)] if self.dynamic else array.shape
            return helper.make_tensor_value_info(name, kind, dims)

        def map_info(name, keys, values):
            kind = onnx.TypeProto()
            kind.map_type.key_type = TensorProto.STRING if keys.dtype == object else TensorProto.INT64
            kind.map_type.value_type.tensor_type.elem_type = helper.np_dtype_to_tensor_dtype(values.dtype)
            return onnx.ValueInfoProto(name=name, type=kind)

        graph = helper.make_graph(
            nodes or self.nodes,
            "case",
            [info(n, a) for n, a in self.feeds.items()] + [map_info(n, *lists) for n, lists in self.maps.items()],
            [onnx.ValueInfoProto(name=n) for n in self.outputs],
            self.constants,
        )
        return helper.make_model(graph, opset_imports=self.opsets, ir_version=10)


def generator(op, count=6, **options):
    """Makes `count` cases of operator `op` by the function, which fills in a Case."""

    def wrap(function):
        @functools.wraps(function)
        def make(seed):
            case = Case(np.random.default_rng([seed, len(op), *op.encode()]), **options)
            function(case)
            case.prune()
            return case

        GENERATORS.append((op, count, make))
        return function

    return wrap
