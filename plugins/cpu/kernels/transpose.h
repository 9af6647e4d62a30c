// Transposition of a small matrix of elements of any size.
#pragma once

#include <cstdint>

namespace Atoll::kernels {

// Rows that are a multiple of so many bytes apart fall on few sets of the L1 cache.
inline constexpr std::int64_t few_sets_apart = 2048;

// out[i * size + j * out_stride] = in[j * size + i * in_stride] for i < rows, j < columns: in is
// dense along j, out along i. Strides in bytes; any addresses; in and out are apart.
void transpose(std::int64_t size, std::int64_t rows, std::int64_t columns, char *out,
               std::int64_t out_stride, const char *in, std::int64_t in_stride);

} // namespace Atoll::kernels
