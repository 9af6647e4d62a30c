// Interleaving, and transposition in registers by it; vectors of 64 bytes exchange blocks instead.
#pragma once

#include "product_vectors.h"

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

// Rows r and n / 2 + r, interleaved, become rows 2 r and 2 r + 1.
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

// Exchanges blocks of Step x Step elements of rows that are Step apart, for growing Step: a
// transposition.
template <int N, int Step, class V, int... i>
[[gnu::always_inline]] inline void exchange(V (&v)[N], std::integer_sequence<int, i...>) {
#pragma GCC unroll 16
    for (int r = 0; r < N; ++r) {
        if (r & Step) continue;
        const V a = v[r], b = v[r + Step];
        v[r] = __builtin_shufflevector(a, b, (i & Step ? N + i - Step : i)...);
        v[r + Step] = __builtin_shufflevector(a, b, (i & Step ? N + i : i + Step)...);
    }
}
template <int N, class V> [[gnu::always_inline]] inline void transpose_registers(V (&v)[N]) {
    using Every = std::make_integer_sequence<int, N>;
    exchange<N, 1>(v, Every());
    if constexpr (N > 2) exchange<N, 2>(v, Every());
    if constexpr (N > 4) exchange<N, 4>(v, Every());
    if constexpr (N > 8) exchange<N, 8>(v, Every());
    static_assert(N <= 16);
}

// store(i, column i) of the rows at row(i), as many as V has elements.
template <class V, class Row, class Store>
[[gnu::always_inline]] inline void load_transposed(Row &&row, Store &&store) {
    constexpr int N = sizeof(V) / sizeof(V{}[0]);
    if constexpr (sizeof(V) == 32) {
        // Halves of the rows of the second half beside those of the first, whose columns then are
        // whole.
        using Half = VectorN<std::remove_cvref_t<decltype(V{}[0])>, N / 2>;
#pragma GCC unroll 2
        for (int half = 0; half < 2; ++half) {
            V v[N / 2];
#pragma GCC unroll 4
            for (int i = 0; i < N / 2; ++i)
                v[i] = joined(load_vector<Half>(row(i) + half * 16),
                              load_vector<Half>(row(i + N / 2) + half * 16));
            transpose_interleaving(v);
#pragma GCC unroll 4
            for (int i = 0; i < N / 2; ++i) store(half * (N / 2) + i, v[i]);
        }
    } else {
        V v[N];
#pragma GCC unroll 16
        for (int i = 0; i < N; ++i) v[i] = load_vector<V>(row(i));
        if constexpr (sizeof(V) == 16)
            transpose_interleaving(v);
        else
            transpose_registers<N>(v);
#pragma GCC unroll 16
        for (int i = 0; i < N; ++i) store(i, v[i]);
    }
}

} // namespace Atoll::kernels
