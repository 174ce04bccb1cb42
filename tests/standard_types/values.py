"""Element types of ONNX by their names in type constraints, and arrays of one type as arrays of another."""
import re

import ml_dtypes
import numpy as np
from onnx import TensorProto, helper

ELEMENTS = {
    "float": (TensorProto.FLOAT, np.float32),
    "double": (TensorProto.DOUBLE, np.float64),
    "float16": (TensorProto.FLOAT16, np.float16),
    "bfloat16": (TensorProto.BFLOAT16, ml_dtypes.bfloat16),
    "int8": (TensorProto.INT8, np.int8),
    "int16": (TensorProto.INT16, np.int16),
    "int32": (TensorProto.INT32, np.int32),
    "int64": (TensorProto.INT64, np.int64),
    "uint8": (TensorProto.UINT8, np.uint8),
    "uint16": (TensorProto.UINT16, np.uint16),
    "uint32": (TensorProto.UINT32, np.uint32),
    "uint64": (TensorProto.UINT64, np.uint64),
    "bool": (TensorProto.BOOL, np.bool_),
    "string": (TensorProto.STRING, np.object_),
    "complex64": (TensorProto.COMPLEX64, np.complex64),
    "complex128": (TensorProto.COMPLEX128, np.complex128),
    "float8e4m3fn": (TensorProto.FLOAT8E4M3FN, ml_dtypes.float8_e4m3fn),
    "float8e4m3fnuz": (TensorProto.FLOAT8E4M3FNUZ, ml_dtypes.float8_e4m3fnuz),
    "float8e5m2": (TensorProto.FLOAT8E5M2, ml_dtypes.float8_e5m2),
    "float8e5m2fnuz": (TensorProto.FLOAT8E5M2FNUZ, ml_dtypes.float8_e5m2fnuz),
    "float8e8m0": (TensorProto.FLOAT8E8M0, ml_dtypes.float8_e8m0fnu),
    "float4e2m1": (TensorProto.FLOAT4E2M1, ml_dtypes.float4_e2m1fn),
    "float6e2m3": (TensorProto.FLOAT6E2M3, ml_dtypes.float6_e2m3fn),
    "float6e3m2": (TensorProto.FLOAT6E3M2, ml_dtypes.float6_e3m2fn),
    "uint4": (TensorProto.UINT4, ml_dtypes.uint4),
    "int4": (TensorProto.INT4, ml_dtypes.int4),
    "uint2": (TensorProto.UINT2, ml_dtypes.uint2),
    "int2": (TensorProto.INT2, ml_dtypes.int2),
}
NAME_OF = {np.dtype(kind): name for name, (_, kind) in ELEMENTS.items()}
NAME_OF[np.dtype(np.str_)] = "string"
FLOATS = ("float", "double", "float16", "bfloat16") + tuple(name for name in ELEMENTS if re.match("float[864]", name))
INTEGERS = tuple(name for name in ELEMENTS if re.match("u?int", name))


def split(kind):
    """("seq", "float") of seq(tensor(float)), ("tensor", "float") of tensor(float)."""
    inner = re.search(r"tensor\((\w+)\)", kind)
    if not inner or kind.startswith("map"):
        return kind, ""
    return kind[: inner.start()].replace("(", " ").strip() or "tensor", inner.group(1)


def element_of(value):
    """The name of a value's element type; of a list, of its first item's."""
    if isinstance(value, list):
        return element_of(value[0]) if value else "float"
    dtype = np.asarray(value).dtype
    return "string" if dtype.kind in "OUS" else NAME_OF[dtype]


def small(value):
    """Numbers near those of `value` that narrow types have: halves below 3 in magnitude for floating point."""
    wide = np.asarray(value, np.float64)
    return np.round(np.clip(np.nan_to_num(wide), -3, 3) * 2) / 2


def convert(value, to):
    """`value` with elements of type `to`. Integers (which may be indices) keep their values where `to` has them."""
    if isinstance(value, list):
        return [convert(item, to) for item in value]
    value = np.asarray(value)
    kind = ELEMENTS[to][1]
    have = element_of(value)
    if have == to:
        return value
    if to == "string":
        wide = value if value.dtype.kind in "biufc" else value.astype(np.float64)
        return wide.astype(np.str_).astype(object)
    if have == "string":
        value = np.arange(value.size).reshape(value.shape) % 3
    if value.dtype.kind == "c":
        value = value.real
    if to.startswith("complex"):
        whole = small(value.astype(np.float64))
        return (whole + 1j * np.flip(whole)).astype(kind)
    if to == "bool":
        return np.asarray(value.astype(np.float64) > 0)
    if to == "float8e8m0":
        return np.exp2(np.abs(small(value.astype(np.float64)))).astype(np.float32).astype(kind)
    if have in INTEGERS or have == "bool":
        if to not in INTEGERS:
            return np.asarray(np.clip(value.astype(np.float64), -6, 6)).astype(np.float32).astype(kind)
        low, high = limits(to)
        return np.asarray(np.clip(value.astype(np.float64), low, high)).astype(np.int64).astype(kind)
    if to in INTEGERS:
        low, high = limits(to)
        return np.clip(np.rint(np.clip(np.nan_to_num(value.astype(np.float64)), -3, 3)), low, high).astype(
            np.int64
        ).astype(kind)
    return small(value.astype(np.float64)).astype(np.float32).astype(kind)


def limits(name):
    bits = int(re.search(r"\d+", name).group())
    return (0, 2.0**bits - 1) if name[0] == "u" else (-(2.0 ** (bits - 1)), 2.0 ** (bits - 1) - 1)


def type_proto(value, shape=True):
    """The ONNX type of a value."""
    if isinstance(value, list):
        inner = type_proto(value[0], shape=False) if value else helper.make_tensor_type_proto(TensorProto.FLOAT, None)
        return helper.make_sequence_type_proto(inner)
    return helper.make_tensor_type_proto(ELEMENTS[element_of(value)][0], np.shape(value) if shape else None)
