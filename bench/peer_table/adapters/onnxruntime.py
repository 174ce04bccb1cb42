"""ONNX Runtime on its CPU provider, inputs and outputs bound once so that a run copies nothing."""
import onnxruntime


class Adapter:
    def __init__(self, threads):
        self.options = onnxruntime.SessionOptions()
        self.options.intra_op_num_threads = threads
        self.options.inter_op_num_threads = 1

    def version(self):
        return onnxruntime.__version__

    def notes(self):
        return ""

    def load(self, file, feed):
        return Runner(onnxruntime.InferenceSession(file, self.options, providers=["CPUExecutionProvider"]), feed)


class Runner:
    def __init__(self, session, feed):
        self.session, self.bound = session, session.io_binding()
        for wanted in session.get_inputs():
            self.bound.bind_cpu_input(wanted.name, feed[wanted.name])
        for output in session.get_outputs():
            self.bound.bind_output(output.name)

    def run(self):
        self.session.run_with_iobinding(self.bound)

    def answers(self):
        return self.bound.copy_outputs_to_cpu()
