"""Models of a folder, with the inputs and answers that are kept beside them, as networks of the table.

    FOLDER/NAME/*.onnx, FOLDER/NAME/ref/ref.json and the arrays that it names: real models
    FOLDER/NAME/model.onnx and case0.npz with in:NAME and out:NAME: what tests/arch/run.py keeps in its --cache
"""
import json
import subprocess
from pathlib import Path


def load_input(folder, about):
    """One input as an array: a file, bytes with scale and offset, or zeros."""
    import numpy as np
    dtype = about["dtype"]
    if about.get("file") is None:
        return np.zeros(about["shape"], dtype)
    value = np.load(folder / about["file"])
    if "scale" in about:
        value = value.astype(np.float32) * np.float32(about["scale"]) + np.float32(about.get("offset", 0))
    return value.astype(dtype).reshape(about["shape"])


def reference_of(source):
    """Inputs by name, the outputs' numbers, and what of each output is kept."""
    import numpy as np
    reference = json.loads((source / "ref" / "ref.json").read_text())
    outputs = [output for output in reference["outputs"] if not output.get("inner")]
    feed = {i["name"]: load_input(source / "ref", i) for i in reference["inputs"]}
    kept = [{"shape": o["shape"], "stride": o.get("stride", 1)} for o in outputs]
    return feed, [np.load(source / "ref" / o["file"]).reshape(-1) for o in outputs], kept


def case_of(source):
    """The same of an export's first case."""
    import numpy as np
    data = np.load(source / "case0.npz")
    feed = {key[3:]: data[key] for key in data.files if key.startswith("in:")}
    outputs = [data[key] for key in data.files if key.startswith("out:")]
    return feed, [o.reshape(-1) for o in outputs], [{"shape": list(o.shape), "stride": 1} for o in outputs]


def adopt_one(name, source, model, to):
    """Copies what the table needs."""
    import numpy as np
    feed, outputs, kept = case_of(source) if (source / "case0.npz").exists() else reference_of(source)
    np.savez(to / f"{name}.inputs.npz", **feed)
    np.savez(to / f"{name}.reference.npz", *outputs)
    link = to / f"{name}.onnx"
    link.unlink(missing_ok=True)
    link.symlink_to(model.resolve())
    bind = {n: list(v.shape) for n, v in feed.items()}
    (to / f"{name}.json").write_text(json.dumps({"net": name, "flops": None, "bind": bind, "kept": kept}) + "\n")


def is_model(source):
    """Whether the folder has a model with answers; an export also needs that Mica's answer was right."""
    if not any(source.glob("*.onnx")):
        return False
    if (source / "answer.json").exists():
        return json.loads((source / "answer.json").read_text())["state"] == "passed"
    return (source / "ref" / "ref.json").exists()


def largest(folders, count, mica):
    """The `count` folders whose models have the most multiply-adds."""
    def size(folder):
        told = subprocess.run([mica, "inspect", str(next(folder.glob("*.onnx"))), "--format", "json"],
                              capture_output=True, text=True)
        return json.loads(told.stdout).get("macs") or 0 if told.returncode == 0 else 0
    return sorted(sorted(folders, key=size, reverse=True)[:count])


def adopt(folder, nets, count=None, mica=None):
    """Names of the models that are now in `nets`, the `count` largest or all; a model that cannot be adopted is told
    and left out."""
    names, to = [], Path(nets)
    to.mkdir(parents=True, exist_ok=True)
    sources = [source for source in sorted(Path(folder).iterdir()) if source.is_dir() and is_model(source)]
    for source in largest(sources, count, mica) if count else sources:
        name = f"real_{source.name}"
        try:
            adopt_one(name, source, sorted(source.glob("*.onnx"))[0], to)
            names.append(name)
        except (KeyError, ValueError, TypeError, OSError) as failure:
            print(f"{name} was left out: {type(failure).__name__}: {failure}")
    return names
