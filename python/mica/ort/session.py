"""InferenceSession."""
from __future__ import annotations

import os
import warnings
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from .. import _load
from .._error import Error
from .._model import Port
from .capi.onnxruntime_pybind11_state import InvalidArgument, MissingInputs, translated
from .options import RunOptions, SessionOptions
from .types import spelled
from .value import OrtValue, array_at, check_device, elements

Feed = Mapping[str, Any]


class NodeArg:
    """An input or output: name, type as "tensor(float)", and shape with names for lengths that depend on the run, None
    where the model has no name for one."""

    def __init__(self, port: Port | _MapInput, made_up: Collection[str], keys: str | None = None) -> None:
        self.name = port.name
        self.shape: list[int | str | None] = []
        if isinstance(port, _MapInput):
            self.type = port.type
            return
        self.type = spelled(port)
        if keys is not None:
            self.type = f"seq(map({keys},{self.type}))"
            return
        self.shape = [None if axis in made_up else axis for axis in port.shape or ()]

    def __repr__(self) -> str:
        return f"NodeArg(name={self.name!r}, type={self.type!r}, shape={self.shape})"

    __str__ = __repr__


class ModelMetadata:
    """What the model says of itself."""

    def __init__(self, metadata: dict[str, str]) -> None:
        self.custom_metadata_map = {k: v for k, v in metadata.items() if k != "producer" and not k.startswith("onnx.")}
        self.producer_name = metadata.get("onnx.producer_name", metadata.get("producer", ""))
        self.graph_name = metadata.get("onnx.graph_name", "")
        self.graph_description = metadata.get("onnx.graph_description", "")
        self.description = metadata.get("onnx.description", "")
        self.domain = metadata.get("onnx.domain", "")
        self.version = int(metadata.get("onnx.model_version", str(2**63 - 1)))


Keys = tuple[str, list[Any]]  # "int64" or "string", and what they are
_OF_MAP = "onnx.map."


class _MapInput:
    """An input that is a map in the source model, and comes to Mica as two lists, NAME.keys and NAME.values."""

    def __init__(self, name: str, keys: Port, values: Port) -> None:
        self.name, self.keys, self.values = name, keys, values
        self.type = f"map({spelled(keys)[len('tensor(') : -1]},{spelled(values)})"

    def split(self, value: Any) -> dict[str, Any]:
        """The two lists of a dict. Errors: InvalidArgument."""
        text = self.keys.element == "string"
        if not isinstance(value, Mapping):
            raise InvalidArgument(6001, f"input `{self.name}` is a map, got {type(value).__name__}", hint="give a dict")
        wrong = [key for key in value if isinstance(key, str) != text]
        if wrong:
            raise InvalidArgument(3002, f"the map `{self.name}` has {self.keys.element} keys, got {wrong[0]!r}")
        keys = np.array(list(value), object if text else np.int64)
        try:
            values = np.array(list(value.values()), self.values.dtype)
        except (TypeError, ValueError) as error:
            raise InvalidArgument(3002, f"the map `{self.name}`: {error}") from error
        return {self.keys.name: keys, self.values.name: values}


def _map_inputs(ports: Sequence[Port], metadata: Mapping[str, str]) -> dict[str, _MapInput]:
    """By name."""
    known = {port.name: port for port in ports}
    names = [key[len(_OF_MAP) :] for key in metadata if key.startswith(_OF_MAP)]
    pairs = ((name, known.get(f"{name}.keys"), known.get(f"{name}.values")) for name in names)
    return {name: _MapInput(name, keys, values) for name, keys, values in pairs if keys and values}


def _keys_of(metadata: Mapping[str, str]) -> dict[str, Keys]:
    """By output that is a list of maps in the source model (ZipMap)."""
    made: dict[str, Keys] = {}
    for name, text in metadata.items():
        if name.startswith("onnx.zipmap."):
            kind, *keys = text.split("\n")
            made[name[len("onnx.zipmap.") :]] = (kind, [int(key) for key in keys] if kind == "int64" else list(keys))
    return made


def _maps(scores: Any, keys: list[Any]) -> list[dict[Any, float]]:
    """A map for each row of scores."""
    rows = scores.reshape(-1, scores.shape[-1]) if scores.ndim else scores.reshape(1, 1)
    if rows.shape[1] != len(keys):
        raise InvalidArgument(3001, f"{rows.shape[1]} scores for {len(keys)} keys")
    return [dict(zip(keys, row)) for row in rows.tolist()]


_PROVIDERS = ("CPUExecutionProvider",)


def _check_providers(providers: Sequence[Any] | None) -> None:
    """Warns of those that are not there. Errors: ValueError."""
    for provider in [providers] if isinstance(providers, (str, bytes)) else providers or ():
        name = provider[0] if isinstance(provider, tuple) and provider else provider
        if not isinstance(name, str) or isinstance(providers, str):
            raise ValueError(f"providers are a list of names or of (name, options), got {providers!r}")
        if name not in _PROVIDERS:
            warnings.warn(
                f"Specified provider '{name}' is not in available provider names. "
                f"Available providers: '{', '.join(_PROVIDERS)}'. The model runs on the processor.",
                stacklevel=3,
            )


class InferenceSession:
    """A model that is ready to run, with the interface of onnxruntime's class of this name.

    path_or_bytes: a path, bytes, or an onnx.ModelProto.
    providers: names, or pairs of a name and options. Models run on the processor: of each other provider a UserWarning
        says that it is not there, as onnxruntime's does.
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
        _check_providers(providers)
        self._options = sess_options or SessionOptions()
        threads = max(int(self._options.intra_op_num_threads), 0)
        folder = self._options._entries.get("session.model_external_initializers_file_folder_path")
        try:
            self._model = _load.load(path_or_bytes, threads=threads, folder=folder)
            shapes = self._fixed_shapes(self._options._dimensions)
            if shapes:
                self._model = _load.load(path_or_bytes, threads=threads, folder=folder, shapes=shapes)
        except Error as error:
            raise translated(error, loading=True) from error
        # Mica's names for the axes of inputs that have none.
        self._made_up = {f"{port.name}_{i}" for port in self._model.inputs for i in range(len(port.shape or ()))}
        self._keys = _keys_of(self._model.metadata)
        self._maps = _map_inputs(self._model.inputs, self._model.metadata)
        of_map = {port.name: given for given in self._maps.values() for port in (given.keys, given.values)}
        self._inputs = list(dict.fromkeys(of_map.get(port.name, port) for port in self._model.inputs))
        self._needed = [port.name for port in self._inputs if not port.type.startswith("opt(")]

    def _fixed_shapes(self, sizes: Mapping[str, int]) -> dict[str, list[int]]:
        shapes = {}
        for port in self._model.inputs:
            if port.shape and any(axis in sizes for axis in port.shape if isinstance(axis, str)):
                known = [sizes.get(axis, -1) if isinstance(axis, str) else axis for axis in port.shape]
                shapes[port.name] = [-1 if axis is None else axis for axis in known]
        return shapes

    def get_inputs(self) -> list[NodeArg]:
        return [NodeArg(port, self._made_up) for port in self._inputs]

    def get_outputs(self) -> list[NodeArg]:
        return [NodeArg(port, self._made_up, self._keys.get(port.name, (None,))[0]) for port in self._model.outputs]

    def get_overridable_initializers(self) -> list[NodeArg]:
        """None: constants are the model's."""
        return []

    def get_modelmeta(self) -> ModelMetadata:
        return ModelMetadata(self._model.metadata)

    def get_providers(self) -> list[str]:
        return list(_PROVIDERS)

    def get_provider_options(self) -> dict[str, dict[str, str]]:
        return {"CPUExecutionProvider": {}}

    def set_providers(self, providers: Any = None, provider_options: Any = None) -> None:
        """There is one provider: as those given to the constructor."""
        _check_providers(providers)

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
        return self._run(output_names, input_feed, run_options, None)

    def _run(
        self,
        output_names: Sequence[str] | None,
        feed: Feed,
        run_options: RunOptions | None,
        out: Mapping[str, Any] | None,
    ) -> list[Any]:
        missing = [name for name in self._needed if name not in feed]
        if missing:
            given = ", ".join(f"`{name}`" for name in feed)
            raise MissingInputs(6001, f"required inputs {missing} are missing", hint=f"given are {given}")
        names = list(output_names) if output_names else [port.name for port in self._model.outputs]
        try:
            values: dict[str, Any] = {}
            for name, value in feed.items():
                values |= self._maps[name].split(value) if name in self._maps else {name: elements(value)}
            found = self._model._run(values, names, out=out, stop=run_options._stop if run_options else None)
        except Error as error:
            raise translated(error) from error
        return [_maps(found[name], self._keys[name][1]) if name in self._keys else found[name] for name in names]

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


def _memory(
    name: str, element_type: Any = None, shape: Sequence[int] | None = None, buffer_ptr: int | None = None
) -> Any:
    if buffer_ptr is None:
        return None
    if shape is None or element_type is None:
        raise InvalidArgument(6001, f"the memory for `{name}` needs element_type and shape")
    return array_at(buffer_ptr, element_type, shape)


class IOBinding:
    """Inputs and outputs that are bound beforehand. Memory that is bound is read and written in place."""

    def __init__(self, session: InferenceSession) -> None:
        self._session = session
        self._inputs: dict[str, Any] = {}
        self._outputs: dict[str, OrtValue | None] = {}
        self._results: list[OrtValue] = []

    def bind_cpu_input(self, name: str, arr_on_cpu: Any) -> None:
        """An array, which is read at each run."""
        self._inputs[name] = arr_on_cpu

    def bind_ortvalue_input(self, name: str, ortvalue: OrtValue) -> None:
        """A value, which is read at each run."""
        self._inputs[name] = ortvalue

    def bind_input(self, name: str, device_type: str, device_id: int, *memory: Any, **named: Any) -> None:
        """Memory by element_type, shape and buffer_ptr: dense, and alive as long as it is bound."""
        check_device(device_type)
        place = _memory(name, *memory, **named)
        if place is None:
            raise InvalidArgument(6001, f"input `{name}` needs element_type, shape and buffer_ptr")
        self._inputs[name] = place

    def bind_output(
        self, name: str, device_type: str = "cpu", device_id: int = 0, *memory: Any, **named: Any
    ) -> None:
        """An output that is wanted, in memory of its own; or in memory given as for `bind_input`."""
        check_device(device_type)
        place = _memory(name, *memory, **named)
        self._outputs[name] = None if place is None else OrtValue(place)

    def bind_ortvalue_output(self, name: str, ortvalue: OrtValue) -> None:
        """A value of the type and shape that the run gives."""
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
        """The outputs of the last run, in the order in which they were bound."""
        return self._results

    def get_outputs_as_ortvaluevector(self) -> list[OrtValue]:
        """As `get_outputs`."""
        return self._results

    def copy_outputs_to_cpu(self) -> list[Any]:
        """The outputs of the last run as arrays."""
        return [value.numpy() for value in self._results]

    def _run(self, run_options: RunOptions | None) -> None:
        places = {name: value for name, value in self._outputs.items() if value is not None}
        out = {name: value.numpy() for name, value in places.items()}
        found = self._session._run(list(self._outputs), self._inputs, run_options, out)
        names = self._outputs or [port.name for port in self._session._model.outputs]
        self._results = [places.get(name) or OrtValue(value) for name, value in zip(names, found)]
