// A sorting network of AVX-512 for up to 256 keys of 32 bits.
//
// Note [Sorting network]
// The keys are rows of 16, as many as are a power of two; the highest keys fill them up. First the
// columns are sorted; then pairs of neighbouring columns are merged, then pairs of those, up to all
// 16. Merged columns hold their keys row by row.
//
// Two sequences of the same length n are merged by comparing keys k and n - 1 - k: the lower ones
// are half of all, the greater ones the other half, and each half is cut up likewise. So row i
// meets the row as far from the end of the half, with its lanes reversed, as the second sequence
// is beside the first one. The greater keys stay where the lanes are reversed, those of all rows
// that they meet next. At last a row compares lanes with each other.
//
// The greater of two keys is what the lesser one leaves of their exclusive or: processors of Intel
// take minima and maxima of such vectors on one port only.
#pragma once

#include "product_vectors.h"

#include <cstdint>
#include <immintrin.h>
#include <limits>
#include <utility>

namespace Atoll::kernels {

// `Rows`: a power of two up to 16.
template <int Rows> class SortingNetwork {
public:
    static constexpr int columns = 16;

    // Ascending, of more than half as many keys as there is room for.
    static void sort(std::int64_t n, std::int32_t *keys) {
        Vector rows[Rows];
#pragma GCC unroll 16
        for (int row = 0; row < Rows; ++row) {
            const std::int32_t *const from = keys + row * columns;
            const Vector highest = Vector{} + std::numeric_limits<std::int32_t>::max();
            rows[row] = row < Rows / 2 ? load_vector<Vector>(from)
                                       : (Vector)_mm512_mask_loadu_epi32((__m512i)highest,
                                                                         those_of(row, n), from);
        }
        sort_columns(rows);
        merge<2>(rows);
#pragma GCC unroll 16
        for (int row = 0; row < Rows; ++row) {
            std::int32_t *const to = keys + row * columns;
            if (row < Rows / 2)
                store_vector(to, rows[row]);
            else
                _mm512_mask_storeu_epi32(to, those_of(row, n), (__m512i)rows[row]);
        }
    }

private:
    using Vector = kernels::Vector<std::int32_t>;

    // The lanes of a row that have keys.
    static __mmask16 those_of(std::int64_t row, std::int64_t n) {
        const std::int64_t rest = n - row * columns;
        return static_cast<__mmask16>(
            _bzhi_u32(0xffff, rest < 0 ? 0 : static_cast<unsigned>(rest)));
    }

    [[gnu::always_inline]] static void order(Vector &a, Vector &b) {
        const Vector low = a < b ? a : b;
        b = (Vector)_mm512_ternarylogic_epi32((__m512i)a, (__m512i)b, (__m512i)low, exclusive_or);
        a = low;
    }
    template <int... pairs> [[gnu::always_inline]] static void order_all(Vector *rows) {
        constexpr int all[] = {pairs...};
#pragma GCC unroll 64
        for (std::size_t k = 0; k < sizeof...(pairs); k += 2) order(rows[all[k]], rows[all[k + 1]]);
    }
    // With as few comparisons as are known for these numbers of rows.
    [[gnu::always_inline]] static void sort_columns(Vector *rows) {
        if constexpr (Rows == 2) order_all<0, 1>(rows);
        if constexpr (Rows == 4) order_all<0, 2, 1, 3, 0, 1, 2, 3, 1, 2>(rows);
        if constexpr (Rows == 8)
            order_all<0, 2, 1, 3, 4, 6, 5, 7, 0, 4, 1, 5, 2, 6, 3, 7, 0, 1, 2, 3, 4, 5, 6, 7, 2, 4,
                      3, 5, 1, 4, 3, 6, 1, 2, 3, 4, 5, 6>(rows);
        if constexpr (Rows == 16)
            order_all<0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0, 2, 4, 6, 8, 10, 12,
                      14, 1, 3, 5, 7, 9, 11, 13, 15, 0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7,
                      11, 15, 0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15, 5, 10, 6, 9, 3,
                      12, 13, 14, 4, 8, 7, 11, 1, 2, 1, 4, 7, 13, 2, 8, 11, 14, 2, 4, 5, 6, 9, 10,
                      11, 13, 3, 8, 7, 12, 6, 8, 10, 12, 3, 5, 7, 9, 3, 4, 5, 6, 7, 8, 9, 10, 11,
                      12, 6, 7, 8, 9>(rows);
    }

    // Lane k becomes lane k ^ turned: within groups of `turned` + 1 lanes they are reversed, or
    // each has changed places with the one so far away.
    template <int turned> [[gnu::always_inline]] static Vector exchanged(Vector v) {
        return exchanged<turned>(v, std::make_integer_sequence<int, columns>());
    }
    template <int turned, int... k>
    [[gnu::always_inline]] static Vector exchanged(Vector v, std::integer_sequence<int, k...>) {
        return __builtin_shufflevector(v, v, (k ^ turned)...);
    }

    // All groups of `group` lanes, each of two sorted halves, and then larger ones.
    template <int group> [[gnu::always_inline]] static void merge(Vector *rows) {
        merge_rows<group, Rows>(rows);
        order_lanes<group - 1, group / 2>(rows);
        if constexpr (group < columns) merge<2 * group>(rows);
    }
    template <int group, int height> [[gnu::always_inline]] static void merge_rows(Vector *rows) {
        if constexpr (height > 1) {
#pragma GCC unroll 16
            for (int top = 0; top < Rows; top += height) {
#pragma GCC unroll 16
                for (int i = 0; i < height / 2; ++i) {
                    Vector &other = rows[top + height - 1 - i];
                    other = exchanged<group - 1>(other);
                    order(rows[top + i], other);
                }
            }
            merge_rows<group, height / 2>(rows);
        }
    }
    // The greater keys go to the lanes whose numbers have the bit of `distance`.
    template <int turned, int distance>
    [[gnu::always_inline]] static void order_lanes(Vector *rows) {
        constexpr __mmask16 greater = 0xffff / ((1 << distance) + 1) << distance;
#pragma GCC unroll 16
        for (int row = 0; row < Rows; ++row) {
            const Vector v = rows[row], other = exchanged<turned>(v);
            const Vector low = v < other ? v : other;
            rows[row] = (Vector)_mm512_mask_ternarylogic_epi32((__m512i)low, greater, (__m512i)v,
                                                               (__m512i)other, exclusive_or);
        }
        if constexpr (distance > 1) order_lanes<distance / 2, distance / 2>(rows);
    }
    static constexpr int exclusive_or = 0x96; // of three
};

inline constexpr std::int64_t longest_network = 256;
// Ascending, of up to that many keys.
inline void sort_by_network(std::int64_t n, std::int32_t *keys) {
    if (n > 128) return SortingNetwork<16>::sort(n, keys);
    if (n > 64) return SortingNetwork<8>::sort(n, keys);
    if (n > 32) return SortingNetwork<4>::sort(n, keys);
    if (n > 16) return SortingNetwork<2>::sort(n, keys);
    if (n > 1) SortingNetwork<1>::sort(n, keys);
}

} // namespace Atoll::kernels
