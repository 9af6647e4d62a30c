// Transposition in registers: 4 x 4 elements at a time for the common sizes.
#include "transpose.h"

#include <cstring>

namespace Atoll::kernels {
namespace {

template <class T> struct Four {
    typedef T Vector __attribute__((vector_size(4 * sizeof(T))));

    static void transpose(char *out, std::int64_t os, const char *in, std::int64_t is) {
        Vector a, b, c, d;
        std::memcpy(&a, in, sizeof a);
        std::memcpy(&b, in + is, sizeof b);
        std::memcpy(&c, in + 2 * is, sizeof c);
        std::memcpy(&d, in + 3 * is, sizeof d);
        const Vector ab_low = __builtin_shufflevector(a, b, 0, 4, 2, 6);
        const Vector ab_high = __builtin_shufflevector(a, b, 1, 5, 3, 7);
        const Vector cd_low = __builtin_shufflevector(c, d, 0, 4, 2, 6);
        const Vector cd_high = __builtin_shufflevector(c, d, 1, 5, 3, 7);
        const Vector row0 = __builtin_shufflevector(ab_low, cd_low, 0, 1, 4, 5);
        const Vector row1 = __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5);
        const Vector row2 = __builtin_shufflevector(ab_low, cd_low, 2, 3, 6, 7);
        const Vector row3 = __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7);
        std::memcpy(out, &row0, sizeof row0);
        std::memcpy(out + os, &row1, sizeof row1);
        std::memcpy(out + 2 * os, &row2, sizeof row2);
        std::memcpy(out + 3 * os, &row3, sizeof row3);
    }
};

template <std::size_t Size> void plain(std::int64_t rows, std::int64_t columns, char *out,
                                       std::int64_t os, const char *in, std::int64_t is) {
    for (std::int64_t j = 0; j < columns; ++j)
        for (std::int64_t i = 0; i < rows; ++i)
            std::memcpy(out + i * static_cast<std::int64_t>(Size) + j * os,
                        in + j * static_cast<std::int64_t>(Size) + i * is, Size);
}

template <class T> void blocked(std::int64_t rows, std::int64_t columns, char *out, std::int64_t os,
                                const char *in, std::int64_t is) {
    constexpr std::int64_t size = sizeof(T);
    const std::int64_t whole_rows = rows & ~std::int64_t{3},
                       whole_columns = columns & ~std::int64_t{3};
    for (std::int64_t j = 0; j < whole_columns; j += 4)
        for (std::int64_t i = 0; i < whole_rows; i += 4)
            Four<T>::transpose(out + i * size + j * os, os, in + j * size + i * is, is);
    if (whole_columns < columns)
        plain<sizeof(T)>(rows, columns - whole_columns, out + whole_columns * os, os,
                         in + whole_columns * size, is);
    if (whole_rows < rows)
        plain<sizeof(T)>(rows - whole_rows, whole_columns, out + whole_rows * size, os,
                         in + whole_rows * is, is);
}

} // namespace

void transpose(std::int64_t size, std::int64_t rows, std::int64_t columns, char *out,
               std::int64_t out_stride, const char *in, std::int64_t in_stride) {
    switch (size) {
    case 1: return plain<1>(rows, columns, out, out_stride, in, in_stride);
    case 2: return plain<2>(rows, columns, out, out_stride, in, in_stride);
    case 4: return blocked<std::int32_t>(rows, columns, out, out_stride, in, in_stride);
    case 8: return blocked<std::int64_t>(rows, columns, out, out_stride, in, in_stride);
    default: return plain<16>(rows, columns, out, out_stride, in, in_stride);
    }
}

} // namespace Atoll::kernels
