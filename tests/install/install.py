#!/usr/bin/env python3
"""What `cmake --install` gives, used from an empty directory as a stranger does.

    install.py BUILD     BUILD: a build tree with the libraries and the command

A C program that includes only mica.h is built through pkg-config (shared and static) and through find_package (shared
and static), a C++ program over mica.hpp through find_package; each loads a `.mica` file and must name the digit of
held-back pictures given as raw floats. The shared library must export what mica.h declares, versioned, and nothing
else; it must not need protobuf nor refer to C++'s throwing. Prints its stripped size. The last line is `N passed, N
failed`.
"""
import array
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "tests/digits"))
from digits import read_npz  # noqa: E402

PICTURES = 12


class Failed(Exception):
    pass


def run(*command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)
    if done.returncode != 0:
        said = (done.stdout + done.stderr)[-2000:]
        raise Failed(f"{' '.join(str(word) for word in command)}: exit {done.returncode}\n{said}")
    return done.stdout


class Installed:
    """An install tree in a folder, and what programs need to find it."""

    def __init__(self, build, folder):
        self.prefix = folder / "prefix"
        run("cmake", "--install", build, "--prefix", self.prefix)
        self.library = next(iter(self.prefix.glob("lib*/**/libmica.so")))
        libraries = self.library.parent
        self.env = dict(os.environ, PKG_CONFIG_PATH=str(libraries / "pkgconfig"), LD_LIBRARY_PATH=str(libraries))

    def flags(self, package):
        return run("pkg-config", "--cflags", "--libs", package, env=self.env).split()

    def compile(self, source, program, package="mica"):
        run("cc", "-std=c11", "-Wall", "-Wextra", "-Werror", source, "-o", program, *self.flags(package), env=self.env)
        return program


def pictures(folder):
    """(file of raw floats, digit) of the first held-back pictures."""
    record = json.loads((ROOT / "examples/digits/accuracy.json").read_text())["preprocessing"]
    held = read_npz(ROOT / "examples/digits/test.npz")
    pixels, labels = held["images"][1], held["labels"][1]
    made = []
    for i in range(PICTURES):
        values = array.array("f", [(p - record["mean"]) * record["scale"] for p in pixels[i * 64 : i * 64 + 64]])
        made.append((folder / f"{i}.raw", labels[i]))
        made[-1][0].write_bytes(values.tobytes())
    return made


def names_digits(program, model, raw, env):
    """The program's answers; one of the twelve may be wrong, as the network itself is not perfect."""
    answers = [run(program, model, file, env=env).strip() for file, _ in raw]
    wrong = [f"{digit} called {answer}" for (_, digit), answer in zip(raw, answers) if answer != str(digit)]
    if len(wrong) > 1:
        raise Failed(f"{program}: {', '.join(wrong)}")
    return answers


def check_symbols(installed):
    lines = run("nm", "-D", "--defined-only", "--with-symbol-versions", installed.library).splitlines()
    exported = {line.split()[-1] for line in lines if line.split()[1] != "A"}
    strange = sorted(name for name in exported if not re.fullmatch(r"mica_\w+@@MICA_\d+\.\d+", name))
    header = (installed.prefix / "include/mica/mica.h").read_text()
    declared = set(re.findall(r"MICA_API [^;(]*?\b(mica_\w+)\(", header))
    missing = sorted(declared - {name.split("@")[0] for name in exported})
    hidden = sorted({name.split("@")[0] for name in exported} - declared)
    if strange or missing or hidden or not declared:
        raise Failed(f"not of mica.h: {strange} {hidden}; not exported: {missing}")
    print(f"{len(exported)} exported symbols, all of mica.h")


def check_needs(installed):
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "-d", installed.library))
    undefined = run("nm", "-D", "--undefined-only", installed.library)
    throwing = re.findall(r"__cxa_throw|__cxa_allocate_exception|_Unwind_RaiseException", undefined)
    if any("proto" in name for name in needed) or throwing:
        raise Failed(f"needs {needed}, refers to {throwing}")
    print(f"needs {', '.join(needed)}")


def print_size(installed, folder):
    copy = folder / "stripped.so"
    shutil.copy(installed.library, copy)
    run("strip", "--strip-unneeded", copy)
    size = copy.stat().st_size
    print(f"shared runtime library, stripped: {size} bytes\nfigure libmica_stripped_bytes {size}")


def main():
    build = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory(prefix="mica-install-") as place:
        folder = Path(place)
        installed = Installed(build, folder)
        model = folder / "digits.mica"
        run(build / "mica", "convert", ROOT / "examples/digits/digits.onnx", "-o", model)
        raw = pictures(folder)
        found = folder / "found"

        def with_cmake():
            shutil.copytree(HERE, folder / "project", ignore=shutil.ignore_patterns("*.py", "__pycache__"))
            run("cmake", "-S", folder / "project", "-B", found, f"-DCMAKE_PREFIX_PATH={installed.prefix}")
            run("cmake", "--build", found)

        def with_pkg_config(package):
            program = installed.compile(HERE / "digit.c", folder / package, package)
            names_digits(program, model, raw, installed.env)

        checks = [("pkg-config, shared", lambda: with_pkg_config("mica")),
                  ("pkg-config, static", lambda: with_pkg_config("mica-static")), ("find_package", with_cmake)]
        for name in ("c_shared", "c_static", "cc_shared", "cc_static"):
            checks.append((name, lambda name=name: names_digits(found / name, model, raw, installed.env)))
        checks += [("exported symbols", lambda: check_symbols(installed)),
                   ("needed libraries", lambda: check_needs(installed)),
                   ("stripped size", lambda: print_size(installed, folder))]
        failed = 0
        for name, check in checks:
            try:
                check()
                print(f"ok      {name}")
            except Failed as why:
                failed += 1
                print(f"FAILED  {name}: {why}")
        print(f"{len(checks) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
