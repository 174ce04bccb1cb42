"""Each peer's own file of a network, made once from the ONNX file and kept beside it; what fails keeps its reason in
NET.PEER.error."""
import json
import os
import subprocess
from pathlib import Path

from peer_table.adapters import FILES

LIMIT = 900   # seconds for one conversion
# A converter that installs packages while it runs would change what the other peers run on.
WITHOUT_PIP = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": ""}


def shape_text(shapes):
    """As pnnx takes it: [1,3,224,224],[1,128]i64."""
    return ",".join(f"[{','.join(map(str, shape))}]{kind}" for shape, kind in shapes)


def pnnx_of(python):
    """The program in pnnx's wheel; the script beside it that starts it wants torch."""
    inside = sorted(Path(python).parent.parent.glob("lib/python*/site-packages/pnnx/pnnx"))
    return inside[0] if inside else Path(python).parent / "pnnx"


def commands(python, base, shapes):
    """peer → the command that makes its file."""
    programs = Path(python).parent
    return {
        "mnn": [programs / "mnnconvert", "-f", "ONNX", "--modelFile", f"{base}.onnx", "--MNNModel", f"{base}.mnn",
                "--bizCode", "x"],
        "ncnn": [pnnx_of(python), f"{base}.onnx", f"inputshape={shape_text(shapes)}", "fp16=0"],
    }


def shapes_of(base):
    import numpy as np
    kinds = {"int64": "i64", "int32": "i32", "float32": ""}
    with np.load(f"{base}.inputs.npz") as stored:
        return [(stored[name].shape, kinds.get(stored[name].dtype.name, "")) for name in stored.files]


def convert(python, folder, net, peers):
    """Makes the files of these peers that are missing and not known to fail."""
    base = Path(folder) / net
    made_by = commands(python, base, shapes_of(base))
    for peer, command in ((p, made_by[p]) for p in made_by if p in peers):
        error = Path(f"{base}.{peer}.error")
        if Path(f"{base}{FILES[peer]}").exists() or error.exists():
            continue
        problem = run(command, folder)
        if problem is None and not Path(f"{base}{FILES[peer]}").exists():
            problem = "the converter wrote no file"
        if problem is not None:
            Path(f"{base}{FILES[peer]}").unlink(missing_ok=True)
            error.write_text(f"conversion: {problem}")


def run(command, folder):
    """None, or why it failed."""
    try:
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, errors="replace", cwd=folder,
                              timeout=LIMIT, env=os.environ | WITHOUT_PIP)
    except (OSError, subprocess.TimeoutExpired) as failure:
        return f"{type(failure).__name__}: {failure}"
    lines = (done.stdout + done.stderr).strip().splitlines() or [""]
    return None if done.returncode == 0 else f"exit code {done.returncode}: {lines[-1][:300]}"


def convert_mica(mica, folder, net, to):
    """Mica's file is made anew each time: the program may have changed. Returns None, or why it failed."""
    shapes = []
    with_shapes = Path(folder) / f"{net}.json"
    for name, shape in json.loads(with_shapes.read_text()).get("bind", {}).items():
        shapes += ["--shape", f"{name}={'x'.join(map(str, shape))}"]
    return run([mica, "convert", f"{folder}/{net}.onnx", "-o", to, *shapes], folder)


def file_of(folder, net, peer):
    """(path, None) or (None, reason)."""
    path, error = Path(folder) / f"{net}{FILES[peer]}", Path(folder) / f"{net}.{peer}.error"
    if error.exists():
        return None, error.read_text().strip()
    return (path, None) if path.exists() else (None, "no file of this network")
