#!/usr/bin/env python3
"""The command line from outside: words, formats, exit codes; and the C program with operators of its own.

    cli.py MICA C_API OPERATORS [FOLDER]
        MICA: the command; C_API: tests/c_api as a program; OPERATORS: its operators as a library;
        FOLDER: examples/digits

Needs nothing but Python itself. The last line is `N passed, N failed`.
"""
import json
import os
import re
import stat
import struct
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

MICA, C_API, OPERATORS = (str(Path(name).resolve()) for name in sys.argv[1:4])
FOLDER = Path(sys.argv[4] if len(sys.argv) > 4 else Path(__file__).resolve().parents[2] / "examples/digits")
DIGITS, SEVEN = FOLDER / "digits.onnx", FOLDER / "7.png"
failures, count = [], 0


def mica(*words, code=0, **streams):
    if not streams:
        streams = {"stdout": subprocess.PIPE}
    done = subprocess.run([MICA, *map(str, words)], stderr=subprocess.PIPE, text=True, **streams)
    said = f"mica {' '.join(map(str, words))}: exit {done.returncode}, expected {code}: {done.stderr[:300]}"
    expect(done.returncode == code, said)
    return done


def expect(condition, what):
    global count
    count += 1
    if not condition:
        failures.append(what)


# --- A small ONNX model, written field by field (protobuf's wire format) ---

def varint(n):
    made = b""
    while n > 127:
        made, n = made + bytes([n & 127 | 128]), n >> 7
    return made + bytes([n])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, float):
        return varint(number << 3 | 5) + struct.pack("<f", value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def value_info(name, dims, dtype=1):
    shape = b"".join(field(1, field(1, d) if isinstance(d, int) else field(2, d)) for d in dims)
    return field(1, name) + field(2, field(1, field(1, dtype) + field(2, shape)))


def node(op, inputs, outputs, domain="", factor=None):
    made = b"".join(field(1, i) for i in inputs) + b"".join(field(2, o) for o in outputs)
    made += field(3, op.lower()) + field(4, op)
    if factor is not None:
        made += field(5, field(1, "factor") + field(2, factor) + field(20, 1))
    return made + (field(7, domain) if domain else b"")


def external(name, count, location):
    """A tensor of floats whose numbers lie in a file beside the model."""
    entry = field(1, "location") + field(2, location)
    return field(1, count) + field(2, 1) + field(8, name) + field(13, entry) + field(14, 1)


def npy(descr, dims, data):
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {tuple(dims)}, }}".encode()
    header += b" " * (64 - (len(header) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data


def model(nodes, inputs, outputs, tensors=()):
    graph = b"".join(field(1, n) for n in nodes) + field(2, "test")
    graph += b"".join(field(5, t) for t in tensors)
    graph += b"".join(field(11, i) for i in inputs) + b"".join(field(12, o) for o in outputs)
    opsets = field(8, field(2, 17)) + field(8, field(1, "com.example") + field(2, 1))
    return field(1, 8) + field(7, graph) + opsets


# --- Tests ---

def usage(place):
    expect("did you mean `run`?" in mica("rnu", DIGITS, code=2).stderr, "the nearest verb")
    expect("no verb `frobnicate`" in mica("frobnicate", code=2).stderr, "the unknown verb")
    said = mica("bench", DIGITS, "--force", "winograd5", code=2).stderr
    expect("winograd5" in said and "winograd6" in said, "the algorithms there are")
    expect("did you mean `--threads`?" in mica("run", DIGITS, "--thraeds", "2", code=2).stderr, "the nearest option")
    done = mica("run", DIGITS, "--input", f"imgae={SEVEN}", code=2)
    expect("MICA6002" in done.stderr and "`image`" in done.stderr, "the nearest input")
    mica(code=2)
    mica("run", place / "nothing.onnx", code=3)
    (place / "bad.onnx").write_bytes(b"no model at all")
    mica("run", place / "bad.onnx", code=3)
    x86 = "sse2" in mica("doctor", "--no-measure", "--format", "json").stdout
    mica("run", DIGITS, "--isa", "neon" if x86 else "avx512", code=4)
    expect("0 ok, 1 a check failed" in mica("--help").stdout, "help")
    expect(re.fullmatch(r"mica \d+\.\d+\.\d+\n", mica("--version").stdout), "version")


def run(place):
    done = mica("run", DIGITS, SEVEN)
    expect(done.stdout.splitlines()[0].split()[0] == "7", "the digit")
    expect("pre-processing: gray to 8x8" in done.stderr, "talk on stderr")
    expect(not mica("-q", "run", DIGITS, SEVEN).stderr, "no talk")
    top = json.loads(mica("run", DIGITS, SEVEN, "--format", "json").stdout)["top"]
    expect(top[0]["label"] == "7" and top[0]["score"] > 0.9, "top in JSON")
    mica("run", DIGITS, SEVEN, "--save", place / "out.npz")
    expect(zipfile.ZipFile(place / "out.npz").namelist() == ["probabilities.npy"], "saved names")
    mica("run", DIGITS, "--input", f"image={SEVEN}", "--save", place / "out.npy")
    with zipfile.ZipFile(place / "packed.npz", "w", zipfile.ZIP_DEFLATED) as packed:
        header = b"{'descr': '>f8', 'fortran_order': True, 'shape': (1, 1, 8, 8), }"
        header += b" " * (64 - (len(header) + 11) % 64) + b"\n"
        start = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header
        packed.writestr("image.npy", start + struct.pack(">64d", *range(64)))
    mica("run", DIGITS, place / "packed.npz")
    mica("run", DIGITS, SEVEN, "--mean", "1,2,3", code=2)
    mica("run", DIGITS, SEVEN, "--fit", "crop", "--short-side", "7", code=2)
    (place / "labels.txt").write_text("".join(f"digit {i}\n" for i in range(10)))
    labelled = mica("run", DIGITS, SEVEN, "--labels", place / "labels.txt")
    expect(labelled.stdout.startswith("digit 7  "), "labels of a file")
    expect("MICA4003" in mica("run", DIGITS, SEVEN, "--timeout-ms", "0.000001", code=3).stderr, "a deadline")


def streams(place):
    """Output that is lost is an error; talk that is lost changes no exit code; a reader may go away."""
    for words in (("run", DIGITS, SEVEN, "--format", "json"), ("inspect", DIGITS, "--stage", "plan"), ("ops",),
                  ("inspect", DIGITS, "--format", "html"), ("doctor", "--no-measure"), ("--help",), ("--version",)):
        with open("/dev/full", "w") as full:
            said = mica("-q", *words, stdout=full, code=3).stderr
        expect("MICA7001" in said and "stdout: No space left" in said, f"a full disk: {words}: {said}")
        script = ["sh", "-c", 'exec "$0" "$@" >&-', MICA, *map(str, words)]
        done = subprocess.run(script, capture_output=True, text=True)
        expect(done.returncode == 3 and "MICA7001" in done.stderr, f"no stdout: {words}: {done.stderr}")
    for words, code in (("run", "nofile"), 3), (("run", DIGITS, SEVEN), 0), (("rnu",), 2):
        for where in ("2>/dev/full", "2>&-"):
            script = f'exec "$0" "$@" >/dev/null {where}'
            done = subprocess.run(["sh", "-c", script, MICA, *map(str, words)])
            expect(done.returncode == code, f"{words} {where}: exit {done.returncode}")
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([MICA, "ops"], stdout=writer, stderr=subprocess.PIPE, text=True)
    os.close(writer)
    expect(done.stderr == "", f"a reader that went away: {done.stderr}")


def files(place):
    """What is written: never over what is read, nor over what is no file; links and permissions stay."""
    source, soft, hard = place / "source.onnx", place / "soft.onnx", place / "hard.onnx"
    source.write_bytes(DIGITS.read_bytes())
    soft.symlink_to(source.name)
    os.link(source, hard)
    for out in (source, soft, hard):
        for words in (("convert", source, "-o", out), ("run", source, SEVEN, "--save", out),
                      ("tune", source, "--seconds", "0", "-o", out), ("inspect", source, "--stage", "graph", "-o", out),
                      ("bench", source, "--seconds", "0", "--trace", out), ("inspect", source, "-o", out)):
            said = mica(*words, code=2).stderr
            expect("MICA6001" in said and "same file" in said, f"an output that is the model: {words}: {said}")
    expect(source.read_bytes() == DIGITS.read_bytes(), "the model is untouched")
    picture = place / "picture.png"
    picture.write_bytes(SEVEN.read_bytes())
    mica("run", DIGITS, picture, "--save", picture, code=2)
    mica("convert", DIGITS, "--input", f"image={picture}", "-o", picture, code=2)
    mica("tune", DIGITS, "--seconds", "0", "-o", picture, code=2)
    expect(picture.read_bytes() == SEVEN.read_bytes(), "the picture is untouched")
    weights, outside = place / "weights.bin", place / "outside.onnx"
    numbers = struct.pack("<256f", *range(256))
    weights.write_bytes(numbers)
    tensors = [external("w", 256, weights.name)]
    product = node("Mul", ["x", "w"], ["y"])
    outside.write_bytes(model([product], [value_info("x", [256])], [value_info("y", [256])], tensors))
    mica("run", outside, "--save", place / "product.npz")
    for words in (("convert", outside, "-o"), ("run", outside, "--save"),
                  ("inspect", outside, "--stage", "import", "-o")):
        expect("same file" in mica(*words, weights, code=2).stderr, "an output that holds the weights")
    expect(weights.read_bytes() == numbers, "the weights are untouched")
    target, link, pipe = place / "target.npz", place / "link.npz", place / "pipe"
    target.write_bytes(b"")
    target.chmod(0o640)
    link.symlink_to(target.name)
    mica("run", DIGITS, SEVEN, "--save", link)
    expect(link.is_symlink() and zipfile.is_zipfile(target), "a link is followed")
    expect(stat.S_IMODE(target.stat().st_mode) == 0o640, "permissions stay")
    os.mkfifo(pipe)
    for words in (("run", DIGITS, SEVEN, "--save"), ("inspect", DIGITS, "-o"), ("convert", DIGITS, "-o")):
        expect("MICA7001" in mica(*words, pipe, code=3).stderr, "what is no file is not replaced")
    expect(stat.S_ISFIFO(pipe.stat().st_mode), "the pipe is there")
    for words in (("--input", "image=none.npy"), ("none.png",), (place,), ("--labels", "none.txt"),
                  ("--labels", place)):
        said = mica("run", DIGITS, *words, code=3).stderr
        expect("MICA7001" in said and ("No such file" in said or "Is a directory" in said), f"the reason: {said}")


def numbers(place):
    """Elements are shown as they are."""
    def shown(dtype, descr, data, *words):
        (place / "same.onnx").write_bytes(
            model([node("Identity", ["x"], ["y"])], [value_info("x", [2], dtype)], [value_info("y", [2], dtype)]))
        (place / "x.npy").write_bytes(npy(descr, [2], data))
        return mica("run", place / "same.onnx", place / "x.npy", *words).stdout

    for dtype, descr, form, pair in ((7, "<i8", "<2q", (9007199254740993, -9223372036854775807)),
                                     (13, "<u8", "<2Q", (18446744073709551615, 9007199254740993)),
                                     (6, "<i4", "<2i", (1234567890, -1234567891))):
        data = struct.pack(form, *pair)
        output = json.loads(shown(dtype, descr, data, "--format", "json"))["outputs"][0]
        expect(output["values"] == list(pair), f"integers in JSON: {output}")
        expect((output["min"], output["max"]) == (min(pair), max(pair)), f"their smallest and largest: {output}")
        text = shown(dtype, descr, data)
        expect(text.split()[2:] == [str(n) for n in pair], f"integers as text: {text}")
    data = struct.pack("<4d", 1, 2, 0.5, -3)
    output = json.loads(shown(15, "<c16", data, "--format", "json"))["outputs"][0]
    expect(output["values"] == [[1, 2], [0.5, -3]] and output["min"] is None, f"complex numbers in JSON: {output}")
    expect(shown(15, "<c16", data).split()[2:] == ["1+2j", "0.5-3j"], "complex numbers as text")
    two = place / "two.onnx"
    nodes = [node("Relu", ["x"], ["y"]), node("Neg", ["x"], ["z"])]
    two.write_bytes(model(nodes, [value_info("x", [2])], [value_info("y", [2]), value_info("z", [2])]))
    expect("`" in mica("run", two, "--save", place / "two.npy", code=2).stderr, "one array in a .npy file")
    expect(not (place / "two.npy").exists(), "none is written")
    mica("run", two, "--save", place / "two.npz")


def wrong(place):
    """Values that cannot be are usage errors, with the value in the text."""
    out = place / "wrong.mica"
    for words in ("--size 9x9", "--size 0x0", "--size -1x8", "--channels rgb", "--layout NHWC", "--scale nan",
                  "--mean 1,2,3", "--fit crop --short-side 1", "--fit pad", "--bound batch=", "--bound batch=4x5",
                  "--bound batch=x", "--bound batch=0", "--bound batch=2 --bound batch=3", "--check-seconds nan",
                  "--check-seconds -1", "--check-seconds 1e300", "--without-rule drop-identitty", "--seed -1",
                  "--seed 99999999999999999999", "--shape image=1x1x8x8 --shape image=2x1x8x8"):
        said = mica("convert", DIGITS, "-o", out, *words.split(), "--no-check", code=2)
        expect("error[MICA" in said.stderr and "1099" not in said.stderr and len(said.stderr) < 400, said.stderr)
        expect(not out.exists(), f"nothing is written: {words}")
    (place / "labels").write_bytes(b"a\xff\n")
    (place / "none").write_bytes(b"\n")
    for name in ("labels", "none"):
        said = mica("convert", DIGITS, "-o", out, "--labels", place / name, code=2).stderr
        expect("MICA6001" in said and str(place / name) in said, f"names of classes: {said}")
    for words in ("--steps 0", "--steps -1", "--timeout-ms -1", "--timeout-ms nan", "--timeout-ms 1e300", "--size 8x8",
                  "--seed 1.5", "--threads -1"):
        said = mica("run", DIGITS, *words.split(), code=2).stderr
        expect("MICA6001" in said and len(said) < 400, f"{words}: {said}")
    said = mica("run", DIGITS, SEVEN, "--timeout-ms", "1e-9", code=3).stderr
    expect("MICA4003" in said, "a limit is one, however short")
    (place / "few").write_text("a\nb\n")
    expect("2 classes" in mica("run", DIGITS, SEVEN, "--labels", place / "few").stderr, "names of other classes")
    for words in ("bench --start --trace x", "bench --start --layers", "bench --explain --layers",
                  "bench --seconds nan", "inspect --constants", "tune --seconds nan", "run --save="):
        verb, *rest = words.split()
        mica(verb, DIGITS, *rest, code=2)
    for words in ("conv --spellings", "conv --rules", "--rules --spellings"):
        mica("ops", *words.split(), code=2)
    said = mica("bench", DIGITS, "--start", "--run-shape", "image=2x1x9x9", code=3).stderr
    expect(said.count("error[") == 1, f"one error: {said}")


def undecided(place):
    """A check that cannot be done as was asked, and one that shows nothing."""
    out, other, nan = place / "checked.mica", place / "other.mica", place / "nan.npy"
    nan.write_bytes(npy("<f4", [1, 1, 8, 8], struct.pack("<64f", *[float("nan")] * 64)))
    said = mica("convert", DIGITS, "-o", out, "--input", f"foo={nan}", code=2).stderr
    expect("MICA6002" in said and not out.exists(), f"an input that there is not: {said}")
    mica("convert", DIGITS, "-o", out, "--run-shape", "image=3x3", code=3)
    done = mica("convert", DIGITS, "-o", out, "--input", f"image={nan}", code=1)
    expect("shows nothing" in done.stdout, f"NaN alone: {done.stdout}")
    done = mica("convert", DIGITS, "-o", out, "--input", f"image={nan}", "--format", "json", code=1)
    expect(json.loads(done.stdout)["check"].get("shows_nothing"), "NaN alone, in JSON")
    done = mica("compare", DIGITS, out, nan, code=1)
    expect("MICA4010" in done.stderr and "nothing finite" in done.stdout, f"NaN alone: {done.stdout}")
    for words in (("convert", out, "-o", other), ("inspect", out, "--stage", "graph"),
                  ("inspect", out, "--stage", "import")):
        said = mica(*words, code=2).stderr
        expect("MICA6001" in said and "compiled already" in said, f"a compiled model: {said}")


def convert(place):
    out = place / "digits.mica"
    report = json.loads(mica("convert", DIGITS, "-o", out, "--format", "json").stdout)
    expect(report["check"]["different"] is False and report["parameters"] > 10000, "the summary")
    expect(report["check"]["cut"] is False and report["check"]["max_rel"] < 1e-4, "the check against the reference")
    words = ("--check-seconds", "0.000001", "--format", "json")
    check = json.loads(mica("convert", DIGITS, "-o", out, *words).stdout)["check"]
    expect(check["cut"] and check["stages_run"] < check["stages"] and not check["different"], "a check that is cut")
    expect(report["file_bytes"] == out.stat().st_size, "the size")
    expect([p.name for p in place.glob("digits.mica*")] == ["digits.mica"], "no temporary file stays")
    expect(mica("run", out, SEVEN).stdout.startswith("7  "), "the recipe and the labels are kept")
    mica("run", out, "--shape", "image=1x1x8x8", code=2)
    plan = mica("inspect", out, "--stage", "plan").stdout
    expect("pixel_conv" not in plan, "an input of floats")
    done = mica("convert", DIGITS, "-o", place / "bytes.mica", "--pixels", "--format", "json")
    expect(json.loads(done.stdout)["rules"].get("pixels-into-conv") == 1, "bytes go into the first convolution")
    expect("u8[batch,8,8,1]" in mica("inspect", place / "bytes.mica").stdout, "an input of bytes")
    done = mica("run", place / "bytes.mica", SEVEN)
    expect(done.stdout == mica("run", out, SEVEN).stdout and "mean" not in done.stderr, "the picture's bytes")
    mica("convert", DIGITS, "-o", place / "bytes.mica", "--pixels", "--mean", "1,2", code=2)
    mica("convert", DIGITS, "-o", out, "--trim", "--no-check")
    needs = (place / f"{out.name}.trim").read_text().splitlines()
    expect("operator conv" in needs and any(line.startswith("kernel conv_f32_") for line in needs), "what it needs")
    expect({"function relu", "planes 1", "bytes 4"} <= set(needs), "functions, strides and sizes that it needs")
    damaged = bytearray(out.read_bytes())
    damaged[100] ^= 0xFF
    (place / "damaged.mica").write_bytes(damaged)
    expect("MICA200" in mica("run", place / "damaged.mica", code=3).stderr, "a damaged file")
    mica("convert", DIGITS, "-o", place / "no such folder" / "x.mica", code=3)


def measure(place):
    out = place / "digits.mica"
    words = ("--seconds", "0.05", "--layers", "--threads", "1", "--format", "json", "--trace", place / "trace.json")
    report = json.loads(mica("bench", out, *words).stdout)
    words = "median_ms min_ms p90_ms load_ms first_ms peak_rss_mb arena_bytes runs threads isa".split()
    expect(all(word in report for word in words) and report["threads"] == 1, "the words of bench")
    stages, words = report["stages"], set("name op kernel ms min_ms share gflops".split())
    expect(stages and all(words <= set(stage) for stage in stages), "the words of stages")
    expect(abs(sum(stage["share"] for stage in stages) - 1) < 1e-6, "shares")
    events = json.loads((place / "trace.json").read_text())["traceEvents"]
    expect(any(e["ph"] == "X" and e["dur"] > 0 for e in events), "a trace")
    expect(mica("bench", out, "--seconds", "0.01", "--format", "csv").stdout.startswith("median ms,"), "CSV")
    full, low = json.loads(mica("bench", out, "--start", "--threads", "1", "--format", "json").stdout)
    expect((full["memory"], low["memory"]) == ("full", "low"), "the ways of using memory")
    for start in (full, low):
        expect(start["first_ms"] > 0 and 0 < start["arena_bytes"] <= start["promised_bytes"], f"a start: {start}")
        expect(start["peak_bytes"] < start["promised_bytes"] + (8 << 20), f"the peak is what was promised: {start}")
    same = json.loads(mica("compare", f"{DIGITS}@reference", out, SEVEN, "--format", "json").stdout)
    expect(not same["different"] and same["stages_compared"] > 2 and "first" not in same, "equal models")


def tune(place):
    """Measured choices beside the model: written, taken, told of, left alone when they are not for here."""
    out, file = place / "tuned.mica", place / "tuned.mica.tune"
    mica("convert", DIGITS, "-o", out, "--no-check")

    def measured(*words, code=0):
        done = mica("bench", out, "--explain", *words, code=code)
        return done.stdout.count("Measured: `mica tune`"), done.stderr

    done = mica("tune", out, "--seconds", "0.1", "--format", "json")
    report = json.loads(done.stdout)
    expect(file.name in done.stderr and report["file"] == str(file), "where the choices are")
    expect(report["turns"] >= 5 and sum(p["stages"] for p in report["problems"]) == 3, "three convolutions")
    expect(all(c["ms"] > 0 for p in report["problems"] if len(p["candidates"]) > 1 for c in p["candidates"]), "times")
    changed = [p for p in report["problems"] if p["best"] != p["predicted"]] if report["kept"] else []
    expect(measured()[0] == sum(p["stages"] for p in changed), "what was measured is taken")
    expect([p.name for p in place.glob("tuned.mica*")] == [out.name, file.name], "no temporary file stays")
    # A choice of our own: the first convolution by rows gathered from the input, which every convolution can do.
    lines = [line for line in file.read_text().splitlines() if not line.startswith(("conv ", "end "))]
    problem, before = report["problems"][0]["problem"], mica("run", out, SEVEN).stdout
    file.write_text("\n".join([*lines, f"conv {problem} implicit  # ours", "end 1", ""]))
    expect(measured()[0] == report["problems"][0]["stages"], "a choice in the file is taken")
    expect(mica("run", out, SEVEN).stdout.split()[0] == before.split()[0] == "7", "and gives the same answer")
    expect(measured("--tuning", "none")[0] == measured("--exact")[0] == measured("--force", "implicit")[0] == 0, "not")
    expect(measured("--tuning", file)[0] > 0, "a file by its name")
    file.write_text(file.read_text().replace("processor ", "processor another "))
    expect(measured() == (0, ""), "choices of another processor")
    file.write_text("mica tuning 1\nconv\n")
    found, said = measured()
    expect(found == 0 and "warning: " in said and "left alone" in said, "a damaged file beside the model")
    expect("MICA2010" in measured("--tuning", file, code=3)[1], "a damaged file that is asked for")
    measured("--tuning", place / "none.tune", code=3)
    mica("tune", out, "--out", place / "no such folder" / "x", code=3)


def halves(place):
    """Weights in half precision: half the file, and answers of the rounded weights."""
    whole, half = place / "whole.mica", place / "half.mica"
    mica("convert", DIGITS, "-o", whole)
    made = json.loads(mica("convert", DIGITS, "-o", half, "--weights", "f16", "--format", "json").stdout)
    expect(0 < made["check"]["max_rel"] < 2e-2 and not made["check"]["different"], f"the answer of halves: {made}")
    expect(half.stat().st_size < 0.8 * whole.stat().st_size, "the size of halves")
    again = json.loads(mica("compare", half, f"{half}@reference", SEVEN, "--format", "json").stdout)
    expect(not again["different"], "halves by the reference")


def planted(place):
    """One weight of the second layer is changed: compare must name the first stage behind it."""
    data = bytearray(DIGITS.read_bytes())
    name = data.find(b"conv2.weight")
    expect(name > 0, "the example has a tensor conv2.weight")
    at = max(data.rfind(b"\x4a", 0, name), data.find(b"\x4a", name))   # raw_data beside the name
    for i in range(at + 64, at + 96, 4):
        data[i : i + 4] = struct.pack("<f", 3.0)
    (place / "planted.onnx").write_bytes(data)
    done = mica("compare", f"{DIGITS}@reference", place / "planted.onnx", SEVEN, "--format", "json", code=1)
    report = json.loads(done.stdout)
    named = report["different"] and report["first"]["op"] == "conv"
    expect(named, f"the first stage that differs: {done.stdout[-400:]}")


def inspect(place):
    summary = json.loads(mica("inspect", DIGITS, "--format", "json").stdout)
    expect(summary["inputs"][0]["name"] == "image" and summary["operators"]["conv"] == 3, "the summary")
    expect(summary["macs"] > 1000, "the arithmetic")
    expect("multiply-adds" in mica("inspect", DIGITS).stdout, "the summary as text")
    for stage in ("import", "graph", "plan", "bound"):
        for form in ("text", "json", "dot", "html"):
            text = mica("inspect", DIGITS, "--stage", stage, "--format", form).stdout
            text_begin = ("graph", "function", "metadata")
            begin = {"text": text_begin, "json": "{", "dot": "digraph", "html": "<!doctype"}[form]
            expect(text.startswith(begin) and "conv" in text.lower(), f"inspect {stage} {form}")
            if form == "json":
                drawn = json.loads(text)
                nodes = range(len(drawn["nodes"]))
                expect(all(e["from"] in nodes and e["to"] in nodes for e in drawn["edges"]), "edges join nodes")
            if form == "html":
                outside = text.replace("http://www.w3.org/2000/svg", "")
                expect("http" not in outside, "the page needs nothing from outside")
    mica("inspect", DIGITS, "--stage", "graph", "--constants", "-o", place / "digits.txt")
    expect(mica("run", place / "digits.txt", SEVEN).stdout.startswith("7  "), "the text is a model too")


def tables():
    ops = json.loads(mica("ops", "--format", "json").stdout)
    expect(len(ops["operators"]) > 100 and any(s["name"] == "Conv" for s in ops["spellings"]), "operators")
    expect("strides" in mica("ops", "conv").stdout, "one operator")
    expect("element types: float float8" in mica("ops", "conv").stdout, "its types")
    expect(json.loads(mica("ops", "add", "--format", "json").stdout)["types"][0], "its types in JSON")
    kernels = {op["name"]: op["kernel"] for op in ops["operators"]}
    expect(kernels["add"] and kernels["reshape"] and not kernels["eye_like"], "who has kernels")
    rows = mica("ops", "--format", "csv").stdout.splitlines()
    conv = next(row for row in rows if row.startswith("conv,"))
    expect(rows[0].split(",")[3] == "element types" and conv.split(",")[3].startswith("float"), "types in a table")
    expect("element types" not in mica("ops").stdout, "no empty column")
    expect("did you mean `conv`?" in mica("ops", "convv", code=2).stderr, "the nearest operator")
    expect("| conv |" in mica("ops", "--format", "md").stdout and "rule" in mica("ops", "--rules").stdout, "tables")
    expect(json.loads(mica("doctor", "--format", "json").stdout)["peak_gflops_one"] > 0, "doctor")


CACHE = """graph "cache"
  symbol P bounded 3
  input %x: f32[1,2] "x"
  input %h: f32[P,2] "h"
  %n = concat(%h, %x) axis=0
  %e = exp(%n)
  output %n "n"
  output %e "NAME"
  state "n" "h"
end
"""


def array(path, shape, values, kind="<f4"):
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {tuple(shape)!r}, }}".encode()
    header += b" " * (63 - (len(header) + 10) % 64) + b"\n"
    packed = struct.pack(f"<{len(values)}{'d' if kind == '<f8' else 'f'}", *values)
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + packed)
    return path


def states(place):
    """A state that grows: what it costs, what it begins with, and that every measured run begins there."""
    source, out = place / "cache.txt", place / "cache.mica"
    source.write_text(CACHE.replace("NAME", "e"))
    made = json.loads(mica("convert", source, "-o", out, "--format", "json").stdout)
    expect(made["macs"] == 1 and not made["check"]["different"], "arithmetic of the first run")
    mica("inspect", source)
    mica("inspect", out)
    x = array(place / "x.npy", (1, 2), [1, 2])
    two, more = array(place / "two.npy", (2, 2), [3, 4, 5, 6]), ("--input", f"x={x}", "--format", "json")
    mica("bench", out, "--seconds", "0.01", "--layers", "--trace", place / "trace.json", *more)
    mica("bench", out, "--start", *more)
    mica("bench", out, "--seconds", "0.01", *more, "--input", f"h={two}")
    mica("tune", out, "-o", place / "cache.tune", "--seconds", "0.01")

    def length(*words):
        return json.loads(mica("run", out, *more, *words).stdout)["outputs"][0]["shape"][0]

    expect(length() == 1 and length("--steps", "3") == 3, "a state goes on")
    expect(length("--input", f"h={two}") == 3, "what a state begins with")
    one = array(place / "one.npy", (1, 2), [3, 4])
    expect(length("--input", f"h={one}", "--steps", "3") == 4, "and goes on from there")
    for step in range(2):
        array(place / f"h-{step}.npy", (1, 2), [step, step])
    expect(length("--input", f"h={place}/h-{{step}}.npy", "--steps", "2") == 2, "a state of each step's own")
    wide = array(place / "wide.npy", (1, 2), [1, 2], "<f8")
    done = mica("run", out, "--input", f"x={wide}", "--steps", "2")
    expect(done.stderr.count("is rounded to f32") == 1, "a conversion is told, once")


def names(place):
    """Names that steer a terminal or lead out of a folder."""
    source = place / "names.txt"
    source.write_text(CACHE.replace("NAME", "../e"))
    done = mica("run", source, "--save", place / "names.npz", code=2)
    expect("`../e`" in done.stderr and not (place / "names.npz").exists(), "an archive stays in its folder")
    nodes = [node("Relu", ["x\x1b[2J"], ["y\x1b[2J"])]
    (place / "names.onnx").write_bytes(model(nodes, [value_info("x\x1b[2J", [3])], [value_info("y\x1b[2J", [3])]))
    for words in (("run", "--top", "0"), ("inspect",), ("bench", "--seconds", "0", "--layers")):
        said = mica(words[0], place / "names.onnx", *words[1:]).stdout
        expect("\x1b" not in said and (words[0] == "bench" or "\\x1b[2J" in said), "names are printable")
    ends = [value_info("x", [3])], [value_info("y", [3])]
    (place / "operator.onnx").write_bytes(model([node("A\x1b[2J", ["x"], ["y"])], *ends))
    said = mica("inspect", place / "operator.onnx", code=3).stderr
    expect("\x1b" not in said and "A\\x1b[2J" in said, "those in errors, too")


def custom(place):
    nodes = [node("Scale", ["x"], ["t"], "com.example", 3.0), node("Relu", ["t"], ["y"])]
    (place / "custom.onnx").write_bytes(model(nodes, [value_info("x", ["N"])], [value_info("y", ["N"])]))
    done = mica("run", place / "custom.onnx", code=3)
    expect("MICA1002" in done.stderr and "Scale" in done.stderr and "com.example" in done.stderr, "an unknown operator")
    mica("run", place / "custom.onnx", "--operators", OPERATORS, "--run-shape", "x=5")
    mica("run", place / "custom.onnx", "--operators", place / "nothing.so", code=2)
    mica("convert", place / "custom.onnx", "-o", place / "custom.mica", "--operators", OPERATORS)
    done = subprocess.run([C_API, place / "digits.mica", place / "custom.mica"], capture_output=True, text=True)
    expect(done.returncode == 0, f"the C program: exit {done.returncode} {done.stdout[-600:]}")
    print(done.stdout.strip())


with tempfile.TemporaryDirectory() as folder:
    place = Path(folder)
    for test in (usage, run, streams, files, numbers, wrong, undecided, convert, measure, tune, halves, planted,
                 inspect, states, names, custom):
        test(place)
    tables()
print("".join(f"{line}\n" for line in failures) + f"{count - len(failures)} passed, {len(failures)} failed")
sys.exit(1 if failures else 0)
