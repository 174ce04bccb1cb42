"""Python's values as the extension module takes them, and back.

The module's forms: a tensor is (elements as a C-contiguous buffer or a list of texts, number of the type, shape), a
sequence is a list of tensors, an optional without a value is (). What comes back is an array where numpy has the type
by itself.
"""
from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from . import _mica
from ._dtypes import CODES, NAMES, PACKED_BITS, SIGNED_PACKED, STRING, code_of, numpy_dtype
from ._error import Error

Native = Any  # one of the module's forms
Array = npt.NDArray[Any]


def as_array(value: Any, code: int, write: bool = False) -> Array | Native:
    """An array over the value's own memory where it has any; a native tensor for a type that only DLPack knows."""
    if isinstance(value, np.ndarray):
        return value
    if hasattr(value, "__dlpack__") and not isinstance(value, np.generic):
        try:
            return np.from_dlpack(value)
        except (BufferError, TypeError, RuntimeError, ValueError):
            native = _mica.from_dlpack(value, write)
            if native is not None:
                return native
    if hasattr(value, "__array__") or isinstance(value, np.generic):
        return np.asarray(value)
    # Lists and numbers have no type of their own: they get the input's.
    return np.asarray(value, dtype=numpy_dtype(code) if code else None)


def to_tensor(value: Any, code: int, name: str) -> Native:
    """A native tensor. `code` is the type that is wanted, for values that have none of their own.

    Errors: 3002 for an array of a type that Mica does not have.
    """
    array = as_array(value, code)
    if isinstance(array, tuple):
        return array
    if array.dtype.kind in "OUST":
        return strings_to_native(array, name)
    dtype = array.dtype
    if not dtype.isnative:
        array = array.astype(dtype.newbyteorder("="))
        dtype = array.dtype
    own = code_of(dtype)
    if own is None:
        raise Error(3002, f"`{name}` is an array of {dtype}, which Mica does not have")
    if own in PACKED_BITS:
        return (pack(array, PACKED_BITS[own]), own, array.shape)
    if not array.flags.c_contiguous:
        array = np.ascontiguousarray(array).reshape(array.shape)
    # The buffer protocol knows numpy's own types only.
    return (array if dtype.isbuiltin == 1 else array.view(f"u{dtype.itemsize}"), own, array.shape)


def to_place(value: Any, name: str) -> Native:
    """A native tensor over memory that an output is written to.

    Errors: 6001 for what is no array that lies dense in C order and may be written, in the machine's byte order.
    """
    array = as_array(value, 0, write=True) if hasattr(value, "__dlpack__") else value
    if isinstance(array, tuple):
        return array
    if isinstance(array, np.ndarray) and array.flags.c_contiguous and array.flags.writeable and array.dtype.isnative:
        code = None if array.dtype.kind in "OUST" else code_of(array.dtype)
        if code is not None and code not in PACKED_BITS:
            return (array if array.dtype.isbuiltin == 1 else array.view(f"u{array.dtype.itemsize}"), code, array.shape)
    raise Error(
        6001,
        f"`{name}` is no memory that elements can be written to",
        hint="a place is an array in C order that may be written, of numbers of 8 bits or more",
    )


class _Handed:
    """A tensor of a type that numpy does not hand on, for others to take by DLPack."""

    def __init__(self, tensor: Native) -> None:
        self._tensor = tensor
        _mica.to_dlpack(tensor)  # or raises

    def __dlpack__(self, **keywords: Any) -> Any:
        return _mica.to_dlpack(self._tensor)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)


def to_dlpack(array: Array) -> Any:
    """An object with `__dlpack__` over an array's own memory, for `from_dlpack` of another library.

    An array of numpy's own types is such an object itself; those of the package ml_dtypes (bfloat16, float8) are not.
    Errors: 6001 for elements below 8 bits and texts, and for memory that may not be written or is not dense.
    """
    if array.dtype.isbuiltin == 1 and array.dtype.kind not in "OUST":
        return array
    return _Handed(to_place(array, "array"))


def strings_to_native(array: Array, name: str) -> Native:
    elements = array.ravel().tolist()
    for element in elements:
        if not isinstance(element, (str, bytes)):
            kind = type(element).__name__
            raise Error(3002, f"`{name}` is an array of objects, of which one is a {kind} and no text")
    return (elements, STRING, array.shape)


def pack(array: Array, bits: int) -> Array:
    """Elements below 8 bits, one to a byte, packed along the last axis: low bits first, rows padded to whole bytes."""
    per_byte = 8 // bits
    if array.size == 0:
        return np.zeros(0, np.uint8)
    rows = np.ascontiguousarray(array).view(np.uint8).reshape(-1, array.shape[-1] if array.ndim else 1)
    rows = rows & np.uint8((1 << bits) - 1)
    padded = np.zeros((rows.shape[0], -(-rows.shape[1] // per_byte) * per_byte), np.uint8)
    padded[:, : rows.shape[1]] = rows
    parts = padded.reshape(rows.shape[0], -1, per_byte) << (np.arange(per_byte, dtype=np.uint8) * bits)
    packed: Array = np.bitwise_or.reduce(parts, axis=2, dtype=np.uint8)
    return packed


def unpack(packed: Array, code: int, shape: tuple[int, ...]) -> Array:
    """The inverse of `pack`, with the sign of signed integers extended."""
    bits = PACKED_BITS[code]
    per_byte = 8 // bits
    length = shape[-1] if shape else 1
    if packed.size == 0:
        return np.zeros(shape, numpy_dtype(code))
    rows = packed.reshape(-1, -(-length // per_byte))
    parts = (rows[:, :, None] >> (np.arange(per_byte, dtype=np.uint8) * bits)) & np.uint8((1 << bits) - 1)
    elements = parts.reshape(rows.shape[0], -1)[:, :length].reshape(shape)
    dtype = numpy_dtype(code)
    if code in SIGNED_PACKED:
        half = 1 << (bits - 1)
        return ((elements.astype(np.int8) ^ half) - half).astype(np.int8).astype(dtype)
    if NAMES[code][0] == "u":
        return elements.astype(dtype)
    return np.ascontiguousarray(elements).view(dtype).reshape(shape)


def to_native(value: Any, kind: str, code: int, name: str) -> Native:
    """The value of an input whose type begins with `kind`: "seq(", "opt(", or a tensor's.

    Errors: 3002 for what cannot be such a value.
    """
    if kind.startswith("opt("):
        if value is None:
            return ()
        if not kind.startswith("opt(seq("):
            return [to_tensor(value, code, name)]
    elif not kind.startswith("seq("):
        if value is None:
            raise Error(3002, f"input `{name}` takes {kind}, got None")
        return to_tensor(value, code, name)
    if not isinstance(value, (list, tuple)):
        raise Error(3002, f"input `{name}` takes {kind}: a list of arrays, got {type(value).__name__}")
    return [to_tensor(item, code, name) for item in value]


def from_native(value: Native) -> Any:
    """An array, a list of arrays, or None. Texts are an array of objects."""
    if isinstance(value, tuple):
        elements, code, shape = value
        if code == STRING:
            texts = np.empty(len(elements), dtype=object)
            texts[:] = elements
            return texts.reshape(shape)
        if code in PACKED_BITS:
            return unpack(elements, code, shape)
        return elements.view(numpy_dtype(code)).reshape(shape)
    if isinstance(value, list):
        return [from_native(item) for item in value]
    return value


__all__ = ["CODES", "Array", "Native", "from_native", "to_dlpack", "to_native", "to_place", "to_tensor"]
