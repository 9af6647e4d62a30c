#!/usr/bin/env bash
# Sets up, builds (release, in build/), installs to .cache/prefix, and runs the main job: the example
# application and the third-party plugin of sdk/examples, built against the installed tree through
# pkg-config as a user would. It runs twice, the second time traced because the environment says so:
# it knows nothing of it, so it must print the same.
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/common.sh

must "set-up" tools/setup.sh
must "configure" configure_release -Dtests=false -Dcuda=$cuda
must "build" ninja -C build
rm -rf "$prefix" .cache/qr .cache/fast_sqrt # nothing of an earlier version may stay
must "install to $prefix" meson install -C build --no-rebuild --quiet
export PKG_CONFIG_PATH="$prefix/lib/pkgconfig"
for example in qr fast_sqrt; do
  must "configure $example" meson setup ".cache/$example" "sdk/examples/$example" --buildtype=release
  must "build $example" ninja -C ".cache/$example"
done

export LD_LIBRARY_PATH="$prefix/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
demo=(.cache/qr/qr_demo sdk/examples/data/longley.csv .cache/fast_sqrt/atoll-fast-sqrt.so)
say "run"
"${demo[@]}" | tee "$scratch/plain"
say "run again with ATOLL_INTERPOSERS=trace: the tracer's table"
ATOLL_INTERPOSERS=trace "${demo[@]}" 2>&1 >"$scratch/traced" | tee "$scratch/table"
grep -q '^core.sqrt ' "$scratch/table" || { echo "FAILED: no table" >&2; exit 1; }
cmp "$scratch/plain" "$scratch/traced" || { echo "FAILED: tracing changed the output" >&2; exit 1; }
say "both runs printed the same, byte for byte"
