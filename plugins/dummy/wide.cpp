// Loads, stores and converts one element of any dtype: see wide.hpp.
#include "wide.hpp"

#include <algorithm>

namespace Dummy {

namespace {

// Converting twice must round like converting once. Rounding the first time "to odd" (towards zero,
// then setting the last bit) leaves a trace of what was cut off, so that the second rounding to a
// much narrower type sees on which side of its midpoint the value was.
float round_to_odd(long double value) {
    float rounded = static_cast<float>(value);
    if (rounded == value || value != value) return rounded;
    if (std::fabs(rounded) > std::fabs(value)) rounded = std::nextafter(rounded, 0.0F);
    std::uint32_t bits;
    std::memcpy(&bits, &rounded, sizeof bits);
    bits |= 1;
    std::memcpy(&rounded, &bits, sizeof bits);
    return rounded;
}

template <class V> V saturated(long double value) {
    using Limits = std::numeric_limits<V>;
    if (value != value) return 0;
    if (value <= static_cast<long double>(Limits::min())) return Limits::min();
    if (value >= static_cast<long double>(Limits::max())) return Limits::max();
    return static_cast<V>(value);
}

template <class V> V wrapped(long double integer) {
    return static_cast<V>(integer < 0
                              ? static_cast<std::uint64_t>(static_cast<std::int64_t>(integer))
                              : static_cast<std::uint64_t>(integer));
}

// `narrow`: the value is to be stored in half of float's size.
template <class V> V narrowed(const Wide &wide, bool narrow) {
    if constexpr (std::is_same_v<V, bool>)
        return wide.re != 0 || wide.im != 0;
    else if constexpr (std::is_integral_v<V>)
        return wide.integer ? wrapped<V>(wide.re) : saturated<V>(wide.re);
    else if constexpr (is_complex<V>)
        return {narrowed<typename V::value_type>({wide.re, 0, false}, narrow),
                narrowed<typename V::value_type>({wide.im, 0, false}, narrow)};
    else
        return narrow ? static_cast<V>(round_to_odd(wide.re)) : static_cast<V>(wide.re);
}

} // namespace

void copy_bytes(char *to, const char *from, std::uint32_t dtype, bool swapped) {
    const auto size = static_cast<std::size_t>(Atoll::sdk::dtype_size(dtype));
    char bytes[16];
    std::memcpy(bytes, from, size);
    if (swapped) {
        const auto part =
            static_cast<std::size_t>(Atoll::sdk::dtype_size(Atoll::sdk::dtype_facts[dtype].part));
        for (std::size_t begin = 0; begin < size; begin += part)
            std::reverse(bytes + begin, bytes + begin + part);
    }
    std::memcpy(to, bytes, size);
}

void move_element(char *to, const char *from, std::uint32_t dtype) {
    if (dtype == ATOLL_DTYPE_BOOL)
        Element<ATOLL_DTYPE_BOOL>::store(to, Element<ATOLL_DTYPE_BOOL>::load(from));
    else
        copy_bytes(to, from, dtype, false);
}

Wide load(const char *at, std::uint32_t dtype, bool swapped) {
    char native[16];
    copy_bytes(native, at, dtype, swapped);
    Wide wide;
    with_dtype<ATOLL_DOMAIN_ALL>(dtype,
                                 [&](auto element, auto) { wide = widen(element.load(native)); });
    return wide;
}

void store(char *at, const Wide &wide, std::uint32_t dtype, bool swapped) {
    char native[16];
    const bool narrow = Atoll::sdk::accumulator_of(dtype) != dtype;
    with_dtype<ATOLL_DOMAIN_ALL>(dtype, [&](auto element, auto) {
        element.store(native, narrowed<typename decltype(element)::Value>(wide, narrow));
    });
    copy_bytes(at, native, dtype, swapped);
}

} // namespace Dummy
