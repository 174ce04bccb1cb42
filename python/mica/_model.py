"""Models and sessions."""
from __future__ import annotations

import dataclasses
import operator
import re
from collections.abc import Iterable, Mapping
from typing import Any

from . import _mica
from ._dtypes import NAMES, DType, numpy_dtype
from ._error import Error
from ._values import Native, from_native, to_native, to_place, to_tensor

_INPUT, _OUTPUT, _STATE = 0, 1, 2


@dataclasses.dataclass(frozen=True)
class Port:
    """An input or output of a model.

    name: as the model spells it.
    type: "f32[N,3,224,224]", "seq(f32[?])".
    shape: for each axis its length, the name of a length that depends on the run, or None where it has none; None as a
        whole when the number of axes is not known.
    element: Mica's name of the element type, as "bf16".
    """

    name: str
    type: str
    shape: tuple[int | str | None, ...] | None
    element: str
    _code: int = dataclasses.field(repr=False, compare=False)

    @property
    def dtype(self) -> DType:
        """The numpy dtype of the elements; object for texts. Errors: 6001 when it needs the package ml_dtypes."""
        return numpy_dtype(self._code)

    @property
    def is_tensor(self) -> bool:
        """False for a sequence, an optional or a map."""
        return not self.type.startswith(("seq(", "opt(", "map("))


@dataclasses.dataclass(frozen=True)
class State:
    """An output that becomes an input of the next run. Its name is its input's."""

    name: str
    input: Port
    output: Port


@dataclasses.dataclass(frozen=True)
class Layer:
    """One stage of a run: the source model's name, Mica's operator and kernel ("" for the operator's reference), when
    it began in nanoseconds after the run did, milliseconds, share of the whole, floating-point operations and bytes."""

    name: str
    op: str
    kernel: str
    begin_ns: int
    ms: float
    share: float
    flops: int
    bytes: int


def names_of(given: Iterable[str], what: str) -> list[str]:
    """The list that `what` takes. Errors: 6001 for one text, which Python would take for a list of letters."""
    if isinstance(given, (str, bytes)):
        raise Error(6001, f"{what} takes a list of names, got {given!r}", hint=f"{what}=[{given!r}]")
    return list(given)


_QUOTED = re.compile(r"`((?:[^`]|``)+)`")


def _plain(shape: tuple[int | str | None, ...] | None) -> tuple[int | str | None, ...] | None:
    """Expressions of lengths, with the quotes taken from those that are one name."""
    if shape is None:
        return None
    names = (_QUOTED.fullmatch(axis) if isinstance(axis, str) else None for axis in shape)
    return tuple(name[1].replace("``", "`") if name else axis for name, axis in zip(names, shape))


def _ports(core: _mica.Model, kind: int) -> tuple[Port, ...]:
    return tuple(Port(name, type_, _plain(shape), NAMES[code], code) for name, type_, code, shape in core.ports(kind))


class _Signature:
    """What a model takes and gives, and how arguments become its inputs."""

    def __init__(self, core: _mica.Model) -> None:
        self.core = core
        self.inputs = _ports(core, _INPUT)
        self.outputs = _ports(core, _OUTPUT)
        pairs = core.state_ports()
        self.states = tuple(State(self.inputs[i].name, self.inputs[i], self.outputs[o]) for i, o in pairs)
        self.is_state = [False] * len(self.inputs)
        for i, _ in pairs:
            self.is_state[i] = True
        self.positional = [i for i, state in enumerate(self.is_state) if not state]
        self.input_index = {port.name: i for i, port in enumerate(self.inputs)}
        self.output_index = {port.name: i for i, port in enumerate(self.outputs)}
        self.all_outputs = list(range(len(self.outputs)))

    def feed(self, args: tuple[Any, ...], named: Mapping[str, Any]) -> list[Native]:
        if len(args) == 1 and not named and isinstance(args[0], Mapping):
            named, args = args[0], ()
        if len(args) > len(self.positional):
            raise Error(
                6001, f"the model takes {len(self.positional)} inputs, got {len(args)}", hint=self.what_it_takes()
            )
        values: list[Native] = [None] * len(self.inputs)
        for index, value in zip(self.positional, args):
            values[index] = self.native(index, value)
        for name, value in named.items():
            index = self.input_index[name] if name in self.input_index else self.core.find(_INPUT, name)
            if values[index] is not None:
                raise Error(6001, f"input `{name}` is given twice")
            values[index] = self.native(index, value)
        for index in self.positional:
            if values[index] is None:
                if not self.inputs[index].type.startswith("opt("):
                    raise Error(6001, f"input `{self.inputs[index].name}` is missing", hint=self.what_it_takes())
                values[index] = ()
        return values

    def native(self, index: int, value: Any) -> Native:
        port = self.inputs[index]
        return to_native(value, port.type, port._code, port.name)

    def wanted(self, names: Iterable[str] | None) -> list[int]:
        if names is None:
            return self.all_outputs
        wanted = names_of(names, "outputs")
        return [self.output_index[n] if n in self.output_index else self.core.find(_OUTPUT, n) for n in wanted]

    def places(self, wanted: list[int], out: Mapping[str, Any]) -> list[Native | None]:
        places: list[Native | None] = [None] * len(wanted)
        for name, value in out.items():
            index = self.wanted([name])[0]
            if index not in wanted:
                raise Error(6001, f"there is memory for output `{name}`, which is not wanted")
            places[wanted.index(index)] = to_place(value, name)
        return places

    def state_index(self, name: str) -> int:
        return self.core.find(_STATE, name)

    def what_it_takes(self) -> str:
        return "it takes " + ", ".join(f"`{self.inputs[i].name}`: {self.inputs[i].type}" for i in self.positional)


class Session:
    """A model's own buffers and states. Made by `Model.session`.

    Threads: calls from several threads wait for each other; give each thread a session of its own to run side by side.
    The interpreter is not held during a run.
    """

    def __init__(self, signature: _Signature, core: _mica.Session, deadline: float | None) -> None:
        _nanoseconds(deadline)  # a wrong one is an error here, not at the first run
        self._signature = signature
        self._live = core
        self._deadline = deadline

    def __call__(self, *args: Any, **named: Any) -> dict[str, Any]:
        """Runs the model and returns its outputs by name.

        Inputs go by name, or by position in the model's order without the states' inputs; or all in one mapping. A
        tensor is a numpy array, anything with `__dlpack__` or `__array__` (read in place where it lies dense in
        memory), or a number or nested list, which gets the input's type. A sequence is a list of such, an optional may
        be None, and may be left out. The input of a state replaces the state; left out, the state goes on.

        Outputs are arrays of the caller's own; of texts, arrays of objects; sequences are lists, an empty optional is
        None.

        Errors: 3001 to 3003 for a wrong shape, type or number of axes; 6001 for a missing input, 6002 for an unknown
        name with the nearest one; 4001 for a value out of range; 4002 after `cancel`, 4003 past the deadline; 5001,
        5002.
        """
        signature = self._signature
        wanted, timeout = signature.all_outputs, _nanoseconds(self._deadline)
        values = self._live.call(signature.feed(args, named), wanted, timeout, [], None)
        return {port.name: from_native(value) for port, value in zip(signature.outputs, values)}

    def run(
        self,
        feed: Mapping[str, Any],
        outputs: Iterable[str] | None = None,
        deadline: float | None = None,
        out: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """As a call, with the inputs in a mapping; `outputs` names those that are wanted, in that order.

        deadline: seconds that this run may take, in place of the one given to `load`.
        out: output → memory of the caller's that it is written to without a copy, and which is returned in its place:
            an array, or an object with `__dlpack__`, of the type and shape that the run gives, dense and writable, and
            apart from the inputs. Errors: 6001, 3001, 3002.
        """
        return self._run(feed, outputs, deadline, out)

    def _run(
        self,
        feed: Mapping[str, Any],
        outputs: Iterable[str] | None = None,
        deadline: float | None = None,
        out: Mapping[str, Any] | None = None,
        stop: _mica.Stop | None = None,
    ) -> dict[str, Any]:
        signature = self._signature
        wanted = signature.wanted(outputs)
        seconds = self._deadline if deadline is None else deadline
        places = signature.places(wanted, out) if out else []
        values = self._live.call(signature.feed((), feed), wanted, _nanoseconds(seconds), places, stop)
        made = {signature.outputs[i].name: from_native(value) for i, value in zip(wanted, values)}
        return {**made, **out} if out else made

    def cancel(self) -> None:
        """Ends a run that another thread has under way, with error 4002."""
        self._live.cancel()

    def state(self, name: str) -> Any:
        """A copy of a state's value. Errors: 6002."""
        return from_native(self._live.state(self._signature.state_index(name)))

    def set_state(self, name: str, value: Any) -> None:
        """Sets a state for the next run. Errors: 6002, 3002, 3003."""
        index = self._signature.state_index(name)
        port = self._signature.states[index].input
        self._live.set_state(index, to_tensor(value, port._code, name))

    def reset(self) -> None:
        """States begin again: as zeros, an axis that grows as empty."""
        self._live.reset()

    def memory(self, *args: Any, **named: Any) -> dict[str, int]:
        """Bytes: `arena` for intermediate results, `arena_bound` below which no arena can be, `total` of the session's
        buffers, `packed_weights` and all `weights` of the model. With inputs: of their shapes, prepared for; without:
        of the last run. Beside these, how often parts of the model were bound (`binds`), and how often only the
        numbers of bounded dimensions changed (`refreshes`)."""
        return self._live.memory(self._signature.feed(args, named) if args or named else [])

    def profile(self, *args: Any, **named: Any) -> list[Layer]:
        """The stages of one run on these inputs. Errors: those of a call."""
        return [Layer(*row) for row in _mica.profile(self._live, self._signature.feed(args, named))]


class Model(Session):
    """A compiled model, and a first session of it, which calls run. Made by `load`."""

    def __init__(self, core: _mica.Model, options: Mapping[str, Any], deadline: float | None = None) -> None:
        self._core = core
        self._options = dict(options)
        super().__init__(_Signature(core), self._made({}), deadline)

    @property
    def inputs(self) -> tuple[Port, ...]:
        """What goes in, those of states included."""
        return self._signature.inputs

    @property
    def outputs(self) -> tuple[Port, ...]:
        """What comes out, those of states included."""
        return self._signature.outputs

    @property
    def states(self) -> tuple[State, ...]:
        """Outputs that become inputs of the next run."""
        return self._signature.states

    @property
    def metadata(self) -> dict[str, str]:
        """What the model says of itself."""
        return self._core.metadata()

    def session(
        self,
        *,
        memory_cap: int | None = None,
        exact: bool | None = None,
        low_memory: bool | None = None,
        reference: bool | None = None,
        deadline: float | None = None,
    ) -> Session:
        """Another session of this model, which shares its weights. What is left out is as given to `load`."""
        given = {"memory_cap": memory_cap, "exact": exact, "low_memory": low_memory, "reference": reference}
        return Session(self._signature, self._made(given), self._deadline if deadline is None else deadline)

    def _made(self, given: Mapping[str, Any]) -> _mica.Session:
        options = {**self._options, **{key: value for key, value in given.items() if value is not None}}
        return _mica.Session(
            self._core,
            memory_cap=_bytes(options.get("memory_cap")),
            exact=bool(options.get("exact")),
            low_memory=bool(options.get("low_memory")),
            reference=bool(options.get("reference")),
        )

    def __repr__(self) -> str:
        ports = [", ".join(f"{port.name}: {port.type}" for port in side) for side in (self.inputs, self.outputs)]
        return f"<mica.Model ({ports[0]}) -> ({ports[1]})>"


def _bytes(cap: int | None) -> int:
    if cap is None:
        return 0
    if not 0 <= operator.index(cap) < 2**63:
        raise Error(6001, f"memory_cap is a number of bytes, got {cap}")
    return operator.index(cap)


def _nanoseconds(seconds: float | None) -> int:
    if seconds is None:
        return 0
    if not seconds > 0:
        raise Error(6001, f"a deadline is more than 0 seconds, got {seconds}")
    return max(int(min(seconds, 1e9) * 1e9), 1)
