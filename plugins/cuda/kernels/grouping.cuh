// How a reduction goes through a call's operands: see Note [Reductions] in reduce.cuh.
#pragma once

#include "space.cuh"

#include <algorithm>
#include <bit>
#include <cstdlib>

namespace Atoll::cuda {

// How the elements of a result are grouped. `width`: elements of a pack.
struct Grouping {
    bool columns;
    std::uint32_t lanes, chunk;

    Grouping(std::int64_t results, std::int64_t elements, bool along_results, unsigned width)
        : columns(along_results && results > 1) {
        // What a lane takes at least, and how many chunks of a result fill a device: no more, as
        // each makes a partial accumulator.
        std::int64_t share, wanted;
        if (columns) {
            const auto side_by_side = std::bit_ceil(
                static_cast<std::uint32_t>(std::min<std::int64_t>(results, block_threads)));
            lanes = block_threads / side_by_side;
            share = std::max(16u, 256 / lanes);
            wanted = 524288 / (results * lanes);
        } else {
            share = width * 4;
            lanes = std::bit_ceil(static_cast<std::uint32_t>(
                std::min<std::int64_t>((elements + share - 1) / share, block_threads)));
            wanted = 2048 / results;
        }
        const std::int64_t step = share * lanes;
        const std::int64_t chunks = std::max<std::int64_t>(1, wanted);
        const std::int64_t length = (elements + chunks - 1) / chunks;
        chunk = static_cast<std::uint32_t>(
            std::min((length + step - 1) / step * step, space_limit / step * step));
    }
};

// Whether neighbouring results lie closer together than neighbouring elements of one.
inline bool along_results(const atoll_call &call) {
    const atoll_operand &in = call.operands[1];
    std::int64_t element = INT64_MAX, result = INT64_MAX;
    for (std::uint32_t axis = 0; axis < call.rank; ++axis) {
        std::int64_t &least = axis < call.core ? element : result;
        const std::int64_t stride = std::abs(in.strides[axis]);
        if (call.shape[axis] > 1 && stride > 0) least = std::min(least, stride);
    }
    return result < element;
}

} // namespace Atoll::cuda
