// Products of a matrix and a vector.
//
// Several columns (rows, if these are dense) of the matrix are read at a time: that many streams
// from memory are faster than one or two.
#include "matrix_vector.h"

#include "packed_side.h"
#include "parallel.h"
#include "partial_vector.h"
#include "scratch.h"

namespace Atoll::kernels {
namespace {

constexpr int streams = 8;
constexpr std::int64_t grouped_bytes = 16 << 20; // of a matrix that comes from memory

template <class T> struct MatrixVector {
    using V = Vector<T>;
    static constexpr std::int64_t size = sizeof(T), width = lanes<T>;
    // Results at a time: their sums stay in the L1 cache.
    static constexpr std::int64_t block = 2048;
    // Few enough that their sums stay in a core's caches, once per group of so many columns.
    static constexpr std::int64_t fewest_sums = 512, most_sums = 8192, most_groups = 16,
                                  fewest_of_group = 128;

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

    void finish(std::int64_t result, T sum) const {
        T value = alpha * sum;
        if (beta != 0) value += beta * load<T>(c + result * c_step);
        std::memcpy(d + result * d_step, &value, sizeof value);
    }

    void finish_all(std::int64_t first, std::int64_t count, const T *sums) const {
        if (beta != 0 || d_step != size) {
            for (std::int64_t k = 0; k < count; ++k) finish(first + k, sums[k]);
            return;
        }
        char *const to = d + first * size;
        for (std::int64_t k = 0; k < count; ++k) {
            const T value = alpha * sums[k];
            std::memcpy(to + k * size, &value, sizeof value);
        }
    }

    // Dense along the results: sums += columns [term, term + N) · x.
    template <int N>
    void add_columns(const char *first, std::int64_t term, std::int64_t count, T *sums) const {
        V factor[N];
        const char *column[N];
        for (int s = 0; s < N; ++s) {
            factor[s] = V{} + load<T>(x + (term + s) * x_step);
            column[s] = first + (term + s) * along_terms;
        }
        std::int64_t k = 0;
        for (; k + width <= count; k += width) {
            V sum = load_vector<V>(sums + k);
            for (int s = 0; s < N; ++s)
                sum = multiply_add(load_vector<V>(column[s] + k * size), factor[s], sum);
            store_vector(sums + k, sum);
        }
        if (k == count) return;
        const PartialVector<T> rest(count - k);
        V sum = load_vector<V>(sums + k);
        for (int s = 0; s < N; ++s)
            sum = multiply_add(rest.load(column[s] + k * size), factor[s], sum);
        store_vector(sums + k, sum);
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
        const std::int64_t each = (terms + groups - 1) / groups;
        // Whole vectors are stored, and groups are on threads of their own.
        const std::int64_t stride = (results * size + 63) / 64 * 64;
        const Scratch scratch(groups * stride);
        const auto sums = [&](std::int64_t group) {
            return reinterpret_cast<T *>(scratch.data() + group * stride);
        };
        parallel(groups, results * each, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t group = begin; group < end; ++group) {
                std::fill_n(sums(group), results, T(0));
                const std::int64_t first = group * each;
                add_columns(a, first, std::min(first + each, terms), results, sums(group));
            }
        });
        for (std::int64_t group = 1; group < groups; ++group)
            for (std::int64_t k = 0; k < results; ++k) sums(0)[k] += sums(group)[k];
        finish_all(0, results, sums(0));
    }
    void pieces_of_columns() const {
        // Long pieces of columns are read faster; four, or a multiple, balance some threads.
        const std::int64_t pieces = 4 * ((results + 4 * block - 1) / (4 * block));
        const std::int64_t piece = ((results + pieces - 1) / pieces + width - 1) / width * width;
        parallel(pieces, piece * terms, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t first = begin * piece; first < std::min(end * piece, results);) {
                const std::int64_t last = std::min({first + block, end * piece, results});
                alignas(64) T sums[block];
                std::fill_n(sums, (last - first + width - 1) / width * width, T(0));
                add_columns(a + first * size, 0, terms, last - first, sums);
                finish_all(first, last - first, sums);
                first = last;
            }
        });
    }
    // sums += columns [begin, end) · x, of `count` rows from `first` on.
    void add_columns(const char *first, std::int64_t begin, std::int64_t end, std::int64_t count,
                     T *sums) const {
        for (; begin + streams <= end; begin += streams)
            add_columns<streams>(first, begin, count, sums);
        for (; begin < end; ++begin) add_columns<1>(first, begin, count, sums);
    }

    // Dense along the terms, as x is.
    template <int N> void add_rows(std::int64_t first) const {
        const char *row[N];
        for (int s = 0; s < N; ++s) row[s] = a + (first + s) * along_results;
        V sum[N] = {};
        std::int64_t k = 0;
        for (; k + width <= terms; k += width) {
            const V factor = load_vector<V>(x + k * size);
            for (int s = 0; s < N; ++s)
                sum[s] = multiply_add(load_vector<V>(row[s] + k * size), factor, sum[s]);
        }
        if (k < terms) {
            const PartialVector<T> rest(terms - k);
            const V factor = rest.load(x + k * size);
            for (int s = 0; s < N; ++s)
                sum[s] = multiply_add(rest.load(row[s] + k * size), factor, sum[s]);
        }
        for (int s = 0; s < N; ++s) finish(first + s, sum_of(sum[s]));
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
};

} // namespace

template <class T> bool matrix_vector(const Contraction &p, std::uint32_t dtype, T alpha, T beta) {
    constexpr std::int64_t size = sizeof(T);
    const std::int64_t m = p.m.size(), n = p.n.size(), terms = p.k.size();
    const std::int64_t results = m * n;
    if (!p.is_plain() || p.batch.size() != 1 || (m != 1 && n != 1) || alpha == 0) return false;
    const bool adds = beta != 0;
    for (ProductOperand o : {product_d, product_a, product_b, product_c})
        if ((o != product_c || adds) && !is_native(p.side[o], dtype, sizeof(T))) return false;
    const AxisList &free = n == 1 ? p.m : p.n;
    const ProductOperand matrix = n == 1 ? product_a : product_b,
                         vector = n == 1 ? product_b : product_a;
    MatrixVector<T> product{p.data[matrix],
                            results,
                            terms,
                            free.stride(0, matrix),
                            p.k.stride(0, matrix),
                            p.data[vector],
                            p.k.stride(0, vector),
                            p.data[product_c],
                            free.stride(0, product_c),
                            p.data[product_d],
                            free.stride(0, product_d),
                            alpha,
                            beta};
    constexpr std::int64_t shortest = 32; // of what is read as vectors
    if (product.along_results == size && results >= shortest) {
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

} // namespace Atoll::kernels
