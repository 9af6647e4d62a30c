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

#include <algorithm>
#include <limits>

namespace Atoll::kernels {

inline constexpr std::int64_t longest_short_row = 128, fewest_short_rows = 8;
inline constexpr std::int64_t column_bytes = 128; // of elements that are compared at once

// The steps of a network for rows of n elements. Each is of some elements, which are in registers
// meanwhile: most of the time goes into stores.
class Network {
public:
    enum class Kind : std::uint8_t {
        sort,    // eight elements
        merge,   // eight: the first three levels of merging two sorted runs
        halve_8, // three of the levels that follow
        halve_4, // two
        halve_2, // one
    };
    struct Step {
        Kind kind;
        std::uint8_t elements[8]; // of each row; n: none, as if there were a largest one
    };

    explicit Network(std::int64_t n) : n_(n) {
        if (n < 8) {
            exchange();
            return;
        }
        for (std::int64_t i = 0; i < n; i += 8) add(Kind::sort, i, 1, 8);
        for (std::int64_t size = 16; size < 2 * n; size *= 2)
            for (std::int64_t i = 0; i + size / 2 < n; i += size) merge(i, size);
    }
    const Step *begin() const { return steps_; }
    const Step *end() const { return steps_ + count_; }

private:
    // Batcher's merge exchange: Knuth, The Art of Computer Programming, 5.2.2, algorithm M.
    void exchange() {
        for (std::int64_t p = 4; p > 0; p /= 2)
            for (std::int64_t q = 4, r = 0, d = p; q >= p; d = q - p, q /= 2, r = p)
                for (std::int64_t i = 0; i + d < n_; ++i)
                    if ((i & p) == r) add(Kind::halve_2, i, d, 2);
    }
    // Batcher's bitonic merge of two runs. The first level compares one from its beginning on with
    // the other from its end on, so that the smaller element always goes to the first place.
    void merge(std::int64_t first, std::int64_t size) {
        const std::int64_t eighth = size / 8;
        for (std::int64_t i = 0; i < eighth; ++i) {
            std::int64_t elements[8];
            for (int k = 0; k < 4; ++k) {
                elements[k] = first + i + k * eighth;
                elements[7 - k] = first + size - 1 - i - k * eighth;
            }
            add(Kind::merge, elements, 8);
        }
        for (std::int64_t block = eighth, some; block > 1; block /= some) {
            some = block == 16 ? 4 : std::min<std::int64_t>(block, 8);
            for (std::int64_t base = first; base < first + size; base += block)
                for (std::int64_t i = 0; i < block / some; ++i)
                    add(some == 8   ? Kind::halve_8
                        : some == 4 ? Kind::halve_4
                                    : Kind::halve_2,
                        base + i, block / some, some);
        }
    }
    void add(Kind kind, std::int64_t first, std::int64_t step, std::int64_t some) {
        std::int64_t elements[8];
        for (std::int64_t k = 0; k < some; ++k) elements[k] = first + k * step;
        add(kind, elements, some);
    }
    void add(Kind kind, const std::int64_t *elements, std::int64_t some) {
        if (elements[1] >= n_) return; // all but the first are none
        Step &step = steps_[count_++];
        step.kind = kind;
        for (std::int64_t k = 0; k < some; ++k)
            step.elements[k] = static_cast<std::uint8_t>(std::min(elements[k], n_));
    }

    std::int64_t n_, count_ = 0;
    Step steps_[2 * longest_short_row];
};

// `rows` rows of n elements that begin `next` bytes after each other, and so many results. Elements
// and results are apart.
struct ShortRows {
    const Network &network;
    std::int64_t n, rows;
    const char *elements;
    std::int64_t next;
    char *results;
    std::int64_t next_result;
    bool descending;

    // The elements k to column k; lanes without a row get zeros.
    template <class T, std::int64_t lanes> void load(T (*columns)[lanes]) const {
        if (rows < lanes) std::memset(columns, 0, static_cast<std::size_t>(n) * sizeof *columns);
        transpose(sizeof(T), rows, n, reinterpret_cast<char *>(columns), sizeof *columns, elements,
                  next);
    }
};

// Element k of each row in column k: a number, or several, the most significant first, of which no
// two are equal. Equal numbers are the same.
template <class W, int numbers = 1> struct ShortColumns {
    static constexpr std::int64_t lanes = column_bytes / std::int64_t{sizeof(W)};
    using Column = W[numbers][lanes];
    alignas(64) Column columns[longest_short_row + 1];

    [[gnu::noinline]] void sort(const Network &network, std::int64_t n) {
        using Limits = std::numeric_limits<W>;
        std::fill_n(columns[n][0], numbers * lanes,
                    Limits::has_infinity ? Limits::infinity() : Limits::max());
        for (const Network::Step &step : network) switch (step.kind) {
            case Network::Kind::sort: run<8>(step, [](Lanes *x) { sort_8(x); }); break;
            case Network::Kind::merge: run<8>(step, [](Lanes *x) { merge_8(x); }); break;
            case Network::Kind::halve_8: run<8>(step, [](Lanes *x) { halve<8>(x); }); break;
            case Network::Kind::halve_4: run<4>(step, [](Lanes *x) { halve<4>(x); }); break;
            case Network::Kind::halve_2: run<2>(step, [](Lanes *x) { halve<2>(x); }); break;
            }
    }
    // The last number of each to rows that begin `next` bytes after each other.
    void store(std::int64_t n, std::int64_t rows, char *out, std::int64_t next,
               bool reverse = false) const {
        constexpr std::int64_t step = sizeof(Column);
        transpose(sizeof(W), n, rows, out, next,
                  reinterpret_cast<const char *>(columns[reverse ? n - 1 : 0][numbers - 1]),
                  reverse ? -step : step);
    }

private:
    using V = Vector<W>;
    struct Lanes {
        V v[numbers];
    };

    template <int some, class Compare> void run(const Network::Step &step, const Compare &compare) {
        for (std::int64_t i = 0; i < lanes; i += std::int64_t{sizeof(V) / sizeof(W)}) {
            Lanes x[some];
#pragma GCC unroll 8
            for (int k = 0; k < some; ++k)
                for (int number = 0; number < numbers; ++number)
                    x[k].v[number] = load_vector<V>(columns[step.elements[k]][number] + i);
            compare(x);
#pragma GCC unroll 8
            for (int k = 0; k < some; ++k)
                for (int number = 0; number < numbers; ++number)
                    store_vector(columns[step.elements[k]][number] + i, x[k].v[number]);
        }
    }
    [[gnu::always_inline]] static void order(Lanes &a, Lanes &b) {
        const Lanes x = a, y = b;
        auto swap = y.v[numbers - 1] < x.v[numbers - 1];
        for (int i = numbers - 2; i >= 0; --i)
            swap = (y.v[i] < x.v[i]) | ((y.v[i] == x.v[i]) & swap);
        for (int i = 0; i < numbers; ++i) {
            a.v[i] = swap ? y.v[i] : x.v[i];
            b.v[i] = swap ? x.v[i] : y.v[i];
        }
    }
    // Knuth, 5.3.4: the least comparisons.
    [[gnu::always_inline]] static void sort_8(Lanes *x) {
        constexpr std::uint8_t pairs[][2] = {{0, 2}, {1, 3}, {4, 6}, {5, 7}, {0, 4}, {1, 5}, {2, 6},
                                             {3, 7}, {0, 1}, {2, 3}, {4, 5}, {6, 7}, {2, 4}, {3, 5},
                                             {1, 4}, {3, 6}, {1, 2}, {3, 4}, {5, 6}};
#pragma GCC unroll 19
        for (int i = 0; i < 19; ++i) order(x[pairs[i][0]], x[pairs[i][1]]);
    }
    [[gnu::always_inline]] static void merge_8(Lanes *x) {
#pragma GCC unroll 4
        for (int k = 0; k < 4; ++k) order(x[k], x[7 - k]);
        halve<4>(x);
        halve<4>(x + 4);
    }
    template <int some> [[gnu::always_inline]] static void halve(Lanes *x) {
        if constexpr (some > 1) {
#pragma GCC unroll 4
            for (int k = 0; k < some / 2; ++k) order(x[k], x[k + some / 2]);
            halve<some / 2>(x);
            halve<some / 2>(x + some / 2);
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

// Keys of elements with their positions. Those of 8 and of 16 bytes are one and two numbers, the
// position another one.
template <class T> struct PositionColumns {
    static constexpr bool together = sizeof(T) <= 4;
    static constexpr int parts = together ? 0 : sizeof(T) / 8;
    using Key = PositionedKey<std::conditional_t<together, KeyOf<T>, std::uint32_t>>;
    using W = std::conditional_t<together, typename Key::W, std::int64_t>;
    static constexpr std::int64_t lanes = column_bytes / std::int64_t{sizeof(W)};
    using Columns = ShortColumns<W, parts + 1>;
    Columns keys;

    void load(const ShortRows &of) {
        alignas(64) T raw[longest_short_row][lanes];
        of.load(raw);
        for (std::int64_t k = 0; k < of.n; ++k)
            for (std::int64_t i = 0; i < lanes; ++i) {
                auto key = key_of(raw[k][i], of.descending);
                if constexpr (together) {
                    keys.columns[k][0][i] = Key::of(key, k);
                } else {
                    keys.columns[k][parts][i] = k;
                    for (int part = parts - 1; part >= 0; --part) {
                        keys.columns[k][part][i] =
                            static_cast<std::int64_t>(static_cast<std::uint64_t>(key) ^ 1ull << 63);
                        if constexpr (parts > 1) key >>= 64;
                    }
                }
            }
    }
    void store(const ShortRows &of) const {
        if constexpr (together) {
            alignas(64) W rows[longest_short_row * lanes];
            keys.store(of.n, of.rows, reinterpret_cast<char *>(rows),
                       of.n * std::int64_t{sizeof(W)});
            const bool dense = of.next_result == of.n * 8;
            const std::int64_t length = dense ? of.n * of.rows : of.n;
            for (std::int64_t row = 0; row < (dense ? 1 : of.rows); ++row) {
                auto *const to =
                    reinterpret_cast<std::int64_t *>(of.results + row * of.next_result);
                for (std::int64_t i = 0; i < length; ++i)
                    to[i] = Key::position(rows[row * of.n + i]);
            }
        } else {
            keys.store(of.n, of.rows, of.results, of.next_result);
        }
    }
};

// Whether elements of a row that are equal, or unordered, may differ.
template <class T> bool has_unlike_equals(std::int64_t n, const ShortColumns<T> &elements) {
    using K = KeyOf<T>;
    constexpr K sign = K{1} << (8 * sizeof(K) - 1);
    K found = 0;
    for (std::int64_t k = 0; k < n; ++k)
        for (const T x : elements.columns[k][0])
            found |= static_cast<K>(std::bit_cast<K>(x) == sign) | static_cast<K>(x != x);
    return found;
}

template <class T> struct ShortArgsort {
    static constexpr std::int64_t at_once = PositionColumns<T>::lanes; // rows at most
    static void run(const ShortRows &of) {
        PositionColumns<T> positions;
        positions.load(of);
        positions.keys.sort(of.network, of.n);
        positions.store(of);
    }
};
template <class T> struct ShortSort {
    static constexpr std::int64_t at_once = column_bytes / std::int64_t{sizeof(T)};
    static void run(const ShortRows &of) {
        if constexpr (!is_complex<T>) {
            ShortColumns<Element<T>> columns;
            of.load(reinterpret_cast<Element<T>(*)[at_once]>(columns.columns));
            if constexpr (is_bool<T>)
                for (std::int64_t k = 0; k < of.n; ++k)
                    for (std::uint8_t &x : columns.columns[k][0]) x = x != 0;
            bool unlike = false;
            if constexpr (is_float<T>) unlike = has_unlike_equals(of.n, columns);
            if (!unlike) {
                columns.sort(of.network, of.n);
                return columns.store(of.n, of.rows, of.results, of.next_result, of.descending);
            }
        }
        if constexpr (is_complex<T> || is_float<T>) by_positions(of);
    }

private:
    static void by_positions(const ShortRows &of) {
        constexpr std::int64_t lanes = ShortArgsort<T>::at_once, size = sizeof(T);
        alignas(64) std::int64_t positions[lanes * longest_short_row];
        for (std::int64_t first = 0; first < of.rows; first += lanes) {
            ShortRows some = of;
            some.rows = std::min(lanes, of.rows - first);
            some.elements = of.elements + first * of.next;
            some.results = reinterpret_cast<char *>(positions);
            some.next_result = of.n * 8;
            ShortArgsort<T>::run(some);
            for (std::int64_t row = 0; row < some.rows; ++row) {
                const char *const from = some.elements + row * of.next;
                char *const to = of.results + (first + row) * of.next_result;
                for (std::int64_t k = 0; k < of.n; ++k)
                    std::memcpy(to + k * size, from + positions[row * of.n + k] * size, size);
            }
        }
    }
};

} // namespace Atoll::kernels
