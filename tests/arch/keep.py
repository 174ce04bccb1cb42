"""Copies small exports of a cache of run.py to kept/: those over --limit bytes are refused.

Needs onnx: where torch wrote its sources' places (stack traces, module names) into nodes, they are taken out.
"""

import argparse
import os
import shutil
import sys

import numpy as np
import onnx

HERE = os.path.dirname(os.path.abspath(__file__))


def strip(holder):
    """Takes notes out of a model, graph, function, node or value, and out of what it holds."""
    for field in ("doc_string", "metadata_props"):
        if hasattr(holder, field):
            holder.ClearField(field)
    for field in ("graph", "functions", "node", "input", "output", "value_info", "initializer", "attribute", "g"):
        if not hasattr(holder, field):
            continue
        inner = getattr(holder, field)
        for item in inner if hasattr(inner, "__len__") else [inner] if holder.HasField(field) else []:
            if not isinstance(item, str):
                strip(item)


def keep(source, target):
    """Copies the export without notes, its outside data, and its cases, compressed."""
    shutil.rmtree(target, ignore_errors=True)
    os.makedirs(target)
    for name in sorted(os.listdir(source)):
        path = os.path.join(source, name)
        if name == "model.onnx":
            model = onnx.load(path, load_external_data=False)
            strip(model)
            onnx.save(model, os.path.join(target, name))
        elif name.startswith("case"):
            np.savez_compressed(os.path.join(target, name), **np.load(path))
        elif name.endswith(".data"):
            shutil.copy(path, target)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cache")
    parser.add_argument("names", nargs="+", metavar="NAME.KIND")
    parser.add_argument("--limit", type=int, default=1_000_000)
    options = parser.parse_args()
    for name in options.names:
        folder = os.path.join(options.cache, name)
        size = sum(os.path.getsize(os.path.join(folder, entry)) for entry in os.listdir(folder))
        if size > options.limit or not os.path.exists(os.path.join(folder, "case0.npz")):
            print(f"{name}: not kept ({size} bytes)")
        else:
            keep(folder, os.path.join(HERE, "kept", name))
    return 0


if __name__ == "__main__":
    sys.exit(main())
