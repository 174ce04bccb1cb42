"""InferenceSession."""
from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any


from .. import _load
from .._error import Error
from .._model import Port
from .capi.onnxruntime_pybind11_state import InvalidArgument, translated
from .options import RunOptions, SessionOptions
from .types import spelled
from .value import OrtValue, check_device

Feed = Mapping[str, Any]


class NodeArg:
    """An input or output: name, type as "tensor(float)", and shape with names for lengths that depend on the run."""

    def __init__(self, port: Port) -> None:
        self.name = port.name
        self.type = spelled(port)
        self.shape = list(port.shape or ())

    def __repr__(self) -> str:
        return f"NodeArg(name={self.name!r}, type={self.type!r}, shape={self.shape})"

    __str__ = __repr__


class ModelMetadata:
    """What the model says of itself."""

    def __init__(self, metadata: dict[str, str]) -> None:
        self.custom_metadata_map = {k: v for k, v in metadata.items() if k != "producer"}
        self.producer_name = metadata.get("producer", "")
        self.graph_name = metadata.get("graph_name", "")
        self.graph_description = ""
        self.description = metadata.get("description", "")
        self.domain = metadata.get("domain", "")
        self.version = 0


class InferenceSession:
    """A model that is ready to run, with the interface of onnxruntime's class of this name.

    path_or_bytes: a path, bytes, or an onnx.ModelProto.
    providers: those that this build does not have are passed over; one that it has must be among them.
    Errors: NoSuchFile, InvalidProtobuf, InvalidGraph, NotImplemented (naming every node without support).
    """

    def __init__(
        self,
        path_or_bytes: str | bytes | os.PathLike[str] | Any,
        sess_options: SessionOptions | None = None,
        providers: Sequence[Any] | None = None,
        provider_options: Sequence[Any] | None = None,
        **unused: Any,
    ) -> None:
        self._options = sess_options or SessionOptions()
        threads = max(int(self._options.intra_op_num_threads), 0)
        try:
            self._model = _load.load(path_or_bytes, threads=threads)
            shapes = self._fixed_shapes(self._options._dimensions)
            if shapes:
                self._model = _load.load(path_or_bytes, threads=threads, shapes=shapes)
        except Error as error:
            raise translated(error, loading=True) from error

    def _fixed_shapes(self, sizes: Mapping[str, int]) -> dict[str, list[int]]:
        shapes = {}
        for port in self._model.inputs:
            if port.shape and any(axis in sizes for axis in port.shape if isinstance(axis, str)):
                known = [sizes.get(axis, -1) if isinstance(axis, str) else axis for axis in port.shape]
                shapes[port.name] = [-1 if axis is None else axis for axis in known]
        return shapes

    def get_inputs(self) -> list[NodeArg]:
        return [NodeArg(port) for port in self._model.inputs]

    def get_outputs(self) -> list[NodeArg]:
        return [NodeArg(port) for port in self._model.outputs]

    def get_overridable_initializers(self) -> list[NodeArg]:
        return []

    def get_modelmeta(self) -> ModelMetadata:
        return ModelMetadata(self._model.metadata)

    def get_providers(self) -> list[str]:
        return ["CPUExecutionProvider"]

    def get_provider_options(self) -> dict[str, dict[str, str]]:
        return {"CPUExecutionProvider": {}}

    def set_providers(self, providers: Any = None, provider_options: Any = None) -> None:
        """Accepted: there is one provider."""

    def get_session_options(self) -> SessionOptions:
        return self._options

    def disable_fallback(self) -> None:
        """Accepted: there is one provider."""

    def enable_fallback(self) -> None:
        """Accepted: there is one provider."""

    def run(
        self, output_names: Sequence[str] | None, input_feed: Feed, run_options: RunOptions | None = None
    ) -> list[Any]:
        """The outputs that are named, or all, in order.

        Errors: InvalidArgument for missing or unknown inputs, a wrong type or shape; RuntimeException.
        """
        if run_options is not None and run_options.terminate:
            raise translated(Error(4002, "the run options say that the run is to end"))
        try:
            names = list(output_names) if output_names else [port.name for port in self._model.outputs]
            feed = {name: self._fitting(name, value) for name, value in input_feed.items()}
            found = self._model.run(feed, names)
        except Error as error:
            raise translated(error) from error
        return [found[name] for name in names]

    def _fitting(self, name: str, value: Any) -> Any:
        return value.numpy() if isinstance(value, OrtValue) else value

    def run_with_ort_values(
        self, output_names: Sequence[str] | None, input_dict_ort_values: Feed, run_options: RunOptions | None = None
    ) -> list[OrtValue]:
        """As `run`, on OrtValues."""
        return [OrtValue(value) for value in self.run(output_names, input_dict_ort_values, run_options)]

    def run_async(
        self, output_names: Sequence[str] | None, input_feed: Feed, callback: Any, user_data: Any, options: Any = None
    ) -> None:
        """Runs, and calls callback(results, user_data, error text) before it returns."""
        try:
            results = self.run(output_names, input_feed, options)
        except Error as error:
            callback([], user_data, str(error))
        else:
            callback(results, user_data, "")

    def io_binding(self) -> IOBinding:
        return IOBinding(self)

    def run_with_iobinding(self, iobinding: IOBinding, run_options: RunOptions | None = None) -> None:
        """Runs on what is bound, and puts the outputs where they are bound to."""
        iobinding._run(run_options)

    def end_profiling(self) -> str:
        """Accepted: `mica.Model.profile` measures. Returns no file's name."""
        return ""


class IOBinding:
    """Inputs and outputs that are bound beforehand."""

    def __init__(self, session: InferenceSession) -> None:
        self._session = session
        self._inputs: dict[str, Any] = {}
        self._outputs: dict[str, Any] = {}
        self._results: list[OrtValue] = []

    def bind_cpu_input(self, name: str, arr_on_cpu: Any) -> None:
        self._inputs[name] = arr_on_cpu

    def bind_ortvalue_input(self, name: str, ortvalue: OrtValue) -> None:
        self._inputs[name] = ortvalue

    def bind_input(self, name: str, *place: Any, **keywords: Any) -> None:
        """Not offered: an address has no owner. Errors: InvalidArgument."""
        raise InvalidArgument(6001, "inputs are not bound by address", hint="use bind_cpu_input or bind_ortvalue_input")

    def bind_output(self, name: str, device_type: str = "cpu", *place: Any, **keywords: Any) -> None:
        check_device(device_type)
        self._outputs[name] = None

    def bind_ortvalue_output(self, name: str, ortvalue: OrtValue) -> None:
        self._outputs[name] = ortvalue

    def clear_binding_inputs(self) -> None:
        self._inputs.clear()

    def clear_binding_outputs(self) -> None:
        self._outputs.clear()

    def synchronize_inputs(self) -> None:
        """Nothing to wait for."""

    def synchronize_outputs(self) -> None:
        """Nothing to wait for."""

    def get_outputs(self) -> list[OrtValue]:
        return self._results

    def copy_outputs_to_cpu(self) -> list[Any]:
        return [value.numpy() for value in self._results]

    def _run(self, run_options: RunOptions | None) -> None:
        names = list(self._outputs)
        self._results = self._session.run_with_ort_values(names or None, self._inputs, run_options)
        for i, name in enumerate(names):
            place = self._outputs[name]
            if isinstance(place, OrtValue):
                place.update_inplace(self._results[i].numpy())
                self._results[i] = place


