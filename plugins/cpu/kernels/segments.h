// The pieces that a reduction is cut into: the same however many threads there are.
#pragma once

#include "space.h"

namespace Atoll::kernels {

inline constexpr std::int64_t segment_size = 65536; // elements of one segment

// Pieces of a row, or whole rows.
struct Segments {
    std::int64_t per_row, length, rows, count; // pieces of a row, their length; rows of one

    // Of the space that one result is reduced from.
    explicit Segments(const Space &reduced) {
        const std::int64_t n = reduced.shape[0], outer = reduced.outer();
        if (n >= segment_size) {
            per_row = (n + segment_size - 1) / segment_size;
            length = segment_size;
            rows = 1;
            count = per_row * outer;
        } else {
            per_row = 1;
            length = n;
            rows = segment_size / n;
            count = (outer + rows - 1) / rows;
        }
    }
};

} // namespace Atoll::kernels
