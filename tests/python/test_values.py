"""Element types, layouts, texts, sequences and optionals, through models that give back what they get."""
import array
import gc
import weakref

import numpy as np
import pytest

import mica
from mica import _values

ml_dtypes = pytest.importorskip("ml_dtypes")
onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper

NUMPY = [np.float32, np.float64, np.float16, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32]
NUMPY += [np.uint64, np.bool_, np.complex64, np.complex128]
OTHERS = ["bfloat16", "int4", "uint4", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz"]
OTHERS += ["float8_e8m0fnu", "float4_e2m1fn", "int2", "uint2"]
DTYPES = [np.dtype(kind) for kind in NUMPY] + [np.dtype(getattr(ml_dtypes, name)) for name in OTHERS]
SHAPES = [(), (1,), (0,), (7,), (2, 3), (3, 0, 2), (2, 1, 5)]


def identity(kind, opset=25):
    node = helper.make_node("Identity", ["x"], ["y"])
    ports = [onnx.ValueInfoProto(name=name, type=kind) for name in "xy"]
    graph = helper.make_graph([node], "same", ports[:1], ports[1:])
    return mica.load(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)]), threads=1)


def tensor_of(dtype):
    return helper.make_tensor_type_proto(helper.np_dtype_to_tensor_dtype(dtype), None)


def some(dtype, shape):
    """Every value that a narrow type has, as far as the shape reaches."""
    count = int(np.prod(shape))
    if dtype.kind == "c":
        return (np.arange(count) * (1 - 2j)).astype(dtype).reshape(shape)
    if dtype.name.startswith(("float8", "float4")) and dtype.name != "float8_e8m0fnu":
        return (np.arange(count) % 5 - 2).astype(np.float32).astype(dtype).reshape(shape)
    bits = {"int2": 2, "uint2": 2}.get(dtype.name, 4)
    low = -(1 << (bits - 1)) if dtype.kind == "i" or dtype.name in ("int4", "int2") else 0
    return (np.arange(count) % (1 << bits) + low).astype(np.int64).astype(dtype).reshape(shape)


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: dtype.name)
def test_every_element_type(dtype):
    model = identity(tensor_of(dtype))
    assert model.inputs[0].dtype == dtype
    for shape in SHAPES:
        x = some(dtype, shape)
        y = model(x)["y"]
        assert y.dtype == dtype and y.shape == shape
        assert x.tobytes() == y.tobytes()


@pytest.mark.parametrize("name", ["int4", "uint4", "int2", "uint2", "float4_e2m1fn"])
def test_packing_is_undone(name):
    dtype = np.dtype(getattr(ml_dtypes, name))
    code = _values.code_of(dtype)
    for shape in SHAPES:
        x = some(dtype, shape)
        packed = _values.pack(x, _values.PACKED_BITS[code])
        row_bytes = -(-(shape or (1,))[-1] * _values.PACKED_BITS[code] // 8)
        assert packed.size == np.prod(shape[:-1], dtype=int) * row_bytes
        assert _values.unpack(packed, code, shape).tobytes() == x.tobytes()


def test_layouts():
    model = identity(tensor_of(np.dtype(np.float32)))
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    frozen = x.copy()
    frozen.flags.writeable = False
    for given in (x, x.T, x[:, ::2], x[::-1], np.asfortranarray(x), frozen, x.astype(">f4"), x[1:, 1:], np.float32(3)):
        np.testing.assert_array_equal(model(given)["y"], given)


class OnlyDlpack:
    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **keywords):
        return self.array.__dlpack__(**keywords)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class OnlyArray:
    def __array__(self, dtype=None, copy=None):
        return np.arange(3, dtype=np.float32)


def test_other_owners_of_memory():
    model = identity(tensor_of(np.dtype(np.float32)))
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.testing.assert_array_equal(model(OnlyDlpack(x))["y"], x)
    np.testing.assert_array_equal(model(OnlyArray())["y"], [0, 1, 2])
    np.testing.assert_array_equal(model(memoryview(x))["y"], x)
    np.testing.assert_array_equal(model(array.array("f", [1, 2]))["y"], [1, 2])


def test_inputs_are_read_in_place_and_kept_no_longer_than_needed():
    model = identity(tensor_of(np.dtype(np.float32)))
    tensor, _, _ = _values.to_tensor(OnlyDlpack(x := np.zeros(3, np.float32)), 1, "x")
    assert tensor.ctypes.data == x.ctypes.data
    assert _values.to_tensor(x, 1, "x")[0] is x

    class Watched(np.ndarray):
        pass

    watched = np.zeros(3, np.float32).view(Watched)
    seen = weakref.ref(watched)
    model(watched)
    del watched
    model(x)
    gc.collect()
    assert seen() is None


def test_texts():
    model = identity(helper.make_tensor_type_proto(TensorProto.STRING, None))
    texts = np.array([["a", "", "äöü"], ["日本", "x" * 100, "nul\0inside"]], dtype=object)
    y = model(texts)["y"]
    assert y.dtype == object and y.shape == (2, 3) and y.tolist() == texts.tolist()
    assert model(np.array(["ab", "c"]))["y"].tolist() == ["ab", "c"]
    assert model(np.array([b"ab", b"c"]))["y"].tolist() == ["ab", "c"]
    assert model(np.array(["v", "w"], np.dtypes.StringDType()))["y"].tolist() == ["v", "w"]
    assert model(np.array("alone", dtype=object))["y"].shape == ()
    assert model(np.array([b"\xff"], dtype=object))["y"].tolist() == ["\udcff"]
    assert model(["a", "b"])["y"].tolist() == ["a", "b"]
    with pytest.raises(mica.Error):
        model(np.array([1, "b"], dtype=object))


def test_sequences():
    model = identity(helper.make_sequence_type_proto(tensor_of(np.dtype(np.float32))))
    items = [np.arange(3, dtype=np.float32), np.zeros((2, 2), np.float32)]
    got = model(items)["y"]
    assert isinstance(got, list) and len(got) == 2
    for one, other in zip(items, got):
        np.testing.assert_array_equal(one, other)
    assert model([])["y"] == []
    assert [item.dtype for item in model([[1, 2]])["y"]] == [np.float32]
    with pytest.raises(mica.Error) as caught:
        model(items[0])
    assert caught.value.code == 3002
    with pytest.raises(mica.Error):
        model([items[0], np.zeros(2)])


def test_optionals():
    tensor = tensor_of(np.dtype(np.float32))
    model = identity(helper.make_optional_type_proto(tensor))
    assert model(None)["y"] is None and model()["y"] is None
    np.testing.assert_array_equal(model(np.ones(2, np.float32))["y"], [1, 1])
    assert model(None)["y"] is None
    model = identity(helper.make_optional_type_proto(helper.make_sequence_type_proto(tensor)))
    assert model(None)["y"] is None
    np.testing.assert_array_equal(model([np.ones(2, np.float32)])["y"][0], [1, 1])


def test_a_type_that_needs_ml_dtypes_says_so(monkeypatch):
    model = identity(tensor_of(np.dtype(ml_dtypes.bfloat16)))
    x = np.ones(2, ml_dtypes.bfloat16)
    monkeypatch.setitem(__import__("sys").modules, "ml_dtypes", None)
    with pytest.raises(mica.Error, match="pip install ml_dtypes"):
        model(x)


def test_names_that_are_no_text_become_escapes():
    node = helper.make_node("Neg", ["x_name"], ["y_name"], name="o_name")
    ports = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n_name"]) for name in ("x_name", "y_name")]
    model = helper.make_model(helper.make_graph([node], "same", ports[:1], ports[1:]))
    model.producer_name, model.doc_string = "p_name", "d_name"
    loaded = mica.load(model.SerializeToString().replace(b"_name", b"_\xffame"), threads=1)
    assert loaded.inputs[0].name == "x_\\xffame" and loaded.inputs[0].shape == ("n_\\xffame",)
    assert loaded.metadata["producer"] == "p_\\xffame" and loaded.metadata["onnx.description"] == "d_\\xffame"
    x = np.ones(2, np.float32)
    np.testing.assert_array_equal(loaded(x)["y_\\xffame"], -x)
    assert [layer.name for layer in loaded.profile(x)] == ["o_\\xffame"] and mica.inspect(loaded, "plan")
    with pytest.raises(mica.Error) as caught:
        loaded(x.astype(np.float64))
    assert "x_\\xffame" in str(caught.value)
