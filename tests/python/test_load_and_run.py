"""Loading and running: the three lines, names and positions, states, errors."""
import io
import json
import pathlib

import numpy as np
import pytest

import mica

STATEFUL = """graph "count"
  input %x: f32[1,2] "x"
  input %h: f32[1,2] "h"
  %y = add(%x, %h)
  output %y "y"
  state "y" "h"
end
"""
PAIR = """graph "pair"
  symbol N input
  input %a: f32[N,2] "a"
  input %b: f32[2,N] "b"
  %c = transpose(%b) perm=[1,0]
  %y = add(%a, %c)
  output %y "y"
end
"""


def test_three_lines(digits_path, held_back):
    picture = held_back[0][list(held_back[1]).index(7)][None]
    model = mica.load(digits_path)
    scores = model(image=picture)["probabilities"]
    assert scores.argmax() == 7


def test_accuracy_on_what_was_held_back(digits_path, held_back):
    pictures, labels = held_back
    answers = mica.load(digits_path)(pictures)["probabilities"].argmax(axis=1)
    assert int((answers == labels).sum()) == 443


def test_sources(digits_path, tmp_path, held_back):
    expected = mica.load(digits_path)(held_back[0])["probabilities"]
    out = tmp_path / "digits.mica"
    report = mica.convert(digits_path, out)
    assert report["stages"] > 0 and report["file_bytes"] == out.stat().st_size
    data = digits_path.read_bytes()
    for source in (str(digits_path), pathlib.Path(out), data, bytearray(data), out.read_bytes(), io.BytesIO(data)):
        np.testing.assert_array_equal(mica.load(source)(held_back[0])["probabilities"], expected)
    with pytest.raises(TypeError):
        mica.load(3)
    with pytest.raises(TypeError, match="bound"):
        mica.load(digits_path, bound={})


def test_ports(digits_path):
    model = mica.load(digits_path, threads=1, isa="portable")
    (port,) = model.inputs
    assert (port.name, port.type, port.element) == ("image", "f32[batch,1,8,8]", "f32")
    assert port.shape == ("batch", 1, 8, 8) and port.dtype == np.float32 and port.is_tensor
    assert model.outputs[0].name == "probabilities" and model.states == ()
    assert "mica.preprocess" in model.metadata
    assert "probabilities" in repr(model)
    fixed = mica.load(digits_path, shapes={"image": (3, 1, 8, 8)})
    assert fixed.inputs[0].shape == (3, 1, 8, 8)


def test_names_and_positions(graph):
    model = mica.load(graph(PAIR))
    a, b = np.arange(6, dtype=np.float32).reshape(3, 2), np.ones((2, 3), np.float32)
    feed = {"b": b, "a": a}
    for got in (model(a, b), model(a, b=b), model(**feed), model(feed), model.run(feed, ["y"])):
        np.testing.assert_array_equal(got["y"], a + 1)
    assert model.run({"a": a, "b": b}, []) == {}


def test_results_are_the_callers(graph):
    model = mica.load(graph(PAIR))
    b = np.zeros((2, 1), np.float32)
    first = model(np.full((1, 2), 1, np.float32), b)["y"]
    second = model(np.full((1, 2), 2, np.float32), b)["y"]
    first += 10
    np.testing.assert_array_equal(first, [[11, 11]])
    np.testing.assert_array_equal(second, [[2, 2]])


def test_numbers_and_lists_get_the_inputs_type(graph):
    model = mica.load(graph(PAIR))
    np.testing.assert_array_equal(model([[1, 2]], [[3], [4]])["y"], [[4, 6]])


def test_states_go_on(graph):
    model = mica.load(graph(STATEFUL))
    assert [state.name for state in model.states] == ["h"]
    x = np.ones((1, 2), np.float32)
    for count in (1, 2, 3):
        np.testing.assert_array_equal(model(x)["y"], np.full((1, 2), count))
    np.testing.assert_array_equal(model.state("h"), [[3, 3]])
    other = model.session()
    np.testing.assert_array_equal(other(x)["y"], [[1, 1]])
    np.testing.assert_array_equal(model(x=x, h=np.full((1, 2), 10, np.float32))["y"], [[11, 11]])
    np.testing.assert_array_equal(model(x)["y"], [[12, 12]])
    model.set_state("h", np.full((1, 2), 5, np.float32))
    np.testing.assert_array_equal(model(x)["y"], [[6, 6]])
    model.reset()
    np.testing.assert_array_equal(model(x)["y"], [[1, 1]])


@pytest.mark.parametrize("wrong", [np.zeros((1, 2), np.float64), np.zeros((1, 3), np.float32), np.zeros(2, np.float32)])
def test_states_of_a_wrong_kind_are_refused(graph, wrong):
    model = mica.load(graph(STATEFUL))
    with pytest.raises(mica.Error) as caught:
        model.set_state("h", wrong)
    assert caught.value.code in (3001, 3002, 3003)
    np.testing.assert_array_equal(model(np.ones((1, 2), np.float32))["y"], [[1, 1]])


def code_of(call, *args, **named):
    with pytest.raises(mica.Error) as caught:
        call(*args, **named)
    return caught.value.code


def test_errors(graph, tmp_path):
    model = mica.load(graph(PAIR))
    a, b = np.zeros((3, 2), np.float32), np.zeros((2, 3), np.float32)
    assert code_of(model, a) == 6001
    assert code_of(model, a, b, b) == 6001
    assert code_of(model, a, a=a, b=b) == 6001
    assert code_of(model, a, B=b) == 6002
    assert code_of(model.run, {"a": a, "b": b}, ["z"]) == 6002
    assert code_of(model, a.astype(np.float64), b) == 3002
    assert code_of(model, a.astype("M8[s]"), b) == 3002
    assert code_of(model, np.array([[{}]]), b) == 3002
    assert code_of(model, a[:, :1], b) == 3001
    assert code_of(model, a, b[:, :2]) == 3001
    assert code_of(model, a[0], b) == 3003
    assert code_of(model, np.zeros((1,) * 11, np.float32), b) == 3003
    assert code_of(model, None, b) == 3002
    assert code_of(mica.load, tmp_path / "none.onnx") == 7001
    assert code_of(mica.load, b"") == 1001
    assert code_of(mica.load, b"\x00" * 100) == 1001
    assert code_of(mica.load, graph(PAIR), isa="neon" if mica.Context(1).isa != "neon" else "avx2") == 7010
    assert code_of(mica.load, graph(PAIR), threads=1, context=mica.Context(1)) == 6001
    assert code_of(model.run, {"a": a, "b": b}, deadline=-1) == 6001
    np.testing.assert_array_equal(model(a, b)["y"], np.zeros((3, 2)))


LISTS = ("outputs", "keep", "rules_off", "labels")


@pytest.mark.parametrize("key", LISTS)
def test_a_text_is_no_list_of_names(digits_path, key):
    with pytest.raises(mica.Error, match="a list of names") as caught:
        mica.load(digits_path, **{key: "probabilities"})
    assert caught.value.code == 6001 and "['probabilities']" in caught.value.hint


def test_outputs_of_a_run_are_a_list(graph):
    model = mica.load(graph(STATEFUL))
    x = np.ones((1, 2), np.float32)
    assert list(model.run({"x": x}, outputs=["y"])) == ["y"]
    assert code_of(model.run, {"x": x}, outputs="y") == 6001
    assert list(model.run({"x": x}, outputs=())) == []


@pytest.mark.parametrize(
    "options",
    [{"preprocess": 3}, {"bounds": 3}, {"shapes": {"image": "x"}}, {"outputs": [1]}, {"pixels": "no"}, {"labels": 5}],
)
def test_a_value_of_a_wrong_type_is_named(digits_path, options):
    with pytest.raises(TypeError, match=f"^`{next(iter(options))}` takes "):
        mica.load(digits_path, **options)


def test_a_recipe_is_a_dict_or_json(digits_path):
    for recipe in ({"size": [8, 8], "scale": 2}, '{"size": [8, 8], "scale": 2}'):
        assert json.loads(mica.load(digits_path, preprocess=recipe).metadata["mica.preprocess"])["scale"] == 2


def test_wrong_numbers_and_contexts(digits_path):
    for options in ({"memory_cap": -1}, {"memory_cap": 2**63}, {"deadline": -1}, {"deadline": 0}, {"threads": -1}):
        assert code_of(mica.load, digits_path, **options) == 6001
    model = mica.load(digits_path)
    assert code_of(model.session, memory_cap=-1) == 6001
    assert code_of(model.session, deadline=float("nan")) == 6001
    for options in ({"context": 5}, {"threads": "two"}, {"isa": 5}, {"memory_cap": "all"}):
        with pytest.raises(TypeError) as caught:
            mica.load(digits_path, **options)
        assert "incompatible function arguments" not in str(caught.value)
    with pytest.raises(TypeError, match="mica.Context"):
        mica.convert(digits_path, digits_path.with_suffix(".never"), context=5)


def test_an_error_says_what_where_and_what_to_do(graph):
    model = mica.load(graph(PAIR))
    with pytest.raises(mica.Error, match="`a` takes f32, got f64") as caught:
        model(np.zeros((3, 2)), np.zeros((2, 3), np.float32))
    error = caught.value
    assert (error.code, error.where) == (3002, "") and str(error).startswith("error[MICA3002]: ")
    with pytest.raises(mica.Error) as caught:
        model(an=1)
    assert "`a`" in caught.value.hint


def test_memory_cap_and_deadline(digits_path):
    pictures = np.zeros((4096, 1, 8, 8), np.float32)
    model = mica.load(digits_path, threads=1)
    assert model.memory(pictures)["total"] > 1 << 20
    assert code_of(model.session(memory_cap=1 << 20), pictures) == 5002
    assert code_of(mica.load(digits_path, memory_cap=1 << 20), pictures) == 5002
    assert code_of(model.run, {"image": pictures}, deadline=1e-6) == 4003
    assert code_of(mica.load(digits_path, deadline=1e-6), pictures) == 4003
    assert model(pictures)["probabilities"].shape == (4096, 10)


def test_measured_choices(digits_path, held_back, tmp_path):
    """A file beside the model or of the caller's is read; damage is the caller's error, and none beside it."""
    path = tmp_path / "digits.mica"
    mica.convert(digits_path, path)

    def answer(**options):
        return mica.load(path, **options)(image=held_back[0][:1])["probabilities"]

    want = answer()
    damaged = tmp_path / "digits.mica.tune"
    damaged.write_text("no choices")
    assert np.array_equal(answer(), want)
    assert np.array_equal(answer(tuning=""), want)
    for source in (path, path.read_bytes()):
        with pytest.raises(mica.Error) as failed:
            mica.load(source, tuning=damaged)
        assert failed.value.code == 2010
