// The cube root.
#pragma once

#include "vector_operations.h"

namespace Atoll::kernels::vector_math {

// An estimate of x^(-1/3) by the bits of x: about -1/3 of its logarithm. With e = 1 - x estimate^3
// a polynomial makes it good to 18 digits or 31, and a step of Newton's method, from what x has
// more than the cube, corrects the root.
struct CubeRoot {
    template <class V> static V of(V x) {
        using T = Element<V>;
        using C = ConstantsOf<V>;
        constexpr bool single = sizeof(T) == 4;
        const V size = absolute(x);
        // So far from the end of the range that what is left of it keeps its digits.
        const auto small = size < (single ? T(0x1p-72) : T(0x1p-600));
        // Without FMA the cube must stay away from the end of the range, too.
        const V inside =
            small ? size * (single ? T(0x1p72) : T(0x1p600)) : size * T(has_fma ? 1 : 0x1p-3);
        const V estimate = inverse_estimate(inside);
        const V e = multiply_subtract(inside * estimate, estimate * estimate, all<V>(T(1)));
        const V inverse = multiply_add(estimate * e, polynomial(e, C::inverse_cbrt), estimate);
        const V square = inverse * inverse, root = inside * square;
        const V root_square = root * root, lost = product_error(root, root, root_square);
        const V rest =
            multiply_subtract(root, lost, cancelling_subtract(root_square, root, inside));
        const V result = multiply_add(rest, square * T(1.0 / 3), root);
        const V scaled =
            small ? result * (single ? T(0x1p-24) : T(0x1p-200)) : result * T(has_fma ? 1 : 2);
        return size < infinity<V> ? with_sign(scaled, x) : x;
    }

private:
    template <class V> static V inverse_estimate(V x) {
        using T = Element<V>;
        // The upper bits become a number as the last digits of `unit`.
        constexpr int dropped = sizeof(T) == 4 ? 8 : 32;
        constexpr auto unit = static_cast<T>(Element<Integers<V>>(1) << fraction_bits<V>);
        // 0.068 makes the largest |e| smallest: 0.103.
        constexpr double octave = 1 << (fraction_bits<V> - dropped);
        constexpr auto base =
            static_cast<T>(unit * (4.0 / 3) + (bias<V> * (4.0 / 3) - 0.068) * octave);
        const V number =
            from_bits<V>(bits(x) >> dropped | std::bit_cast<Element<Integers<V>>>(unit));
        return from_bits<V>(bits(multiply_add(number, T(-1.0 / 3), base)) << dropped);
    }
};

} // namespace Atoll::kernels::vector_math
