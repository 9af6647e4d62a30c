// Copies of short rows: apart, or side by side as one dense row.
#pragma once

#include <cstdint>

namespace Atoll::kernels {

// Rows of so many bytes, which begin `out_step` and `in_step` bytes apart; any addresses. Rows are
// apart from those of the other side.
void copy_rows(std::int64_t rows, std::int64_t bytes, char *out, std::int64_t out_step,
               const char *in, std::int64_t in_step);

inline constexpr std::int64_t behind_packed_rows = 64; // bytes that may be written there

// out[(row * length + i) * size] = from[row * step + i * stride], for elements of `size` bytes and
// strides in bytes; any addresses; in and out are apart.
void pack_rows(std::int64_t rows, std::int64_t length, std::int64_t size, char *out,
               const char *from, std::int64_t stride, std::int64_t step);

} // namespace Atoll::kernels
