// Axes in the caller's order, merged, split or with the densest one first.
#include "ordered.h"

#include <utility>

namespace Atoll::kernels {

Space ordered_space(std::uint32_t first, std::uint32_t last, const std::int64_t *shape,
                    const atoll_operand *operands, int count) {
    Space space(0, 0, nullptr, operands, count);
    int rank = 0;
    for (std::uint32_t axis = first; axis < last; ++axis) {
        if (shape[axis] == 1) continue;
        bool merges = rank > 0;
        for (int k = 0; k < count && merges; ++k)
            merges =
                operands[k].strides[axis] == space.strides[k][rank - 1] * space.shape[rank - 1];
        if (merges) {
            space.shape[rank - 1] *= shape[axis];
            continue;
        }
        space.shape[rank] = shape[axis];
        for (int k = 0; k < count; ++k) space.strides[k][rank] = operands[k].strides[axis];
        ++rank;
    }
    if (rank) space.rank = rank;
    return space;
}

SplitAxes::SplitAxes(const atoll_call &call, std::uint32_t first, int k) {
    for (std::uint32_t axis = first; axis < call.rank; ++axis) {
        const int part = call.operands[k].strides[axis] == 0 ? 0 : 1;
        shape[part][rank[part]] = call.shape[axis];
        for (int o = 0; o < 3; ++o) strides[part][o][rank[part]] = call.operands[o].strides[axis];
        ++rank[part];
    }
    for (int part = 0; part < 2; ++part)
        for (int o = 0; o < 3; ++o) {
            operands[part][o].data = call.operands[o].data;
            operands[part][o].strides = strides[part][o];
        }
}

} // namespace Atoll::kernels
