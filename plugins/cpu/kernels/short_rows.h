// Sorts many rows of some elements together, each in a lane of its own.
//
// Note [Sorting networks]
// Which elements of a row are compared does not depend on them, so that there is nothing to
// mispredict, and vectors compare those of many rows at once. Where equal elements are the same bit
// for bit, the smaller and the larger of two are all that it takes. Otherwise, the position goes
// with the key as its last digit, so that equal elements stay as they are.
#pragma once

#include "product_vectors.h"
#include "sort_keys.h"
#include "transpose.h"

namespace Atoll::kernels {

inline constexpr std::int64_t longest_short_row = 128, fewest_short_rows = 8;
inline constexpr std::int64_t column_bytes = 128; // of elements that are compared at once

// Which elements of a row of n are compared, one pair after the other: the smaller one goes to the
// first place. Knuth, The Art of Computer Programming, 5.2.2, algorithm M (Batcher's merge
// exchange).
class Comparisons {
public:
    explicit Comparisons(std::int64_t n) {
        const std::int64_t half =
            static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(n)) / 2);
        for (std::int64_t p = half; p > 0; p /= 2)
            for (std::int64_t q = half, r = 0, d = p; q >= p; d = q - p, q /= 2, r = p)
                for (std::int64_t i = 0; i + d < n; ++i)
                    if ((i & p) == r) add(i, i + d);
    }
    const auto *begin() const { return pairs_; }
    const auto *end() const { return pairs_ + count_; }

private:
    struct Pair {
        std::uint8_t first, second;
    };
    void add(std::int64_t first, std::int64_t second) {
        pairs_[count_++] = {static_cast<std::uint8_t>(first), static_cast<std::uint8_t>(second)};
    }

    static constexpr std::int64_t most = longest_short_row / 4 * (7 * 7 - 7 + 4) - 1;
    static_assert(longest_short_row == 1 << 7);
    Pair pairs_[most];
    std::int64_t count_ = 0;
};

// Element k of each row in a column; W is a number whose equals are the same.
template <class W> struct ShortColumns {
    static constexpr std::int64_t lanes = column_bytes / std::int64_t{sizeof(W)};
    alignas(64) W columns[longest_short_row][lanes];

    // Elements of rows that begin `next` bytes after each other.
    void load(std::int64_t n, std::int64_t rows, const char *elements, std::int64_t next) {
        if (rows < lanes) std::memset(columns, 0, static_cast<std::size_t>(n * column_bytes));
        transpose(sizeof(W), rows, n, reinterpret_cast<char *>(columns), column_bytes, elements,
                  next);
    }
    [[gnu::noinline]] void sort(const Comparisons &comparisons) {
        for (const auto [first, second] : comparisons) order(columns[first], columns[second]);
    }
    // To rows that follow each other.
    void store(std::int64_t n, std::int64_t rows, char *out, bool reverse = false) const {
        transpose(sizeof(W), n, rows, out, n * std::int64_t{sizeof(W)},
                  reinterpret_cast<const char *>(columns[reverse ? n - 1 : 0]),
                  reverse ? -column_bytes : column_bytes);
    }

private:
    static void order(W *a, W *b) {
        using V = Vector<W>;
        for (std::int64_t i = 0; i < lanes; i += std::int64_t{sizeof(V) / sizeof(W)}) {
            const V x = load_vector<V>(a + i), y = load_vector<V>(b + i);
            store_vector(a + i, y < x ? y : x);
            store_vector(b + i, y < x ? x : y);
        }
    }
};

// A key with the position that it had, as one number.
template <class K> struct PositionedKey {
    using W = std::conditional_t<sizeof(K) == 1, std::uint16_t, std::uint32_t>;
    static W of(K key, std::int64_t position) {
        return static_cast<W>(static_cast<W>(key << 8) | static_cast<W>(position));
    }
    static std::int64_t position(W x) { return x & 0xff; }
};
// Whole numbers below 2^52 behind 2^52: all levels of processors have the smaller one of two.
template <> struct PositionedKey<std::uint32_t> {
    using W = double;
    static W of(std::uint32_t key, std::int64_t position) {
        return std::bit_cast<double>(std::bit_cast<std::int64_t>(0x1p52) |
                                     static_cast<std::int64_t>(key) << 8 | position);
    }
    static std::int64_t position(W x) { return std::bit_cast<std::int64_t>(x) & 0xff; }
};

// The positions of elements of up to 4 bytes.
template <class T, bool wide = (sizeof(T) > 4)> struct ShortPositions {
    using Key = PositionedKey<KeyOf<T>>;
    using W = typename Key::W;
    ShortColumns<W> keys;
    static constexpr std::int64_t lanes = ShortColumns<W>::lanes;

    void load(std::int64_t n, std::int64_t rows, const char *elements, std::int64_t next,
              bool descending) {
        alignas(64) T raw[longest_short_row][lanes] = {};
        transpose(sizeof(T), rows, n, reinterpret_cast<char *>(raw), sizeof raw[0], elements, next);
        for (std::int64_t k = 0; k < n; ++k)
            for (std::int64_t i = 0; i < lanes; ++i)
                keys.columns[k][i] = Key::of(key_of(raw[k][i], descending), k);
    }
    void sort(const Comparisons &comparisons) { keys.sort(comparisons); }
    void store(std::int64_t n, std::int64_t rows, std::int64_t *positions) const {
        alignas(64) W of_rows[longest_short_row * lanes];
        keys.store(n, rows, reinterpret_cast<char *>(of_rows));
        for (std::int64_t i = 0; i < n * rows; ++i) positions[i] = Key::position(of_rows[i]);
    }
};

// Of others: keys in one or two columns, positions in another.
template <class T> struct ShortPositions<T, true> {
    static constexpr int parts = sizeof(T) / 8;
    static constexpr std::int64_t lanes = column_bytes / 8;
    alignas(64) std::int64_t columns[longest_short_row][parts + 1][lanes];

    void load(std::int64_t n, std::int64_t rows, const char *elements, std::int64_t next,
              bool descending) {
        for (std::int64_t k = 0; k < n; ++k)
            for (std::int64_t i = 0; i < lanes; ++i) columns[k][parts][i] = k;
        for (std::int64_t i = 0; i < lanes; ++i)
            for (std::int64_t k = 0; k < n; ++k) {
                auto key = i < rows ? key_of(load_element(elements + i * next, k), descending) : 0;
                for (int part = parts - 1; part >= 0; --part) {
                    columns[k][part][i] =
                        static_cast<std::int64_t>(static_cast<std::uint64_t>(key) ^ 1ull << 63);
                    if constexpr (parts > 1) key >>= 64;
                }
            }
    }
    [[gnu::noinline]] void sort(const Comparisons &comparisons) {
        for (const auto [first, second] : comparisons) order(columns[first], columns[second]);
    }
    void store(std::int64_t n, std::int64_t rows, std::int64_t *positions) const {
        transpose(8, n, rows, reinterpret_cast<char *>(positions), n * 8,
                  reinterpret_cast<const char *>(columns[0][parts]), sizeof columns[0]);
    }

private:
    using Column = std::int64_t[lanes];
    static T load_element(const char *row, std::int64_t k) {
        return kernels::load<T>(row + k * std::int64_t{sizeof(T)});
    }
    static void order(Column *a, Column *b) {
        using V = Vector<std::int64_t>;
        for (std::int64_t i = 0; i < lanes; i += std::int64_t{sizeof(V) / 8}) {
            V x[parts + 1], y[parts + 1];
            for (int part = 0; part <= parts; ++part) {
                x[part] = load_vector<V>(a[part] + i);
                y[part] = load_vector<V>(b[part] + i);
            }
            auto swap = y[parts] < x[parts];
            for (int part = parts - 1; part >= 0; --part)
                swap = (y[part] < x[part]) | ((y[part] == x[part]) & swap);
            for (int part = 0; part <= parts; ++part) {
                store_vector(a[part] + i, swap ? y[part] : x[part]);
                store_vector(b[part] + i, swap ? x[part] : y[part]);
            }
        }
    }
};

// Sorts so many rows of n elements, each of which begins `next` bytes after another; results follow
// each other.
struct ShortRows {
    std::int64_t at_once;
    void (*run)(const Comparisons &comparisons, std::int64_t n, std::int64_t rows,
                const char *elements, std::int64_t next, char *results, bool descending);
};

template <class T> void argsort_short_rows(const Comparisons &comparisons, std::int64_t n,
                                           std::int64_t rows, const char *elements,
                                           std::int64_t next, char *results, bool descending) {
    ShortPositions<T> positions;
    positions.load(n, rows, elements, next, descending);
    positions.sort(comparisons);
    positions.store(n, rows, reinterpret_cast<std::int64_t *>(results));
}

// Whether elements of a row that are equal, or unordered, may differ.
template <class T> bool has_unlike_equals(std::int64_t n, const ShortColumns<T> &elements) {
    using K = KeyOf<T>;
    constexpr K sign = K{1} << (8 * sizeof(K) - 1);
    K found = 0;
    for (std::int64_t k = 0; k < n; ++k)
        for (const T x : elements.columns[k])
            found |= static_cast<K>(std::bit_cast<K>(x) == sign) | static_cast<K>(x != x);
    return found;
}

template <class T> void sort_short_rows(const Comparisons &comparisons, std::int64_t n,
                                        std::int64_t rows, const char *elements, std::int64_t next,
                                        char *results, bool descending) {
    if constexpr (!is_complex<T>) {
        using W = Element<T>;
        ShortColumns<W> columns;
        columns.load(n, rows, elements, next);
        if constexpr (is_bool<T>)
            for (std::int64_t k = 0; k < n; ++k)
                for (W &x : columns.columns[k]) x = x != 0;
        bool unlike = false;
        if constexpr (is_float<T>) unlike = has_unlike_equals(n, columns);
        if (!unlike) {
            columns.sort(comparisons);
            return columns.store(n, rows, results, descending);
        }
    }
    if constexpr (is_complex<T> || is_float<T>) {
        constexpr std::int64_t lanes = ShortPositions<T>::lanes, size = sizeof(T);
        alignas(64) std::int64_t positions[lanes * longest_short_row];
        for (std::int64_t row = 0; row < rows; row += lanes) {
            const std::int64_t some = std::min(lanes, rows - row);
            const char *from = elements + row * next;
            char *out = results + row * n * size;
            argsort_short_rows<T>(comparisons, n, some, from, next,
                                  reinterpret_cast<char *>(positions), descending);
            for (std::int64_t i = 0; i < some; ++i)
                for (std::int64_t k = 0; k < n; ++k)
                    std::memcpy(out + (i * n + k) * size,
                                from + i * next + positions[i * n + k] * size, size);
        }
    }
}

// Results are elements, or their positions as int64.
template <class T, bool positions> constexpr ShortRows short_rows() {
    if constexpr (positions)
        return {ShortPositions<T>::lanes, &argsort_short_rows<T>};
    else
        return {column_bytes / std::int64_t{sizeof(T)}, &sort_short_rows<T>};
}

} // namespace Atoll::kernels
