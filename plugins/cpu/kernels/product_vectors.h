// Vectors of the product kernels: as wide as the processor level has them.
#pragma once

#include "types.h"

#include <utility>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace Atoll::kernels {

template <class T, int N> struct VectorOf {
    typedef T type __attribute__((vector_size(N * sizeof(T))));
};
// N elements in a register.
template <class T, int N> using VectorN = typename VectorOf<T, N>::type;
template <class T> inline constexpr int lanes = vector_bytes / static_cast<int>(sizeof(T));
template <class T> using Vector = VectorN<T, lanes<T>>;

// At any address.
template <class V> inline V load_vector(const void *p) {
    V v;
    std::memcpy(&v, p, sizeof v);
    return v;
}
template <class V> inline void store_vector(void *p, const V &v) { std::memcpy(p, &v, sizeof v); }

// c + a b and c - a b. The library is compiled without contraction, so fused operations are asked
// for by name.
template <class V> inline V multiply_add(V a, V b, V c) {
    using T [[maybe_unused]] = std::remove_cvref_t<decltype(a[0])>;
#if defined(__AVX512F__)
    if constexpr (std::is_same_v<T, double>) return _mm512_fmadd_pd(a, b, c);
    if constexpr (std::is_same_v<T, float>) return _mm512_fmadd_ps(a, b, c);
#elif defined(__FMA__)
    if constexpr (std::is_same_v<T, double>) return _mm256_fmadd_pd(a, b, c);
    if constexpr (std::is_same_v<T, float>) return _mm256_fmadd_ps(a, b, c);
#elif defined(__aarch64__)
    if constexpr (std::is_same_v<T, double>)
        return (V)vfmaq_f64((float64x2_t)c, (float64x2_t)a, (float64x2_t)b);
    if constexpr (std::is_same_v<T, float>)
        return (V)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b);
#endif
    return c + a * b;
}
template <class V> inline V multiply_subtract(V a, V b, V c) {
    using T [[maybe_unused]] = std::remove_cvref_t<decltype(a[0])>;
#if defined(__AVX512F__)
    if constexpr (std::is_same_v<T, double>) return _mm512_fnmadd_pd(a, b, c);
    if constexpr (std::is_same_v<T, float>) return _mm512_fnmadd_ps(a, b, c);
#elif defined(__FMA__)
    if constexpr (std::is_same_v<T, double>) return _mm256_fnmadd_pd(a, b, c);
    if constexpr (std::is_same_v<T, float>) return _mm256_fnmadd_ps(a, b, c);
#elif defined(__aarch64__)
    if constexpr (std::is_same_v<T, double>)
        return (V)vfmsq_f64((float64x2_t)c, (float64x2_t)a, (float64x2_t)b);
    if constexpr (std::is_same_v<T, float>)
        return (V)vfmsq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b);
#endif
    return c - a * b;
}

// Whether one instruction multiplies integers that share lanes and adds the products to a sum: the
// level does not say.
inline bool has_vnni() {
#if defined(__AVX512BW__)
    return __builtin_cpu_supports("avx512vnni");
#else
    return false;
#endif
}
#if defined(__AVX512BW__)
// c + a b, where a has four bytes without signs in each lane, and b four with signs, whose products
// are added up, modulo 2^32. Needs has_vnni().
template <class V> inline V multiply_add_bytes(V a, V b, V c) {
    asm("vpdpbusd %2, %1, %0" : "+v"(c) : "v"(a), "v"(b));
    return c;
}
// The same of two bfloat16 in each lane, in float32. Needs has_avx512_bf16().
template <class V> inline V multiply_add_bfloat16s(V a, V b, V c) {
    asm("vdpbf16ps %2, %1, %0" : "+v"(c) : "v"(a), "v"(b));
    return c;
}
#endif
// c + a b, where a and b have two int16 in each lane, whose products are added up, modulo 2^32.
template <bool vnni, class V> inline V multiply_add_pairs(V a, V b, V c) {
#if defined(__AVX512BW__)
    if constexpr (vnni) {
        asm("vpdpwssd %2, %1, %0" : "+v"(c) : "v"(a), "v"(b));
        return c;
    }
    return c + (V)_mm512_madd_epi16((__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
    return c + (V)_mm256_madd_epi16((__m256i)a, (__m256i)b);
#elif defined(__SSE2__)
    return c + (V)_mm_madd_epi16((__m128i)a, (__m128i)b);
#else
    using Signed = VectorN<std::int32_t, lanes<std::int32_t>>;
    const auto low = [](V x) { return (V)((Signed)(x << 16) >> 16); };
    const auto high = [](V x) { return (V)((Signed)x >> 16); };
    return c + low(a) * low(b) + high(a) * high(b);
#endif
}

// A vector of complex numbers: the real or the imaginary parts, each twice; and both exchanged.
template <int first, int second, class V> inline V parts_of(V z) {
    return [&]<int... i>(std::integer_sequence<int, i...>) {
        return __builtin_shufflevector(z, z, (i % 2 ? i - 1 + second : i + first)...);
    }
    (std::make_integer_sequence<int, static_cast<int>(sizeof z / sizeof z[0])>());
}

// Elements [first, first + N) of a vector.
template <int N, class V> inline auto part_of(V v, auto first) {
    using T = std::remove_cvref_t<decltype(v[0])>;
    if constexpr (sizeof(V) == N * sizeof(T))
        return v;
    else
        return [&]<int... i>(std::integer_sequence<int, i...>)->VectorN<T, N> {
            return __builtin_shufflevector(v, v, (first() + i)...);
        }
    (std::make_integer_sequence<int, N>());
}

// The elements of one vector and then those of another.
template <class V> inline auto joined(V low, V high) {
    using T = std::remove_cvref_t<decltype(low[0])>;
    constexpr int count = 2 * static_cast<int>(sizeof(V) / sizeof(T));
#if defined(__AVX2__)
    // Of a shuffle GCC 12 makes one of registers, also where `high` is in memory.
    if constexpr (sizeof(V) == 16)
        return (VectorN<T, count>)_mm256_set_m128i((__m128i)high, (__m128i)low);
#endif
    return [&]<int... i>(std::integer_sequence<int, i...>)->VectorN<T, count> {
        return __builtin_shufflevector(low, high, i...);
    }
    (std::make_integer_sequence<int, count>());
}

// The sum of all elements, in halves.
template <class V> inline auto sum_of(V v) {
    using T = std::remove_cvref_t<decltype(v[0])>;
    constexpr int half = static_cast<int>(sizeof(V) / sizeof(T)) / 2;
    if constexpr (half == 0) {
        return T{v[0]};
    } else {
        constexpr std::integral_constant<int, 0> low;
        constexpr std::integral_constant<int, half> high;
        return sum_of(part_of<half>(v, low) + part_of<half>(v, high));
    }
}

// Whether a mask, or one of some, is set in any lane.
template <class M> bool any_lane(const M &masks) {
    std::uint64_t words[sizeof masks / 8], any = 0;
    std::memcpy(words, &masks, sizeof masks);
    for (const std::uint64_t word : words) any |= word;
    return any != 0;
}

// Stores past the caches: the vector is aligned to its size.
template <class V> inline void stream_vector(void *p, const V &v) {
#if defined(__AVX512F__)
    if constexpr (sizeof v == 64) return _mm512_stream_si512(static_cast<__m512i *>(p), (__m512i)v);
#endif
#if defined(__AVX2__)
    if constexpr (sizeof v == 32) return _mm256_stream_si256(static_cast<__m256i *>(p), (__m256i)v);
#endif
#if defined(__SSE2__)
    if constexpr (sizeof v == 16) return _mm_stream_si128(static_cast<__m128i *>(p), (__m128i)v);
#endif
    store_vector(p, v);
}

} // namespace Atoll::kernels
