"""Exports architectures: reads lines {"name", "kind", "folder"} and answers each with a line {"state", "detail", ...}.

A process of its own, because an exporter may crash or never end. kind is script (the TorchScript-based exporter),
dynamo, or one of them with -open at the end: the axes that the architecture names are left open, and two more sets of
inputs differ there.
"""

import hashlib
import json
import logging
import os
import sys
import warnings

import numpy as np

OPSETS = {"script": (17, 13, 18, 11), "dynamo": (18, 20, 18, 23)}


def seed_of(text):
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "little")


def leaves(value, key=""):
    """The tensors of whatever a module returns, in order; caches are left out."""
    import torch

    if isinstance(value, torch.Tensor):
        return [value]
    if "cache" in type(value).__name__.lower() or key in ("past_key_values", "cache_params", "state"):
        return []
    if hasattr(value, "items"):
        return [leaf for name, item in value.items() for leaf in leaves(item, name)]
    if isinstance(value, (tuple, list)):
        return [leaf for item in value for leaf in leaves(item)]
    return []


def randomise(module):
    """Parameters that start as constants (norms, layer scales, zero heads) get values: every branch counts."""
    import torch

    with torch.no_grad():
        for name, buffer in module.named_buffers():
            if name.endswith("running_mean"):
                buffer.normal_(0, 0.1)
            elif name.endswith("running_var"):
                buffer.uniform_(0.8, 1.25)
        for parameter in module.parameters():
            if (
                parameter.dtype.is_floating_point
                and parameter.numel()
                and float(parameter.max()) == float(parameter.min())
            ):
                parameter.add_(torch.randn_like(parameter) * (0.1 if parameter.dim() < 2 else 0.05))


def wrap(module, names, fixed):
    """A module with exactly these positional inputs that returns a flat tuple of tensors."""
    import torch

    class Flat(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = module

        def call(self, tensors):
            given = dict(zip(names, tensors), **fixed)
            first = next(iter(given))
            result = (
                self.inner(given.pop(first), **given)
                if first in ("x", "inputs", "image1")
                else self.inner(**{first: given.pop(first)}, **given)
            )
            return tuple(leaves(result))

    space = {}
    exec(f"def forward(self, {', '.join(names)}): return self.call([{', '.join(names)}])", space)
    Flat.forward = space["forward"]
    return Flat().eval()


def varied(inputs, vary, more=0):
    """The same inputs with other sizes on the axes that stay open: `more` is added to each axis's factor."""
    import torch

    result = {}
    for name, value in inputs.items():
        for axis, (_, factor) in vary.get(name, {}).items():
            times = factor + more
            value = value.repeat_interleave(times, axis) if "mask" in name else torch.cat([value] * times, axis)
        if name in vary and "mask" not in name:
            value = (
                value + 0.3 * torch.randn_like(value)
                if value.dtype.is_floating_point
                else value.flatten()[torch.randperm(value.numel())].view(value.shape)
            )
        result[name] = value
    return result


def references(flat, tensors):
    import torch

    with torch.no_grad():
        return [value.detach().cpu().numpy() for value in flat(*[value.clone() for value in tensors])]


def usable(arrays):
    """References must be finite and must not all be empty or constant."""
    lively = False
    for array in arrays:
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            return "a reference is not finite"
        lively = lively or (array.size > 1 and array.max() != array.min())
    return "" if lively else "the references are empty or constant"


def export(flat, inputs, kind, path, architecture):
    import torch

    vary, seed = architecture.vary, seed_of(architecture.name)
    exporter, _, dynamic = kind.partition("-")
    opset = OPSETS[exporter][seed % len(OPSETS[exporter])]
    names = list(inputs)
    options = {"input_names": names, "opset_version": opset, "dynamo": exporter == "dynamo"}
    if dynamic and exporter == "script":
        options["dynamic_axes"] = {n: {axis: symbol for axis, (symbol, _) in axes.items()} for n, axes in vary.items()}
    if dynamic and exporter == "dynamo":
        options["dynamic_shapes"] = {
            n: {axis: torch.export.Dim.DYNAMIC for axis in vary.get(n, {})} or None for n in names
        }
    if exporter == "dynamo":
        options.update(external_data=seed % 2 == 0, optimize=seed % 3 != 0, verbose=False)
    with torch.no_grad():
        sample = tuple(value.clone() for value in inputs.values())
        try:
            torch.onnx.export(flat, sample, path, **options)
        except Exception as error:  # some operators came with later operator sets only
            if "opset version" not in str(error):
                raise
            torch.onnx.export(flat, sample, path, **dict(options, opset_version=20))


def work(architecture, kind, folder):
    import onnx
    import torch

    seed = seed_of(architecture.name)
    torch.manual_seed(seed)
    module, given = architecture.build()
    module.eval()
    randomise(module)
    inputs = {name: value for name, value in given.items() if isinstance(value, torch.Tensor)}
    fixed = {name: value for name, value in given.items() if name not in inputs}
    flat = wrap(module, list(inputs), fixed)
    if architecture.family == "detection" and architecture.name.startswith("tv_"):
        flat.call = lambda tensors: tuple(leaves(module([tensors[0][0]])))
    sets = [inputs]
    if kind.endswith("-open"):
        sets += [varied(inputs, architecture.vary, more) for more in (1, 0)]
    expected = [references(flat, values.values()) for values in sets]
    for arrays in expected:
        if trouble := usable(arrays):
            return {"state": "apart", "detail": trouble}
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, "model.onnx")
    sample = sets[-1] if kind.startswith("dynamo") else sets[0]
    export(flat, sample, kind, path, architecture)
    model = onnx.load(path, load_external_data=False)
    constants = {tensor.name for tensor in model.graph.initializer}
    wanted = [value.name for value in model.graph.input if value.name not in constants]
    outputs = [value.name for value in model.graph.output]
    if len(outputs) != len(expected[0]):
        return {"state": "apart", "detail": f"the export has {len(outputs)} outputs, torch {len(expected[0])}"}
    for index, (values, arrays) in enumerate(zip(sets, expected)):
        np.savez(
            os.path.join(folder, f"case{index}.npz"),
            **{"in:" + name: values[name].numpy() for name in wanted},
            **{"out:" + name: array for name, array in zip(outputs, arrays)},
        )
    return {"state": "exported", "cases": len(sets), "operators": sorted({node.op_type for node in model.graph.node})}


def main():
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    import torch

    torch.set_num_threads(1)
    torch.backends.mha.set_fastpath_enabled(False)  # the exporters have no word for it
    os.environ["HF_HUB_OFFLINE"] = "1"
    from architectures import load

    known = load()
    for line in sys.stdin:
        task = json.loads(line)
        try:
            result = work(known[task["name"]], task["kind"], task["folder"])
        except Exception as error:  # whatever torch says
            result = {"state": "apart", "detail": f"{type(error).__name__}: {error}"[:400]}
        answers.write(json.dumps(result) + "\n")


if __name__ == "__main__":
    main()
