// find: positions of the non-zero elements.
#include "found.h"
#include "product_vectors.h"

#include <array>
#include <bit>

namespace Atoll::kernels {
namespace {

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

// Writes position + k for every k that is found, `count` in all, and nothing beyond n positions.
void collect(std::int64_t n, const FlagBits &found, std::int64_t count, std::int64_t position,
             std::int64_t *next) {
    if (count < n / 64) return each_one(n, found, [&](std::int64_t k) { *next++ = position + k; });
    // No branch on a bit: eight positions are written for eight bits, and those that are not wanted
    // written over.
    each_eight(
        n, found,
        [&](std::int64_t k, unsigned bits) {
            const auto places = load_vector<VectorN<std::int64_t, 8>>(places_of_bits[bits].data());
            store_vector(next, places + (position + k));
            next += std::popcount(bits);
        },
        [&](std::int64_t k) { *next++ = position + k; });
}

// The last core axis is that of the results. All axes of the operand are core axes.
void find(const atoll_call &call) {
    const atoll_operand &out = call.operands[0], &in = call.operands[1];
    const Space space = ordered_space(0, call.core - 1u, call.shape, &in, 1);
    const Found found(space, in, call.dtype, call.shape[call.core - 1]);
    const Conversion converted({ATOLL_DTYPE_INT64, out.dtype}, false,
                               out.flags & ATOLL_OPERAND_SWAPPED);
    char *const results = static_cast<char *>(out.data);
    const std::int64_t step = out.strides[call.core - 1];
    const bool dense =
        converted.moves() && step == 8 && reinterpret_cast<std::uintptr_t>(results) % 8 == 0;
    const auto take = [&](const FlagBits &bits, std::int64_t n, std::int64_t count, char *const *,
                          std::int64_t position, std::int64_t index, std::int64_t last) {
        char *const at = results + index * step;
        if (dense && index + n <= last)
            return collect(n, bits, count, position, reinterpret_cast<std::int64_t *>(at));
        std::int64_t own[block_size];
        collect(n, bits, count, position, own);
        converted.run(std::min(count, last - index), at, step, reinterpret_cast<const char *>(own),
                      8);
    };
    found(space, [&] { return take; });
}

} // namespace
} // namespace Atoll::kernels

std::int32_t atoll_kernels_find(const atoll_call *call) {
    using namespace Atoll::kernels;
    if (call->dtype == ATOLL_DTYPE_NONE || call->dtype >= ATOLL_DTYPE_COUNT)
        return ATOLL_STATUS_NOT_SUPPORTED;
    try {
        find(*call);
    } catch (const std::bad_alloc &) {
        return ATOLL_STATUS_OUT_OF_MEMORY;
    }
    return ATOLL_STATUS_OK;
}
