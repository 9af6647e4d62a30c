// Unsigned integers in the order of elements.
#pragma once

#include "functors/order.h"
#include "types.h"

#include <bit>

namespace Atoll::kernels {

__extension__ using Bits128 = unsigned __int128;
template <std::size_t Size> struct BitsOf;
template <> struct BitsOf<1> { using type = std::uint8_t; };
template <> struct BitsOf<2> { using type = std::uint16_t; };
template <> struct BitsOf<4> { using type = std::uint32_t; };
template <> struct BitsOf<8> { using type = std::uint64_t; };
template <> struct BitsOf<16> { using type = Bits128; };
template <class T> using KeyOf = typename BitsOf<sizeof(T)>::type;

// Ascending; NaN gets the highest key.
template <class T> KeyOf<T> ascending_key(T x) {
    using K = KeyOf<T>;
    constexpr K sign = static_cast<K>(K{1} << (8 * sizeof(K) - 1));
    if constexpr (is_bool<T>) {
        return truth(x);
    } else if constexpr (is_float<T>) {
        const K bits = std::bit_cast<K>(x + T(0)); // +0 for both zeros
        const K turn = static_cast<K>(K{0} - (bits >> (8 * sizeof(K) - 1))) | sign;
        return x != x ? static_cast<K>(~K{0}) : static_cast<K>(bits ^ turn);
    } else if constexpr (std::is_signed_v<T>) {
        return static_cast<K>(static_cast<K>(x) ^ sign);
    } else {
        return x;
    }
}
// The key of an element; smaller keys come first.
template <class T> KeyOf<T> key_of(T x, bool descending) {
    using K = KeyOf<T>;
    K key;
    if constexpr (is_complex<T>)
        key = static_cast<K>(ascending_key(x.re)) << (4 * sizeof(T)) | ascending_key(x.im);
    else
        key = ascending_key(x);
    if (is_unordered(x)) return static_cast<K>(~K{0});
    return descending ? static_cast<K>(~key) : key;
}

} // namespace Atoll::kernels
