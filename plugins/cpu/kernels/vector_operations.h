// What the vector functions are made of: operations on whole vectors, alike for float and double
// and for every processor level. The results have the same bits at all levels with FMA; the others
// take several operations for one that is fused.
#pragma once

#include "vector_fused.h"

#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>

namespace Atoll::kernels::vector_math {

template <class V> inline V absolute(V x) { return from_bits<V>(bits(x) & ~sign_bit<V>); }

// What is the same for an element and for a vector: the type of an element, and |x|.
template <class X> struct NumberOf { using type = Element<X>; };
template <> struct NumberOf<float> { using type = float; };
template <> struct NumberOf<double> { using type = double; };
template <class X> using Number = typename NumberOf<X>::type;
template <class X> inline X magnitude(X x) {
    if constexpr (std::is_floating_point_v<X>)
        return std::fabs(x);
    else
        return absolute(x);
}
// `x`, which is not negative, with the sign of `y`.
template <class V> inline V with_sign(V x, V y) {
    return from_bits<V>(bits(x) | (bits(y) & sign_bit<V>));
}
// `x` with the other sign where that bit of `sign` is set.
template <class V> inline V flipped(V x, Integers<V> sign) {
    return from_bits<V>(bits(x) ^ (sign & sign_bit<V>));
}
// NaN stays NaN.
template <class V> inline V at_most(Element<V> limit, V x) {
#if defined(__AVX512F__)
    if constexpr (sizeof limit == 8) return _mm512_maskz_min_pd(every<V>, all<V>(limit), x);
    if constexpr (sizeof limit == 4) return _mm512_maskz_min_ps(every<V>, all<V>(limit), x);
#elif defined(__AVX2__)
    if constexpr (sizeof limit == 8) return _mm256_min_pd(all<V>(limit), x);
    if constexpr (sizeof limit == 4) return _mm256_min_ps(all<V>(limit), x);
#elif defined(__SSE2__)
    if constexpr (sizeof limit == 8) return _mm_min_pd(all<V>(limit), x);
    if constexpr (sizeof limit == 4) return _mm_min_ps(all<V>(limit), x);
#else
    return x > limit ? all<V>(limit) : x;
#endif
}
template <class V> inline V at_least(Element<V> limit, V x) {
#if defined(__AVX512F__)
    if constexpr (sizeof limit == 8) return _mm512_maskz_max_pd(every<V>, all<V>(limit), x);
    if constexpr (sizeof limit == 4) return _mm512_maskz_max_ps(every<V>, all<V>(limit), x);
#elif defined(__AVX2__)
    if constexpr (sizeof limit == 8) return _mm256_max_pd(all<V>(limit), x);
    if constexpr (sizeof limit == 4) return _mm256_max_ps(all<V>(limit), x);
#elif defined(__SSE2__)
    if constexpr (sizeof limit == 8) return _mm_max_pd(all<V>(limit), x);
    if constexpr (sizeof limit == 4) return _mm_max_ps(all<V>(limit), x);
#else
    return x < limit ? all<V>(limit) : x;
#endif
}
// The whole number that is nearest, or the next one towards zero.
template <bool to_zero, class V> inline V whole_number(V x) {
#if defined(__SSE4_1__)
    constexpr int mode = to_zero ? _MM_FROUND_TO_ZERO : _MM_FROUND_TO_NEAREST_INT;
#endif
#if defined(__AVX512F__)
    if constexpr (sizeof(Element<V>) == 8)
        return _mm512_maskz_roundscale_pd(every<V>, x, mode);
    else
        return _mm512_maskz_roundscale_ps(every<V>, x, mode);
#elif defined(__AVX2__)
    if constexpr (sizeof(Element<V>) == 8)
        return _mm256_round_pd(x, mode | _MM_FROUND_NO_EXC);
    else
        return _mm256_round_ps(x, mode | _MM_FROUND_NO_EXC);
#elif defined(__SSE4_1__)
    if constexpr (sizeof(Element<V>) == 8)
        return _mm_round_pd(x, mode | _MM_FROUND_NO_EXC);
    else
        return _mm_round_ps(x, mode | _MM_FROUND_NO_EXC);
#else
    V whole;
    for (std::size_t k = 0; k < count_of<V>; ++k)
        whole[k] = to_zero ? std::trunc(x[k]) : std::nearbyint(x[k]);
    return whole;
#endif
}
template <class V> inline V round_even(V x) { return whole_number<false>(x); }
template <class V> inline V truncated(V x) { return whole_number<true>(x); }
template <class V> inline V square_root(V x) {
#if defined(__AVX512F__)
    if constexpr (sizeof(Element<V>) == 8)
        return _mm512_maskz_sqrt_pd(every<V>, x);
    else
        return _mm512_maskz_sqrt_ps(every<V>, x);
#elif defined(__AVX2__)
    if constexpr (sizeof(Element<V>) == 8)
        return _mm256_sqrt_pd(x);
    else
        return _mm256_sqrt_ps(x);
#elif defined(__SSE2__)
    if constexpr (sizeof(Element<V>) == 8)
        return _mm_sqrt_pd(x);
    else
        return _mm_sqrt_ps(x);
#else
    V root;
    for (std::size_t k = 0; k < count_of<V>; ++k) root[k] = std::sqrt(x[k]);
    return root;
#endif
}
// a + b, exactly: of numbers of any size; of a first one that is not smaller.
template <class V> inline DoubleWord<V> sum_of(V a, V b) {
    const V sum = a + b, part = sum - a;
    return {sum, (a - (sum - part)) + (b - part)};
}
template <class V> inline DoubleWord<V> ordered_sum(V a, V b) {
    const V sum = a + b;
    return {sum, b - (sum - a)};
}

// Whether a comparison holds for some element.
template <class M> inline bool any(M mask) {
#if defined(__AVX512F__)
    if constexpr (sizeof(Element<M>) == 8)
        return _mm512_movepi64_mask((__m512i)mask) != 0;
    else
        return _mm512_movepi32_mask((__m512i)mask) != 0;
#elif defined(__AVX2__)
    return _mm256_movemask_epi8((__m256i)mask) != 0;
#elif defined(__SSE2__)
    return _mm_movemask_epi8((__m128i)mask) != 0;
#else
    bool found = false;
    for (std::size_t k = 0; k < count_of<M>; ++k) found |= mask[k] != 0;
    return found;
#endif
}

// Whether a comparison holds for all elements.
template <class M> inline bool all_of(M mask) {
#if defined(__AVX2__) && !defined(__AVX512F__)
    return _mm256_movemask_epi8((__m256i)mask) == -1;
#elif defined(__SSE2__) && !defined(__AVX512F__)
    return _mm_movemask_epi8((__m128i)mask) == 0xffff;
#else
    return !any(~mask);
#endif
}

// c[0] + c[1] x + ...; by halves, so that the operations need not wait for each other. The
// coefficients are numbers or, where those of elements differ, vectors. Rounding once does not
// matter here.
template <std::size_t First, std::size_t Count, class V, class C>
inline V polynomial_part(const V *powers, const C &c) {
    if constexpr (Count == 1) {
        if constexpr (std::is_same_v<std::remove_cvref_t<decltype(c[0])>, V>)
            return c[First];
        else
            return all<V>(c[First]);
    } else {
        constexpr std::size_t half = std::bit_floor(Count - 1);
        return multiply_add(polynomial_part<First + half, Count - half>(powers, c),
                            powers[std::countr_zero(half)],
                            polynomial_part<First, half>(powers, c));
    }
}
template <std::size_t First, class V, class T, std::size_t N>
inline V polynomial_from(V x, const T (&c)[N]) {
    V powers[std::bit_width(N - First - 1)];
    powers[0] = x;
    for (std::size_t k = 1; k < std::size(powers); ++k) powers[k] = powers[k - 1] * powers[k - 1];
    return polynomial_part<First, N - First>(powers, c);
}
template <class V, class T, std::size_t N> inline V polynomial(V x, const T (&c)[N]) {
    return polynomial_from<0>(x, c);
}
// The same, rounded once where c[0] is much larger than the rest.
template <class V, class T, std::size_t N> inline V precise_polynomial(V x, const T (&c)[N]) {
    const V rest = polynomial_from<1>(x, c);
    if constexpr (std::is_same_v<T, V>)
        return fma(x, rest, c[0]);
    else
        return fma(x, rest, all<V>(c[0]));
}

// Element index[k] & 15 of a table. The index has the table's element size.
template <class V> inline V lookup(const Element<V> (&table)[16], Integers<V> index) {
#if defined(__AVX512F__)
    if constexpr (sizeof(Element<V>) == 8)
        return _mm512_permutex2var_pd(_mm512_loadu_pd(table), (__m512i)index,
                                      _mm512_loadu_pd(table + 8));
    else
        return _mm512_maskz_permutexvar_ps(every<V>, (__m512i)index, _mm512_loadu_ps(table));
#elif defined(__AVX2__)
    if constexpr (sizeof(Element<V>) == 8) {
        return _mm256_i64gather_pd(table, (__m256i)(index & 15), 8);
    } else {
        const __m256i at = (__m256i)index;
        return _mm256_blendv_ps(_mm256_permutevar8x32_ps(_mm256_loadu_ps(table), at),
                                _mm256_permutevar8x32_ps(_mm256_loadu_ps(table + 8), at),
                                _mm256_castsi256_ps(_mm256_slli_epi32(at, 28)));
    }
#else
    V found;
    for (std::size_t k = 0; k < count_of<V>; ++k) found[k] = table[index[k] & 15];
    return found;
#endif
}

// The same where x is at least `least` or NaN, else x.
template <class V>
inline V lookup_from(float least, V x, const float (&table)[16], Integers<V> index) {
#if defined(__AVX512F__)
    return _mm512_mask_permutexvar_ps(x, _mm512_cmp_ps_mask(x, all<V>(least), _CMP_NLT_UQ),
                                      (__m512i)index, _mm512_loadu_ps(table));
#else
    return x < least ? x : lookup<V>(table, index);
#endif
}

#if defined(__AVX512F__)
// Element index[k] & 31.
template <class V> inline V lookup(const double (&table)[32], Integers<V> index) {
    const V low =
        _mm512_permutex2var_pd(_mm512_loadu_pd(table), (__m512i)index, _mm512_loadu_pd(table + 8));
    const V high = _mm512_permutex2var_pd(_mm512_loadu_pd(table + 16), (__m512i)index,
                                          _mm512_loadu_pd(table + 24));
    return _mm512_mask_mov_pd(low, _mm512_test_epi64_mask((__m512i)index, _mm512_set1_epi64(16)),
                              high);
}
#endif

// 2^n for a whole number n whose power is a normal number.
template <class V> inline V power_of_two(V n) {
#if defined(__AVX512F__)
    if constexpr (sizeof(Element<V>) == 8) return _mm512_maskz_scalef_pd(every<V>, all<V>(1), n);
    if constexpr (sizeof(Element<V>) == 4) return _mm512_maskz_scalef_ps(every<V>, all<V>(1), n);
#endif
    return from_bits<V>((bits(n + rounder<V>) << fraction_bits<V>)+one_bits<V>);
}
// x 2^n for a whole number n, rounded once; n may be twice what power_of_two takes.
template <class V> inline V scaled(V x, V n) {
#if defined(__AVX512F__)
    if constexpr (sizeof(Element<V>) == 8) return _mm512_maskz_scalef_pd(every<V>, x, n);
    if constexpr (sizeof(Element<V>) == 4) return _mm512_maskz_scalef_ps(every<V>, x, n);
#else
    const V half = (n * Element<V>(0.5) + rounder<V>)-rounder<V>;
    return x * power_of_two(half) * power_of_two(n - half);
#endif
}

// Where `x` is tiny, a function that is about x near zero is x, of either sign.
template <class V> inline V or_tiny(V x, Element<V> limit, V result) {
    return absolute(x) < limit ? x : result;
}

} // namespace Atoll::kernels::vector_math
