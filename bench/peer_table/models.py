"""Real models of a folder, with the inputs and answers that are kept beside them, as networks of the table.

    FOLDER/NAME/*.onnx, FOLDER/NAME/ref/ref.json and the arrays that it names
"""
import json
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


def adopt_one(name, source, model, to):
    """Copies what the table needs."""
    import numpy as np
    reference = json.loads((source / "ref" / "ref.json").read_text())
    outputs = [output for output in reference["outputs"] if not output.get("inner")]
    feed = {i["name"]: load_input(source / "ref", i) for i in reference["inputs"]}
    np.savez(to / f"{name}.inputs.npz", **feed)
    np.savez(to / f"{name}.reference.npz", *[np.load(source / "ref" / o["file"]).reshape(-1) for o in outputs])
    kept = [{"shape": o["shape"], "stride": o.get("stride", 1)} for o in outputs]
    link = to / f"{name}.onnx"
    link.unlink(missing_ok=True)
    link.symlink_to(model.resolve())
    bind = {n: list(v.shape) for n, v in feed.items()}
    (to / f"{name}.json").write_text(json.dumps({"net": name, "flops": None, "bind": bind, "kept": kept}) + "\n")


def adopt(folder, nets):
    """Names of the models that are now in `nets`; a model that cannot be adopted is told and left out."""
    names, to = [], Path(nets)
    to.mkdir(parents=True, exist_ok=True)
    for source in sorted(Path(folder).iterdir()):
        files = sorted(source.glob("*.onnx"))
        if not files or not (source / "ref" / "ref.json").exists():
            continue
        name = f"real_{source.name}"
        try:
            adopt_one(name, source, files[0], to)
            names.append(name)
        except (KeyError, ValueError, TypeError, OSError) as failure:
            print(f"{name} was left out: {type(failure).__name__}: {failure}")
    return names
