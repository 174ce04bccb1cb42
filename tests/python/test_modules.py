"""Operators of the optional modules: ImageDecoder beside Pillow, on damaged files too; RegexFullMatch; Tokenizer, whose
answers tests/contrib compares with ONNX Runtime's."""
import io

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
Image = pytest.importorskip("PIL.Image")

import mica

FORMATS = {"BMP": 0, "PNG": 0, "PPM": 0, "TIFF": 0, "JPEG": 1, "WEBP": 12, "JPEG2000": 1}  # greatest difference


def model_of(op, kind, result, **attributes):
    domain = "com.microsoft" if op == "Tokenizer" else ""
    node = onnx.helper.make_node(op, ["x"], ["y"], domain=domain, **attributes)
    port = onnx.helper.make_tensor_value_info
    graph = onnx.helper.make_graph([node], op, [port("x", kind, ["N"])], [port("y", result, None)])
    opsets = [onnx.helper.make_opsetid("", 20), onnx.helper.make_opsetid("com.microsoft", 1)]
    try:
        return mica.load(onnx.helper.make_model(graph, opset_imports=opsets))
    except mica.Error as error:
        if "is not in this build" in str(error):
            pytest.skip(str(error))
        raise


def decoder(pixel_format="RGB"):
    return model_of("ImageDecoder", onnx.TensorProto.UINT8, onnx.TensorProto.UINT8, pixel_format=pixel_format)


def encoded(kind):
    y, x = np.mgrid[:37, :53]
    pixels = np.stack([4 * x, 5 * y, 2 * (x + y)], -1).astype(np.uint8)
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, kind)
    return np.frombuffer(buffer.getvalue(), np.uint8)


@pytest.mark.parametrize("kind", FORMATS)
def test_pictures(kind):
    data = encoded(kind)
    expected = np.asarray(Image.open(io.BytesIO(data.tobytes())).convert("RGB")).astype(int)
    got = decoder()(x=data)["y"]
    assert got.dtype == np.uint8 and got.shape == expected.shape
    assert np.abs(got - expected).max() <= FORMATS[kind]
    np.testing.assert_array_equal(decoder("BGR")(x=data)["y"], got[..., ::-1])
    gray = decoder("Grayscale")(x=data)["y"]
    assert gray.shape == (37, 53, 1)
    assert np.abs(gray[..., 0] - got @ [0.299, 0.587, 0.114]).max() <= 1


@pytest.mark.parametrize("kind", FORMATS)
def test_damaged_pictures(kind):
    data, model, random = encoded(kind), decoder(), np.random.RandomState(1)
    refused = 0
    for _ in range(150):
        spoiled = data[: random.randint(1, data.size + 1)].copy() if random.rand() < 0.3 else data.copy()
        spoiled[random.randint(0, min(spoiled.size, 200), 1 + random.randint(6))] = random.randint(256)
        try:
            result = model(x=spoiled)["y"]
            assert result.ndim == 3 and result.size <= 3 << 26
        except mica.Error:
            refused += 1
    assert refused > 0


def test_no_picture():
    for bytes_ in (b"", b"P6", b"BM", b"hello, world", b"P6 70000 70000 255 "):
        with pytest.raises(mica.Error):
            decoder()(x=np.frombuffer(bytes_, np.uint8))


def test_texts():
    model = model_of("RegexFullMatch", onnx.TensorProto.STRING, onnx.TensorProto.BOOL, pattern=r"a+b\d*")
    texts = np.array(["ab", "aab12", "ba", "", "aab1x"], object)
    np.testing.assert_array_equal(model(x=texts)["y"], [True, True, False, False, False])
    with pytest.raises(mica.Error):
        model_of("RegexFullMatch", onnx.TensorProto.STRING, onnx.TensorProto.BOOL, pattern="a(")(x=texts)


def tokenizer(**attributes):
    text = onnx.TensorProto.STRING
    return model_of("Tokenizer", text, text, **{"mark": 0, "pad_value": "#", "mincharnum": 1} | attributes)


def test_tokens():
    x = np.array(["a b", "", "\u00e4\u20ac"], object)
    assert tokenizer(separators=[" "], mark=1)(x=x)["y"].tolist() == [
        ["\2", "a", "b", "\3"], ["\2", "\3", "#", "#"], ["\2", "\u00e4\u20ac", "\3", "#"]]  # fmt: skip
    assert tokenizer(separators=[""])(x=x)["y"].tolist() == [["a", " ", "b"], ["#"] * 3, ["\u00e4", "\u20ac", "#"]]
    # Where no text has a token there is no place for one; the rank stays.
    assert tokenizer(tokenexp="z+", mark=1)(x=x)["y"].shape == (3, 0)
    assert tokenizer(tokenexp="z+")(x=np.empty(0, object))["y"].shape == (0, 0)


@pytest.mark.parametrize("wrong", [{}, {"tokenexp": "("}, {"separators": ["["]}, {"separators": [" "], "mincharnum": 0},
                                   {"separators": [""], "mincharnum": 2}, {"tokenexp": ""}])  # fmt: skip
def test_tokenizer_refuses(wrong):
    with pytest.raises(mica.Error):
        tokenizer(**wrong)(x=np.array(["a"], object))


@pytest.mark.parametrize("shape", [(), (1, 1, 1)])
def test_tokenizer_refuses_ranks(shape):
    with pytest.raises(mica.Error):
        tokenizer(separators=[" "])(x=np.full(shape, "a", object))
