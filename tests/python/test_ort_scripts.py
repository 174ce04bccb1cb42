"""Scripts written for onnxruntime, run unchanged but for their imports; where onnxruntime is installed, its words too.

Scripts of ort_scripts get a model by their first argument and print what they find. What a script prints with Mica must
be what it prints with onnxruntime, to the letter; the test has that as text for machines without onnxruntime.
"""
import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper, numpy_helper

SCRIPTS = sorted((Path(__file__).parent / "ort_scripts").glob("*.py"))
WITHOUT = importlib.util.find_spec("onnxruntime") is None


def with_mica(source):
    """The same script with its imports changed, and nothing else."""
    lines = []
    for line in source.splitlines():
        line = re.sub(r"^import onnxruntime$", "import mica.ort as onnxruntime", line)
        lines.append(re.sub(r"^(import|from) onnxruntime\b", r"\1 mica.ort", line))
    return "\n".join(lines) + "\n"


def decoder(path):
    """One head of attention over a cache that grows, between an embedding and logits of five tokens."""
    random = np.random.default_rng(8)
    constants = {"table": (5, 4), "wq": (4, 4), "wk": (4, 4), "wv": (4, 4), "wo": (4, 5)}
    value = helper.make_tensor_value_info
    nodes = [
        helper.make_node("Gather", ["table", "token"], ["h"]),
        *(helper.make_node("MatMul", ["h", f"w{c}"], [c]) for c in "qkv"),
        helper.make_node("Concat", ["past_key", "k"], ["key"], axis=1),
        helper.make_node("Concat", ["past_value", "v"], ["value"], axis=1),
        helper.make_node("Transpose", ["key"], ["kt"], perm=[0, 2, 1]),
        helper.make_node("MatMul", ["q", "kt"], ["s"]),
        helper.make_node("Softmax", ["s"], ["p"], axis=-1),
        helper.make_node("MatMul", ["p", "value"], ["o"]),
        helper.make_node("Add", ["o", "h"], ["r"]),
        helper.make_node("MatMul", ["r", "wo"], ["logits"]),
    ]
    cache = [value(n, TensorProto.FLOAT, [1, "past", 4]) for n in ("past_key", "past_value")]
    grown = [value(n, TensorProto.FLOAT, [1, "total", 4]) for n in ("key", "value")]
    graph = helper.make_graph(
        nodes,
        "decoder",
        [value("token", TensorProto.INT64, [1, 1]), *cache],
        [value("logits", TensorProto.FLOAT, [1, 1, 5]), *grown],
        [numpy_helper.from_array(random.normal(size=s).astype(np.float32) * 2, n) for n, s in constants.items()],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_script(script, tmp_path, digits_path):
    model = decoder(tmp_path / "decoder.onnx") if script.stem == "decoder" else digits_path
    changed = tmp_path / script.name
    changed.write_text(with_mica(script.read_text()))
    (tmp_path / "onnxruntime.py").write_text("raise ImportError('not the real one')\n")
    assert run(changed, model) == script.with_suffix(".txt").read_text()


@pytest.mark.skipif(WITHOUT, reason="the package onnxruntime is not installed")
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_what_onnxruntime_says(script, tmp_path, digits_path):
    model = decoder(tmp_path / "decoder.onnx") if script.stem == "decoder" else digits_path
    assert run(script, model) == script.with_suffix(".txt").read_text()


def run(script, model):
    done = subprocess.run([sys.executable, str(script), str(model)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout
