// Powers of floats.
//
// Note [Powers]
// x^y = 2^(y log2 x): for a result near the end of the range the logarithm must be good to 33
// digits, so it is a sum of two floats, and so are the product and what 2^n 2^f is computed from.
// Arguments that are not positive and normal, and results that may not be, go through double.
#pragma once

#include "vector_log.h"

namespace Atoll::kernels::vector_math {

// In double, of all arguments.
struct WidePow {
    template <class V> static V of(V x, V y) {
        constexpr int half = static_cast<int>(sizeof(V) / sizeof(double));
        constexpr std::integral_constant<int, 0> low;
        constexpr std::integral_constant<int, half> high;
        const auto a = half_of(part_of<half>(x, low), part_of<half>(y, low));
        const auto b = half_of(part_of<half>(x, high), part_of<half>(y, high));
        return [&]<int... i>(std::integer_sequence<int, i...>) {
            return __builtin_shufflevector(a, b, i...);
        }
        (std::make_integer_sequence<int, 2 * half>());
    }

private:
    template <class Narrow> static Narrow half_of(Narrow narrow_x, Narrow narrow_y) {
        using V = VectorN<double, static_cast<int>(sizeof(Narrow) / sizeof(float))>;
        using C = ConstantsOf<V>;
        const V x = __builtin_convertvector(narrow_x, V), y = __builtin_convertvector(narrow_y, V);
        const V size = absolute(x);
        const auto [k, m, interval, exponent] = decompose(size);
        const V r = fma(m, lookup<V>(C::inverses, interval), -1.0);
        V log2 = fma(r, polynomial(r, C::log2_short), k + lookup<V>(C::log2_wholes, interval));
        log2 = size == 0.0 ? all<V>(-infinity<V>) : log2;
        log2 = size < infinity<V> ? log2 : size;
        const V inside = at_most(200.0, at_least(-200.0, y * log2));
        const V shifted = inside + rounder<V>;
        V result = polynomial(inside - (shifted - rounder<V>), C::exp2_short);
        result = from_bits<V>(bits(result) + (bits(shifted) << fraction_bits<V>));
        const auto whole = round_even(y) == y, odd = round_even(y * 0.5) != y * 0.5;
        const auto negative = (x < 0.0) & (x > -infinity<V>);
        result = (negative & ~whole) ? all<V>(std::numeric_limits<double>::quiet_NaN()) : result;
        result = from_bits<V>(bits(result) ^ (bits(x) & sign_bit<V> & (Integers<V>)(whole & odd)));
        const auto one = (y == 0.0) | (x == 1.0) | ((x == -1.0) & (absolute(y) == infinity<V>));
        return __builtin_convertvector(one ? all<V>(1.0) : result, Narrow);
    }
};

struct PowOfFloats {
    template <class V> static V of(V x, V y) {
        const auto [head, tail] = log2(x);
        const V product = y * head;
        const V lost = fma(y, tail, fma(y, head, -product));
        const auto ordinary = (x >= std::numeric_limits<float>::min()) &
                              (x < infinity<V>)&(absolute(product) < 125.0F);
        V result = exp2(product, lost);
        if (any(~ordinary)) [[unlikely]]
            result = ordinary ? result : WidePow::of(x, y);
        return result;
    }

private:
    template <class V> struct Sum { V head, tail; };
    template <class V> static Sum<V> log2(V x) {
        using C = ConstantsOf<V>;
        const auto [k, m, interval, exponent] = decompose(x);
        const V c = lookup<V>(C::inverses, interval), product = m * c;
        const V exact = product - 1.0F, product_lost = fma(m, c, -product);
        const V r = exact + product_lost, r_lost = (exact - r) + product_lost;
        // ln(1 + r) = r - r^2 / 2 + r^3 p(r)
        const V square = r * r, square_lost = fma(r, r, -square);
        const V ln = fnma(square, 0.5F, r);
        V lost = fnma(square, 0.5F, r - ln);
        lost = fma(square * r, polynomial(r, C::ln_cubic),
                   fnma(square_lost, 0.5F, lost + fnma(r_lost, r, r_lost)));
        const V first = ln * C::log2_e.head;
        lost = fma(ln, C::log2_e.tail, fma(lost, C::log2_e.head, fma(ln, C::log2_e.head, -first)));
        const V large = k + lookup<V>(C::log2_heads, interval), sum = large + first;
        lost = ((large - sum) + first) + (lost + lookup<V>(C::log2_tails, interval));
        const V head = sum + lost;
        return {head, (sum - head) + lost};
    }
    // 2^(x + lost) of a normal result.
    template <class V> static V exp2(V x, V lost) {
        using C = ConstantsOf<V>;
        const V n = (x + rounder<V>)-rounder<V>, f = (x - n) + lost;
        const V sum = fma(f, C::ln_2.head, 1.0F), rest = fma(f, C::ln_2.head, 1.0F - sum);
        const V tail = fma(f * f, polynomial(f, C::exp2_tail), rest);
        return scaled(sum + tail, n);
    }
};

} // namespace Atoll::kernels::vector_math
