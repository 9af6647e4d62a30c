#!/usr/bin/env bash
# Checks the plugin cuda on a machine with a GPU:
#
#   gpu-check.sh [STEP...]      steps: info conformance memcheck racecheck bench; default: all
#
# ATOLL is the command `atoll` (default: build/tools/atoll), PLUGIN the file (default:
# build/plugins/cuda/atoll-cuda.so), OUT the folder for logs and results (default: gpu-check).
# Each step has its own time limit and log, and prints one line of JSON; no step stops the others.
# Exit status 0: all steps passed.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
atoll=${ATOLL:-build/tools/atoll}
plugin=${PLUGIN:-$PWD/build/plugins/cuda/atoll-cuda.so}
out=${OUT:-gpu-check}
mkdir -p "$out" || exit 1
export ATOLL_PLUGIN_PATH="$(dirname "$plugin")${ATOLL_PLUGIN_PATH:+:$ATOLL_PLUGIN_PATH}"
export atoll plugin
failed=0

# step NAME SECONDS COMMAND...
step() {
  local name=$1 limit=$2 begin status
  shift 2
  begin=$(date +%s)
  timeout --kill-after 10 "$limit" "$@" >"$out/$name.log" 2>&1
  status=$?
  [ $status -eq 0 ] || failed=1
  printf '{"step": "%s", "status": %d, "seconds": %d, "log": "%s"}\n' \
    "$name" $status $(($(date +%s) - begin)) "$out/$name.log"
}

# What there is; the rest is of no use without it.
info() {
  nvidia-smi || echo "no nvidia-smi"
  ldd "$plugin" || return 1
  "$atoll" info --devices --json || return 1
  "$atoll" check "$plugin" --filter 'device/*'
}
# A few functions of each kind under a tool of the toolkit, in one process and without a cache, so
# that every access is seen.
sanitized() {
  command -v compute-sanitizer >/dev/null || { echo "no compute-sanitizer"; return 1; }
  local status=0
  for function in add sum cumsum sort matmul where copy find scatter; do
    compute-sanitizer --tool "$1" --error-exitcode 9 "$atoll" check "$plugin" --no-isolate \
      --filter "functions/core.$function@*:float32/*" || status=1
  done
  return $status
}

export -f info sanitized # for `timeout`, which starts processes

[ $# -gt 0 ] || set -- info conformance memcheck racecheck bench
for name in "$@"; do
  case $name in
    info) step info 60 bash -c info ;;
    conformance) step conformance 300 "$atoll" check "$plugin" --junit "$out/junit.xml" --matrix "$out/matrix.md" ;;
    memcheck | racecheck) step "$name" 300 bash -c "sanitized $name" ;;
    bench) step bench 200 "$atoll" bench --device cuda:0 --json ;;
    *) echo "unknown step $name; steps: info conformance memcheck racecheck bench" >&2; exit 2 ;;
  esac
done
exit $failed
