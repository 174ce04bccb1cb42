"""Random weights under which every product's result has unit variance, and the check that this is so.

Timing depends on values where these become denormal, saturate or vanish: a network with activations that shrink layer
by layer is another load than a trained one.
"""
import torch
from torch import nn

PRODUCTS = (nn.Conv1d, nn.Conv2d, nn.ConvTranspose2d, nn.Linear)
NORMS = (nn.BatchNorm1d, nn.BatchNorm2d)
SMALLEST = torch.finfo(torch.float32).tiny
# Of a product's result after calibration (its norm may follow with gains of 0.8 to 1.2), and of what enters one: sums
# of up to a few dozen branches of unit variance, gates and means that lie closer together.
RESULT, ENTERING = (0.5, 2.0), (0.01, 30.0)


def unit_variance(model, feed):
    """One forward pass sets each layer from the data that reach it, in the order of execution."""
    for parameter in model.parameters():
        # Layer scales and last gains that start at (nearly) zero would switch whole branches off.
        if parameter.ndim == 1 and parameter.abs().max() < 1e-3:
            parameter.data.normal_(0, 0.05 if parameter.numel() > 1 else 0.5)
    for name, parameter in model.named_parameters():
        if name.split(".")[-1] in ("gamma", "layer_scale"):
            parameter.data.normal_(0.5, 0.1)
    for layer in model.modules():
        if isinstance(layer, nn.LSTM):   # gates of about unit variance, not saturated and not asleep
            for parameter in layer.parameters():
                parameter.data.normal_(0, parameter.shape[1] ** -0.5 if parameter.ndim == 2 else 0.1)
    seen, handles = set(), []

    def scale(layer, _, result):
        if layer in seen:
            return result
        seen.add(layer)
        spread = float(result.std())
        for parameter in (layer.weight, layer.bias):
            if parameter is not None:
                parameter.data /= spread
        return result / spread

    def measure(layer, inputs):
        if layer in seen:
            return
        seen.add(layer)
        axes = [axis for axis in range(inputs[0].ndim) if axis != 1]
        if inputs[0].numel() // inputs[0].shape[1] >= 8:   # else the product before it says: mean 0, variance 1
            layer.running_mean.copy_(inputs[0].mean(axes))
            layer.running_var.copy_(inputs[0].var(axes).clamp_min(1e-3))
        layer.weight.data.uniform_(0.8, 1.2)
        layer.bias.data.normal_(0, 0.1)

    for layer in model.modules():
        if isinstance(layer, PRODUCTS):
            handles.append(layer.register_forward_hook(scale))
        if isinstance(layer, NORMS):
            handles.append(layer.register_forward_pre_hook(measure))
    with torch.no_grad():
        model(*feed)
    for handle in handles:
        handle.remove()


def check(model, feed):
    """Least and largest deviation of products' results and of what enters them. ValueError for one out of bounds, for
    denormal numbers anywhere and for what is not finite."""
    found, wrong = {"result": [], "entering": []}, []

    def note(name, kind, value):
        if not value.is_floating_point():
            return
        found[kind].append(float(value.std()))
        if not torch.isfinite(value).all():
            wrong.append(f"{name}: not finite")
        if ((value != 0) & (value.abs() < SMALLEST)).any():
            wrong.append(f"{name}: denormal numbers")

    def watch(name):
        def hook(layer, inputs, result):
            if isinstance(layer, PRODUCTS):
                note(name, "result", result)
                note(name, "entering", inputs[0])
            elif isinstance(result, torch.Tensor) and result.is_floating_point() and not torch.isfinite(result).all():
                wrong.append(f"{name}: not finite")
        return hook

    handles = [layer.register_forward_hook(watch(name)) for name, layer in model.named_modules()
               if not list(layer.children())]
    with torch.no_grad():
        answers = model(*feed)
    for handle in handles:
        handle.remove()
    spans = {}
    for kind, (low, high) in (("result", RESULT), ("entering", ENTERING)):
        spans[kind] = [min(found[kind]), max(found[kind])] if found[kind] else None
        if spans[kind] and not (low <= spans[kind][0] and spans[kind][1] <= high):
            wrong.append(f"deviation of {kind} values is {spans[kind]}, not within {(low, high)}")
    if wrong:
        raise ValueError("; ".join(wrong[:5]))
    return answers, spans
