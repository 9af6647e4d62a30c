// float16 and bfloat16 to float32 and back, a vector of float32 at a time.
#pragma once

#include "atoll/half.h"
#include "vector_types.h"

#include <bit>

namespace Atoll::kernels::vector_halves {

using Floats = Vector<float>;
using Halves = VectorN<std::uint16_t, lanes<float>>;
inline constexpr std::int64_t at_once = lanes<float>;
// As many as doubles that fill a vector.
using FewFloats = VectorN<float, lanes<double>>;
using FewHalves = VectorN<std::uint16_t, lanes<double>>;

// An element, and how it becomes a float32.
struct Float16 {
    std::uint16_t bits;

#if defined(__AVX512F__)
    static constexpr bool has_vectors = true;
    static Floats widened(Halves x) {
        return _mm512_maskz_cvtph_ps(vector_math::every<Floats>, (__m256i)x);
    }
    static FewFloats widened(FewHalves x) { return _mm256_cvtph_ps((__m128i)x); }
    static Halves rounded(Floats x) {
        return (Halves)_mm512_maskz_cvtps_ph(vector_math::every<Floats>, x,
                                             _MM_FROUND_TO_NEAREST_INT);
    }
#elif defined(__F16C__)
    static constexpr bool has_vectors = true;
    static Floats widened(Halves x) { return _mm256_cvtph_ps((__m128i)x); }
    static FewFloats widened(FewHalves x) {
        return _mm_cvtph_ps(_mm_cvtsi64_si128(std::bit_cast<long long>(x)));
    }
    static Halves rounded(Floats x) {
        return (Halves)_mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT);
    }
#elif defined(__aarch64__)
    static constexpr bool has_vectors = true;
    static Floats widened(Halves x) { return (Floats)vcvt_f32_f16((float16x4_t)x); }
    static FewFloats widened(FewHalves x) {
        return part_of<2>(widened(joined(x, x)), std::integral_constant<int, 0>());
    }
    static Halves rounded(Floats x) { return (Halves)vcvt_f16_f32((float32x4_t)x); }
#else
    static constexpr bool has_vectors = false;
#endif
    static float widened(std::uint16_t x) { return atoll_half_to_float(x); }
    static std::uint16_t rounded(float x) { return atoll_float_to_half(x); }
};

struct Bfloat16 {
    std::uint16_t bits;

    static constexpr bool has_vectors = true;
    using Bits = vector_math::Integers<Floats>;

    // Where the processor widens and packs vectors in one instruction, GCC 12 takes several.
    static Floats widened(Halves x) {
#if defined(__AVX2__) && !defined(__AVX512F__)
        return (Floats)_mm256_slli_epi32(_mm256_cvtepu16_epi32((__m128i)x), 16);
#else
        return vector_math::from_bits<Floats>(__builtin_convertvector(x, Bits) << 16);
#endif
    }
    static FewFloats widened(FewHalves x) {
#if defined(__AVX512F__)
        return (FewFloats)_mm256_slli_epi32(_mm256_cvtepu16_epi32((__m128i)x), 16);
#elif defined(__AVX2__)
        const __m128i bits = _mm_cvtsi64_si128(std::bit_cast<long long>(x));
        return (FewFloats)_mm_slli_epi32(_mm_cvtepu16_epi32(bits), 16);
#else
        return (FewFloats)(__builtin_convertvector(x, VectorN<std::uint32_t, lanes<double>>) << 16);
#endif
    }
    static Halves rounded(Floats x) {
        const Bits bits = vector_math::bits(x), quiet = bits | 1u << 22,
                   nearest = bits + 0x7fffu + (bits >> 16 & 1u);
        const Bits result = (x == x ? nearest : quiet) >> 16;
#if defined(__AVX2__) && !defined(__AVX512F__)
        return (Halves)_mm_packus_epi32(_mm256_castsi256_si128((__m256i)result),
                                        _mm256_extracti128_si256((__m256i)result, 1));
#else
        return __builtin_convertvector(result, Halves);
#endif
    }
    static float widened(std::uint16_t x) { return atoll_bfloat_to_float(x); }
    static std::uint16_t rounded(float x) { return atoll_float_to_bfloat(x); }
};

template <class Format> void widen(std::int64_t n, char *out, const char *in) {
    float *o = reinterpret_cast<float *>(out);
    const std::uint16_t *i = reinterpret_cast<const std::uint16_t *>(in);
    std::int64_t k = 0;
    if constexpr (Format::has_vectors)
        for (; k + at_once <= n; k += at_once)
            store_vector(o + k, Format::widened(load_vector<Halves>(i + k)));
    for (; k < n; ++k) o[k] = Format::widened(i[k]);
}

template <class Format> void round(std::int64_t n, char *out, const char *in) {
    std::uint16_t *o = reinterpret_cast<std::uint16_t *>(out);
    const float *i = reinterpret_cast<const float *>(in);
    std::int64_t k = 0;
    if constexpr (Format::has_vectors)
        for (; k + at_once <= n; k += at_once)
            store_vector(o + k, Format::rounded(load_vector<Floats>(i + k)));
    for (; k < n; ++k) o[k] = Format::rounded(i[k]);
}

} // namespace Atoll::kernels::vector_halves
