#!/usr/bin/env bash
# Installs what building needs and this machine lacks: Debian 12, Ubuntu 24.04 or newer. Does
# nothing, and needs neither network nor root, where all is there. `setup.sh ci` adds what only the
# checks need.
set -euo pipefail
packages=(gcc g++ meson ninja-build pkg-config python3
  libboost-dev libboost-filesystem-dev libfmt-dev libspdlog-dev
  libopenblas-dev libtbb-dev libsleef-dev libzip-dev nettle-dev libcli11-dev nlohmann-json3-dev
  help2man zlib1g-dev doctest-dev libmpfr-dev libmpc-dev python3-numpy)
[ "${1:-}" = ci ] && packages+=(git clang-14 clang-format-14 cmake abigail-tools strace xz-utils)

# missing PACKAGE...: those that are not installed.
missing() {
  local package status
  for package in "$@"; do
    status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$status" = installed ] || echo "$package"
  done
}
install_packages() {
  echo "installing: $*"
  local root=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || { echo "need root or sudo to install them" >&2; return 1; }
    root=(sudo)
  fi
  local apt=("${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q)
  "${apt[@]}" update && "${apt[@]}" install -y --no-install-recommends "$@"
}
if command -v dpkg-query >/dev/null; then
  mapfile -t needed < <(missing "${packages[@]}")
  [ "${#needed[@]}" -eq 0 ] || install_packages "${needed[@]}"
  # Not needed, but a second build takes a fraction of the time.
  command -v ccache >/dev/null || install_packages ccache || echo "building without ccache" >&2
else
  echo "not a Debian or Ubuntu system: assuming that these are there: ${packages[*]}" >&2
fi
# CUDA's disassembler, for a test; some toolkits come without it.
if [ "${1:-}" = ci ] && command -v nvcc >/dev/null && ! command -v cuobjdump >/dev/null; then
  tools=$(dirname "$(readlink -f "$0")")/../.cache/cuda-tools
  [ -d "$tools" ] ||
    python3 -m pip install -q --target "$tools" --root-user-action ignore nvidia-cuda-cuobjdump nvidia-cuda-nvdisasm ||
    echo "without CUDA's disassembler: its test is left out" >&2
fi

# at_least NEEDED FOUND WHAT
at_least() {
  [ "$(printf '%s\n' "$1" "$2" | sort -V | head -n 1)" = "$1" ] ||
    { echo "$3 is $2, need $1 or newer (Debian 12, Ubuntu 24.04)" >&2; exit 1; }
}
at_least 1.0 "$(meson --version)" meson
[ -n "${CXX:-}" ] || at_least 12 "$(g++ -dumpversion)" g++
