"""MNN's CPU backend with full fp32 precision."""
import MNN
import numpy as np

KINDS = {"float32": MNN.Halide_Type_Float, "int32": MNN.Halide_Type_Int}


class Adapter:
    def __init__(self, threads):
        self.config = {"numThread": threads, "backend": "CPU", "precision": "high"}

    def version(self):
        return MNN.version()

    def notes(self):
        return ""

    def load(self, file, feed):
        return Runner(MNN.Interpreter(file), self.config, feed)


class Runner:
    def __init__(self, interpreter, config, feed):
        self.interpreter, self.kept = interpreter, []
        self.session = interpreter.createSession(config)
        if self.session is None:
            raise RuntimeError("no session was made")
        wanted = interpreter.getSessionInputAll(self.session)
        for name, value in feed.items():
            if value.dtype == np.int64:
                value = value.astype(np.int32)   # its only integers
            host = MNN.Tensor(value.shape, KINDS[value.dtype.name], value, MNN.Tensor_DimensionType_Caffe)
            if name not in wanted or not wanted[name].copyFrom(host):
                raise RuntimeError(f"input {name} of {sorted(wanted)} was not taken")
            self.kept.append((value, host))

    def run(self):
        if self.interpreter.runSession(self.session) != 0:
            raise RuntimeError("the run failed")

    def answers(self):
        """In the order of the names, which the exporter numbers."""
        made = []
        outputs = self.interpreter.getSessionOutputAll(self.session)
        for name in sorted(outputs):
            shape = outputs[name].getShape()
            host = MNN.Tensor(shape, MNN.Halide_Type_Float, np.zeros(shape, np.float32),
                              MNN.Tensor_DimensionType_Caffe)
            outputs[name].copyToHostTensor(host)
            made.append(np.array(host.getData(), np.float32).reshape(shape))
        return made
