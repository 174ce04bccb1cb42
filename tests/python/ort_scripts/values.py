"""Values as onnxruntime wraps them."""
import sys

import numpy as np
from onnxruntime import InferenceSession, OrtValue, RunOptions

session = InferenceSession(sys.argv[1], providers=["CPUExecutionProvider"])
x = np.full((3, 1, 8, 8), 0.5, np.float32)
value = OrtValue.ortvalue_from_numpy(x)
print(value.device_name(), value.shape(), value.data_type(), value.is_tensor(), value.has_value(), value.element_type())
(y,) = session.run_with_ort_values(["probabilities"], {"image": value}, RunOptions())
print(y.data_type(), y.shape(), np.allclose(y.numpy(), session.run(None, {"image": x})[0], atol=1e-6))
print(np.allclose(np.from_dlpack(y._ortvalue) if hasattr(y, "_ortvalue") else np.from_dlpack(y), y.numpy()))
zeros = OrtValue.ortvalue_from_shape_and_type([2, 3], np.int64)
zeros.update_inplace(np.arange(6, dtype=np.int64).reshape(2, 3))
print(zeros.numpy().tolist(), zeros.data_type(), zeros.element_type())
half = OrtValue.ortvalue_from_numpy(np.zeros(2, np.float16))
print(half.data_type(), half.is_tensor_sequence(), half.is_sparse_tensor())
options = RunOptions()
options.log_severity_level = 3
options.add_run_config_entry("memory.enable_memory_arena_shrinkage", "cpu:0")
print(session.run(["probabilities"], {"image": x}, run_options=options)[0].shape)
