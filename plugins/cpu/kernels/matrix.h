// A matrix in memory, and its packing into scratch.
#pragma once

#include "scratch.h"
#include "types.h"

#include <optional>

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

// Grows, never shrinks; lives for one call.
class GrowingScratch {
public:
    char *get(std::int64_t bytes) {
        if (!scratch_ || bytes > size_) {
            scratch_.emplace(bytes); // empty where it throws
            size_ = bytes;
        }
        return scratch_->data();
    }

private:
    std::optional<Scratch> scratch_;
    std::int64_t size_ = 0;
};

// What a matrix's elements are.
struct Side {
    std::uint32_t dtype;
    bool swapped = false;
};

// out = function(in) by a kernel that knows all strides, dtypes and byte orders.
void apply(std::int32_t (*kernel)(const atoll_call *), atoll_core_function function,
           const Matrix &out, const Side &out_side, const Matrix &in, const Side &in_side);
void copy(const Matrix &out, const Side &out_side, const Matrix &in, const Side &in_side);

// A matrix of the same extents at `data`, column-major, with elements of `size` bytes.
inline Matrix dense(char *data, const Matrix &like, std::int64_t size) {
    return {data, like.rows, like.columns, size, like.rows * size, like.conj};
}

} // namespace Atoll::kernels
