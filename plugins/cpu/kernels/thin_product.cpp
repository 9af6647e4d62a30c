// Products of which d has few rows or few columns. Reading a or writing d bounds them: packing, as
// the engine does it, would take longer than all else.
//
// Note [Thin products]
// d's longer side, as a rule, is its rows here, whichever axis that is in memory. Where a is dense
// along k and k is long, so is b, or a copy of it, and what is summed are products of vectors along
// k. Otherwise strips of rows are multiplied; where d is dense along its columns they are
// transposed on the way. If both sides are short, pieces of k have sums of their own, which are
// added up at the end. What a piece is depends on the extents alone, so results do not depend on
// the number of threads.
#include "thin_product.h"

#include "direct_strips.h"
#include "functors/arithmetic.h"
#include "packed_side.h"
#include "parallel.h"
#include "scratch.h"
#include "streaming.h"

#include <atomic>
#include <cstring>
#include <new>

namespace Atoll::kernels {
namespace {

constexpr std::int64_t most_columns = 128;
// Of a product with a long k.
constexpr std::int64_t most_deep_columns = 32, most_deep_results = 4096, least_depth = 512;
constexpr std::int64_t shortest_dot = 128;       // of vectors along k
constexpr std::int64_t longest_by_rows = 512;    // along k
constexpr std::int64_t dot_block = 1024;         // along k: bounds how many terms a lane adds up
constexpr std::int64_t most_b_bytes = 256 << 10; // of all columns, which stay in the L2 cache
constexpr std::int64_t most_pieces = 8;
constexpr std::int64_t most_streams = 40; // of what comes from memory and goes there
// Whether columns of d are written in long runs; measured on Zen 3 alone.
constexpr bool has_blocks = vector_bytes == 32;
constexpr std::int64_t block_bytes = 32 << 10; // of a's rows meanwhile

// body(of), where of() is a count from 1 to 4, known to the compiler.
template <class Body> void with_count(std::int64_t count, Body &&body) {
    switch (count) {
    case 1: return body(std::integral_constant<int, 1>());
    case 2: return body(std::integral_constant<int, 2>());
    case 3: return body(std::integral_constant<int, 3>());
    default: return body(std::integral_constant<int, 4>());
    }
}
template <class Body> void with_counts(std::int64_t first, std::int64_t second, Body &&body) {
    with_count(first, [&](auto one) { with_count(second, [&](auto two) { body(one, two); }); });
}

// Sums of products of `rows` vectors with `columns` others, all dense along k.
template <class T> class Dots {
public:
    using V = Vector<T>;
    static constexpr int tile = 4; // rows and columns at a time

    // to[i + j * step] += the sum of row i and column j.
    static void add(std::int64_t rows, std::int64_t columns, std::int64_t count, const char *a,
                    std::int64_t a_m, const char *b, std::int64_t b_n, T *to, std::int64_t step) {
        for (std::int64_t first = 0; first < count; first += dot_block) {
            const std::int64_t some = std::min(dot_block, count - first);
            for (std::int64_t i = 0; i < rows; i += tile)
                for (std::int64_t j = 0; j < columns; j += tile)
                    with_counts(std::min<std::int64_t>(tile, rows - i),
                                std::min<std::int64_t>(tile, columns - j), [&](auto r, auto c) {
                                    sums<r(), c()>(some, a + i * a_m + first * size, a_m,
                                                   b + j * b_n + first * size, b_n,
                                                   to + i + j * step, step);
                                });
        }
    }

private:
    static constexpr std::int64_t size = sizeof(T), width = lanes<T>;

    template <int rows, int columns>
    [[gnu::noinline]] static void sums(std::int64_t count, const char *a, std::int64_t a_m,
                                       const char *b, std::int64_t b_n, T *to, std::int64_t step) {
        V sum[columns][rows] = {};
        const auto add = [&](auto &&load) {
            V x[rows];
#pragma GCC unroll 4
            for (int i = 0; i < rows; ++i) x[i] = load(a + i * a_m);
#pragma GCC unroll 4
            for (int j = 0; j < columns; ++j) {
                const V y = load(b + j * b_n);
#pragma GCC unroll 4
                for (int i = 0; i < rows; ++i) sum[j][i] = multiply_add(x[i], y, sum[j][i]);
            }
            a += vector_bytes;
            b += vector_bytes;
        };
        for (; count >= width; count -= width) add([](const char *p) { return load_vector<V>(p); });
        if (count > 0) {
            const PartialVector<T> rest(count);
            add([&](const char *p) { return rest.load(p); });
        }
        for (int j = 0; j < columns; ++j)
            for (int i = 0; i < rows; ++i) to[i + j * step] += sum_of(sum[j][i]);
    }
};

// Rows of d, dense as a's are, for few terms and columns: all of b is in registers.
template <class T> class FewTerms {
public:
    static constexpr int most = 4; // terms and columns

    // to[i + j * to_n] = alpha times the sum over p of a[i + p * a_k] b[p + j * terms]; strides in
    // bytes.
    static void multiply(std::int64_t terms, std::int64_t columns, std::int64_t rows, char *to,
                         std::int64_t to_n, const char *a, std::int64_t a_k, const T *b, T alpha) {
        with_counts(terms, columns, [&](auto of_terms, auto of_columns) {
            of_rows<of_terms(), of_columns()>(rows, to, to_n, a, a_k, b, alpha);
        });
    }

private:
    using V = Vector<T>;

    template <int terms, int columns>
    [[gnu::noinline]] static void of_rows(std::int64_t rows, char *to, std::int64_t to_n,
                                          const char *a, std::int64_t a_k, const T *b, T alpha) {
        V y[columns][terms];
        for (int j = 0; j < columns; ++j)
            for (int p = 0; p < terms; ++p) y[j][p] = b[j * terms + p] - V{};
        const auto one_vector = [&](auto &&load, auto &&store) {
            V x[terms];
#pragma GCC unroll 4
            for (int p = 0; p < terms; ++p) x[p] = load(a + p * a_k);
#pragma GCC unroll 4
            for (int j = 0; j < columns; ++j) {
                V sum = x[0] * y[j][0];
#pragma GCC unroll 4
                for (int p = 1; p < terms; ++p) sum = multiply_add(x[p], y[j][p], sum);
                store(to + j * to_n, alpha * sum);
            }
            a += vector_bytes;
            to += vector_bytes;
        };
        for (; rows >= lanes<T>; rows -= lanes<T>)
            one_vector([](const char *p) { return load_vector<V>(p); },
                       [](char *p, V v) { store_vector(p, v); });
        if (rows == 0) return;
        const PartialVector<T> rest(rows);
        one_vector([&](const char *p) { return rest.load(p); },
                   [&](char *p, V v) { rest.store(p, v); });
    }
};

// One product of the batch; strides in bytes.
template <class T> struct ThinProduct {
    using Strips = DirectStrips<T>;
    static constexpr std::int64_t size = sizeof(T), part = Strips::part, strip = Strips::strip;
    static constexpr int parts = Strips::parts;
    static constexpr std::int64_t most_few = FewTerms<Part<T>>::most;

    std::int64_t m, k, n;
    std::int64_t a_m, a_k, b_k, b_n, c_m, c_n, d_m, d_n;
    T alpha, beta;
    bool conj_a, conj_b;
    bool serial; // on one thread, beside other products
    std::atomic<bool> *failed;

    // d' = b' a'
    ThinProduct exchanged() const {
        return {n,   k,   m,     b_n,  b_k,    a_k,    a_m,    c_n,   c_m,
                d_n, d_m, alpha, beta, conj_b, conj_a, serial, failed};
    }

    bool is_deep() const {
        return n <= most_deep_columns && m * n <= most_deep_results &&
               k >= std::max(least_depth, m);
    }
    // Vectors along k, where adding up their elements takes no time; complex numbers have none.
    bool has_dots() const {
        return !is_complex<T> && a_k == size && k >= shortest_dot &&
               (is_deep() || (k >= 16 * n && n * k * size <= most_b_bytes));
    }
    // Rows of d and b as vectors, which half of one fills at least.
    bool is_by_rows() const {
        return d_m != size && 2 * n * parts >= Strips::width && k <= longest_by_rows;
    }
    bool has_few_terms() const {
        return !is_complex<T> && k <= most_few && (n <= most_few || (has_blocks && d_m == size)) &&
               !truth(beta) && (a_m == size || a_k == size);
    }
    // Of strips: whether some of them are multiplied at a time, by a group of columns after the
    // other. With more terms, and of complex numbers, that takes up to twice as long.
    bool is_by_blocks() const {
        return has_blocks && !is_complex<T> && d_m == size && k <= Strips::few_terms;
    }
    // What is read and written at once, each on pages of its own. Of many of them the engine, which
    // packs, makes fewer; and from some size on it stores past the caches.
    std::int64_t streams() const {
        if (is_by_blocks()) return k + Strips::group;
        const std::int64_t of_a = a_k == size ? 1 : k;
        return of_a + (d_m == size ? n : 1);
    }
    // Whether OpenBLAS is slower; measured on Zen 3. Of strips with many terms it is not, whose
    // columns of a are as many streams, nor with some if these come from memory.
    bool is_ahead_of_blas() const {
        if (vector_bytes != 32) return false;
        if (is_deep()) return true;
        if (is_complex<T>) return false;
        if (a_m != size) return k <= Strips::few_terms || n <= most_deep_columns;
        return k <= 16 || (k <= Strips::few_terms && m * k * size <= 8 << 20);
    }
    bool suits() const {
        if (n > most_columns) return false;
        if (is_deep()) return true;
        if (n * k * size > most_b_bytes) return false;
        return (has_dots() && !is_by_rows()) || streams() <= most_streams ||
               m * (k + n) * size <= large_operands().products;
    }

    void run(char *const *data) const {
        if (is_deep())
            deep(data);
        else if (has_few_terms())
            few_terms(data);
        else if (is_by_rows())
            by_rows(data);
        else if (has_dots())
            dots(data);
        else
            strips(data);
    }

private:
    void fail() const { failed->store(true, std::memory_order_relaxed); }
    template <class Body> void split(std::int64_t pieces, std::int64_t terms, Body &&body) const {
        if (serial)
            body(std::int64_t{0}, pieces);
        else
            parallel(pieces, terms / 8 + 1, body);
    }

    // The first `depth` terms of strips, with `alpha`, and `beta` of what is added.
    Strips strips_of(std::int64_t depth, T factor, T beta_) const {
        return {m * parts,
                depth,
                n,
                a_m,
                a_k,
                b_k,
                b_n,
                c_m,
                c_n,
                d_n,
                factor,
                beta_,
                Strips::is_one(factor) && !truth(beta_),
                conj_a,
                conj_b};
    }

    // ---- few terms and columns ----

    void few_terms(char *const *data) const {
        if constexpr (!is_complex<T>) {
            T y[most_few * most_columns];
            for (std::int64_t j = 0; j < n; ++j)
                for (std::int64_t p = 0; p < k; ++p)
                    y[j * k + p] = load<T>(data[product_b] + p * b_k + j * b_n);
            // Not a power of two: columns would fall on few sets of the L1 cache.
            constexpr std::int64_t piece = 3840 / size, step = piece * size;
            split(divide_up(m, piece), piece * k * n, [&](std::int64_t begin, std::int64_t end) {
                alignas(64) char x[most_few * step], sums[most_few * step];
                for (std::int64_t i = begin * piece; i < std::min(m, end * piece); i += piece) {
                    const std::int64_t rows = std::min(piece, m - i);
                    const char *const a = data[product_a] + i * a_m;
                    char *const d = data[product_d] + i * d_m;
                    const bool is_a_dense = a_m == size, is_d_dense = d_m == size;
                    if (!is_a_dense) transpose(size, rows, k, x, step, a, a_m);
                    for (std::int64_t j = 0; j < n; j += most_few)
                        FewTerms<T>::multiply(k, std::min(most_few, n - j), rows,
                                              is_d_dense ? d + j * d_n : sums,
                                              is_d_dense ? d_n : step, is_a_dense ? a : x,
                                              is_a_dense ? a_k : step, y + j * k, alpha);
                    if (!is_d_dense) transpose(size, n, rows, d, d_m, sums, step);
                }
            });
        }
    }

    // ---- rows of d and b ----

    void by_rows(char *const *data) const {
        const char *b = data[product_b];
        std::int64_t step = b_k;
        const Scratch dense(b_n == size ? 0 : n * k * size, std::nothrow);
        if (!dense.is_there()) return fail();
        if (b_n != size) {
            step = n * size;
            transposed(n, k, dense.data(), step, b, b_n, b_k);
            b = dense.data();
        }
        Strips all = exchanged().strips_of(k, alpha, beta);
        all.a_m = size;
        all.a_k = step;
        constexpr std::int64_t piece = 256;
        split(divide_up(m, piece), piece * k * n, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; i < end; ++i)
                all.run({0, all.m}, {i * piece, std::min(m, (i + 1) * piece)}, data[product_d], b,
                        data[product_a], data[product_c]);
        });
    }
    // out[i * size + j * step] = in[i * in_i + j * in_j]
    static void transposed(std::int64_t rows, std::int64_t columns, char *out, std::int64_t step,
                           const char *in, std::int64_t in_i, std::int64_t in_j) {
        if (in_j == size) return transpose(size, rows, columns, out, step, in, in_i);
        for (std::int64_t j = 0; j < columns; ++j)
            if (in_i == size)
                std::memcpy(out + j * step, in + j * in_j, rows * size);
            else
                for (std::int64_t i = 0; i < rows; ++i)
                    std::memcpy(out + i * size + j * step, in + i * in_i + j * in_j, size);
    }

    // ---- strips of rows ----

    void strips(char *const *data) const {
        if (is_by_blocks()) return blocks(data);
        split(divide_up(m * parts, strip), strip * k * n,
              [&](std::int64_t begin, std::int64_t end) {
                  for (std::int64_t i = begin; i < end; ++i) {
                      const std::int64_t row = i * strip / parts;
                      one_strip(std::min(strip, m * parts - i * strip), data[product_d] + row * d_m,
                                data[product_a] + row * a_m, data[product_b],
                                data[product_c] + row * c_m);
                  }
              });
    }
    // Few streams are read and written at a time, in long runs.
    void blocks(char *const *data) const {
        const Strips whole = strips_of(k, alpha, beta);
        const bool packs = whole.is_packed();
        const std::int64_t rows = block_bytes / (k * size * strip) * strip;
        split(divide_up(m, rows), rows * k * n, [&](std::int64_t begin, std::int64_t end) {
            alignas(64) char own[block_bytes];
            for (std::int64_t i = begin * rows; i < std::min(m, end * rows); i += rows) {
                const char *a = data[product_a] + i * a_m;
                Strips some = whole;
                some.m = std::min(rows, m - i);
                if (packs) {
                    some.a_m = size;
                    some.a_k = rows * size;
                    transposed(some.m, k, own, some.a_k, a, a_m, a_k);
                    a = own;
                }
                some.run({0, some.m}, {0, n}, data[product_d] + i * d_m, a, data[product_b],
                         data[product_c] + i * c_m);
            }
        });
    }
    void one_strip(std::int64_t height, char *d, const char *a, const char *b,
                   const char *c) const {
        alignas(64) char own[strip * part * most_columns];
        const bool is_dense = d_m == size;
        char *const to = is_dense ? d : own;
        Strips some = strips_of(k, alpha, beta);
        some.m = height;
        if (!is_dense) some.d_n = strip * part;
        add_blocks(some, to, a, b, c);
        if (!is_dense) transpose(size, n, height / parts, d, d_m, own, strip * part);
    }

    // Of all terms in turn: the first block adds c as `some` says, the others what is there.
    static void add_blocks(Strips some, char *d, const char *a, const char *b, const char *c) {
        const std::int64_t terms = some.k;
        for (std::int64_t first = 0; first < terms; first += Strips::longest_packed) {
            some.k = std::min(Strips::longest_packed, terms - first);
            some.run({0, some.m}, {0, some.n}, d, a + first * some.a_k, b + first * some.b_k, c);
            some.beta = one<T>();
            some.plain = false;
            some.c_m = size;
            some.c_n = some.d_n;
            c = d;
        }
    }

    // ---- vectors along k ----

    void dots(char *const *data) const {
        const char *b = data[product_b];
        std::int64_t step = b_n;
        const Scratch dense(b_k == size ? 0 : n * k * size, std::nothrow);
        if (!dense.is_there()) return fail();
        if (b_k != size) {
            step = k * size;
            transposed(k, n, dense.data(), step, b, b_k, b_n);
            b = dense.data();
        }
        if constexpr (!is_complex<T>) {
            constexpr std::int64_t tile = Dots<T>::tile;
            split(divide_up(m, tile), tile * k * n, [&](std::int64_t begin, std::int64_t end) {
                for (std::int64_t i = begin * tile; i < std::min(m, end * tile); i += tile) {
                    const std::int64_t rows = std::min(tile, m - i);
                    T sums[tile * most_columns];
                    std::fill_n(sums, tile * n, T{});
                    Dots<T>::add(rows, n, k, data[product_a] + i * a_m, a_m, b, step, sums, tile);
                    finish(data[product_d] + i * d_m, data[product_c] + i * c_m, rows, sums, tile);
                }
            });
        }
    }

    // d = alpha sums + beta c, of the first rows.
    void finish(char *d, const char *c, std::int64_t rows, const T *sums, std::int64_t step) const {
        const auto scaled = [](T factor, T x) { // as DirectStrips does it
            if constexpr (is_complex<T>)
                if (factor.im == 0)
                    return Strips::is_one(factor) ? x : T{factor.re * x.re, factor.re * x.im};
            return functor::multiply::apply(factor, x);
        };
        for (std::int64_t j = 0; j < n; ++j)
            for (std::int64_t i = 0; i < rows; ++i) {
                T value = scaled(alpha, sums[i + j * step]);
                if (truth(beta))
                    value =
                        functor::add::apply(value, scaled(beta, load<T>(c + i * c_m + j * c_n)));
                std::memcpy(d + i * d_m + j * d_n, &value, sizeof value);
            }
    }

    // ---- pieces along k ----

    void deep(char *const *data) const {
        const std::int64_t pieces = std::clamp<std::int64_t>(k / least_depth, 1, most_pieces),
                           each = divide_up(divide_up(k, pieces), 64) * 64,
                           step = divide_up(m, 64 / part) * (64 / part), count = n * step;
        const Scratch scratch(pieces * count * size, std::nothrow);
        if (!scratch.is_there()) return fail();
        T *const sums = reinterpret_cast<T *>(scratch.data());
        std::memset(scratch.data(), 0, pieces * count * size);
        split(pieces, each * m * n, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; i < end; ++i)
                if (i * each < k)
                    add_terms(data, i * each, std::min(each, k - i * each), sums + i * count, step);
        });
        for (std::int64_t i = 1; i < pieces; ++i)
            for (std::int64_t at = 0; at < count; ++at)
                sums[at] = functor::add::apply(sums[at], sums[i * count + at]);
        finish(data[product_d], data[product_c], m, sums, step);
    }
    void add_dots(std::int64_t terms, const char *a, const char *b, T *sums,
                  std::int64_t step) const {
        if (b_k == size) return Dots<T>::add(m, n, terms, a, a_m, b, b_n, sums, step);
        alignas(64) char dense[32 << 10];
        const std::int64_t most = sizeof dense / size / n / 64 * 64;
        for (std::int64_t first = 0; first < terms; first += most) {
            const std::int64_t some = std::min(most, terms - first);
            transposed(some, n, dense, some * size, b + first * b_k, b_k, b_n);
            Dots<T>::add(m, n, some, a + first * size, a_m, dense, some * size, sums, step);
        }
    }
    void add_terms(char *const *data, std::int64_t first, std::int64_t terms, T *sums,
                   std::int64_t step) const {
        const char *a = data[product_a] + first * a_k, *b = data[product_b] + first * b_k;
        if constexpr (!is_complex<T>)
            if (has_dots()) return add_dots(terms, a, b, sums, step);
        Strips some = strips_of(terms, one<T>(), one<T>());
        some.c_m = size;
        some.c_n = some.d_n = step * size;
        char *const to = reinterpret_cast<char *>(sums);
        add_blocks(some, to, a, b, to);
    }
};

} // namespace

template <class T> bool thin_product(const Contraction &p, std::uint32_t dtype, T alpha, T beta,
                                     bool only_ahead_of_blas) {
    constexpr std::int64_t size = sizeof(T);
    if (!p.is_plain() || !truth(alpha) || p.suits_side_by_side()) return false;
    if (p.work() == 0) return false; // and no sum has terms, or there is no d
    const bool adds = truth(beta);
    for (ProductOperand o : {product_d, product_a, product_b, product_c})
        if ((o != product_c || adds) && !is_native(p.side[o], dtype, size)) return false;
    const auto stride = [](const AxisList &axes, ProductOperand o) {
        return axes.count ? axes.stride(0, o) : size;
    };
    std::atomic<bool> failed = false;
    ThinProduct<T> product{p.m.size(),
                           p.k.size(),
                           p.n.size(),
                           stride(p.m, product_a),
                           stride(p.k, product_a),
                           stride(p.k, product_b),
                           stride(p.n, product_b),
                           stride(p.m, product_c),
                           stride(p.n, product_c),
                           stride(p.m, product_d),
                           stride(p.n, product_d),
                           alpha,
                           beta,
                           p.conj_a,
                           p.conj_b,
                           p.batch.size() > 3,
                           &failed};
    if (product.d_m != size && product.d_n != size) return false;
    // If both sides are short, it may be the shorter one: of d' = b' a' nothing needs packing then.
    const bool packs_less = product.a_m != size && product.b_n == size && product.is_deep() &&
                            product.exchanged().is_deep();
    const bool exchanges = product.n > product.m || packs_less;
    if (exchanges) product = product.exchanged();
    if (!product.suits() || (only_ahead_of_blas && !product.is_ahead_of_blas())) return false;
    const auto products = [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
            char *data[product_operands];
            for (int o = 0; o < product_operands; ++o) data[o] = p.data[o] + p.batch_offset(o, i);
            if (exchanges) std::swap(data[product_a], data[product_b]);
            product.run(data);
        }
    };
    if (product.serial)
        parallel(p.batch.size(), p.work() / 8 + 1, products);
    else
        products(0, p.batch.size());
    if (failed) throw std::bad_alloc(); // not on a thread of the pool
    return true;
}
template bool thin_product(const Contraction &, std::uint32_t, std::uint32_t, std::uint32_t, bool);
template bool thin_product(const Contraction &, std::uint32_t, std::uint64_t, std::uint64_t, bool);
template bool thin_product(const Contraction &, std::uint32_t, float, float, bool);
template bool thin_product(const Contraction &, std::uint32_t, double, double, bool);
template bool thin_product(const Contraction &, std::uint32_t, Complex<float>, Complex<float>,
                           bool);
template bool thin_product(const Contraction &, std::uint32_t, Complex<double>, Complex<double>,
                           bool);

} // namespace Atoll::kernels
