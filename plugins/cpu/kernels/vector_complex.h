// Functions of vectors of complex numbers.
//
// Note [Complex vectors]
// Each part is computed by a formula of numbers of type N. For complex floats N is a vector of
// doubles: products of two parts are exact, and what is lost otherwise is rounded away. For complex
// doubles N is DoubleWord, with twice the digits. Real functions get the head, and their result is
// corrected for the tail; so each part is good to 3 ULP.
// `outside` tells which elements are not covered: those that are not finite or of unusual size,
// and those where the formula loses too many digits. The loop asks complex_math.h about them.
// Needs FMA, as our own functions of vector_math.h do, and gives the same bits at all levels.
#pragma once

#include "double_word.h"
#include "functors/elementary.h"
#include "vector_math.h"

namespace Atoll::kernels::vector_math {

using ComplexV = Vector<double>; // the real or the imaginary parts of several numbers
using ComplexMask = decltype(ComplexV{} < ComplexV{});
struct ComplexResult {
    ComplexV re, im;
    ComplexMask outside;
};

template <bool narrow> using PartOfComplex =
    std::conditional_t<narrow, ComplexV, DoubleWord<ComplexV>>;

inline ComplexV larger(ComplexV a, ComplexV b) { return a > b ? a : b; }
inline ComplexV smaller(ComplexV a, ComplexV b) { return a > b ? b : a; }

// Not a finite float; not zero and so small or large that powers, or their tails, leave the range.
template <bool narrow>
inline ComplexMask unusual(ComplexV x, double least = 0x1p-400, double most = 0x1p240) {
    const ComplexV size = absolute(x);
    if constexpr (narrow) return ~(size < infinity<ComplexV>);
    return ~((size == 0.0) | ((size >= least) & (size <= most)));
}
template <bool narrow> inline ComplexMask unusual_parts(ComplexV x, ComplexV y) {
    return unusual<narrow>(x) | unusual<narrow>(y);
}
// Angles that are not reduced, or so small that products vanish.
template <bool narrow> inline ComplexMask unusual_angle(ComplexV y) {
    return unusual<narrow>(y, 0x1p-400, Circular::limit<double>) |
           ~(absolute(y) < Circular::limit<double>);
}

template <class N> struct Pair { N first, second; };

// sin(y), cos(y)
template <class N> struct Turn : Circular {
    static Pair<N> of(ComplexV y) {
        const auto t = turned(absolute(y));
        auto sine = t.sine(), cosine = t.cosine();
        if constexpr (!std::is_same_v<N, ComplexV>) { // what r^2 has lost counts in the tails
            const ComplexV square_lost = fma(t.r, t.r, -t.square);
            sine.tail = fma(square_lost * t.r, -1 / 6.0, sine.tail);
            cosine.tail = fma(square_lost, -0.5, cosine.tail);
        }
        const auto odd = (t.turns & 1) != 0;
        const auto part = [&](auto first, auto second, Integers<ComplexV> sign) {
            const ComplexV a = odd ? second.head : first.head, b = odd ? second.tail : first.tail;
            const auto flip = [&](ComplexV x) {
                return from_bits<ComplexV>(bits(x) ^ (sign & sign_bit<ComplexV>));
            };
            if constexpr (std::is_same_v<N, ComplexV>) {
                return flip(a + b);
            } else {
                const N both = ordered_sum(a, b);
                return N{flip(both.head), flip(both.tail)};
            }
        };
        return {part(sine, cosine, (t.turns << 62) ^ bits(y)),
                part(cosine, sine, (t.turns + 1) << 62)};
    }
};

// sinh(x) and cosh(x) of x from 0 to 500, as SinhCosh computes them.
template <class N> inline Pair<N> hyperbolic(ComplexV x) {
    using V = ComplexV;
    const Exponent<V> parts = BaseE::reduce(x);
    const V n = parts.n(), r = parts.r, square = r * r;
    const V even = square * polynomial(square, ConstantsOf<V>::cosh_tail);
    const V odd = fma(square * r, polynomial(square, ConstantsOf<V>::sinh_tail), parts.lost);
    const V plus = power_of_two(n - 1.0), minus = power_of_two(-1.0 - n);
    const V sum = plus + minus, difference = plus - minus;
    const V sum_lost = (plus - sum) + minus, difference_lost = (plus - difference) - minus;
    const auto of = [&](V a, V b, V lost) { // a cosh(r) + b sinh(r)
        const V main = fma(b, r, a);
        const V rest = fma(a, even, fma(b, odd, fma(b, r, a - main) + lost));
        if constexpr (std::is_same_v<N, V>)
            return main + rest;
        else
            return ordered_sum(main, rest);
    };
    return {of(difference, sum, difference_lost), of(sum, difference, sum_lost)};
}

// a + p + q with three times the digits of the largest, as most may cancel.
template <class V> inline DoubleWord<V> sum_of_three(V a, DoubleWord<V> p, DoubleWord<V> q) {
    const DoubleWord<V> first = sum_of(a, p.head), second = sum_of(first.head, q.head);
    const DoubleWord<V> tails = sum_of(p.tail, q.tail), lost = sum_of(first.tail, second.tail);
    const DoubleWord<V> rest = sum_of(tails.head, lost.head), all = sum_of(second.head, rest.head);
    return {all.head, all.tail + (tails.tail + lost.tail + rest.tail)};
}

// The logarithm of a sum of squares: of `square`, or of 1 + `excess` where that is near 1.
template <template <class> class Base, class V>
inline DoubleWord<V> logarithm_of_squares(DoubleWord<V> square, DoubleWord<V> excess) {
    const auto near = (square.head > 0.5) & (square.head < 2.0);
    const DoubleWord<V> above = ordered_sum(all<V>(1), excess.head);
    return logarithm_of_sum<Base>(near ? above.head : square.head,
                                  near ? above.tail + excess.tail : square.tail);
}
template <class V> inline V half_of(DoubleWord<V> x) { return (x.head + x.tail) * 0.5; }

// Of the modulus' square, which is `square`.
struct SquaredModulus {
    DoubleWord<ComplexV> square, logarithm;
    ComplexMask outside;
};
template <bool narrow, template <class> class Base>
inline SquaredModulus squared_modulus(ComplexV x, ComplexV y) {
    using V = ComplexV;
    const V large = larger(absolute(x), absolute(y)), small = smaller(absolute(x), absolute(y));
    if constexpr (narrow) {
        const V first = large * large, second = small * small;
        const DoubleWord<V> square{first + second, V{}}, excess{(first - 1.0) + second, V{}};
        return {square, logarithm_of_squares<Base>(square, excess), unusual_parts<true>(x, y)};
    } else {
        using N = DoubleWord<V>;
        const N first = product<N>(large, large), second = product<N>(small, small);
        const N square = first + second, excess = sum_of_three(all<V>(-1), first, second);
        const auto lost = (absolute(excess.head) < 0x1p-90) & (square.head > 0.5) & (small != 0.0);
        return {square, logarithm_of_squares<Base>(square, excess),
                unusual<false>(x, 0x1p-400, 0x1p500) | unusual<false>(y, 0x1p-400, 0x1p500) |
                    (large == 0.0) | lost};
    }
}
template <bool narrow, template <class> class Base>
inline ComplexResult logarithm_of(ComplexV x, ComplexV y) {
    constexpr Split<double> factor = Base<double>::factor;
    const SquaredModulus modulus = squared_modulus<narrow, Base>(x, y);
    const ComplexV angle = arctangent(y, x);
    return {with_special(modulus.square.head, half_of(modulus.logarithm)),
            factor.head == 1 ? angle : fma(angle, factor.head, angle * factor.tail),
            modulus.outside};
}

// The function of a functor, as OfComplex<F>::of<narrow>(); those without have no `Vectors`.
template <class F> struct OfComplex {};
struct HasVectors {
    using Vectors = ComplexV;
};

template <> struct OfComplex<functor::sign> : HasVectors {
    template <bool narrow> static ComplexResult of(ComplexV x, ComplexV y) {
        using N = PartOfComplex<narrow>;
        const N size = square_root(product<N>(x, x) + product<N>(y, y));
        const auto zero = head(size) == 0.0;
        const ComplexV re = head(widened<N>(x) / size), im = head(widened<N>(y) / size);
        return {zero ? ComplexV{} : with_sign(absolute(re), x),
                zero ? ComplexV{} : with_sign(absolute(im), y), unusual_parts<narrow>(x, y)};
    }
};

template <> struct OfComplex<functor::sqrt> : HasVectors {
    template <bool narrow> static ComplexResult of(ComplexV x, ComplexV y) {
        using N = PartOfComplex<narrow>;
        const ComplexV a = absolute(x), b = absolute(y);
        const N size = square_root(product<N>(a, a) + product<N>(b, b));
        const N root = square_root((widened<N>(a) + size) * 0.5);
        const ComplexV large = head(root), quotient = head(widened<N>(b) / (root * 2.0));
        const ComplexV small = large == 0.0 ? ComplexV{} : quotient;
        const auto right = x >= 0.0;
        return {right ? large : small, with_sign(right ? small : large, y),
                unusual_parts<narrow>(x, y)};
    }
};

template <> struct OfComplex<functor::log> : HasVectors {
    template <bool narrow> static ComplexResult of(ComplexV x, ComplexV y) {
        return logarithm_of<narrow, Natural>(x, y);
    }
};
template <> struct OfComplex<functor::log2> : HasVectors {
    template <bool narrow> static ComplexResult of(ComplexV x, ComplexV y) {
        return logarithm_of<narrow, Binary>(x, y);
    }
};
template <> struct OfComplex<functor::log10> : HasVectors {
    template <bool narrow> static ComplexResult of(ComplexV x, ComplexV y) {
        return logarithm_of<narrow, Decimal>(x, y);
    }
};

template <> struct OfComplex<functor::log1p> : HasVectors {
    template <bool narrow> static ComplexResult of(ComplexV x, ComplexV y) {
        using V = ComplexV;
        using N = DoubleWord<V>;
        const N shifted = sum_of(all<V>(1), x);
        // |1 + z|^2 - 1 = 2 x + x^2 + y^2
        if constexpr (narrow) {
            const N most = sum_of(x * 2.0, y * y), excess = sum_of(most.head, x * x);
            const V square = shifted.head * shifted.head + y * y;
            const DoubleWord<V> words = logarithm_of_squares<Natural, V>(
                {square, V{}}, {excess.head + (excess.tail + most.tail), V{}});
            return {with_special(square, half_of(words)), arctangent(y, shifted.head),
                    unusual_parts<true>(x, y)};
        } else {
            const N p = product<N>(x, x), q = product<N>(y, y);
            const N excess = sum_of_three(x * 2.0, p, q);
            const N square = shifted * shifted + q;
            const auto lost = (square.head > 0.5) & (square.head < 2.0) &
                              (absolute(excess.head) < q.head * 0x1p-80);
            return {half_of(logarithm_of_squares<Natural>(square, excess)),
                    arctangent(widened<N>(y), shifted),
                    unusual_parts<false>(x, y) | (square.head == 0.0) | lost};
        }
    }
};

// 1 - |z|^2, exactly where it is small.
template <class N> inline N one_less_square(ComplexV x, ComplexV y) {
    const ComplexV large = larger(x, y), small = smaller(x, y);
    return (1.0 - product<N>(large, large)) - product<N>(small, small);
}

// |Re|: log1p(4 x / ((1 - x)^2 + y^2)) / 4; |Im|: the angle of 1 - |z|^2 + 2iy, halved.
template <> struct OfComplex<functor::atanh> : HasVectors {
    template <bool narrow> static ComplexResult of(ComplexV x, ComplexV y) {
        using N = PartOfComplex<narrow>;
        const ComplexV a = absolute(x), b = absolute(y);
        const N gap = 1.0 - widened<N>(a);
        const N square = gap * gap + product<N>(b, b);
        const N ratio = widened<N>(a * 4.0) / square;
        ComplexMask outside = unusual_parts<narrow>(x, y);
        if constexpr (!narrow)
            outside |= (head(square) == 0.0) | ((head(ratio) < 0x1p-900) & (a != 0.0));
        const ComplexV angle = arctangent(widened<N>(b * 2.0), one_less_square<N>(a, b));
        return {with_sign(log_above_one(ratio) * 0.25, x), with_sign(angle * 0.5, y), outside};
    }
};
template <> struct OfComplex<functor::atan> : HasVectors {
    template <bool narrow> static ComplexResult of(ComplexV x, ComplexV y) {
        const auto turned = OfComplex<functor::atanh>::of<narrow>(y, x);
        return {turned.im, turned.re, turned.outside};
    }
};

struct Arcs {
    ComplexV sine, cosine, area;
    ComplexMask outside;
};

// With m = |1 - z^2|, g = 1 - |z|^2 and h = Re(1 - z^2), m^2 = g^2 + 4 y^2 = h^2 + 4 x^2 y^2:
// tan(Re asin z) = x / Re sqrt(1 - z^2), where the root is sqrt((m + h) / 2);
// cosh(2 Im asin z) = 1 + u with u = m - g, and then e^(2 Im) = 1 + u + sqrt(u (u + 2)).
// Sums of unlike signs are replaced: m - g = 4 y^2 / (m + g), (m + h) (m - h) = 4 x^2 y^2.
template <bool narrow> inline Arcs arcs(ComplexV x, ComplexV y) {
    using V = ComplexV;
    using N = PartOfComplex<narrow>;
    const V a = absolute(x), b = absolute(y);
    const N xx = product<N>(a, a), yy = product<N>(b, b);
    const N g = one_less_square<N>(a, b), h = (1.0 - xx) + yy;
    const N m = square_root(g * g + yy * 4.0);
    const auto inner = head(g) >= 0.0, right = head(h) >= 0.0;
    const N g_sum = m + choose(inner, g, -g), h_sum = m + choose(right, h, -h);
    const auto at_one = head(m) == 0.0;
    const N u = choose(at_one, N{}, choose(inner, (yy * 4.0) / g_sum, g_sum));
    const N power = u + square_root(u * u + u * 2.0);
    const N root = square_root(h_sum * 0.5);
    const N width = choose(right, root, product<N>(a, b) / root);
    return {arctangent(widened<N>(a), width), arctangent(width, widened<N>(x)),
            log_above_one(power) * 0.5,
            unusual_parts<narrow>(x, y) | (narrow ? ComplexMask{} : at_one)};
}

template <> struct OfComplex<functor::asin> : HasVectors {
    template <bool narrow> static ComplexResult of(ComplexV x, ComplexV y) {
        const Arcs all = arcs<narrow>(x, y);
        return {with_sign(all.sine, x), with_sign(all.area, y), all.outside};
    }
};
template <> struct OfComplex<functor::acos> : HasVectors {
    template <bool narrow> static ComplexResult of(ComplexV x, ComplexV y) {
        const Arcs all = arcs<narrow>(x, y);
        return {all.cosine, with_sign(all.area, -y), all.outside};
    }
};
template <> struct OfComplex<functor::asinh> : HasVectors {
    template <bool narrow> static ComplexResult of(ComplexV x, ComplexV y) {
        const Arcs all = arcs<narrow>(y, x);
        return {with_sign(all.area, x), with_sign(all.sine, y), all.outside};
    }
};
template <> struct OfComplex<functor::acosh> : HasVectors {
    template <bool narrow> static ComplexResult of(ComplexV x, ComplexV y) {
        const Arcs all = arcs<narrow>(x, y);
        return {all.area, with_sign(all.cosine, y), all.outside};
    }
};

// (sinh x cosh x + i sin y cos y) / (sinh^2 x + cos^2 y)
template <> struct OfComplex<functor::tanh> : HasVectors {
    template <bool narrow> static ComplexResult of(ComplexV x, ComplexV y) {
        using N = PartOfComplex<narrow>;
        constexpr double most = narrow ? 150 : 300;
        // Beyond, the float nearest to a part is 1 or 0.
        const ComplexV size = narrow ? at_most(most, absolute(x)) : absolute(x);
        const auto [sinh, cosh] = hyperbolic<N>(size);
        const auto [sin, cos] = Turn<N>::of(y);
        const N divisor = sinh * sinh + cos * cos;
        const ComplexV re = head(sinh * cosh / divisor), im = head(sin * cos / divisor);
        return {with_sign(absolute(re), x), y == 0.0 ? y : im,
                unusual<narrow>(x, 0x1p-400, most) | unusual_angle<narrow>(y)};
    }
};
template <> struct OfComplex<functor::tan> : HasVectors {
    template <bool narrow> static ComplexResult of(ComplexV x, ComplexV y) {
        const auto turned = OfComplex<functor::tanh>::of<narrow>(y, x);
        return {turned.im, turned.re, turned.outside};
    }
};

// Of vectors: their limits are those of `outside`.
template <class F> ComplexV real(ComplexV x) { return Of<F, double>::type::of(x); }

template <> struct OfComplex<functor::exp> : HasVectors {
    template <bool narrow> static ComplexResult of(ComplexV x, ComplexV y) {
        const ComplexV inside = at_most(700.0, at_least(-700.0, x)),
                       size = real<functor::exp>(inside);
        const auto [sin, cos] = Turn<ComplexV>::of(y);
        return {size * cos, size * sin,
                (narrow ? unusual<true>(x) : inside != x) | unusual_angle<narrow>(y)};
    }
};

// base^z, where `size` is base^x.
template <bool narrow, class F>
inline ComplexResult power_of(ComplexV x, ComplexV y, double most, Split<double> log_base) {
    using N = DoubleWord<ComplexV>;
    const ComplexV inside = at_most(most, at_least(-most, x)), size = real<F>(inside);
    // The angle with twice the digits: a large one keeps its own.
    const ComplexV angle = y * log_base.head;
    const ComplexV rest = fma(y, log_base.tail, fma(y, log_base.head, -angle));
    const auto [sin, cos] = Turn<N>::of(angle);
    const ComplexV s = sin.head + fma(rest, cos.head, sin.tail);
    const ComplexV c = cos.head + fnma(rest, sin.head, cos.tail);
    const auto lost = smaller(absolute(s), absolute(c)) < absolute(angle) * 0x1p-46;
    return {size * c, y == 0.0 ? y : size * s,
            (narrow ? unusual<true>(x) : inside != x) | unusual_angle<narrow>(y) | lost};
}
template <> struct OfComplex<functor::exp2> : HasVectors {
    template <bool narrow> static ComplexResult of(ComplexV x, ComplexV y) {
        return power_of<narrow, functor::exp2>(x, y, 1000, Constants<double>::ln_2);
    }
};
template <> struct OfComplex<functor::exp10> : HasVectors {
    template <bool narrow> static ComplexResult of(ComplexV x, ComplexV y) {
        return power_of<narrow, functor::exp10>(x, y, 300, Constants<double>::ln_10);
    }
};

// e^x and e^x - 1
inline Pair<DoubleWord<ComplexV>> exponentials(ComplexV x) {
    using V = ComplexV;
    const Exponent<V> parts = BaseE::reduce(x);
    const V r = parts.r, power = power_of_two(parts.n());
    const V square_lost = fma(r, r, -(r * r));
    const V lost = fma(square_lost, 0.5, parts.lost);
    const V tail = exponential_tail(r, lost, ConstantsOf<V>::expm1_tail);
    const DoubleWord<V> above = ordered_sum(power * r, power * tail);
    return {widened<DoubleWord<V>>(power) + above, sum_of(power, all<V>(-1)) + above};
}
// e^x cos y - 1 = (e^x - 1) cos y - (1 - cos y), which may cancel.
template <> struct OfComplex<functor::expm1> : HasVectors {
    template <bool narrow> static ComplexResult of(ComplexV x, ComplexV y) {
        using V = ComplexV;
        using N = DoubleWord<V>;
        const V inside = at_most(700.0, at_least(-500.0, x));
        const auto [sin, cos] = Turn<N>::of(y);
        const auto [power, less] = exponentials(inside);
        const N one = widened<N>(all<V>(1)), first = less * cos;
        const N second = choose(cos.head > 0.0, sin * sin / (one + cos), one - cos);
        const V real = y == 0.0 ? less.head : head(first - second);
        const V im = with_sign(absolute(head(power * sin)), sin.head);
        const auto lost =
            absolute(real) < larger(absolute(first.head), second.head) * (narrow ? 0x1p-18 : 0.25);
        ComplexMask outside = unusual<narrow>(x) | unusual_angle<narrow>(y) | (lost & (y != 0.0));
        if constexpr (!narrow) outside |= (inside != x) | ((absolute(im) < 0x1p-900) & (y != 0.0));
        return {(x == 0.0) & (y == 0.0) ? x : real, y == 0.0 ? y : im, outside};
    }
};

template <bool narrow> inline ComplexMask unusual_hyperbolic(ComplexV x, ComplexV y) {
    return unusual<narrow>(x, 0x1p-400, 500) | unusual_angle<narrow>(y);
}
template <> struct OfComplex<functor::sinh> : HasVectors {
    template <bool narrow> static ComplexResult of(ComplexV x, ComplexV y) {
        const auto [sinh, cosh] = hyperbolic<ComplexV>(at_most(500.0, absolute(x)));
        const auto [sin, cos] = Turn<ComplexV>::of(y);
        return {with_sign(sinh, x) * cos, cosh * sin, unusual_hyperbolic<narrow>(x, y)};
    }
};
template <> struct OfComplex<functor::cosh> : HasVectors {
    template <bool narrow> static ComplexResult of(ComplexV x, ComplexV y) {
        const auto [sinh, cosh] = hyperbolic<ComplexV>(at_most(500.0, absolute(x)));
        const auto [sin, cos] = Turn<ComplexV>::of(y);
        return {cosh * cos, with_sign(sinh, x) * sin, unusual_hyperbolic<narrow>(x, y)};
    }
};
template <> struct OfComplex<functor::sin> : HasVectors {
    template <bool narrow> static ComplexResult of(ComplexV x, ComplexV y) {
        const auto turned = OfComplex<functor::sinh>::of<narrow>(y, x);
        return {turned.im, turned.re, turned.outside};
    }
};
template <> struct OfComplex<functor::cos> : HasVectors {
    template <bool narrow> static ComplexResult of(ComplexV x, ComplexV y) {
        const auto turned = OfComplex<functor::cosh>::of<narrow>(y, x);
        return {turned.re, -turned.im, turned.outside};
    }
};

// The angle of x + iy with twice the digits: its sine and cosine tell what it has lost.
inline DoubleWord<ComplexV> long_angle(ComplexV x, ComplexV y) {
    using N = DoubleWord<ComplexV>;
    const ComplexV angle = arctangent(y, x);
    const auto [sin, cos] = Turn<N>::of(angle);
    const N across = widened<N>(y) * cos - widened<N>(x) * sin;
    return ordered_sum(angle, across.head / fma(x, cos.head, y * sin.head));
}

template <class N> inline Pair<N> complex_product(Pair<N> a, Pair<N> b) {
    return {a.first * b.first - a.second * b.second, a.first * b.second + a.second * b.first};
}
// The power by squaring, for whole n up to 127; other n give anything. The error of each part is
// about |n| 2^-100 of the larger one.
inline Pair<DoubleWord<ComplexV>> whole_power(ComplexV x, ComplexV y, ComplexV n) {
    using V = ComplexV;
    using N = DoubleWord<V>;
    Integers<V> left = bits(absolute(n) + rounder<V>) & 127;
    Pair<N> base{widened<N>(x), widened<N>(y)}, power{widened<N>(all<V>(1)), N{}};
    for (; any(left != 0); left >>= 1) {
        const Pair<N> more = complex_product(power, base);
        const auto odd = (left & 1) != 0;
        power = {choose(odd, more.first, power.first), choose(odd, more.second, power.second)};
        base = complex_product(base, base);
    }
    const N square = power.first * power.first + power.second * power.second;
    const auto positive = n > 0.0;
    return {choose(positive, power.first, power.first / square),
            choose(positive, power.second, -power.second / square)};
}

// e^(b log(a)) with a = x + iy and b = u + iv.
template <> struct OfComplex<functor::pow> : HasVectors {
    template <bool narrow> static ComplexResult of(ComplexV x, ComplexV y, ComplexV u, ComplexV v) {
        using V = ComplexV;
        using N = PartOfComplex<narrow>;
        const SquaredModulus modulus = squared_modulus<narrow, Natural>(x, y);
        N log_size, angle;
        if constexpr (narrow) {
            log_size = half_of(modulus.logarithm);
            angle = arctangent(y, x);
        } else {
            log_size = ordered_sum(modulus.logarithm.head, modulus.logarithm.tail) * 0.5;
            angle = long_angle(x, y);
        }
        const N first = widened<N>(u) * log_size, second = widened<N>(v) * angle;
        const N third = widened<N>(u) * angle, fourth = widened<N>(v) * log_size;
        const N exponent = first - second, turn = third + fourth;
        const V inside = at_most(700.0, at_least(-700.0, head(exponent)));
        const V near_size = real<functor::exp>(inside),
                size = fma(near_size, tail(exponent), near_size);
        const auto [sin, cos] = Turn<N>::of(head(turn));
        const V s = head(sin) + fma(head(cos), tail(turn), tail(sin));
        const V c = head(cos) + fnma(head(sin), tail(turn), tail(cos));
        // What the terms may be wrong by is what the exponent and the angle may be wrong by.
        const V terms = absolute(head(first)) + absolute(head(second)) + absolute(head(third)) +
                        absolute(head(fourth));
        constexpr double times = narrow ? 0x1p14 : 16;
        const auto kept =
            (terms <= smaller(absolute(s), absolute(c)) * times) |
            ((terms < 1.0) & (head(third) * head(fourth) >= 0.0) & (terms <= absolute(c) * times));
        const ComplexMask outside = modulus.outside | unusual<narrow>(u) | unusual<narrow>(v) |
                                    ~kept | (modulus.square.head == 0.0) |
                                    ((u == 0.0) & (v == 0.0)) | ((y == 0.0) & (v == 0.0));
        ComplexResult result{size * c, size * s, outside};
        if constexpr (!narrow) {
            result.outside |= (inside != head(exponent)) | ((v == 0.0) & (u == 0.5));
            // Whole powers are products, so that they are exact where they can be.
            const V times_product = absolute(u);
            const auto whole = (v == 0.0) & (round_even(u) == u) & (times_product <= 100.0);
            if (any(whole)) {
                const auto [re, im] = whole_power(x, y, u);
                const V a = absolute(re.head), b = absolute(im.head);
                const auto exact = (smaller(a, b) > larger(a, b) * times_product * 0x1p-44) &
                                   (absolute(modulus.logarithm.head) * times_product < 500.0);
                const ComplexMask others = modulus.outside | (u == 0.0) | ~exact;
                result = {whole ? re.head : result.re, whole ? im.head : result.im,
                          whole ? others : result.outside};
            }
        }
        return result;
    }
};

} // namespace Atoll::kernels::vector_math
