"""onnxruntime's exceptions. Each is a `mica.Error` too, with its number and fields."""
from __future__ import annotations

from ..._error import Error


class OrtError(Error, RuntimeError):
    """The root of the exceptions here."""


class Fail(OrtError):
    """What has no class of its own."""


class InvalidArgument(OrtError):
    """Inputs or outputs that the model does not have, or of a wrong type or shape."""


class MissingInputs(InvalidArgument, ValueError):
    """Inputs that were not given: a ValueError, as onnxruntime raises."""


class NoSuchFile(OrtError):
    """The model's file cannot be read."""


class NoModel(OrtError):
    """There is no model."""


class InvalidProtobuf(OrtError):
    """The bytes are no model."""


class InvalidGraph(OrtError):
    """The model contradicts its format."""


class NotImplemented(OrtError):
    """An operator without support."""


class RuntimeException(OrtError):
    """A run that ended with an error."""


class EPFail(OrtError):
    """A device that is not there."""


class ModelLoaded(OrtError):
    """A session that has its model already."""


def translated(error: Error, loading: bool = False) -> OrtError:
    """The exception that onnxruntime would raise in place of this one."""
    kind: type[OrtError] = Fail
    if error.code == 7001:
        kind = NoSuchFile if loading else Fail
    elif error.code == 1001:
        kind = InvalidProtobuf if "no model of a known format" in error.what else InvalidGraph
    elif error.code in (1002, 1042):
        kind = NotImplemented
    elif 1000 <= error.code < 3000:
        kind = InvalidGraph
    elif 3000 <= error.code < 4000 or 6000 <= error.code < 7000:
        kind = InvalidArgument
    elif 4000 <= error.code < 6000:
        kind = RuntimeException
    elif error.code == 7010:
        kind = EPFail
    return kind(error.code, error.what, error.where, error.hint)
