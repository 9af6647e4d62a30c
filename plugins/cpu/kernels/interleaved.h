// Transposition in registers by interleaving.
#pragma once

#include <type_traits>
#include <utility>

namespace Atoll::kernels {

// Within each 16 bytes the elements of the low or the high half of a, each followed by that of b:
// one instruction.
template <int half, class V> [[gnu::always_inline]] inline V interleaved(V a, V b) {
    constexpr int all = sizeof(V) / sizeof(a[0]), n = 16 / sizeof(a[0]);
    return [&]<int... i>(std::integer_sequence<int, i...>) {
        return __builtin_shufflevector(a, b,
                                       (i / n * n + half * (n / 2) + i % n / 2 + i % 2 * all)...);
    }
    (std::make_integer_sequence<int, all>());
}

// The first half of the rows with the second one.
template <int n, class V> [[gnu::always_inline]] inline void interleave_rows(V (&rows)[n]) {
    V mixed[n];
#pragma GCC unroll 8
    for (int r = 0; r < n / 2; ++r) {
        mixed[2 * r] = interleaved<0>(rows[r], rows[r + n / 2]);
        mixed[2 * r + 1] = interleaved<1>(rows[r], rows[r + n / 2]);
    }
#pragma GCC unroll 16
    for (int r = 0; r < n; ++r) rows[r] = mixed[r];
}

// `n` rows, as many as 16 bytes have elements, become columns within each 16 bytes: they are
// interleaved as often as n has factors of two.
template <int n, class V> [[gnu::always_inline]] inline void transpose_interleaving(V (&rows)[n]) {
    static_assert(n * sizeof(rows[0][0]) == 16);
#pragma GCC unroll 4
    for (int round = 1; round < n; round *= 2) interleave_rows(rows);
}

} // namespace Atoll::kernels
