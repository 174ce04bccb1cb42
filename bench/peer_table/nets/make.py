#!/usr/bin/env python3
"""Makes networks of the table: make.py FOLDER NET...   (with torch, torchvision, timm, onnx and litert-torch)

For each: NET.onnx, NET.inputs.npz, NET.reference.npz (torch's answers), NET.json (FLOPs, parameters, spread of the
activations), NET.tflite or NET.litert.error. NET.json is written last: it says that the others are there.
"""
import json
import logging
import sys
import warnings
import zlib
from pathlib import Path

# Not this folder, whose files bear common names, and the package's own folder after those of the libraries.
sys.path[:] = [*sys.path[1:], str(Path(__file__).resolve().parents[2])]

import numpy as np  # noqa: E402
import onnx  # noqa: E402
import torch  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn.attention import SDPBackend, sdpa_kernel  # noqa: E402
from torch.utils.flop_counter import FlopCounterMode  # noqa: E402

from peer_table import nets  # noqa: E402
from peer_table.nets import calibrate, own, zoo  # noqa: E402

MAKERS = zoo.MAKERS | own.MAKERS
OPSET = 17


def feed_of(shapes):
    """Standard normal numbers; word numbers where an input is a list of words."""
    return tuple(torch.randint(0, 30000, shape) if name == "tokens" else torch.randn(shape)
                 for name, shape in shapes.items())


def flops_of(model, feed):
    """A multiply-add counts two. The counter knows neither fused attention, which is counted as its two products, nor
    recurrent cells: four gates over inputs and state."""
    counter = FlopCounterMode(display=False)
    with counter, sdpa_kernel(SDPBackend.MATH), torch.no_grad():
        model(*feed)
    total = counter.get_total_flops()
    for layer in model.modules():
        if isinstance(layer, nn.LSTM):
            steps = feed[0].shape[1]
            for k in range(layer.num_layers):
                inputs = layer.input_size if k == 0 else layer.hidden_size
                total += 2 * steps * 4 * layer.hidden_size * (inputs + layer.hidden_size)
    return total


def export_onnx(model, feed, names, path):
    torch.onnx.export(model, feed, path, input_names=names, dynamo=False, opset_version=OPSET)
    made = onnx.load(path)
    for constant in made.graph.initializer:
        value = onnx.numpy_helper.to_array(constant)
        if value.dtype == np.float32 and ((value != 0) & (np.abs(value) < np.finfo(np.float32).tiny)).any():
            raise ValueError(f"{constant.name} holds denormal numbers")


def export_tflite(model, feed, path):
    """Channels last where an input or output is a picture: what the format's kernels work on."""
    import litert_torch
    pictures = [k for k, value in enumerate(feed) if value.ndim == 4]
    with torch.no_grad():
        answers = model(*feed)
    answers = answers if isinstance(answers, tuple) else (answers,)
    maps = [k for k, value in enumerate(answers) if value.ndim == 4]
    if pictures:
        model = litert_torch.to_channel_last_io(model, args=pictures, outputs=maps)
        feed = tuple(v.permute(0, 2, 3, 1).contiguous() if k in pictures else v for k, v in enumerate(feed))
    litert_torch.convert(model, feed).export(str(path))


def make(folder, name):
    torch.manual_seed(zlib.crc32(name.encode()))
    maker, shapes = MAKERS[name]
    model, feed = maker().eval(), feed_of(shapes)
    model.requires_grad_(False)
    calibrate.unit_variance(model, feed)
    answers, spans = calibrate.check(model, feed)
    answers = answers if isinstance(answers, tuple) else (answers,)
    path = Path(folder) / name
    nets.forget(folder, name)  # by older makers, and only now that there is another to take its place
    np.savez(f"{path}.inputs.npz", **{n: value.numpy() for n, value in zip(shapes, feed)})
    np.savez(f"{path}.reference.npz", *[a.numpy() for a in answers])
    about = {"net": name, "flops": flops_of(model, feed), "parameters": sum(p.numel() for p in model.parameters()),
             "inputs": {n: list(s) for n, s in shapes.items()}, "deviations": spans, "torch": torch.__version__,
             "maker": nets.maker()}
    export_onnx(model, feed, list(shapes), f"{path}.onnx")
    error = Path(f"{path}.litert.error")
    try:
        error.write_text("the conversion ended the process")
        export_tflite(model, feed, f"{path}.tflite")
        error.unlink()
    except Exception as failure:
        error.write_text(f"{type(failure).__name__}: {failure}"[:500])
    Path(f"{path}.json").write_text(json.dumps(about, indent=1) + "\n")
    spread = ", ".join(f"{kind} {span[0]:.2f} to {span[1]:.2f}" for kind, span in spans.items() if span)
    print(f"{name}: {about['flops'] / 1e9:.3f} GFLOP, {about['parameters'] / 1e6:.2f} M parameters, "
          f"deviation of {spread}{', no .tflite' if error.exists() else ''}", flush=True)


def main():
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    folder, names = sys.argv[1], sys.argv[2:]
    for name in names:
        try:
            make(folder, name)
        except Exception as failure:
            print(f"{name}: FAILED: {type(failure).__name__}: {failure}"[:600], flush=True)


if __name__ == "__main__":
    main()
