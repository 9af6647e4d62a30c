// A matrix in memory, and copies of it.
#pragma once

#include "types.h"

namespace Atoll::kernels {

// One matrix in memory: extents in elements, strides in bytes.
struct Matrix {
    char *data;
    std::int64_t rows, columns;
    std::int64_t down, across; // stride from row to row, from column to column
    bool conj = false;

    Matrix transposed() const { return {data, columns, rows, across, down, conj}; }
    char *at(std::int64_t i, std::int64_t j) const { return data + i * down + j * across; }
    Matrix part(std::int64_t i, std::int64_t j, std::int64_t r, std::int64_t c) const {
        return {at(i, j), r, c, down, across, conj};
    }
};

// What a matrix's elements are.
struct Side {
    std::uint32_t dtype;
    bool swapped = false;
};
// Whether elements of an operand are the numbers of `size` bytes that a product of a dtype is
// computed in, byte for byte.
inline bool is_native(const Side &side, std::uint32_t dtype, std::int64_t size) {
    return side.dtype == dtype && !side.swapped && sizes[dtype] == size && widened(dtype) == dtype;
}

// out = in, for any strides, dtypes and byte orders.
void copy(const Matrix &out, const Side &out_side, const Matrix &in, const Side &in_side);

} // namespace Atoll::kernels
