#!/usr/bin/env python3
"""Prints the kernel tables that test_ops wrote, side by side, and holds them against each other.

kernels.py TABLE...

Each TABLE is the kernels.json of a build tree. The instruction sets of all trees are columns; a set that several trees
have is taken from the first. A problem of an operator that kernels did on one set is done by kernels on every other:
an operator for which the counts differ between sets fails. The last line is `N passed, N failed`, over operators.
"""
import json
import sys

GENERIC = ("common", "reference")


def gather(paths):
    """Sets in order, {(source, function): {set: problems}}, {operator: {work: {set: problems}}}."""
    sets, functions, operators = [], {}, {}
    for path in paths:
        with open(path, encoding="utf-8") as file:
            table = json.load(file)
        new = [name for name in table["sets"] if name not in sets]
        sets += new
        for row in table["kernels"]:
            into = functions.setdefault((row["source"], row["function"]), {})
            into.update((name, count) for name, count in row["problems"].items() if name in new)
        for operator, works in table["operators"].items():
            for work, counts in works.items():
                into = operators.setdefault(operator, {}).setdefault(work, {})
                into.update((name, count) for name, count in counts.items() if name in new)
    return sets, functions, operators


def print_row(name, counts, sets):
    print(f"{name:<64}" + "".join(f" {counts.get(one, 0):>8}" for one in sets))


def main():
    if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
        print(__doc__.strip())
        return 0 if len(sys.argv) > 1 else 2
    sets, functions, operators = gather(sys.argv[1:])
    print(f"{'kernel function: problems that ran it':<64}" + "".join(f" {one:>8}" for one in sets))
    for (source, function), counts in sorted(functions.items()):
        print_row(f"{source} {function}".strip(), counts, sets)
    print(f"{'operator: problems that its kernels did':<64}" + "".join(f" {one:>8}" for one in sets))
    failed = []
    for operator, works in sorted(operators.items()):
        counts = works.get("kernels", {})
        if counts:
            print_row(operator, counts, sets)
        if len({counts.get(one, 0) for one in sets}) > 1:
            failed.append(operator)
    for work in GENERIC:
        print(f"with problems of {work} code:", *sorted(name for name, works in operators.items() if work in works))
    for operator in failed:
        print(f"FAILED {operator}: kernels did another number of its problems on one set than on another")
    print(f"{len(operators) - len(failed)} passed, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
