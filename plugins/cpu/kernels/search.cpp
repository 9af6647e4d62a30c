// SEARCH: binary search of values in a sorted vector.
#include "convert.h"
#include "order.h"
#include "ordered.h"
#include "parallel.h"
#include "scratch.h"

#include <algorithm>
#include <array>

namespace Atoll::kernels {
namespace {

// Positions of n dense values in `size` sorted elements that are `stride` bytes apart, aligned.
using Search = void (*)(std::int64_t n, const char *values, std::int64_t size, const char *sorted,
                        std::int64_t stride, bool right, std::int64_t *out);

template <class T> void search(std::int64_t n, const char *values, std::int64_t size,
                               const char *sorted, std::int64_t stride, bool right,
                               std::int64_t *out) {
    for (std::int64_t k = 0; k < n; ++k) {
        const T value = load<T>(values + k * static_cast<std::int64_t>(sizeof(T)));
        // [first, first + count] holds the answer; no branch depends on an element.
        std::int64_t first = 0;
        for (std::int64_t count = size; count > 0;) {
            const std::int64_t half = count / 2;
            const T middle = *reinterpret_cast<const T *>(sorted + (first + half) * stride);
            const bool after = right ? !is_before(value, middle) : is_before(middle, value);
            first += after * (half + 1);
            count = half - after * (1 - count % 2);
        }
        out[k] = first;
    }
}

constexpr std::array<Search, ATOLL_DTYPE_COUNT> searches = {
    nullptr,
#define ATOLL_DTYPE(id, ENUM, identifier, name, size, KIND, PART, alias) &search<wide::identifier>,
#include "atoll/lists/dtypes.inc"
};

} // namespace
} // namespace Atoll::kernels

std::int32_t atoll_kernels_search(std::uint32_t dtype, std::uint32_t rank,
                                  const std::int64_t *shape, const atoll_operand *operands,
                                  const atoll_search_params *params) {
    using namespace Atoll::kernels;
    if (dtype == ATOLL_NONE || dtype >= ATOLL_DTYPE_COUNT || rank == 0)
        return ATOLL_STATUS_NOT_SUPPORTED;
    const auto swapped = [&](int k) { return (operands[k].flags & ATOLL_OPERAND_SWAPPED) != 0; };
    const Space values(0, rank - 1, shape, operands, 2);
    const Conversion in({operands[1].dtype, dtype, widened(dtype)}, swapped(1), false);
    const Conversion from({operands[2].dtype, dtype, widened(dtype)}, swapped(2), false);
    const Conversion to({ATOLL_INT64, operands[0].dtype}, false, swapped(0));
    const std::int64_t size = shape[rank - 1];
    const char *sorted = static_cast<const char *>(operands[2].data);
    std::int64_t stride = operands[2].strides[rank - 1];
    const std::int64_t count = values.shape[0] * values.outer();
    const std::int64_t wide = from.out_size();
    const Search run = searches[dtype];
    const bool right = params->right != 0;
    try {
        // What the loop cannot read as it is is converted once, as a whole.
        const auto address = reinterpret_cast<std::uintptr_t>(sorted);
        const bool direct = from.moves() && ((address | static_cast<std::uintptr_t>(stride)) &
                                             (from.in_alignment() - 1)) == 0;
        const Scratch scratch(direct ? 0 : size * wide);
        if (!direct) {
            parallel((size + block_size - 1) / block_size, block_size,
                     [&](std::int64_t begin, std::int64_t end) {
                         const std::int64_t first = begin * block_size;
                         from.run(std::min(size, end * block_size) - first,
                                  scratch.data() + first * wide, wide, sorted + first * stride,
                                  stride);
                     });
            sorted = scratch.data();
            stride = wide;
        }
        // A value costs some 16 steps.
        const std::int64_t pieces = (count + block_size - 1) / block_size;
        parallel(pieces, block_size * 16, [&](std::int64_t begin, std::int64_t end) {
            alignas(64) char block[block_size * 16];
            alignas(64) std::int64_t positions[block_size];
            each_run(values, begin * block_size, std::min(count, end * block_size),
                     [&](char *const *data, std::int64_t n, std::int64_t) {
                         const std::int64_t is = values.strides[1][0], os = values.strides[0][0];
                         for (std::int64_t k = 0; k < n; k += block_size) {
                             const std::int64_t some = std::min(block_size, n - k);
                             in.run(some, block, in.out_size(), data[1] + k * is, is);
                             run(some, block, size, sorted, stride, right, positions);
                             to.run(some, data[0] + k * os, os,
                                    reinterpret_cast<const char *>(positions), 8);
                         }
                     });
        });
    } catch (const std::bad_alloc &) {
        return ATOLL_STATUS_OUT_OF_MEMORY;
    }
    return ATOLL_STATUS_OK;
}
