// Iteration spaces whose axes stay in the caller's order, for functions where the order counts.
#pragma once

#include "space.h"

#include <cstdlib>

namespace Atoll::kernels {

// Axes [first, last) of a call as they come: none sorted, none turned around. Leaves out axes of
// extent 1 and merges neighbours where the order of elements stays the same.
Space ordered_space(std::uint32_t first, std::uint32_t last, const std::int64_t *shape,
                    const atoll_operand *operands, int count);

// The loop axes from `first` on in two parts, each with three operands of its own: [0] those along
// which operand k does not vary, [1] the others.
struct SplitAxes {
    SplitAxes(const atoll_call &call, std::uint32_t first, int k);
    SplitAxes(const SplitAxes &) = delete;
    SplitAxes &operator=(const SplitAxes &) = delete;

    std::uint32_t rank[2] = {0, 0};
    std::int64_t shape[2][ATOLL_MAX_RANK], strides[2][3][ATOLL_MAX_RANK];
    atoll_operand operands[2][3]; // data and strides only
};

// Puts the axis on which operand k is densest first, the others stay in order.
inline void densest_first(Space &space, int k) {
    int best = 0;
    for (int axis = 1; axis < space.rank; ++axis)
        if (std::abs(space.strides[k][axis]) < std::abs(space.strides[k][best])) best = axis;
    move_to_front(space, best);
}

// Whether operand k's address and all strides are multiples of `alignment`.
inline bool is_aligned(const Space &space, int k, std::uint32_t alignment) {
    std::uintptr_t bits = reinterpret_cast<std::uintptr_t>(space.data[k]);
    for (int axis = 0; axis < space.rank; ++axis)
        bits |= static_cast<std::uintptr_t>(space.strides[k][axis]);
    return (bits & (alignment - 1)) == 0;
}

// body(data, n, position) for the runs along axis 0 that elements [begin, end) of a space fall
// into, in order: operand addresses, elements in the run, number of its first element.
template <class Body>
void each_run(const Space &space, std::int64_t begin, std::int64_t end, Body &&body) {
    const std::int64_t length = space.shape[0];
    Rows rows(space, begin / length, 1);
    std::int64_t skip = begin % length;
    while (begin < end) {
        const std::int64_t n =
            std::int64_t{end - begin} < length - skip ? end - begin : length - skip;
        char *data[max_operands];
        for (int k = 0; k < space.operands; ++k)
            data[k] = rows.data[k] + skip * space.strides[k][0];
        body(data, n, begin);
        begin += n;
        skip = 0;
        if (begin < end) rows.next();
    }
}

} // namespace Atoll::kernels
