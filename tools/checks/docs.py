#!/usr/bin/env python3
"""Checks what the papers promise: every error code has an entry in docs/errors.md and every entry a code; links between
the papers lead somewhere, and files of the tree that they name exist; evidence.md leaves no proof out, and names only
tests that exist.

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
TEST = re.compile(r"^\s*TEST(?:_[FP])?\((\w+),\s*(\w+)\)", re.M)
CTEST = re.compile(r"(?:add_test\(NAME|mica_python_test\() ?(\w+)")
# A file or folder, perhaps with a command's options behind it; a name with `<word>` or `*` in it is none.
TREE = r"src|tests|tools|docs|apps|bench|include|examples|cmake|modules|python|\.ci"
TREE_FILE = re.compile(rf"`((?:{TREE})/[\w./+-]+)(?=[` ])")


def codes(header, page):
    """Lines for codes of result.h without an entry, and entries without a code."""
    body = header[header.index("enum class Code") :]
    known = {number: name for name, number in CODE.findall(body[: body.index("};")]) if number != "0"}
    entries = ENTRY.findall(page)
    missing = [f"no entry for MICA{number} ({name})" for number, name in known.items() if number not in entries]
    unknown = [f"MICA{number} is no code" for number in entries if number not in known]
    twice = [f"MICA{number} stands twice" for number in sorted(set(entries)) if entries.count(number) > 1]
    return [f"docs/errors.md: {line}" for line in missing + unknown + twice]


def links(name, text, exists):
    folder = Path(name).parent
    wrong = [f"{name}: dead link {target}" for target in LINK.findall(text) if not exists(folder / target)]
    return wrong + [f"{name}: no file {path}" for path in TREE_FILE.findall(text) if not exists(Path(path))]


def tracked(*patterns):
    listed = subprocess.run(["git", "ls-files", *patterns], cwd=ROOT, capture_output=True, text=True, check=True)
    return [name for name in listed.stdout.split() if (ROOT / name).exists()]


def proofs(page, tests):
    """Lines for rows of evidence.md without a proof, and for tests in it that are not among `tests`."""
    wrong = [f"docs/evidence.md: no proof: {row}" for row in page.splitlines() if row.rstrip().endswith("| – |")]
    named = re.findall(r"`([A-Z]\w*\.[A-Z]\w*)`", page) + re.findall(r"ctest `(\w+)`", page)
    return wrong + [f"docs/evidence.md: no test {name}" for name in named if name not in tests]


def all_tests():
    """The names of GoogleTest cases, `Suite.Case`, and of ctest entries."""
    texts = [(ROOT / name).read_text() for name in tracked("*.cc", "cmake/*.cmake")]
    cases = {".".join(pair) for text in texts for pair in TEST.findall(text)}
    return cases | {name for text in texts for name in CTEST.findall(text)}


def self_test():
    header = "enum class Code : uint16_t {\n  kOk = 0,\n  kA = 1001,  // x\n  kB = 1002,\n};"
    right = [
        codes(header, "## MICA1001: a\n## MICA1002: b\n") == [],
        len(codes(header, "## MICA1001: a\n")) == 1,
        len(codes(header, "## MICA1001: a\n## MICA1002: b\n## MICA9: c\n")) == 1,
        len(codes(header, "## MICA1001: a\n## MICA1002: b\n## MICA1002: b\n")) == 1,
        len(links("docs/a.md", "[b](b.md) [c](https://c)", lambda path: False)) == 1,
        links("docs/a.md", "[b](b.md#x)", lambda path: path == Path("docs/b.md")) == [],
        len(links("docs/a.md", "`src/a.cc` `bench/b --c 3` `src/*/a.cc` `src/<a>/b.cc`", lambda path: False)) == 2,
        proofs("| a | `A.B`, ctest `c` |", {"A.B", "c"}) == [],
        len(proofs("| a | `A.B`, ctest `c` |\n| b | – |", {"A.C"})) == 3,
    ]
    print(f"docs self-test: {sum(right)} of {len(right)}")
    return not all(right)


def main():
    if "--self-test" in sys.argv:
        return 1 if self_test() else 0
    names = tracked("*.md")
    wrong = codes((ROOT / "src/base/result.h").read_text(), (ROOT / "docs/errors.md").read_text())
    wrong += proofs((ROOT / "docs/evidence.md").read_text(), all_tests())
    for name in names:
        wrong += links(name, (ROOT / name).read_text(), lambda path: (ROOT / path).exists())
    print("".join(f"{line}\n" for line in wrong) + f"docs: {len(wrong)} wrong in {len(names)} papers")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
