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


def test_the_stub_against_the_module(tmp_path):
    """mypy's own comparison. Left to the test below is what it cannot see through: nanobind's kind of function, and the
    metaclass of its classes."""
    pytest.importorskip("mypy")
    shutil.copytree(PACKAGE, tmp_path / "mica", ignore=shutil.ignore_patterns("__pycache__"))
    libraries = PACKAGE.parent / "mica.libs"  # of a wheel that auditwheel has seen
    if libraries.exists():
        shutil.copytree(libraries, tmp_path / "mica.libs")
    left = tmp_path / "left"
    left.write_text("".join(f"mica._mica.{name}\n" for name in public(vars(_mica))) + "mica._mica.Model.__init__\n")
    command = [sys.executable, "-m", "mypy.stubtest", "mica", "--allowlist", str(left), "--concise"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def public(names):
    return {name for name in names if not name.startswith("_")}


def arguments(node):
    return [argument.arg for argument in node.args.args + node.args.kwonlyargs]


def of_module(function):
    """The names of the arguments that the module's function says it takes."""
    ((signature, *_),) = function.__nb_signature__
    return arguments(ast.parse(signature + ": ...").body[0])


def test_the_stub_has_what_the_module_has():
    stub = ast.parse((PACKAGE / "_mica.pyi").read_text()).body
    told = {node.name: node for node in stub if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
    assert public(vars(_mica)) == set(told)
    for name, node in told.items():
        here = getattr(_mica, name)
        if isinstance(node, ast.FunctionDef):
            assert of_module(here) == arguments(node), name
            continue
        fields = {part.target.id for part in node.body if isinstance(part, ast.AnnAssign)}
        methods = {part.name: part for part in node.body if isinstance(part, ast.FunctionDef)}
        assert public(vars(here)) == public(fields | set(methods)), name
        for method, part in methods.items():
            if not part.decorator_list:
                assert of_module(vars(here)[method]) == arguments(part), f"{name}.{method}"
