// One call of a reduction, before the way is chosen in which it is computed.
#pragma once

#include "convert.h"
#include "reducers.h"
#include "space.h"

namespace Atoll::kernels {

// Both spaces have the axis first on which the input is densest.
struct Reduction {
    Reduction(const Reducer &reducer, const atoll_call &call, const Given &given);
    Reduction(const Reduction &) = delete;
    Reduction &operator=(const Reduction &) = delete;

    std::int64_t results() const { return kept.shape[0] * kept.outer(); }
    // Whether elements that are so far apart need neither a conversion nor a copy.
    bool is_read_in_place(std::int64_t stride) const { return direct && stride == in.in_size(); }
    // n elements from `p` on, dense, aligned, in the compute type.
    const char *elements(std::int64_t n, const char *p, std::int64_t stride, char *scratch) const {
        if (is_read_in_place(stride)) return p;
        in.run(n, scratch, in.out_size(), p, stride);
        return scratch;
    }
    // The accumulators of some segments, `distance` bytes apart, in pairs, then pairs of pairs; the
    // result is in the first.
    void merge_segments(std::int64_t n, std::int64_t count, std::int64_t distance,
                        char *accumulators) const {
        for (std::int64_t step = 1; step < count; step *= 2)
            for (std::int64_t k = 0; k + step < count; k += 2 * step)
                reducer.merge(n, accumulators + (k + step) * distance, given,
                              accumulators + k * distance);
    }

    const Reducer &reducer;
    const atoll_call &call;
    Given given;
    // The input is operand 1 of both; at each result's place in `kept` its elements begin.
    Space kept, reduced;
    Conversion in, out; // from elements to what is computed, and from there to results
    bool direct;        // no element needs a conversion
};

// The ways to compute it; may throw std::bad_alloc.
void reduce_along(const Reduction &all);
// False, and nothing is changed, where the other way is faster.
bool reduce_strips(Reduction &all);

} // namespace Atoll::kernels
