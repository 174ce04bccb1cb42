"""Runs the small exports that are kept as files: kept.py --mica BUILD/mica [PART ...]."""

import argparse
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from compare import run_folder


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mica", required=True)
    parser.add_argument("parts", nargs="*", help="only the exports whose names hold one of these")
    options = parser.parse_args()
    folder, passed, failed = os.path.join(HERE, "kept"), 0, 0
    for name in sorted(os.listdir(folder)):
        if options.parts and not any(part in name for part in options.parts):
            continue
        trouble = run_folder(options.mica, os.path.join(folder, name))
        passed, failed = passed + (not trouble), failed + bool(trouble)
        if trouble:
            print(f"failed {name}: {trouble}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
