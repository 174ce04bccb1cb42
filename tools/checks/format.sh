#!/usr/bin/env bash
# Checks the tracked C and C++ files against .clang-format.
#   format.sh          prints the files that differ; exits 1 when there are any
#   format.sh --fix    rewrites them
set -euo pipefail
cd "$(dirname "$0")/../.."
command -v clang-format >/dev/null || { echo "format: there is no clang-format: run ./setup --dev" >&2; exit 2; }
mapfile -t files < <(git ls-files '*.h' '*.hpp' '*.c' '*.cc' '*.inl')
[ ${#files[@]} -gt 0 ] || { echo "format: no files"; exit 0; }
if [ "${1:-}" = --fix ]; then clang-format -i --style=file "${files[@]}"; exit 0; fi
code=0
log=$(printf '%s\0' "${files[@]}" |
  xargs -0 -P "$(nproc)" -n 32 clang-format --dry-run --ferror-limit=1 -Werror --style=file 2>&1) || code=$?
mapfile -t wrong < <(sed -nE 's/^([^ :]+):[0-9]+:[0-9]+: error: .*/\1/p' <<<"$log" | sort -u)
for file in "${wrong[@]}"; do echo "$file: not formatted (tools/checks/format.sh --fix)"; done
echo "format: ${#wrong[@]} of ${#files[@]} files differ"
# A failure that names no file is the own of clang-format.
if [ "$code" != 0 ] && [ ${#wrong[@]} = 0 ]; then printf '%s\n' "$log" >&2; exit 2; fi
[ ${#wrong[@]} = 0 ]
