#!/usr/bin/env bash
# Checks the plugin cuda on a machine with a GPU:
#
#   gpu-check.sh [STEP...]      default: all, in this order
#
#   step          limit   what
#   info             60   driver, devices and their facts, libraries; the first allocation
#   conformance     300   the whole kit: the group `device` alone, then the rest in parts
#   programs        120   random programs, golden values, and tensors of ELEMENTS / 64 elements
#                         beside the cpu
#   tests           300   the test programs that take a GPU, 60 seconds each
#   memcheck        300   functions of each kind under compute-sanitizer, without a cache, which
#   racecheck       300   would hide accesses beyond an allocation; a process for each function
#   synccheck       300
#   initcheck       300
#   bench           240   the rows of `atoll bench`
#   large           240   its rows x1, x2, … of ELEMENTS elements (default: 2^28)
#   peers           480   the same beside PyTorch and CuPy, where they are installed
#
# ATOLL_PLUGIN_PATH must list the folders of the plugins cpu, with which conformance compares, dummy
# and dummy_min: without one of them programs and tests fail at once, and the sanitizers leave out
# the long tensors. That of the plugin itself is added. programs and tests need a build with all
# dtypes, and tests the folder `plugins` of ATOLL_TESTS.
#
# ATOLL is the command `atoll` (default: build/tools/atoll), PLUGIN the file (default:
# build/plugins/cuda/atoll-cuda.so), ATOLL_TESTS the folder of the test programs (default:
# build/tests), OUT the folder for logs and results (default: gpu-check), FUNCTIONS those for
# compute-sanitizer, the longest first, SANITIZER that program, DEVICE the device (default: cuda:0),
# JOBS how many processes run side by side (default: as many as processors, at most 12; in tests at
# most 6), ATOLL_TEST_SCALE how many of the usual random cases tests take (default: 0.3). No step
# stops the others. Each has its own time limit and log, and adds one line of JSON to
# OUT/steps.jsonl; a table at the end, also in OUT/summary.txt, sums them up. Each of the processes
# of a step has a line in the step's log and a log of its own, OUT/STEP/NUMBER.log; those of
# conformance also write JUnit XML, OUT/conformance/NUMBER.xml. Exit status 0: all steps passed,
# 2: bad usage.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
export atoll=${ATOLL:-build/tools/atoll} plugin=${PLUGIN:-$PWD/build/plugins/cuda/atoll-cuda.so}
export tests=${ATOLL_TESTS:-build/tests} device=${DEVICE:-cuda:0} out=${OUT:-gpu-check}
export elements=${ELEMENTS:-268435456} sanitizer=${SANITIZER:-compute-sanitizer}
export functions=${FUNCTIONS:-matmul sort sum add exp where copy cumsum argmax find gather scatter}
export ATOLL_TEST_GPU=$plugin ATOLL_TEST_PLUGINS=${ATOLL_TEST_PLUGINS:-$tests/plugins}
processors=$(nproc)
export jobs=${JOBS:-$((processors < 12 ? processors : 12))}
[[ $jobs =~ ^[1-9][0-9]*$ ]] || { echo "JOBS is '$jobs'; need a number from 1" >&2; exit 2; }
folder=$(dirname "$plugin")
export ATOLL_PLUGIN_PATH=$folder${ATOLL_PLUGIN_PATH:+:$ATOLL_PLUGIN_PATH}

# one FUNCTION "NUMBER ITEM": runs it with the item and the number, and says in a line how it ended.
one() {
  local number=${2%% *} item=${2#* } log counts result=passed status=0 begin=$SECONDS
  log=$out/$step/$number.log
  mkdir -p "$out/$step"
  echo "== $item" >"$log"
  "$1" "$item" "$number" >>"$log" 2>&1 || status=$?
  [ $status -eq 0 ] || result="FAILED ($status)"
  counts=$(grep -aoE '[0-9]+ checks, .*|test cases:.*|ERROR SUMMARY:.*' "$log" |
    tr -s ' ' | paste -sd ';')
  echo "$result $((SECONDS - begin)) s, $log: $item${counts:+; $counts}"
  return $status
}
# side_by_side FUNCTION: `one` for each line of standard input, at most `jobs` at once.
side_by_side() {
  nl -ba -w 1 -s ' ' | xargs -d '\n' -P "$jobs" -n 1 bash -c 'one "$@" || exit 1' _ "$1" || return 1
}
found() { [ -z "$missing" ] || { echo "not found on ATOLL_PLUGIN_PATH:$missing"; return 1; }; }

# What there is; the rest is of no use without it.
info() {
  nvidia-smi || echo "no nvidia-smi"
  ldd "$plugin" || return 1
  "$atoll" info --devices --plugins --settings || return 1
  "$atoll" info --devices --json >"$out/devices.json" || return 1
  "$atoll" check "$plugin" --filter 'device/*'
}
# Filters for a list of checks, which together take each once, but those of `device`: one for all
# that are not of `functions`, the others for functions with about as many checks each.
parts() {
  echo '!(device/*|functions/*[@:/]*)'
  sed -En 's,^functions/([^@:/]*[@:/]).*,\1,p' | sort | uniq -c | sort -rn |
    awk -v parts=$((jobs > 1 ? jobs - 1 : 1)) '
      { least = 1
        for (p = 2; p <= parts; ++p) if (load[p] < load[least]) least = p
        load[least] += $1; names[least] = names[least] "|" $2 }
      END {
        for (p = 1; p <= parts; ++p)
          if (p in names) print "functions/@(" substr(names[p], 2) ")*" }'
}
part() { "$atoll" check "$plugin" --filter "$1" --junit "$out/$step/$2.xml"; }
conformance() {
  local list status=0
  list=$("$atoll" check "$plugin" --list) || return 1
  # Some look at how much memory is free, which other processes would change.
  ! grep -q '^device/' <<<"$list" || one part '0 device/*' || status=1
  parts <<<"$list" | side_by_side part || status=1
  return $status
}
programs() {
  found || return 1
  local status=0
  "$tests/atoll_tests_random_programs" --test-case='*GPU*' || status=1
  ATOLL_GOLDEN=$tests/golden/golden.bin "$tests/golden/atoll_tests_golden" \
    --test-case='*GPU*' || status=1
  ATOLL_TEST_ELEMENTS=$((elements / 64)) "$tests/atoll_tests_large" || status=1
  return $status
}
# Left out are what a refusal says where there is no device `cuda`, and its list of devices.
test_program() {
  timeout --foreground --kill-after 5 60 "$1" \
    --test-case-exclude='every refused import*,operands that are missing*'
}
tests() {
  found || return 1
  local program module programs=()
  export ATOLL_TEST_SCALE=${ATOLL_TEST_SCALE:-0.3} ATOLL_TAPP_DEVICE=$device
  export jobs=$((jobs < 6 ? jobs : 6))
  for program in "$tests"/atoll_tests_* "$tests"/tapp/atoll_tests_*; do
    if [ ! -f "$program" ] || [ ! -x "$program" ]; then continue; fi
    # Those of TAPP take ATOLL_TAPP_DEVICE.
    [[ $program == */tapp/* ]] || grep -q ATOLL_TEST_GPU "$program" || continue
    # Some name a module by its path in the build.
    module=$(grep -aoE '/[[:alnum:]_./+-]+/atoll-linalg\.so' "$program" | head -n 1)
    if [ -n "$module" ] && [ ! -e "$module" ]; then
      echo "$program: left out, no $module"
    else
      programs+=("$program")
    fi
  done
  [ ${#programs[@]} -gt 0 ] || { echo "no program in $tests takes a GPU"; return 1; }
  printf '%s\n' "${programs[@]}" | side_by_side test_program
}
# Under a tool of compute-sanitizer.
sanitized_part() {
  local run=("$atoll" check "$plugin" --no-isolate --filter "$1")
  [[ $1 != "$tests"/* ]] || run=("$1")
  ATOLL_TEST_ELEMENTS=262144 "$sanitizer" --tool "$step" --error-exitcode 9 "${run[@]}"
}
sanitized() {
  command -v "$sanitizer" >/dev/null || { echo "no $sanitizer"; return 1; }
  local status=0 large=$tests/atoll_tests_large
  export ATOLL_CUDA_CACHE_BYTES=0
  one sanitized_part '0 device/*' || status=1 # alone, as in conformance
  {
    # shellcheck disable=SC2086 # words
    printf 'functions/core.%s@*:float32/*\n' $functions
    echo 'streams/*'
    # Long rows, several tiles.
    if [ -x "$large" ] && found >&2; then echo "$large"; else echo "$large: left out" >&2; fi
  } | side_by_side sanitized_part || status=1
  return $status
}
bench() { "$atoll" bench --device "$device" --json >"$out/bench.json" && cat "$out/bench.json"; }
large() {
  "$atoll" bench 'x*' --device "$device" --elements "$elements" --json >"$out/large.json" &&
    cat "$out/large.json"
}
peers() {
  # shellcheck disable=SC2086 # words
  python3 tests/bench/peers_gpu.py --atoll "$atoll" --device "$device" --elements "$elements" \
    ${PEERS_OPTIONS:-}
}

# limit STEP: its seconds; fails if there is no such step.
limit() {
  case $1 in
    info) echo 60 ;;
    programs) echo 120 ;;
    conformance | tests | memcheck | racecheck | synccheck | initcheck) echo 300 ;;
    bench | large) echo 240 ;;
    peers) echo 480 ;;
    *) return 1 ;;
  esac
}
all="info conformance programs tests memcheck racecheck synccheck initcheck bench large peers"
# shellcheck disable=SC2086 # words
[ $# -gt 0 ] || set -- $all
for name in "$@"; do
  limit "$name" >/dev/null || { echo "unknown step $name; steps: $all" >&2; exit 2; }
done
mkdir -p "$out" || exit 1
: >"$out/steps.jsonl"
# For `timeout` and `xargs`, which start processes.
export -f one side_by_side found info parts part conformance programs test_program tests \
  sanitized_part sanitized bench large peers
loaded=$(timeout 60 "$atoll" info --plugins | awk '$3 == "loaded" { print $1 }')
export missing=
for name in cpu dummy dummy_min; do
  grep -qx $name <<<"$loaded" || missing+=" $name"
done
[ -z "$missing" ] || echo "not found on ATOLL_PLUGIN_PATH:$missing; see what needs it in $0" >&2

failed=0
table=$(printf '%-12s %-12s %8s  %s' step result seconds log)
for name in "$@"; do
  case $name in
    *check) command=sanitized ;;
    *) command=$name ;;
  esac
  export step=$name
  rm -rf "${out:?}/$step"
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
