// A small matrix turned over: what is dense along its rows becomes dense along its columns.
#pragma once

#include "transpose.h"
#include "types.h"

#include <algorithm>

namespace Atoll::kernels {

// The elements at `base` + i * stride + j * size, for i < n and j < columns; those of one j are
// given as a dense run.
class TransposedBlock {
public:
    static constexpr std::int64_t most_columns = 512, longest = 2048; // columns; bytes of a row
    static constexpr std::int64_t shortest = 32, cached = 24576;      // rows; bytes of all
    static constexpr std::int64_t behind = 256;                       // bytes
    static constexpr std::int64_t room = shortest * longest + most_columns * 64 + behind;

    static bool fits(std::int64_t columns, std::int64_t size) {
        return columns <= most_columns && columns * size <= longest;
    }
    // The largest n: so that the L1 cache keeps the elements, but no short runs.
    static std::int64_t length(std::int64_t columns, std::int64_t size) {
        return std::clamp(cached / (columns * size) / shortest * shortest, shortest, block_size);
    }

    // From column to column in bytes, no power of two: such columns would fall on the same sets of
    // the cache. All of them need at most `room`.
    static std::int64_t pitch(std::int64_t n, std::int64_t size) {
        return (n * size + 63) / 64 * 64 + 64;
    }

    TransposedBlock(std::int64_t n, std::int64_t columns, std::int64_t size, const char *base,
                    std::int64_t stride)
        : base_(base), size_(size), pitch_(pitch(n, size)) {
        transpose(size, n, columns, columns_, pitch_, base, stride);
    }
    // The n elements of which the first is at `from`; aligned to 64 bytes, and at least `behind`
    // more bytes can be read.
    const char *column(const char *from) const {
        return columns_ + (from - base_) / size_ * pitch_;
    }

private:
    const char *base_;
    std::int64_t size_;
    std::int64_t pitch_;
    alignas(64) char columns_[room];
};

} // namespace Atoll::kernels
