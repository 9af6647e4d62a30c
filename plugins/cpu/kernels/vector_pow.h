// Powers of floats.
//
// Note [Powers]
// x^y = 2^(y log2 x): for a result near the end of the range the logarithm must be good to 33
// digits, so it is a sum of two floats, and so is the product. Arguments that are not positive and
// normal, and results that may not be, go through double.
#pragma once

#include "vector_exp.h"
#include "vector_log.h"

namespace Atoll::kernels::vector_math {

// f of floats as doubles, by halves of the vectors.
template <class F, class... V> inline auto in_double(F f, V... x) {
    using Floats = std::common_type_t<V...>;
    constexpr int half = static_cast<int>(count_of<Floats>) / 2;
    constexpr std::integral_constant<int, 0> low;
    constexpr std::integral_constant<int, half> high;
    const auto part = [&](auto first) {
        return as_floats(f(as_doubles(part_of<half>(x, first))...));
    };
    return joined(part(low), part(high));
}

// Of floats as doubles, which are not negative: good to 30 digits.
template <class V> inline V log2_of_floats(V x) {
    using C = ConstantsOf<V>;
    const Decomposed<V> parts = decompose(x);
    const Integers<V> interval = parts.interval();
    const V r = short_cancelling_add(parts.m, lookup<V>(C::inverses, interval), -1.0);
    V log2 = multiply_add(r, polynomial(r, C::log2_short),
                          parts.k + lookup<V>(C::log2_wholes, interval));
    log2 = x == 0.0 ? all<V>(-infinity<V>) : log2;
    return x < infinity<V> ? log2 : x;
}

// x^y for all x, where `result` is |x|^y unless that is 1.
template <class V> inline V power_with_special(V x, V y, V result) {
    const auto whole = round_even(y) == y, odd = round_even(y * 0.5) != y * 0.5;
    const auto negative = (x < 0.0) & (x > -infinity<V>);
    result = (negative & ~whole) ? all<V>(std::numeric_limits<double>::quiet_NaN()) : result;
    result = flipped(result, bits(x) & (Integers<V>)(whole & odd));
    const auto one = (y == 0.0) | (x == 1.0) | ((x == -1.0) & (absolute(y) == infinity<V>));
    return one ? all<V>(1.0) : result;
}

// In double, of all arguments.
struct WidePow {
    template <class V> static V of(V x, V y) {
        return in_double([](auto a, auto b) { return of_doubles(a, b); }, x, y);
    }

private:
    template <class V> static V of_doubles(V x, V y) {
        using C = ConstantsOf<V>;
        const V log2 = log2_of_floats(absolute(x));
        const V inside = at_most(200.0, at_least(-200.0, y * log2));
        const V shifted = inside + rounder<V>;
        V result = polynomial(inside - (shifted - rounder<V>), C::exp2_short);
        result = from_bits<V>(bits(result) + (bits(shifted) << fraction_bits<V>));
        return power_with_special(x, y, result);
    }
};

// For each element of a vector whether it is chosen.
#if defined(__AVX512F__)
template <class V> using Chosen = std::conditional_t<sizeof(Element<V>) == 4, __mmask16, __mmask8>;
inline bool any(__mmask16 chosen) { return chosen != 0; }
inline bool any(__mmask8 chosen) { return chosen != 0; }
template <class V> inline V choose(Chosen<V> chosen, V yes, V no) {
    if constexpr (sizeof(Element<V>) == 4)
        return _mm512_mask_mov_ps(no, chosen, yes);
    else
        return _mm512_mask_mov_pd(no, chosen, yes);
}
#else
template <class V> using Chosen = Integers<V>;
template <class V> inline V choose(Integers<V> chosen, V yes, V no) { return chosen ? yes : no; }
#endif

// x^y, and whether it is not covered: x not positive and normal, a result that may not be, squares.
template <class V> struct OrdinaryPower {
    V value;
    Chosen<V> outside;
};
// `exponent` is y log2(x), `limit` where results are not normal.
template <class V> inline Chosen<V> outside_power(V x, V y, V exponent, Element<V> limit) {
    using T = Element<V>;
    const V size = absolute(exponent);
#if defined(__AVX512F__)
    constexpr int not_positive_and_normal = 0xFF; // all classes that the instruction knows
    if constexpr (sizeof(T) == 4)
        return static_cast<Chosen<V>>(_mm512_fpclass_ps_mask(x, not_positive_and_normal) |
                                      _mm512_cmp_ps_mask(size, all<V>(limit), _CMP_NLT_UQ) |
                                      _mm512_cmp_ps_mask(y, all<V>(2), _CMP_EQ_OQ));
    else
        return static_cast<Chosen<V>>(_mm512_fpclass_pd_mask(x, not_positive_and_normal) |
                                      _mm512_cmp_pd_mask(size, all<V>(limit), _CMP_NLT_UQ) |
                                      _mm512_cmp_pd_mask(y, all<V>(2), _CMP_EQ_OQ));
#else
    return (Integers<V>)(~((x >= std::numeric_limits<T>::min()) & (x < infinity<V>)&(size < limit) &
                           (y != T(2))));
#endif
}

inline constexpr std::int64_t power_block = 128; // elements, at most
// `Ordinary` gives an OrdinaryPower; `Whole` covers all.
template <class Ordinary, class Whole> struct PowOfBlocks {
    // out[k] = x[k]^y[k] of whole vectors; squares are as multiply gives them.
    template <int Lanes, class T>
    static void run(std::int64_t count, const T *x, const T *y, T *out) {
        using V = VectorN<T, Lanes>;
        Chosen<V> outside[power_block / Lanes], all_outside{};
        for (std::int64_t k = 0; k < count; k += Lanes) {
            const auto power = Ordinary::of(load_vector<V>(x + k), load_vector<V>(y + k));
            store_vector(out + k, power.value);
            outside[k / Lanes] = power.outside;
            all_outside |= power.outside;
        }
        if (!any(all_outside)) [[likely]]
            return;
        // Apart, so that the loop above has the registers for its constants.
        for (std::int64_t k = 0; k < count; k += Lanes) {
            if (!any(outside[k / Lanes])) continue;
            const V base = load_vector<V>(x + k), exponent = load_vector<V>(y + k);
            const V other = exponent == T(2) ? base * base : Whole::of(base, exponent);
            store_vector(out + k, choose<V>(outside[k / Lanes], other, load_vector<V>(out + k)));
        }
    }
};

// Without FMA the largest exponents are too large for exact products. Smaller ones do: powers of
// all numbers but 1 leave the range long before.
template <class V> inline V limited_exponent(V y) {
    constexpr Element<V> most = static_cast<Element<V>>(0x1p100);
    return has_fma ? y : at_most(most, at_least(-most, y));
}

// `large` + log2(1 + r) as a sum, with `rest` of its series from the third term on; `large_lost` is
// what `large` lacks. The first two terms are exact but for what does not count.
template <class V, class Rest>
inline DoubleWord<V> log2_words_of(V large, V large_lost, V r, const Rest &rest) {
    using T = Element<V>;
    using C = ConstantsOf<V>;
    const V first = r * C::log2_e.head;
    const V first_lost = multiply_add(r, C::log2_e.tail, product_error(r, C::log2_e.head, first));
    const V half = r * T(-0.5), second = first * half,
            second_lost = product_error(first, half, second);
    V lost = multiply_add(second, r * polynomial(r, rest),
                          multiply_add(first_lost, half, first_lost) + second_lost);
    const V small = first + second;
    lost += (first - small) + second;
    const V head = large + small;
    return {head, lost + (((large - head) + small) + large_lost)};
}
// Where |y log2(x)| is below `limit`; log2(x) is a sum.
template <class V>
inline OrdinaryPower<V> ordinary_power(V x, V y, DoubleWord<V> log2, Element<V> limit) {
    const V times = limited_exponent(y), product = times * log2.head;
    const V lost = multiply_add(times, log2.tail, product_error(times, log2.head, product));
    return {exp2_of_sum<true>(product, lost), outside_power(x, y, product, limit)};
}

struct OrdinaryPowOfFloats {
    template <class V> static OrdinaryPower<V> of(V x, V y) {
        using C = ConstantsOf<V>;
        const Decomposed<V> parts = decompose(x);
        const Integers<V> interval = parts.interval();
        const V r = short_cancelling_add(parts.m, lookup<V>(C::inverses, interval), -1.0F);
        const V large = parts.k + lookup<V>(C::log2_heads, interval);
        return ordinary_power(
            x, y, log2_words_of(large, lookup<V>(C::log2_tails, interval), r, C::ln_rest), 125.0F);
    }
};

using PowOfFloats = PowOfBlocks<OrdinaryPowOfFloats, WidePow>;

} // namespace Atoll::kernels::vector_math
