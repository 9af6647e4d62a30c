// Sorting, flipping and merging of axes.
#include "space.h"

#include <algorithm>
#include <cstdlib>

namespace Atoll::kernels {

Space::Space(std::uint32_t first, std::uint32_t last, const std::int64_t *call_shape,
             const atoll_operand *call_operands, int count)
    : rank(0), operands(count) {
    for (int k = 0; k < count; ++k) data[k] = static_cast<char *>(call_operands[k].data);
    for (std::uint32_t axis = first; axis < last; ++axis) {
        const std::int64_t extent = call_shape[axis];
        if (extent == 1) continue;
        std::int64_t step[max_operands];
        bool flip = false, decided = false;
        for (int k = 0; k < count; ++k) {
            step[k] = call_operands[k].strides[axis];
            if (!decided && step[k] != 0) {
                decided = true;
                flip = step[k] < 0;
            }
        }
        if (flip)
            for (int k = 0; k < count; ++k) {
                data[k] += step[k] * (extent - 1);
                step[k] = -step[k];
            }
        // Insertion sort: calls come nearly sorted.
        int place = rank;
        for (; place > 0; --place) {
            bool before = false;
            for (int k = 0; k < count; ++k) {
                const std::int64_t mine = std::abs(step[k]);
                const std::int64_t theirs = std::abs(strides[k][place - 1]);
                if (mine != theirs) {
                    before = mine < theirs;
                    break;
                }
            }
            if (!before) break;
            shape[place] = shape[place - 1];
            for (int k = 0; k < count; ++k) strides[k][place] = strides[k][place - 1];
        }
        shape[place] = extent;
        for (int k = 0; k < count; ++k) strides[k][place] = step[k];
        ++rank;
    }
    int kept = 0;
    for (int axis = 1; axis < rank; ++axis) {
        bool merges = true;
        for (int k = 0; k < count; ++k)
            merges &= strides[k][axis] == strides[k][kept] * shape[kept];
        if (merges) {
            shape[kept] *= shape[axis];
            continue;
        }
        ++kept;
        shape[kept] = shape[axis];
        for (int k = 0; k < count; ++k) strides[k][kept] = strides[k][axis];
    }
    rank = rank ? kept + 1 : 0;
    if (rank == 0) {
        rank = 1;
        shape[0] = 1;
        for (int k = 0; k < count; ++k) strides[k][0] = 0;
    }
}

} // namespace Atoll::kernels
