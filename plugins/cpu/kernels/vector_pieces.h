// Functions by polynomials of intervals, for floats and doubles.
#pragma once

#include "vector_rows.h"

#include <array>

namespace Atoll::kernels::vector_math {

// What belongs to the interval of x; see pieces() in tools/make_math_constants.py. `Pieces` has the
// tables, of sixteen intervals, which the last digits of the exponent of x + shift and the first
// ones of its fraction tell apart, four in all.
template <class V, std::size_t Terms> struct Piece {
    V center, value;
    V coefficients[Terms];
};
template <template <class> class Pieces, class V> inline auto piece_of(V x) {
    using Table = Pieces<Element<V>>;
    constexpr std::size_t terms = std::size(Table::coefficients);
    const Integers<V> index =
        bits(x + Element<V>(Table::shift)) >> (fraction_bits<V> - Table::digits);
    Piece<V, terms> piece;
    piece.center = lookup<V>(Table::centers, index);
    piece.value = lookup<V>(Table::values, index);
    for (std::size_t k = 0; k < terms; ++k)
        piece.coefficients[k] = lookup<V>(Table::coefficients[k], index);
    return piece;
}
#if defined(__AVX2__) && !defined(__AVX512F__)
// From rows of the numbers of an interval.
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
    using Table = Pieces<double>;
    using Rows = PieceRows<Table>;
    const Integers<V> index = bits(x + Table::shift) >> (fraction_bits<V> - Table::digits) & 15;
    const auto at = [&](int lane, std::size_t k) { return Rows::rows[index[lane]].data() + k; };
    const auto fetch = [&](std::size_t k) {
        return two_columns(at(0, k), at(1, k), at(2, k), at(3, k));
    };
    Piece<V, Rows::terms> piece;
    const auto [center, value] = fetch(0);
    piece.center = center;
    piece.value = value;
    for (std::size_t k = 0; k < Rows::terms; k += 2) {
        const auto [first, second] = fetch(k + 2);
        piece.coefficients[k] = first;
        piece.coefficients[k + 1] = second;
    }
    return piece;
}
#endif

} // namespace Atoll::kernels::vector_math
