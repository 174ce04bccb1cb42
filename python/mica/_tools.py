"""The verbs of the command line as functions."""
from __future__ import annotations

import dataclasses
import os
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from . import _mica
from ._dtypes import PACKED_BITS, STRING
from ._error import Error
from ._load import Context, bytes_of, convert_options, load, path_of
from ._model import Layer, Model, Port, Session


def convert(
    source: Any,
    out: str | os.PathLike[str],
    *,
    context: Context | None = None,
    folder: str | os.PathLike[str] | None = None,
    **options: Any,
) -> dict[str, Any]:
    """Compiles a source model into a `.mica` file, which is written under a temporary name first.

    source: as `load` takes it. options: those of `ConvertKeywords`.
    Returns counts: nodes_imported, nodes_decluttered, stages, rules_fired by name, parameters, constant_bytes,
    file_bytes, weight_bytes.
    Errors: 1001, 1002, 6001, 6002, 7001; TypeError for an unknown option.
    """
    if context is not None and not isinstance(context, Context):
        raise TypeError(f"context is a mica.Context, got {context!r}")
    core = (context or Context(1))._core
    made = convert_options(options)
    path = path_of(source)
    if path is not None:
        return _mica.convert(core, path, os.fspath(out), made)
    with tempfile.TemporaryDirectory(dir=folder) as place:
        file = Path(place) / "model"
        file.write_bytes(bytes_of(source))
        return _mica.convert(core, os.fspath(file), os.fspath(out), made)


def _model_of(source: Any, options: Mapping[str, Any]) -> Model:
    if isinstance(source, Model):
        if options:
            raise Error(6001, "a model that is loaded takes no options", hint="give them to mica.load")
        return source
    return load(source, **options)


def inspect(
    source: Any,
    stage: str | None = None,
    *,
    format: str = "text",
    constants: bool = False,
    inputs: Mapping[str, Any] | None = None,
    **options: Any,
) -> Any:
    """What a model is, at any stage.

    source: a `Model`, or what `load` takes; options: those of `load`.
    stage: None gives a summary as a dict. "import" and "graph" (a source model by its path), "plan", and "bound" (to
        the shapes of `inputs`, open axes being 1 without them) give text in a format: "text", "json", "dot" or "html".
    constants: text with constants in full, so that it can be read back.
    Errors: those of `load`, and 6001 for an unknown stage or format.
    """
    if stage is None:
        return _summary(_model_of(source, options))
    form = _mica.InspectOptions(stage, format, constants)
    if stage in ("import", "graph"):
        path = path_of(source)
        if path is None:
            raise Error(6001, f"stage `{stage}` is shown of a source model by its path")
        return _mica.inspect_source(Context(1)._core, path, convert_options(options), form)
    if stage not in ("plan", "bound"):
        raise Error(6001, f"`{stage}` is no stage of a model", hint="import, graph, plan and bound are")
    model = _model_of(source, options)
    if stage == "plan":
        return _mica.inspect_plan(model._core, form)
    feed = model._signature.feed((), inputs if inputs is not None else random_inputs(model))
    return _mica.inspect_bound(model.session()._live, feed, form)


def _summary(model: Model) -> dict[str, Any]:
    made: dict[str, Any] = {
        "inputs": model.inputs,
        "outputs": model.outputs,
        "states": model.states,
        "metadata": model.metadata,
    }
    made.update(_mica.summary(model._core))
    return made


def random_inputs(
    model: Model, seed: int = 0, shapes: Mapping[str, tuple[int, ...]] | None = None
) -> dict[str, Any]:
    """An input for every port but the states': floats uniform in [-1, 1), integers and truth values 0 or 1, texts "a".

    shapes: input → shape. Other axes that are open are 1, and those of one name are equally long.
    """
    generator = np.random.default_rng(seed)
    lengths: dict[str, int] = {}
    for port in model.inputs:
        for name, length in zip(port.shape or (), (shapes or {}).get(port.name, ())):
            if isinstance(name, str):
                lengths[name] = length
    made: dict[str, Any] = {}
    for i, port in enumerate(model.inputs):
        if model._signature.is_state[i]:
            continue
        if not port.is_tensor:
            made[port.name] = None if port.type.startswith("opt(") else []
            continue
        dims = [n if isinstance(n, int) else lengths.get(str(n), 1) for n in port.shape or ()]
        made[port.name] = _random(port, (shapes or {}).get(port.name, tuple(dims)), generator)
    return made


def _random(port: Port, shape: tuple[int, ...], generator: np.random.Generator) -> Any:
    if port._code == STRING:
        return np.full(shape, "a", dtype=object)
    if port.element[0] in "fb" and port.element != "bool" and port._code not in PACKED_BITS:
        return generator.uniform(-1, 1, shape).astype(port.dtype)
    return generator.integers(0, 2, shape).astype(port.dtype)


@dataclasses.dataclass(frozen=True)
class BenchReport:
    """Milliseconds of a run: median, least, ninth decile, mean and standard deviation, and of the first one; how many
    ran. With layers: floating-point operations of a run and its stages."""

    median_ms: float
    min_ms: float
    p90_ms: float
    mean_ms: float
    deviation_ms: float
    first_ms: float
    runs: int
    flops: int | None = None
    layers: tuple[Layer, ...] = ()


def bench(
    source: Any,
    inputs: Mapping[str, Any] | None = None,
    *,
    seconds: float = 2.0,
    layers: bool = False,
    progress: Callable[[float], object] | None = None,
    **options: Any,
) -> BenchReport:
    """Measures a model on inputs, or on `random_inputs`, for about so many seconds; `layers` times the stages too.
    Every run begins from the same states: the first, or those among the inputs.

    progress: called with the share that is done, 0 to 1, ten times a second; what it raises ends the measurement.
    source: a `Model`, or what `load` takes; options: those of `load`. Errors: those of `load` and of a call,
        6001 for seconds that are no number from 0 to 10^6.
    """
    model = _model_of(source, options)
    feed = model._signature.feed((), inputs if inputs is not None else random_inputs(model))
    found = _mica.bench(model.session()._live, feed, seconds, layers, progress)
    found["layers"] = tuple(Layer(*row) for row in found.get("layers", ()))
    return BenchReport(**found)


@dataclasses.dataclass(frozen=True)
class ValueDifference:
    """A value in two forms of a model. reason: another type or shape, else ""; max_abs: largest |a - b|; max_ref:
    largest |a|; rms of a - b; elements, and those beyond the tolerance; nan: NaN in one only; same_best: the largest
    element stands at the same place; different: the verdict."""

    name: str
    reason: str
    max_abs: float
    max_ref: float
    rms: float
    elements: int
    wrong: int
    nan: bool
    same_best: bool
    different: bool


@dataclasses.dataclass(frozen=True)
class CompareReport:
    """Whether two forms of a model differ, in which outputs, and in which stage of the second first (None: in none that
    both forms have; `compared` of them were). shows_nothing: none differs, but nothing finite was
    compared, NaN alone."""

    different: bool
    outputs: tuple[ValueDifference, ...]
    compared: int
    first: ValueDifference | None
    first_stage: str
    first_op: str
    first_kernel: str
    shows_nothing: bool = False


def _side(source: Any) -> Session:
    """A session that is given, and a new one of anything else."""
    if isinstance(source, Session) and not isinstance(source, Model):
        return source
    return _model_of(source, {}).session()


def compare(
    a: Any,
    b: Any = None,
    inputs: Mapping[str, Any] | None = None,
    *,
    tolerance: tuple[float, float] = (1e-4, 1e-6),
    stages: bool = True,
) -> CompareReport:
    """Two forms of a model on the same inputs: `a` is what is right, `b` is held against it.

    Each is a `Model`, a `Session`, or what `load` takes. Without `b`, `a` is held against its own reference.
    inputs: by name; without them `random_inputs` of `a`.
    tolerance: (relative, absolute). An element differs when |a - b| > max(absolute, relative * max|a|), or when one is
        NaN and the other is not.
    stages: values inside too. Errors: those of `load` and of a call.
    """
    if b is None:
        b = _model_of(a, {})
        a = b.session(reference=True)
    elif not isinstance(a, Session):
        a = load(a)
    if inputs is None:
        inputs = random_inputs(a if isinstance(a, Model) else _model_of(b, {}))
    sides = [_side(side) for side in (a, b)]
    feeds = [side._signature.feed((), inputs) for side in sides]
    options = _mica.CompareOptions(*tolerance, stages)
    found = _mica.compare(sides[0]._live, sides[1]._live, (feeds[0], feeds[1]), options)
    found["outputs"] = tuple(ValueDifference(*row) for row in found["outputs"])
    found["first"] = None if found["first"] is None else ValueDifference(*found["first"])
    return CompareReport(**found)
