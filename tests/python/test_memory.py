"""Memory that is shared rather than copied: outputs in the caller's arrays, DLPack in both directions, torch."""
import gc
import weakref

import numpy as np
import pytest

import mica

CHAIN = """graph "chain"
  symbol N input
  input %x: TYPE[N,4] "x"
  %y = identity(%x)
  %z = neg(%x)
  output %z "z"
  output %y "y"
end
"""


@pytest.fixture
def chain(graph):
    return lambda element="f32": mica.load(graph(CHAIN.replace("TYPE", element)), threads=1)


X = np.arange(12, dtype=np.float32).reshape(3, 4)


def code_of(call, *args, **named):
    with pytest.raises(mica.Error) as caught:
        call(*args, **named)
    return caught.value.code


def test_outputs_in_the_callers_memory(chain):
    model = chain()
    z = np.full((3, 4), 7, np.float32)
    found = model.run({"x": X}, out={"z": z})
    assert found["z"] is z and list(found) == ["z", "y"]
    np.testing.assert_array_equal(z, -X)
    np.testing.assert_array_equal(found["y"], X)
    found = model.run({"x": X + 1}, ["y"])
    np.testing.assert_array_equal(z, -X)  # held for one run
    row = np.zeros((5, 4), np.float32)
    assert list(model.run({"x": X}, ["z"], out={"z": row[1:4]})) == ["z"]
    np.testing.assert_array_equal(row, np.concatenate([np.zeros((1, 4)), -X, np.zeros((1, 4))]))


def test_memory_that_an_output_cannot_have(chain):
    model = chain()
    frozen = np.zeros((3, 4), np.float32)
    frozen.flags.writeable = False
    for place in (frozen, frozen.T, np.zeros((6, 4), np.float32)[::2], np.zeros((3, 4), ">f4"), [[0.0] * 4] * 3):
        assert code_of(model.run, {"x": X}, out={"z": place}) == 6001
    assert code_of(model.run, {"x": X}, out={"z": np.zeros((3, 4))}) == 3002
    assert code_of(model.run, {"x": X}, out={"z": np.zeros((4, 3), np.float32)}) == 3001
    assert code_of(model.run, {"x": X}, out={"a": X.copy()}) == 6002
    assert code_of(model.run, {"x": X}, ["y"], out={"z": X.copy()}) == 6001
    np.testing.assert_array_equal(model(X)["z"], -X)


def test_memory_is_let_go(chain):
    model = chain()

    class Watched(np.ndarray):
        pass

    place = np.zeros((3, 4), np.float32).view(Watched)
    seen = weakref.ref(place)
    model.run({"x": X}, out={"z": place})
    del place
    gc.collect()
    assert seen() is None


def test_outputs_by_dlpack(chain):
    y = chain()(X)["y"]
    again = np.from_dlpack(y)
    assert again.ctypes.data == y.ctypes.data
    assert mica.to_dlpack(y) is y


def test_dlpack_of_types_that_numpy_does_not_hand_on(chain):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    x = X.astype(ml_dtypes.bfloat16)
    y = chain("bf16")(x)["y"]
    with pytest.raises((BufferError, TypeError)):
        y.__dlpack__()
    handed = mica.to_dlpack(y)
    assert handed.__dlpack_device__() == (1, 0)
    np.testing.assert_array_equal(chain("bf16")(handed)["y"].astype(np.float32), X)
    assert code_of(mica.to_dlpack, np.zeros(4, ml_dtypes.int4)) == 6001
    assert code_of(mica.to_dlpack, np.array(["a"], dtype=object)) == 6001


def test_torch_in_place(chain):
    torch = pytest.importorskip("torch")
    x = torch.arange(12, dtype=torch.float32).reshape(3, 4)
    model = chain()
    z = torch.zeros(3, 4)
    found = model.run({"x": x}, out={"z": z})
    assert found["z"] is z and bool((z == -x).all())
    y = torch.from_dlpack(found["y"])
    assert y.data_ptr() == found["y"].ctypes.data and bool((y == x).all())
    assert bool((torch.from_dlpack(model(x.t().contiguous().t())["y"]) == x).all())
    assert bool((torch.from_numpy(model(x[:, :].clone())["z"]) == -x).all())
    from mica._values import to_tensor

    assert to_tensor(x, 1, "x")[0].ctypes.data == x.data_ptr()


def test_torch_types_that_numpy_does_not_have(chain):
    torch = pytest.importorskip("torch")
    x = torch.arange(12).reshape(3, 4).to(torch.bfloat16)
    z = torch.zeros(3, 4, dtype=torch.bfloat16)
    found = chain("bf16").run({"x": x}, out={"z": z})
    assert bool((z == -x).all())
    y = torch.from_dlpack(mica.to_dlpack(found["y"]))
    assert y.data_ptr() == found["y"].ctypes.data and bool((y == x).all())
