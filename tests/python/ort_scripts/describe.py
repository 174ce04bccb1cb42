"""What a model takes, gives, and says of itself."""
import sys

import onnxruntime

session = onnxruntime.InferenceSession(sys.argv[1], providers=["CPUExecutionProvider"])
for kind, values in (("in", session.get_inputs()), ("out", session.get_outputs())):
    for value in values:
        shape = [size if isinstance(size, int) else 1 for size in value.shape]
        print(kind, value.name, value.type, value.shape, shape)
meta = session.get_modelmeta()
print(meta.producer_name, meta.graph_name, repr(meta.domain), repr(meta.description), meta.version)
print(repr(meta.graph_description), sorted(meta.custom_metadata_map))
print(len(session.get_overridable_initializers()), onnxruntime.get_device())
options = session.get_session_options()
print(options.enable_profiling, options.execution_mode == onnxruntime.ExecutionMode.ORT_SEQUENTIAL)
