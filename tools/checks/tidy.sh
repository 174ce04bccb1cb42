#!/usr/bin/env bash
# Runs clang-tidy (.clang-tidy) over the files that a build tree compiles; any finding is a failure.
#   tidy.sh                   every source of build/
#   tidy.sh --changed [BASE]  only sources that differ from BASE (default: main)
#   tidy.sh FILE...           these sources
# BUILD names another build tree. The kernels' units are compiled once per instruction set and looked at once.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=${BUILD:-build}
for need in "$build/compile_commands.json" "$(command -v clang-tidy || echo clang-tidy)"; do
  [ -f "$need" ] || { echo "tidy: there is no $need: run ./setup --dev" >&2; exit 2; }
done
case ${1:-} in
  --changed) mapfile -t wanted < <(git diff --name-only --diff-filter=d "${2:-main}" -- 'src/*.cc' 'apps/*.cc') ;;
  '') mapfile -t wanted < <(git ls-files 'src/*.cc' 'apps/*.cc') ;;
  *) wanted=("$@") ;;
esac
# A database of one command a file: of a unit's several, the last, which is the widest instruction set's.
database=$(mktemp -d)
trap 'rm -rf "$database"' EXIT
mapfile -t files < <(python3 - "$build" "$database" "${wanted[@]}" <<'PYTHON'
import json, os, sys
build, database, *wanted = sys.argv[1:]
commands = {os.path.relpath(e["file"]): e for e in json.load(open(f"{build}/compile_commands.json"))}
commands = {f: commands[f] for f in wanted if f in commands and not f.endswith(".test.cc")}
for entry in commands.values():
    entry["command"] = entry["command"].replace(" -fvect-cost-model=dynamic", "")  # an error to Clang
json.dump(list(commands.values()), open(f"{database}/compile_commands.json", "w"))
print("\n".join(sorted(commands)), end="")
PYTHON
)
[ ${#files[@]} -gt 0 ] && [ -n "${files[0]}" ] || { echo "tidy: no files"; exit 0; }
# The path-sensitive analyzer stops at 10,000 states a function: four fifths of its time go into the few functions that
# have more. GCC's flags that Clang lacks are no finding; headers are looked at where a source includes them.
options=(-p "$database" --quiet --warnings-as-errors='*')
for word in -Wno-unknown-warning-option -Wno-ignored-optimization-argument \
  -Xclang -analyzer-config -Xclang max-nodes=10000; do options+=("--extra-arg=$word"); done
code=0
printf '%s\0' "${files[@]}" |
  xargs -0 -P "$(nproc)" -n 1 clang-tidy "${options[@]}" >"$database/log" 2>"$database/errors" || code=$?
found=$(grep -E '(error|warning): ' "$database/log" | sort -u || true)
[ -z "$found" ] || printf '%s\n' "$found"
count=$(grep -c . <<<"$found" || true)
echo "tidy: $count findings in ${#files[@]} files"
# A failure without a finding is clang-tidy's own.
if [ "$code" != 0 ] && [ "$count" = 0 ]; then tail -n 20 "$database/errors" >&2; exit 2; fi
[ "$count" = 0 ]
