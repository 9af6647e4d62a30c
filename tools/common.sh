# Building, testing and counting for test.sh, demo.sh and .ci/run; sourced, at the top of the tree.
# Every count goes to a tally, which `conclude` sums: the last line is always `N passed, N failed`.
export DEBIAN_FRONTEND=noninteractive
# ccache, which meson uses where it is there, finds what another clone has compiled: paths within
# the tree count relative to the build folder, and that folder does not count, though debug
# information names it: a debugger may look for sources in the other clone.
# With precompiled headers it has to be told that no source uses __TIME__ or defines macros for them,
# and that comments count: GCC knows a header of `#pragma once` by its bytes, so that one precompiled
# before its comments changed would be read again.
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_COMMENTS=1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
tally=$scratch/tally

# With the time since the start.
say() { printf '\n== %s [%d:%02d]\n' "$*" $((SECONDS / 60)) $((SECONDS % 60)); }

# must WHAT COMMAND...: a step that is no test. Where it fails, that is one failure.
must() {
  local what=$1
  shift
  say "$what"
  "$@" && return
  echo "FAILED: $what ($*)" >&2
  echo "0 passed, 1 failed" >>"$tally"
  return 1
}

# check WHAT COMMAND...: a test that is one command.
check() {
  must "$@" && echo "1 passed, 0 failed" >>"$tally"
}

# counted COMMAND...: a command whose last line is a count; without one it is a failure.
counted() {
  "$@" | tee "$scratch/output"
  tail -n 1 "$scratch/output" | grep -xE '[0-9]+ passed, [0-9]+ failed' >>"$tally" ||
    echo "0 passed, 1 failed" >>"$tally"
}

# configure DIR OPTION...: a fresh build folder, or the same folder with these options.
configure() {
  local dir=$1
  shift
  if [ -f "$dir/build.ninja" ]; then
    meson setup --reconfigure "$dir" "$@"
  else
    meson setup "$dir" "$@"
  fi
}

# Sources joined by eight take a tenth less time than by four, and as much as by sixteen.
joined=(-Djoin_sources=true -Dunity_size=8)
# The one release build that tests and demo share, installed under .cache/prefix. The kernels, half of
# what there is to compile, are built for this processor's level only: no other would be chosen.
prefix=$PWD/.cache/prefix
# Without NVIDIA's driver nothing would run the cuda plugin, a quarter of what there is to compile:
# the suite `emulated` tests its sources.
cuda=auto
[ -e /dev/nvidiactl ] || cuda=disabled
configure_release() {
  configure build --buildtype=release --prefix="$prefix" --libdir=lib "${joined[@]}" -Dcpu_levels=native "$@"
}

# run_tests WHAT DIR OPTION...: builds what is not up to date of the tests, runs them and counts
# their cases.
run_tests() {
  local what=$1 dir=$2
  shift 2
  say "tests: $what"
  local log=$dir/meson-logs/counted.json
  rm -f "$log"
  ${test_wrapper:-} meson test -C "$dir" --print-errorlogs --logbase counted "$@" || true
  if [ ! -s "$log" ]; then
    echo "FAILED: no test ran in $dir" >&2
    echo "0 passed, 1 failed" >>"$tally"
    return
  fi
  counted python3 tools/count_tests.py "$log"
}

# A build under a sanitizer. Of debug information only what names the lines of a report: a third of
# the compile time less. No --buildtype: it would set the optimisation anew whenever the folder is
# configured again.
sanitized=(-Ddebug=true -Doptimization=1 -Db_ndebug=false -Dcpp_args=-g1 -Dc_args=-g1
  -Dwerror=true -Dbenchmarks=false -Dcuda=disabled -Dcpu_levels=v3)
# The thread and address sanitizers need the memory layout that they know; some kernels randomise
# more than that.
known_layout() { setarch -R true 2>/dev/null && test_wrapper="setarch -R"; }
# run_tsan SUITE...: builds what these tests need, and no more. One source at a time and without
# precompiled headers: either hides that a source lacks an #include. It takes no longer, as what is
# joined would be compiled whole.
run_tsan() {
  export TSAN_OPTIONS=second_deadlock_stack=1
  local suites=()
  for suite in "$@"; do suites+=(--suite "$suite"); done
  must "configure with TSan" configure build-tsan "${sanitized[@]}" -Db_pch=false -Db_sanitize=thread &&
    run_tests "TSan" build-tsan "${suites[@]}" --timeout-multiplier 4
}

# conclude: the closing line and the exit status.
conclude() {
  awk '{ passed += $1; failed += $3 }
       END { printf "%d passed, %d failed\n", passed, failed
             exit failed > 0 || passed == 0 }' "$tally"
  exit $?
}
