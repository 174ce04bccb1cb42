"""Mica as a backend of the ONNX project's test runner and tools.

    onnx.backend.test.BackendTest(mica.onnx_backend, __name__)

Needs the package onnx. Devices: "CPU".
"""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import helper
from onnx.backend.base import Backend, BackendRep, namedtupledict

from ._load import Context, load
from ._model import Model


class MicaRep(BackendRep):
    """A model that is ready to run."""

    def __init__(self, model: Model) -> None:
        self._model = model

    def run(self, inputs: Any, **keywords: Any) -> tuple[Any, ...]:
        """The outputs in the model's order, as a named tuple.

        inputs: in the model's order, or by name, or the one there is.
        Errors: mica.Error.
        """
        if isinstance(inputs, Mapping):
            feed = dict(inputs)
        else:
            values = inputs if isinstance(inputs, (list, tuple)) else [inputs]
            feed = {port.name: value for port, value in zip(self._model.inputs, values)}
        found = self._model.run(feed)
        names = [port.name for port in self._model.outputs]
        outputs: tuple[Any, ...] = namedtupledict("Outputs", names)(*(found[name] for name in names))
        return outputs


class MicaBackend(Backend):
    """The functions of onnx.backend.base.Backend. None of them refuses a model beforehand: what cannot be run is an
    error that says why."""

    @classmethod
    def is_compatible(cls, model: onnx.ModelProto, device: str = "CPU", **keywords: Any) -> bool:
        return cls.supports_device(device)

    @classmethod
    def is_opset_supported(cls, model: onnx.ModelProto) -> tuple[bool, str]:
        for opset in model.opset_import:
            if opset.domain in ("", "ai.onnx") and opset.version > onnx.defs.onnx_opset_version():
                return False, f"opset {opset.version} is newer than {onnx.defs.onnx_opset_version()}"
        return True, ""

    @classmethod
    def supports_device(cls, device: str) -> bool:
        return device.split(":")[0].upper() == "CPU"

    @classmethod
    def prepare(cls, model: Any, device: str = "CPU", **keywords: Any) -> MicaRep:
        """model: an onnx.ModelProto, its bytes, or a path. onnx_release: as of mica.load; left out, the package's own.

        Errors: mica.Error; ValueError for another device.
        """
        if not cls.supports_device(device):
            raise ValueError(f"there is no device {device}")
        release = keywords.get("onnx_release", ".".join(onnx.__version__.split(".")[:2]))
        return MicaRep(load(model, context=keywords.get("context") or Context(1), onnx_release=release))

    @classmethod
    def run_model(cls, model: Any, inputs: Any, device: str = "CPU", **keywords: Any) -> tuple[Any, ...]:
        """Prepares and runs."""
        return cls.prepare(model, device, **keywords).run(inputs)

    @classmethod
    def run_node(
        cls,
        node: onnx.NodeProto,
        inputs: Any,
        device: str = "CPU",
        outputs_info: Sequence[tuple[Any, tuple[int, ...]]] | None = None,
        **keywords: Any,
    ) -> tuple[Any, ...]:
        """Runs one node. inputs: by name, or in the order of the node's operands."""
        names = [name for name in node.input if name]
        values = inputs if isinstance(inputs, Mapping) else dict(zip(names, inputs))
        arrays = {name: np.asarray(values[name]) for name in names}
        ports = [
            helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape)
            for n, a in arrays.items()
        ]
        results = [onnx.ValueInfoProto(name=name) for name in node.output if name]
        for result, info in zip(results, outputs_info or ()):
            kind = helper.np_dtype_to_tensor_dtype(np.dtype(info[0]))
            result.CopyFrom(helper.make_tensor_value_info(result.name, kind, info[1]))
        graph = helper.make_graph([node], "node", ports, results)
        version = keywords.get("opset_version", onnx.defs.onnx_opset_version())
        opsets = [helper.make_opsetid("", version)]
        if node.domain not in ("", "ai.onnx"):
            opsets.append(helper.make_opsetid(node.domain, keywords.get("domain_version", 1)))
        return cls.run_model(helper.make_model(graph, opset_imports=opsets), arrays, device)


is_compatible = MicaBackend.is_compatible
is_opset_supported = MicaBackend.is_opset_supported
prepare = MicaBackend.prepare
run_model = MicaBackend.run_model
run_node = MicaBackend.run_node
supports_device = MicaBackend.supports_device
