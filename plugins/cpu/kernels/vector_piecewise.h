// Odd functions of floats that rise to 1, by polynomials of intervals: a look-up takes one
// operation where the coefficients of sixteen intervals fill one register.
#pragma once

#include "vector_operations.h"

namespace Atoll::kernels::vector_math {

// See piecewise() in tools/make_math_constants.py.
struct TanhTable {
    using C = Constants<float>;
    static constexpr float last = 0x1.27fffep+3F;
    static constexpr auto &centers = C::tanh_centers, &values = C::tanh_values;
    static constexpr auto &coefficients = C::tanh_coefficients;
};
struct ErfTable {
    using C = Constants<float>;
    static constexpr float last = 0x1.fffffep+1F;
    static constexpr auto &centers = C::erf_centers, &values = C::erf_values;
    static constexpr auto &coefficients = C::erf_coefficients;
};

template <class Table> struct Piecewise {
    template <class V> static V of(V x) {
        using Whole = Vector<std::int32_t>;
        const V size = absolute(x), inside = at_most(Table::last, size);
        // From 5/8 on, numbers of the same three first digits share an interval; those below share
        // that of 1/2. The look-up takes the last four bits.
        constexpr std::int32_t least = std::bit_cast<std::int32_t>(0.5F) >> 21, most = least + 15;
        const Whole lowest = Whole{} + least, highest = Whole{} + most;
        Whole digits = (Whole)bits(inside) >> 21;
        digits = digits > lowest ? digits : lowest;
        if constexpr (std::bit_cast<std::int32_t>(Table::last) >> 21 > most)
            digits = digits > highest ? highest : digits;
        const Integers<V> index = (Integers<V>)digits;
        const V base = lookup_from(0.625F, size, Table::values, index);
        const V d = inside - lookup<V>(Table::centers, index);
        V powers[] = {d, d * d, (d * d) * (d * d)};
        const V p = coefficient<0, 8>(powers, index);
        return with_sign(multiply_add(d, p, base), x);
    }

private:
    // By halves, as polynomial().
    template <int first, int count, class V>
    static V coefficient(const V *powers, Integers<V> index) {
        if constexpr (count == 1) {
            return lookup<V>(Table::coefficients[first], index);
        } else {
            constexpr int half = count / 2;
            return multiply_add(coefficient<first + half, half>(powers, index),
                                powers[std::countr_zero(unsigned{half})],
                                coefficient<first, half>(powers, index));
        }
    }
};

} // namespace Atoll::kernels::vector_math
