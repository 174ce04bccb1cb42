"""What ONNX Runtime makes of an export's cases: prints the first thing that is wrong, or nothing. judge.py FOLDER"""

import os
import sys

import numpy as np
import onnxruntime

from compare import difference


def main(folder):
    options = onnxruntime.SessionOptions()
    options.log_severity_level, options.intra_op_num_threads = 4, 1
    session = onnxruntime.InferenceSession(os.path.join(folder, "model.onnx"), options)
    for name in sorted(entry for entry in os.listdir(folder) if entry.startswith("case")):
        data = np.load(os.path.join(folder, name))
        feeds = {key[3:]: data[key] for key in data.files if key.startswith("in:")}
        outputs = [output.name for output in session.get_outputs()]
        for output, got in zip(outputs, session.run(outputs, feeds)):
            if trouble := difference(got, data["out:" + output]):
                return f"{name[:-4]}: output {output}: {trouble}"
    return ""


if __name__ == "__main__":
    try:
        print(main(sys.argv[1]))
    except Exception as error:  # it refused the model
        print(" ".join(str(error).split())[:300])
