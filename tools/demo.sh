#!/usr/bin/env bash
# Sets up, builds (release, in build/), installs to .cache/prefix, and runs the main job: the
# example application, built against the installed tree through pkg-config as a user would. It is
# traced because the environment says so; the application knows nothing of it.
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/common.sh

must "set-up" tools/setup.sh
must "configure" configure_release
must "build" ninja -C build
rm -rf "$prefix" .cache/qr # nothing of an earlier version may stay
must "install to $prefix" meson install -C build --no-rebuild --quiet
export PKG_CONFIG_PATH="$prefix/lib/pkgconfig"
must "configure the example" meson setup .cache/qr sdk/examples/qr --buildtype=release
must "build the example" ninja -C .cache/qr
say "run"
ATOLL_INTERPOSERS=trace LD_LIBRARY_PATH="$prefix/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" \
  .cache/qr/qr_demo "$@"
