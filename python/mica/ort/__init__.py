"""The interface of onnxruntime over Mica: a script written for it runs with `import mica.ort as onnxruntime`.

There is one provider, "CPUExecutionProvider". What a script may set and Mica decides by itself (graph optimisation,
memory arenas, execution modes) is accepted and has no effect on results.
"""
from __future__ import annotations

from .._mica import version as _version
from .capi.onnxruntime_pybind11_state import (
    EPFail,
    Fail,
    InvalidArgument,
    InvalidGraph,
    InvalidProtobuf,
    ModelLoaded,
    NoModel,
    NoSuchFile,
    NotImplemented,
    RuntimeException,
)
from .options import ExecutionMode, ExecutionOrder, GraphOptimizationLevel, RunOptions, SessionOptions
from .session import InferenceSession, IOBinding, ModelMetadata, NodeArg
from .value import OrtDevice, OrtValue

__version__ = "1.23.0"  # of the interface


def get_version_string() -> str:
    """The version of the interface."""
    return __version__


def get_build_info() -> str:
    """What stands behind the interface."""
    return f"mica {_version()}"


def preload_dlls(cuda: bool = True, cudnn: bool = True, msvc: bool = True, directory: str | None = None) -> None:
    """Accepted; the package needs no other libraries."""


def get_available_providers() -> list[str]:
    """The execution providers of this build."""
    return ["CPUExecutionProvider"]


def get_all_providers() -> list[str]:
    """As `get_available_providers`."""
    return get_available_providers()


def get_device() -> str:
    """The kind of device that models run on."""
    return "CPU"


def set_default_logger_severity(severity: int) -> None:
    """Accepted; Mica writes nothing by itself."""


def set_default_logger_verbosity(verbosity: int) -> None:
    """Accepted; Mica writes nothing by itself."""


def set_seed(seed: int) -> None:
    """Accepted; random operators draw from the seeds in the model."""


def disable_telemetry_events() -> None:
    """Accepted; there is no telemetry."""


def enable_telemetry_events() -> None:
    """Accepted; there is no telemetry."""


__all__ = [
    "EPFail",
    "ExecutionMode",
    "ExecutionOrder",
    "Fail",
    "GraphOptimizationLevel",
    "IOBinding",
    "InferenceSession",
    "InvalidArgument",
    "InvalidGraph",
    "InvalidProtobuf",
    "ModelLoaded",
    "ModelMetadata",
    "NoModel",
    "NoSuchFile",
    "NodeArg",
    "NotImplemented",
    "OrtDevice",
    "OrtValue",
    "RunOptions",
    "RuntimeException",
    "SessionOptions",
    "get_all_providers",
    "get_available_providers",
    "get_build_info",
    "get_device",
    "get_version_string",
]
