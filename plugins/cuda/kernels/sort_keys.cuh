// Unsigned integers in the order of elements (see functors/order.h).
#pragma once

#include "elements.cuh"
#include "functors/order.h"
#include "radix_sort.hpp"

namespace Atoll::cuda {

// The unsigned integer of so many bytes.
template <std::size_t Size> struct BitsOf;
template <> struct BitsOf<1> { using type = std::uint8_t; };
template <> struct BitsOf<2> { using type = std::uint16_t; };
template <> struct BitsOf<4> { using type = std::uint32_t; };
template <> struct BitsOf<8> { using type = std::uint64_t; };

template <class S> inline constexpr bool has_key = sizeof(S) <= 8;
template <class S> using KeyOf = typename BitsOf<sizeof(S)>::type;
template <class K> inline constexpr K highest_bit = static_cast<K>(K{1} << (8 * sizeof(K) - 1));

// Of reals: each pattern of bits has a key of its own, that of -0 just below that of 0. NaN has
// those at both ends.
template <class S> __host__ __device__ KeyOf<S> key_of_bits(S x) {
    using K = KeyOf<S>;
    constexpr K sign = highest_bit<K>;
    const K bits = bits_as<K>(x);
    if constexpr (kernels::is_float<Value<S>>)
        return bits & sign ? static_cast<K>(~bits) : static_cast<K>(bits | sign);
    else if constexpr (std::is_integral_v<S> && std::is_signed_v<S>)
        return static_cast<K>(bits ^ sign);
    else
        return bits;
}
template <class S> __host__ __device__ S of_key(KeyOf<S> key) {
    using K = KeyOf<S>;
    constexpr K sign = highest_bit<K>;
    if constexpr (kernels::is_float<Value<S>>)
        return bits_as<S>(key & sign ? static_cast<K>(key ^ sign) : static_cast<K>(~key));
    else if constexpr (std::is_integral_v<S> && std::is_signed_v<S>)
        return bits_as<S>(static_cast<K>(key ^ sign));
    else
        return bits_as<S>(key);
}

// Equal elements have equal keys: both zeros that of 0, all NaN the highest one. Smaller ones come
// first, also of descending elements.
template <class S> __host__ __device__ KeyOf<S> sort_key(S x, bool descending) {
    using K = KeyOf<S>;
    const auto value = value_of(x);
    if (kernels::is_unordered(value)) return static_cast<K>(~K{0});
    K key;
    if constexpr (kernels::is_complex<S>)
        key = static_cast<K>(sort_key(x.re, false)) << (4 * sizeof(K)) | sort_key(x.im, false);
    else if constexpr (kernels::is_float<Value<S>>)
        key = value == 0 ? highest_bit<K> : key_of_bits(x);
    else
        key = key_of_bits(x);
    return descending ? static_cast<K>(~key) : key;
}

} // namespace Atoll::cuda
