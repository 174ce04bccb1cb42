#!/usr/bin/env bash
# Runs clang-tidy (.clang-tidy) over the files that a build tree compiles; any finding is a failure.
#   tidy.sh                   every source of build/
#   tidy.sh --changed [BASE]  only sources that differ from BASE (default: main)
# BUILD names another build tree. The kernels' units are compiled once per instruction set and looked at once.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=${BUILD:-build}
for need in "$build/compile_commands.json" "$(command -v clang-tidy || echo clang-tidy)"; do
  [ -f "$need" ] || { echo "tidy: there is no $need: run ./setup --dev" >&2; exit 2; }
done
if [ "${1:-}" = --changed ]; then
  mapfile -t wanted < <(git diff --name-only --diff-filter=d "${2:-main}" -- 'src/*.cc' 'apps/*.cc' ':!*.test.cc')
else
  mapfile -t wanted < <(git ls-files 'src/*.cc' 'apps/*.cc' ':!*.test.cc')
fi
mapfile -t files < <(python3 - "$build" "${wanted[@]}" <<'PYTHON'
import json, os, sys
compiled = {os.path.relpath(entry["file"]) for entry in json.load(open(sys.argv[1] + "/compile_commands.json"))}
print("\n".join(sorted(compiled & set(sys.argv[2:]))), end="")
PYTHON
)
[ ${#files[@]} -gt 0 ] && [ -n "${files[0]}" ] || { echo "tidy: no files"; exit 0; }
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# GCC's flags that Clang lacks are no finding; headers are looked at where a source includes them.
printf '%s\0' "${files[@]}" | xargs -0 -P "$(nproc)" -n 4 clang-tidy -p "$build" --quiet --warnings-as-errors='*' \
  --extra-arg=-Wno-unknown-warning-option --extra-arg=-Wno-ignored-optimization-argument >"$log" 2>/dev/null || true
grep -E '(error|warning): ' "$log" | sort -u || true
count=$(grep -E '(error|warning): ' "$log" | sort -u | wc -l)
echo "tidy: $count findings in ${#files[@]} files"
[ "$count" = 0 ]
