#!/usr/bin/env python3
"""Follows docs/adding-an-operator.md to the letter: its files, its commands in their order, and what comes out.

    document.py FOLDER     FOLDER: where to work; kept, so that a second time is quick

What a stranger builds must pass the operator's tests, be listed, and give the right numbers in a model. Mica's
sources must stay as they were. Without a compiler cache the whole of Mica is compiled again. The last line is `N
passed, N failed`.
"""
import array
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/digits"))
from digits import read_npy, write_npy  # noqa: E402

BLOCK = re.compile(r"^(?:`([\w./]+)`:\n)?```(\w*)\n(.*?)^```$", re.M | re.S)


def follow(document, folder):
    """Files are written only when they differ; commands run in `folder`. Returns what the last command printed."""
    env, printed = dict(os.environ, MICA=str(ROOT)), ""
    env.pop("GTEST_OUTPUT", None)  # the document's own tests are no part of the caller's reports
    for name, kind, text in BLOCK.findall(document):
        if name:
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if not path.exists() or path.read_text() != text:
                path.write_text(text)
        elif kind == "sh":
            for command in text.splitlines():
                done = subprocess.run(["sh", "-ec", command], cwd=folder, env=env, capture_output=True, text=True)
                printed = done.stdout + done.stderr
                print(f"$ {command}\n{printed[-800:]}", flush=True)
                if done.returncode != 0:
                    raise SystemExit(f"{command}: exit {done.returncode}\n{printed[-3000:]}\n0 passed, 1 failed")
    return printed


def state_of_sources():
    """Every source file with its size and time. Without git, which a machine that only builds need not have."""
    folders = [ROOT / name for name in ("src", "include", "apps", "cmake", "modules", "tools")]
    files = [ROOT / "CMakeLists.txt", *(f for folder in folders for f in folder.rglob("*") if f.suffix != ".pyc")]
    return {f: (f.stat().st_size, f.stat().st_mtime_ns) for f in files if f.is_file()}


def check_numbers(folder):
    x = array.array("f", [-1, 0.5, 2, 3])
    write_npy(folder / "x.npy", (4,), x)
    command = [folder / "build/mica", "run", "model.mica", "--input", "x=x.npy", "--save", "y.npy"]
    subprocess.run(command, cwd=folder, check=True)
    shape, y = read_npy((folder / "y.npy").read_bytes())
    return shape == (4,) and list(y) == [max(0.0, 2 - v) for v in x]


def main():
    folder = Path(sys.argv[1]).resolve()
    document = (ROOT / "docs/adding-an-operator.md").read_text()
    names = [name for name, _, _ in BLOCK.findall(document) if name]
    before = state_of_sources()
    follow(document, folder)
    checks = {"the page has its six files": len(names) == 6, "right numbers": check_numbers(folder),
              "Mica's sources are untouched": state_of_sources() == before}
    for name, good in checks.items():
        print(f"{'ok     ' if good else 'FAILED '} {name}")
    failed = list(checks.values()).count(False)
    print(f"{len(checks) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
