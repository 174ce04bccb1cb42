"""What several files of tests share."""
from pathlib import Path

import numpy as np
import pytest

DIGITS = Path(__file__).parents[2] / "examples" / "digits"


@pytest.fixture(scope="session")
def digits_path():
    return DIGITS / "digits.onnx"


@pytest.fixture(scope="session")
def held_back():
    """(pictures as the network takes them, labels) of the digits that it was not trained on."""
    held = np.load(DIGITS / "test.npz")
    return (held["images"][:, None] / np.float32(256)).astype(np.float32), held["labels"]


@pytest.fixture(scope="session")
def graph(tmp_path_factory):
    """Writes a model in Mica's own text form, and gives its path."""
    folder = tmp_path_factory.mktemp("graphs")

    def write(text):
        path = folder / f"{len(list(folder.iterdir()))}.txt"
        path.write_text(text)
        return path

    return write
