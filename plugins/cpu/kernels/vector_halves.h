// float16 to float32 and back, as many at a time as the processor level offers.
#pragma once

#include "atoll/half.h"

#include <cstdint>
#include <cstring>

#if defined(__F16C__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace Atoll::kernels::vector_halves {

#if defined(__AVX512F__)
inline constexpr std::int64_t at_once = 16;
using Halves = __m256i;
using Floats = __m512;
inline constexpr __mmask16 every = 0xffff; // the unmasked forms draw a false warning from GCC
inline Floats widened(Halves x) { return _mm512_maskz_cvtph_ps(every, x); }
inline Halves rounded(Floats x) {
    return _mm512_maskz_cvtps_ph(every, x, _MM_FROUND_TO_NEAREST_INT);
}
#elif defined(__F16C__)
inline constexpr std::int64_t at_once = 8;
using Halves = __m128i;
using Floats = __m256;
inline Floats widened(Halves x) { return _mm256_cvtph_ps(x); }
inline Halves rounded(Floats x) { return _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT); }
#endif

#if defined(__F16C__)
template <class V> V load(const void *p) {
    V v;
    std::memcpy(&v, p, sizeof v);
    return v;
}
template <class V> void store(void *p, V v) { std::memcpy(p, &v, sizeof v); }
#endif

inline void widen(std::int64_t n, char *out, const char *in) {
    float *o = reinterpret_cast<float *>(out);
    const std::uint16_t *i = reinterpret_cast<const std::uint16_t *>(in);
    std::int64_t k = 0;
#if defined(__F16C__)
    for (; k + at_once <= n; k += at_once) store(o + k, widened(load<Halves>(i + k)));
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
#if defined(__F16C__)
    for (; k + at_once <= n; k += at_once) store(o + k, rounded(load<Floats>(i + k)));
#elif defined(__aarch64__)
    for (; k + 4 <= n; k += 4)
        vst1_u16(o + k, vreinterpret_u16_f16(vcvt_f16_f32(vld1q_f32(i + k))));
#endif
    for (; k < n; ++k) o[k] = atoll_float_to_half(i[k]);
}

} // namespace Atoll::kernels::vector_halves
