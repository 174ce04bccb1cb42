"""One session that a pool of threads shares, and the dimension overridden by name."""
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import onnxruntime

onnxruntime.set_default_logger_severity(3)
session = onnxruntime.InferenceSession(sys.argv[1], providers=[("CPUExecutionProvider", {"use_arena": "1"})])
x = np.random.default_rng(1).random((40, 1, 8, 8), np.float32)
whole = session.run(None, {"image": x})[0]
with ThreadPoolExecutor(4) as pool:
    parts = list(pool.map(lambda k: session.run(None, {"image": x[k : k + 1]})[0], range(40)))
print(np.allclose(np.concatenate(parts), whole, atol=1e-5))
options = onnxruntime.SessionOptions()
options.add_free_dimension_override_by_name("batch", 40)
options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
fixed = onnxruntime.InferenceSession(sys.argv[1], options, providers=["CPUExecutionProvider"])
print(fixed.get_inputs()[0].shape, np.allclose(fixed.run(None, {"image": x})[0], whole, atol=1e-5))
