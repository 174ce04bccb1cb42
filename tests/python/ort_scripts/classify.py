"""A classifier from the command line: the three best classes of each picture."""
import argparse

import numpy as np
import onnxruntime as ort


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    available = ort.get_available_providers()
    wanted = ("TensorrtExecutionProvider", "CUDAExecutionProvider", "CPUExecutionProvider")
    providers = [provider for provider in wanted if provider in available]
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.intra_op_num_threads = args.threads
    options.inter_op_num_threads = 1
    options.execution_mode = ort.ExecutionMode.ORT_SEQUENTIAL
    options.enable_mem_pattern = False
    options.enable_cpu_mem_arena = False
    options.log_severity_level = 3
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    session = ort.InferenceSession(args.model, sess_options=options, providers=providers)
    print(session.get_providers())
    input_name = session.get_inputs()[0].name
    output_names = [output.name for output in session.get_outputs()]
    _, channels, height, width = session.get_inputs()[0].shape
    pictures = np.random.RandomState(0).rand(4, channels, height, width).astype(np.float32)
    scores = session.run(output_names, {input_name: pictures})[0]
    for row in softmax(scores):
        best = np.argsort(-row)[:3]
        print(" ".join(f"{k}:{row[k]:.3f}" for k in best))


if __name__ == "__main__":
    main()
