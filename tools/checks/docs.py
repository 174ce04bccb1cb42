#!/usr/bin/env python3
"""Checks what the papers promise: every error code has an entry in docs/errors.md and every entry a code; links between
the papers lead somewhere; evidence.md names only files that exist.

    docs.py [--self-test]
"""
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CODE = re.compile(r"^\s*k(\w+) = (\d+)", re.M)
ENTRY = re.compile(r"^#+ MICA(\d+)\b", re.M)
LINK = re.compile(r"\]\((?!https?:|mailto:|#)([^)#\s]+)(?:#[^)]*)?\)")
TREE_FILE = re.compile(r"`((?:src|tests|tools|docs|apps|include|examples|cmake|python|\.ci)/[\w./+-]+)`")


def codes(header, page):
    """Lines for codes of result.h without an entry, and entries without a code."""
    body = header[header.index("enum class Code") :]
    known = {number: name for name, number in CODE.findall(body[: body.index("};")]) if number != "0"}
    entries = ENTRY.findall(page)
    wrong = [f"docs/errors.md: no entry for MICA{number} ({name})" for number, name in known.items()
             if number not in entries]
    wrong += [f"docs/errors.md: MICA{number} is no code" for number in entries if number not in known]
    wrong += [f"docs/errors.md: MICA{number} stands twice" for number in sorted(set(entries))
              if entries.count(number) > 1]
    return wrong


def links(name, text, exists):
    folder = Path(name).parent
    wrong = [f"{name}: dead link {target}" for target in LINK.findall(text) if not exists(folder / target)]
    if name == "docs/evidence.md":
        wrong += [f"{name}: no file {path}" for path in TREE_FILE.findall(text) if not exists(Path(path))]
    return wrong


def self_test():
    header = "enum class Code : uint16_t {\n  kOk = 0,\n  kA = 1001,  // x\n  kB = 1002,\n};"
    right = [
        codes(header, "## MICA1001: a\n## MICA1002: b\n") == [],
        len(codes(header, "## MICA1001: a\n")) == 1,
        len(codes(header, "## MICA1001: a\n## MICA1002: b\n## MICA9: c\n")) == 1,
        len(codes(header, "## MICA1001: a\n## MICA1002: b\n## MICA1002: b\n")) == 1,
        len(links("docs/a.md", "[b](b.md) [c](https://c)", lambda path: False)) == 1,
        links("docs/a.md", "[b](b.md#x)", lambda path: path == Path("docs/b.md")) == [],
        len(links("docs/evidence.md", "`src/a.cc`", lambda path: False)) == 1,
    ]
    print(f"docs self-test: {sum(right)} of {len(right)}")
    return not all(right)


def main():
    if "--self-test" in sys.argv:
        return 1 if self_test() else 0
    listed = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True)
    names = listed.stdout.split()
    wrong = codes((ROOT / "src/base/result.h").read_text(), (ROOT / "docs/errors.md").read_text())
    for name in names:
        wrong += links(name, (ROOT / name).read_text(), lambda path: (ROOT / path).exists())
    print("".join(f"{line}\n" for line in wrong) + f"docs: {len(wrong)} wrong in {len(names)} papers")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
