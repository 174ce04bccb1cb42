#!/usr/bin/env python3
"""Checks the size law over the tracked files: at most 600 lines a file, 60 a function, 120 columns, 5 parameters.

    lengths.py [FILE]...     (default: every tracked source and script)
    lengths.py --self-test

C++ functions are found by their braces, without a compiler: a brace that opens outside functions after a closing
parenthesis opens one, unless the text before it starts a namespace, a type or an initialiser. A lambda belongs to the
function around it. A function's
length runs from the first line of its head to its closing brace. Kernels are excepted from the parameter law.
"""
import argparse
import ast
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MAX_LINES, MAX_FUNCTION, MAX_COLUMNS, MAX_PARAMETERS = 600, 60, 120, 5
CPP = {".h", ".hpp", ".c", ".cc", ".cpp", ".inc", ".inl"}
OTHERS = {".py", ".cmake", ".sh", ".proto"}
NAMES = {"CMakeLists.txt"}
KERNELS = ("src/kernels/", "src/simd/")
SCOPE = re.compile(r"(^|[\s;>\]])(namespace|struct|class|union|enum)\b"
                   r"(?![^{]*\)\s*(const|noexcept|override|final|->|requires|$))")
NO_NAME = {"noexcept", "requires", "decltype", "alignas", "explicit", "__attribute__", "sizeof"}
COMMENT, RAW = r"//[^\n]*|/\*.*?\*/", r'R"([^(\s]*)\(.*?\)\1"'
STRING, LETTER = r'"(?:\\.|[^"\\\n])*"', r"(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'"
DIRECTIVE = r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*"
BLANKED = re.compile("|".join((COMMENT, RAW, STRING, LETTER, DIRECTIVE)), re.S | re.M)


@dataclass
class Function:
    name: str
    first: int
    last: int
    parameters: int


def blanked(text):
    """The text with comments, literals and preprocessor lines replaced by spaces; line breaks stay."""
    return BLANKED.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


def split_parameters(text):
    """How many parameters stand between a head's parentheses."""
    depth, count = 0, 1
    for before, letter in zip(" " + text, text):
        if letter in "([{<":
            depth += 1
        elif letter in ")]}" or (letter == ">" and before != "-"):
            depth -= 1
        elif letter == "," and depth == 0:
            count += 1
    return count if text.strip() not in ("", "void") else 0


def head_of(head):
    """(name, parameter count) of a function's head: its first parenthesis that follows a name at depth 0."""
    depth, start = 0, -1
    for at, letter in enumerate(head):
        if letter == "(":
            if depth == 0:
                start = at
            depth += 1
        elif letter == ")":
            depth -= 1
            if depth == 0 and start >= 0:
                name = re.search(r"(operator\s*(?:\(\)|\S{1,3})|[~\w:]+)\s*(?:<[^<>]*>)?\s*$", head[:start])
                if name and name[1] not in NO_NAME and not name[1].isupper() and not name[1].startswith("MICA_"):
                    return name[1], split_parameters(head[start + 1 : at])
    return head.strip().split("(")[0][-40:], 0


def is_initialiser(head):
    plain = re.sub(r"operator\s*[=!<>+\-*/%&|^]+", "operator", head)
    plain = re.sub(r"\([^()]*\)", "()", re.sub(r"\([^()]*\)", "()", plain))
    plain = re.sub(r"\btemplate\s*<[^{]*?>\s*(?=[\w\[])", "", plain)
    return re.search(r"(?<![=!<>])=(?!=)", plain) is not None


def cpp_functions(text):
    """Functions in C++ source text, outermost only."""
    text = blanked(text)
    found, stack = [], []  # stack: "scope", "function" or "other" for each open brace
    start, opened, parentheses, at = 0, 0, 0, 0
    while at < len(text):
        letter = text[at]
        inside = "function" in stack or "other" in stack
        if letter == "(":
            parentheses += not inside
        elif letter == ")":
            parentheses -= not inside and parentheses > 0
        elif letter == "{":
            head = text[start:at]
            if inside or parentheses:
                kind = "other" if not inside else "nested"
            elif SCOPE.search(head) or re.search(r"\bextern\s*$", head):
                kind = "scope"
            elif ")" in head and not is_initialiser(head):
                kind, opened = "function", start + len(head) - len(head.lstrip())
            else:
                kind = "other"
            stack.append(kind)
            start = at + 1 if kind == "scope" else start
        elif letter == "}" and stack:
            kind = stack.pop()
            if kind == "function":
                name, parameters = head_of(text[opened:text.index("{", opened)])
                found.append(Function(name, text.count("\n", 0, opened) + 1, text.count("\n", 0, at) + 1, parameters))
            if kind in ("function", "scope"):
                start = at + 1
        elif letter == ";" and not inside and not parentheses:
            start = at + 1
        elif letter == ":" and not inside and re.search(r"\b(public|private|protected)\s*$", text[start:at]):
            start = at + 1
        at += 1
    return found


def python_functions(text):
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            arguments = [a.arg for a in node.args.posonlyargs + node.args.args + node.args.kwonlyargs]
            count = len(arguments) - (arguments[:1] in (["self"], ["cls"]))
            found.append(Function(node.name, node.lineno, node.end_lineno, count))
    return found


def language_of(name, text):
    """The ending that a file has or, as a script, would have; "" for what the law does not concern."""
    suffix = Path(name).suffix
    if suffix in CPP | OTHERS:
        return suffix
    if Path(name).name in NAMES:
        return ".cmake"
    if suffix or not text.startswith("#!"):
        return ""
    return ".py" if "python" in text.split("\n", 1)[0] else ".sh"


def check(name, text):
    """Lines of text, one for each breach of the law in one file."""
    wrong, lines, suffix = [], text.split("\n"), language_of(name, text)
    count = len(lines) - (lines[-1] == "")
    if count > MAX_LINES:
        wrong.append(f"{name}: {count} lines (at most {MAX_LINES})")
    for number, line in enumerate(lines, 1):
        if len(line) > MAX_COLUMNS:
            wrong.append(f"{name}:{number}: {len(line)} columns (at most {MAX_COLUMNS})")
    functions = cpp_functions(text) if suffix in CPP else python_functions(text) if suffix == ".py" else []
    for function in functions:
        length, place = function.last - function.first + 1, f"{name}:{function.first}: {function.name}"
        if length > MAX_FUNCTION:
            wrong.append(f"{place} has {length} lines (at most {MAX_FUNCTION})")
        if function.parameters > MAX_PARAMETERS and not name.startswith(KERNELS):
            wrong.append(f"{place} has {function.parameters} parameters (at most {MAX_PARAMETERS})")
    return wrong


SELF_TEST = '''
namespace mica {
struct Point { int x = 0; int sum(int a, std::array<int, 3> b) const { return a + b[0]; } };
constexpr int kTable[] = {1, 2, 3};
inline const Def op_conv = {.infer = [](int a) { return a; }, .name = "x { y"};
Point::Point(int a) : x{a}, y_(2) { if (a) { x = '{'; } }
template <class T, int N = 3>
  requires std::is_same_v<T, int>
Result<T> many(int a, int b, std::pair<int, int> c, T d, int e, const F<int, int>& f) {
  for (int i = 0; i < 3; ++i) { a += i; }
  return {};
}
auto operator==(const Point& a, const Point& b) -> bool { return a.x == b.x; }
}
'''


def self_test():
    functions = {f.name: f for f in cpp_functions(SELF_TEST)}
    long = "int f(int a) {\n" + "  a += 1;\n" * 70 + "}\n"
    expected = [
        functions["sum"].parameters == 2,
        functions["many"].parameters == 6,
        functions["many"].last - functions["many"].first == 5,
        "op_conv" not in functions,
        "kTable" not in functions,
        "operator==" in functions,
        "72 lines" in str(check("src/a.cc", long)),
        "6 parameters" in str(check("src/a.cc", SELF_TEST)),
        not check("src/kernels/a/a.cc", SELF_TEST),
        "601 lines" in str(check("a.h", "\n" * 601)),
        "121 columns" in str(check("a.h", "x" * 121 + "\n")),
        not check("a.h", "x" * 120 + "\n"),
        language_of("a", "#!/usr/bin/env bash\n") == ".sh",
        language_of("a", "a text\n") == language_of("a.json", "#!/bin/sh\n") == "",
        "f has 62" in str(check("tools/a", "#!/usr/bin/env python3\ndef f():\n" + "  a = 1\n" * 61)),
        "f has 62" in str(check("a.py", "def f():\n" + "  a = 1\n" * 61)),
    ]
    print(f"lengths self-test: {sum(expected)} of {len(expected)}")
    for number, right in enumerate(expected):
        if not right:
            print(f"lengths self-test: case {number} failed")
    return not all(expected)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("files", nargs="*")
    options.add_argument("--self-test", action="store_true")
    options = options.parse_args()
    if options.self_test:
        return 1 if self_test() else 0
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    names = [name for name in options.files or tracked.splitlines() if (ROOT / name).is_file()]
    texts = {name: (ROOT / name).read_text(errors="replace") for name in names}
    texts = {name: text for name, text in texts.items() if language_of(name, text)}
    wrong = [line for name, text in texts.items() for line in check(name, text)]
    print("".join(f"{line}\n" for line in wrong) + f"lengths: {len(wrong)} breaches in {len(texts)} files")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
