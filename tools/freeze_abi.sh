#!/usr/bin/env bash
# Keeps a copy of the plugin ABI's headers as they are now, in tests/abi/vMAJOR.MINOR, for the tests
# of compatibility. Run once, when that version is released; what is frozen is never written again.
set -euo pipefail
cd "$(dirname "$0")/.."
from=sdk/include/atoll
number() { sed -n "s/^#define ATOLL_ABI_$1 \([0-9]*\)\$/\1/p" "$from/abi/base.h"; }
to=tests/abi/v$(number MAJOR).$(number MINOR)
if [ -e "$to" ]; then
  echo "$to is there already: what is frozen stays; raise ATOLL_ABI_MINOR (abi/base.h) first" >&2
  exit 1
fi
copy=$(mktemp -d "$to.XXXXXX")
trap 'rm -rf "$copy"' EXIT
mkdir "$copy/atoll"
cp -r "$from/abi" "$from/lists" "$from/plugin.h" "$from/half.h" "$copy/atoll/"
chmod 755 "$copy"
mv "$copy" "$to"
# The tests of compatibility are about the first that was frozen.
sed -i "s|^frozen = ''.*|frozen = '$(basename "$to")'|" tests/abi/meson.build
echo "froze $(find "$to" -type f | wc -l) headers in $to; commit them"
