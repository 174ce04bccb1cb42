#!/usr/bin/env bash
# Checks the tracked C and C++ files against .clang-format.
#   format.sh          prints the files that differ; exits 1 when there are any
#   format.sh --fix    rewrites them
set -euo pipefail
cd "$(dirname "$0")/../.."
mapfile -t files < <(git ls-files '*.h' '*.hpp' '*.c' '*.cc' '*.inl')
[ ${#files[@]} -gt 0 ] || { echo "format: no files"; exit 0; }
if [ "${1:-}" = --fix ]; then clang-format -i --style=file "${files[@]}"; exit 0; fi
wrong=0
for file in "${files[@]}"; do
  clang-format --dry-run -Werror --style=file "$file" 2>/dev/null && continue
  echo "$file: not formatted (tools/checks/format.sh --fix)"
  wrong=$((wrong + 1))
done
echo "format: $wrong of ${#files[@]} files differ"
[ "$wrong" = 0 ]
