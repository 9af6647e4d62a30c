// Flags of elements that are not zero, and how many there are in each piece.
#include "found.h"

#include "reducers.h"

#include <utility>

#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace Atoll::kernels {

namespace {

template <class T> void flag(std::int64_t n, const char *in, std::uint8_t *flags) {
    const T *x = reinterpret_cast<const T *>(in);
    for (std::int64_t k = 0; k < n; ++k) {
        if constexpr (is_complex<T>)
            flags[k] = static_cast<std::uint8_t>((x[k].re != 0) | (x[k].im != 0));
        else
            flags[k] = x[k] != T(0);
    }
}

// Bit k is flag k of 64.
std::uint64_t bits_of(const std::uint8_t *flags) {
#if defined(__AVX512BW__)
    const __m512i x = _mm512_loadu_si512(flags);
    return _mm512_test_epi8_mask(x, x);
#elif defined(__SSE2__)
    std::uint64_t bits = 0;
    for (int k = 0; k < 64; k += 16) {
        const __m128i x = _mm_loadu_si128(reinterpret_cast<const __m128i *>(flags + k));
        // Moves bit 0 of each byte to its bit 7.
        const auto some = static_cast<unsigned>(_mm_movemask_epi8(_mm_slli_epi16(x, 7)));
        bits |= std::uint64_t{some} << k;
    }
    return bits;
#else
    std::uint64_t bits = 0;
    for (int k = 0; k < 64; k += 8) {
        const auto eight = load<std::uint64_t>(reinterpret_cast<const char *>(flags + k));
        // Bit i of the product's highest byte is flag i.
        bits |= (eight * 0x0102040810204080 >> 56) << k;
    }
    return bits;
#endif
}

std::int64_t pieces_of(const Space &space) {
    const std::int64_t size = space.shape[0] * space.outer();
    const bool alone = size < parallel_threshold || !current_pool().run;
    return alone ? 0 : (size + piece_size - 1) / piece_size;
}

} // namespace

const Flags flags_of[ATOLL_DTYPE_COUNT] = {
    nullptr,
#define ATOLL_DTYPE(id, ENUM, identifier, name, size, KIND, PART, alias) &flag<wide::identifier>,
#include "atoll/lists/dtypes.inc"
};

Found::Found(const Space &space, const atoll_operand &in, std::uint32_t dtype, std::int64_t results)
    : in_({in.dtype, dtype, widened(dtype)}, in.flags & ATOLL_OPERAND_SWAPPED, false),
      flags_(flags_of[dtype]), direct_(in_.moves() && is_aligned(space, 0, in_.in_alignment())),
      results_(results), pieces_(pieces_of(space)), memory_(pieces_ * 8),
      first_(reinterpret_cast<std::int64_t *>(memory_.data())) {
    if (pieces_ > 0) count(space, dtype);
}

std::int64_t Found::look(std::int64_t n, const char *elements, FlagBits &found) const {
    alignas(64) std::uint8_t flags[block_size];
    flags_(n, elements, flags);
    std::fill(flags + n, flags + (n + 63) / 64 * 64, std::uint8_t{0});
    std::int64_t count = 0;
    for (std::int64_t k = 0; k < n; k += 64) {
        found[k / 64] = bits_of(flags + k);
        count += std::popcount(found[k / 64]);
    }
    return count;
}

void Found::count(const Space &space, std::uint32_t dtype) const {
    const std::int64_t size = space.shape[0] * space.outer();
    const auto add = reducers::count_nonzero[dtype].block;
    parallel(pieces_, piece_size, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t piece = begin; piece < end; ++piece) {
            std::int64_t total = 0;
            blocks(space, piece * piece_size, std::min(size, (piece + 1) * piece_size), piece_size,
                   [&](const char *elements, std::int64_t n, char *const *, std::int64_t) {
                       add(n, elements, Given{}, reinterpret_cast<char *>(&total));
                   });
            first_[piece] = total;
        }
    });
    std::int64_t before = 0;
    for (std::int64_t piece = 0; piece < pieces_; ++piece)
        before += std::exchange(first_[piece], before);
}

} // namespace Atoll::kernels
