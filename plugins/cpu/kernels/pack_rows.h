// Copies of short rows: apart, or side by side as one dense row.
#pragma once

#include "types.h"

namespace Atoll::kernels {

// Rows of at least `width` bytes: out_at(row) gets what is at in_at(row). The last piece of a row
// lies over the one before.
template <int width, class OutAt, class InAt>
void copy_pieces(std::int64_t rows, std::int64_t bytes, const OutAt &out_at, const InAt &in_at) {
    struct Piece {
        char bytes[width];
    };
    const auto run = [&](auto is_long) {
        for (std::int64_t row = 0; row < rows; ++row) {
            char *const out = out_at(row);
            const char *const in = in_at(row);
            const auto copy = [&](std::int64_t at) {
                const Piece piece = load<Piece>(in + at);
                std::memcpy(out + at, &piece, width);
            };
            if constexpr (is_long)
                for (std::int64_t at = 0; at + width < bytes; at += width) copy(at);
            else
                copy(0);
            copy(bytes - width);
        }
    };
    if (bytes > 2 * width)
        run(std::true_type());
    else
        run(std::false_type());
}

// Rows of so many bytes, at any addresses, one after the other; in and out are apart.
template <class OutAt, class InAt>
void copy_rows_at(std::int64_t rows, std::int64_t bytes, const OutAt &out_at, const InAt &in_at) {
    constexpr std::int64_t long_row = 512; // from which on the C library is as fast
    if (bytes >= long_row) {
        for (std::int64_t row = 0; row < rows; ++row)
            std::memcpy(out_at(row), in_at(row), static_cast<std::size_t>(bytes));
    } else if (bytes >= vector_bytes) {
        copy_pieces<vector_bytes>(rows, bytes, out_at, in_at);
    } else if (bytes >= 32) {
        copy_pieces<32>(rows, bytes, out_at, in_at);
    } else if (bytes >= 16) {
        copy_pieces<16>(rows, bytes, out_at, in_at);
    } else if (bytes >= 8) {
        copy_pieces<8>(rows, bytes, out_at, in_at);
    } else if (bytes >= 4) {
        copy_pieces<4>(rows, bytes, out_at, in_at);
    } else if (bytes >= 2) {
        copy_pieces<2>(rows, bytes, out_at, in_at);
    } else {
        copy_pieces<1>(rows, bytes, out_at, in_at);
    }
}

// The same for rows that begin `out_step` and `in_step` bytes apart.
void copy_rows(std::int64_t rows, std::int64_t bytes, char *out, std::int64_t out_step,
               const char *in, std::int64_t in_step);

inline constexpr std::int64_t behind_packed_rows = 64; // bytes that may be written there

// out[(row * length + i) * size] = from[row * step + i * stride], for elements of `size` bytes and
// strides in bytes; any addresses; in and out are apart.
void pack_rows(std::int64_t rows, std::int64_t length, std::int64_t size, char *out,
               const char *from, std::int64_t stride, std::int64_t step);

} // namespace Atoll::kernels
