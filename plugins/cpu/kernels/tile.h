// The register-blocked kernel: one tile of d from a panel of a and a panel of b.
//
// Note [Panels]
// Rows (indices along m) are packed in panels of TileShape::rows, columns in panels of
// TileShape::columns: for each index along k the panel's elements side by side, past the end zeros,
// or what becomes of them where bytes change their sign (ProductCode::flips_rows). A complex panel
// of a has the real parts of its rows, then the imaginary parts; one of b has complex numbers; one
// of b that holds bytes ends with what the sums of each column begin with. Rows come in groups
// (TileShape::row_group): within a group d's elements are mostly dense, so that they are stored as
// vectors, but every group has its own place in d.
#pragma once

#include "functors/arithmetic.h"
#include "lane_types.h"
#include "partial_vector.h"
#include "product_code.h"
#include "product_vectors.h"
#include "vector_halves.h"

namespace Atoll::kernels {

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
    static constexpr int column_group = columns, column_groups = 1;
};
template <class T>
requires by_amx<T>
struct TileShape<T> {
    static constexpr int parts = 1, columns = amx_edge, rows = amx_edge,
                         vectors = rows / lanes<std::uint32_t>;
    static constexpr int row_group = 8, row_groups = rows / row_group;
    static constexpr int column_group = 8, column_groups = columns / column_group;
};

// Some rows of one column: the parts side by side.
template <class T> struct Rows1 {
    using V = Vector<Lane<T>>;
    V part[TileShape<T>::parts];
};

// Scalars of the kernels; fused where vectors are.
template <class T> inline T times(T a, T b) {
    if constexpr (is_complex<T>)
        return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
    else if constexpr (std::is_same_v<T, Truth>)
        return {a.value & b.value};
    else if constexpr (is_packed<T>)
        return {a.value * b.value};
    else
        return a * b;
}
template <class T> inline T plus(T a, T b) {
    if constexpr (is_complex<T>)
        return {a.re + b.re, a.im + b.im};
    else if constexpr (std::is_same_v<T, Truth>)
        return {a.value | b.value};
    else if constexpr (is_packed<T>)
        return {a.value + b.value};
    else
        return a + b;
}

template <class T> ProductFactor product_factor(T x) {
    const T unit = one<T>();
    ProductFactor factor;
    std::memcpy(factor.bytes, &x, sizeof x);
    factor.is_zero = !truth(x);
    factor.is_one = std::memcmp(&x, &unit, sizeof x) == 0;
    return factor;
}

template <class T> class TileKernel {
public:
    using Shape = TileShape<T>;
    using R = Lane<T>;

    static ProductCode code() {
        ProductCode c{};
        c.dtype = dtype();
        c.size = sizeof(T);
        c.rows = rows;
        c.columns = columns;
        c.row_group = group;
        c.column_group = Shape::column_group;
        c.row_groups = Shape::row_groups;
        c.column_groups = Shape::column_groups;
        c.step_groups = step_groups;
        c.span = span;
        c.in_lane = in_lane<T>;
        c.by_amx = by_amx<T>;
        c.is_float = is_float<R>;
        c.is_complex = is_complex<T>;
        c.one = product_factor(kernels::one<T>());
        c.multiply = &run;
        c.add_scaled = &add_scaled;
        if constexpr (is_complex<T>) {
            c.arrange_rows = &arrange_rows;
            c.arrange_columns = &arrange_columns;
        }
#if defined(__AVX512BW__)
        if constexpr (std::is_same_v<T, Bytes>) {
            c.flips_rows = true;
            c.arrange_columns = &sum_columns;
            c.column_sums_bytes = columns * sizeof(R);
        }
#endif
        return c;
    }

private:
    static void run(int groups, std::int64_t depth, const char *a, const char *b,
                    const TileFactors &factors, const TilePlace &place) {
        if constexpr (by_amx<T>) {
            multiply_by_amx(groups, depth, a, b, factors, place);
        } else {
            const R *const rows_of_a = reinterpret_cast<const R *>(a),
                           *const columns_of_b = reinterpret_cast<const R *>(b);
            const auto run_by = [&]<class Multiply>(Multiply) {
                run<Multiply>(groups, depth, rows_of_a, columns_of_b, factors, place);
            };
            if constexpr (std::is_same_v<T, Pairs>) {
                if (has_vnni()) return run_by(MultiplyPairs<true>());
                run_by(MultiplyPairs<false>());
#if defined(__AVX512BW__)
            } else if constexpr (std::is_same_v<T, Bfloat16s>) {
                run_by(MultiplyBfloat16s());
            } else if constexpr (std::is_same_v<T, Bytes>) {
                switch (factors.numbers) {
                case PackedNumbers::signed_unsigned: return run_by(MultiplyBytes<true, false>());
                case PackedNumbers::unsigned_signed: return run_by(MultiplyBytes<false, true>());
                case PackedNumbers::unsigned_unsigned: return run_by(MultiplyBytes<false, false>());
                default: return run_by(MultiplyBytes<true, true>());
                }
#endif
            } else {
                run_by(MultiplyOne());
            }
        }
    }

    using V = Vector<R>;
    using Sum = Rows1<T>;
    using ColumnSums = VectorN<R, Shape::columns>;
    static constexpr int parts = Shape::parts, columns = Shape::columns, rows = Shape::rows,
                         width = lanes<R>, group = Shape::row_group;
    static constexpr bool logical = std::is_same_v<T, Truth>;
    static constexpr int step_groups = width > group ? width / group : 1;
    // Numbers in d that go as one vector, and such vectors in a Sum.
    static constexpr int span = is_complex<T> ? width / 2 : std::min(width, group);
    static constexpr int spans = width / span;

    // What multiplies lanes of rows and a lane of columns, and adds to their sums. If it shifts,
    // rows are packed as numbers of the other sign (ProductCode::flips_rows), and sums begin with
    // `shift` times those of the column.
    struct MultiplyOne {
        static constexpr bool shifts = false;
        static V add(V x, V y, V sum) { return multiply_add(x, y, sum); }
    };
    template <bool vnni> struct MultiplyPairs {
        static constexpr bool shifts = false;
        static V add(V x, V y, V sum) { return multiply_add_pairs<vnni>(x, y, sum); }
    };
#if defined(__AVX512BW__)
    struct MultiplyBfloat16s {
        static constexpr bool shifts = false;
        static V add(V x, V y, V sum) { return multiply_add_bfloat16s(x, y, sum); }
    };
    // The instruction takes factors with signs and factors without.
    template <bool rows_have_signs, bool columns_have_signs> struct MultiplyBytes {
        static constexpr bool shifts = rows_have_signs == columns_have_signs;
        static constexpr R shift = rows_have_signs ? R(-128) : R(128);
        template <class W> static W add(W x, W y, W sum) {
            return columns_have_signs ? multiply_add_bytes(x, y, sum)
                                      : multiply_add_bytes(y, x, sum);
        }
        template <class W> static W add_column(W y, W sum) {
            return add(W{} + R(0x01010101), y, sum);
        }
    };
#endif

    template <class Multiply> static void run(int groups, std::int64_t depth, const R *a,
                                              const R *b, const TileFactors &factors,
                                              const TilePlace &place) {
        if constexpr (Shape::vectors == 3) {
            if (groups == step_groups) return multiply<1, Multiply>(depth, a, b, factors, place);
            if (groups == 2 * step_groups)
                return multiply<2, Multiply>(depth, a, b, factors, place);
        }
        if constexpr (vector_bytes == 64 && !is_complex<T>)
            if (factors.fetches_panels)
                return multiply<Shape::vectors, Multiply, true>(depth, a, b, factors, place);
        multiply<Shape::vectors, Multiply>(depth, a, b, factors, place);
    }
    // The first `vectors` vectors of the panel's rows; the others have none.
    template <int vectors, class Multiply, bool fetches_panels = false>
    [[gnu::noinline, gnu::flatten]] static void multiply(std::int64_t depth, const R *a, const R *b,
                                                         const TileFactors &factors,
                                                         const TilePlace &place) {
        Sum sum[columns][vectors] = {};
        if constexpr (Multiply::shifts) {
#pragma GCC unroll 8
            for (int j = 0; j < columns; ++j)
#pragma GCC unroll 4
                for (int v = 0; v < vectors; ++v) sum[j][v].part[0] += b[depth * columns + j];
        }
        // Column by column: all at once, they would take the L1 cache's buffers from the panels.
        const bool fetches = factors.fetches_added && place.direct;
        const std::int64_t part = fetches ? (depth + columns - 1) / columns : depth;
        std::int64_t p = 0;
        for (int column = 0; p < depth; ++column) {
            if (fetches) fetch_column<vectors>(column, place);
            const std::int64_t end = std::min(p + part, depth);
#pragma GCC unroll 2
            for (; p < end; ++p) {
                Sum x[vectors];
#pragma GCC unroll 4
                for (int v = 0; v < vectors; ++v)
#pragma GCC unroll 2
                    for (int q = 0; q < parts; ++q)
                        x[v].part[q] = load_vector<V>(a + q * rows + v * width);
#pragma GCC unroll 8
                for (int j = 0; j < columns; ++j) accumulate<Multiply>(sum[j], x, b + j * parts);
                if constexpr (fetches_panels) fetch_panels(a, b);
                a += rows * parts;
                b += columns * parts;
            }
        }
        if (!factors.alpha.is_one) {
            const T alpha = factors.alpha.as<T>();
#pragma GCC unroll 8
            for (int j = 0; j < columns; ++j)
#pragma GCC unroll 4
                for (int v = 0; v < vectors; ++v) sum[j][v] = scaled(sum[j][v], alpha);
        }
#if defined(__AVX512BW__)
        if (place.run && !place.out && !(factors.streams && place.direct))
            return factors.beta.is_zero ? finish_run<false>(sum, factors, place)
                                        : finish_run<true>(sum, factors, place);
        if constexpr (std::is_same_v<R, float> && !is_complex<T>) {
            if (place.run && factors.rounded_to == ATOLL_DTYPE_FLOAT16)
                return finish_halves<vector_halves::Float16>(sum, place);
            if (place.run && factors.rounded_to == ATOLL_DTYPE_BFLOAT16)
                return finish_halves<vector_halves::Bfloat16>(sum, place);
        }
#endif
        if (!place.direct || place.column_counts[0] != columns) {
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
    static void multiply_by_amx(int groups, std::int64_t depth, const char *a, const char *b,
                                const TileFactors &factors, const TilePlace &place) {
        bool all_columns = false;
        for (int g = Shape::column_groups / 2; g < Shape::column_groups; ++g)
            all_columns |= place.column_counts[g] != 0;
        const auto multiply = [&](char *sums, std::int64_t step) {
            amx_multiply(factors.numbers, groups > Shape::row_groups / 2, all_columns, depth, a, b,
                         sums, step);
        };
        if (const std::int64_t step = column_step(place);
            step && factors.alpha.is_one && factors.beta.is_zero)
            return multiply(place.d + place.d_rows[0] + place.d_columns[0], step);
        alignas(64) T values[columns * rows];
        multiply(reinterpret_cast<char *>(values), rows * sizeof(T));
        if (!factors.alpha.is_one) {
            const T alpha = factors.alpha.as<T>();
            for (T &x : values) x = times(alpha, x);
        }
        piecewise(values, factors, place);
    }

    // The distance of columns where sums can go to d as they are, or 0.
    static std::int64_t column_step(const TilePlace &place) {
        if (!place.direct || place.run != rows || !has_all_columns(place)) return 0;
        const std::int64_t step = place.d_columns[1] - place.d_columns[0];
        for (int j = 2; j < columns; ++j)
            if (place.d_columns[j] - place.d_columns[j - 1] != step) return 0;
        return step;
    }

    template <int vectors> static void fetch_column(int column, const TilePlace &place) {
#pragma GCC unroll 8
        for (int row = 0; row < vectors * width; row += span)
            __builtin_prefetch(place.c + place.c_columns[column] + place.c_rows[row], 0, 3);
    }

    // Panels come from the L2 cache, also the one that stays: the other one, which passes by, is
    // larger than the L1 cache. The processor fetches neither of them far enough ahead for vectors
    // of 64 bytes.
    static void fetch_panels(const R *a, const R *b) {
        constexpr int a_ahead = 48, b_ahead = 8, line = 64;
        const char *const next = reinterpret_cast<const char *>(a) + a_ahead * line;
#pragma GCC unroll 4
        for (int v = 0; v < Shape::vectors; ++v) __builtin_prefetch(next + v * line, 0, 3);
        __builtin_prefetch(reinterpret_cast<const char *>(b) + b_ahead * line, 0, 3);
    }

    template <class Multiply, int vectors>
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
                    sum[v].part[0] = Multiply::add(x[v].part[0], re, sum[v].part[0]);
            }
        }
    }
    static Sum scaled(Sum s, T factor) {
        if constexpr (is_complex<T>)
            return {{s.part[0] * factor.re - s.part[1] * factor.im,
                     s.part[0] * factor.im + s.part[1] * factor.re}};
        else if constexpr (logical)
            return {{s.part[0] & factor.value}};
        else if constexpr (is_packed<T>)
            return {{s.part[0] * factor.value}};
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

    // The vectors that d has of these numbers: complex ones have their parts side by side there.
    static Sum stored(Sum s) {
        if constexpr (!is_complex<T>)
            return s;
        else
            return [&]<int... i>(std::integer_sequence<int, i...>)->Sum {
                const V re = s.part[0], im = s.part[1];
                return {{__builtin_shufflevector(re, im, (i / 2 + i % 2 * width)...),
                         __builtin_shufflevector(re, im, (i / 2 + width / 2 + i % 2 * width)...)}};
            }
        (std::make_integer_sequence<int, width>());
    }
    // The numbers of such vectors.
    static Sum loaded(Sum s) {
        if constexpr (!is_complex<T>)
            return s;
        else
            return [&]<int... i>(std::integer_sequence<int, i...>)->Sum {
                return {{__builtin_shufflevector(s.part[0], s.part[1], (2 * i)...),
                         __builtin_shufflevector(s.part[0], s.part[1], (2 * i + 1)...)}};
            }
        (std::make_integer_sequence<int, width>());
    }
    using Span = VectorN<R, is_complex<T> ? width : span>;

    static void finish(Sum s, int row, int column, const TileFactors &factors,
                       const TilePlace &place) {
        if (!factors.beta.is_zero) {
            const char *c = place.c + place.c_columns[column];
            Sum t;
            if constexpr (spans == parts)
                for (int q = 0; q < parts; ++q)
                    t.part[q] = load_vector<V>(c + place.c_rows[row + q * span]);
            else
                t.part[0] = joined(load_vector<Span>(c + place.c_rows[row]),
                                   load_vector<Span>(c + place.c_rows[row + span]));
            s = added(s, scaled(loaded(t), factors.beta.as<T>()));
        }
        s = stored(s);
        Span out[spans];
        if constexpr (spans == parts) {
            for (int q = 0; q < parts; ++q) out[q] = s.part[q];
        } else {
            out[0] = part_of<span>(s.part[0], std::integral_constant<int, 0>());
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

#if defined(__AVX512BW__)
    // Rows that are side by side, whether all of the tile's are there or not.
    template <bool adds, int vectors> static void
    finish_run(Sum (&sum)[columns][vectors], const TileFactors &factors, const TilePlace &place) {
        // What is stored as one vector, of which there may be two in a Sum.
        constexpr int pieces = parts * vectors, in_piece = width / parts;
        const auto first = [&](int piece) {
            return PartialVector<R>(
                parts * std::clamp<std::int64_t>(place.run - piece * in_piece, 0, in_piece));
        };
        const auto there = [&]<int... piece>(std::integer_sequence<int, piece...>) {
            return std::array{first(piece)...};
        }
        (std::make_integer_sequence<int, pieces>());
        each_column(place, [&](auto j) {
            char *const d = place.d + place.d_columns[j] + place.d_rows[0];
#pragma GCC unroll 4
            for (int v = 0; v < vectors; ++v) {
                const auto each_part = [&](auto &&body) {
#pragma GCC unroll 2
                    for (int q = 0; q < parts; ++q)
                        body(q, there[static_cast<std::size_t>(v * parts + q)],
                             (v * parts + q) * vector_bytes);
                };
                Sum s = sum[j][v];
                if constexpr (adds) {
                    const char *const c = place.c + place.c_columns[j] + place.c_rows[0];
                    Sum t;
                    each_part([&](int q, const PartialVector<R> &part, int at) {
                        t.part[q] = part.load(c + at);
                    });
                    s = added(s, scaled(loaded(t), factors.beta.as<T>()));
                }
                s = stored(s);
                each_part([&](int q, const PartialVector<R> &part, int at) {
                    part.store(d + at, s.part[q]);
                });
            }
        });
    }
    // body(column) for those that are there, the number as a constant: with loops that end early
    // GCC keeps all sums in memory.
    template <class Body> static void each_column(const TilePlace &place, Body &&body) {
        const int count = place.column_counts[0];
        [&]<int... j>(std::integer_sequence<int, j...>) {
            (void)((j < count && (body(std::integral_constant<int, j>()), true)) && ...);
        }
        (std::make_integer_sequence<int, columns>());
    }

    // The same where they are rounded to halves.
    template <class Format, int vectors>
    static void finish_halves(Sum (&sum)[columns][vectors], const TilePlace &place) {
        each_column(place, [&](auto j) {
            char *const d = place.d + place.d_columns[j] + place.d_rows[0];
#pragma GCC unroll 4
            for (int v = 0; v < vectors; ++v) {
                const std::int64_t rest = std::clamp<std::int64_t>(place.run - v * width, 0, width);
                _mm256_mask_storeu_epi16(d + v * width * 2,
                                         static_cast<__mmask16>((1u << rest) - 1),
                                         (__m256i)Format::rounded(sum[j][v].part[0]));
            }
        });
    }
#endif

    static void store_values(T *to, Sum s) {
        s = stored(s);
        for (int q = 0; q < parts; ++q) store_vector(to + q * (width / parts), s.part[q]);
    }
    // A tile of which some rows or columns are not there, or not dense in d, or which is converted,
    // or which comes from AMX.
    [[gnu::noinline]] static void piecewise(T *values, const TileFactors &factors,
                                            const TilePlace &place) {
        if (!factors.beta.is_zero) add(values, factors.beta, place);
        const char *const sums = reinterpret_cast<const char *>(values);
        if (!place.out) return scatter<sizeof(T)>(sums, place);
        alignas(64) char made[columns * rows * 16];
        const std::int64_t size = place.out->out_size();
        place.out->run(columns * rows, made, size, sums, sizeof(T));
        by_size(size, [&](auto of) { scatter<of()>(made, place); });
    }
    [[gnu::noinline]] static void add(T *values, const ProductFactor &beta,
                                      const TilePlace &place) {
        alignas(64) char third[columns * rows * sizeof(T)];
        if (place.in) {
            alignas(64) char raw[columns * rows * 16];
            const std::int64_t size = place.in->in_size();
            by_size(size, [&](auto of) { gather<of()>(raw, place); });
            place.in->run(columns * rows, third, sizeof(T), raw, size);
        } else {
            gather<sizeof(T)>(third, place);
        }
        add_scaled(columns * rows, reinterpret_cast<char *>(values), beta, third);
    }
    template <class Body> static void by_size(std::int64_t size, Body &&body) {
        switch (size) {
        case 1: return body(std::integral_constant<int, 1>());
        case 2: return body(std::integral_constant<int, 2>());
        case 4: return body(std::integral_constant<int, 4>());
        case 8: return body(std::integral_constant<int, 8>());
        default: return body(std::integral_constant<int, 16>());
        }
    }
    // Elements of a tile, column by column, to their places in d, and from those in c.
    template <int size> static void scatter(const char *from, const TilePlace &place) {
        each_run<size>(place, dense_in_d, place.d_rows, place.d_columns,
                       [&](std::int64_t offset, int element, auto bytes) {
                           std::memcpy(place.d + offset, from + element * size,
                                       std::size_t(bytes()));
                       });
    }
    template <int size> static void gather(char *to, const TilePlace &place) {
        each_run<size>(place, place.added, place.c_rows, place.c_columns,
                       [&](std::int64_t offset, int element, auto bytes) {
                           std::memcpy(to + element * size, place.c + offset, std::size_t(bytes()));
                       });
    }
    static bool has_all_columns(const TilePlace &place) {
        bool all = true;
        for (int g = 0; g < Shape::column_groups; ++g)
            all &= place.column_counts[g] == Shape::column_group;
        return all;
    }
    // move(offset, element, bytes) for what is side by side, by `bit` of what groups are.
    template <int size, class Move>
    static void each_run(const TilePlace &place, PositionDense bit, const std::int64_t *at_rows,
                         const std::int64_t *at_columns, Move &&move) {
        const auto column = [&](int j) {
            const std::int64_t at = at_columns[j];
            if (place.run == rows)
                return move(at + at_rows[0], j * rows, std::integral_constant<int, rows * size>());
            if (place.run) return move(at + at_rows[0], j * rows, [&] { return place.run * size; });
            for (int g = 0; g < Shape::row_groups; ++g) {
                const int first = g * group;
                if (place.dense[g] & bit) {
                    move(at + at_rows[first], j * rows + first,
                         std::integral_constant<int, group * size>());
                    continue;
                }
                for (int i = first; i < first + place.counts[g]; ++i)
                    move(at + at_rows[i], j * rows + i, std::integral_constant<int, size>());
            }
        };
        for (int g = 0; g < Shape::column_groups; ++g)
            for (int i = 0; i < place.column_counts[g]; ++i) column(g * Shape::column_group + i);
    }

    static constexpr std::uint32_t dtype() {
        if constexpr (is_complex<T>)
            return sizeof(T) == 8 ? ATOLL_DTYPE_COMPLEX64 : ATOLL_DTYPE_COMPLEX128;
        else if constexpr (is_float<R>)
            return sizeof(T) == 4 ? ATOLL_DTYPE_FLOAT32 : ATOLL_DTYPE_FLOAT64;
        else
            return sizeof(T) == 4 ? ATOLL_DTYPE_INT32 : ATOLL_DTYPE_INT64;
    }
    static void add_scaled(std::int64_t n, char *sums, const ProductFactor &beta,
                           const char *values) {
        T *const to = reinterpret_cast<T *>(sums);
        const T *const from = reinterpret_cast<const T *>(values), factor = beta.as<T>();
        for (std::int64_t i = 0; i < n; ++i) to[i] = plus(to[i], times(factor, from[i]));
    }
#if defined(__AVX512BW__)
    // The sums of the numbers of each column, times MultiplyBytes' shift, follow its panel.
    static void sum_columns(char *panel, std::int64_t lines, const Arrangement &how) {
        const auto sum_by = [&]<class Multiply>(Multiply) {
            constexpr std::int64_t line = columns * sizeof(R);
            ColumnSums sums[4] = {}; // do not wait for each other
            std::int64_t i = 0;
            for (; i + 4 <= lines; i += 4)
#pragma GCC unroll 4
                for (int k = 0; k < 4; ++k)
                    sums[k] = Multiply::add_column(load_vector<ColumnSums>(panel + (i + k) * line),
                                                   sums[k]);
            for (; i < lines; ++i)
                sums[0] = Multiply::add_column(load_vector<ColumnSums>(panel + i * line), sums[0]);
            store_vector(panel + lines * line,
                         Multiply::shift * ((sums[0] + sums[1]) + (sums[2] + sums[3])));
        };
        if (how.numbers == PackedNumbers::signed_signed) sum_by(MultiplyBytes<true, true>());
        if (how.numbers == PackedNumbers::unsigned_unsigned) sum_by(MultiplyBytes<false, false>());
    }
#endif
    // Real parts first, line by line: see Note [Panels].
    static void arrange_rows(char *panels, std::int64_t lines, const Arrangement &how) {
        for (std::int64_t line = 0; line < lines; ++line) {
            R *const at = reinterpret_cast<R *>(panels) + line * 2 * rows;
            R both[2 * rows];
            for (int i = 0; i < rows; ++i) {
                both[i] = at[2 * i];
                both[rows + i] = how.conj ? -at[2 * i + 1] : at[2 * i + 1];
            }
            std::memcpy(at, both, sizeof both);
        }
    }
    static void arrange_columns(char *panels, std::int64_t lines, const Arrangement &how) {
        if (!how.conj) return;
        R *const at = reinterpret_cast<R *>(panels);
        for (std::int64_t i = 0; i < lines * columns; ++i) at[2 * i + 1] = -at[2 * i + 1];
    }
};

} // namespace Atoll::kernels
