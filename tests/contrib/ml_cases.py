"""The operators of classical machine learning (domain ai.onnx.ml)."""

import numpy as np
from onnx import TensorProto, helper

from cases import ML, generator

TRANSFORMS = ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO")
COMPARISONS = ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ")


def features(c, rows, columns):
    """Small numbers, so that ties with thresholds happen; a NaN at times in floats."""
    dtype = c.pick(np.float32, np.float32, np.float64, np.int64)
    x = c.ints(-4, 5, rows, columns, dtype=dtype)
    if dtype != np.int64:
        x = (x / 2).astype(dtype)
        if c.pick(0, 0, 1):
            x[0, 0] = np.nan
    return c.input("x", x)


class Forest:
    """Random trees as the lists of attributes that versions 1 to 4 have; `leaves`: (tree, node)."""

    def __init__(self, c, columns):
        names = "treeids nodeids featureids truenodeids falsenodeids values modes missing_value_tracks_true"
        self.nodes = {f"nodes_{name}": [] for name in names.split()}
        self.c, self.columns, self.leaves, self.mode = c, columns, [], c.pick(None, "BRANCH_LEQ")
        for tree in range(c.pick(1, 3, 8)):
            self.first = len(self.nodes["nodes_nodeids"])
            self.grow(tree, c.pick(1, 2, 4))

    def grow(self, tree, depth):
        """Appends a tree; returns the id of its root."""
        c, nodes = self.c, self.nodes
        place = len(nodes["nodes_nodeids"])
        own = place - self.first
        for values, value in zip(nodes.values(), (tree, own, 0, 0, 0, 0.0, "LEAF", 0)):
            values.append(value)
        if depth == 0 or c.rng.random() < 0.2 and own:
            self.leaves.append((tree, own))
            return own
        nodes["nodes_featureids"][place] = int(c.rng.integers(self.columns))
        nodes["nodes_values"][place] = float(c.rng.integers(-4, 5)) / 2
        nodes["nodes_modes"][place] = self.mode or c.pick(*COMPARISONS)
        nodes["nodes_missing_value_tracks_true"][place] = c.pick(0, 1)
        for side in ("nodes_truenodeids", "nodes_falsenodeids"):
            nodes[side][place] = self.grow(tree, depth - 1)
        return own


def weights_of(forest, ids, stem, low=-1.0, many=False):
    """A weight of every target in `ids` at every leaf, or of one of them."""
    c, entries = forest.c, []
    many = many or c.pick(0, 1)
    for tree, leaf in forest.leaves:
        entries += [(tree, leaf, k) for k in (ids if many else [c.pick(*ids)])]
    return {
        f"{stem}_treeids": [e[0] for e in entries],
        f"{stem}_nodeids": [e[1] for e in entries],
        f"{stem}_ids": [e[2] for e in entries],
        f"{stem}_weights": [float(w) for w in c.floats(len(entries), low=low)],
    }


@generator("TreeEnsembleRegressor", 40)
def tree_regressor(c):
    columns, targets = 3, c.pick(1, 1, 3)
    forest = Forest(c, columns)
    nodes = forest.nodes
    base = c.pick(None, [float(v) for v in c.floats(targets)])
    # ONNX Runtime loses the base of a target that got no weights.
    weights = weights_of(forest, list(range(targets)), "target", many=base is not None)
    c.node(
        "TreeEnsembleRegressor",
        [features(c, c.pick(1, 7, 40), columns)],
        ["y"],
        domain=ML,
        n_targets=targets,
        aggregate_function=c.pick(None, "SUM", "AVERAGE", "MIN", "MAX"),
        post_transform=c.pick(None, *TRANSFORMS),
        base_values=base,
        **nodes,
        **weights,
    )
    c.output("y")


def labels_of(c, classes, ints, first=10):
    return c.pick(
        {ints: list(range(first, first + classes))}, {"classlabels_strings": [f"class {k}" for k in range(classes)]}
    )


@generator("TreeEnsembleClassifier", 60)
def tree_classifier(c):
    columns, classes = 3, c.pick(2, 2, 3, 5)
    forest = Forest(c, columns)
    nodes = forest.nodes
    ids = c.pick([0], [1], [0, 1]) if classes == 2 else list(range(classes))
    weights = weights_of(forest, ids, "class", low=c.pick(-1.0, 0.0), many=classes == 2)
    base = [float(v) for v in c.floats(classes)] if classes > 2 else None
    # Of two columns of weights ONNX Runtime's labels are 0 and 1, whatever their names.
    c.node(
        "TreeEnsembleClassifier",
        [features(c, c.pick(1, 7, 40), columns)],
        ["label", "scores"],
        domain=ML,
        post_transform=c.pick(None, *TRANSFORMS),
        base_values=c.pick(None, base),
        **nodes,
        **weights,
        **labels_of(c, classes, "classlabels_int64s", 0 if len(ids) == 2 else 10),
    )
    c.output("label", "scores")


@generator("TreeEnsemble", 20, ml=5)
def tree_ensemble(c):
    """Version 5: inner nodes and leaves have numbers of their own."""
    columns, targets, dtype = 3, c.pick(1, 2), c.pick(np.float32, np.float64)
    forest = Forest(c, columns)
    nodes = forest.nodes
    inner, outer, count = {}, {}, len(nodes["nodes_modes"])
    for i in range(count):
        key = (nodes["nodes_treeids"][i], nodes["nodes_nodeids"][i])
        table = outer if nodes["nodes_modes"][i] == "LEAF" else inner
        table[key] = (len(table), i)
    modes, roots, lists, members = (
        [],
        [],
        {k: [] for k in ("featureids", "truenodeids", "falsenodeids", "trueleafs", "falseleafs")},
        [],
    )
    for (tree, own), (place, i) in inner.items():
        if own == 0:
            roots.append(place)
        modes.append(COMPARISONS.index(nodes["nodes_modes"][i]))
        if c.rng.random() < 0.2:
            modes[-1] = 6
            members += [float(v) for v in c.ints(1, 5, c.pick(1, 3))] + [np.nan]
        lists["featureids"].append(nodes["nodes_featureids"][i])
        for side in ("true", "false"):
            key = (tree, nodes[f"nodes_{side}nodeids"][i])
            lists[f"{side}leafs"].append(int(key in outer))
            lists[f"{side}nodeids"].append((outer if key in outer else inner)[key][0])
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    splits = [nodes["nodes_values"][i] for _, i in inner.values()]
    attributes = {f"nodes_{k}": v for k, v in lists.items()}
    attributes |= dict(
        n_targets=targets,
        tree_roots=roots,
        nodes_splits=helper.make_tensor("s", kind, [len(splits)], splits),
        nodes_modes=helper.make_tensor("m", TensorProto.UINT8, [len(modes)], modes),
        leaf_targetids=[int(v) for v in c.ints(0, targets, len(outer))],
        leaf_weights=helper.make_tensor("w", kind, [len(outer)], c.floats(len(outer)).tolist()),
        aggregate_function=c.pick(0, 1, 2, 3),
    )
    if members:
        attributes["membership_values"] = helper.make_tensor("e", kind, [len(members)], members)
    x = c.input("x", (c.ints(-4, 9, 9, columns) / 2).astype(dtype))
    logistic = c.pick(0, 1)
    c.node("TreeEnsemble", [x], ["y"], domain=ML, post_transform=2 * logistic, **attributes)
    # The specification's numbers for the transforms are not ONNX Runtime's, which takes 2 for the softmax.
    c.means("TreeEnsemble", [x], ["scores"], domain=ML, **attributes)
    c.means("Sigmoid" if logistic else "Identity", ["scores"], ["y"])
    c.output("y")


def numbers(c, rows, columns):
    return c.input(
        "x", c.floats(rows, columns, low=-2, high=2).astype(c.pick(np.float32, np.float32, np.float64, np.int64))
    )


@generator("LinearRegressor", 10)
def linear_regressor(c):
    targets, rows = c.pick(1, 3), c.pick(1, 6)
    c.node(
        "LinearRegressor",
        [c.input("x", c.floats(rows, 4))],
        ["y"],
        domain=ML,
        targets=targets,
        coefficients=c.floats(4 * targets).tolist(),
        intercepts=c.pick(None, c.floats(targets).tolist()),
        post_transform=c.pick(None, *TRANSFORMS),
    )
    c.output("y")


@generator("LinearClassifier", 30)
def linear_classifier(c):
    classes = c.pick(2, 2, 3)
    rows = c.pick(1, 2) if classes == 2 else classes
    c.node(
        "LinearClassifier",
        [numbers(c, c.pick(1, 9), 4)],
        ["label", "scores"],
        domain=ML,
        coefficients=c.floats(4 * rows).tolist(),
        intercepts=c.floats(rows).tolist(),
        post_transform=c.pick(None, *TRANSFORMS),
        multi_class=c.pick(0, 1),
        **labels_of(c, classes, "classlabels_ints"),
    )
    c.output("label", "scores")


def kernel(c):
    kind = c.pick("LINEAR", "POLY", "RBF", "SIGMOID")
    return dict(kernel_type=kind, kernel_params=[0.3, 0.2, 2.0])


@generator("SVMRegressor", 20)
def svm_regressor(c):
    vectors = c.pick(0, 5)
    if vectors:
        model = dict(
            support_vectors=c.floats(vectors * 4).tolist(),
            coefficients=c.floats(vectors).tolist(),
            n_supports=vectors,
            **kernel(c),
        )
    else:
        model = dict(
            coefficients=c.floats(4).tolist(), n_supports=0, kernel_type="LINEAR", kernel_params=[0.0, 0.0, 0.0]
        )
    c.node(
        "SVMRegressor",
        [c.input("x", c.floats(c.pick(1, 6), 4))],
        ["y"],
        domain=ML,
        rho=[0.25],
        one_class=c.pick(None, None, 1),
        post_transform=c.pick(None, "NONE"),
        **model,
    )
    c.output("y")


@generator("SVMClassifier", 40)
def svm_classifier(c):
    classes = c.pick(2, 2, 3, 4)
    pairs, proba = classes * (classes - 1) // 2, c.pick(0, 1)
    counts = [int(v) for v in c.ints(1, 4, classes)]
    model = dict(
        support_vectors=c.floats(sum(counts) * 4).tolist(),
        coefficients=c.floats(sum(counts) * (classes - 1)).tolist(),
        vectors_per_class=counts,
        rho=c.floats(pairs).tolist(),
        **kernel(c),
    )
    if proba:
        model |= dict(prob_a=c.floats(pairs, low=-2, high=-0.5).tolist(), prob_b=c.floats(pairs).tolist())
    c.tolerance = 1e-4
    c.node(
        "SVMClassifier",
        [numbers(c, c.pick(1, 9), 4)],
        ["label", "scores"],
        domain=ML,
        post_transform=c.pick(None, *TRANSFORMS),
        **labels_of(c, classes, "classlabels_ints"),
        **model,
    )
    c.output("label", "scores")


@generator("Scaler")
def scaler(c):
    size = c.pick(1, 4)
    c.node(
        "Scaler", [numbers(c, 3, 4)], ["y"], domain=ML, offset=c.floats(size).tolist(), scale=c.floats(size).tolist()
    )
    c.output("y")


@generator("Normalizer", 12)
def normalizer(c):
    x = c.floats(4, 5, low=-2, high=2)
    x[c.pick(0, 1)] = 0
    c.node(
        "Normalizer",
        [c.input("x", x.astype(c.pick(np.float32, np.float64, np.int64)))],
        ["y"],
        domain=ML,
        norm=c.pick("MAX", "L1", "L2"),
    )
    c.output("y")


@generator("Binarizer")
def binarizer(c):
    c.node("Binarizer", [c.input("x", c.floats(3, 4))], ["y"], domain=ML, threshold=c.pick(None, 0.25))
    c.output("y")


@generator("Imputer", 10)
def imputer(c):
    size = c.pick(1, 4)
    if c.pick(0, 1):
        x, hole = c.floats(3, 4), c.pick(np.nan, 0.5)
        x[c.rng.random((3, 4)) < 0.4] = hole
        attributes = dict(replaced_value_float=hole, imputed_value_floats=c.floats(size).tolist())
    else:
        x = c.ints(0, 3, 3, 4)
        attributes = dict(replaced_value_int64=1, imputed_value_int64s=[int(v) for v in c.ints(10, 20, size)])
    c.node("Imputer", [c.input("x", x)], ["y"], domain=ML, **attributes)
    c.output("y")


@generator("OneHotEncoder", 8)
def one_hot(c):
    x = c.ints(0, 5, *c.pick((4,), (3, 2), (2, 1, 2)), dtype=c.pick(np.int64, np.float32, np.float64))
    c.node("OneHotEncoder", [c.input("x", x)], ["y"], domain=ML, cats_int64s=[3, 0, 2], zeros=1)
    c.output("y")


@generator("FeatureVectorizer", 5)
def feature_vectorizer(c):
    widths, dtype = [2, 1, 4], c.pick(np.float32, np.int64, np.float64)
    names = [c.input(f"x{k}", c.ints(-5, 5, 3, width, dtype=dtype)) for k, width in enumerate(widths)]
    c.node("FeatureVectorizer", names, ["y"], domain=ML, inputdimensions=widths)
    c.output("y")


@generator("LabelEncoder", 6, ml=4)
def label_encoder(c):
    if c.pick(0, 1):
        c.node(
            "LabelEncoder",
            [c.input("x", c.ints(0, 5, 3, 2))],
            ["y"],
            domain=ML,
            keys_int64s=[1, 3, 4],
            values_floats=[0.5, 1.5, -2.0],
            default_float=9.0,
        )
    else:
        c.node(
            "LabelEncoder",
            [c.input("x", c.ints(0, 5, 4))],
            ["y"],
            domain=ML,
            keys_int64s=[1, 3, 4],
            values_strings=["a", "", "bc"],
        )
    c.output("y")


@generator("CategoryMapper", 4)
def category_mapper(c):
    c.node(
        "CategoryMapper",
        [c.input("x", c.ints(0, 5, 3, 2))],
        ["y"],
        domain=ML,
        cats_int64s=[1, 3, 4],
        cats_strings=["one", "three", "four"],
        default_string=c.pick(None, "?"),
    )
    c.output("y")


@generator("ArrayFeatureExtractor", 4)
def array_feature_extractor(c):
    c.node("ArrayFeatureExtractor", [c.input("x", c.floats(3, 5)), c.constant("i", c.ints(0, 5, 2))], ["y"], domain=ML)
    c.output("y")


def some_keys(c, kind):
    keys = c.rng.permutation(["cat", "dog", "eel", "fox", "gnu", "\u00e4"] if kind == "text" else range(-3, 9))
    return keys[: c.pick(1, 3, 5)].astype(object if kind == "text" else np.int64)


@generator("DictVectorizer", 8)
def dict_vectorizer(c):
    kind = c.pick("text", "number")
    keys = some_keys(c, kind)
    words = {"int64_vocabulary": [5, -1, 3]}
    if kind == "text":
        words = {"string_vocabulary": ["eel", "cat", "yak", "\u00e4"]}
    c.node("DictVectorizer", [c.map("x", keys, c.floats(len(keys)))], ["y"], domain=ML, **words)
    c.output("y")


@generator("CastMap", 12)
def cast_map(c):
    sparse = c.pick(0, 1)
    keys = some_keys(c, "number")
    values = (c.ints(-90, 90, len(keys)) / 8).astype(np.float32)
    c.node(
        "CastMap",
        [c.map("x", np.abs(keys[:1]) if sparse else keys, values[:1] if sparse else values)],
        ["y"],
        domain=ML,
        cast_to=c.pick(None, "TO_FLOAT", "TO_INT64", "TO_STRING"),
        map_form="SPARSE" if sparse else None,
        max_map=c.pick(None, 1, 6),
    )
    c.output("y")


@generator("ZipMap", 4)
def zip_map(c):
    """The scores stay a tensor: the keys stand in the model's metadata."""
    x = c.input("x", c.floats(c.pick(1, 4), 3))
    keys = c.pick({"classlabels_int64s": [1, 2, 3]}, {"classlabels_strings": list("abc")})
    c.node("ZipMap", [x], ["y"], domain=ML, **keys)
    c.means("Identity", [x], ["y"])
    c.output("y")
