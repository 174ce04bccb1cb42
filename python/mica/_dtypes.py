"""Element types: Mica's numbers and names, numpy's dtypes, and those that the package ml_dtypes adds to numpy."""
from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from . import _mica
from ._error import Error

DType = np.dtype[Any]

NONE = 0
_COUNT = 27
NAMES: list[str] = [_mica.dtype_name(code) for code in range(_COUNT)]
CODES: dict[str, int] = {name: code for code, name in enumerate(NAMES)}
STRING = CODES["string"]

_NUMPY = {
    "f32": np.float32,
    "f64": np.float64,
    "f16": np.float16,
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
    "u8": np.uint8,
    "u16": np.uint16,
    "u32": np.uint32,
    "u64": np.uint64,
    "bool": np.bool_,
    "c64": np.complex64,
    "c128": np.complex128,
}
_ML_DTYPES = {
    "bf16": "bfloat16",
    "i4": "int4",
    "u4": "uint4",
    "i2": "int2",
    "u2": "uint2",
    "f8e4m3fn": "float8_e4m3fn",
    "f8e4m3fnuz": "float8_e4m3fnuz",
    "f8e5m2": "float8_e5m2",
    "f8e5m2fnuz": "float8_e5m2fnuz",
    "f8e8m0": "float8_e8m0fnu",
    "f4e2m1": "float4_e2m1fn",
}
# Bits of the types that stand packed in Mica's memory and one to a byte in numpy's.
PACKED_BITS: dict[int, int] = {
    CODES[name]: bits for name, bits in (("i4", 4), ("u4", 4), ("f4e2m1", 4), ("i2", 2), ("u2", 2))
}
SIGNED_PACKED = frozenset((CODES["i4"], CODES["i2"]))

CODE_OF_NUMPY: dict[DType, int] = {np.dtype(kind): CODES[name] for name, kind in _NUMPY.items()}
CODE_OF_ML: dict[str, int] = {name: CODES[ours] for ours, name in _ML_DTYPES.items()}


def numpy_dtype(code: int) -> DType:
    """The numpy dtype of a number of Mica's; object for strings.

    Errors: 6001 for a type that needs the package ml_dtypes when that is not installed.
    """
    name = NAMES[code]
    if name in _NUMPY:
        return np.dtype(_NUMPY[name])
    if name in _ML_DTYPES:
        try:
            kinds = importlib.import_module("ml_dtypes")
        except ImportError:
            raise Error(
                6001, f"numpy has no element type for {name}", hint="pip install ml_dtypes, which adds it to numpy"
            ) from None
        dtype: DType = np.dtype(getattr(kinds, _ML_DTYPES[name]))
        return dtype
    return np.dtype(object)


def code_of(dtype: DType) -> int | None:
    """Mica's number of a numpy dtype other than one of texts; None when Mica has no such type."""
    code = CODE_OF_NUMPY.get(dtype)
    return CODE_OF_ML.get(dtype.name) if code is None else code
