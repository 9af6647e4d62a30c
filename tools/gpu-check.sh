#!/usr/bin/env bash
# Checks the plugin cuda on a machine with a GPU:
#
#   gpu-check.sh [STEP...]      default: all, in this order
#
#   step          limit   what
#   info             60   driver, devices and their facts, libraries; the first allocation
#   conformance     300   the whole kit; junit.xml and matrix.md
#   programs        120   random programs, golden values, and tensors of ELEMENTS / 64 elements
#                         beside the cpu; needs a build with all dtypes
#   memcheck        300   functions of each kind under compute-sanitizer, without a cache, which
#   racecheck       300   would hide accesses beyond an allocation; in one process
#   synccheck       300
#   initcheck       300
#   bench           240   the rows of `atoll bench`
#   large           240   its rows x1, x2, … of ELEMENTS elements (default: 2^28)
#   peers           480   the same beside PyTorch and CuPy, where they are installed
#
# ATOLL is the command `atoll` (default: build/tools/atoll), PLUGIN the file (default:
# build/plugins/cuda/atoll-cuda.so), ATOLL_TESTS the folder of the test programs (default:
# build/tests), OUT the folder for logs and results (default: gpu-check), FUNCTIONS those for
# compute-sanitizer, SANITIZER that program, DEVICE the device (default: cuda:0). No step stops the
# others. Each has its own time limit and log, and adds one line of JSON to OUT/steps.jsonl; a table
# at the end, also in OUT/summary.txt, sums them up. Exit status 0: all steps passed, 2: bad usage.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
export atoll=${ATOLL:-build/tools/atoll} plugin=${PLUGIN:-$PWD/build/plugins/cuda/atoll-cuda.so}
export tests=${ATOLL_TESTS:-build/tests} device=${DEVICE:-cuda:0} out=${OUT:-gpu-check}
export elements=${ELEMENTS:-268435456} sanitizer=${SANITIZER:-compute-sanitizer}
export functions=${FUNCTIONS:-add exp where copy sum cumsum sort argmax matmul find gather scatter}
export ATOLL_PLUGIN_PATH="$(dirname "$plugin")${ATOLL_PLUGIN_PATH:+:$ATOLL_PLUGIN_PATH}"

# What there is; the rest is of no use without it.
info() {
  nvidia-smi || echo "no nvidia-smi"
  ldd "$plugin" || return 1
  "$atoll" info --devices --plugins --settings || return 1
  "$atoll" info --devices --json >"$out/devices.json" || return 1
  "$atoll" check "$plugin" --filter 'device/*'
}
conformance() {
  "$atoll" check "$plugin" --junit "$out/junit.xml" --matrix "$out/matrix.md"
}
programs() {
  local status=0
  export ATOLL_TEST_GPU=$plugin ATOLL_TEST_PLUGINS=${ATOLL_TEST_PLUGINS:-$tests/plugins}
  "$tests/atoll_tests_random_programs" --test-case='*GPU*' || status=1
  ATOLL_GOLDEN=$tests/golden/golden.bin "$tests/golden/atoll_tests_golden" --test-case='*GPU*' || status=1
  ATOLL_TEST_ELEMENTS=$((elements / 64)) "$tests/atoll_tests_large" || status=1
  return $status
}
# Under a tool of compute-sanitizer.
sanitized() {
  command -v "$sanitizer" >/dev/null || { echo "no $sanitizer"; return 1; }
  local status=0
  export ATOLL_CUDA_CACHE_BYTES=0
  for filter in 'device/*' 'streams/*' $(printf 'functions/core.%s@*:float32/*\n' $functions); do
    echo "== $1, $filter"
    "$sanitizer" --tool "$1" --error-exitcode 9 \
      "$atoll" check "$plugin" --no-isolate --filter "$filter" || status=1
  done
  # Long rows, several tiles.
  [ -x "$tests/atoll_tests_large" ] || { echo "no $tests/atoll_tests_large: left out"; return $status; }
  ATOLL_TEST_GPU=$plugin ATOLL_TEST_ELEMENTS=262144 "$sanitizer" --tool "$1" --error-exitcode 9 \
    "$tests/atoll_tests_large" || status=1
  return $status
}
bench() { "$atoll" bench --device "$device" --json >"$out/bench.json" && cat "$out/bench.json"; }
large() {
  "$atoll" bench 'x*' --device "$device" --elements "$elements" --json >"$out/large.json" &&
    cat "$out/large.json"
}
peers() {
  python3 tests/bench/peers_gpu.py --atoll "$atoll" --device "$device" --elements "$elements" \
    ${PEERS_OPTIONS:-}
}

# limit STEP: its seconds; fails if there is no such step.
limit() {
  case $1 in
    info) echo 60 ;;
    programs) echo 120 ;;
    conformance | memcheck | racecheck | synccheck | initcheck) echo 300 ;;
    bench | large) echo 240 ;;
    peers) echo 480 ;;
    *) return 1 ;;
  esac
}
all="info conformance programs memcheck racecheck synccheck initcheck bench large peers"
# shellcheck disable=SC2086 # words
[ $# -gt 0 ] || set -- $all
for name in "$@"; do
  limit "$name" >/dev/null || { echo "unknown step $name; steps: $all" >&2; exit 2; }
done
mkdir -p "$out" || exit 1
: >"$out/steps.jsonl"
export -f info conformance programs sanitized bench large peers # for `timeout`, which starts processes

failed=0
table=$(printf '%-12s %-12s %8s  %s' step result seconds log)
for name in "$@"; do
  case $name in
    *check) command="sanitized $name" ;;
    *) command=$name ;;
  esac
  begin=$(date +%s)
  timeout --kill-after 10 "$(limit "$name")" bash -c "$command" >"$out/$name.log" 2>&1
  status=$?
  seconds=$(($(date +%s) - begin))
  case $status in
    0) result=passed ;;
    124 | 137) result="out of time" ;;
    *) result="FAILED ($status)" ;;
  esac
  [ $status -eq 0 ] || failed=$((failed + 1))
  printf '{"step": "%s", "status": %d, "seconds": %d, "log": "%s"}\n' \
    "$name" $status $seconds "$out/$name.log" | tee -a "$out/steps.jsonl"
  table+=$(printf '\n%-12s %-12s %8d  %s' "$name" "$result" $seconds "$out/$name.log")
done
{
  echo "$table"
  echo "$(($# - failed)) passed, $failed failed; results are in $out"
} | tee "$out/summary.txt"
[ $failed -eq 0 ]
