"""A decoder that feeds its growing cache back, first through arrays, then through values that stay bound."""
import sys

import numpy as np
import onnxruntime as ort

session = ort.InferenceSession(sys.argv[1], providers=["CPUExecutionProvider"])
names = [output.name for output in session.get_outputs()]
caches = {i.name for i in session.get_inputs() if i.name.startswith("past")}
print(sorted(caches), [i.shape for i in session.get_inputs()])


def start():
    return {name: np.zeros((1, 0, 4), np.float32) for name in caches}


def by_arrays(steps):
    feed, said = start(), []
    token = np.array([[1]], np.int64)
    for step in range(steps):
        logits, *present = session.run(names, {"token": token, **feed})
        token = (logits[:, -1:].argmax(-1) + step) % 5
        feed = dict(zip(("past_key", "past_value"), present))
        said.append(int(token.item()))
    return said, present[0].shape


def by_binding(steps):
    binding, said = session.io_binding(), []
    token = np.array([[1]], np.int64)
    for name, value in start().items():
        binding.bind_cpu_input(name, value)
    for step in range(steps):
        binding.bind_cpu_input("token", token)
        for name in names:
            binding.bind_output(name, "cpu")
        session.run_with_iobinding(binding)
        logits, key, value = binding.get_outputs()
        token = (logits.numpy()[:, -1:].argmax(-1) + step) % 5
        binding.bind_ortvalue_input("past_key", key)
        binding.bind_ortvalue_input("past_value", value)
        binding.clear_binding_outputs()
        said.append(int(token.item()))
    return said, tuple(key.shape())


one, other = by_arrays(12), by_binding(12)
print(one, one == other)
