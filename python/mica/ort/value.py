"""Values with a place, as onnxruntime has them: here always the processor's memory."""
from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .capi.onnxruntime_pybind11_state import InvalidArgument
from .types import dtype_of, element_of


def check_device(device: str) -> None:
    """Errors: InvalidArgument for another device than the processor."""
    if device.lower() != "cpu":
        raise InvalidArgument(7010, f"there is no device `{device}`", hint="cpu is there")


def array_at(address: int, element_type: Any, shape: Sequence[int]) -> Any:
    """An array over memory that its caller keeps alive."""
    dtype = dtype_of(element_type)
    size = dtype.itemsize * math.prod(shape)
    memory = (ctypes.c_char * size).from_address(address)
    return np.frombuffer(memoryview(memory), np.uint8).view(dtype).reshape(tuple(shape))


def elements(value: Any) -> Any:
    """What Mica takes: the array of an OrtValue, and anything else as it is."""
    return value.numpy() if isinstance(value, OrtValue) else value


class OrtDevice:
    """A device by name."""

    def __init__(self, device_type: str = "cpu", device_id: int = 0) -> None:
        check_device(device_type)
        self._id = device_id

    @staticmethod
    def make(device_type: str, device_id: int = 0) -> OrtDevice:
        """Errors: InvalidArgument for another device than "cpu"."""
        return OrtDevice(device_type, device_id)

    def device_type(self) -> str:
        return "cpu"

    def device_id(self) -> int:
        return self._id


class OrtValue:
    """A tensor, a sequence of such, or nothing."""

    def __init__(self, value: Any) -> None:
        self._value = value

    @staticmethod
    def ortvalue_from_numpy(array: Any, device_type: str = "cpu", device_id: int = 0) -> OrtValue:
        """A value over the array's memory."""
        check_device(device_type)
        return OrtValue(np.asarray(array))

    @staticmethod
    def ortvalue_from_numpy_with_onnx_type(array: Any, onnx_element_type: int) -> OrtValue:
        """The array's bytes as elements of a type of onnx.TensorProto."""
        return OrtValue(np.asarray(array).view(dtype_of(onnx_element_type)))

    @staticmethod
    def ortvalue_from_shape_and_type(
        shape: Sequence[int], element_type: Any = np.float32, device_type: str = "cpu", device_id: int = 0
    ) -> OrtValue:
        """A value of zeros."""
        check_device(device_type)
        return OrtValue(np.zeros(tuple(shape), dtype_of(element_type)))

    @staticmethod
    def ort_value_from_sequence(values: Sequence[Any]) -> OrtValue:
        """A sequence of arrays."""
        return OrtValue([np.asarray(value) for value in values])

    @staticmethod
    def from_dlpack(data: Any, is_bool_tensor: bool = False) -> OrtValue:
        """A value over the memory of an object with `__dlpack__`; of bytes, as truth values when so told."""
        array = np.from_dlpack(data)
        return OrtValue(array.view(np.bool_) if is_bool_tensor else array)

    def numpy(self) -> Any:
        """The array, or the list of arrays; the value's own memory."""
        return self._value

    def has_value(self) -> bool:
        return self._value is not None

    def is_tensor(self) -> bool:
        return isinstance(self._value, np.ndarray)

    def is_tensor_sequence(self) -> bool:
        return isinstance(self._value, list)

    def is_sparse_tensor(self) -> bool:
        return False

    def shape(self) -> list[int]:
        return list(self._value.shape)

    def data_type(self) -> str:
        """As "tensor(float)"."""
        if isinstance(self._value, list):
            return f"seq(tensor({element_of(self._value[0].dtype) if self._value else 'float'}))"
        return f"tensor({element_of(self._value.dtype)})"

    def element_type(self) -> int:
        """The number of onnx.TensorProto."""
        from .types import ELEMENTS, ONNX_NUMBERS

        word = element_of(self._value.dtype)
        return next(number for number, name in ONNX_NUMBERS.items() if ELEMENTS[name] == word)

    def device_name(self) -> str:
        return "cpu"

    def data_ptr(self) -> int:
        return int(self._value.ctypes.data)

    def tensor_size_in_bytes(self) -> int:
        return int(self._value.nbytes)

    def update_inplace(self, array: Any) -> None:
        """Copies another array's elements into this value. Errors: InvalidArgument for another shape."""
        if np.shape(array) != self._value.shape:
            raise InvalidArgument(3001, f"the value has the shape {self._value.shape}, got {np.shape(array)}")
        np.copyto(self._value, array)

    def __dlpack__(self, **keywords: Any) -> Any:
        return self._value.__dlpack__(**keywords)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.asarray(self._value, dtype=dtype)
