// float16 to float32 and back, as many at a time as the processor level offers.
#pragma once

#include "atoll/half.h"

#include <cstdint>

#if defined(__F16C__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace Atoll::kernels::vector_halves {

#if defined(__AVX512F__)
inline constexpr __mmask16 every = 0xffff; // the unmasked forms draw a false warning from GCC
#endif

inline void widen(std::int64_t n, char *out, const char *in) {
    float *o = reinterpret_cast<float *>(out);
    const std::uint16_t *i = reinterpret_cast<const std::uint16_t *>(in);
    std::int64_t k = 0;
#if defined(__AVX512F__)
    for (; k + 16 <= n; k += 16)
        _mm512_storeu_ps(o + k,
                         _mm512_maskz_cvtph_ps(
                             every, _mm256_loadu_si256(reinterpret_cast<const __m256i *>(i + k))));
#elif defined(__F16C__)
    for (; k + 8 <= n; k += 8)
        _mm256_storeu_ps(
            o + k, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i *>(i + k))));
#elif defined(__aarch64__)
    for (; k + 4 <= n; k += 4)
        vst1q_f32(o + k, vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(i + k))));
#endif
    for (; k < n; ++k) o[k] = atoll_half_to_float(i[k]);
}

inline void round(std::int64_t n, char *out, const char *in) {
    std::uint16_t *o = reinterpret_cast<std::uint16_t *>(out);
    const float *i = reinterpret_cast<const float *>(in);
    std::int64_t k = 0;
#if defined(__AVX512F__)
    for (; k + 16 <= n; k += 16)
        _mm256_storeu_si256(
            reinterpret_cast<__m256i *>(o + k),
            _mm512_maskz_cvtps_ph(every, _mm512_loadu_ps(i + k), _MM_FROUND_TO_NEAREST_INT));
#elif defined(__F16C__)
    for (; k + 8 <= n; k += 8)
        _mm_storeu_si128(reinterpret_cast<__m128i *>(o + k),
                         _mm256_cvtps_ph(_mm256_loadu_ps(i + k), _MM_FROUND_TO_NEAREST_INT));
#elif defined(__aarch64__)
    for (; k + 4 <= n; k += 4)
        vst1_u16(o + k, vreinterpret_u16_f16(vcvt_f16_f32(vld1q_f32(i + k))));
#endif
    for (; k < n; ++k) o[k] = atoll_float_to_half(i[k]);
}

} // namespace Atoll::kernels::vector_halves
