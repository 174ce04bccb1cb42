"""Classifiers as scikit-learn's exporter writes them: labels, and a map of scores for each row."""
import numpy as np
import onnx
import onnxruntime as rt
from onnx import TensorProto, TypeProto, ValueInfoProto, helper


def classifier(labels, key_type):
    kind = "ints" if key_type == TensorProto.INT64 else "strings"
    options = {f"classlabels_{kind}": labels}
    zipped = {"classlabels_int64s" if kind == "ints" else "classlabels_strings": labels}
    domain = "ai.onnx.ml"
    weights = {"coefficients": [1.0, -2.0, 0.5, 0.25, -1.5, 1.0], "intercepts": [0.0, 0.5, -0.5]}
    nodes = [
        helper.make_node(
            "LinearClassifier", ["X"], ["label", "p"], domain=domain, post_transform="SOFTMAX", **weights, **options
        ),
        helper.make_node("ZipMap", ["p"], ["output_probability"], domain=domain, **zipped),
    ]
    maps = TypeProto()
    maps.sequence_type.elem_type.map_type.key_type = key_type
    maps.sequence_type.elem_type.map_type.value_type.tensor_type.elem_type = TensorProto.FLOAT
    inputs = [helper.make_tensor_value_info("X", TensorProto.FLOAT, [None, 2])]
    outputs = [
        helper.make_tensor_value_info("label", key_type, [None]),
        ValueInfoProto(name="output_probability", type=maps),
    ]
    graph = helper.make_graph(nodes, "classifier", inputs, outputs)
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid(domain, 3)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString()


for labels, key_type in (([4, 7, 9], TensorProto.INT64), (["cat", "dog", "eel"], TensorProto.STRING)):
    session = rt.InferenceSession(classifier(labels, key_type), providers=["CPUExecutionProvider"])
    print([(output.name, output.type, output.shape) for output in session.get_outputs()])
    rows = np.array([[1, 0], [0, 1], [-1, 2]], np.float32)
    label, scores = session.run(None, {session.get_inputs()[0].name: rows})
    print(label.tolist(), [{key: round(value, 4) for key, value in row.items()} for row in scores])
    print(session.run([session.get_outputs()[0].name], {"X": rows})[0].tolist())
