"""What the dynamic tests share: sequences of inputs, the program `steps`, and ONNX Runtime's answers."""

import json
import struct
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import onnxruntime

TOLERANCE = 1e-4  # of the largest absolute reference: sums of some hundred products in another order


def reference_session(model):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])


def reference(session, feeds, states):
    """Outputs of each step by name. `states`: output by input; a growing one begins empty, others with zeros."""
    held, answers = {}, []
    names = [output.name for output in session.get_outputs()]
    for feed in feeds:
        feed = {**feed, **held}
        for port in session.get_inputs():
            if port.name in states and port.name not in feed:
                sizes = [d if isinstance(d, int) else 0 if "past" in str(d) else 1 for d in port.shape]
                feed[port.name] = np.zeros(sizes, np.float32)
        answers.append(dict(zip(names, session.run(names, feed))))
        held = {port: answers[-1][output] for port, output in states.items()}
    return answers


def write_sequence(path, positions, feeds):
    with open(path, "wb") as file:
        file.write(struct.pack("<q", len(feeds)))
        for feed in feeds:
            file.write(struct.pack("<q", len(feed)))
            for name, value in feed.items():
                value = np.array(value, order="C")
                numbers = [positions[name], value.ndim, *value.shape, value.nbytes]
                file.write(struct.pack(f"<{len(numbers)}q", *numbers) + value.tobytes())


def read_answers(path, outputs, count):
    """`outputs`: name and numpy type, in the model's order."""
    data, at, answers = Path(path).read_bytes(), 0, []

    def number():
        nonlocal at
        at += 8
        return struct.unpack_from("<q", data, at - 8)[0]

    for _ in range(count):
        answer = {}
        for name, dtype in outputs:
            dims = [number() for _ in range(number())]
            size = number()
            answer[name] = np.frombuffer(data, dtype, size // np.dtype(dtype).itemsize, at).reshape(dims)
            at += size
        answers.append(answer)
    return answers


def run_steps(program, case, session):
    """Mica's answers and a record for each step. In `case`: model, feeds, bounds (DIM=N), states (output by input)."""
    kinds = {"tensor(float)": np.float32, "tensor(int64)": np.int64, "tensor(bool)": np.bool_}
    with tempfile.TemporaryDirectory() as folder:
        positions = {port.name: i for i, port in enumerate(session.get_inputs())}
        write_sequence(f"{folder}/sequence", positions, case["feeds"])
        command = [str(program), str(case["model"]), f"{folder}/sequence", f"{folder}/answers"]
        for bound in case["bounds"]:
            command += ["--bound", bound]
        for port, output in case.get("states", {}).items():
            command += ["--state", f"{output}={port}"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=600)
        if done.returncode != 0:
            raise RuntimeError(" ".join(done.stderr.split())[:600])
        outputs = [(port.name, kinds[port.type]) for port in session.get_outputs()]
        records = [json.loads(line) for line in done.stdout.splitlines()]
        return read_answers(f"{folder}/answers", outputs, len(case["feeds"])), records


def wrong(got, want):
    """What is wrong with the answers, or nothing; written so that NaN never passes."""
    for step, (ours, theirs) in enumerate(zip(got, want)):
        for name, expected in theirs.items():
            value = ours[name]
            if value.shape != expected.shape:
                return f"step {step}: {name} has the shape {value.shape}, expected {expected.shape}"
            if expected.size == 0:
                continue
            if expected.dtype.kind != "f":
                if not (value == expected).all():
                    return f"step {step}: {name} differs in {int((value != expected).sum())} elements"
                continue
            error, largest = np.abs(value - expected).max(), np.abs(expected).max()
            if not error <= TOLERANCE * largest:
                return f"step {step}: {name} is off by {error:.3g} of {largest:.3g}"
    return "" if len(got) == len(want) else "steps are missing"


def grown(records, warm, most_binds, asks):
    """What grew behind the first `warm` steps, or nothing. A step may ask for memory `asks` times, which it gives back;
    resident memory may grow by what the C library rounds to."""
    first, last = records[warm - 1], records[-1]
    if last["binds"] > most_binds:
        return f"{last['binds']} binds, at most {most_binds}"
    if last["binds"] != first["binds"]:
        return f"binds went from {first['binds']} to {last['binds']} after the first {warm} steps"
    if last["held"] != first["held"]:
        return f"the session's memory went from {first['held']} to {last['held']} bytes"
    if last["blocks"] > first["blocks"]:
        return f"blocks of memory went from {first['blocks']} to {last['blocks']}"
    if (asked := max(record["allocations"] for record in records[warm:])) > asks:
        return f"a step asked for memory {asked} times, at most {asks}"
    if last["resident"] > first["resident"] + (1 << 20):
        return f"resident memory grew by {last['resident'] - first['resident']} bytes"
    return ""
