"""The virtual environments: one with the peers, one with what makes the networks (torch, which is large)."""
import os
import subprocess
import sys
from pathlib import Path

CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "mica-bench"
PEERS = ("numpy", "onnx", "matplotlib", "onnxruntime", "openvino", "MNN", "ncnn", "ai-edge-litert", "tract")
# Its wheel holds a program of its own; the packages that it names as requirements are not needed for that.
PEERS_ALONE = ("pnnx",)
MAKERS = ("torch", "torchvision", "timm", "onnx", "litert-torch")
STAMP = "installed.txt"


def python_of(folder):
    return Path(folder) / "bin" / "python3"


def enter(venv, program):
    """Goes on as `program` in the peers' environment, where numpy and the peers are; returns its Python there."""
    python, folder = environment(venv, PEERS, PEERS_ALONE), Path(venv).resolve()
    if Path(sys.prefix).resolve() != folder:
        os.execv(python, [str(python), str(program), *sys.argv[1:]])
    return python


def environment(folder, packages, alone=(), say=print):
    """A virtual environment with the newest versions of `packages`; a complete one is left as it is. A package that
    cannot be installed is told and left out: its peer is then listed with the import's error."""
    folder = Path(folder)
    wanted = sorted([*packages, *alone])
    if (folder / STAMP).exists() and set(wanted) <= set((folder / STAMP).read_text().split()):
        return python_of(folder)
    if not python_of(folder).exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    say(f"installing {', '.join(wanted)} into {folder}")
    if install(folder, packages) is not None:
        for package in packages:
            problem = install(folder, [package])
            if problem:
                say(f"{package} was not installed: {problem}")
    for package in alone:
        problem = install(folder, [package], "--no-deps")
        if problem:
            say(f"{package} was not installed: {problem}")
    (folder / STAMP).write_text("\n".join(wanted) + "\n")
    return python_of(folder)


def install(folder, packages, *options):
    """None, or the last line of what went wrong."""
    done = subprocess.run([str(python_of(folder)), "-m", "pip", "install", "-q", *options, *packages],
                          capture_output=True, text=True)
    return None if done.returncode == 0 else (done.stderr.strip().splitlines() or ["no reason given"])[-1]
