// One element of any dtype without loss, for functions that need not know the dtype.
#pragma once

#include "elements.hpp"

namespace Dummy {

// Every element of every dtype, exactly. `integer`: narrower integers wrap instead of saturating.
struct Wide {
    long double re = 0, im = 0;
    bool integer = false;
};
static_assert(std::numeric_limits<long double>::digits >= 64);

template <class V> Wide widen(V value) {
    if constexpr (is_complex<V>)
        return {value.real(), value.imag(), false};
    else
        return {static_cast<long double>(value), 0, std::is_integral_v<V>};
}

// `swapped`: the element in memory is in the other byte order.
Wide load(const char *at, std::uint32_t dtype, bool swapped = false);
// Converts as the semantics say, rounding once.
void store(char *at, const Wide &wide, std::uint32_t dtype, bool swapped = false);
// Copies one element; reverses the bytes of each of its parts where `swapped`. `to` may be `from`.
void copy_bytes(char *to, const char *from, std::uint32_t dtype, bool swapped);
// Copies one element in whatever byte order it has; of bool, 0 or 1.
void move_element(char *to, const char *from, std::uint32_t dtype);

} // namespace Dummy
