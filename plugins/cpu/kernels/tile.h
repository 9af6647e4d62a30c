// The register-blocked kernel: one tile of d from a panel of a and a panel of b.
//
// Note [Panels]
// Rows (indices along m) are packed in panels of TileShape::rows, columns in panels of
// TileShape::columns: for each index along k the panel's elements side by side, zeros past the end.
// A complex panel of a has the real parts of its rows, then the imaginary parts; one of b has
// complex numbers. Rows come in groups (TileShape::row_group): within a group d's elements are
// mostly dense, so that they are stored as vectors, but every group has its own place in d.
#pragma once

#include "positions.h"
#include "product_vectors.h"

namespace Atoll::kernels {

// A bool in products: 0 or 1; sums are or, products and.
struct Truth {
    std::uint32_t value;
};
inline bool truth(Truth x) { return x.value != 0; }

template <class T> struct LaneOf { using type = Part<T>; };
template <> struct LaneOf<Truth> { using type = std::uint32_t; };
template <class T> using Lane = typename LaneOf<T>::type;

template <class T> struct TileShape {
    using R = Lane<T>;
    static constexpr int parts = is_complex<T> ? 2 : 1;
    // As many accumulators as leave registers for a's rows and one broadcast.
#if defined(__AVX512F__)
    static constexpr int vectors = 3, columns = is_complex<T> ? 4 : 8;
#elif defined(__AVX2__)
    static constexpr int vectors = is_complex<T> ? 1 : 3, columns = 4;
#else
    static constexpr int vectors = is_complex<T> && sizeof(R) == 4 ? 1 : 2,
                         columns = is_complex<T> && sizeof(R) == 8 ? 2 : 4;
#endif
    static constexpr int rows = vectors * lanes<R>;
    static constexpr int row_group = rows % 8 == 0 ? 8 : 4;
    static constexpr int row_groups = rows / row_group; // in a panel
};

// Some rows of one column: the parts side by side.
template <class T> struct Rows1 {
    using V = Vector<Lane<T>>;
    V part[TileShape<T>::parts];
};

// How one tile goes to d. Offsets in bytes.
struct TilePlace {
    char *d;
    const char *c;
    const std::int64_t *d_rows, *c_rows; // per row, from d and c
    const std::int64_t *d_columns, *c_columns;
    const std::uint8_t *counts; // valid rows in each group
    const std::uint8_t *dense;  // what each group is: PositionDense
    int columns;                // valid ones
    bool direct;                // whole groups, dense in d and c
};

template <class T> struct TileFactors {
    T alpha, beta;
    bool scales;  // alpha is not 1
    bool adds;    // beta is not 0
    bool streams; // d is aligned for it, and too large for the caches
};

// Scalars of the kernels; fused where vectors are.
template <class T> inline T times(T a, T b) {
    if constexpr (is_complex<T>)
        return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
    else if constexpr (std::is_same_v<T, Truth>)
        return {a.value & b.value};
    else
        return a * b;
}
template <class T> inline T plus(T a, T b) {
    if constexpr (is_complex<T>)
        return {a.re + b.re, a.im + b.im};
    else if constexpr (std::is_same_v<T, Truth>)
        return {a.value | b.value};
    else
        return a + b;
}

template <class T> class TileKernel {
public:
    using Shape = TileShape<T>;
    using R = Lane<T>;

    // What addresses in d are multiples of if the tile streams.
    static constexpr std::int64_t stored_bytes() { return sizeof(Span); }

    // Groups of a vector, at least one.
    static constexpr int step_groups =
        lanes<R> > Shape::row_group ? lanes<R> / Shape::row_group : 1;

    // `groups`: the first so many of the panel, a multiple of step_groups; the others have no rows.
    static void run(int groups, std::int64_t depth, const R *a, const R *b,
                    const TileFactors<T> &factors, const TilePlace &place) {
        if constexpr (Shape::vectors == 3) {
            if (groups == step_groups) return multiply<1>(depth, a, b, factors, place);
            if (groups == 2 * step_groups) return multiply<2>(depth, a, b, factors, place);
        }
        multiply<Shape::vectors>(depth, a, b, factors, place);
    }

    // Fetches what a tile adds, into the L1 cache. Into the L2 cache only, as d streams through it,
    // AMD's Zen 5 runs at half the speed whenever the physical pages of this code share sets with
    // d's: of 24 copies of one program 5. Inlined always: GCC drops calls of a function that does
    // nothing else.
    [[gnu::always_inline]] static void prefetch(const TilePlace &place) {
        if (!place.direct) return;
        for (int j = 0; j < columns; ++j)
            for (int i = 0; i < rows; i += span)
                __builtin_prefetch(place.c + place.c_columns[j] + place.c_rows[i], 0, 3);
    }

private:
    using V = Vector<R>;
    using Sum = Rows1<T>;
    static constexpr int parts = Shape::parts, columns = Shape::columns, rows = Shape::rows,
                         width = lanes<R>, group = Shape::row_group;
    static constexpr bool logical = std::is_same_v<T, Truth>;
    // Numbers in d that go as one vector, and such vectors in a Sum.
    static constexpr int span = is_complex<T> ? width / 2 : std::min(width, group);
    static constexpr int spans = width / span;

    // The first `vectors` vectors of the panel's rows; the others have none.
    template <int vectors>
    [[gnu::noinline]] static void multiply(std::int64_t depth, const R *a, const R *b,
                                           const TileFactors<T> &factors, const TilePlace &place) {
        Sum sum[columns][vectors] = {};
#pragma GCC unroll 2
        for (std::int64_t p = 0; p < depth; ++p) {
            Sum x[vectors];
#pragma GCC unroll 4
            for (int v = 0; v < vectors; ++v)
#pragma GCC unroll 2
                for (int q = 0; q < parts; ++q)
                    x[v].part[q] = load_vector<V>(a + q * rows + v * width);
#pragma GCC unroll 8
            for (int j = 0; j < columns; ++j) accumulate(sum[j], x, b + j * parts);
            a += rows * parts;
            b += columns * parts;
        }
        if (factors.scales) {
#pragma GCC unroll 8
            for (int j = 0; j < columns; ++j)
#pragma GCC unroll 4
                for (int v = 0; v < vectors; ++v) sum[j][v] = scaled(sum[j][v], factors.alpha);
        }
        if (!place.direct || place.columns != columns) {
            // Through memory that nothing else refers to, so that sums stay in registers above.
            alignas(64) T values[columns * rows];
#pragma GCC unroll 8
            for (int j = 0; j < columns; ++j)
#pragma GCC unroll 4
                for (int v = 0; v < vectors; ++v)
                    store_values(values + j * rows + v * width, sum[j][v]);
            return piecewise(values, factors, place);
        }
#pragma GCC unroll 8
        for (int j = 0; j < columns; ++j)
#pragma GCC unroll 4
            for (int v = 0; v < vectors; ++v) finish(sum[j][v], v * width, j, factors, place);
    }
    template <int vectors>
    static void accumulate(Sum (&sum)[vectors], const Sum (&x)[vectors], const R *b) {
        const V re = b[0] - V{};
        if constexpr (is_complex<T>) {
            const V im = b[1] - V{};
#pragma GCC unroll 4
            for (int v = 0; v < vectors; ++v) {
                sum[v].part[0] = multiply_add(x[v].part[0], re, sum[v].part[0]);
                sum[v].part[1] = multiply_add(x[v].part[1], re, sum[v].part[1]);
            }
#pragma GCC unroll 4
            for (int v = 0; v < vectors; ++v) {
                sum[v].part[0] = multiply_subtract(x[v].part[1], im, sum[v].part[0]);
                sum[v].part[1] = multiply_add(x[v].part[0], im, sum[v].part[1]);
            }
        } else {
#pragma GCC unroll 4
            for (int v = 0; v < vectors; ++v) {
                if constexpr (logical)
                    sum[v].part[0] |= x[v].part[0] & re;
                else
                    sum[v].part[0] = multiply_add(x[v].part[0], re, sum[v].part[0]);
            }
        }
    }
    static Sum scaled(Sum s, T factor) {
        if constexpr (is_complex<T>)
            return {{s.part[0] * factor.re - s.part[1] * factor.im,
                     s.part[0] * factor.im + s.part[1] * factor.re}};
        else if constexpr (logical)
            return {{s.part[0] & factor.value}};
        else
            return {{s.part[0] * factor}};
    }
    static Sum added(Sum s, Sum t) {
        for (int q = 0; q < parts; ++q) {
            if constexpr (logical)
                s.part[q] |= t.part[q];
            else
                s.part[q] += t.part[q];
        }
        return s;
    }

    // Numbers of d as vectors: complex ones have their parts side by side there.
    template <int... i>
    static void split(const V (&in)[2], Sum &s, std::integer_sequence<int, i...>) {
        s.part[0] = __builtin_shufflevector(in[0], in[1], (2 * i)...);
        s.part[1] = __builtin_shufflevector(in[0], in[1], (2 * i + 1)...);
    }
    template <int... i>
    static void join(const Sum &s, V (&out)[2], std::integer_sequence<int, i...>) {
        out[0] = __builtin_shufflevector(s.part[0], s.part[1], (i / 2 + i % 2 * width)...);
        out[1] =
            __builtin_shufflevector(s.part[0], s.part[1], (i / 2 + width / 2 + i % 2 * width)...);
    }
    using Every = std::make_integer_sequence<int, width>;
    using Span = VectorN<R, is_complex<T> ? width : span>;

    static void finish(Sum s, int row, int column, const TileFactors<T> &factors,
                       const TilePlace &place) {
        if (factors.adds) {
            const char *c = place.c + place.c_columns[column];
            Sum t;
            if constexpr (is_complex<T>) {
                const V in[2] = {load_vector<V>(c + place.c_rows[row]),
                                 load_vector<V>(c + place.c_rows[row + span])};
                split(in, t, Every());
            } else if constexpr (spans == 1) {
                t.part[0] = load_vector<V>(c + place.c_rows[row]);
            } else {
                t.part[0] = joined(load_vector<Span>(c + place.c_rows[row]),
                                   load_vector<Span>(c + place.c_rows[row + span]));
            }
            s = added(s, scaled(t, factors.beta));
        }
        Span out[spans];
        if constexpr (is_complex<T>) {
            join(s, out, Every());
        } else {
            out[0] = part_of<span>(s.part[0], std::integral_constant<int, 0>());
            if constexpr (spans == 2)
                out[1] = part_of<span>(s.part[0], std::integral_constant<int, span>());
        }
        for (int t = 0; t < spans; ++t) {
            char *d = place.d + place.d_columns[column] + place.d_rows[row + t * span];
            if (factors.streams)
                stream_vector(d, out[t]);
            else
                store_vector(d, out[t]);
        }
    }

    static void store_values(T *to, Sum s) {
        if constexpr (is_complex<T>) {
            V out[2];
            join(s, out, Every());
            store_vector(to, out[0]);
            store_vector(to + width / 2, out[1]);
        } else {
            store_vector(to, s.part[0]);
        }
    }
    // A tile of which some rows or columns are not there, or not dense in d.
    [[gnu::noinline]] static void piecewise(const T *values, const TileFactors<T> &factors,
                                            const TilePlace &place) {
        for (int j = 0; j < place.columns; ++j)
            for (int g = 0; g < Shape::row_groups; ++g)
                if (place.counts[g])
                    finish_group(values + j * rows + g * group, g, j, factors, place);
    }
    static void finish_group(const T *values, int g, int column, const TileFactors<T> &factors,
                             const TilePlace &place) {
        const std::int64_t *d_rows = place.d_rows + g * group, *c_rows = place.c_rows + g * group;
        char *d = place.d + place.d_columns[column];
        const char *c = place.c + place.c_columns[column];
        const int count = place.counts[g];
        const auto value = [&](int i) {
            if (!factors.adds) return values[i];
            return plus(values[i], times(factors.beta, load<T>(c + c_rows[i])));
        };
        if (count == group && (place.dense[g] & dense_in_d) &&
            (!factors.adds || (place.dense[g] & dense_in_c))) {
            T all[group];
            if (factors.adds) {
                T third[group];
                std::memcpy(third, c + c_rows[0], sizeof third);
                for (int i = 0; i < group; ++i)
                    all[i] = plus(values[i], times(factors.beta, third[i]));
            } else {
                std::memcpy(all, values, sizeof all);
            }
            std::memcpy(d + d_rows[0], all, sizeof all);
            return;
        }
        for (int i = 0; i < count; ++i) {
            const T x = value(i);
            std::memcpy(d + d_rows[i], &x, sizeof x);
        }
    }
};

} // namespace Atoll::kernels
