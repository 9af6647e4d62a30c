#!/usr/bin/env bash
# Sets up, builds (release, in build/) and runs every test. Arguments go to meson setup. The last
# line is `N passed, N failed`, in test cases; a step that fails before the tests is one failure.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
. tools/common.sh

must "set-up" tools/setup.sh &&
  must "configure" configure_release "$@" &&
  must "build" ninja -C build &&
  run_tests "release" build
conclude
