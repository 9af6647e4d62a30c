// Results of a reduction whose elements are all neighbours, such as the members of short rows or
// three colours each: see Note [Ways to reduce].
#pragma once

#include "space_pieces.h"
#include "transposed_block.h"

namespace Atoll::kernels {

struct Neighbourhoods {
    std::int64_t count = 0;   // along one kept axis; 0: there are none
    std::int64_t stride = 0;  // bytes from one to the next
    std::int64_t results = 1; // of each
    int result_axes = 0;
    std::int64_t columns = 0; // elements that each lies within

    // Operand `k` of the kept axes and operand `r` of the reduced ones are the elements, of `size`
    // bytes. Those of a neighbourhood fit into a TransposedBlock and are at least half of what lies
    // between them; elements that repeat count each time.
    static Neighbourhoods of(const Space &kept, int k, const Space &reduced, int r,
                             std::int64_t size);
    // Moves the axis of the same kept space to the front, and behind it the axes of the results.
    void arrange(Space &kept, int k) const;
    // Calls body(n, block, place) for blocks of all neighbourhoods, on several threads: place(o, r)
    // is where operand o of the arranged space has the first of n results, or of their elements in
    // the block, for each r < results.
    template <class Body>
    void each_block(const Space &kept, int k, std::int64_t size, Body &&body) const {
        const std::int64_t longest = TransposedBlock::length(columns, size);
        SpacePieces(kept, 0, longest, 1 + result_axes)
            .visit_all(std::min(count, longest) * columns, [&](char *const *data, std::int64_t n) {
                const auto place = [&](int operand, std::int64_t result) {
                    return data[operand] + kept.offset(operand, result);
                };
                body(n, TransposedBlock(n, columns, size, data[k], stride), place);
            });
    }
};

} // namespace Atoll::kernels
