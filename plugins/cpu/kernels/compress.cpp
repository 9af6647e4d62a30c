// compress: the elements where a mask is true. Bytes move, unless dtypes or byte orders differ.
#include "found.h"

#include <array>
#include <bit>

#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace Atoll::kernels {
namespace {

// The places of a byte's bits that are set, in order; what follows is not used.
alignas(64) constexpr auto places_of_bits = [] {
    std::array<std::array<std::uint8_t, 8>, 256> places{};
    for (unsigned byte = 0; byte < 256; ++byte) {
        std::size_t count = 0;
        for (unsigned bit = 0; bit < 8; ++bit)
            if (byte >> bit & 1) places[byte][count++] = static_cast<std::uint8_t>(bit);
    }
    return places;
}();

// The elements of eight at `from` whose bits are set go to `to`, in order. What follows them there
// may be overwritten, but nothing beyond eight elements.
template <int size> void take_eight(const char *from, unsigned bits, char *to) {
    for (int k = 0; k < 8; ++k) {
        std::memcpy(to, from + k * size, size);
        to += (bits >> k & 1) * size;
    }
}

#ifdef __SSSE3__
inline __m128i places_of(unsigned bits) {
    return _mm_loadl_epi64(reinterpret_cast<const __m128i *>(places_of_bits[bits].data()));
}
template <> inline void take_eight<1>(const char *from, unsigned bits, char *to) {
    const __m128i x = _mm_loadl_epi64(reinterpret_cast<const __m128i *>(from));
    _mm_storel_epi64(reinterpret_cast<__m128i *>(to), _mm_shuffle_epi8(x, places_of(bits)));
}
template <> inline void take_eight<2>(const char *from, unsigned bits, char *to) {
    const __m128i x = _mm_loadu_si128(reinterpret_cast<const __m128i *>(from));
    const __m128i places = places_of(bits), twice = _mm_unpacklo_epi8(places, places);
    const __m128i bytes = _mm_add_epi8(_mm_add_epi8(twice, twice), _mm_set1_epi16(0x0100));
    _mm_storeu_si128(reinterpret_cast<__m128i *>(to), _mm_shuffle_epi8(x, bytes));
}
#endif

#if defined(__AVX512F__) && defined(__AVX512VL__)
template <> inline void take_eight<4>(const char *from, unsigned bits, char *to) {
    _mm256_storeu_si256(
        reinterpret_cast<__m256i *>(to),
        _mm256_maskz_compress_epi32(static_cast<__mmask8>(bits),
                                    _mm256_loadu_si256(reinterpret_cast<const __m256i *>(from))));
}
template <> inline void take_eight<8>(const char *from, unsigned bits, char *to) {
    _mm512_storeu_si512(
        to, _mm512_maskz_compress_epi64(static_cast<__mmask8>(bits), _mm512_loadu_si512(from)));
}
#elif defined(__AVX2__)
template <> inline void take_eight<4>(const char *from, unsigned bits, char *to) {
    const __m256i x = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(from));
    _mm256_storeu_si256(reinterpret_cast<__m256i *>(to),
                        _mm256_permutevar8x32_epi32(x, _mm256_cvtepu8_epi32(places_of(bits))));
}
// Four elements as pairs of words, 2 p and 2 p + 1 for place p.
inline void take_four(const char *from, unsigned bits, char *to) {
    const __m256i x = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(from));
    const __m256i places = _mm256_slli_epi64(_mm256_cvtepu8_epi64(places_of(bits)), 1);
    const __m256i words = _mm256_or_si256(_mm256_slli_epi64(places, 32),
                                          _mm256_add_epi64(places, _mm256_set1_epi64x(1LL << 32)));
    _mm256_storeu_si256(reinterpret_cast<__m256i *>(to), _mm256_permutevar8x32_epi32(x, words));
}
template <> inline void take_eight<8>(const char *from, unsigned bits, char *to) {
    take_four(from, bits & 15, to);
    take_four(from + 32, bits >> 4, to + std::popcount(bits & 15) * 8);
}
#elif defined(__SSSE3__)
// Bytes 4 p to 4 p + 3 for place p.
inline void take_four(const char *from, unsigned bits, char *to) {
    const __m128i x = _mm_loadu_si128(reinterpret_cast<const __m128i *>(from));
    __m128i bytes = _mm_slli_epi16(places_of(bits), 2);
    bytes = _mm_unpacklo_epi8(bytes, bytes);
    bytes = _mm_or_si128(_mm_unpacklo_epi16(bytes, bytes), _mm_set1_epi32(0x03020100));
    _mm_storeu_si128(reinterpret_cast<__m128i *>(to), _mm_shuffle_epi8(x, bytes));
}
template <> inline void take_eight<4>(const char *from, unsigned bits, char *to) {
    take_four(from, bits & 15, to);
    take_four(from + 16, bits >> 4, to + std::popcount(bits & 15) * 4);
}
#endif

// Elements on their way into the cache, bound for places in a row.
template <int size> class Awaited {
public:
    explicit Awaited(std::int64_t step) : step_(step) {}
    void add(const char *from, char *to) {
        if (count_ == 0) to_ = to;
        // Into L2: of requests for L1 there cannot be as many at a time.
        __builtin_prefetch(from, 0, 2);
        const char *&place = places_[count_++ % most];
        if (count_ > most) move(place);
        place = from;
    }
    bool any() const { return count_ > 0; }
    void finish() {
        for (std::uint64_t k = std::max(count_, most) - most; k < count_; ++k)
            move(places_[k % most]);
        count_ = 0;
    }

private:
    static constexpr std::uint64_t most = 64;
    void move(const char *from) {
        std::memcpy(to_, from, size);
        to_ += step_;
    }
    const std::int64_t step_;
    std::uint64_t count_ = 0;
    char *to_ = nullptr;
    const char *places_[most];
};

// What all blocks share.
struct Moves {
    Conversion converted, written;   // from elements to results; results as they are
    std::uint32_t dtype;             // of the results
    std::int64_t from_step, to_step; // bytes
};

// Takes the elements of blocks in turn, which become results of `size` bytes.
template <int size> class Taker {
public:
    Taker(const Moves &moves, char *results)
        : moves_(moves), results_(results), awaited_(moves.to_step) {}
    ~Taker() { awaited_.finish(); }
    Taker(const Taker &) = delete;
    Taker &operator=(const Taker &) = delete;

    void operator()(const FlagBits &found, std::int64_t n, std::int64_t count, char *const *data,
                    std::int64_t, std::int64_t index, std::int64_t last) {
        const char *from = data[1];
        char *const to = results_ + index * moves_.to_step;
        const std::int64_t step = moves_.from_step;
        const bool moves = moves_.converted.moves() && moves_.dtype != ATOLL_DTYPE_BOOL;
        const std::int64_t results = std::min(count, last - index);
        if (count < few_of(n)) {
            if (moves && results == count)
                return each_one(n, found,
                                [&](std::int64_t k) { awaited_.add(from + k * step, to); });
            if (!moves) return convert_few(n, found, from, to, results); // here nothing is awaited
        }
        awaited_.finish();
        alignas(64) char values[block_size * size], own[block_size * size];
        if (!moves_.converted.moves() || step != size) {
            moves_.converted.run(n, values, size, from, step);
            from = values;
        }
        if (moves_.dtype == ATOLL_DTYPE_BOOL) { // bytes other than 0 and 1 are true
            flags_of[ATOLL_DTYPE_BOOL](n, from, reinterpret_cast<std::uint8_t *>(values));
            from = values;
        }
        const bool direct = moves_.to_step == size && index + n <= last;
        squeeze(n, found, from, direct ? to : own);
        if (!direct) moves_.written.run(results, to, moves_.to_step, own, size);
    }

private:
    // Below how many of n elements they are taken one by one: then most lines of memory are not
    // wanted, and the processor does not foresee which ones are. To go over to whole blocks takes
    // as long as the last wait.
    std::int64_t few_of(std::int64_t n) const {
        const bool any = awaited_.any();
        if (std::abs(moves_.from_step) != moves_.converted.in_size()) return n / (any ? 5 : 8);
        return n / (size == 16 ? (any ? 9 : 16) : size == 8 ? (any ? 21 : 42) : (any ? 40 : 128));
    }
    void convert_few(std::int64_t n, const FlagBits &found, const char *from, char *to,
                     std::int64_t results) {
        const std::int64_t wide = moves_.converted.in_size();
        alignas(64) char taken[block_size / 4 * 16];
        char *next = taken;
        each_one(n, found, [&](std::int64_t k) {
            std::memcpy(next, from + k * moves_.from_step, static_cast<std::size_t>(wide));
            next += wide;
        });
        moves_.converted.run(results, to, moves_.to_step, taken, wide);
        if (moves_.dtype == ATOLL_DTYPE_BOOL)
            for (std::int64_t k = 0; k < results; ++k) {
                char &byte = to[k * moves_.to_step];
                byte = byte != 0;
            }
    }
    // Writes nothing beyond n elements.
    static void squeeze(std::int64_t n, const FlagBits &found, const char *from, char *to) {
        each_eight(
            n, found,
            [&](std::int64_t k, unsigned bits) {
                take_eight<size>(from + k * size, bits, to);
                to += std::popcount(bits) * size;
            },
            [&](std::int64_t k) {
                std::memcpy(to, from + k * size, size);
                to += size;
            });
    }

    const Moves &moves_;
    char *const results_;
    Awaited<size> awaited_;
};

template <int size> void compress(const atoll_call &call, Moves moves) {
    // The last core axis is that of the results. There are no others but core axes.
    const atoll_operand &mask = call.operands[2], operands[] = {mask, call.operands[1]};
    const Space space = ordered_space(0, call.core - 1u, call.shape, operands, 2);
    const Found found(space, mask, ATOLL_DTYPE_BOOL, call.shape[call.core - 1]);
    moves.from_step = space.strides[1][0];
    char *const results = static_cast<char *>(call.operands[0].data);
    found(space, [&] { return Taker<size>(moves, results); });
}

void compress(const atoll_call &call) {
    const atoll_operand &out = call.operands[0], &in = call.operands[1];
    const Conversion converted({in.dtype, call.dtype, out.dtype}, in.flags & ATOLL_OPERAND_SWAPPED,
                               out.flags & ATOLL_OPERAND_SWAPPED);
    const Moves moves{converted, converted.settled(), out.dtype, 0, out.strides[call.core - 1]};
    switch (converted.out_size()) {
    case 1: return compress<1>(call, moves);
    case 2: return compress<2>(call, moves);
    case 4: return compress<4>(call, moves);
    case 8: return compress<8>(call, moves);
    default: return compress<16>(call, moves);
    }
}

} // namespace
} // namespace Atoll::kernels

std::int32_t atoll_kernels_compress(const atoll_call *call) {
    using namespace Atoll::kernels;
    if (call->dtype == ATOLL_DTYPE_NONE || call->dtype >= ATOLL_DTYPE_COUNT)
        return ATOLL_STATUS_NOT_SUPPORTED;
    try {
        compress(*call);
    } catch (const std::bad_alloc &) {
        return ATOLL_STATUS_OUT_OF_MEMORY;
    }
    return ATOLL_STATUS_OK;
}
