"""Models of scikit-learn, each with the data that it is fitted to and asked about."""
from dataclasses import dataclass
from typing import Any

import numpy as np
from skl2onnx.common.data_types import FloatTensorType, Int64TensorType, StringTensorType
from sklearn import (cluster, compose, decomposition, discriminant_analysis, ensemble, feature_extraction,
                     feature_selection, impute, linear_model, naive_bayes, neighbors, neural_network, pipeline,
                     preprocessing, svm, tree)  # fmt: skip

RANDOM = np.random.RandomState(7)
X = RANDOM.randn(120, 5).astype(np.float32)
NOISE = RANDOM.randn(120)
TWO = (X[:, 0] + 0.5 * X[:, 1] + 0.3 * NOISE > 0).astype(np.int64)
THREE = np.digitize(X[:, 0] + 0.2 * NOISE, [-0.5, 0.6]).astype(np.int64)
NAMED = np.array(["red", "green", "blue"])[THREE]
NUMBER = X[:, 0] * 2 - X[:, 1] + 0.1 * NOISE
WORDS = np.array([["alpha beta"], ["beta gamma gamma"], ["delta"], ["alpha delta beta"], ["gamma"],
                  ["beta beta"]], object)  # fmt: skip
COLORS = np.array([["red", "s"], ["green", "m"], ["blue", "l"], ["red", "l"], ["blue", "s"], ["green", "l"]], object)


@dataclass
class Pipeline:
    name: str
    model: Any
    x: Any = None  # an array, or arrays by name for a table
    y: Any = None
    asked: str = ""  # predict, transform, predict_proba, decision_function; empty: what the model has
    opset: Any = None

    def fit(self):
        """(model, the converter's types, what to feed, the answers in the order of the outputs)."""
        x = X if self.x is None else self.x
        if isinstance(x, dict):
            import pandas

            table = pandas.DataFrame({name: column.ravel() for name, column in x.items()})
            self.model.fit(table, self.y)
            types = [(name, type_of(column)([None, 1])) for name, column in x.items()]
            return self.model, types, dict(x), self.answers(table)
        self.model.fit(x if x.dtype != object or x.shape[1] > 1 else x.ravel(), self.y)
        asked = x if x.dtype != object or x.shape[1] > 1 else x.ravel()
        if asked.ndim == 1:
            return self.model, [("x", StringTensorType([None]))], {"x": asked}, self.answers(asked)
        return self.model, [("x", type_of(x)([None, x.shape[1]]))], {"x": x}, self.answers(asked)

    def answers(self, x):
        model = self.model
        if self.asked == "transform" or not hasattr(model, "predict"):
            made = model.transform(x)
            return [made.toarray() if hasattr(made, "toarray") else made]
        if isinstance(model, cluster.KMeans):
            return [model.predict(x), model.transform(x)]
        if isinstance(model, ensemble.IsolationForest):
            return [model.predict(x), model.decision_function(x)]
        found = [model.predict(x)]
        if hasattr(model, "predict_proba"):
            found.append(model.predict_proba(x))
        elif hasattr(model, "decision_function"):
            scores = model.decision_function(x)
            found.append(scores)
        return found


def type_of(column):
    return {"f": FloatTensorType, "i": Int64TensorType, "O": StringTensorType}[column.dtype.kind]


def classifiers():
    kinds = {
        "logistic": lambda: linear_model.LogisticRegression(max_iter=500),
        "forest": lambda: ensemble.RandomForestClassifier(12, random_state=0),
        "extra trees": lambda: ensemble.ExtraTreesClassifier(8, random_state=0),
        "boosting": lambda: ensemble.GradientBoostingClassifier(n_estimators=10, random_state=0),
        "histogram boosting": lambda: ensemble.HistGradientBoostingClassifier(max_iter=10, random_state=0),
        "ada": lambda: ensemble.AdaBoostClassifier(n_estimators=5, random_state=0),
        "tree": lambda: tree.DecisionTreeClassifier(max_depth=4, random_state=0),
        "neighbours": lambda: neighbors.KNeighborsClassifier(3),
        "svm": lambda: svm.SVC(probability=True, random_state=0),
        "svm linear": lambda: svm.SVC(kernel="linear", probability=True, random_state=0),
        "linear svm": lambda: svm.LinearSVC(random_state=0),
        "bayes": lambda: naive_bayes.GaussianNB(),
        "perceptrons": lambda: neural_network.MLPClassifier(hidden_layer_sizes=(8,), max_iter=300, random_state=0),
        "discriminant": lambda: discriminant_analysis.LinearDiscriminantAnalysis(),
        "descent": lambda: linear_model.SGDClassifier(loss="log_loss", random_state=0),
        "voting": lambda: ensemble.VotingClassifier(
            [("a", linear_model.LogisticRegression()), ("b", naive_bayes.GaussianNB())], voting="soft",
            flatten_transform=False),
        "bagging": lambda: ensemble.BaggingClassifier(n_estimators=3, random_state=0),
        "scaled": lambda: pipeline.make_pipeline(preprocessing.StandardScaler(), linear_model.LogisticRegression()),
    }  # fmt: skip
    for name, make in kinds.items():
        for what, y in (("two classes", TWO), ("three", THREE), ("names", NAMED)):
            # Of two classes the converter writes softmax of ±score for the discriminant, where sigmoid is meant.
            if (name, what) != ("discriminant", "two classes"):
                yield Pipeline(f"{name}, {what}", make(), y=y)


def regressors():
    for name, model in {
        "line": linear_model.LinearRegression(),
        "ridge": linear_model.Ridge(),
        "lasso": linear_model.Lasso(0.01),
        "forest of numbers": ensemble.RandomForestRegressor(10, random_state=0),
        "boosting of numbers": ensemble.GradientBoostingRegressor(n_estimators=10, random_state=0),
        "histogram boosting of numbers": ensemble.HistGradientBoostingRegressor(max_iter=10, random_state=0),
        "svm of numbers": svm.SVR(),
        "neighbours of numbers": neighbors.KNeighborsRegressor(3),
        "perceptrons of numbers": neural_network.MLPRegressor(hidden_layer_sizes=(8,), max_iter=300, random_state=0),
        "tree of numbers": tree.DecisionTreeRegressor(max_depth=4, random_state=0),
        "poisson": linear_model.PoissonRegressor(),
    }.items():
        yield Pipeline(name, model, y=np.abs(NUMBER) if name == "poisson" else NUMBER)


def transformers():
    holes = X.copy()
    holes[::7, 1] = np.nan
    for name, model in {
        "standard": preprocessing.StandardScaler(),
        "range": preprocessing.MinMaxScaler(),
        "robust": preprocessing.RobustScaler(),
        "largest": preprocessing.MaxAbsScaler(),
        "norm": preprocessing.Normalizer(),
        "threshold": preprocessing.Binarizer(threshold=0.2),
        "bins": preprocessing.KBinsDiscretizer(4, encode="onehot-dense"),
        "powers": preprocessing.PolynomialFeatures(2),
        "yeo-johnson": preprocessing.PowerTransformer(),
        "components": decomposition.PCA(3),
        "singular values": decomposition.TruncatedSVD(2, random_state=0),
        "chosen": feature_selection.VarianceThreshold(0.9),
    }.items():
        yield Pipeline(name, model, asked="transform")
    yield Pipeline("holes", impute.SimpleImputer(), x=holes, asked="transform")
    yield Pipeline("clusters", cluster.KMeans(3, n_init=2, random_state=0))
    forest = ensemble.IsolationForest(n_estimators=8, random_state=0)
    yield Pipeline("outliers", forest, opset={"": 18, "ai.onnx.ml": 3})
    yield Pipeline("one-hot texts", preprocessing.OneHotEncoder(handle_unknown="ignore"), x=COLORS, asked="transform")
    yield Pipeline("ordinal texts", preprocessing.OrdinalEncoder(), x=COLORS, asked="transform")
    yield Pipeline("one-hot numbers", preprocessing.OneHotEncoder(), x=THREE[:, None], asked="transform")
    text = feature_extraction.text
    yield Pipeline("counts of words", text.CountVectorizer(), x=WORDS, asked="transform")
    yield Pipeline("counts of pairs", text.CountVectorizer(ngram_range=(1, 2)), x=WORDS, asked="transform")
    yield Pipeline("rare words", text.TfidfVectorizer(), x=WORDS, asked="transform")
    yield Pipeline("characters", text.CountVectorizer(analyzer="char", ngram_range=(1, 3)), x=WORDS, asked="transform")
    yield Pipeline("once is enough", text.TfidfVectorizer(binary=True, norm="l1"), x=WORDS, asked="transform")
    yield Pipeline("left out", text.CountVectorizer(stop_words=["beta"]), x=WORDS, asked="transform")
    yield Pipeline("long words", text.CountVectorizer(token_pattern="[a-z]{5,}"), x=WORDS, asked="transform")


def tables():
    rows = {"size": X[:6, :1], "weight": X[6:12, 1:2], "color": COLORS[:, :1], "kind": COLORS[:, 1:]}
    numbers = pipeline.make_pipeline(impute.SimpleImputer(), preprocessing.StandardScaler())
    columns = compose.ColumnTransformer([
        ("numbers", numbers, ["size", "weight"]),
        ("texts", preprocessing.OneHotEncoder(handle_unknown="ignore"), ["color", "kind"]),
    ])  # fmt: skip
    y = np.array(["no", "yes", "yes", "no", "yes", "no"])
    yield Pipeline("columns", columns, x=rows, asked="transform")
    yield Pipeline("table", pipeline.make_pipeline(columns, linear_model.LogisticRegression()), x=rows, y=y)
    forest = ensemble.RandomForestClassifier(5, random_state=0)
    yield Pipeline("table and forest", pipeline.make_pipeline(columns, forest), x=rows, y=y)
    yield Pipeline("words to classes", pipeline.make_pipeline(feature_extraction.text.TfidfVectorizer(),
                   linear_model.LogisticRegression()), x=WORDS, y=y)  # fmt: skip
    yield Pipeline("words to bayes", pipeline.make_pipeline(feature_extraction.text.CountVectorizer(),
                   naive_bayes.MultinomialNB()), x=WORDS, y=y)  # fmt: skip


def all_pipelines():
    for make in (classifiers, regressors, transformers, tables):
        yield from make()
