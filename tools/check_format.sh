#!/usr/bin/env bash
# Are all sources as clang-format 14 writes them? With --fix, makes them so. Version 14 exactly:
# others format differently.
set -euo pipefail
cd "$(dirname "$0")/.."
tool=
for candidate in clang-format-14 clang-format; do
  if "$candidate" --version 2>/dev/null | grep -q 'version 14\.'; then tool=$candidate && break; fi
done
[ -n "$tool" ] || { echo "need clang-format 14 (tools/setup.sh ci installs it)" >&2; exit 1; }
mode=(--dry-run -Werror)
[ "${1:-}" = --fix ] && mode=(-i)
mapfile -d '' files < <(find core plugins sdk tests tools -type f \
  \( -name '*.[ch]' -o -name '*.[ch]pp' -o -name '*.cu' -o -name '*.cuh' \) -print0)
"$tool" --style=file "${mode[@]}" "${files[@]}"
echo "${#files[@]} files formatted"
