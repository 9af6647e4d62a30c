#!/usr/bin/env bash
# Installs what building needs and this machine lacks: Debian 12, Ubuntu 24.04 or newer. Does
# nothing, and needs neither network nor root, where all is there. `setup.sh ci` adds what only the
# checks need, `setup.sh aarch64` what compiling the kernels for AArch64 and running them needs.
set -euo pipefail
packages=(gcc g++ meson ninja-build pkg-config python3
  libboost-dev libboost-filesystem-dev libfmt-dev libspdlog-dev
  libopenblas-dev libtbb-dev libhwy-dev libzip-dev nettle-dev libcli11-dev nlohmann-json3-dev
  help2man zlib1g-dev doctest-dev libboost-context-dev libmpfr-dev libmpc-dev python3-numpy)
[ "${1:-}" = ci ] && packages+=(git clang-14 clang-format-14 cmake abigail-tools strace valgrind xz-utils)
[ "${1:-}" = aarch64 ] && packages+=(g++-aarch64-linux-gnu qemu-user libc6:arm64 libstdc++6:arm64
  libopenblas0-pthread:arm64)

# missing PACKAGE...: those that are not installed.
missing() {
  local package
  for package in "$@"; do
    # One line per architecture that it is known for.
    dpkg-query -W -f='${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed || echo "$package"
  done
}
as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    echo "need root or sudo for: $*" >&2
    return 1
  fi
}
install_packages() {
  echo "installing: $*"
  local apt=(as_root env DEBIAN_FRONTEND=noninteractive apt-get -q)
  "${apt[@]}" update && "${apt[@]}" install -y --no-install-recommends "$@"
}
if command -v dpkg-query >/dev/null; then
  if [ "${1:-}" = aarch64 ] && ! dpkg --print-foreign-architectures | grep -qx arm64; then
    as_root dpkg --add-architecture arm64
  fi
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
