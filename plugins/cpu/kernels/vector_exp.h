// Exponentials and hyperbolic functions.
//
// Note [Exponentials]
// exp takes e^x as 2^(i / 16) e^r with i whole and |r| <= ln(2) / 32, so that what rounding takes
// from r does not count. The others take it as 2^n e^r with n whole and |r| <= ln(2) / 2. There r
// is a sum: the part `r` and what its rounding lost, which goes into `tail` together with the terms
// of e^r from r^2 / 2 on. What follows adds 1, r and the tail without losing more than the last
// rounding.
#pragma once

#include "vector_rows.h"

namespace Atoll::kernels::vector_math {

template <class V> struct Exponent {
    V shifted, r, lost; // e^x = 2^n e^(r + lost), where `shifted` is n + rounder
    V n() const { return shifted - rounder<V>; }
};
struct BaseE {
    // Of numbers whose size is less the result is normal.
    template <class T> static constexpr T ordinary = sizeof(T) == 4 ? T(87) : T(708);
    template <class T> static constexpr T lowest = sizeof(T) == 4 ? T(-105) : T(-746);
    template <class T> static constexpr T highest = sizeof(T) == 4 ? T(89.5) : T(710.5);
    template <class V> static Exponent<V> reduce(V x) {
        using C = ConstantsOf<V>;
        const V shifted = multiply_add(x, C::log2_e.head, rounder<V>), n = shifted - rounder<V>;
        const V near = multiply_subtract(n, C::ln_2_short.head, x);
        const V r = multiply_subtract(n, C::ln_2_short.tail, near);
        return {shifted, r, multiply_subtract(n, C::ln_2_short.tail, near - r)};
    }
};
struct BaseTwo {
    template <class T> static constexpr T ordinary = sizeof(T) == 4 ? T(125) : T(1021);
    template <class T> static constexpr T lowest = sizeof(T) == 4 ? T(-160) : T(-1080);
    template <class T> static constexpr T highest = sizeof(T) == 4 ? T(130) : T(1030);
};
struct BaseTen {
    template <class T> static constexpr Split<T> octaves = Constants<T>::log2_10;
    template <class T> static constexpr T ordinary = sizeof(T) == 4 ? T(37) : T(307);
    template <class T> static constexpr T lowest = sizeof(T) == 4 ? T(-46) : T(-325);
    template <class T> static constexpr T highest = sizeof(T) == 4 ? T(39) : T(309);
};

// e^(r + lost) - 1 - r.
template <class V, std::size_t N>
inline V exponential_tail(V r, V lost, const Element<V> (&cubic)[N]) {
    const V square = r * r;
    return multiply_add(square, Element<V>(0.5),
                        multiply_add(square * r, polynomial(r, cubic), lost));
}

// 2^(x + lost + more / 16) as a power of two times a number from 1 to 2, by 2^(i / 16). Of doubles
// `lost` may be larger than 1/16.
template <class V> struct Octaves {
    V shifted, near; // the power's logarithm is the next whole number below `near`
    V power, rest;   // the number is power (1 + rest)

    template <bool normal> V scaled_by_octaves(V x) const {
#if defined(__AVX512F__)
        return scaled(x, near);
#else
        if constexpr (normal)
            return from_bits<V>(bits(x) + (bits(shifted) >> 4 << fraction_bits<V>));
        else
            return scaled(x, whole());
#endif
    }
    V whole() const { return round_even(near - Element<V>(15.0 / 32)); }
};
template <int more = 0, class V, class... Lost> inline Octaves<V> octaves_of(V x, Lost... lost) {
    using T = Element<V>;
    using C = ConstantsOf<V>;
    constexpr T to_sixteenths = rounder<V> / 16, offset = static_cast<T>(more / 16.0);
    const V whole = sizeof(T) == 8 ? (x + ... + lost) : x;
    const V shifted = whole + (to_sixteenths + offset), near = shifted - to_sixteenths;
    const V f = ((x - (more ? near - offset : near)) + ... + lost);
    const auto [power, power_lost] =
        Columns<V, C::sixteenths, C::sixteenths_lost>::at(bits(shifted));
    return {shifted, near, power, multiply_add(f, polynomial(f, C::sixteenth), power_lost)};
}
// 2^(x + lost), which is normal, or if not `normal`, x may be up to twice as large.
template <bool normal, class V, class... Lost> inline V exp2_of_sum(V x, Lost... lost) {
    const Octaves<V> octaves = octaves_of(x, lost...);
    return octaves.template scaled_by_octaves<normal>(
        multiply_add(octaves.power, octaves.rest, octaves.power));
}

// base^x by 2^(i / 16).
template <class Base> struct ByOctaves {
#if !defined(__AVX512F__)
    // Where the result is normal it takes fewer operations.
    template <class V> static auto ordinary(V x) {
        return absolute(x) < Base::template ordinary<Element<V>>;
    }
    template <class V> static V of_ordinary(V x) { return power<true>(x); }
#endif
    template <class V> static V of(V x) {
        using T = Element<V>;
        return power<false>(
            at_most(Base::template highest<T>, at_least(Base::template lowest<T>, x)));
    }

private:
    template <bool ordinary, class V> static V power(V x) {
        using C = ConstantsOf<V>;
        if constexpr (std::is_same_v<Base, BaseTwo>) {
            return exp2_of_sum<ordinary>(x);
        } else if constexpr (std::is_same_v<Base, BaseE>) {
            // What is left is e^r with a small r, whose rounding does not count.
            constexpr auto to_sixteenths = rounder<V> / 16;
            const V shifted = multiply_add(x, C::log2_e.head, all<V>(to_sixteenths)),
                    near = shifted - to_sixteenths;
            const V r = multiply_subtract(near, C::ln_2_shorter.tail,
                                          multiply_subtract(near, C::ln_2_shorter.head, x));
            const auto [head, lost] =
                Columns<V, C::sixteenths, C::sixteenths_lost>::at(bits(shifted));
            const V rest = multiply_add(r, polynomial(r, C::exp_sixteenth), lost);
            return Octaves<V>{shifted, near, head, rest}.template scaled_by_octaves<ordinary>(
                multiply_add(head, rest, head));
        } else {
            // x log2(base) is a sum.
            constexpr auto factor = Base::template octaves<Element<V>>;
            const V octaves = x * factor.head;
            const V lost = multiply_add(x, factor.tail, product_error(x, factor.head, octaves));
            return exp2_of_sum<ordinary>(octaves, lost);
        }
    }
};

// e^x - 1 = 2^n r + (2^n - 1) + 2^n tail, all of it halved, as 2^n may overflow.
struct Expm1 {
    template <class V> static V of(V x) {
        using T = Element<V>;
        constexpr bool single = sizeof(T) == 4;
        const V inside =
            at_most(single ? T(88.9) : T(709.9), at_least(single ? T(-18) : T(-38), x));
        const Exponent<V> parts = BaseE::reduce(inside);
        // From half an octave on 2^n r would cancel a good part of 2^n - 1.
        const auto near = absolute(x) < T(0.45);
        const V n = near ? V{} : parts.n(), r = near ? inside : parts.r;
        const V lost = near ? V{} : parts.lost;
        const V tail = exponential_tail(r, lost, ConstantsOf<V>::expm1_tail);
        const V half = power_of_two(n - T(1)), less = half - T(0.5);
        const V sum = multiply_add(half, r, less);
        const V less_lost = (half - less) - T(0.5); // of large n; of small ones it does not count
        const V rest = multiply_add(half, tail, multiply_add(half, r, less - sum)) + less_lost;
        return or_tiny(x, single ? T(0x1p-25) : T(0x1p-54), (sum + rest) * T(2));
    }
};

// With P = 2^n / 2 and M = 2^-n / 2:
// sinh x = (P - M) cosh r + (P + M) sinh r and cosh x = (P + M) cosh r + (P - M) sinh r.
template <bool odd> struct SinhCosh {
    template <class V> static V of(V x) {
        using T = Element<V>;
        constexpr bool single = sizeof(T) == 4;
        const V size = at_most(single ? T(89.5) : T(710.6), absolute(x));
        const Exponent<V> parts = BaseE::reduce(size);
        const V n = parts.n(), r = parts.r;
        const V square = r * r;
        const V even_tail = square * polynomial(square, ConstantsOf<V>::cosh_tail);
        const V odd_tail =
            multiply_add(square * r, polynomial(square, ConstantsOf<V>::sinh_tail), parts.lost);
        // Half of P and M: P may overflow.
        const V plus = power_of_two(n - T(2));
        const V minus = power_of_two(T(-2) - at_most(T(60), n));
        const V sum = plus + minus, difference = plus - minus;
        const V a = odd ? difference : sum, b = odd ? sum : difference; // a cosh r + b sinh r
        const auto [main, main_lost] = multiply_add_words(b, r, a);
        V rest = main_lost;
        // What the sum lost; of the other one and of floats' difference it is too little to count.
        if constexpr (!odd || !single) rest += odd ? (plus - a) - minus : (plus - a) + minus;
        rest = multiply_add(a, even_tail, multiply_add(b, odd_tail, rest));
        const V result = (main + rest) * T(2);
        if constexpr (!odd) return result;
        return or_tiny(x, single ? T(0x1p-13) : T(0x1p-28), with_sign(result, x));
    }
};

// (1 - e^-2x) / (1 + e^-2x); the quotient is corrected by what its parts lost.
struct Tanh {
    template <class V> static V of(V x) {
        using T = Element<V>;
        constexpr bool single = sizeof(T) == 4;
        const V size = at_most(single ? T(9.5) : T(20), absolute(x));
        const Exponent<V> parts = BaseE::reduce(size * T(-2));
        const V r = parts.r, tail = exponential_tail(r, parts.lost, ConstantsOf<V>::exp_tail);
        const V sum = r + T(1), sum_lost = ((T(1) - sum) + r) + tail;
        const V e = sum + sum_lost, e_lost = (sum - e) + sum_lost; // e^r
        const V power = power_of_two(parts.n());
        const V above = multiply_subtract(power, e, all<V>(1)),
                below = multiply_add(power, e, T(1));
        const V above_lost =
            multiply_subtract(power, e_lost, multiply_subtract(power, e, T(1) - above));
        const V below_lost = multiply_add(power, e_lost, multiply_add(power, e, T(1) - below));
        const V inverse = T(1) / below, quotient = above * inverse;
        const V rest = cancelling_subtract(quotient, below, above) +
                       multiply_subtract(quotient, below_lost, above_lost);
        return or_tiny(x, single ? T(0x1p-13) : T(0x1p-28),
                       with_sign(multiply_add(rest, inverse, quotient), x));
    }
};

} // namespace Atoll::kernels::vector_math
