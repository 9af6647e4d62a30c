#!/usr/bin/env bash
# Does the installed library still have the ABI that its soname promises? Compares it by abidiff with
# what was recorded in tests/abi when the soname was released: additions are fine, anything else is
# an error. --record writes that file instead, at a release; it refuses to take back a promise.
#
#   tools/check_abi.sh [--record] [PREFIX]    # default: .cache/prefix; needs abigail-tools
#
# The library needs its debug information: tools/test.sh -Ddebug_core=true && meson install -C build.
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "$0")/.."
record=
[ "${1:-}" = --record ] && { record=1; shift; }
prefix=${1:-.cache/prefix}
fail() { echo "$*" >&2; exit 2; }
command -v abidiff >/dev/null || fail "need abidiff: tools/setup.sh ci installs it"
library=$(find "$prefix" -name 'libatoll.so' | head -n 1)
[ -n "$library" ] || fail "there is no libatoll.so under $prefix: install one there"
readelf -S --wide "$library" | grep -q '\.debug_info' ||
  fail "$library has no debug information, which abidiff reads: build it with -Ddebug_core=true"
soname=$(readelf -d "$library" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')
recorded=tests/abi/$soname.abi.xz

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
if [ -f "$recorded" ]; then
  xz -dc "$recorded" >"$scratch/recorded.abi"
  # What is private: handles point to it. Ref and RefCounted count inline, in programs.
  cat >"$scratch/suppressions" <<'END'
[suppress_type]
  name_regexp = ^Atoll::detail::
  name_not_regexp = ^Atoll::detail::Ref
END
  # Inline functions, which the recorded library left out of line here and there: every program has
  # its own copies. They are the symbols that no debug information refers to.
  status=0
  abidiff --no-added-syms --no-unreferenced-symbols --suppressions "$scratch/suppressions" \
    "$scratch/recorded.abi" "$library" || status=$?
  [ $status -eq 0 ] || {
    echo "$soname has not the ABI any more that it was released with (abidiff: $status): keep it," \
      "or raise the version in meson.build so that the soname changes" >&2
    exit 1
  }
  echo "$library has the ABI of $soname, as recorded"
elif [ -z "$record" ]; then
  echo "nothing is recorded for $soname: at its release, tools/check_abi.sh --record does so" >&2
  exit 1
fi
[ -z "$record" ] && exit
abidw --drop-private-types --headers-dir "$prefix/include" --no-corpus-path --no-comp-dir-path \
  --no-show-locs --out-file "$scratch/new.abi" "$library"
xz -9 <"$scratch/new.abi" >"$recorded"
echo "recorded the ABI of $soname in $recorded; commit it"
