// Look-ups of several numbers that belong to an index.
#pragma once

#include "vector_operations.h"

#include <algorithm>
#include <array>

namespace Atoll::kernels::vector_math {

#if defined(__AVX2__) && !defined(__AVX512F__)
// The first numbers of four rows, and the second ones: gathers take longer.
inline std::array<Vector<double>, 2> two_columns(const double *a, const double *b, const double *c,
                                                 const double *d) {
    const auto pairs = [](const double *low, const double *high) {
        return _mm256_insertf128_pd(_mm256_castpd128_pd256(load_vector<__m128d>(low)),
                                    load_vector<__m128d>(high), 1);
    };
    const Vector<double> even = pairs(a, c), odd = pairs(b, d);
    return {_mm256_unpacklo_pd(even, odd), _mm256_unpackhi_pd(even, odd)};
}
#endif

// The numbers at `index` in tables of 16 or 32 of them, by the index's last digits.
template <class V, const auto &...tables> struct Columns {
    static constexpr std::size_t count = sizeof...(tables);

    static std::array<V, count> at(Integers<V> index) {
        if constexpr (in_registers)
            return {lookup<V>(tables, index)...};
        else
            return at_rows(index, std::make_index_sequence<count>());
    }

private:
    using T = Element<V>;
#if defined(__AVX512F__)
    static constexpr bool in_registers = true;
#else
    static constexpr bool in_registers = sizeof(T) == 4;
    // A row has the numbers of an index.
    static constexpr std::size_t length = std::bit_ceil(count);
    static constexpr std::size_t rows = std::min({std::size(tables)...});
    alignas(64) static constexpr auto all = [] {
        std::array<std::array<T, length>, rows> filled{};
        for (std::size_t i = 0; i < rows; ++i) {
            std::size_t column = 0;
            ((filled[i][column++] = tables[i]), ...);
        }
        return filled;
    }();
    template <std::size_t... columns>
    static std::array<V, count> at_rows(Integers<V> index, std::index_sequence<columns...>) {
        index &= rows - 1;
#if defined(__AVX2__)
        const auto at = [&](int lane, std::size_t k) { return all[index[lane]].data() + k; };
        std::array<V, length> numbers;
        for (std::size_t k = 0; k < length; k += 2) {
            const auto [first, second] = two_columns(at(0, k), at(1, k), at(2, k), at(3, k));
            numbers[k] = first;
            numbers[k + 1] = second;
        }
        return {numbers[columns]...};
#else
        const auto column = [&](std::size_t k) {
            V numbers;
            for (std::size_t lane = 0; lane < count_of<V>; ++lane)
                numbers[lane] = all[index[lane]][k];
            return numbers;
        };
        return {column(columns)...};
#endif
    }
#endif
};

} // namespace Atoll::kernels::vector_math
