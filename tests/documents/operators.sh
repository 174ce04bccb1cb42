#!/usr/bin/env bash
# operators.sh MICA DOCUMENT: whether the document is what `mica ops --format md` writes.
# Ends with `N passed, N failed`
set -u
if "$1" ops --format md | diff -u "$2" - | head -40; [ "${PIPESTATUS[1]}" = 0 ]; then
  echo "1 passed, 0 failed"
else
  printf 'docs/operators.md is stale: build/mica ops --format md >docs/operators.md\n0 passed, 1 failed\n'
  exit 1
fi
