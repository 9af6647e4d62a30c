// Powers of floats.
//
// Note [Powers]
// x^y = 2^(y log2 x): for a result near the end of the range the logarithm must be good to 33
// digits, so it is a sum of two floats, and so is the product. Arguments that are not positive and
// normal, and results that may not be, go through double.
#pragma once

#include "vector_log.h"

namespace Atoll::kernels::vector_math {

// f of floats as doubles, by halves of the vectors.
template <class F, class... V> inline auto in_double(F f, V... x) {
    using Floats = std::common_type_t<V...>;
    constexpr int half = static_cast<int>(count_of<Floats>) / 2;
    using Doubles = VectorN<double, half>;
    using Half = VectorN<float, half>;
    constexpr std::integral_constant<int, 0> low;
    constexpr std::integral_constant<int, half> high;
    const auto part = [&](auto first) {
        return __builtin_convertvector(
            f(__builtin_convertvector(part_of<half>(x, first), Doubles)...), Half);
    };
    return joined(part(low), part(high));
}

// Of floats as doubles, which are not negative: good to 30 digits.
template <class V> inline V log2_of_floats(V x) {
    using C = ConstantsOf<V>;
    const Decomposed<V> parts = decompose(x);
    const Integers<V> interval = parts.interval();
    const V r = fma(parts.m, lookup<V>(C::inverses, interval), -1.0);
    V log2 = fma(r, polynomial(r, C::log2_short), parts.k + lookup<V>(C::log2_wholes, interval));
    log2 = x == 0.0 ? all<V>(-infinity<V>) : log2;
    return x < infinity<V> ? log2 : x;
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
        const auto whole = round_even(y) == y, odd = round_even(y * 0.5) != y * 0.5;
        const auto negative = (x < 0.0) & (x > -infinity<V>);
        result = (negative & ~whole) ? all<V>(std::numeric_limits<double>::quiet_NaN()) : result;
        result = from_bits<V>(bits(result) ^ (bits(x) & sign_bit<V> & (Integers<V>)(whole & odd)));
        const auto one = (y == 0.0) | (x == 1.0) | ((x == -1.0) & (absolute(y) == infinity<V>));
        return one ? all<V>(1.0) : result;
    }
};

// For each element of a vector whether it is chosen.
#if defined(__AVX512F__)
template <class V> using Chosen = __mmask16;
inline bool any(__mmask16 chosen) { return chosen != 0; }
template <class V> inline V choose(__mmask16 chosen, V yes, V no) {
    return _mm512_mask_mov_ps(no, chosen, yes);
}
#else
template <class V> using Chosen = Integers<V>;
template <class V> inline V choose(Integers<V> chosen, V yes, V no) { return chosen ? yes : no; }
#endif

struct PowOfFloats {
    // out[k] = x[k]^y[k] of whole vectors; squares are as multiply gives them.
    template <int Lanes>
    static void run(std::int64_t count, const float *x, const float *y, float *out) {
        using V = VectorN<float, Lanes>;
        Chosen<V> all_outside{};
        for (std::int64_t k = 0; k < count; k += Lanes) {
            const auto [power, outside] = ordinary(load_vector<V>(x + k), load_vector<V>(y + k));
            store_vector(out + k, power);
            all_outside |= outside;
        }
        if (!any(all_outside)) [[likely]]
            return;
        // Apart, so that the loop above has the registers for its constants.
        for (std::int64_t k = 0; k < count; k += Lanes) {
            const V base = load_vector<V>(x + k), exponent = load_vector<V>(y + k);
            const auto [power, outside] = ordinary(base, exponent);
            if (!any(outside)) continue;
            const V other = exponent == 2.0F ? base * base : WidePow::of(base, exponent);
            store_vector(out + k, choose<V>(outside, other, power));
        }
    }

private:
    template <class V> struct Power {
        V value;
        Chosen<V>
            outside; // not covered: x not positive and normal, a result that may not be, squares
    };
    template <class V> static Power<V> ordinary(V x, V y) {
        const auto [head, tail] = log2(x);
        const V product = y * head, lost = fma(y, tail, fma(y, head, -product));
        const V size = absolute(product);
#if defined(__AVX512F__)
        constexpr int not_positive_and_normal = 0xFF; // all classes that the instruction knows
        const auto outside =
            static_cast<__mmask16>(_mm512_fpclass_ps_mask(x, not_positive_and_normal) |
                                   _mm512_cmp_ps_mask(size, all<V>(125), _CMP_NLT_UQ) |
                                   _mm512_cmp_ps_mask(y, all<V>(2), _CMP_EQ_OQ));
#else
        const auto outside = (Integers<V>)(~((x >= std::numeric_limits<float>::min()) &
                                             (x < infinity<V>)&(size < 125.0F) & (y != 2.0F)));
#endif
        return {exp2(product, lost), outside};
    }

    template <class V> struct Sum { V head, tail; };
    template <class V> static Sum<V> log2(V x) {
        using C = ConstantsOf<V>;
        const Decomposed<V> parts = decompose(x);
        const Integers<V> interval = parts.interval();
        const V r = fma(parts.m, lookup<V>(C::inverses, interval), -1.0F);
        // ln(1 + r) = r - r^2 / 2 - r^2 / 2 (r p(r)), times log2(e)
        const V first = r * C::log2_e.head;
        const V first_lost = fma(r, C::log2_e.tail, fma(r, C::log2_e.head, -first));
        const V half = r * -0.5F, second = first * half, second_lost = fma(first, half, -second);
        V lost = fma(second, r * polynomial(r, C::ln_rest),
                     fma(first_lost, half, first_lost) + second_lost);
        const V small = first + second;
        lost += (first - small) + second;
        const V large = parts.k + lookup<V>(C::log2_heads, interval), head = large + small;
        lost += ((large - head) + small) + lookup<V>(C::log2_tails, interval);
        return {head, lost};
    }
    // 2^(x + lost) of a normal result, by 2^(i / 16).
    template <class V> static V exp2(V x, V lost) {
        using C = ConstantsOf<V>;
        constexpr float to_sixteenths = rounder<V> / 16;
        const V shifted = x + to_sixteenths, near = shifted - to_sixteenths;
        const V f = (x - near) + lost;
        const V power = lookup<V>(C::sixteenths, bits(shifted));
        const V rest =
            fma(f, polynomial(f, C::sixteenth), lookup<V>(C::sixteenths_lost, bits(shifted)));
        const V result = fma(power, rest, power);
#if defined(__AVX512F__)
        return _mm512_maskz_scalef_ps(every<V>, result, near); // by 2^floor(near)
#else
        return from_bits<V>(bits(result) + (bits(shifted) >> 4 << fraction_bits<V>));
#endif
    }
};

} // namespace Atoll::kernels::vector_math
