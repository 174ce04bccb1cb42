#!/usr/bin/env python3
"""Runtimes trimmed to models: each runs its own on every instruction set, says what it lacks for another, and is small.

    trim.py BUILD [MODEL...]     BUILD: a build tree with the command and the whole shared library

Builds the trimmed shared library in BUILD/trimmed from the list that `mica convert --trim` writes for the digits
example and for MobileNetV2, whose library has a limit; further MODELs (source models) each by itself, and all of them
together with the digits. Their results are held against the whole library's with the same instruction set. The last
line is `N passed, N failed`. Needs onnx.
"""
import array
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from install import HERE, ROOT, Failed, names_digits, pictures, run

sys.path.append(str(ROOT / "tests/support"))
import mobilenet_v2  # noqa: E402

DIGITS = ROOT / "examples/digits/digits.onnx"
OTHER = ROOT / "tests/arch/kept/hf_bert.script-open/model.onnx"
SETS = ("sse2", "avx2", "avx512", "neon")
MOST_FOR_MOBILENET = 600_000  # bytes, stripped, with every instruction set that a trimmed build has; the requirement
TOLERANCE = 1e-5  # of the largest value: another algorithm may stand in for one that no list names


def stripped(library, folder):
    copy = folder / f"{library.parent.name}.so"
    shutil.copy(library, copy)
    run("strip", "--strip-unneeded", copy)
    return copy.stat().st_size


def values(program, model, library, isa, out):
    """The numbers that a model's outputs have; None where the machine lacks the instruction set."""
    env = dict(os.environ, LD_LIBRARY_PATH=str(library.parent), MICA_ISA=isa)
    done = subprocess.run([program, model, out], capture_output=True, text=True, env=env)
    if done.returncode != 0 and "lacks the instruction set" in done.stderr:
        return None
    if done.returncode != 0:
        raise Failed(f"{model.name} with {isa}: exit {done.returncode}: {done.stderr[-500:]}")
    return array.array("f", out.read_bytes())


class Trimming:
    """The programs, and a tree for each list."""

    def __init__(self, build, folder):
        self.build, self.folder, self.whole = build, folder, build / "libmica.so"
        self.programs = {}
        for name in ("digit", "values"):
            self.programs[name] = folder / name
            run("cc", "-std=c11", f"-I{ROOT}/include", HERE / f"{name}.c", "-o", folder / name, self.whole)

    def convert(self, source, name, *words):
        model = self.folder / f"{name}.mica"
        run(self.build / "mica", "convert", source, "-o", model, "--no-check", *words)
        return model

    def library(self, models):
        tree = self.build / "trimmed"
        lists = ";".join(f"{model}.trim" for model in models)
        run("cmake", "-G", "Ninja", "-S", ROOT, "-B", tree, f"-DMICA_TRIM={lists}", "-DMICA_BUILD_TOOLS=OFF",
            "-DMICA_BUILD_TESTS=OFF")
        run("cmake", "--build", tree, "--target", "mica_shared")
        return tree / "libmica.so"

    def gives_the_same(self, model, library):
        ran, count = [], 0
        for isa in SETS:
            out = self.folder / "numbers"
            whole = values(self.programs["values"], model, self.whole, isa, out)
            small = values(self.programs["values"], model, library, isa, out)
            if whole is None and small is None:
                continue
            most = max((abs(x) for x in whole), default=0)
            near = len(whole) == len(small) and all(abs(x - y) <= TOLERANCE * most for x, y in zip(whole, small))
            if not (near and whole):
                raise Failed(f"{model.name} with {isa}: other values than the whole library's")
            count = len(whole)
            ran.append(isa + ("" if whole == small else " (other bits)"))
        if not ran:
            raise Failed("no instruction set ran")
        print(f"{model.name}: {count} values as the whole library's with {', '.join(ran)}")

    def refuses(self, model, library, said):
        env = dict(os.environ, LD_LIBRARY_PATH=str(library.parent))
        file = pictures(self.folder)[0][0]
        done = subprocess.run([self.programs["digit"], model, file], capture_output=True, text=True, env=env)
        if done.returncode != 1 or said not in done.stderr or "MICA_TRIM" not in done.stderr:
            raise Failed(f"exit {done.returncode}: {done.stderr[-500:]}")

    def is_smaller(self, name, library, part):
        whole, small = stripped(self.whole, self.folder), stripped(library, self.folder)
        print(f"shared library stripped: {whole} bytes whole, {small} trimmed to {name}")
        if small * part > whole:
            raise Failed(f"trimming has left more than 1/{part}")
        return small


def digits(trimming, check):
    """The model of the examples, which stands in the repository."""
    model = trimming.convert(DIGITS, "digits", "--trim")
    library = trimming.library([model])
    env = dict(os.environ, LD_LIBRARY_PATH=str(library.parent))
    raw = pictures(trimming.folder)
    check("runs its model", lambda: names_digits(trimming.programs["digit"], model, raw, env))
    check("gives the same", lambda: trimming.gives_the_same(model, library))
    other = trimming.convert(OTHER, "other")
    check("refuses operators", lambda: trimming.refuses(other, library, "is not in this build"))
    text = run(trimming.build / "mica", "inspect", DIGITS, "--stage", "graph", "--constants")
    (trimming.folder / "tanh.txt").write_text(text.replace("= relu(", "= tanh("))
    changed = trimming.convert(trimming.folder / "tanh.txt", "tanh")
    said = "element-wise function `tanh` is not in this build"
    check("refuses functions", lambda: trimming.refuses(changed, library, said))

    def size():
        print(f"figure libmica_trimmed_bytes {trimming.is_smaller('the digits example', library, 3)}")

    check("is smaller", size)
    return model


def mobilenet(trimming, check):
    source = trimming.folder / "mobilenet_v2.onnx"
    source.write_bytes(mobilenet_v2.model().SerializeToString())
    model = trimming.convert(source, "mobilenet_v2", "--trim")
    library = trimming.library([model])
    check("MobileNetV2 gives the same", lambda: trimming.gives_the_same(model, library))

    def size():
        small = trimming.is_smaller("MobileNetV2", library, 3)
        print(f"figure libmica_mobilenet_v2_bytes {small}")
        if small > MOST_FOR_MOBILENET:
            raise Failed(f"{small} bytes, at most {MOST_FOR_MOBILENET}")

    check("MobileNetV2, size", size)


def main():
    build, sources = Path(sys.argv[1]).resolve(), [Path(word).resolve() for word in sys.argv[2:]]
    counts = {True: 0, False: 0}

    def check(name, test):
        try:
            test()
            counts[True] += 1
        except Failed as error:
            counts[False] += 1
            print(f"{name}: {error}")

    with tempfile.TemporaryDirectory(prefix="mica-trim-") as place:
        trimming = Trimming(build, Path(place))
        models = [digits(trimming, check)]
        mobilenet(trimming, check)
        for i, source in enumerate(sources):
            model = trimming.convert(source, f"{i}-{source.stem}", "--trim")
            models.append(model)
            library = trimming.library([model])
            check(source.name, lambda: trimming.gives_the_same(model, library))
            check(f"{source.name}, size", lambda: trimming.is_smaller(source.name, library, 2))
        if sources:
            library = trimming.library(models)
            for model in models:
                check(f"{model.name} of all", lambda: trimming.gives_the_same(model, library))
            check("all, size", lambda: trimming.is_smaller("all of them", library, 1))
    print(f"{counts[True]} passed, {counts[False]} failed")
    return 1 if counts[False] else 0


if __name__ == "__main__":
    sys.exit(main())
