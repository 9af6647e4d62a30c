// Sorts many rows of a few elements together, each in a lane of its own.
//
// Neighbours in a row change places if their keys are in the wrong order, which keeps equal ones as
// they are. Which are compared does not depend on the keys, so that there is nothing to mispredict.
#pragma once

#include "sort_keys.h"

namespace Atoll::kernels {

inline constexpr std::int64_t longest_short_row = 16, fewest_short_rows = 8,
                              short_rows_at_once = 64;
// Bytes of the elements or results of rows that are sorted at once.
inline constexpr std::int64_t short_rows_room = 8 * longest_short_row * short_rows_at_once;

// Sorts so many rows of n elements, which follow each other, as do the results.
using ShortRows = void (*)(std::int64_t n, std::int64_t rows, const char *elements, char *results,
                           bool descending);

// The keys of row r, and what goes with them, are in column r.
template <class K> struct ShortColumns {
    alignas(64) K keys[longest_short_row][short_rows_at_once];
    alignas(64) K others[longest_short_row][short_rows_at_once];

    // Compiled once for all elements of a size.
    [[gnu::noinline]] void sort(std::int64_t n) {
        for (std::int64_t last = n - 1; last > 0; --last)
            for (std::int64_t k = 0; k < last; ++k)
                order(keys[k], keys[k + 1], others[k], others[k + 1]);
    }

private:
    static void order(K *__restrict a, K *__restrict b, K *__restrict x, K *__restrict y) {
        for (std::int64_t row = 0; row < short_rows_at_once; ++row) {
            const bool swap = b[row] < a[row];
            const K low = swap ? b[row] : a[row], high = swap ? a[row] : b[row];
            const K first = swap ? y[row] : x[row], second = swap ? x[row] : y[row];
            a[row] = low;
            b[row] = high;
            x[row] = first;
            y[row] = second;
        }
    }
};

// Results are elements, or their positions as int64.
template <class T, bool positions> void sort_short_rows(std::int64_t n, std::int64_t rows,
                                                        const char *elements, char *results,
                                                        bool descending) {
    using K = KeyOf<T>;
    using Result = std::conditional_t<positions, std::int64_t, K>;
    const T *x = reinterpret_cast<const T *>(elements);
    Result *y = reinterpret_cast<Result *>(results);
    ShortColumns<K> columns;
    for (std::int64_t row = 0; row < rows; ++row)
        for (std::int64_t k = 0; k < n; ++k) {
            const T element = x[row * n + k];
            columns.keys[k][row] = key_of(element, descending);
            if constexpr (positions)
                columns.others[k][row] = static_cast<K>(k);
            else if constexpr (is_bool<T>)
                columns.others[k][row] = truth(element); // what is written is 0 or 1
            else
                columns.others[k][row] = std::bit_cast<K>(element);
        }
    for (std::int64_t k = 0; k < n; ++k)
        for (std::int64_t row = rows; row < short_rows_at_once; ++row)
            columns.keys[k][row] = columns.others[k][row] = 0;
    columns.sort(n);
    for (std::int64_t row = 0; row < rows; ++row)
        for (std::int64_t k = 0; k < n; ++k)
            y[row * n + k] = static_cast<Result>(columns.others[k][row]);
}

template <class T, bool positions> constexpr ShortRows short_rows() {
    if constexpr (sizeof(T) <= 8)
        return &sort_short_rows<T, positions>;
    else
        return nullptr; // no vectors hold such keys
}

} // namespace Atoll::kernels
