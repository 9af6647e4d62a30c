// searchsorted: binary search of values in sorted vectors.
#include "convert.h"
#include "functors/order.h"
#include "ordered.h"
#include "parallel.h"
#include "scratch.h"

#include <algorithm>
#include <array>
#include <atomic>

namespace Atoll::kernels {
namespace {

// Positions of n dense values in `size` sorted elements that are `stride` bytes apart, aligned.
using Search = void (*)(std::int64_t n, const char *values, std::int64_t size, const char *sorted,
                        std::int64_t stride, bool right, std::int64_t *out);

// Values that are searched for side by side: their loads overlap.
constexpr std::int64_t together = 16;

// Adds to first[0..some) how many elements stand before each value.
template <class T, bool right, class Element>
void search_together(std::int64_t some, const char *values, std::int64_t size,
                     const Element &element, std::int64_t *first) {
    for (std::int64_t count = size; count > 0;) {
        // [first, first + count] holds the answer, of all values after the same number of steps; no
        // branch depends on an element.
        const std::int64_t half = (count + 1) / 2;
        for (std::int64_t w = 0; w < some; ++w) {
            const T value = load<T>(values + w * static_cast<std::int64_t>(sizeof(T)));
            const T last = element(first[w] + half - 1);
            const bool after = right ? !is_before(value, last) : is_before(last, value);
            first[w] += -static_cast<std::int64_t>(after) & half;
        }
        count -= half;
    }
}

template <class T, bool right> void search_side(std::int64_t n, const char *values,
                                                std::int64_t size, const char *sorted,
                                                std::int64_t stride, std::int64_t *out) {
    const auto search_in = [&](const auto &element) {
        for (std::int64_t k = 0; k < n; k += together) {
            const std::int64_t some = std::min(together, n - k);
            std::fill_n(out + k, some, 0);
            const char *const at = values + k * static_cast<std::int64_t>(sizeof(T));
            if (some == together)
                search_together<T, right>(together, at, size, element, out + k);
            else
                search_together<T, right>(some, at, size, element, out + k);
        }
    };
    if (stride == sizeof(T))
        search_in([x = reinterpret_cast<const T *>(sorted)](std::int64_t i) { return x[i]; });
    else
        search_in(
            [&](std::int64_t i) { return *reinterpret_cast<const T *>(sorted + i * stride); });
}

template <class T> void search(std::int64_t n, const char *values, std::int64_t size,
                               const char *sorted, std::int64_t stride, bool right,
                               std::int64_t *out) {
    if (right)
        search_side<T, true>(n, values, size, sorted, stride, out);
    else
        search_side<T, false>(n, values, size, sorted, stride, out);
}

constexpr std::array<Search, ATOLL_DTYPE_COUNT> searches = {
    nullptr,
#define ATOLL_DTYPE(id, ENUM, identifier, name, size, KIND, PART, alias) &search<wide::identifier>,
#include "atoll/lists/dtypes.inc"
};

} // namespace
} // namespace Atoll::kernels

std::int32_t atoll_kernels_search(const atoll_call *call) {
    using namespace Atoll::kernels;
    const std::uint32_t dtype = call->dtype;
    if (dtype == ATOLL_DTYPE_NONE || dtype >= ATOLL_DTYPE_COUNT) return ATOLL_STATUS_NOT_SUPPORTED;
    const atoll_operand *operands = call->operands;
    const auto swapped = [&](int k) { return (operands[k].flags & ATOLL_OPERAND_SWAPPED) != 0; };
    // The values that one vector is searched for, and the vectors.
    const SplitAxes axes(*call, 1, 2);
    const Space values(0, axes.rank[0], axes.shape[0], axes.operands[0], 2);
    const Space vectors(0, axes.rank[1], axes.shape[1], axes.operands[1], 3);
    const Conversion in({operands[1].dtype, dtype, widened(dtype)}, swapped(1), false);
    const Conversion from({operands[2].dtype, dtype, widened(dtype)}, swapped(2), false);
    const Conversion to({ATOLL_DTYPE_INT64, operands[0].dtype}, false, swapped(0));
    const std::int64_t size = call->shape[0], stride = operands[2].strides[0];
    const std::int64_t count = values.shape[0] * values.outer();
    const std::int64_t wide = from.out_size();
    const Search run = searches[dtype];
    const bool right = call->attributes[0].value.bytes[0] != 0;
    // What the loop cannot read as it is is converted once, as a whole.
    const bool direct = from.moves() && is_aligned(vectors, 2, from.in_alignment()) &&
                        stride % from.in_alignment() == 0;
    std::atomic<bool> no_memory{false};
    const auto search_vectors = [&](std::int64_t first_vector, std::int64_t end_vector) {
        const Scratch scratch(direct ? 0 : size * wide, std::nothrow);
        if (!scratch.is_there()) {
            no_memory.store(true, std::memory_order_relaxed);
            return;
        }
        for (std::int64_t vector = first_vector; vector < end_vector; ++vector) {
            std::ptrdiff_t shift[2]; // bytes from the first element of all
            for (int k = 0; k < 2; ++k)
                shift[k] = (vectors.data[k] - static_cast<char *>(operands[k].data)) +
                           vectors.offset(k, vector, 0);
            const char *sorted = vectors.data[2] + vectors.offset(2, vector, 0);
            std::int64_t step = stride;
            if (!direct) {
                parallel((size + block_size - 1) / block_size, block_size,
                         [&](std::int64_t begin, std::int64_t end) {
                             const std::int64_t first = begin * block_size;
                             from.run(std::min(size, end * block_size) - first,
                                      scratch.data() + first * wide, wide, sorted + first * stride,
                                      stride);
                         });
                sorted = scratch.data();
                step = wide;
            }
            // A value costs some 16 steps.
            const std::int64_t pieces = (count + block_size - 1) / block_size;
            parallel(pieces, block_size * 16, [&](std::int64_t begin, std::int64_t end) {
                alignas(64) char block[block_size * 16];
                alignas(64) std::int64_t positions[block_size];
                each_run(values, begin * block_size, std::min(count, end * block_size),
                         [&](char *const *data, std::int64_t n, std::int64_t) {
                             const std::int64_t is = values.strides[1][0];
                             const std::int64_t os = values.strides[0][0];
                             for (std::int64_t k = 0; k < n; k += block_size) {
                                 const std::int64_t some = std::min(block_size, n - k);
                                 in.run(some, block, in.out_size(), data[1] + shift[1] + k * is,
                                        is);
                                 run(some, block, size, sorted, step, right, positions);
                                 to.run(some, data[0] + shift[0] + k * os, os,
                                        reinterpret_cast<const char *>(positions), 8);
                             }
                         });
            });
        }
    };
    // Short vectors and few values side by side; others one after the other, each on all threads.
    const std::int64_t work = size + count * 16, many = vectors.shape[0] * vectors.outer();
    if (work < parallel_threshold)
        parallel(many, work, search_vectors);
    else
        search_vectors(0, many);
    return no_memory.load() ? ATOLL_STATUS_OUT_OF_MEMORY : ATOLL_STATUS_OK;
}
