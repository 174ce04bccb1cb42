"""Mica: an on-device deep-learning engine.

    import mica, numpy as np
    m = mica.load("model.onnx")
    scores = m(input=np.zeros((1, 3, 224, 224), np.float32))["output"]

`load` gives a `Model`; `convert`, `inspect`, `compare` and `bench` are the verbs of the command line as functions.
Every failure of Mica is a `mica.Error` with a number that docs/errors.md explains. `mica.ort` has the interface of
onnxruntime, `mica.onnx_backend` that of onnx.backend.
"""
from ._error import Error
from ._load import Context, ConvertKeywords, LoadKeywords, load
from ._mica import version as _version
from ._model import Layer, Model, Port, Session, State
from ._values import to_dlpack
from ._tools import BenchReport, CompareReport, ValueDifference, bench, compare, convert, inspect, random_inputs

__version__: str = _version()
__all__ = [
    "BenchReport",
    "CompareReport",
    "Context",
    "ConvertKeywords",
    "Error",
    "Layer",
    "LoadKeywords",
    "Model",
    "Port",
    "Session",
    "State",
    "ValueDifference",
    "bench",
    "compare",
    "convert",
    "inspect",
    "load",
    "random_inputs",
    "to_dlpack",
]
