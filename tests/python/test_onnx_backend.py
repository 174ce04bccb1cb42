"""The ONNX project's own test runner over mica.onnx_backend.

Nothing is skipped but models that would be downloaded, CUDA, and what tests/onnx_suite/exceptions.txt names.
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


def exceptions():
    """The patterns that hold for the release of onnx that is installed: those above the heading of an older one."""
    patterns = []
    for line in EXCEPTIONS.read_text().splitlines():
        if line.startswith("# Release"):
            break
        pattern = line.split("#")[0].strip()
        if pattern:
            patterns.append(re.compile(fnmatch.translate(pattern)[:-2] + "_cpu$"))
    return patterns


class Runner(onnx.backend.test.BackendTest):
    """The runner compares the items of a sequence by their len(), which an array without axes does not have."""

    @classmethod
    def assert_similar_outputs(cls, ref_outputs, outputs, rtol, atol, model_dir=None):
        if isinstance(ref_outputs, np.ndarray) and ref_outputs.ndim == 0:
            ref_outputs, outputs = [ref_outputs], [outputs]
        super().assert_similar_outputs(ref_outputs, outputs, rtol, atol, model_dir)


runner = Runner(mica.onnx_backend, __name__)
for pattern in exceptions():
    runner.exclude(pattern.pattern)
for case in load_model_tests(kind="real"):
    if case.url and not case.url.startswith("onnx/backend/test/data/light/"):
        runner.exclude(f"^{case.name}_")
runner.exclude("_cuda$")
globals().update(runner.test_cases)
