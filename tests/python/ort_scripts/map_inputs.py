"""Models whose input is a map, as scikit-learn's exporter writes DictVectorizer."""
import onnxruntime as rt
from onnx import TensorProto, TypeProto, ValueInfoProto, helper


def session(op, key_type, **attributes):
    kind = TypeProto()
    kind.map_type.key_type = key_type
    kind.map_type.value_type.tensor_type.elem_type = TensorProto.FLOAT
    nodes = [
        helper.make_node(op, ["words"], ["row"], domain="ai.onnx.ml", **attributes),
        helper.make_node("Identity", ["row"], ["out"]),
    ]
    graph = helper.make_graph(nodes, "maps", [ValueInfoProto(name="words", type=kind)], [ValueInfoProto(name="out")])
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid("ai.onnx.ml", 3)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
    return rt.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])


def show(made, words):
    print([(port.name, port.type, port.shape) for port in made.get_inputs()])
    try:
        row = made.run(None, {"words": words})[0]
        print(row.dtype, row.shape, row.tolist())
    except Exception:
        print("refused")


WORDS = session("DictVectorizer", TensorProto.STRING, string_vocabulary=["cat", "dog", "eel"])
show(WORDS, {"eel": 2.5, "cat": 1, "fox": 7.0})
show(WORDS, {"fox": 1.0})
show(WORDS, {3: 1.0})
show(WORDS, [1.0, 2.0])
show(session("DictVectorizer", TensorProto.INT64, int64_vocabulary=[7, -1, 3]), {3: 0.5, 7: 1.5})
for cast in ("TO_FLOAT", "TO_INT64", "TO_STRING"):
    show(session("CastMap", TensorProto.INT64, cast_to=cast), {9: 1.5, -4: -2.75, 0: 3.0})
    show(session("CastMap", TensorProto.INT64, cast_to=cast, map_form="SPARSE", max_map=4), {9: 1.5, 3: -2.75, 0: 3.0})
show(session("CastMap", TensorProto.INT64, map_form="SPARSE", max_map=4), {-1: 1.5})
