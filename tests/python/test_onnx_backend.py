"""The ONNX project's own test runner over mica.onnx_backend.

Nothing is skipped but models that would be downloaded, CUDA, and what tests/onnx_suite/exceptions.txt names. Of cases
whose results are random, type, shape and statistics are compared.
"""
import fnmatch
import os
import re
import tempfile
from pathlib import Path

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
# The runner keeps the inputs of its small models below this folder.
os.environ.setdefault("ONNX_HOME", tempfile.mkdtemp(prefix="onnx_home"))

import onnx.backend.test
from onnx.backend.test.loader import load_model_tests

import mica.onnx_backend

EXCEPTIONS = Path(__file__).parents[1] / "onnx_suite" / "exceptions.txt"


def exceptions(random):
    """The patterns that hold for the release of onnx that is installed: those above the heading of an older one."""
    patterns = []
    for line in EXCEPTIONS.read_text().splitlines():
        if line.startswith("# Release"):
            break
        pattern, _, reason = line.partition("#")
        if pattern.strip() and reason.strip().startswith("random:") == random:
            patterns.append(fnmatch.translate(pattern.strip())[:-2] + "_cpu$")
    return patterns


def similar_statistics(expected, got):
    """Means and deviations within five standard errors."""
    assert got.shape == expected.shape and got.dtype == expected.dtype
    a, b = got.astype(np.float64), expected.astype(np.float64)
    values = np.concatenate([a.ravel(), b.ravel()])
    assert np.isfinite(values).all()
    assert abs(a.mean() - b.mean()) <= 5 * np.sqrt((a.var() + b.var()) / a.size)
    assert abs(a.std() - b.std()) <= 5 * np.ptp(values) / np.sqrt(2 * a.size)


class Runner(onnx.backend.test.BackendTest):
    """The runner compares the items of a sequence by their len(), which an array without axes does not have."""

    @classmethod
    def assert_similar_outputs(cls, ref_outputs, outputs, rtol, atol, model_dir=None):
        if isinstance(ref_outputs, np.ndarray) and ref_outputs.ndim == 0:
            ref_outputs, outputs = [ref_outputs], [outputs]
        super().assert_similar_outputs(ref_outputs, outputs, rtol, atol, model_dir)


runner = Runner(mica.onnx_backend, __name__)
for pattern in exceptions(random=False):
    runner.exclude(pattern)
for case in load_model_tests(kind="real"):
    if case.url and not case.url.startswith("onnx/backend/test/data/light/"):
        runner.exclude(f"^{case.name}_")
cases = runner.test_cases
for tests in cases.values():
    for name in [name for name in vars(tests) if name.endswith("_cuda")]:
        delattr(tests, name)


def of_random_numbers(case):
    def test(self):
        for inputs, expected in case.data_sets:
            for reference, result in zip(expected, mica.onnx_backend.prepare(case.model).run(inputs)):
                similar_statistics(np.asarray(reference), result)

    return test


for case in load_model_tests(kind="node"):
    if any(re.match(pattern, f"{case.name}_cpu") for pattern in exceptions(random=True)):
        setattr(cases["OnnxBackendNodeModelTest"], f"{case.name}_cpu", of_random_numbers(case))
globals().update(cases)


def test_a_planted_wrong_answer_fails(monkeypatch):
    right = mica.onnx_backend.MicaRep.run
    wrong = lambda self, inputs: tuple(y + 1 for y in right(self, inputs))
    tests = cases["OnnxBackendNodeModelTest"]
    tests("test_add_cpu").test_add_cpu()
    monkeypatch.setattr(mica.onnx_backend.MicaRep, "run", wrong)
    with pytest.raises(AssertionError):
        tests("test_add_cpu").test_add_cpu()


def test_the_backend_refuses_nothing_beforehand():
    assert mica.onnx_backend.supports_device("CPU") and not mica.onnx_backend.supports_device("CUDA")
    model = onnx.helper.make_model(onnx.helper.make_graph([onnx.helper.make_node("None", [], ["y"])], "none", [], []))
    assert mica.onnx_backend.is_compatible(model)
    assert mica.onnx_backend.is_opset_supported(model)[0]
    with pytest.raises(mica.Error):
        mica.onnx_backend.prepare(model)


def test_one_node():
    node = onnx.helper.make_node("Sub", ["a", "b"], ["y"])
    a, b = np.float32([[1, 2], [3, 4]]), np.float32([1, 1])
    np.testing.assert_array_equal(mica.onnx_backend.run_node(node, [a, b])[0], a - b)
    np.testing.assert_array_equal(mica.onnx_backend.run_node(node, {"b": b, "a": a}).y, a - b)
