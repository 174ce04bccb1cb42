"""OpenVINO's CPU device in fp32, latency hint, on the processors that the process is pinned to."""
from collections import Counter

import openvino


class Adapter:
    def __init__(self, threads):
        self.core, self.model = openvino.Core(), None
        self.settings = {"PERFORMANCE_HINT": "LATENCY", "INFERENCE_NUM_THREADS": str(threads),
                         "INFERENCE_PRECISION_HINT": "f32", "ENABLE_CPU_PINNING": "NO"}

    def version(self):
        return openvino.__version__.split("-")[0]

    def notes(self):
        """The kinds of the convolutions and products of the network that is loaded."""
        if self.model is None:
            return ""
        kinds = Counter()
        for node in self.model.get_runtime_model().get_ops():
            info = node.get_rt_info()
            kind = str(info["layerType"].value) if "layerType" in info else ""
            if kind in ("Convolution", "MatMul", "FullyConnected") and "primitiveType" in info:
                kinds[str(info["primitiveType"].value)] += 1
        return ", ".join(f"{count} {kind}" for kind, count in kinds.most_common(3))

    def load(self, file, feed):
        self.model = self.core.compile_model(file, "CPU", self.settings)
        return Runner(self.model, feed)


class Runner:
    def __init__(self, model, feed):
        self.outputs, self.request = len(model.outputs), model.create_infer_request()
        for port in model.inputs:
            name = next(n for n in port.get_names() if n in feed)
            self.request.set_tensor(port, openvino.Tensor(feed[name], shared_memory=True))

    def run(self):
        self.request.infer()

    def answers(self):
        return [self.request.get_output_tensor(i).data.copy() for i in range(self.outputs)]
