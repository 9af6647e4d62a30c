// find: positions of the non-zero elements, by counting in blocks first where threads share them.
#include "convert.h"
#include "ordered.h"
#include "parallel.h"
#include "product_vectors.h"
#include "reducers.h"
#include "scratch.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

namespace Atoll::kernels {
namespace {

// flags[k] = element k is not zero; elements are dense and aligned.
using Flags = void (*)(std::int64_t n, const char *in, std::uint8_t *flags);

template <class T> void flag(std::int64_t n, const char *in, std::uint8_t *flags) {
    const T *x = reinterpret_cast<const T *>(in);
    for (std::int64_t k = 0; k < n; ++k) {
        if constexpr (is_complex<T>)
            flags[k] = static_cast<std::uint8_t>((x[k].re != 0) | (x[k].im != 0));
        else
            flags[k] = x[k] != T(0);
    }
}

constexpr std::array<Flags, ATOLL_DTYPE_COUNT> flaggers = {
    nullptr,
#define ATOLL_DTYPE(id, ENUM, identifier, name, size, KIND, PART, alias) &flag<wide::identifier>,
#include "atoll/lists/dtypes.inc"
};

// The places of a byte's bits that are set, in order; what follows is not used.
alignas(64) constexpr auto places_of_bits = [] {
    std::array<std::array<std::int64_t, 8>, 256> places{};
    for (unsigned byte = 0; byte < 256; ++byte) {
        std::size_t count = 0;
        for (int bit = 0; bit < 8; ++bit)
            if (byte >> bit & 1) places[byte][count++] = bit;
    }
    return places;
}();

// Writes position + k for every k whose flag is 1 and returns how many those are. No branch on a
// flag: eight positions are written for eight flags, none beyond the nth, and those that are not
// wanted written over.
std::int64_t collect(std::int64_t n, const std::uint8_t *flags, std::int64_t position,
                     std::int64_t *positions) {
    std::int64_t *next = positions;
    std::int64_t k = 0;
    for (; k + 8 <= n; k += 8) {
        // Bit i of the product's highest byte is flag i.
        const auto bits =
            load<std::uint64_t>(reinterpret_cast<const char *>(flags + k)) * 0x0102040810204080 >>
            56;
        const auto places = load_vector<VectorN<std::int64_t, 8>>(places_of_bits[bits].data());
        store_vector(next, places + (position + k));
        next += std::popcount(bits);
    }
    for (; k < n; ++k) {
        *next = position + k;
        next += flags[k];
    }
    return next - positions;
}

class Find {
public:
    // The last core axis is that of the results.
    explicit Find(const atoll_call &call)
        : space_(ordered_space(0, call.core - 1u, call.shape, call.operands + 1, 1)),
          in_({call.operands[1].dtype, call.dtype, widened(call.dtype)},
              call.operands[1].flags & ATOLL_OPERAND_SWAPPED, false),
          out_({ATOLL_DTYPE_INT64, call.operands[0].dtype}, false,
               call.operands[0].flags & ATOLL_OPERAND_SWAPPED),
          flags_(flaggers[call.dtype]), count_(reducers::count_nonzero[call.dtype].block),
          direct_(in_.moves() && is_aligned(space_, 0, in_.in_alignment())),
          result_(static_cast<char *>(call.operands[0].data)),
          step_(call.operands[0].strides[call.core - 1]), results_(call.shape[call.core - 1]) {}

    void operator()() const {
        const std::int64_t size = space_.shape[0] * space_.outer();
        if (size < parallel_threshold || !current_pool().run) {
            fill(0, size, 0, results_);
            return;
        }
        const std::int64_t pieces = (size + piece_size - 1) / piece_size;
        const Scratch scratch(pieces * 8);
        std::int64_t *first = reinterpret_cast<std::int64_t *>(scratch.data());
        parallel(pieces, piece_size, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t piece = begin; piece < end; ++piece)
                first[piece] = count(piece * piece_size, std::min(size, (piece + 1) * piece_size));
        });
        std::int64_t before = 0;
        for (std::int64_t piece = 0; piece < pieces; ++piece)
            before += std::exchange(first[piece], before);
        parallel(pieces, piece_size, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t piece = begin; piece < end; ++piece)
                fill(piece * piece_size, std::min(size, (piece + 1) * piece_size), first[piece],
                     piece + 1 < pieces ? first[piece + 1] : results_);
        });
    }

private:
    // body(elements, n, position) block by block: dense, aligned, in the compute type.
    template <class Body>
    void blocks(std::int64_t begin, std::int64_t end, std::int64_t most, Body &&body) const {
        const std::int64_t stride = space_.strides[0][0];
        const bool straight = direct_ && stride == in_.in_size();
        if (!straight) most = std::min(most, block_size);
        each_run(space_, begin, end, [&](char *const *data, std::int64_t n, std::int64_t position) {
            alignas(64) char scratch[block_size * 16];
            for (std::int64_t k = 0; k < n; k += most) {
                const std::int64_t some = std::min(most, n - k);
                const char *elements = data[0] + k * stride;
                if (!straight) {
                    in_.run(some, scratch, in_.out_size(), elements, stride);
                    elements = scratch;
                }
                body(elements, some, position + k);
            }
        });
    }
    std::int64_t count(std::int64_t begin, std::int64_t end) const {
        std::int64_t total = 0;
        blocks(begin, end, piece_size, [&](const char *elements, std::int64_t n, std::int64_t) {
            count_(n, elements, Given{}, reinterpret_cast<char *>(&total));
        });
        return total;
    }
    // The elements [begin, end) give the results [index, last).
    void fill(std::int64_t begin, std::int64_t end, std::int64_t index, std::int64_t last) const {
        const bool dense =
            out_.moves() && step_ == 8 && reinterpret_cast<std::uintptr_t>(result_) % 8 == 0;
        blocks(begin, end, block_size,
               [&](const char *elements, std::int64_t n, std::int64_t position) {
                   std::uint8_t flags[block_size];
                   flags_(n, elements, flags);
                   char *const results = result_ + index * step_;
                   std::int64_t own[block_size];
                   const bool direct = dense && index + n <= last;
                   std::int64_t *const to =
                       direct ? reinterpret_cast<std::int64_t *>(results) : own;
                   const std::int64_t found = collect(n, flags, position, to);
                   if (!direct)
                       out_.run(found, results, step_, reinterpret_cast<const char *>(own), 8);
                   index += found;
               });
    }

    const Space space_;
    const Conversion in_, out_;
    const Flags flags_;
    void (*const count_)(std::int64_t, const char *, const Given &, char *);
    const bool direct_;
    char *const result_;
    const std::int64_t step_; // bytes between results
    const std::int64_t results_;
};

} // namespace
} // namespace Atoll::kernels

std::int32_t atoll_kernels_find(const atoll_call *call) {
    using namespace Atoll::kernels;
    if (call->dtype == ATOLL_DTYPE_NONE || call->dtype >= ATOLL_DTYPE_COUNT)
        return ATOLL_STATUS_NOT_SUPPORTED;
    try {
        Find{*call}();
    } catch (const std::bad_alloc &) {
        return ATOLL_STATUS_OUT_OF_MEMORY;
    }
    return ATOLL_STATUS_OK;
}
