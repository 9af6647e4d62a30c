// What the operations on whole vectors of float or double are written with.
#pragma once

#include "math_constants.h"
#include "product_vectors.h"

#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#if (defined(__AVX2__) && defined(__FMA__)) || defined(__aarch64__)
#define ATOLL_KERNELS_HAVE_FMA 1
#else
#define ATOLL_KERNELS_HAVE_FMA 0
#endif

namespace Atoll::kernels::vector_math {

inline constexpr bool has_fma = ATOLL_KERNELS_HAVE_FMA;

template <class V> using Element = std::remove_cvref_t<decltype(V{}[0])>;
template <class V> inline constexpr std::size_t count_of = sizeof(V) / sizeof(Element<V>);
template <class V> using Integers =
    Vector<std::conditional_t<sizeof(Element<V>) == 4, std::uint32_t, std::uint64_t>>;
template <class V> using SignedIntegers =
    Vector<std::conditional_t<sizeof(Element<V>) == 4, std::int32_t, std::int64_t>>;
template <class V> inline constexpr int fraction_bits = sizeof(Element<V>) == 4 ? 23 : 52;
template <class V> inline constexpr int bias = sizeof(Element<V>) == 4 ? 127 : 1023;
template <class V>
inline constexpr Element<V> infinity = std::numeric_limits<Element<V>>::infinity();
template <class V> using ConstantsOf = vector_math::Constants<Element<V>>;
// 1.5 * 2^fraction_bits: what is added to it is rounded to a whole number.
template <class V> inline constexpr Element<V>
    rounder = static_cast<Element<V>>(sizeof(Element<V>) == 4 ? 0x1.8p23 : 0x1.8p52);

#if defined(__AVX512F__)
// The unmasked forms of the intrinsics draw a false warning from GCC.
template <class V> inline constexpr auto
    every = static_cast<std::conditional_t<sizeof(Element<V>) == 4, __mmask16, __mmask8>>(-1);
#endif

// As many numbers as doubles fill a vector, converted: of floats GCC 12 would make two vectors of
// half the width, and join them.
template <class Few> inline Vector<double> as_doubles(Few x) {
#if defined(__AVX512F__)
    if constexpr (std::is_same_v<Few, VectorN<float, lanes<double>>>)
        return _mm512_maskz_cvtps_pd(every<Vector<double>>, (__m256)x);
#elif defined(__AVX2__)
    if constexpr (std::is_same_v<Few, VectorN<float, lanes<double>>>)
        return _mm256_cvtps_pd((__m128)x);
#endif
    return __builtin_convertvector(x, Vector<double>);
}
inline VectorN<float, lanes<double>> as_floats(Vector<double> x) {
#if defined(__AVX512F__)
    return _mm512_maskz_cvtpd_ps(every<Vector<double>>, x);
#elif defined(__AVX2__)
    return _mm256_cvtpd_ps(x);
#else
    return __builtin_convertvector(x, VectorN<float, lanes<double>>);
#endif
}

// head + tail, where the head is about the rounded sum.
template <class V> struct DoubleWord { V head, tail; };

template <class V> inline V all(Element<V> x) { return V{} + x; }
template <class V> inline Integers<V> bits(V x) { return (Integers<V>)x; }
template <class V> inline V from_bits(Integers<V> x) { return (V)x; }
template <class V>
inline constexpr auto one_bits = std::bit_cast<Element<Integers<V>>>(Element<V>(1));
template <class V>
inline constexpr auto sign_bit = std::bit_cast<Element<Integers<V>>>(-Element<V>(0));

} // namespace Atoll::kernels::vector_math
