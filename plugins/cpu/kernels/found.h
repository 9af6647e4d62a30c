// The elements that are not zero, in the order of the axes: what find and compress share.
#pragma once

#include "convert.h"
#include "ordered.h"
#include "parallel.h"
#include "scratch.h"

#include <algorithm>
#include <bit>

namespace Atoll::kernels {

// flags[k] = element k is not zero; elements are dense and aligned.
using Flags = void (*)(std::int64_t n, const char *in, std::uint8_t *flags);
extern const Flags flags_of[ATOLL_DTYPE_COUNT]; // by the dtype of the elements

// The flags of a block, one bit each; those from the nth on are 0.
using FlagBits = std::uint64_t[block_size / 64];

// eight(k, bits) for elements [k, k + 8), bit i of which is that of element k + i; one(k) for each
// that is found among those left over.
template <class Eight, class One>
void each_eight(std::int64_t n, const FlagBits &found, const Eight &eight, const One &one) {
    const auto *bytes = reinterpret_cast<const std::uint8_t *>(found);
    std::int64_t k = 0;
    for (; k + 8 <= n; k += 8) eight(k, unsigned{bytes[k / 8]});
    for (; k < n; ++k)
        if (bytes[k / 8] >> k % 8 & 1) one(k);
}
// one(k) for each that is found.
template <class One> void each_one(std::int64_t n, const FlagBits &found, const One &one) {
    for (std::int64_t k = 0; k < n; k += 64)
        for (std::uint64_t bits = found[k / 64]; bits != 0; bits &= bits - 1)
            one(k + std::countr_zero(bits));
}

class Found {
public:
    // Among the elements of operand 0 of an ordered space, which are `in`, compared in `dtype`.
    // `results`: how many they are. Counts them piece by piece where threads share the work; throws
    // std::bad_alloc.
    Found(const Space &space, const atoll_operand &in, std::uint32_t dtype, std::int64_t results);

    // make() gives what takes the elements of a piece of the space, whose operand 0 is the one
    // above: take(found, n, count, data, position, index, last) for the blocks in which anything is
    // found: `count` of n elements, which lie at data[o] along axis 0, `position` elements before.
    // They are the results from `index` on, of which there are none from `last` on.
    template <class Make> void operator()(const Space &space, const Make &make) const {
        const std::int64_t size = space.shape[0] * space.outer();
        if (pieces_ == 0) return fill(space, 0, size, 0, results_, make());
        parallel(pieces_, piece_size, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t piece = begin; piece < end; ++piece)
                fill(space, piece * piece_size, std::min(size, (piece + 1) * piece_size),
                     first_[piece],
                     piece + 1 < pieces_ ? std::min(first_[piece + 1], results_) : results_,
                     make());
        });
    }

private:
    // body(elements, n, data, position) block by block: dense, aligned, in the compute type.
    template <class Body> void blocks(const Space &space, std::int64_t begin, std::int64_t end,
                                      std::int64_t most, const Body &body) const {
        const std::int64_t stride = space.strides[0][0];
        const bool straight = direct_ && stride == in_.in_size();
        if (!straight) most = std::min(most, block_size);
        each_run(space, begin, end, [&](char *const *data, std::int64_t n, std::int64_t position) {
            alignas(64) char scratch[block_size * 16];
            char *at[max_operands];
            for (std::int64_t k = 0; k < n; k += most) {
                const std::int64_t some = std::min(most, n - k);
                for (int o = 0; o < space.operands; ++o) at[o] = data[o] + k * space.strides[o][0];
                const char *elements = at[0];
                if (!straight) {
                    in_.run(some, scratch, in_.out_size(), elements, stride);
                    elements = scratch;
                }
                body(elements, some, at, position + k);
            }
        });
    }
    template <class Take> void fill(const Space &space, std::int64_t begin, std::int64_t end,
                                    std::int64_t index, std::int64_t last, Take &&take) const {
        blocks(space, begin, end, block_size,
               [&](const char *elements, std::int64_t n, char *const *data, std::int64_t position) {
                   FlagBits found;
                   const std::int64_t count = look(n, elements, found);
                   if (count > 0 && index < last)
                       take(found, n, count, data, position, index, last);
                   index += count;
               });
    }
    // Returns how many are found.
    std::int64_t look(std::int64_t n, const char *elements, FlagBits &found) const;
    // Fills first_.
    void count(const Space &space, std::uint32_t dtype) const;

    const Conversion in_;
    const Flags flags_;
    const bool direct_;
    const std::int64_t results_, pieces_; // pieces_: 0 where one thread does all
    const Scratch memory_;
    std::int64_t *const first_; // the first result of each piece
};

} // namespace Atoll::kernels
