#!/usr/bin/env python3
"""A runtime trimmed to one model: it runs that model, says of another what it lacks, and is smaller.

    trim.py BUILD     BUILD: a build tree with the command and the whole shared library

Builds the trimmed shared library in BUILD/trimmed from the list that `mica convert --trim` writes for the digits
example. The last line is `N passed, N failed`.
"""
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from install import HERE, ROOT, Failed, names_digits, pictures, run

OTHER = ROOT / "tests/arch/kept/hf_bert.script-open/model.onnx"


def stripped(library, folder):
    copy = folder / f"{library.parent.name}.so"
    shutil.copy(library, copy)
    run("strip", "--strip-unneeded", copy)
    return copy.stat().st_size


class Trimmed:
    def __init__(self, build, folder):
        self.build, self.folder, self.tree = build, folder, build / "trimmed"
        self.model, self.other = folder / "digits.mica", folder / "other.mica"
        run(build / "mica", "convert", ROOT / "examples/digits/digits.onnx", "-o", self.model, "--trim")
        run(build / "mica", "convert", OTHER, "-o", self.other, "--no-check")
        run("cmake", "-G", "Ninja", "-S", ROOT, "-B", self.tree, f"-DMICA_TRIM={self.model}.trim",
            "-DMICA_BUILD_TOOLS=OFF", "-DMICA_BUILD_TESTS=OFF")
        run("cmake", "--build", self.tree, "--target", "mica_shared")
        self.library, self.program = self.tree / "libmica.so", folder / "digit"
        run("cc", "-std=c11", f"-I{ROOT}/include", HERE / "digit.c", "-o", self.program, self.library,
            f"-Wl,-rpath,{self.tree}")

    def runs_its_model(self):
        names_digits(self.program, self.model, pictures(self.folder), None)

    def refuses_another(self):
        file = pictures(self.folder)[0][0]
        done = subprocess.run([self.program, self.other, file], capture_output=True, text=True)
        if done.returncode != 1 or "is not in this build" not in done.stderr or "MICA_TRIM" not in done.stderr:
            raise Failed(f"exit {done.returncode}: {done.stderr[-500:]}")

    def is_smaller(self):
        whole, small = stripped(self.build / "libmica.so", self.folder), stripped(self.library, self.folder)
        print(f"shared library stripped: {whole} bytes whole, {small} trimmed to the digits example\n"
              f"figure libmica_trimmed_bytes {small}")
        if small * 2 > whole:
            raise Failed("trimming has taken less than half away")


def main():
    failed = 0
    with tempfile.TemporaryDirectory(prefix="mica-trim-") as place:
        trimmed = Trimmed(Path(sys.argv[1]).resolve(), Path(place))
        checks = (trimmed.runs_its_model, trimmed.refuses_another, trimmed.is_smaller)
        for check in checks:
            try:
                check()
            except Failed as error:
                failed += 1
                print(f"{check.__name__}: {error}")
    print(f"{len(checks) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
