"""ncnn in fp32: no half-precision storage or arithmetic. Files come from pnnx, which names ports in0, out0 and on."""
import ncnn
import numpy as np

SETS = ("x86_avx512", "x86_avx512_vnni", "x86_avx2", "x86_fma", "x86_avx", "arm_neon")


class Adapter:
    def __init__(self, threads):
        self.threads = threads

    def version(self):
        return ncnn.__version__

    def notes(self):
        told = [name for name in SETS if getattr(ncnn, f"cpu_support_{name}", lambda: 0)()]
        return ", ".join(told)

    def load(self, file, feed):
        net = ncnn.Net()
        net.opt.num_threads = self.threads
        net.opt.use_fp16_packed = net.opt.use_fp16_storage = net.opt.use_fp16_arithmetic = False
        net.opt.use_bf16_storage = False
        if net.load_param(file) != 0 or net.load_model(file.removesuffix("param") + "bin") != 0:
            raise RuntimeError("the files were not taken")
        return Runner(net, feed)


class Runner:
    def __init__(self, net, feed):
        self.net, self.results = net, []
        self.feed = []
        for k, value in enumerate(feed.values()):
            if value.dtype == np.int64:
                value = value.astype(np.int32)   # its only integers
            self.feed.append((f"in{k}", value, ncnn.Mat(np.ascontiguousarray(value[0]))))
        self.names = sorted(net.output_names(), key=lambda name: int(name.removeprefix("out")))

    def run(self):
        extractor = self.net.create_extractor()
        for name, _, mat in self.feed:
            extractor.input(name, mat)
        self.results = []
        for name in self.names:
            code, mat = extractor.extract(name)
            if code != 0:
                raise RuntimeError(f"the run failed with {code}")
            self.results.append(mat)

    def answers(self):
        return [np.array(mat) for mat in self.results]
