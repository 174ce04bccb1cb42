#!/usr/bin/env python3
"""Sums test results into one line `N passed, N failed, N skipped`; exits 1 when one failed or when nothing was counted.

    sum_tests.py [--ctest report.xml --gtest folder] [--log file]...

--ctest  the JUnit report of ctest. An entry counts as many cases as the GoogleTest file of its program in --gtest has;
         else as many as the last line `N passed, N failed[, N skipped]` of its output says; else as one.
--log    a program's saved output that ends with such a line. A log without one counts as one failure.
An entry that failed counts at least one failure, whatever its own count says: a program may die after its last case.
"""
import argparse
import re
import sys
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path

SUM_LINE = re.compile(r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?\s*$", re.M)


@dataclass
class Count:
    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __add__(self, other):
        return Count(self.passed + other.passed, self.failed + other.failed, self.skipped + other.skipped)

    def __str__(self):
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"


def of_text(text):
    """The last sum line in a program's output, or None."""
    found = SUM_LINE.findall(text or "")
    return Count(*(int(number or 0) for number in found[-1])) if found else None


def of_gtest(path):
    """The cases of one GoogleTest XML file."""
    count = Count()
    for case in ElementTree.parse(path).iter("testcase"):
        if case.find("failure") is not None:
            count.failed += 1
        elif case.find("skipped") is not None or case.get("result") == "skipped" or case.get("status") == "notrun":
            count.skipped += 1
        else:
            count.passed += 1
    return count


def of_entry(entry, gtest):
    """One entry of ctest's report; `gtest` is the folder with its program's cases, or None."""
    failed = entry.find("failure") is not None or entry.get("status") == "fail"
    cases = gtest / f"{entry.get('name')}.xml" if gtest else None
    if not failed and (entry.find("skipped") is not None or entry.get("status") in ("notrun", "disabled")):
        return Count(skipped=1)
    if cases and cases.is_file():
        count = of_gtest(cases)
    else:
        count = of_text(entry.findtext("system-out")) or Count(passed=0 if failed else 1)
    return count + Count(failed=1) if failed and count.failed == 0 else count


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--ctest", type=Path)
    options.add_argument("--gtest", type=Path)
    options.add_argument("--log", type=Path, action="append", default=[])
    options = options.parse_args()

    total = Count()
    if options.ctest:
        if not options.ctest.is_file():
            total += Count(failed=1)
            print(f"sum_tests: {options.ctest} was not written", file=sys.stderr)
        else:
            for entry in ElementTree.parse(options.ctest).iter("testcase"):
                total += of_entry(entry, options.gtest)
    for log in options.log:
        total += of_text(log.read_text(errors="replace")) or Count(failed=1)
    print(total)
    return 1 if total.failed or total == Count() else 0


if __name__ == "__main__":
    sys.exit(main())
