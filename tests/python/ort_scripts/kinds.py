"""Texts, truth values, integers, scalars, sequences and optional inputs."""
import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper


def session_of(nodes, inputs, outputs, opset=21):
    graph = helper.make_graph(nodes, "kinds", inputs, outputs)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9)
    return ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])


value = helper.make_tensor_value_info
session = session_of(
    [helper.make_node("StringConcat", ["a", "b"], ["y"])],
    [value("a", TensorProto.STRING, ["N"]), value("b", TensorProto.STRING, ["N"])],
    [value("y", TensorProto.STRING, ["N"])],
)
print(session.run(None, {"a": np.array(["x", "ü"], dtype=object), "b": np.array(["1", "2"])})[0].tolist())
session = session_of(
    [helper.make_node("Where", ["c", "a", "b"], ["y"]), helper.make_node("ReduceSum", ["y"], ["s"], keepdims=0)],
    [value("c", TensorProto.BOOL, [None]), value("a", TensorProto.INT64, [None]), value("b", TensorProto.INT64, [])],
    [value("y", TensorProto.INT64, [None]), value("s", TensorProto.INT64, [])],
)
feed = {"c": np.array([True, False]), "a": np.array([1, 2]), "b": np.array(9)}
print([(i.name, i.type, i.shape) for i in session.get_inputs()])
y, s = session.run(None, feed)
print(y.tolist(), y.dtype, s.shape, int(s), session.run(["s"], feed)[0] == s)
session = session_of(
    [helper.make_node("Concat", ["past", "x"], ["present"], axis=1)],
    [value("past", TensorProto.FLOAT, ["batch size", "past + 1"]), value("x", TensorProto.FLOAT, ["batch size", 2])],
    [value("present", TensorProto.FLOAT, ["batch size", "past + 3"])],
)
print([i.shape for i in session.get_inputs()], session.get_outputs()[0].shape[0])
session = session_of(
    [helper.make_node("SplitToSequence", ["x"], ["parts"], axis=0, keepdims=1)],
    [value("x", TensorProto.FLOAT, [3, 2])],
    [helper.make_tensor_sequence_value_info("parts", TensorProto.FLOAT, None)],
)
(parts,) = session.run(None, {"x": np.arange(6, dtype=np.float32).reshape(3, 2)})
print(session.get_outputs()[0].type, [part.tolist() for part in parts])
