"""One-node models to start from: the ONNX project's own cases, and some by hand for operators that have none."""
import collections
import warnings

import numpy as np
from onnx import TensorProto, helper, numpy_helper
from onnx.backend.test.case.node import collect_testcases


STUMP = dict(
    nodes_treeids=[0, 0, 0], nodes_nodeids=[0, 1, 2], nodes_featureids=[0, 0, 0], nodes_values=[0.5, 0.0, 0.0],
    nodes_modes=["BRANCH_LEQ", "LEAF", "LEAF"], nodes_truenodeids=[1, 0, 0], nodes_falsenodeids=[2, 0, 0],
    nodes_missing_value_tracks_true=[0, 0, 0], nodes_hitrates=[1.0, 1.0, 1.0],
)  # fmt: skip
LABELS = [
    ("int64s", np.int64([0, 1])),
    ("floats", np.float32([0, 1])),
    ("strings", np.array(["a", "b"], object)),
]
NUMBERS = [np.array([0, 1], kind) for kind in (np.int16, np.int32, np.int64, np.float32, np.float64)]


class Template:
    """A node, and the values of its inputs by name."""

    def __init__(self, node, values):
        self.node, self.values = node, values

    def size(self):
        return sum(np.asarray(v).size for v in self.values.values() if not isinstance(v, list)) + 10 * len(self.values)


def plain(value):
    """A case's input as an array or a list of arrays; None for what is neither."""
    if isinstance(value, TensorProto):
        return numpy_helper.to_array(value)
    if isinstance(value, (list, np.ndarray, np.generic)):
        return value
    return None


def from_cases():
    found = collections.defaultdict(list)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cases = [case for case in collect_testcases(None) if case.kind == "node"]
    for case in cases:
        graph = case.model.graph
        if len(graph.node) != 1 or not case.data_sets:
            continue
        values = dict(zip((port.name for port in graph.input), map(plain, case.data_sets[0][0])))
        if all(value is not None and not (isinstance(value, list) and not value) for value in values.values()):
            found[graph.node[0].domain, graph.node[0].op_type].append(Template(graph.node[0], values))
    return found


def make(op, inputs, outputs=1, domain="", **attributes):
    names = [f"x{i}" for i in range(len(inputs))]
    node = helper.make_node(op, names, [f"y{i}" for i in range(outputs)], domain=domain, **attributes)
    return Template(node, dict(zip(names, inputs)))


def by_hand():
    x = np.float32([[1, 2, 3], [0, -1, 2]])
    image = np.arange(32, dtype=np.float32).reshape(1, 2, 4, 4) / 8
    i = lambda *numbers: np.int64(numbers)
    return [
        make("ConcatFromSequence", [[x, x]], axis=0),
        make("GlobalLpPool", [image]),
        make("MaxRoiPool", [image, np.float32([[0, 0, 0, 3, 3]])], pooled_shape=[2, 2]),
        make("Multinomial", [np.log(np.float32([[0.25, 0.5, 0.25]]))], sample_size=4),
        make("RandomNormal", [], shape=[2, 3]),
        make("RandomUniform", [], shape=[2, 3]),
        make("RandomNormalLike", [x]),
        make("RandomUniformLike", [x]),
        make("Optional", [x]),
        make("SequenceConstruct", [x, x]),
        make("SequenceEmpty", []),
        make("SequenceAt", [[x, x], np.int64(1)]),
        make("SequenceErase", [[x, x], np.int64(0)]),
        make("SequenceInsert", [[x, x], x, np.int64(0)]),
        make("SequenceLength", [[x, x]]),
        make("ReverseSequence", [np.arange(16, dtype=np.float32).reshape(4, 4), i(4, 3, 2, 1)]),
        make("OptionalHasElement", [x]),
        make("OptionalGetElement", [x]),
        make("SplitToSequence", [x], axis=0),
        make("Upsample", [image, np.float32([1, 1, 2, 2])]),
        make("Scatter", [x, np.int64([[0, 1], [1, 0]]), np.float32([[5, 6], [7, 8]])]),
        make("Concat", [x, x], axis=0),
        make("MaxPool", [image], kernel_shape=[2, 2]),
        make("BatchNormalization", [image] + [np.float32([1, 2])] * 4),
        make("Tile", [x, i(2, 1)]),
        make("Resize", [image, np.float32([1, 1, 2, 2])]),
        make("GridSample", [image, np.float32(np.zeros((1, 2, 2, 2)))]),
        make("Dropout", [x]),
        make("RNN", [x[None], *(np.float32(np.ones((1, 2, n))) for n in (3, 2))], hidden_size=2),
        make("Unsqueeze", [x, i(0)]),
        make("Split", [x, i(1, 1)], outputs=2, axis=0),
        make("Constant", [], value=numpy_helper.from_array(x)),
        make("ConstantOfShape", [i(2, 3)], value=numpy_helper.from_array(np.float32([1]))),
        make("EyeLike", [x]),
        make("TfIdfVectorizer", [np.array(["a", "b", "a"], object)], mode="TF", min_gram_length=1, max_gram_length=1,
             max_skip_count=0, ngram_counts=[0], ngram_indexes=[0, 1], pool_strings=["a", "b"]),
    ]


def ml_by_hand():
    x = np.float32([[1, 2, 3], [0, -1, 2]])
    i = lambda *numbers: np.int64(numbers)
    ml = "ai.onnx.ml"
    return [
        make("CategoryMapper", [np.array(["a", "b"], object)], domain=ml, cats_int64s=[0, 1], cats_strings=["a", "b"]),
        make("CategoryMapper", [i(0, 1)], domain=ml, cats_int64s=[0, 1], cats_strings=["a", "b"]),
        *(
            make("LabelEncoder", [keys[1]], domain=ml, **{f"keys_{keys[0]}": keys[1].tolist()},
                 **{f"values_{values[0]}": values[1].tolist()})
            for keys in LABELS for values in LABELS
        ),
        make("LabelEncoder", [i(0, 1)], domain=ml, classes_strings=["a", "b"]),
        make("LabelEncoder", [np.array(["a", "b"], object)], domain=ml, classes_strings=["a", "b"]),
        *(
            make("LabelEncoder", [keys], domain=ml, keys_tensor=numpy_helper.from_array(keys),
                 values_tensor=numpy_helper.from_array(values), default_tensor=numpy_helper.from_array(values[:1]))
            for keys in NUMBERS for values in NUMBERS
        ),
        make("TreeEnsembleRegressor", [x], domain=ml, **STUMP, n_targets=1, target_ids=[0, 0], target_nodeids=[1, 2],
             target_treeids=[0, 0], target_weights=[1.0, 2.0]),
        *(
            make("TreeEnsembleClassifier", [x], 2, ml, **STUMP, class_ids=[0, 1], class_nodeids=[1, 2],
                 class_treeids=[0, 0], class_weights=[1.0, 2.0], **labels)
            for labels in ({"classlabels_int64s": [0, 1]}, {"classlabels_strings": ["a", "b"]})
        ),
        make("FeatureVectorizer", [x, x], domain=ml, inputdimensions=[3, 3]),
        make("Imputer", [x], domain=ml, imputed_value_floats=[9.0], replaced_value_float=2.0),
        make("Imputer", [i(1, 2, 3).reshape(1, 3)], domain=ml, imputed_value_int64s=[9], replaced_value_int64=2),
        make("LinearClassifier", [x], 2, ml, coefficients=[1.0] * 6, intercepts=[0.0, 1.0], classlabels_ints=[0, 1]),
        make("LinearClassifier", [x], 2, ml, coefficients=[1.0] * 6, intercepts=[0.0, 1.0],
             classlabels_strings=["a", "b"]),
        make("LinearRegressor", [x], domain=ml, coefficients=[1.0] * 3, intercepts=[0.5]),
        make("Normalizer", [x], domain=ml, norm="L2"),
        make("OneHotEncoder", [i(0, 1)], domain=ml, cats_int64s=[0, 1]),
        make("OneHotEncoder", [np.array(["a", "b"], object)], domain=ml, cats_strings=["a", "b"]),
        make("Scaler", [x], domain=ml, offset=[1.0], scale=[2.0]),
        make("SVMRegressor", [x], domain=ml, kernel_type="LINEAR", coefficients=[1.0, -1.0],
             support_vectors=[1.0, 2, 3, 3, 2, 1], n_supports=2, rho=[0.5], kernel_params=[0.0, 0, 0]),
        make("SVMClassifier", [x], 2, ml, kernel_type="LINEAR", coefficients=[1.0, -1.0], classlabels_ints=[0, 1],
             support_vectors=[1.0, 2, 3, 3, 2, 1], vectors_per_class=[1, 1], rho=[0.5],
             kernel_params=[0.0, 0, 0]),
        make("SVMClassifier", [x], 2, ml, kernel_type="LINEAR", coefficients=[1.0, -1.0],
             classlabels_strings=["a", "b"], support_vectors=[1.0, 2, 3, 3, 2, 1], vectors_per_class=[1, 1], rho=[0.5],
             kernel_params=[0.0, 0, 0]),
    ]


def all_templates():
    """By domain and operator, the smallest first."""
    found = from_cases()
    for template in by_hand() + ml_by_hand():
        found[template.node.domain, template.node.op_type].append(template)
    for templates in found.values():
        templates.sort(key=Template.size)
    return found
