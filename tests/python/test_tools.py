"""The verbs as functions."""
import json
import os

import numpy as np
import pytest

import mica


def test_summary(digits_path):
    found = mica.inspect(digits_path)
    assert found["parameters"] == 19180 and found["operators"]["conv"] == 3
    assert found["inputs"][0].name == "image"


@pytest.mark.parametrize("stage", ["import", "graph", "plan", "bound"])
def test_stages(digits_path, stage):
    assert "conv" in mica.inspect(digits_path, stage)
    assert json.loads(mica.inspect(digits_path, stage, format="json"))
    assert mica.inspect(digits_path, stage, format="dot").startswith("digraph")


def test_inspect_refuses(digits_path):
    for arguments in ({"stage": "pla"}, {"stage": "plan", "format": "tex"}):
        with pytest.raises(mica.Error) as caught:
            mica.inspect(digits_path, **arguments)
        assert caught.value.code == 6001
    with pytest.raises(mica.Error):
        mica.inspect(digits_path.read_bytes(), "graph")


def test_compare(digits_path, held_back):
    model = mica.load(digits_path)
    report = mica.compare(model)
    assert not report.different and report.compared > 0 and report.first is None
    report = mica.compare(digits_path, mica.load(digits_path, isa="portable"), {"image": held_back[0]})
    assert not report.different and report.outputs[0].elements == held_back[0].shape[0] * 10


CHAIN = """graph "chain"
  input %x: f32[4] "x"
  %h = neg(%x)
  %y = NAME(%h)
  output %y "y"
end
"""


def test_compare_finds_what_differs(graph):
    a, b = (graph(CHAIN.replace("NAME", name)) for name in ("abs", "relu"))
    x = np.array([-1, 2, 3, 4], np.float32)
    report = mica.compare(a, b, {"x": x})
    assert report.different and report.outputs[0].different and report.outputs[0].name == "y"
    assert (report.outputs[0].wrong, report.outputs[0].elements, report.outputs[0].max_abs) == (3, 4, 4)
    assert not mica.compare(a, b, {"x": -np.abs(x)}).different
    nothing = mica.compare(a, a, {"x": np.full(4, np.nan, np.float32)})
    assert nothing.shows_nothing and not nothing.different and not report.shows_nothing


def test_bench_and_profile(digits_path):
    report = mica.bench(digits_path, seconds=0.05, layers=True, threads=1)
    assert 0 < report.min_ms <= report.median_ms <= report.p90_ms and report.runs > 0
    assert report.flops and len(report.layers) == mica.inspect(digits_path)["stages"] or report.layers
    layers = mica.load(digits_path).profile(image=np.zeros((1, 1, 8, 8), np.float32))
    assert layers[0].op == "conv" and layers[0].ms > 0 and abs(sum(layer.share for layer in layers) - 1) < 1e-6


CACHE = """graph "cache"
  symbol P bounded 3
  input %x: f32[1,2] "x"
  input %h: f32[P,2] "h"
  %n = concat(%h, %x) axis=0
  %e = exp(%n)
  output %n "n"
  output %e "e"
  state "n" "h"
end
"""


def test_a_state_that_grows_is_measured_from_the_same_beginning(graph):
    model = mica.load(graph(CACHE))
    x = np.ones((1, 2), np.float32)
    assert mica.bench(model, {"x": x}, seconds=0.01, layers=True).runs > 3
    assert model.profile(x)[-1].flops == 2
    assert model.profile(x=x, h=np.ones((2, 2), np.float32))[-1].flops == 6
    assert model(x)["n"].shape == (3, 2)


@pytest.mark.parametrize("seconds", [-1, float("nan"), float("inf")])
def test_bench_takes_a_time(digits_path, seconds):
    with pytest.raises(mica.Error) as caught:
        mica.bench(digits_path, seconds=seconds)
    assert caught.value.code == 6001


def test_random_inputs(digits_path):
    model = mica.load(digits_path)
    assert mica.random_inputs(model)["image"].shape == (1, 1, 8, 8)
    wide = mica.random_inputs(model, shapes={"image": (5, 1, 8, 8)})["image"]
    assert wide.shape == (5, 1, 8, 8) and wide.dtype == np.float32 and np.abs(wide).max() <= 1
    assert (mica.random_inputs(model, 3)["image"] == mica.random_inputs(model, 3)["image"]).all()


def test_convert(digits_path, tmp_path):
    out = tmp_path / "a.mica"
    report = mica.convert(digits_path.read_bytes(), out, shapes={"image": (2, 1, 8, 8)})
    assert report["parameters"] == 19180
    assert mica.load(out).inputs[0].shape == (2, 1, 8, 8)
    before = out.read_bytes()
    with pytest.raises(mica.Error) as caught:
        mica.convert(b"no model", out)
    assert caught.value.code == 1001 and out.read_bytes() == before
    assert os.listdir(tmp_path) == ["a.mica"]
    with pytest.raises(mica.Error) as caught:
        mica.load(out, strict=True)
    assert caught.value.code == 6001


@pytest.mark.parametrize(
    "options, code",
    [({"preprocess": '{"size": [0, 0]}'}, 6001), ({"preprocess": "{bad"}, 6001), ({"rules_off": ["x"]}, 6002),
     ({"keep": ["x"]}, 6002)],
)
def test_convert_refuses_what_cannot_be(digits_path, tmp_path, options, code):
    with pytest.raises(mica.Error) as caught:
        mica.convert(digits_path, tmp_path / "a.mica", **options)
    assert caught.value.code == code and not os.listdir(tmp_path)


def test_convert_does_not_write_over_its_source(digits_path, tmp_path):
    source, link = tmp_path / "a.onnx", tmp_path / "b.onnx"
    source.write_bytes(digits_path.read_bytes())
    link.symlink_to(source.name)
    for out in (source, link):
        with pytest.raises(mica.Error) as caught:
            mica.convert(source, out)
        assert caught.value.code == 6001 and source.read_bytes() == digits_path.read_bytes()
