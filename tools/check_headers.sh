#!/usr/bin/env bash
# Compiles every public header alone: the C headers of the SDK as C11 and as C++20, the C++ headers
# as C++20. The compilers are $CC and $CXX (cc and c++ if unset). The sources are read afresh each
# time, so a new header needs no entry anywhere.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
export warnings="-Wall -Wextra -Werror"

# compile LANGUAGE HEADER: includes it twice, so that its guard is tested too.
compile() {
  case $1 in
  c) compiler="${CC:-cc} -std=c11" ;;
  c++) compiler="${CXX:-c++} -std=c++20" ;;
  esac
  printf '#include "%s"\n#include "%s"\n' "$2" "$2" |
    $compiler $warnings -Isdk/include -Icore/include -Isdk/conformance/include -Isdk/io/include -Isdk/tapp/include -Iplugins/cpu/kernels/include -x "$1" -fsyntax-only - ||
    { echo "does not compile alone as $1 ($compiler): $2" >&2; return 1; }
}
export -f compile

mapfile -t headers < <(for root in sdk/include core/include sdk/conformance/include sdk/io/include sdk/tapp/include plugins/cpu/kernels/include; do
  (cd "$root" && find * -name '*.h' -o -name '*.hpp' | LC_ALL=C sort)
done)
[ "${#headers[@]}" -gt 0 ] || { echo "no headers found" >&2; exit 1; }
for header in "${headers[@]}"; do
  case $header in
  *.h) printf 'c %s\nc++ %s\n' "$header" "$header" ;;
  *.hpp) printf 'c++ %s\n' "$header" ;;
  esac
done | xargs -P "$(nproc)" -L 1 bash -c 'compile "$@"' compile || exit 1
echo "${#headers[@]} headers compile alone"
