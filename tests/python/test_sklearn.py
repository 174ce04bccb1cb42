"""Pipelines of scikit-learn as skl2onnx converts them by default (with ZipMap), beside scikit-learn's own answers."""
import warnings

import numpy as np
import pytest

pytest.importorskip("sklearn")
skl2onnx = pytest.importorskip("skl2onnx")
from sklearn_pipelines import WORDS, all_pipelines

import mica
import mica.ort


def texts(value):
    value = np.asarray(value)
    return value.astype("U") if value.dtype.kind in "OSU" else value


def difference(got, expected):
    """Empty when they agree: labels and counts exactly, numbers to 1e-4 of the largest."""
    got, expected = texts(got), texts(expected)
    if got.size != expected.size:
        return f"{got.shape} instead of {expected.shape}"
    got = got.reshape(expected.shape)
    if expected.dtype.kind in "USbi":
        wrong = np.count_nonzero(got.astype(expected.dtype) != expected)
        return f"{wrong} of {got.size} labels differ" if wrong else ""
    if not np.array_equal(np.isnan(got), np.isnan(expected)):
        return "NaN in other places"
    finite = np.isfinite(expected)
    if not np.array_equal(got[~finite], expected[~finite], equal_nan=True):
        return "other infinities"
    worst = np.max(np.abs(got[finite] - expected[finite]), initial=0)
    room = 1e-4 * max(np.max(np.abs(expected[finite]), initial=0), 1e-3)
    return "" if worst <= room else f"differs by {worst:.3g}"


def loaded(model):
    try:
        return mica.load(model, threads=1)
    except mica.Error as error:
        if "is not in this build" in str(error):
            pytest.skip(str(error))
        raise


@pytest.mark.parametrize("pipeline", list(all_pipelines()), ids=lambda pipeline: pipeline.name)
def test_pipeline(pipeline):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model, types, feed, answers = pipeline.fit()
        try:
            onnx = skl2onnx.convert_sklearn(model, initial_types=types, target_opset=pipeline.opset)
        except Exception as refused:  # the converter has many ways to say no
            pytest.skip(f"skl2onnx: {str(refused)[:200]}")
    found = loaded(onnx).run(feed)
    for output, expected in zip(onnx.graph.output, answers):
        assert difference(found[output.name], expected) == "", output.name


def test_dict_vectorizer():
    """Its input is a map, which goes by `mica.ort` as a dict, and by `mica` as two lists."""
    from skl2onnx.common.data_types import DictionaryType, FloatTensorType, StringTensorType
    from sklearn import feature_extraction, linear_model
    from sklearn.pipeline import make_pipeline

    rows = [{"size": 1.0, "red": 1.0}, {"size": 3.0, "blue": 1.0}, {"red": 2.0}, {"size": 2.0, "green": 0.5}]
    model = make_pipeline(feature_extraction.DictVectorizer(sparse=False), linear_model.LogisticRegression())
    model.fit(rows, [0, 1, 0, 1])
    types = [("row", DictionaryType(StringTensorType([1]), FloatTensorType([1])))]
    onnx = skl2onnx.convert_sklearn(model, initial_types=types)
    session, plain = mica.ort.InferenceSession(onnx.SerializeToString()), mica.load(onnx)
    assert [(port.name, port.type) for port in session.get_inputs()] == [("row", "map(string,tensor(float))")]
    for row in [*rows, {}, {"yellow": 1.0}]:
        expected = model.predict_proba([row])
        label, maps = session.run(None, {"row": row})
        assert label == model.predict([row])
        assert difference([list(scores.values()) for scores in maps], expected) == ""
        lists = {"row.keys": np.array(list(row), object), "row.values": np.float32(list(row.values()))}
        assert difference(plain(lists)["output_probability"], expected) == ""


def test_a_compiled_tokenizer(tmp_path):
    """A file keeps what the operator of a module was told."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    model = TfidfVectorizer().fit(WORDS.ravel())
    onnx = skl2onnx.convert_sklearn(model, initial_types=[("x", skl2onnx.common.data_types.StringTensorType([None]))])
    loaded(onnx)
    (tmp_path / "words.onnx").write_bytes(onnx.SerializeToString())
    mica.convert(tmp_path / "words.onnx", tmp_path / "words.mica")
    (found,) = mica.load(tmp_path / "words.mica")(x=WORDS.ravel()).values()
    assert difference(found, model.transform(WORDS.ravel()).toarray()) == ""
