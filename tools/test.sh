#!/usr/bin/env bash
# Sets up, builds (release, in build/) and runs the tests. Arguments go to meson setup. The last
# line is `N passed, N failed`, in test cases; a step that fails before the tests is one failure.
#
# The cuda plugin is compiled where there is NVIDIA's driver, or with -Dcuda=enabled; the cpu plugin
# for this processor's level alone, or with -Dcpu_levels=auto for all. Benchmarks are compiled with
# -Dbenchmarks=true. Left out are, each a suite of `meson test -C build --suite NAME`: `emulated`, the
# cuda plugin's sources on an emulation of CUDA; `installed`, projects of third parties that are built
# against an installed tree, examples and templates among them; `mutants`, faults that the tests must
# find.
#
# With --nightly as the first argument the random and the exhaustive tests run at full depth, which
# takes hours, and the plugins are compiled for all levels, dtypes and architectures; plugins with
# faults show that the tests find these; the emulation of CUDA runs under the thread sanitizer, too;
# the kernels run as clang compiles them, and for AArch64 under qemu.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
. tools/common.sh

depth=(--no-suite emulated --no-suite installed --no-suite mutants)
options=(-Dcuda=$cuda -Dgpu_archs=90 -Dgpu_dtypes=few)
nightly=
if [ "${1-}" = --nightly ]; then
  shift
  nightly=yes
  export ATOLL_TEST_SCALE=20 ATOLL_TEST_GOLDEN=all ATOLL_TEST_MUTANTS=all ATOLL_TEST_REPEATS=200
  depth=(--timeout-multiplier 60)
  options=(-Dcuda=auto -Dgpu_archs=75ptx,80,90,100,120 -Dgpu_dtypes=all -Dcpu_levels=auto -Dnightly=true)
fi

must "set-up" tools/setup.sh &&
  must "configure" configure_release -Dtests=true -Dbenchmarks=false "${options[@]}" "$@" &&
  run_tests "release" build "${depth[@]}" # builds what they need
if [ $nightly ]; then
  known_layout
  unset ATOLL_TEST_SCALE # full depth is for the release build
  run_tsan concurrent emulated_threads
  with_clang() { CC=clang-14 CXX=clang++-14 configure "$@"; }
  must "set-up for clang" tools/setup.sh ci &&
    must "configure with clang" with_clang build-clang -Doptimization=1 -Db_pch=false -Dkernels_only=true -Dcpu_levels=v3 &&
    run_tests "the kernels as clang compiles them" build-clang --timeout-multiplier 20
  must "set-up for AArch64" tools/setup.sh aarch64 &&
    must "configure for AArch64" configure build-aarch64 --cross-file tools/aarch64.ini --buildtype=release -Dkernels_only=true &&
    run_tests "the kernels on AArch64, emulated" build-aarch64 --timeout-multiplier 20
fi
conclude
