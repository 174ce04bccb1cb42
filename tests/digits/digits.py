#!/usr/bin/env python3
"""The example as a user runs it: the ten pictures, and the accuracy on the held-back digits.

    digits.py MICA [FOLDER]     MICA: the command; FOLDER: examples/digits

`mica run MODEL PICTURE` must name the digit on its first line, without any flag. The held-back part (test.npz),
scaled as accuracy.json records and run as one batch, must give exactly the recorded number of right answers. Needs
nothing but Python itself. The last line is `N passed, N failed`.
"""
import array
import ast
import json
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

TYPES = {"|u1": "B", "<f4": "f"}


def read_npy(data):
    """(shape, values) of a C-ordered .npy file's bytes."""
    start = 10 if data[6] == 1 else 12
    length = int.from_bytes(data[8:start], "little")
    header = ast.literal_eval(data[start : start + length].decode("latin1"))
    values = array.array(TYPES[header["descr"]])
    values.frombytes(data[start + length :])
    return header["shape"], values


def write_npy(path, shape, values):
    header = repr({"descr": "<f4", "fortran_order": False, "shape": shape}).encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + values.tobytes())


def read_npz(path):
    with zipfile.ZipFile(path) as file:
        return {Path(name).stem: read_npy(file.read(name)) for name in file.namelist()}


def picture(mica, folder, digit):
    """A line of text when the command does not name the digit, else None."""
    command = [mica, "run", folder / "digits.onnx", folder / f"{digit}.png"]
    done = subprocess.run(command, capture_output=True, text=True)
    first = (done.stdout.splitlines() or [""])[0]
    if done.returncode == 0 and re.search(rf"(?<![\d.]){digit}(?![\d.])", first):
        return None
    return f"{digit}.png: exit {done.returncode}, first line `{first}` {done.stderr.strip()[:200]}"


def accuracy(mica, folder):
    record = json.loads((folder / "accuracy.json").read_text())
    held = read_npz(folder / "test.npz")
    (count, height, width), pixels = held["images"]
    labels = held["labels"][1]
    mean, scale = record["preprocessing"]["mean"], record["preprocessing"]["scale"]
    with tempfile.TemporaryDirectory() as place:
        place = Path(place)
        write_npy(place / "in.npy", (count, 1, height, width), array.array("f", [(p - mean) * scale for p in pixels]))
        options = ["--input", f"image={place / 'in.npy'}", "--save", place / "out.npz"]
        command = [mica, "run", folder / "digits.onnx", *options]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0 or not (place / "out.npz").is_file():
            return f"held-back part: exit {done.returncode} {done.stderr.strip()[:200]}"
        shape, values = read_npz(place / "out.npz")["probabilities"]
    if shape != (count, 10) or any(value != value for value in values):
        return f"held-back part: output of shape {shape}, or NaN"
    rows = [values[i * 10 : i * 10 + 10] for i in range(count)]
    correct = sum(max(range(10), key=row.__getitem__) == label for row, label in zip(rows, labels))
    print(f"held-back part: {correct} of {count} right, recorded {record['correct']} of {record['count']}")
    return None if (correct, count) == (record["correct"], record["count"]) else "the accuracy is not the recorded one"


def main():
    mica = str(Path(sys.argv[1]).resolve())
    folder = Path(sys.argv[2] if len(sys.argv) > 2 else Path(__file__).resolve().parents[2] / "examples/digits")
    wrong = [picture(mica, folder, digit) for digit in range(10)] + [accuracy(mica, folder)]
    failures = [line for line in wrong if line]
    print("".join(f"{line}\n" for line in failures) + f"{len(wrong) - len(failures)} passed, {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
