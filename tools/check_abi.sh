#!/usr/bin/env bash
# Does libatoll still have the ABI that it had? Builds it as of REVISION (default: the last tag) and
# as it is here, and compares the two with abidiff. Additions are fine; anything else is an error
# unless the soname has changed. Without a tag and without a REVISION there is nothing to hold.
#
#   tools/check_abi.sh [REVISION]      # needs abigail-tools (tools/setup.sh ci)
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "$0")/.."
revision=${1:-$(git describe --tags --abbrev=0 2>/dev/null || true)}
if [ -z "$revision" ]; then
  echo "no release is tagged yet, so libatoll has promised no ABI; name a revision to compare with"
  exit 0
fi
git rev-parse --quiet --verify "$revision^{commit}" >/dev/null ||
  { echo "there is no revision '$revision'" >&2; exit 2; }
command -v abidiff >/dev/null || { echo "need abidiff: tools/setup.sh ci installs it" >&2; exit 2; }

work=$PWD/.cache/abi
mkdir -p "$work"
old=$work/source
git worktree remove --force "$old" 2>/dev/null || rm -rf "$old"
git worktree prune
git worktree add --quiet --detach "$old" "$revision"
trap 'git worktree remove --force "$old"' EXIT

# build SOURCE FOLDER: only the library, with the debug information that abidiff reads.
build() {
  local source=$1 folder=$2
  rm -rf "$folder"
  meson setup "$folder" "$source" --buildtype=debugoptimized -Dtests=false -Dcuda=disabled \
    -Dcpu_levels=v2 >/dev/null
  local library
  library=$(ninja -C "$folder" -t targets all |
    grep -oE '^core/libatoll\.so\.[0-9]+\.[0-9]+\.[0-9]+:' | head -n 1 | tr -d :)
  ninja -C "$folder" "$library" >/dev/null
  echo "$folder/$library"
}
before=$(build "$old" "$work/build-old")
after=$(build "$PWD" "$work/build-new")

soname() { readelf -d "$1" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p'; }
if [ "$(soname "$before")" != "$(soname "$after")" ]; then
  echo "$(soname "$before") has become $(soname "$after"): no promise to hold"
  exit 0
fi
# Of the library's own types and functions only: what users see through its headers.
headers() { echo "--headers-dir$1 $2/core/include --headers-dir$1 $2/sdk/include"; }
cat >"$work/suppressions" <<'END'
[suppress_function]
  symbol_name_not_regexp = ^_ZN?K?5Atoll
[suppress_function]
  symbol_name_regexp = ^_ZNK?5Atoll6detail
[suppress_variable]
  symbol_name_not_regexp = ^_ZN5Atoll
END
# shellcheck disable=SC2046
if abidiff --drop-private-types --no-added-syms --suppressions "$work/suppressions" \
  $(headers 1 "$old") $(headers 2 "$PWD") "$before" "$after"; then
  echo "libatoll has the ABI of $revision"
else
  status=$?
  echo "libatoll's ABI is not that of $revision (abidiff: $status): keep it, or raise the soname" >&2
  exit 1
fi
