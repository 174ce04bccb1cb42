"""What a script may say about sessions and runs."""
from __future__ import annotations

import enum

from .._mica import Stop
from .capi.onnxruntime_pybind11_state import NotImplemented as NotThere


class GraphOptimizationLevel(enum.IntEnum):
    """Accepted; Mica always optimises, and to the same results."""

    ORT_DISABLE_ALL = 0
    ORT_ENABLE_BASIC = 1
    ORT_ENABLE_EXTENDED = 2
    ORT_ENABLE_LAYOUT = 3
    ORT_ENABLE_ALL = 99


class ExecutionMode(enum.IntEnum):
    """Accepted; one order is used."""

    ORT_SEQUENTIAL = 0
    ORT_PARALLEL = 1


class ExecutionOrder(enum.IntEnum):
    """Accepted; one order is used."""

    DEFAULT = 0
    PRIORITY_BASED = 1
    MEMORY_EFFICIENT = 2


class SessionOptions:
    """Options of a session. Those with an effect: intra_op_num_threads (0: what the machine grants), and the dimension
    overrides."""

    def __init__(self) -> None:
        self.intra_op_num_threads = 0
        self.inter_op_num_threads = 0
        self.graph_optimization_level = GraphOptimizationLevel.ORT_ENABLE_ALL
        self.execution_mode = ExecutionMode.ORT_SEQUENTIAL
        self.execution_order = ExecutionOrder.DEFAULT
        self.enable_cpu_mem_arena = True
        self.enable_mem_pattern = True
        self.enable_mem_reuse = True
        self.enable_profiling = False
        self.use_deterministic_compute = True
        self.use_per_session_threads = True
        self.log_severity_level = -1
        self.log_verbosity_level = 0
        self.logid = ""
        self.optimized_model_filepath = ""
        self.profile_file_prefix = "onnxruntime_profile_"
        self._entries: dict[str, str] = {}
        self._dimensions: dict[str, int] = {}

    def add_session_config_entry(self, key: str, value: str) -> None:
        """Accepted and kept."""
        self._entries[key] = value

    def get_session_config_entry(self, key: str) -> str:
        """An entry that was added. Errors: KeyError."""
        return self._entries[key]

    def add_free_dimension_override_by_name(self, name: str, size: int) -> None:
        """A named dimension of the inputs gets this size."""
        self._dimensions[name] = size

    def add_free_dimension_override_by_denotation(self, denotation: str, size: int) -> None:
        """Accepted; axes stay as the model has them."""

    def register_custom_ops_library(self, path: str) -> None:
        """Libraries of onnxruntime's are not loaded. Errors: NotImplemented."""
        hint = "docs/adding-an-operator.md has Mica's way"
        raise NotThere(1042, f"{path} holds operators for onnxruntime", hint=hint)


class RunOptions:
    """Options of a run. With an effect: `terminate`, which ends the runs that are under way with these options, and
    those that begin with them; RuntimeException says so."""

    def __init__(self) -> None:
        self.log_severity_level = -1
        self.log_verbosity_level = 0
        self.logid = ""
        self.only_execute_path_to_fetches = False
        self.training_mode = False
        self._entries: dict[str, str] = {}
        self._stop = Stop()

    @property
    def terminate(self) -> bool:
        """Whether runs are to end."""
        return self._stop.asked

    @terminate.setter
    def terminate(self, value: bool) -> None:
        self._stop.asked = value

    def add_run_config_entry(self, key: str, value: str) -> None:
        """Accepted and kept."""
        self._entries[key] = value

    def get_run_config_entry(self, key: str) -> str:
        """An entry that was added. Errors: KeyError."""
        return self._entries[key]
