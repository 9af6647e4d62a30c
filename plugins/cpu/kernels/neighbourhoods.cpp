#include "neighbourhoods.h"

namespace Atoll::kernels {

Neighbourhoods Neighbourhoods::of(const Space &kept, int k, const Space &reduced, int r,
                                  std::int64_t size) {
    std::int64_t elements = 1, last = 0, misplaced = 0; // last: bytes from the first element
    const auto add = [&](const Space &space, int operand, int axis) {
        const std::int64_t stride = space.strides[operand][axis];
        elements *= space.shape[axis];
        last += (space.shape[axis] - 1) * stride;
        misplaced |= stride < 0 || stride % size;
    };
    for (int axis = 0; axis < reduced.rank; ++axis) add(reduced, r, axis);
    const std::int64_t *strides = kept.strides[k];
    int far = -1;
    for (int axis = 0; axis < kept.rank; ++axis)
        if (strides[axis] > last && (far < 0 || strides[axis] < strides[far])) far = axis;
    if (far < 0 || misplaced) return {};
    Neighbourhoods found = {kept.shape[far], strides[far]};
    for (int axis = 0; axis < kept.rank; ++axis) {
        if (strides[axis] >= found.stride) continue;
        found.results *= kept.shape[axis];
        ++found.result_axes;
        add(kept, k, axis);
    }
    found.columns = last / size + 1;
    if (misplaced || 2 * elements < found.columns || !TransposedBlock::fits(found.columns, size))
        return {};
    return found;
}

void Neighbourhoods::arrange(Space &kept, int k) const {
    for (int axis = 0; axis < kept.rank; ++axis)
        if (kept.strides[k][axis] < stride) move_to_front(kept, axis);
    int far = 0;
    while (kept.strides[k][far] != stride) ++far;
    move_to_front(kept, far);
}

} // namespace Atoll::kernels
