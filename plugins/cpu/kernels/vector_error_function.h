// The error function of doubles, and the complementary one.
//
// Note [Error functions]
// x + 2 from 2 on, by its first digits, falls into at most sixteen intervals, of which each has a
// polynomial: of erf itself, and of e^(x^2) erfc(x), which varies little. All that is added to the
// latter's value at the interval's center is small, and both factors of erfc are sums, so that
// their product loses little more than its last rounding.
#pragma once

#include "vector_exp.h"

#include <array>

namespace Atoll::kernels::vector_math {

// See pieces() in tools/make_math_constants.py.
template <class T> struct ErfPieces {
    using C = Constants<T>;
    static constexpr int digits = 3; // of x + 2 that tell intervals apart
    static constexpr auto &centers = C::erf_centers, &values = C::erf_values;
    static constexpr auto &coefficients = C::erf_coefficients;
};
template <class T> struct ErfcPieces {
    using C = Constants<T>;
    static constexpr int digits = 2;
    static constexpr auto &centers = C::erfc_centers, &values = C::erfc_values;
    static constexpr auto &coefficients = C::erfc_coefficients;
};

// What belongs to the interval of x, which is not negative.
template <class V, std::size_t Terms> struct Piece {
    V center, value;
    V coefficients[Terms];
};
template <template <class> class Pieces, class V> inline auto piece_of(V x) {
    using Table = Pieces<Element<V>>;
    constexpr std::size_t terms = std::size(Table::coefficients);
    const Integers<V> index = bits(x + Element<V>(2)) >> (fraction_bits<V> - Table::digits);
    Piece<V, terms> piece;
    piece.center = lookup<V>(Table::centers, index);
    piece.value = lookup<V>(Table::values, index);
    for (std::size_t k = 0; k < terms; ++k)
        piece.coefficients[k] = lookup<V>(Table::coefficients[k], index);
    return piece;
}
#if defined(__AVX2__) && !defined(__AVX512F__)
// From rows of the numbers of an interval: gathers take longer.
template <class Table> struct PieceRows {
    static constexpr std::size_t terms = std::size(Table::coefficients), length = terms + 2;
    static_assert(length % 2 == 0);
    alignas(32) static constexpr auto rows = [] {
        std::array<std::array<double, length>, 16> all{};
        for (std::size_t i = 0; i < 16; ++i) {
            all[i][0] = Table::centers[i];
            all[i][1] = Table::values[i];
            for (std::size_t k = 0; k < terms; ++k) all[i][k + 2] = Table::coefficients[k][i];
        }
        return all;
    }();
};
template <template <class> class Pieces> inline auto piece_of(Vector<double> x) {
    using V = Vector<double>;
    using Rows = PieceRows<Pieces<double>>;
    const Integers<V> index = bits(x + 2.0) >> (fraction_bits<V> - Pieces<double>::digits) & 15;
    const double *row[4];
    for (int lane = 0; lane < 4; ++lane) row[lane] = Rows::rows[index[lane]].data();
    const auto pairs = [&](std::size_t k, int low, int high) {
        return _mm256_insertf128_pd(_mm256_castpd128_pd256(load_vector<__m128d>(row[low] + k)),
                                    load_vector<__m128d>(row[high] + k), 1);
    };
    Piece<V, Rows::terms> piece;
    const auto fetch = [&](std::size_t k, V &first, V &second) {
        const V even = pairs(k, 0, 2), odd = pairs(k, 1, 3);
        first = _mm256_unpacklo_pd(even, odd);
        second = _mm256_unpackhi_pd(even, odd);
    };
    fetch(0, piece.center, piece.value);
    for (std::size_t k = 0; k < Rows::terms; k += 2)
        fetch(k + 2, piece.coefficients[k], piece.coefficients[k + 1]);
    return piece;
}
#endif

struct Erf {
    template <class V> static V of(V x) {
        using T = Element<V>;
        const V size = at_most(T(5.9999), absolute(x)); // from 5.93 on it rounds to 1
        const auto piece = piece_of<ErfPieces>(size);
        // The first interval's polynomial is of (erf x - x) / x.
        const V base = size + T(2) < T(2.25) ? size : piece.value;
        const V d = size - piece.center;
        return with_sign(fma(d, precise_polynomial(d, piece.coefficients), base), x);
    }
};

struct Erfc {
    template <class V> static V of(V x) {
        using T = Element<V>;
        constexpr bool single = sizeof(T) == 4;
        // From here on it rounds to 0.
        const V size = at_most(single ? T(10.5) : T(27.5), absolute(x));
        const V square = size * size, square_lost = fma(size, size, -square);
        const Exponent<V> parts = BaseE::reduce(-square);
        const V n = parts.n(), r = parts.r - square_lost;
        const V r_lost = ((parts.r - r) - square_lost) + parts.lost;
        const V tail = exponential_tail(r, r_lost, ConstantsOf<V>::exp_tail);
        const V sum = r + T(1), rest = (T(1) - sum) + r + tail;
        const V power = sum + rest, power_lost = (sum - power) + rest;

        const auto piece = piece_of<ErfcPieces>(size);
        const V d = size - piece.center, p = precise_polynomial(d, piece.coefficients);
        const V factor = fma(d, p, piece.value), factor_lost = fma(d, p, piece.value - factor);

        const V product = power * factor;
        const V lost = fma(power, factor, -product) + fma(power, factor_lost, power_lost * factor);
        // 2 - what is that of -x.
        const V scale = power_of_two(at_least(single ? T(-120) : T(-1000), n));
        const V less = scale * product, difference = T(2) - less;
        const V difference_lost = ((T(2) - difference) - less) - scale * lost;
        return x < T(0) ? difference + difference_lost : scaled(product + lost, n);
    }
};

} // namespace Atoll::kernels::vector_math
