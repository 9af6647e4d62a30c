#include "pack_rows.h"

#include "convert.h"
#include "product_vectors.h"
#include "transpose.h"

namespace Atoll::kernels {
namespace {

// One value in each row. Vectors go past the end of a row, where the next one is written later.
template <class T, int bytes> void repeat_values(std::int64_t rows, std::int64_t row_bytes,
                                                 char *out, const char *from, std::int64_t step) {
    using V = VectorN<T, bytes / static_cast<int>(sizeof(T))>;
    static_assert(bytes <= behind_packed_rows);
    for (std::int64_t row = 0; row < rows; ++row) {
        const V all = V{} + load<T>(from + row * step);
        for (std::int64_t at = 0; at < row_bytes; at += bytes) store_vector(out + at, all);
        out += row_bytes;
    }
}
template <class T> void repeat_values(std::int64_t rows, std::int64_t length, char *out,
                                      const char *from, std::int64_t step) {
    const std::int64_t row_bytes = length * static_cast<std::int64_t>(sizeof(T));
    if (row_bytes <= 16)
        repeat_values<T, 16>(rows, row_bytes, out, from, step);
    else
        repeat_values<T, vector_bytes>(rows, row_bytes, out, from, step);
}

} // namespace

void copy_rows(std::int64_t rows, std::int64_t bytes, char *out, std::int64_t out_step,
               const char *in, std::int64_t in_step) {
    if (out_step == bytes && in_step == bytes)
        std::memcpy(out, in, static_cast<std::size_t>(rows * bytes));
    else
        copy_rows_at(
            rows, bytes, [&](std::int64_t row) { return out + row * out_step; },
            [&](std::int64_t row) { return in + row * in_step; });
}

void pack_rows(std::int64_t rows, std::int64_t length, std::int64_t size, char *out,
               const char *from, std::int64_t stride, std::int64_t step) {
    if (stride == 0) {
        switch (size) {
        case 1: return repeat_values<std::uint8_t>(rows, length, out, from, step);
        case 2: return repeat_values<std::uint16_t>(rows, length, out, from, step);
        case 4: return repeat_values<std::uint32_t>(rows, length, out, from, step);
        case 8: return repeat_values<std::uint64_t>(rows, length, out, from, step);
        default: break;
        }
    }
    if (stride == size) return copy_rows(rows, length * size, out, length * size, from, step);
    if (step == size && length >= 4)
        return transpose(size, length, rows, out, length * size, from, stride);
    // The shorter loop is the outer one.
    if (rows < length)
        for (std::int64_t row = 0; row < rows; ++row)
            move_elements(length, size, out + row * length * size, size, from + row * step, stride);
    else
        for (std::int64_t i = 0; i < length; ++i)
            move_elements(rows, size, out + i * size, length * size, from + i * stride, step);
}

} // namespace Atoll::kernels
