"""The package's types, as a strict checker sees them, and the extension module's stub beside the module."""
import ast
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import mica
from mica import _mica

PACKAGE = Path(mica.__file__).parent


def checked(place, *arguments):
    pytest.importorskip("mypy")
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(place / "cache"), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, cwd=place)
    assert done.returncode == 0, done.stdout + done.stderr


def test_strict(tmp_path):
    # A folder of its own: beside the package lie other modules, which would shadow the library's.
    shutil.copytree(PACKAGE, tmp_path / "mica", ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    program = tmp_path / "program.py"
    program.write_text(
        "import mica\n"
        "model = mica.load('a.onnx', threads=1, shapes={'x': (1, 2)})\n"
        "names: list[str] = [port.name for port in model.inputs]\n"
        "mica.load('a.onnx', thread=1)  # type: ignore[call-arg]\n"
        "code: int = mica.Error(1, 'a').code\n"
    )
    checked(tmp_path, "-p", "mica")
    checked(tmp_path, str(program))


def test_the_stub_has_what_the_module_has():
    def public(names):
        return {name for name in names if not name.startswith("_")}

    stub = ast.parse((PACKAGE / "_mica.pyi").read_text()).body
    told = {node.name: node for node in stub if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
    assert public(vars(_mica)) == set(told)
    for name, node in told.items():
        if isinstance(node, ast.ClassDef):
            fields = {part.target.id for part in node.body if isinstance(part, ast.AnnAssign)}
            methods = {part.name for part in node.body if isinstance(part, ast.FunctionDef)}
            assert public(vars(getattr(_mica, name))) == public(fields | methods), name
