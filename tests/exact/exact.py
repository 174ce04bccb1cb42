"""One answer on every machine: models run on each instruction set with fused multiply-add and for 1 to 4 threads with
exact sessions, and all outputs have the same bits.

    exact.py --mica build/mica --answers build/tests/answers [--other build-aarch64/tests/answers]

The models are those below MICA_MODELS (onnx/<name>/ with ref/ref.json) and the exports that tests/arch keeps. A row for
each model; ends with `N passed, N failed, N skipped`. --default leaves the option out, to see what it is worth.
"""

import argparse
import json
import os
import shlex
import struct
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
KEPT = HERE.parent / "arch" / "kept"
X86 = ["avx512", "avx2"]


def corpus_inputs(home):
    """The reference's inputs by name, or nothing where the model is not laid out so."""
    ref = home / "ref"
    if not (ref / "ref.json").exists():
        return None
    inputs = {}
    for entry in json.loads((ref / "ref.json").read_text())["inputs"]:
        dtype = entry.get("dtype", "float32")
        if entry.get("file") is None:
            inputs[entry["name"]] = np.zeros(entry["shape"], dtype)
            continue
        data = np.load(ref / entry["file"])
        if entry["file"].endswith("_u8.npy"):
            data = data.astype(np.float32) * np.float32(entry.get("scale", 1)) + np.float32(entry.get("offset", 0))
        inputs[entry["name"]] = data.astype(dtype).reshape(entry["shape"])
    return inputs


def models(only):
    """Name, file and inputs by name of every model."""
    root = os.environ.get("MICA_MODELS")
    found = []
    for path in sorted(Path(root).glob("onnx/*/*.onnx")) if root else []:
        inputs = corpus_inputs(path.parent)
        if inputs:
            found.append((path.parent.name, path, inputs))
    for folder in sorted(KEPT.iterdir()):
        case = np.load(folder / "case0.npz")
        inputs = {key[3:]: case[key] for key in case.files if key.startswith("in:")}
        found.append((folder.name, folder / "model.onnx", inputs))
    return [m for m in found if not only or any(part in m[0] for part in only)]


def write_inputs(path, positions, inputs):
    with open(path, "wb") as file:
        for name, value in inputs.items():
            value = np.array(value, order="C")
            numbers = [positions[name], value.ndim, *value.shape, value.nbytes]
            file.write(struct.pack(f"<{len(numbers)}q", *numbers) + value.tobytes())


def run(command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=3600)
    if done.returncode != 0:
        raise RuntimeError((done.stderr.strip().splitlines() or ["no message"])[-1])
    return done.stdout


def prepare(args, path, inputs, folder):
    """The compiled model and its inputs as the program reads them."""
    run([args.mica, "convert", path, "-o", folder / "model.mica"])
    ports = json.loads(run([args.mica, "inspect", folder / "model.mica", "--format", "json"]))["inputs"]
    write_inputs(folder / "inputs", {port["name"]: i for i, port in enumerate(ports)}, inputs)


def hashes(args, folder):
    """A list of (machine, hash)."""
    shared = [folder / "model.mica", folder / "inputs", "--threads", args.threads]
    shared += [] if args.default else ["--exact"]
    commands = [[args.answers, *shared, "--isa", isa] for isa in args.isas.split(",") if isa]
    if args.other:
        commands.append([*shlex.split(args.emulated), args.other, *shared])
    found = []
    for command in commands:
        for line in run(command).splitlines():
            isa, threads, value = line.split()
            found.append((f"{isa} {threads}", value))
    return found


def has(flag):
    try:
        return flag in Path("/proc/cpuinfo").read_text().split()
    except OSError:
        return False


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mica", required=True)
    parser.add_argument("--answers", required=True, help="the program answers of this machine's build")
    parser.add_argument("--isas", default=",".join(isa for isa, flag in zip(X86, ["avx512vl", "avx2"]) if has(flag)))
    parser.add_argument("--other", help="the same program of another processor's build")
    parser.add_argument("--emulated", default="qemu-aarch64 -L /usr/aarch64-linux-gnu", help="what runs it")
    parser.add_argument("--threads", default="1,2,3,4")
    parser.add_argument("--default", action="store_true", help="without --exact")
    parser.add_argument("only", nargs="*", help="only models whose names hold one of these")
    args = parser.parse_args()
    if not args.isas:
        print("exact was left out: this processor has no fused multiply-add\n0 passed, 0 failed, 1 skipped")
        return 0
    passed = failed = whole = 0
    for name, path, inputs in models(args.only):
        with tempfile.TemporaryDirectory() as folder:
            try:
                prepare(args, path, inputs, Path(folder))
                found = hashes(args, Path(folder))
                remark = "" if len({value for _, value in found}) == 1 else f"bits differ: {found}"
            except (RuntimeError, subprocess.TimeoutExpired) as trouble:
                found, remark = [], str(trouble)
        passed, failed = passed + (not remark), failed + bool(remark)
        whole = zlib.crc32((name + "".join(sorted({value for _, value in found}))).encode(), whole)
        print(f"{name:<28} {'FAILED ' + remark if remark else f'{found[0][1]} {len(found)} runs'}", flush=True)
    print(f"over all: {whole:08x}\n{passed} passed, {failed} failed, 0 skipped")
    return 0 if passed and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
