"""The examples of the documents, run as they stand there, from the root of the tree."""
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", ["README.md", "docs/python.md"])
def test_examples(name, monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    blocks = re.findall(r"^```python\n(.*?)^```$", (ROOT / name).read_text(), re.S | re.M)
    assert blocks
    names = {}
    for block in blocks:
        exec(compile(block, name, "exec"), names)
