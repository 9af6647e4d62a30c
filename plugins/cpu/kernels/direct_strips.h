// The kernel of products that are computed straight from the operands: strips of rows of a in
// registers against elements of b.
#pragma once

#include "functors/arithmetic.h"
#include "partial_vector.h"
#include "product_vectors.h"
#include "transpose.h"

#include <algorithm>
#include <cstdlib>

namespace Atoll::kernels {

// One product; strides in bytes. d is dense along m, which counts real numbers: two for each
// complex one.
template <class T> struct DirectStrips {
    struct Range {
        std::int64_t begin, end;
    };
    using R = Part<T>;
    using V = Vector<R>;
    static constexpr std::int64_t size = sizeof(T), part = sizeof(R), width = lanes<R>;
    static constexpr int parts = is_complex<T> ? 2 : 1;
    // Rows, in real numbers, and columns at a time. Three vectors of four columns leave registers
    // for a's rows and one broadcast, where there are 16.
    static constexpr int tallest = vector_bytes == 32 ? 3 : 2; // in vectors
    static constexpr std::int64_t strip = tallest * width;
    static constexpr int group = (vector_bytes < 64 ? 4 : 8) / parts;
    // Elements along k that are spread farther are a page each, of too many.
    static constexpr std::int64_t longest_walk = 128 << 10;
    static constexpr std::int64_t packed_bytes = tallest * (16 << 10), // of rows of a
        longest_packed = packed_bytes / (strip * part);
    static constexpr std::int64_t few_terms = 32,
                                  few_bytes = 128 << 10; // of an a that is read many times

    std::int64_t m, k, n;
    std::int64_t a_m, a_k, b_k, b_n, c_m, c_n, d_n;
    T alpha, beta;
    bool plain; // alpha is 1, beta 0
    bool conj_a, conj_b;

    static bool is_one(T factor) {
        if constexpr (parts == 2)
            return factor.re == 1 && factor.im == 0;
        else
            return factor == 1;
    }
    bool is_dense() const { return a_m == size || m == parts; }
    bool is_spread(std::int64_t stride) const { return std::abs(stride) * k > longest_walk; }
    // Whether so many elements along k fall on few sets of the caches that they do not stay.
    bool collides(std::int64_t stride) const {
        return vector_bytes < 64 ? stride % 2048 == 0 && stride && k > 8
                                 : stride % 4096 == 0 && stride && k > 128;
    }
    bool is_packed() const {
        return !is_dense() || ((is_spread(a_k) || collides(a_k)) && n >= 16 && k <= longest_packed);
    }
    // Rows from whole strips on, and columns.
    void run(Range rows, Range columns, char *d, const char *a, const char *b,
             const char *c) const {
        d += columns.begin * d_n;
        b += columns.begin * b_n;
        c += columns.begin * c_n;
        const std::int64_t count = columns.end - columns.begin;
        if (is_packed()) return run_packed(rows, count, d, a, b, c);
        // For few terms a result what counts is that columns of d are written from end to end.
        const std::int64_t each = k <= few_terms && m * k * part <= few_bytes ? group : count;
        for (std::int64_t j = 0; j < count; j += each)
            for (std::int64_t i = rows.begin; i < rows.end; i += strip)
                all_columns(i, std::min(each, count - j), d + j * d_n, a + i / parts * a_m, a_k,
                            b + j * b_n, c + j * c_n);
    }

private:
    // The first rows of some columns.
    struct Place {
        char *d;
        const char *a;
        std::int64_t step; // from column to column of a
        const char *b, *c;
    };

    // Apart, as its room is large for a stack.
    [[gnu::noinline]] void run_packed(Range rows, std::int64_t count, char *d, const char *a,
                                      const char *b, const char *c) const {
        alignas(64) char packed[packed_bytes];
        for (std::int64_t i = rows.begin; i < rows.end; i += strip) {
            pack(packed, a + i / parts * a_m, std::min(strip, m - i) / parts);
            all_columns(i, count, d, packed, strip * part, b, c);
        }
    }
    void pack(char *to, const char *from, std::int64_t rows) const {
        if (a_k == size && !is_dense())
            return transpose(size, rows, k, to, strip * part, from, a_m);
        for (std::int64_t p = 0; p < k; ++p)
            if (is_dense())
                std::memcpy(to + p * strip * part, from + p * a_k, rows * size);
            else
                for (std::int64_t i = 0; i < rows; ++i)
                    std::memcpy(to + p * strip * part + i * size, from + p * a_k + i * a_m, size);
    }

    // Of the strip at row i.
    void all_columns(std::int64_t i, std::int64_t count, char *d, const char *a, std::int64_t step,
                     const char *b, const char *c) const {
        const std::int64_t height = std::min(strip, m - i);
        const Place place{d + i * part, a, step, b, c + i / parts * c_m};
        of_vectors<tallest>(height, count, place);
    }
    template <int vectors>
    void of_vectors(std::int64_t height, std::int64_t count, const Place &place) const {
        if constexpr (vectors > 1)
            if (height <= (vectors - 1) * width)
                return of_vectors<vectors - 1>(height, count, place);
        if (height == vectors * width)
            all_columns<vectors, true>(height, count, place);
        else
            all_columns<vectors, false>(height, count, place);
    }
    template <int vectors, bool whole>
    void all_columns(std::int64_t height, std::int64_t count, Place place) const {
        const auto some = [&]<int each>(std::integral_constant<int, each>) {
            for (; count >= each; count -= each) {
                block<vectors, each, whole>(height, place);
                place.d += each * d_n;
                place.b += each * b_n;
                place.c += each * c_n;
            }
        };
        if constexpr (group * parts == 8 || vectors == 1)
            some(std::integral_constant<int, 8 / parts>());
        some(std::integral_constant<int, 4 / parts>());
        if constexpr (parts == 1) {
            some(std::integral_constant<int, 3>());
            some(std::integral_constant<int, 2>());
        }
        some(std::integral_constant<int, 1>());
    }

    // `whole`: all rows of the vectors are there, else some of the last one. Not inlined, so that
    // it has all registers to itself.
    template <int vectors, int count, bool whole>
    [[gnu::noinline]] void block(std::int64_t height, const Place &place) const {
        constexpr int last = vectors - 1, sums = count * parts;
        const PartialVector<R> rest(whole ? 0 : height - last * width);
        // Of complex numbers: a times the real parts of b, and times the imaginary parts.
        V sum[sums][vectors] = {};
        // Addresses of four columns from one register each: compilers keep more of them in vector
        // registers, which costs as much as the arithmetic.
        constexpr int bases = (count + 3) / 4;
        const char *base[bases];
#pragma GCC unroll 2
        for (int i = 0; i < bases; ++i) base[i] = place.b + 4 * i * b_n;
        const char *a = place.a;
        const std::int64_t step = place.step;
        for (std::int64_t p = 0; p < k; ++p) {
            V x[vectors];
#pragma GCC unroll 2
            for (int v = 0; v < last; ++v) x[v] = load_vector<V>(a + v * width * part);
            const char *const end = a + last * width * part;
            if constexpr (whole)
                x[last] = load_vector<V>(end);
            else
                x[last] = rest.load(end);
#pragma GCC unroll 8
            for (int j = 0; j < sums; ++j) {
                const V y =
                    load<R>(base[j / parts / 4] + j / parts % 4 * b_n + j % parts * part) - V{};
#pragma GCC unroll 3
                for (int v = 0; v < vectors; ++v) sum[j][v] = multiply_add(x[v], y, sum[j][v]);
            }
            a += step;
#pragma GCC unroll 2
            for (int i = 0; i < bases; ++i) base[i] += b_k;
        }
#pragma GCC unroll 8
        for (int j = 0; j < count; ++j)
#pragma GCC unroll 3
            for (int v = 0; v < vectors; ++v) {
                V value;
                if constexpr (parts == 2)
                    value = joined(sum[2 * j][v], sum[2 * j + 1][v]);
                else
                    value = sum[j][v];
                const std::int64_t first = v * width;
                const bool is_whole = whole || v < last;
                if (!plain) {
                    if (!is_one(alpha)) value = times(alpha, value);
                    const char *const c = place.c + j * c_n + first / parts * c_m;
                    if (truth(beta)) {
                        const V third = c_m != size ? gathered(height - first, c)
                                        : is_whole  ? load_vector<V>(c)
                                                    : rest.load(c);
                        value += is_one(beta) ? third : times(beta, third);
                    }
                }
                char *const to = place.d + j * d_n + first * part;
                if (is_whole)
                    store_vector(to, value);
                else
                    rest.store(to, value);
            }
    }
    // One in the real parts, another in the imaginary parts.
    static V alternating(R real, R imaginary) {
        V v;
        for (int i = 0; i < width; ++i) v[i] = i % 2 ? imaginary : real;
        return v;
    }
    // From a's products with the real and with the imaginary parts.
    V joined(V real, V imaginary) const {
        const V crossed = parts_of<1, 0>(imaginary);
        const R sign = conj_b ? R(-1) : R(1);
        if (!conj_a) return real + alternating(-sign, sign) * crossed;
        return alternating(1, -1) * real + alternating(sign, sign) * crossed;
    }
    static V times(T factor, V value) {
        if constexpr (parts == 1) {
            return value * factor;
        } else {
            if (factor.im == 0) return factor.re * value;
            return factor.re * value + alternating(-factor.im, factor.im) * parts_of<1, 0>(value);
        }
    }
    V gathered(std::int64_t height, const char *c) const {
        V v = {};
        char *const to = reinterpret_cast<char *>(&v);
        for (std::int64_t i = 0; i < std::min(height, width) / parts; ++i)
            std::memcpy(to + i * size, c + i * c_m, size);
        return v;
    }
};

} // namespace Atoll::kernels
