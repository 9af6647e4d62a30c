// Products of a matrix and a vector.
//
// Several columns (rows, if these are dense) of the matrix are read at a time: that many streams
// from memory are faster than one or two.
#include "matrix_vector.h"

#include "functors/arithmetic.h"
#include "packed_side.h"
#include "parallel.h"
#include "partial_vector.h"
#include "product_vectors.h"
#include "scratch.h"

namespace Atoll::kernels {
namespace {

// Of a matrix that comes from memory, and of one that a core's caches may hold.
constexpr std::int64_t grouped_bytes = 16 << 20, cached_bytes = 1 << 20;

// Elements are `parts` numbers: a complex number's parts are two, which lie side by side. Each
// number of the matrix is multiplied with each part of the vector's element; which of these
// products are subtracted, conjugates or not, is up to the end.
template <class T> struct MatrixVector {
    using P = Part<T>;
    using V = Vector<P>;
    static constexpr int parts = sizeof(T) / sizeof(P), streams = parts == 1 ? 8 : 4;
    static constexpr std::int64_t size = sizeof(T), width = lanes<P>, number = sizeof(P);
    // Results at a time: their sums stay in the L1 cache.
    static constexpr std::int64_t block = 2048 / (parts * parts);
    // Few enough that their sums stay in a core's caches, once per group of so many columns.
    static constexpr std::int64_t fewest_sums = 512, most_sums = 8192 / (parts * parts),
                                  most_groups = 16, fewest_of_group = 128;

    const char *a;               // the matrix
    std::int64_t results, terms; // its extents
    std::int64_t along_results, along_terms;
    const char *x;
    std::int64_t x_step;
    const char *c;
    std::int64_t c_step;
    char *d;
    std::int64_t d_step;
    T alpha, beta;
    bool conj_a, conj_x;

    void finish(std::int64_t result, T total) const {
        using functor::multiply, functor::add;
        T value = multiply::apply(alpha, total);
        if (truth(beta))
            value = add::apply(value, multiply::apply(beta, load<T>(c + result * c_step)));
        std::memcpy(d + result * d_step, &value, sizeof value);
    }
    // The sum of products, of those of the matrix's real and imaginary parts with the vector's.
    T joined(P real_real, P imag_imag, P real_imag, P imag_real) const requires(is_complex<T>) {
        return {real_real + (conj_a == conj_x ? -imag_imag : imag_imag),
                (conj_x ? -real_imag : real_imag) + (conj_a ? -imag_real : imag_real)};
    }

    // Numbers of so many sums: whole vectors.
    static constexpr std::int64_t numbers_of(std::int64_t count) {
        return (count * parts + width - 1) / width * width;
    }
    // `sums` has the products with each part of the vector, so many numbers one after the other.
    void finish_all(std::int64_t first, std::int64_t count, const P *sums,
                    std::int64_t numbers) const {
        if constexpr (is_complex<T>) {
            const P *const other = sums + numbers;
            for (std::int64_t k = 0; k < count; ++k)
                finish(first + k,
                       joined(sums[2 * k], other[2 * k + 1], other[2 * k], sums[2 * k + 1]));
        } else if (truth(beta) || d_step != size) {
            for (std::int64_t k = 0; k < count; ++k) finish(first + k, sums[k]);
        } else {
            char *const to = d + first * size;
            for (std::int64_t k = 0; k < count; ++k) {
                const T value = alpha * sums[k];
                std::memcpy(to + k * size, &value, sizeof value);
            }
        }
    }

    // Dense along the results: sums += columns [term, term + N) · x, of `count` rows.
    template <int N> void add_columns(const char *first, std::int64_t term, std::int64_t count,
                                      P *sums, std::int64_t numbers) const {
        V factor[N][parts];
        const char *column[N];
        for (int s = 0; s < N; ++s) {
            for (int q = 0; q < parts; ++q)
                factor[s][q] = V{} + load<P>(x + (term + s) * x_step + q * number);
            column[s] = first + (term + s) * along_terms;
        }
        const auto add = [&](std::int64_t k, auto &&load_numbers) {
            V total[parts];
            for (int q = 0; q < parts; ++q) total[q] = load_vector<V>(sums + q * numbers + k);
            for (int s = 0; s < N; ++s) {
                const V of_column = load_numbers(column[s] + k * number);
                for (int q = 0; q < parts; ++q)
                    total[q] = multiply_add(of_column, factor[s][q], total[q]);
            }
            for (int q = 0; q < parts; ++q) store_vector(sums + q * numbers + k, total[q]);
        };
        std::int64_t k = 0;
        for (; k + width <= count * parts; k += width)
            add(k, [](const char *p) { return load_vector<V>(p); });
        if (k == count * parts) return;
        const PartialVector<P> rest(count * parts - k);
        add(k, [&](const char *p) { return rest.load(p); });
    }
    void columns() const {
        const std::int64_t groups = std::min(most_groups, terms / fewest_of_group / 4 * 4);
        if (groups && results >= fewest_sums && results <= most_sums &&
            results * terms * size >= grouped_bytes)
            groups_of_columns(groups);
        else
            pieces_of_columns();
    }
    // Each piece reads memory from one end to the other: two threads take 0.8 of the time.
    void groups_of_columns(std::int64_t groups) const {
        const std::int64_t each = (terms + groups - 1) / groups, numbers = numbers_of(results);
        // Whole vectors are stored, and groups are on threads of their own.
        const std::int64_t stride = (parts * numbers * number + 63) / 64 * 64;
        const Scratch scratch(groups * stride);
        const auto sums = [&](std::int64_t group) {
            return reinterpret_cast<P *>(scratch.data() + group * stride);
        };
        parallel(groups, results * each, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t group = begin; group < end; ++group) {
                std::fill_n(sums(group), parts * numbers, P(0));
                const std::int64_t first = group * each;
                add_columns(a, first, std::min(first + each, terms), results, sums(group), numbers);
            }
        });
        for (std::int64_t group = 1; group < groups; ++group)
            for (std::int64_t k = 0; k < parts * numbers; ++k) sums(0)[k] += sums(group)[k];
        finish_all(0, results, sums(0), numbers);
    }
    void pieces_of_columns() const {
        // Long pieces of columns are read faster; four, or a multiple, balance some threads.
        const std::int64_t pieces = 4 * ((results + 4 * block - 1) / (4 * block));
        const std::int64_t piece = ((results + pieces - 1) / pieces + width - 1) / width * width;
        parallel(pieces, piece * terms, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t first = begin * piece; first < std::min(end * piece, results);) {
                const std::int64_t last = std::min({first + block, end * piece, results}),
                                   count = last - first, numbers = numbers_of(count);
                alignas(64) P sums[parts * numbers_of(block)];
                std::fill_n(sums, parts * numbers, P(0));
                add_columns(a + first * size, 0, terms, count, sums, numbers);
                finish_all(first, count, sums, numbers);
                first = last;
            }
        });
    }
    // sums += columns [begin, end) · x, of `count` rows from `first` on.
    void add_columns(const char *first, std::int64_t begin, std::int64_t end, std::int64_t count,
                     P *sums, std::int64_t numbers) const {
        for (; begin + streams <= end; begin += streams)
            add_columns<streams>(first, begin, count, sums, numbers);
        for (; begin < end; ++begin) add_columns<1>(first, begin, count, sums, numbers);
    }

    // Dense along the terms, as x is.
    template <int N> void add_rows(std::int64_t first) const {
        // Of a single row four sums, so that they do not wait for each other.
        constexpr int chains = N == 1 ? 4 : 1;
        const char *row[N];
        for (int s = 0; s < N; ++s) row[s] = a + (first + s) * along_results;
        V total[chains][N][parts] = {};
        const auto add = [&](std::int64_t k, int chain, auto &&load_numbers) {
            const V factor = load_numbers(x + k * number);
            for (int s = 0; s < N; ++s) {
                const V of_row = load_numbers(row[s] + k * number);
                total[chain][s][0] = multiply_add(of_row, factor, total[chain][s][0]);
                if constexpr (parts == 2)
                    total[chain][s][1] =
                        multiply_add(of_row, parts_of<1, 0>(factor), total[chain][s][1]);
            }
        };
        const auto whole = [](const char *p) { return load_vector<V>(p); };
        std::int64_t k = 0;
        for (; k + chains * width <= terms * parts; k += chains * width)
#pragma GCC unroll 4
            for (int chain = 0; chain < chains; ++chain) add(k + chain * width, chain, whole);
        for (; k + width <= terms * parts; k += width) add(k, 0, whole);
        if (k < terms * parts) {
            const PartialVector<P> rest(terms * parts - k);
            add(k, 0, [&](const char *p) { return rest.load(p); });
        }
        for (int s = 0; s < N; ++s) {
            V all[parts];
            for (int q = 0; q < parts; ++q) {
                all[q] = total[0][s][q];
                for (int chain = 1; chain < chains; ++chain) all[q] += total[chain][s][q];
            }
            if constexpr (parts == 2) {
                const auto with_same = sum_of_pairs(all[0]), with_other = sum_of_pairs(all[1]);
                finish(first + s, joined(with_same[0], with_same[1], with_other[0], with_other[1]));
            } else {
                finish(first + s, sum_of(all[0]));
            }
        }
    }
    void rows() const {
        parallel((results + streams - 1) / streams, streams * terms,
                 [&](std::int64_t begin, std::int64_t end) {
                     for (std::int64_t piece = begin; piece < end; ++piece) {
                         std::int64_t first = piece * streams;
                         if (first + streams <= results)
                             add_rows<streams>(first);
                         else
                             for (; first < results; ++first) add_rows<1>(first);
                     }
                 });
    }

private:
    // The sum of the real parts and that of the imaginary ones.
    template <class W> static VectorN<P, 2> sum_of_pairs(W v) {
        constexpr int half = static_cast<int>(sizeof(W) / sizeof(P)) / 2;
        if constexpr (half == 1)
            return v;
        else
            return sum_of_pairs(part_of<half>(v, std::integral_constant<int, 0>()) +
                                part_of<half>(v, std::integral_constant<int, half>()));
    }
};

} // namespace

template <class T> bool matrix_vector(const Contraction &p, std::uint32_t dtype, T alpha, T beta) {
    constexpr std::int64_t size = sizeof(T);
    // Where either is the vector, it is b.
    const std::int64_t results = p.m.size(), terms = p.k.size();
    if (!p.is_plain() || p.batch.size() != 1 || p.n.size() != 1 || !truth(alpha)) return false;
    const bool adds = truth(beta);
    for (ProductOperand o : {product_d, product_a, product_b, product_c})
        if ((o != product_c || adds) && !is_native(p.side[o], dtype, sizeof(T))) return false;
    MatrixVector<T> product{p.data[product_a],
                            results,
                            terms,
                            p.m.stride(0, product_a),
                            p.k.stride(0, product_a),
                            p.data[product_b],
                            p.k.stride(0, product_b),
                            p.data[product_c],
                            p.m.stride(0, product_c),
                            p.data[product_d],
                            p.m.stride(0, product_d),
                            alpha,
                            beta,
                            p.conj_a,
                            p.conj_b};
    constexpr std::int64_t shortest = 32; // of what is read as vectors
    const bool by_columns = product.along_results == size && results >= shortest;
    // Of complex numbers without conjugates BLAS is as fast along columns, and faster in a cache.
    if (is_complex<T> && !p.conj_a && !p.conj_b && results > 1 &&
        (by_columns || results * terms * size < cached_bytes))
        return false;
    if (by_columns) {
        product.columns();
        return true;
    }
    if (product.along_terms != size || terms < shortest) return false;
    const Scratch dense(product.x_step == size ? 0 : terms * size);
    if (product.x_step != size) {
        for (std::int64_t k = 0; k < terms; ++k)
            std::memcpy(dense.data() + k * size, product.x + k * product.x_step, size);
        product.x = dense.data();
    }
    product.rows();
    return true;
}
template bool matrix_vector(const Contraction &, std::uint32_t, std::uint32_t, std::uint32_t);
template bool matrix_vector(const Contraction &, std::uint32_t, std::uint64_t, std::uint64_t);
template bool matrix_vector(const Contraction &, std::uint32_t, float, float);
template bool matrix_vector(const Contraction &, std::uint32_t, double, double);
template bool matrix_vector(const Contraction &, std::uint32_t, Complex<float>, Complex<float>);
template bool matrix_vector(const Contraction &, std::uint32_t, Complex<double>, Complex<double>);

} // namespace Atoll::kernels
