"""onnxruntime's words for element types, and back."""
from __future__ import annotations

from typing import Any

import numpy as np

from .._dtypes import CODE_OF_ML, NAMES, code_of, numpy_dtype
from .._model import Port
from .capi.onnxruntime_pybind11_state import InvalidArgument

ELEMENTS = {
    "f32": "float",
    "f64": "double",
    "f16": "float16",
    "bf16": "bfloat16",
    "i8": "int8",
    "i16": "int16",
    "i32": "int32",
    "i64": "int64",
    "u8": "uint8",
    "u16": "uint16",
    "u32": "uint32",
    "u64": "uint64",
    "bool": "bool",
    "i4": "int4",
    "u4": "uint4",
    "i2": "int2",
    "u2": "uint2",
    "f8e4m3fn": "float8e4m3fn",
    "f8e4m3fnuz": "float8e4m3fnuz",
    "f8e5m2": "float8e5m2",
    "f8e5m2fnuz": "float8e5m2fnuz",
    "f8e8m0": "float8e8m0",
    "f4e2m1": "float4e2m1",
    "string": "string",
    "c64": "complex64",
    "c128": "complex128",
}
# Numbers of onnx.TensorProto.
ONNX_NUMBERS = {
    1: "f32",
    2: "u8",
    3: "i8",
    4: "u16",
    5: "i16",
    6: "i32",
    7: "i64",
    8: "string",
    9: "bool",
    10: "f16",
    11: "f64",
    12: "u32",
    13: "u64",
    14: "c64",
    15: "c128",
    16: "bf16",
    17: "f8e4m3fn",
    18: "f8e4m3fnuz",
    19: "f8e5m2",
    20: "f8e5m2fnuz",
    21: "u4",
    22: "i4",
    23: "f4e2m1",
    24: "f8e8m0",
    25: "u2",
    26: "i2",
}


def spelled(port: Port) -> str:
    """"tensor(float)", "seq(tensor(int64))", "optional(tensor(float))"."""
    text = f"tensor({ELEMENTS[port.element]})"
    if "seq(" in port.type:
        text = f"seq({text})"
    return f"optional({text})" if port.type.startswith("opt(") else text


def element_of(dtype: Any) -> str:
    """onnxruntime's word for a numpy dtype. Errors: InvalidArgument."""
    dtype = np.dtype(dtype)
    if dtype.kind in "OUST":
        return "string"
    code = code_of(dtype)
    if code is None:
        raise InvalidArgument(3002, f"{dtype} is no element type of a tensor")
    return ELEMENTS[NAMES[code]]


def dtype_of(element_type: Any) -> np.dtype[Any]:
    """The numpy dtype of a number of onnx.TensorProto, a numpy type or a name of one."""
    if isinstance(element_type, (int, np.integer)):
        if int(element_type) not in ONNX_NUMBERS:
            raise InvalidArgument(3002, f"{element_type} is no element type")
        return numpy_dtype(NAMES.index(ONNX_NUMBERS[int(element_type)]))
    if isinstance(element_type, str) and element_type in CODE_OF_ML:
        return numpy_dtype(CODE_OF_ML[element_type])
    dtype: np.dtype[Any] = np.dtype(element_type)
    return dtype
