"""A script written for onnxruntime, with its import changed."""
import numpy as np
import pytest

import mica.ort as onnxruntime

ort = onnxruntime


def test_the_shape_of_a_script(digits_path, held_back):
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.intra_op_num_threads = 1
    options.execution_mode = ort.ExecutionMode.ORT_SEQUENTIAL
    options.log_severity_level = 3
    session = ort.InferenceSession(str(digits_path), sess_options=options, providers=ort.get_available_providers())
    assert session.get_providers() == ["CPUExecutionProvider"] and ort.get_device() == "CPU"
    first = session.get_inputs()[0]
    assert (first.name, first.type, first.shape) == ("image", "tensor(float)", ["batch", 1, 8, 8])
    names = [output.name for output in session.get_outputs()]
    (scores,) = session.run(names, {first.name: held_back[0]})
    assert (scores.argmax(axis=1) == held_back[1]).sum() == 443
    (again,) = session.run(None, {first.name: held_back[0]}, ort.RunOptions())
    np.testing.assert_array_equal(scores, again)
    assert session.get_modelmeta().producer_name == "mica-digits"


def test_sources(digits_path):
    assert ort.InferenceSession(digits_path.read_bytes()).get_inputs()[0].name == "image"
    assert ort.InferenceSession(digits_path, None, [("CPUExecutionProvider", {})])


def test_providers_that_are_not_there(digits_path):
    wanted = [("CUDAExecutionProvider", {}), "FooProvider", "CPUExecutionProvider"]
    with pytest.warns(UserWarning) as told:
        session = ort.InferenceSession(digits_path, None, wanted)
    assert [str(one.message).split("'")[1] for one in told] == ["CUDAExecutionProvider", "FooProvider"]
    assert session.get_providers() == ["CPUExecutionProvider"] and told[0].filename == __file__
    with pytest.warns(UserWarning, match="FooProvider"):
        session.set_providers(["FooProvider"])
    for wrong in ("CPUExecutionProvider", [5], [()]):
        with pytest.raises(ValueError, match="providers are a list"):
            ort.InferenceSession(digits_path, providers=wrong)


def test_dimensions_are_overridden(digits_path):
    options = ort.SessionOptions()
    options.add_free_dimension_override_by_name("batch", 4)
    session = ort.InferenceSession(digits_path, options)
    assert session.get_inputs()[0].shape == [4, 1, 8, 8]


def test_ort_values(digits_path, held_back):
    session = ort.InferenceSession(digits_path)
    value = ort.OrtValue.ortvalue_from_numpy(held_back[0])
    assert value.data_type() == "tensor(float)" and value.shape() == list(held_back[0].shape)
    assert value.device_name() == "cpu" and value.is_tensor() and value.element_type() == 1
    (result,) = session.run_with_ort_values(["probabilities"], {"image": value})
    np.testing.assert_array_equal(result.numpy(), session.run(None, {"image": held_back[0]})[0])
    binding = session.io_binding()
    binding.bind_cpu_input("image", held_back[0])
    binding.bind_output("probabilities")
    session.run_with_iobinding(binding)
    np.testing.assert_array_equal(binding.copy_outputs_to_cpu()[0], result.numpy())


def test_errors(digits_path, tmp_path):
    errors = ort.capi.onnxruntime_pybind11_state
    session = ort.InferenceSession(digits_path)
    good = np.zeros((1, 1, 8, 8), np.float32)
    for names, feed in (
        (None, {}),
        (None, {"picture": good}),
        (["scores"], {"image": good}),
        (None, {"image": good.astype(np.float64)}),
        (None, {"image": good[0]}),
        (None, {"image": good[:, :, :4]}),
    ):
        with pytest.raises(errors.InvalidArgument):
            session.run(names, feed)
    with pytest.raises(errors.NoSuchFile):
        ort.InferenceSession(tmp_path / "none.onnx")
    with pytest.raises(errors.InvalidProtobuf):
        ort.InferenceSession(b"no model at all")
    with pytest.raises(errors.Fail):
        raise errors.Fail(7001, "gone")
    with pytest.raises(RuntimeError):  # as scripts that catch anything of onnxruntime's do
        session.run(None, {})
