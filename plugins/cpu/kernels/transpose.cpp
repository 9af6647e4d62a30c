// Transposition in registers: squares of 4, 8 or 16 rows; with AVX2 alone, squares of 2 rows of
// elements of 16 bytes, which go one by one otherwise.
#include "transpose.h"

#include "interleaved.h"
#include "types.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace Atoll::kernels {
namespace {

// Elements that fill 16 bytes, as many rows.
template <class T> struct Square {
    static constexpr std::int64_t side = 16 / sizeof(T);
    typedef T Vector __attribute__((vector_size(16)));

    static void transpose(char *out, std::int64_t os, const char *in, std::int64_t is) {
        Vector rows[side];
        for (std::int64_t k = 0; k < side; ++k) std::memcpy(&rows[k], in + k * is, sizeof rows[k]);
        transpose_interleaving(rows);
        for (std::int64_t k = 0; k < side; ++k) std::memcpy(out + k * os, &rows[k], sizeof rows[k]);
    }
};
// Four rows of four elements of 4 or 8 bytes: of these GCC 12 makes better code than of the above,
// which takes five times as long at x86-64-v4 and twice at v3; but half as long where 32 bytes are
// two registers.
template <class T> struct Four {
    static constexpr std::int64_t side = 4;
    typedef T Vector __attribute__((vector_size(4 * sizeof(T))));

    static void transpose(char *out, std::int64_t os, const char *in, std::int64_t is) {
        Vector a, b, c, d;
        std::memcpy(&a, in, sizeof a);
        std::memcpy(&b, in + is, sizeof b);
        std::memcpy(&c, in + 2 * is, sizeof c);
        std::memcpy(&d, in + 3 * is, sizeof d);
        const Vector ab_low = __builtin_shufflevector(a, b, 0, 4, 2, 6);
        const Vector ab_high = __builtin_shufflevector(a, b, 1, 5, 3, 7);
        const Vector cd_low = __builtin_shufflevector(c, d, 0, 4, 2, 6);
        const Vector cd_high = __builtin_shufflevector(c, d, 1, 5, 3, 7);
        const Vector row0 = __builtin_shufflevector(ab_low, cd_low, 0, 1, 4, 5);
        const Vector row1 = __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5);
        const Vector row2 = __builtin_shufflevector(ab_low, cd_low, 2, 3, 6, 7);
        const Vector row3 = __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7);
        std::memcpy(out, &row0, sizeof row0);
        std::memcpy(out + os, &row1, sizeof row1);
        std::memcpy(out + 2 * os, &row2, sizeof row2);
        std::memcpy(out + 3 * os, &row3, sizeof row3);
    }
};

#if defined(__AVX512F__)
// Elements that fill a cache line, as many rows: exchanged within 16 bytes first, then as 16 bytes.
template <class T> struct Line {
    static constexpr int side = 64 / sizeof(T), quarter = side / 4;
    typedef T Vector __attribute__((vector_size(64)));

    static void transpose(char *out, std::int64_t os, const char *in, std::int64_t is) {
        Vector a[side], b[side];
        for (int k = 0; k < side; ++k) std::memcpy(&a[k], in + k * is, sizeof a[k]);
        for (int k = 0; k < side; k += 2) {
            b[k] = interleaved<0>(a[k], a[k + 1]);
            b[k + 1] = interleaved<1>(a[k], a[k + 1]);
        }
        if constexpr (quarter == 4) {
            for (int k = 0; k < side; k += 4)
                for (int i = 0; i < 2; ++i) {
                    a[k + 2 * i] = pairs<0>(b[k + i], b[k + 2 + i]);
                    a[k + 2 * i + 1] = pairs<1>(b[k + i], b[k + 2 + i]);
                }
            std::copy_n(a, side, b);
        }
        // b[k + c]: of the rows from k on, the columns c, quarter + c, 2 quarter + c, 3 quarter +
        // c.
        for (int c = 0; c < quarter; ++c) {
            const Vector even[2] = {parts<0>(b[c], b[quarter + c]),
                                    parts<0>(b[2 * quarter + c], b[3 * quarter + c])},
                         odd[2] = {parts<1>(b[c], b[quarter + c]),
                                   parts<1>(b[2 * quarter + c], b[3 * quarter + c])};
            const Vector columns[4] = {parts<0>(even[0], even[1]), parts<0>(odd[0], odd[1]),
                                       parts<1>(even[0], even[1]), parts<1>(odd[0], odd[1])};
            for (int k = 0; k < 4; ++k)
                std::memcpy(out + (k * quarter + c) * os, &columns[k], sizeof columns[k]);
        }
    }

private:
    template <int half> static Vector pairs(Vector a, Vector b) {
        typedef std::int64_t Longs __attribute__((vector_size(64)));
        return (Vector)interleaved<half>((Longs)a, (Longs)b);
    }
    // Every second 16 bytes of a, then of b.
    template <int first> static Vector parts(Vector a, Vector b) {
        return [&]<int... k>(std::integer_sequence<int, k...>) {
            return __builtin_shufflevector(a, b,
                                           (k / (side / 2) * side +
                                            (k % (side / 2) / quarter * 2 + first) * quarter +
                                            k % quarter)...);
        }
        (std::make_integer_sequence<int, side>());
    }
};
#endif

#if defined(__AVX2__)
// Two or three elements side by side, which follow each other without gaps: as many vectors of them
// become vectors of the first ones, of the second ones, and so on, or the reverse. Whole vectors
// only; the number of elements moved is returned.
template <std::size_t Size, int few> struct Tuples {
    using T = std::conditional_t<Size == 4, std::int32_t, std::int64_t>;
    static constexpr std::int64_t size = Size, bytes = vector_bytes;
    static constexpr int side = vector_bytes / static_cast<int>(Size);
    typedef T Vector __attribute__((vector_size(vector_bytes)));

    // out[c][i] = in[few i + c]
    static std::int64_t apart(std::int64_t count, char *out, std::int64_t os, const char *in) {
        std::int64_t i = 0;
        for (; i + side <= count; i += side, in += few * bytes) {
            Vector v[few];
            for (int c = 0; c < few; ++c) v[c] = load(in + c * bytes);
            [&]<int... c>(std::integer_sequence<int, c...>) {
                (store(out + c * os + i * size, part<c>(v)), ...);
            }
            (std::make_integer_sequence<int, few>());
        }
        return i;
    }
    // out[few i + c] = in[c][i]
    static std::int64_t together(std::int64_t count, char *out, const char *in, std::int64_t is) {
        std::int64_t i = 0;
        for (; i + side <= count; i += side, out += few * bytes) {
            Vector v[few];
            for (int c = 0; c < few; ++c) v[c] = load(in + c * is + i * size);
            if constexpr (blends) spread(v, std::make_integer_sequence<int, few>());
            [&]<int... q>(std::integer_sequence<int, q...>) {
                (store(out + q * bytes, joined<q>(v)), ...);
            }
            (std::make_integer_sequence<int, few>());
        }
        return i;
    }

private:
    // No instruction of AVX2 picks any elements of two vectors. But of three vectors of triples
    // each lane has every component once, so that blends sort them out, and a permutation of one
    // vector puts them in their order.
    static constexpr bool blends = vector_bytes < 64 && few == 3;

    // Copied to a vector of several, GCC 12 goes through memory.
    static Vector load(const char *in) {
        Vector v;
        std::memcpy(&v, in, sizeof v);
        return v;
    }
    static void store(char *out, const Vector &v) { std::memcpy(out, &v, sizeof v); }
    // Lane k of v[of(k)].
    template <class Of, int... k>
    static Vector blended(const Vector (&v)[few], const Of &, std::integer_sequence<int, k...>) {
        const Vector two = __builtin_shufflevector(v[0], v[1], (Of::of(k) == 1 ? side + k : k)...);
        return __builtin_shufflevector(two, v[few - 1], (Of::of(k) == 2 ? side + k : k)...);
    }
    // Component c of triple i is in lane (few i + c) % side of its blend. The reverse: few is its
    // own inverse modulo 4 and 8.
    template <int c, int... k>
    static Vector gathered(const Vector &v, std::integer_sequence<int, k...>) {
        return __builtin_shufflevector(v, v, ((few * k + c) % side)...);
    }
    template <int c, int... k>
    static Vector scattered(const Vector &v, std::integer_sequence<int, k...>) {
        return __builtin_shufflevector(v, v, ((k - c + side) * few % side)...);
    }
    template <int... c> static void spread(Vector (&v)[few], std::integer_sequence<int, c...>) {
        ((v[c] = scattered<c>(v[c], std::make_integer_sequence<int, side>())), ...);
    }

    // What of vector q of all comes from which place of v[0] and v[1], and what from v[2].
    template <class Of> static Vector taken(const Vector (&v)[few], const Of &) {
        return [&]<int... k>(std::integer_sequence<int, k...>) {
            const Vector two = __builtin_shufflevector(v[0], v[1], first_two(Of::place(k))...);
            if constexpr (few == 2)
                return two;
            else
                return __builtin_shufflevector(
                    two, v[few - 1], (Of::place(k) < 2 * side ? k : Of::place(k) - side)...);
        }
        (std::make_integer_sequence<int, side>());
    }
    static constexpr int first_two(int place) { return place < 2 * side ? place : 0; }
    template <int c> static Vector part(const Vector (&v)[few]) {
        struct Of {
            static constexpr int place(int k) { return few * k + c; }
            // The vector of which lane k has component c.
            static constexpr int of(int k) {
                return (k % few == c ? 0 : (side + k) % few == c ? 1 : 2);
            }
        };
        constexpr auto indices = std::make_integer_sequence<int, side>();
        if constexpr (blends)
            return gathered<c>(blended(v, Of(), indices), indices);
        else
            return taken(v, Of());
    }
    template <int q> static Vector joined(const Vector (&v)[few]) {
        struct Of {
            static constexpr int of(int k) { return (q * side + k) % few; }
            static constexpr int place(int k) { return of(k) * side + (q * side + k) / few; }
        };
        if constexpr (blends)
            return blended(v, Of(), std::make_integer_sequence<int, side>());
        else
            return taken(v, Of());
    }
};
#endif

// out[i * out_few + j * out_next] = in[i * in_few + j * in_next] for i < few, j < count.
template <std::size_t Size, int few>
void tuples(std::int64_t count, char *out, std::int64_t out_few, std::int64_t out_next,
            const char *in, std::int64_t in_few, std::int64_t in_next) {
    std::int64_t j = 0;
#if defined(__AVX2__)
    if constexpr (Size == 4 || Size == 8) {
        constexpr auto size = static_cast<std::int64_t>(Size);
        if (in_few == size && in_next == few * size)
            j = Tuples<Size, few>::apart(count, out, out_few, in);
        else if (out_few == size && out_next == few * size)
            j = Tuples<Size, few>::together(count, out, in, in_few);
    }
#endif
    for (; j < count; ++j)
#pragma GCC unroll 3
        for (int i = 0; i < few; ++i)
            std::memcpy(out + i * out_few + j * out_next, in + i * in_few + j * in_next, Size);
}

template <std::size_t Size> void plain(std::int64_t rows, std::int64_t columns, char *out,
                                       std::int64_t os, const char *in, std::int64_t is) {
    constexpr auto size = static_cast<std::int64_t>(Size);
    if (rows == 2) return tuples<Size, 2>(columns, out, size, os, in, is, size);
    if (rows == 3) return tuples<Size, 3>(columns, out, size, os, in, is, size);
    if (columns == 2) return tuples<Size, 2>(rows, out, os, size, in, size, is);
    if (columns == 3) return tuples<Size, 3>(rows, out, os, size, in, size, is);
    for (std::int64_t j = 0; j < columns; ++j)
        for (std::int64_t i = 0; i < rows; ++i)
            std::memcpy(out + i * size + j * os, in + j * size + i * is, Size);
}

// The squares of a Block, and what is left of rows and columns by `rest`.
template <template <class> class Block, class T, class Rest>
void blocked(std::int64_t rows, std::int64_t columns, char *out, std::int64_t os, const char *in,
             std::int64_t is, const Rest &rest) {
    constexpr std::int64_t size = sizeof(T), side = Block<T>::side;
    const std::int64_t whole_rows = rows / side * side, whole_columns = columns / side * side;
    const auto block = [&](std::int64_t i, std::int64_t j) {
        Block<T>::transpose(out + i * size + j * os, os, in + j * size + i * is, is);
    };
    // Such rows would push each other out before they are read to the end.
    if (is % few_sets_apart == 0)
        for (std::int64_t i = 0; i < whole_rows; i += side)
            for (std::int64_t j = 0; j < whole_columns; j += side) block(i, j);
    else
        for (std::int64_t j = 0; j < whole_columns; j += side)
            for (std::int64_t i = 0; i < whole_rows; i += side) block(i, j);
    if (whole_columns < columns)
        rest(rows, columns - whole_columns, out + whole_columns * os, os, in + whole_columns * size,
             is);
    if (whole_rows < rows)
        rest(rows - whole_rows, whole_columns, out + whole_rows * size, os, in + whole_rows * is,
             is);
}
template <template <class> class Block, class T>
void blocked(std::int64_t rows, std::int64_t columns, char *out, std::int64_t os, const char *in,
             std::int64_t is) {
    blocked<Block, T>(rows, columns, out, os, in, is, &plain<sizeof(T)>);
}
#if defined(__AVX512F__)
template <class T> void in_lines(std::int64_t rows, std::int64_t columns, char *out,
                                 std::int64_t os, const char *in, std::int64_t is) {
    blocked<Line, T>(rows, columns, out, os, in, is, &blocked<Four, T>);
}
#endif

#if defined(__AVX2__) && !defined(__AVX512F__)
// Two rows of two elements of 16 bytes.
template <class T> struct Two {
    static constexpr std::int64_t side = 2;
    typedef double Vector __attribute__((vector_size(32)));

    static void transpose(char *out, std::int64_t os, const char *in, std::int64_t is) {
        Vector a, b;
        std::memcpy(&a, in, sizeof a);
        std::memcpy(&b, in + is, sizeof b);
        const Vector row0 = __builtin_shufflevector(a, b, 0, 1, 4, 5);
        const Vector row1 = __builtin_shufflevector(a, b, 2, 3, 6, 7);
        std::memcpy(out, &row0, sizeof row0);
        std::memcpy(out + os, &row1, sizeof row1);
    }
};
#endif

#if defined(__AVX2__)
template <class T> using Eight = Four<T>;
#else
template <class T> using Eight = Square<T>;
#endif

} // namespace

void transpose(std::int64_t size, std::int64_t rows, std::int64_t columns, char *out,
               std::int64_t out_stride, const char *in, std::int64_t in_stride) {
    switch (size) {
    case 1: return blocked<Square, std::int8_t>(rows, columns, out, out_stride, in, in_stride);
    case 2: return blocked<Square, std::int16_t>(rows, columns, out, out_stride, in, in_stride);
#if defined(__AVX512F__)
    case 4: return in_lines<std::int32_t>(rows, columns, out, out_stride, in, in_stride);
#else
    case 4: return blocked<Four, std::int32_t>(rows, columns, out, out_stride, in, in_stride);
#endif
    case 8:
#if defined(__AVX512F__)
        // Parts of lines on few sets of the cache would push each other out.
        if (out_stride % few_sets_apart == 0)
            return in_lines<std::int64_t>(rows, columns, out, out_stride, in, in_stride);
#endif
        return blocked<Eight, std::int64_t>(rows, columns, out, out_stride, in, in_stride);
    default:
#if defined(__AVX2__) && !defined(__AVX512F__)
        if (rows > 3 && columns > 3)
            return blocked<Two, Complex<double>>(rows, columns, out, out_stride, in, in_stride);
#endif
        return plain<16>(rows, columns, out, out_stride, in, in_stride);
    }
}

} // namespace Atoll::kernels
