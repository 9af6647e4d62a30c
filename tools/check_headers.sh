#!/usr/bin/env bash
# Compiles every public header alone: the C headers of the SDK as C11 and as C++20, the C++ headers
# as C++20. The compilers are $CC and $CXX (cc and c++ if unset). The sources are read afresh each
# time, so a new header needs no entry anywhere.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
warnings="-Wall -Wextra -Werror"
failed=0

# compile LANGUAGE HEADER COMPILER...: includes it twice, so that its guard is tested too.
compile() {
  local language=$1 header=$2
  shift 2
  if ! printf '#include "%s"\n#include "%s"\n' "$header" "$header" |
    "$@" $warnings -Isdk/include -Icore/include -Isdk/conformance/include -x "$language" -fsyntax-only -; then
    echo "does not compile alone as $language ($*): $header" >&2
    failed=1
  fi
}

count=0
for root in sdk/include core/include sdk/conformance/include; do
  while IFS= read -r header; do
    count=$((count + 1))
    case $header in
    *.h)
      compile c "$header" ${CC:-cc} -std=c11
      compile c++ "$header" ${CXX:-c++} -std=c++20
      ;;
    *.hpp) compile c++ "$header" ${CXX:-c++} -std=c++20 ;;
    esac
  done < <(cd "$root" && find atoll -name '*.h' -o -name '*.hpp' | LC_ALL=C sort)
done
[ "$count" -gt 0 ] || { echo "no headers found" >&2; exit 1; }
[ "$failed" -eq 0 ] && echo "$count headers compile alone"
exit "$failed"
