#!/usr/bin/env bash
# Do the host files of the plugin cuda compile against the headers of another CUDA, such as the oldest
# that it supports (12.0)? Kernels need a whole toolkit: build with its nvcc.
#
#   tools/check_cuda_headers.sh INCLUDE...    folders with cuda_runtime.h, crt/ and cublas_v2.h
#
# They need not be a whole toolkit: those of the Python packages nvidia-cuda-runtime-cu12,
# nvidia-cuda-nvcc-cu12 and nvidia-cublas-cu12 do (of the last, several hundred megabytes, only the
# headers are used). No GPU and no driver are needed.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 2
[ $# -gt 0 ] || { sed -n '2,/^set/{/^set/!p}' "$0" | sed 's/^# \?//'; exit 2; }
own=(-std=c++20 -DATOLL_ON_DEVICE -I sdk/include -I plugins -I plugins/cuda -I plugins/cuda/include)
headers=()
for folder in "$@"; do headers+=(-isystem "$folder"); done
failed=0
for file in plugins/cuda/*.cpp plugins/cuda/kernels/*.cpp; do
  ${CXX:-c++} -fsyntax-only -Wall -Wextra -Werror "${own[@]}" "${headers[@]}" "$file" ||
    { failed=$((failed + 1)); echo "FAILED: $file" >&2; }
done
echo "$failed files failed"
[ $failed -eq 0 ]
