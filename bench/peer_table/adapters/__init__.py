"""One file for each peer, all with the same interface:

    Adapter(threads)           imports the library
        .version()             of the library, as text
        .notes()               what the library itself says about instruction sets, or ""
        .load(file, feed)      → Runner; `feed`: input name → array, which stays alive and unchanged
    Runner.run()               one inference, complete on return
    Runner.answers()           the outputs of the last run as arrays, in the order of the source model

FILES says which form of a network each peer takes: the suffix of its file.
"""
FILES = {"mica": ".mica", "onnxruntime": ".onnx", "openvino": ".onnx", "mnn": ".mnn", "ncnn": ".ncnn.param",
         "litert": ".tflite", "tract": ".onnx"}
TITLES = {"mica": "Mica", "onnxruntime": "ONNX Runtime", "openvino": "OpenVINO", "mnn": "MNN", "ncnn": "ncnn",
          "litert": "LiteRT", "tract": "tract"}
