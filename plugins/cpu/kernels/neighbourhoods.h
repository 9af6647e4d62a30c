// Results of a reduction whose elements are all neighbours, such as the members of short rows or
// three colours each: see Note [Two ways to reduce].
#pragma once

#include "space.h"
#include "transposed_block.h"

namespace Atoll::kernels {

// Moves an axis before all others.
inline void move_to_front(Space &space, int axis) {
    for (; axis > 0; --axis) {
        std::swap(space.shape[axis], space.shape[axis - 1]);
        for (int k = 0; k < space.operands; ++k)
            std::swap(space.strides[k][axis], space.strides[k][axis - 1]);
    }
}

struct Neighbourhoods {
    std::int64_t count = 0;   // along one kept axis; 0: there are none
    std::int64_t stride = 0;  // bytes from one to the next
    std::int64_t results = 1; // of each
    std::int64_t columns = 0; // elements that each lies within

    // Operand `k` of the kept axes and operand `r` of the reduced ones are the elements, of `size`
    // bytes. Those of a neighbourhood fit into a TransposedBlock and are at least half of what lies
    // between them.
    static Neighbourhoods of(const Space &kept, int k, const Space &reduced, int r,
                             std::int64_t size);
    // Moves that axis of the same space to the front, and behind it the axes of the results.
    void arrange(Space &kept, int k) const;
};

} // namespace Atoll::kernels
