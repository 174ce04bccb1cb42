#!/usr/bin/env bash
# Every quick check of the tree, and of the runtime library in build/, in a few seconds; needs ./setup --dev.
# The last line is `N passed, N failed`.
#   all.sh               the checks
#   all.sh --self-test   also their self-tests, each of which plants what its check must find
set -euo pipefail
cd "$(dirname "$0")"
checks=(floors.py lengths.py words.py docs.py symbols.py format.sh)
if [ "${1:-}" = --self-test ]; then
  for check in floors lengths words docs symbols; do checks+=("$check.py --self-test"); done
fi
failed=0
for check in "${checks[@]}"; do
  read -ra command <<<"$check"
  "./${command[@]}" && continue
  failed=$((failed + 1))
  echo "FAILED: tools/checks/$check"
done
echo "$((${#checks[@]} - failed)) passed, $failed failed"
[ "$failed" = 0 ]
