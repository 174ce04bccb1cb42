"""The architectures that are exported, run by Mica and compared with torch: the project's own choice over every family.

An architecture is a name and a function that builds a module with random weights and its inputs, made small: few
layers, thin widths, small pictures, so that an export takes seconds. `vary` names, per input, the axes that the
dynamic exports leave open and the factor of the second set of inputs there (the third is one larger).
"""

import dataclasses
import importlib
from typing import Callable

SOURCES = (
    "from_torchvision",
    "from_timm",
    "from_transformers_text",
    "from_transformers_pictures",
    "from_transformers_mixed",
    "from_blocks",
    "from_diffusers",
    "from_torchaudio",
)


@dataclasses.dataclass
class Architecture:
    """build() returns (module, {input name: tensor}); vary is {input name: {axis: (symbol, factor)}}."""

    name: str
    family: str
    build: Callable
    vary: dict = dataclasses.field(default_factory=dict)


def batch(*names):
    """The open axes of inputs whose first axis is the batch."""
    return {name: {0: ("batch", 3)} for name in names}


def load(sources=SOURCES):
    """All architectures by name; the modules they come from are imported when one is built, not here."""
    found = {}
    for source in sources:
        for item in importlib.import_module(source).architectures():
            if item.name in found:
                raise ValueError(f"two architectures are called {item.name}")
            found[item.name] = item
    return found
