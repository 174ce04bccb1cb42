#!/usr/bin/env python3
"""Checks the tracked text files for words that do not belong there: unfinished work, paths of one person's machine.

    words.py [--self-test]
"""
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# (why, pattern, files it does not hold for). The patterns are written so that they do not match themselves.
RULES = [
    ("unfinished work", r"\b(TO[D]O|FIX[M]E|X[X]X|HA[C]K)\b", ()),
    ("unfinished work", r"\b[f]or now\b|\b[n]ot (yet )?implemented\b", ()),
    ("a path of one machine", r"(?<![\w./:}-])/(work|root|home|Users)/|/tmp/[v]env", ("setup",)),
    ("a place outside the repository", r"\.\./[s]hared", (".ci/",)),
    ("history instead of purpose", r"\b[i]ssue #?\d", ("CHANGELOG.md",)),
    ("a switched-off test", r"\bDISA[B]LED_\w|\bGTEST_[S]KIP\b(?!.*//)", ()),
]


def check(name, text):
    wrong = []
    for why, pattern, exempt in RULES:
        if name.startswith(exempt):
            continue
        for match in re.finditer(pattern, text):
            wrong.append(f"{name}:{text.count(chr(10), 0, match.start()) + 1}: {why}: `{match[0]}`")
    return wrong


def self_test():
    planted = ["a // TO" + "DO: b", "fast enough f" + "or now", "cd /wo" + "rk/x", "see ../sha" + "red/x",
               "see is" + "sue 4", "TEST(A, DISA" + "BLED_b)", "GTEST_S" + "KIP();"]
    clean = ["todo list of a graph", "/usr/share", "a/work/b", "the formula",
             "GTEST_S" + "KIP();  // the machine has no such instructions"]
    bad = [text for text in planted if not check("src/a.cc", text)]
    bad += [text for text in clean if check("src/a.cc", text)]
    print(f"words self-test: {len(planted) + len(clean) - len(bad)} of {len(planted) + len(clean)} {bad or ''}")
    return bool(bad)


def main():
    if "--self-test" in sys.argv:
        return 1 if self_test() else 0
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    names = listed.stdout.splitlines()
    wrong, looked = [], 0
    for name in names:
        data = (ROOT / name).read_bytes() if (ROOT / name).is_file() else b"\0"
        if b"\0" not in data:
            looked += 1
            wrong += check(name, data.decode(errors="replace"))
    print("".join(f"{line}\n" for line in wrong) + f"words: {len(wrong)} in {looked} files")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
