#!/usr/bin/env python3
"""Checks that no file includes upward or sideways in the house, nor a library's file one of a later library.

    floors.py [--root FOLDER]     checks the tree; prints a line for each wrong include
    floors.py --self-test         plants wrong includes in a small tree and must see each of them

The table is floors.toml beside this script. Unit tests and benchmarks (`*.test.cc`, `*.bench.cc`) may look anywhere.
"""
import argparse
import fnmatch
import os
import re
import sys
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

TABLE = Path(__file__).with_name("floors.toml")
TOP_FOLDERS = ("src", "include", "apps", "python", "modules")
SUFFIXES = {".h", ".hpp", ".c", ".cc", ".cpp", ".inc", ".inl"}
EXEMPT = (".test.cc", ".bench.cc", ".test.h")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>)', re.M)


@dataclass(frozen=True)
class Room:
    name: str
    floor: float
    only: tuple = ()


class House:
    def __init__(self, table):
        self.rows = [(folder, row) for row in table["floor"] for folder in row["folders"]]
        self.rows.sort(key=lambda pair: -len(pair[0]))  # the longest folder that fits is the one meant
        self.libraries = table["library"]

    def room(self, path):
        """The room of a file's path (with forward slashes, from the root), or None outside the house."""
        for folder, row in self.rows:
            if not path.startswith(folder + "/"):
                continue
            only = tuple(row.get("only", ()))
            if row.get("together"):
                return Room("+".join(row["folders"]), row["number"], only)
            inside = PurePosixPath(path[len(folder) + 1 :]).parts
            if row.get("each") and len(inside) > 1:
                return Room(f"{folder}/{inside[0]}", row["number"], only)
            return Room(folder, row.get("shared", row["number"]), only)
        return None

    def library(self, path):
        for row in self.libraries:
            if any(fnmatch.fnmatch(path, pattern) for pattern in row["files"]):
                return row
        return None

    def why_not(self, source, target):
        """Why `source` may not include `target`, or None when it may."""
        here, there = self.room(source), self.room(target)
        if here is None or there is None:
            return None
        if here.only and not any(target.startswith(folder + "/") for folder in here.only):
            return f"{here.name} includes only {', '.join(here.only)}"
        inside = f"{there.name}/".startswith(f"{here.name}/")  # its own folder: the door of a family may know its rooms
        if not inside and there.floor >= here.floor:
            return f"{there.name} (floor {there.floor:g}) is not below {here.name} (floor {here.floor:g})"
        own, other = self.library(source), self.library(target)
        if own and other and other["level"] > own["level"]:
            return f"the {own['name']} library knows nothing of the {other['name']} library"
        return None


def resolve(root, source, written, house):
    """The path from the root that an include means, or None for what is not ours. Generated headers need not exist."""
    beside = os.path.normpath(os.path.join(os.path.dirname(source), written)).replace(os.sep, "/")
    for candidate in (beside, f"src/{written}", f"include/{written}", written):
        if (root / candidate).is_file():
            return candidate
    for candidate in (written, f"src/{written}"):
        if house.room(candidate):
            return candidate
    return None


def check(root, house):
    """All wrong includes under `root` as lines of text, and how many includes were looked at."""
    wrong, looked = [], 0
    for top in TOP_FOLDERS:
        for path in sorted((root / top).rglob("*")):
            name = path.relative_to(root).as_posix()
            if path.suffix not in SUFFIXES or name.endswith(EXEMPT) or not path.is_file():
                continue
            if house.room(name) is None:
                wrong.append(f"{name}: on no floor of {TABLE.name}")
                continue
            text = path.read_text(errors="replace")
            for match in INCLUDE.finditer(text):
                target = resolve(root, name, match[1] or match[2], house)
                looked += target is not None
                reason = target and house.why_not(name, target)
                if reason:
                    wrong.append(f"{name}:{text.count(chr(10), 0, match.start()) + 1}: {match[0].strip()}: {reason}")
    return wrong, looked


# (file, what it includes, whether that is wrong)
PLANTS = [
    ("src/base/a.cc", "types/type.h", True),
    ("src/types/a.cc", "base/result.h", False),
    ("src/types/a.h", "simd/isa.h", True),
    ("src/kernels/conv/a.cc", "kernels/gemm/gemm.h", False),
    ("src/kernels/conv/a.cc", "kernels/pool/pool.h", True),
    ("src/kernels/gemm/a.cc", "kernels/pack/pack.h", False),
    ("src/kernels/gemm/a.cc", "kernels/conv/conv.h", True),
    ("src/kernels/conv/a.inl", "plan/plan.h", True),
    ("src/ir/a.cc", "plan/plan.h", True),
    ("src/plan/a.cc", "step/step.h", True),
    ("src/step/a.h", "ir/graph.h", True),
    ("src/ops/conv/conv.cc", "types/type.h", False),
    ("src/ops/conv/conv.cc", "ir/graph.h", True),
    ("src/ops/conv/conv.cc", "ops/pool/pool.h", True),
    ("src/ops/conv/conv.lower.cc", "ir/graph.h", False),
    ("src/ops/conv/conv.import.cc", "ir/graph.h", False),
    ("src/passes/lower/a.cc", "runtime/bind.h", True),
    ("src/runtime/a.cc", "passes/run.h", True),
    ("src/runtime/a.cc", "ir/graph.h", True),
    ("src/runtime/a.cc", "delegate/delegate.h", True),
    ("src/import/onnx/a.cc", "import/tflite/reader.h", True),
    ("src/import/onnx/a.cc", "import/onnx/onnx.pb.h", False),
    ("src/import/import.cc", "import/onnx/reader.h", False),
    ("src/convert/a.cc", "passes/run.h", False),
    ("src/api/a.cc", "mica/mica.h", False),
    ("src/api/a.cc", "convert/convert.h", True),
    ("include/mica/mica.h", "base/result.h", True),
    ("apps/cli/a.cc", "mica/mica.hpp", False),
    ("apps/cli/a.cc", "runtime/session.h", True),
    ("modules/texts/a.cc", "mica/mica.h", False),
    ("modules/texts/a.cc", "types/type.h", True),
    ("src/base/b.test.cc", "runtime/session.h", False),
]


def self_test(house):
    failures = 0
    for source, written, expected in PLANTS:
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            for name in (source, f"src/{written}" if house.room(f"src/{written}") else f"include/{written}"):
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).touch()
            (root / source).write_text(f'#pragma once\n#include "{written}"\n')
            found = bool(check(root, house)[0])
        if found != expected:
            failures += 1
            print(f"floors self-test: {source} including {written} was {'refused' if found else 'let pass'}")
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "src/nowhere").mkdir(parents=True)
        (Path(folder) / "src/nowhere/a.h").touch()
        if not check(Path(folder), house)[0]:
            failures += 1
            print("floors self-test: a file on no floor was let pass")
    print(f"floors self-test: {len(PLANTS) + 1 - failures} of {len(PLANTS) + 1} plants judged rightly")
    return failures


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[2])
    options.add_argument("--self-test", action="store_true")
    options = options.parse_args()
    house = House(tomllib.loads(TABLE.read_text()))
    if options.self_test:
        return 1 if self_test(house) else 0
    wrong, looked = check(options.root, house)
    print("".join(f"{line}\n" for line in wrong) + f"floors: {len(wrong)} wrong of {looked} includes")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
