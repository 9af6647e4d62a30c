// Loops of shifts by AVX2, which shifts each lane by a count of its own where these have 32 or 64
// bits; by counts past the width, to zero.
#pragma once

#include "functors/integer.h"
#include "test_loops.h"

namespace Atoll::kernels {

#if defined(__AVX2__) && !defined(__AVX512F__)

template <class F, class T>
inline constexpr bool has_vector_shift = std::is_integral_v<T> &&
                                         (std::is_same_v<F, functor::left_shift> ||
                                          std::is_same_v<F, functor::right_shift>);

template <bool left> __m256i shifted_words(__m256i a, __m256i count) {
    return left ? _mm256_sllv_epi32(a, count) : _mm256_srlv_epi32(a, count);
}

// Without regard to signs. The halves of a wider lane are shifted apart from each other.
template <bool left, int bytes> __m256i shifted_bits(__m256i a, __m256i count) {
    if constexpr (bytes == 8) {
        return left ? _mm256_sllv_epi64(a, count) : _mm256_srlv_epi64(a, count);
    } else if constexpr (bytes == 4) {
        return shifted_words<left>(a, count);
    } else if constexpr (bytes == 2) {
        const __m256i low = _mm256_set1_epi32(0xffff);
        return _mm256_blend_epi16(
            shifted_words<left>(left ? a : _mm256_and_si256(a, low), _mm256_and_si256(count, low)),
            shifted_words<left>(left ? _mm256_andnot_si256(low, a) : a,
                                _mm256_srli_epi32(count, 16)),
            0xaa);
    } else {
        // Products by 2^count, or by 2^(7 - count) and then shifted by 7.
        const auto factor_of = [](int n) {
            return static_cast<char>(n < 8 ? 1 << (left ? n : 7 - n) : 0);
        };
        const __m256i factors = [&]<int... n>(std::integer_sequence<int, n...>) {
            return _mm256_setr_epi8(factor_of(n % 16)...);
        }
        (std::make_integer_sequence<int, 32>());
        const __m256i factor =
            _mm256_shuffle_epi8(factors, _mm256_min_epu8(count, _mm256_set1_epi8(15)));
        const __m256i low = _mm256_set1_epi16(0xff), upper = _mm256_srli_epi16(factor, 8);
        if constexpr (left) {
            return _mm256_or_si256(_mm256_and_si256(_mm256_mullo_epi16(a, factor), low),
                                   _mm256_mullo_epi16(_mm256_andnot_si256(low, a), upper));
        } else {
            const __m256i even =
                _mm256_mullo_epi16(_mm256_and_si256(a, low), _mm256_and_si256(factor, low));
            const __m256i odd = _mm256_mullo_epi16(_mm256_srli_epi16(a, 8), upper);
            return _mm256_or_si256(_mm256_srli_epi16(even, 7),
                                   _mm256_andnot_si256(low, _mm256_slli_epi16(odd, 1)));
        }
    }
}

template <class F, class T> Vector<T> shifted(Vector<T> a, Vector<T> count) {
    constexpr bool left = std::is_same_v<F, functor::left_shift>;
    // Numbers below zero are turned over, so that zeros come in.
    const auto sign = left || std::is_unsigned_v<T> ? Vector<T>{} : (Vector<T>)(a < 0);
    return (Vector<T>)shifted_bits<left, sizeof(T)>((__m256i)(a ^ sign), (__m256i)count) ^ sign;
}

template <class F, class T>
void vector_shift_loop(std::int64_t n, char *const *data, const std::int64_t *strides) {
    constexpr std::int64_t size = sizeof(T), count = lanes<T>;
    if (n < count || strides[0] != size || !dense_or_same<T>(strides[1]) ||
        !dense_or_same<T>(strides[2]))
        return binary_loop<F, T>(n, data, strides);
    const Inputs<T> a(data[1], strides[1]), b(data[2], strides[2]);
    // In registers: for all the compiler knows, the stores change what is behind an address.
    const T *const first_a = a.from(0), *const first_b = b.from(0);
    const std::int64_t every_a = strides[1] ? -1 : 0, every_b = strides[2] ? -1 : 0;
    store_vectors(n, count, size, data[0], [=](std::int64_t k) {
        return shifted<F, T>(load_vector<Vector<T>>(first_a + (k & every_a)),
                             load_vector<Vector<T>>(first_b + (k & every_b)));
    });
}

#endif

} // namespace Atoll::kernels
