// Small products: columns of a in registers against elements of b. Neither is packed but for rows
// of a that are not dense, or too far apart.
#include "small_product.h"

#include "complex_loops.h"
#include "parallel.h"
#include "partial_vector.h"
#include "transpose.h"

#include <algorithm>
#include <cstdlib>

namespace Atoll::kernels {
namespace {

constexpr std::int64_t small = 32;    // extents of products that no BLAS is asked for
constexpr std::int64_t longest = 512; // of an extent
// Of b, which is read once for each strip of rows: it stays in the L2 cache.
constexpr std::int64_t most_bytes = vector_bytes < 64 ? 256 << 10 : 512 << 10;
// On vectors of less than 64 bytes BLAS is ahead from here on.
constexpr std::int64_t most_work =
    vector_bytes < 64 ? 128 * 128 * 128 : longest * longest * longest;
// Elements farther apart are a page each, of too many, or share too few lines of the caches.
constexpr std::int64_t longest_walk = 128 << 10;
constexpr std::int64_t packed_bytes = 32 << 10; // of rows of a

struct Range {
    std::int64_t begin, end;
};

// One product; strides in bytes. d is dense along m, which counts real numbers: two for each
// complex one.
template <class T> struct Small {
    using R = Part<T>;
    using V = Vector<R>;
    static constexpr std::int64_t size = sizeof(T), part = sizeof(R), width = lanes<R>;
    static constexpr int parts = is_complex<T> ? 2 : 1;
    // Rows, in real numbers, and columns at a time.
    static constexpr std::int64_t strip = 2 * width;
    static constexpr int group = (vector_bytes < 64 ? 4 : 8) / parts;
    static constexpr std::int64_t longest_packed = packed_bytes / (strip * part);

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
    bool is_packed() const {
        return !is_dense() || (std::abs(a_k) * k > longest_walk && n >= 16 && k <= longest_packed);
    }
    bool is_small() const { return m / parts <= small && n <= small && k <= small; }
    // Whether others are not faster.
    bool suits() const {
        const std::int64_t rows = m / parts;
        // For a vector others have more sums at a time.
        if (n == 1 && (!is_dense() || rows * k > 128 * 128)) return false;
        return rows <= longest && n <= longest && k <= (is_dense() ? longest : longest_packed) &&
               4 * m >= 3 * width && rows * n * k <= most_work && n * k * size <= most_bytes &&
               (vector_bytes == 64 || b_k == size || std::abs(b_k) * k <= longest_walk);
    }

    // Rows from whole strips on, and columns.
    void run(Range rows, Range columns, char *d, const char *a, const char *b,
             const char *c) const {
        alignas(64) char packed[packed_bytes];
        const bool packs = is_packed();
        for (std::int64_t i = rows.begin; i < rows.end; i += strip) {
            const std::int64_t height = std::min(strip, m - i);
            const char *from = a + i / parts * a_m;
            std::int64_t step = a_k;
            if (packs) {
                step = strip * part;
                pack(packed, from, height / parts);
                from = packed;
            }
            Place place{d + i * part, from, step, b, c + i / parts * c_m};
            place.d += columns.begin * d_n;
            place.b += columns.begin * b_n;
            place.c += columns.begin * c_n;
            const std::int64_t count = columns.end - columns.begin;
            if (height == strip)
                all_columns<2, true>(height, count, place);
            else if (height > width)
                all_columns<2, false>(height, count, place);
            else if (height == width)
                all_columns<1, true>(height, count, place);
            else
                all_columns<1, false>(height, count, place);
        }
    }

private:
    // The first rows of some columns.
    struct Place {
        char *d;
        const char *a;
        std::int64_t step; // from column to column of a
        const char *b, *c;
    };

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
        if constexpr (parts == 1) some(std::integral_constant<int, 2>());
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
            if constexpr (vectors == 2) x[0] = load_vector<V>(a);
            const char *const end = a + last * width * part;
            if constexpr (whole)
                x[last] = load_vector<V>(end);
            else
                x[last] = rest.load(end);
#pragma GCC unroll 8
            for (int j = 0; j < sums; ++j) {
                const V y =
                    load<R>(base[j / parts / 4] + j / parts % 4 * b_n + j % parts * part) - V{};
#pragma GCC unroll 2
                for (int v = 0; v < vectors; ++v) sum[j][v] = multiply_add(x[v], y, sum[j][v]);
            }
            a += step;
#pragma GCC unroll 2
            for (int i = 0; i < bases; ++i) base[i] += b_k;
        }
#pragma GCC unroll 8
        for (int j = 0; j < count; ++j)
#pragma GCC unroll 2
            for (int v = 0; v < vectors; ++v) {
                V value;
                if constexpr (parts == 2)
                    value = joined(sum[2 * j][v], sum[2 * j + 1][v]);
                else
                    value = sum[j][v];
                const std::int64_t first = v * width;
                if (!plain)
                    value = finished(value, std::min(height - first, width) / parts,
                                     place.c + j * c_n + first / parts * c_m);
                char *const to = place.d + j * d_n + first * part;
                if (whole || v < last)
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
        if constexpr (parts == 2)
            return factor.re * value + alternating(-factor.im, factor.im) * parts_of<1, 0>(value);
        else
            return factor * value;
    }
    // alpha times the value, beta c added.
    V finished(V value, std::int64_t count, const char *c) const {
        if (!is_one(alpha)) value = times(alpha, value);
        if (!truth(beta)) return value;
        V third = {};
        char *const to = reinterpret_cast<char *>(&third);
        for (std::int64_t i = 0; i < count; ++i) std::memcpy(to + i * size, c + i * c_m, size);
        return value + times(beta, third);
    }
};

} // namespace

template <class T> bool small_product(const atoll_call &call, T alpha, T beta, bool conj_a,
                                      bool conj_b, bool only_small) {
    using Product = Small<T>;
    const std::int64_t *shape = call.shape;
    if (call.core != 3 || call.axes[0] != 1 || call.axes[1] != 1 || shape[0] > longest ||
        shape[1] > longest || shape[2] > longest || !truth(alpha))
        return false;
    const atoll_operand *operands = call.operands;
    const bool adds = truth(beta);
    for (int o = 0; o < (adds ? 4 : 3); ++o)
        if (operands[o].dtype != call.dtype || (operands[o].flags & ATOLL_OPERAND_SWAPPED))
            return false;
    const std::int64_t *d = operands[0].strides, *a = operands[1].strides, *b = operands[2].strides,
                       *c = operands[adds ? 3 : 0].strides;
    // Dot products of dense vectors have a loop of their own.
    if (shape[0] == 1 && shape[2] == 1 && a[1] == sizeof(T) && b[1] == sizeof(T)) return false;
    // A stack of matrices that lie side by side is multiplied along the stack.
    if (!is_complex<T> && call.rank > 3 && shape[3] >= lanes<Part<T>> && d[3] == sizeof(T) &&
        a[3] == sizeof(T) && b[3] == sizeof(T))
        return false;
    // An output that is dense along its rows is computed as its transpose: d' = b' a'.
    const bool exchanged = d[0] != sizeof(T) && shape[0] != 1;
    if (exchanged && d[2] != sizeof(T) && shape[2] != 1) return false;
    const bool plain = Product::is_one(alpha) && !adds;
    Product product = {shape[0], shape[1], shape[2], a[0], a[1],  b[1],   b[2],  c[0],
                       c[2],     d[2],     alpha,    beta, plain, conj_a, conj_b};
    if (exchanged)
        product = {shape[2], shape[1], shape[0], b[2], b[1],  a[1],   a[0],  c[2],
                   c[0],     d[0],     alpha,    beta, plain, conj_b, conj_a};
    product.m *= Product::parts;
    if (!product.is_small() && (only_small || !product.suits())) return false;
    std::int64_t count = 1;
    for (std::uint32_t axis = 3; axis < call.rank; ++axis) count *= shape[axis];
    // Each product is cut along the rows, or along the columns if these are more and a is not
    // packed.
    const std::int64_t strips = (product.m + Product::strip - 1) / Product::strip;
    const std::int64_t groups = (product.n + Product::group - 1) / Product::group;
    const bool by_columns = groups > strips && !product.is_packed();
    const std::int64_t cuts = by_columns ? groups : strips;
    if (count * cuts == 0) return true;
    const std::int64_t work = product.m * product.k * product.n * Product::parts / 8;
    if (count == 1 && cuts == 1) {
        char *data[4];
        for (int o = 0; o < 4; ++o)
            data[o] = static_cast<char *>(operands[o == 3 && !adds ? 0 : o].data);
        product.run({0, product.m}, {0, product.n}, data[0], data[exchanged ? 2 : 1],
                    data[exchanged ? 1 : 2], data[3]);
        return true;
    }
    // As a rule products differ along one axis, with neighbours one step away.
    const std::int64_t run = call.rank > 3 ? shape[3] : 1;
    parallel(count * cuts, work / cuts + 1, [&](std::int64_t begin, std::int64_t end) {
        while (begin < end) {
            const std::int64_t at = begin / cuts;
            char *data[4];
            std::int64_t step[4];
            for (int o = 0; o < 4; ++o) {
                const atoll_operand &operand = operands[o == 3 && !adds ? 0 : o];
                data[o] = static_cast<char *>(operand.data);
                std::int64_t index = at;
                for (std::uint32_t axis = 3; axis < call.rank; index /= shape[axis++])
                    data[o] += index % shape[axis] * operand.strides[axis];
                step[o] = call.rank > 3 ? operand.strides[3] : 0;
            }
            const std::int64_t stop = std::min(end, (at + run - at % run) * cuts);
            for (std::int64_t first = begin % cuts; begin < stop; first = 0) {
                const std::int64_t last = std::min(cuts, first + stop - begin);
                Range rows{0, product.m}, columns{0, product.n};
                if (by_columns)
                    columns = {first * Product::group,
                               std::min(columns.end, last * Product::group)};
                else
                    rows = {first * Product::strip, std::min(rows.end, last * Product::strip)};
                product.run(rows, columns, data[0], data[exchanged ? 2 : 1],
                            data[exchanged ? 1 : 2], data[3]);
                begin += last - first;
                for (int o = 0; o < 4; ++o) data[o] += step[o];
            }
        }
    });
    return true;
}
template bool small_product(const atoll_call &, float, float, bool, bool, bool);
template bool small_product(const atoll_call &, double, double, bool, bool, bool);
template bool small_product(const atoll_call &, Complex<float>, Complex<float>, bool, bool, bool);
template bool small_product(const atoll_call &, Complex<double>, Complex<double>, bool, bool, bool);

} // namespace Atoll::kernels
