// An iteration space made ready for loops: axes sorted, directions normalised, axes merged.
#pragma once

#include "types.h"

#include <utility>

namespace Atoll::kernels {

inline constexpr int max_operands = 4;

struct Space {
    int rank; // at least 1
    int operands;
    std::int64_t shape[ATOLL_MAX_RANK];
    std::int64_t strides[max_operands][ATOLL_MAX_RANK]; // bytes
    char *data[max_operands];

    // Axes [first, last) of a call, in any order afterwards: the axis on which operand 0 (then 1,
    // then 2) has the smallest stride comes first. Leaves out axes of extent 1.
    Space(std::uint32_t first, std::uint32_t last, const std::int64_t *shape,
          const atoll_operand *operands, int count);

    std::int64_t outer() const { // product of the extents of the axes 1 …
        std::int64_t n = 1;
        for (int axis = 1; axis < rank; ++axis) n *= shape[axis];
        return n;
    }
    // Byte offset of operand k at row `index` of the axes from `first_axis` on, first axis fastest.
    std::int64_t offset(int k, std::int64_t index, int first_axis = 1) const {
        std::int64_t bytes = 0;
        for (int axis = first_axis; axis < rank && index; ++axis) {
            bytes += index % shape[axis] * strides[k][axis];
            index /= shape[axis];
        }
        return bytes;
    }
};

// Moves an axis before all others.
inline void move_to_front(Space &space, int axis) {
    for (; axis > 0; --axis) {
        std::swap(space.shape[axis], space.shape[axis - 1]);
        for (int k = 0; k < space.operands; ++k)
            std::swap(space.strides[k][axis], space.strides[k][axis - 1]);
    }
}

// Steps through the rows of a space, axis `first_axis` fastest.
class Rows {
public:
    Rows(const Space &space, std::int64_t index, int first_axis)
        : space_(space), first_(first_axis) {
        for (int k = 0; k < space.operands; ++k)
            data[k] = space.data[k] + space.offset(k, index, first_axis);
        for (int axis = first_axis; axis < space.rank; ++axis) {
            index_[axis] = index % space.shape[axis];
            index /= space.shape[axis];
        }
    }
    void next() {
        for (int axis = first_; axis < space_.rank; ++axis) {
            if (++index_[axis] < space_.shape[axis]) {
                for (int k = 0; k < space_.operands; ++k) data[k] += space_.strides[k][axis];
                return;
            }
            index_[axis] = 0;
            for (int k = 0; k < space_.operands; ++k)
                data[k] -= space_.strides[k][axis] * (space_.shape[axis] - 1);
        }
    }

    char *data[max_operands]; // of the row's first element

private:
    const Space &space_;
    int first_;
    std::int64_t index_[ATOLL_MAX_RANK];
};

} // namespace Atoll::kernels
