"""What a service does with requests that are wrong."""
import sys

import numpy as np
import onnxruntime as ort
from onnxruntime.capi.onnxruntime_pybind11_state import InvalidArgument, InvalidProtobuf, NoSuchFile

session = ort.InferenceSession(sys.argv[1])
good = np.zeros((1, 1, 8, 8), np.float32)


def attempt(call, *kinds):
    try:
        call()
    except kinds as error:
        print("refused", bool(str(error)))
    else:
        print("taken")


attempt(lambda: session.run(None, {"image": good.astype(np.float64)}), InvalidArgument)
attempt(lambda: session.run(None, {"image": good[0]}), InvalidArgument)
attempt(lambda: session.run(None, {"image": good[:, :, :4]}), InvalidArgument)
attempt(lambda: session.run(["no such output"], {"image": good}), InvalidArgument)
attempt(lambda: session.run(None, {}), ValueError)
attempt(lambda: session.run(None, {"picture": good}), ValueError)
attempt(lambda: ort.InferenceSession("no/such/file.onnx"), NoSuchFile)
attempt(lambda: ort.InferenceSession(b"not a model"), InvalidProtobuf)
attempt(lambda: session.run(None, {"image": good}), Exception)
options = ort.RunOptions()
options.terminate = True
attempt(lambda: session.run(None, {"image": good}, options), Exception)
options.terminate = False
attempt(lambda: session.run(None, {"image": good}, options), Exception)
