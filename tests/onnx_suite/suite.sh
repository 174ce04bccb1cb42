#!/usr/bin/env bash
# The operator cases below $MICA_SUITES, as one test: the self-test first, then each suite. Unset: left out; missing: a
# failure.
set -uo pipefail
program=$1
here=$(dirname "$0")
if [ -z "${MICA_SUITES:-}" ]; then
  printf 'onnx_suite was left out: MICA_SUITES is not set\n0 passed, 0 failed, 1 skipped\n'
  exit 0
fi
suite=$MICA_SUITES/onnx-backend-1.21
if [ ! -d "$suite/node" ]; then
  printf 'onnx_suite: the folder %s/node is missing\n0 passed, 1 failed, 0 skipped\n' "$suite"
  exit 1
fi
"$program" "$suite/node" --only test_add --self-test || exit 1
code=0 passed=0 failed=0 skipped=0
for part in node simple pytorch-operator pytorch-converted; do
  log=$("$program" "$suite/$part" --exceptions "$here/exceptions.txt" --onnx-release 1.21 --threads 2 </dev/null) ||
    code=1
  printf '==== %s\n%s\n' "$part" "$log"
  read -r p f s < <(tail -n 1 <<<"$log" | sed 's/[^0-9]\+/ /g')
  passed=$((passed + ${p:-0})) failed=$((failed + ${f:-1})) skipped=$((skipped + ${s:-0}))
done
printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
exit $code
