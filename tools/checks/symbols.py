#!/usr/bin/env python3
"""Checks, with nm and objdump, what the runtime library holds and asks for.

    symbols.py [--build FOLDER] [--prefix aarch64-linux-gnu-]      (a release build; default: build/)
    symbols.py --self-test

1. The runtime asks for nothing that throws, prints, ends the process, opens a socket or allocates behind its
   containers, and for nothing of protobuf or iostream.
2. It has no variables that change and no code that runs before main.
3. Aspects keep apart: the runtime holds no `.lower`, `.grad` or `.import` unit, the compiler no `.import` unit.
4. What is compiled for an instruction set stays in that set's namespace: a function that the linker could merge with
   another unit's would bring instructions to machines that lack them.
"""
import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FORBIDDEN = [  # (what it means, mangled names)
    ("throws", r"__cxa_(throw|rethrow|allocate_exception|begin_catch)$|_ZSt\d+__throw_\w+$|_Unwind_"),
    ("prints", r"(v?f?printf|puts|fputs|putchar|fputc|fwrite|perror|stdout|stderr|__f?printf_chk|__v?fprintf_chk)$"),
    ("ends the process", r"(abort|exit|_exit|quick_exit|__assert_fail|_ZSt9terminatev|raise|kill)$"),
    ("opens a socket", r"(socket|connect|bind|listen|accept|getaddrinfo)$"),
    ("allocates outside base/", r"_Zn[wa][mj]|(strdup|strndup|asprintf)$"),
    ("needs iostream", r"_ZNSt\d+basic_(i|o|io)?stream|_ZNSolsE|_ZSt4cout|_ZSt4cerr|_ZNSt8ios_base|_ZNKSt8ios_base"),
    ("needs protobuf", r".*6google8protobuf"),
    ("needs a dynamic string or locale", r"_ZNSt7__cxx1112basic_string|_ZNSt6locale"),
    ("starts statics with a guard", r"__cxa_guard_"),
]
RUNTIME_ASPECTS, COMPILER_ASPECTS = re.compile(r"\.(lower|grad|import)\.cc"), re.compile(r"\.import\.cc")
CHANGING = re.compile(r"\s(\.data|\.bss|\.tdata|\.tbss|COMMON)(\.(?!rel\.ro)\S*)?\s")
STARTING = re.compile(r"^\s*\d+ (\.init_array|\.ctors)\S*", re.M)


class Tools:
    def __init__(self, prefix):
        self.prefix = prefix

    def run(self, tool, *arguments):
        command = [self.prefix + tool, *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def asked(tools, library):
    """Lines for each forbidden symbol that a unit of the library asks for and the library itself does not define."""
    listed = map(str.split, tools.run("nm", "--defined-only", library).splitlines())
    defined = {words[-1] for words in listed if len(words) == 3}
    wrong, unit = [], "?"
    for line in tools.run("nm", "--undefined-only", library).splitlines():
        if line.endswith(":"):
            unit = line[:-1]
        elif line.strip():
            symbol = line.split()[-1].split("@")[0]
            for meaning, pattern in FORBIDDEN:
                if symbol not in defined and re.match(pattern, symbol):
                    wrong.append(f"{library.name}: {unit} {meaning}: asks for {symbol}")
    return wrong


def changing(tools, library):
    """Lines for each variable in a writable section and each unit with start-up code."""
    wrong, unit = [], "?"
    for line in tools.run("objdump", "-t", library).splitlines():
        if ":     file format" in line:
            unit = line.split(":")[0]
        elif CHANGING.search(line) and re.match(r"[0-9a-f]+ .{6}O ", line):
            wrong.append(f"{library.name}: {unit} has a variable that changes: {line.split()[-1]}")
    for part in re.split(r"\n(?=\S+:\s+file format)", tools.run("objdump", "-h", library)):
        if STARTING.search(part):
            wrong.append(f"{library.name}: {part.split(':')[0].strip()} runs code before main")
    return wrong


def aspects(tools, library, forbidden):
    members = tools.run("ar", "t", library).split()
    return [f"{library.name}: holds {member}" for member in members if forbidden.search(member)]


def leaks(tools, unit, isa):
    """Lines for each symbol that an instruction set's unit defines outside `mica::<isa>`."""
    own = re.compile(rf"_Z(GV|TV|TI|TS|Z)*N[KVrRO]*4mica{len(isa)}{isa}")
    wrong = []
    for line in tools.run("nm", "--defined-only", "--extern-only", unit).splitlines():
        symbol = line.split()[-1]
        if len(line.split()) == 3 and not own.match(symbol):
            wrong.append(f"{unit.parent.parent.name}/{unit.name} ({isa}): defines {symbol} outside mica::{isa}")
    return wrong


def check(build, tools):
    """(lines for each breach, how many files were looked at)"""
    runtime, compiler = build / "libmica_runtime.a", build / "libmica_compiler.a"
    if not runtime.is_file():
        return [f"{runtime} does not exist: build first"], 0
    wrong = asked(tools, runtime) + changing(tools, runtime) + aspects(tools, runtime, RUNTIME_ASPECTS)
    if compiler.is_file():
        wrong += aspects(tools, compiler, COMPILER_ASPECTS)
    units = sorted(build.glob("CMakeFiles/mica_kernels_*.dir/**/*.o"))
    for unit in units:
        folder = next(part for part in unit.parts if part.startswith("mica_kernels_"))
        isa = folder.removeprefix("mica_kernels_").removesuffix(".dir")
        wrong += leaks(tools, unit, isa)
    return wrong, 1 + compiler.is_file() + len(units)


PLANTS = {  # source: a word that the report must hold, or None where it must stay empty
    "int* f(); int* f() { return new int(3); }": "allocates",
    "void f(int a); void f(int a) { if (a) throw 3; }": "throws",
    "#include <cstdio>\nvoid f(); void f() { std::fprintf(stderr, \"x\"); }": "prints",
    "#include <cstdlib>\nvoid f(); void f() { std::abort(); }": "ends the process",
    "static int calls; int f(); int f() { return ++calls; }": "changes",
    "int g(); int at_start = g();": "before main",
    "#include <iostream>\nvoid f(); void f() { std::cout << 3; }": "iostream",
    "namespace mica { extern const int* const kTable[2]; static const int kOne = 1;"
    " const int* const kTable[2] = {&kOne, nullptr}; }": None,
    "namespace mica::avx2 { int f(int a); int f(int a) { return a + 1; } }": None,
}


def self_test(tools):
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        build = Path(folder)
        kernels = build / "CMakeFiles/mica_kernels_avx2.dir/src/kernels/a"
        kernels.mkdir(parents=True)

        def compiled(source, unit):
            command = [shutil.which("c++"), "-x", "c++", "-std=c++20", "-O2", "-fPIC", "-c", "-", "-o", unit]
            subprocess.run(command, input=source, text=True, check=True)

        for source, word in PLANTS.items():
            (build / "libmica_runtime.a").unlink(missing_ok=True)
            compiled(source, build / "a.o")
            tools.run("ar", "rcs", build / "libmica_runtime.a", build / "a.o")
            wrong = "\n".join(check(build, tools)[0])
            if (word is None and wrong) or (word is not None and word not in wrong):
                failures += 1
                print(f"symbols self-test: expected {word!r} from `{source}`, got {wrong!r}")
        compiled("inline int h(int a) { return a; }\n"
                 "namespace mica::avx2 { int (*f())(int); int (*f())(int) { return h; } }", kernels / "a.isa.cc.o")
        if "outside mica::avx2" not in "\n".join(check(build, tools)[0]):
            failures += 1
            print("symbols self-test: a mergeable function in an instruction set's unit was let pass")
    print(f"symbols self-test: {len(PLANTS) + 1 - failures} of {len(PLANTS) + 1} plants judged rightly")
    return failures


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--build", type=Path, default=ROOT / "build")
    options.add_argument("--prefix", default="", help="of nm, objdump and ar for another processor")
    options.add_argument("--self-test", action="store_true")
    options = options.parse_args()
    tools = Tools(options.prefix)
    if options.self_test:
        return 1 if self_test(tools) else 0
    wrong, looked = check(options.build, tools)
    print("".join(f"{line}\n" for line in wrong) + f"symbols: {len(wrong)} breaches in {looked} libraries and units")
    return 1 if wrong or not looked else 0


if __name__ == "__main__":
    sys.exit(main())
