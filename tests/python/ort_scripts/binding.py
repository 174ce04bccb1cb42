"""Inputs and outputs that are bound once and used by many runs, by array, value and address."""
import sys

import numpy as np
import onnxruntime as ort

with open(sys.argv[1], "rb") as file:
    session = ort.InferenceSession(file.read(), providers=["CPUExecutionProvider"])
x = np.arange(2 * 64, dtype=np.float32).reshape(2, 1, 8, 8) / 128
expected = session.run(None, {"image": x})[0]

binding = session.io_binding()
binding.bind_cpu_input("image", x)
binding.bind_output("probabilities")
session.run_with_iobinding(binding)
print(np.abs(binding.copy_outputs_to_cpu()[0] - expected).max() < 1e-6)

y = np.zeros((2, 10), np.float32)
binding = session.io_binding()
binding.bind_input(
    name="image", device_type="cpu", device_id=0, element_type=np.float32, shape=x.shape, buffer_ptr=x.ctypes.data
)
binding.bind_output("probabilities", "cpu", 0, np.float32, y.shape, y.ctypes.data)
session.run_with_iobinding(binding)
print(np.abs(y - expected).max() < 1e-6)
x[:] = 1 - x
session.run_with_iobinding(binding, ort.RunOptions())
print(np.abs(y - session.run(["probabilities"], {"image": x})[0]).max() < 1e-6)

given = ort.OrtValue.ortvalue_from_numpy(x, "cpu", 0)
place = ort.OrtValue.ortvalue_from_shape_and_type([2, 10], np.float32, "cpu", 0)
binding.clear_binding_inputs()
binding.clear_binding_outputs()
binding.bind_ortvalue_input("image", given)
binding.bind_ortvalue_output("probabilities", place)
binding.synchronize_inputs()
session.run_with_iobinding(binding)
binding.synchronize_outputs()
print(np.abs(place.numpy() - y).max() < 1e-6, len(binding.get_outputs()), binding.get_outputs()[0].shape())
