"""From a file or bytes to a model."""
from __future__ import annotations

import json
import operator
import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar, cast

from . import _mica
from ._error import Error
from ._model import Model, names_of

if TYPE_CHECKING:
    from typing_extensions import Unpack


Options = TypeVar("Options", bound=_mica.ConvertOptions)


class ConvertKeywords(TypedDict, total=False):
    """What a person may say about a source model while it is compiled.

    shapes: input → sizes, -1 keeps an axis.
    bounds: named dimension → its largest value.
    states: output → input of the next run.
    outputs: values to return instead of the model's outputs.
    keep: values that must exist at run time.
    rules_off: rewriting rules that must not fire.
    preprocess: a dict, or JSON (docs/preprocessing.md). labels: names of classes.
    pixels: the picture's input takes bytes (u8, channels last); mean, scale and layout are done in the model.
    fuse: activations and residuals into the stages before them.
    strict: declarations that contradict what was inferred are errors.
    onnx_release: as "1.21": the release of ONNX whose definitions are meant, where a later one corrected them within an
        opset (docs/operators.md). Left out: the newest that is known.
    half_weights: a file that is written has weights in half precision, rounded; computing stays in single.
    """

    shapes: Mapping[str, Iterable[int]]
    bounds: Mapping[str, int]
    states: Mapping[str, str]
    outputs: Iterable[str]
    keep: Iterable[str]
    rules_off: Iterable[str]
    preprocess: str | Mapping[str, Any]
    pixels: bool
    labels: Iterable[str]
    fuse: bool
    strict: bool
    onnx_release: str
    half_weights: bool


class LoadKeywords(ConvertKeywords, total=False):
    """How a model runs, and what is said to the compiler.

    threads, isa: see `Context`.
    memory_cap: most bytes of buffers that a session may hold; error 5002 names what is needed.
    deadline: seconds that a run may take; error 4003 past it.
    exact: the same bits on every instruction set with fused multiply-add.
    low_memory: no second, larger form of weights.
    reference: plain loops instead of kernels: slow, the truth that kernels are held against.
    tuning: a file of measured choices, which `mica tune` makes; "": none. Else that of the path with ".tune" behind it,
        when it is there.
    """

    threads: int
    isa: str | None
    memory_cap: int | None
    deadline: float | None
    exact: bool
    low_memory: bool
    reference: bool
    tuning: str | os.PathLike[str] | None


def convert_options(given: Mapping[str, Any]) -> _mica.ConvertOptions:
    """Errors: TypeError for a keyword that there is not."""
    return fill(_mica.ConvertOptions(), given)


def fill(options: Options, given: Mapping[str, Any]) -> Options:
    """Sets what is given. Errors: TypeError for a keyword that there is not or a value of a wrong type, 6001 for a text
    where a list of them belongs."""
    for key, value in given.items():
        if key not in ConvertKeywords.__annotations__:
            raise TypeError(f"`{key}` is no option; known: {', '.join(ConvertKeywords.__annotations__)}")
        try:
            setattr(options, key, _plain(key, value))
        except (TypeError, ValueError, AttributeError):
            annotation = ConvertKeywords.__annotations__[key]
            wanted = getattr(annotation, "__forward_arg__", annotation)
            raise TypeError(f"`{key}` takes {wanted}, got {value!r}") from None
    return options


def _plain(key: str, value: Any) -> Any:
    """An option as the module takes it."""
    if key == "shapes":
        return {name: list(sizes) for name, sizes in value.items()}
    if key in ("bounds", "states"):
        return dict(value)
    if key in ("outputs", "keep", "rules_off", "labels"):
        return names_of(value, key)
    if key == "preprocess" and isinstance(value, Mapping):
        return json.dumps(dict(value))
    return value


class Context:
    """Threads and instruction set, which models may share.

    threads: those that one run uses at most, the caller's included; 0: what the machine grants this process.
    isa: "avx512", "avx2", "sse2", "neon" or "portable"; None: the best that the processor has.
    Errors: 7010 for an instruction set that is not there, 7002.
    """

    def __init__(self, threads: int = 0, isa: str | None = None) -> None:
        if isa is not None and not isinstance(isa, str):
            raise TypeError(f"isa is a name or None, got {isa!r}")
        if not 0 <= operator.index(threads) < 2**31:
            raise Error(6001, f"threads are 0 or more, got {threads}")
        self._core = _mica.Context(operator.index(threads), isa or "")

    @property
    def threads(self) -> int:
        """Threads that one run uses at most, the caller's included."""
        return self._core.threads

    @property
    def isa(self) -> str:
        """The instruction set that is used."""
        return self._core.isa

    @property
    def processor(self) -> str:
        """The processor's name."""
        return self._core.processor


def load(
    source: Any,
    *,
    context: Context | None = None,
    folder: str | os.PathLike[str] | None = None,
    **options: Unpack[LoadKeywords],
) -> Model:
    """Loads a model: a source model, which is compiled, or a `.mica` file, told apart by their bytes.

    source: a path, the bytes, an open file, or anything with SerializeToString, such as an onnx.ModelProto.
    context: threads and instruction set that several models share; else it is made of `threads` and `isa`.
    folder: where external data of a model in memory lies; without it such data is refused.
    options: those of `LoadKeywords` (threads, isa, memory_cap, deadline, exact, low_memory, reference, tuning), and for
        the compiler those of `ConvertKeywords`, as shapes={"input": (1, 3, 224, 224)}.

    Errors: 1001, 1002 (naming every node without support), 2001 to 2003, 6001, 6002, 7001, of `tuning` 2010; TypeError
    for a keyword that there is not.
    """
    given = dict(options)
    threads, isa = given.pop("threads", 0), given.pop("isa", None)
    deadline = cast("float | None", given.pop("deadline", None))
    session = {key: given.pop(key, None) for key in ("memory_cap", "exact", "low_memory", "reference")}
    tuning = cast("str | os.PathLike[str] | None", given.pop("tuning", None))
    compiler = fill(_mica.LoadOptions(), given)
    compiler.tuning = None if tuning is None else os.fspath(tuning)
    if context is None:
        context = Context(cast(int, threads), cast("str | None", isa))
    elif not isinstance(context, Context):
        raise TypeError(f"context is a mica.Context, got {context!r}")
    elif threads or isa:
        raise Error(6001, "threads and isa are the context's", hint="give them to mica.Context")
    path = path_of(source)
    if path is not None:
        core = context._core.load(path, compiler)
    else:
        core = context._core.load_memory(bytes_of(source), "model", os.fspath(folder) if folder else "", compiler)
    return Model(core, session, deadline)


def path_of(source: Any) -> str | None:
    """The path that `source` is, else None."""
    return os.fspath(source) if isinstance(source, (str, os.PathLike)) else None


def bytes_of(source: Any) -> bytes:
    """The bytes of a model in memory. Errors: TypeError."""
    if isinstance(source, (bytes, bytearray, memoryview)):
        return bytes(source)
    for method in ("SerializeToString", "read"):
        if hasattr(source, method):
            data = getattr(source, method)()
            if isinstance(data, bytes):
                return data
    raise TypeError(f"a model is a path, bytes or a ModelProto, got {type(source).__name__}")
