// Products straight from the operands: columns of a in registers against elements of b. Neither is
// packed but for rows of a that are not dense, or too far apart.
#include "direct_product.h"

#include "functors/arithmetic.h"
#include "parallel.h"
#include "partial_vector.h"
#include "product_vectors.h"
#include "transpose.h"

#include <algorithm>
#include <cstdlib>

namespace Atoll::kernels {
namespace {

constexpr std::int64_t smallest = 32; // extents of products that a BLAS by name does not get
constexpr std::int64_t longest = 512; // of an extent
// Of b, which is read once for each strip of rows: it stays in the L2 cache.
constexpr std::int64_t most_bytes = vector_bytes < 64 ? 256 << 10 : 512 << 10;
constexpr std::int64_t most_vector_bytes = 128 << 10; // of a, for a vector
// On vectors of less than 64 bytes BLAS is ahead from here on.
constexpr std::int64_t most_work =
    vector_bytes < 64 ? 128 * 128 * 128 : longest * longest * longest;
// Elements along k that are spread farther are a page each, of too many.
constexpr std::int64_t longest_walk = 128 << 10;
constexpr std::int64_t packed_bytes = 32 << 10;               // of rows of a
constexpr std::int64_t few_terms = 32, few_bytes = 128 << 10; // of an a that is read many times

struct Range {
    std::int64_t begin, end;
};

// One product; strides in bytes. d is dense along m, which counts real numbers: two for each
// complex one.
template <class T> struct DirectProduct {
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
    bool is_spread(std::int64_t stride) const { return std::abs(stride) * k > longest_walk; }
    // Whether so many elements along k fall on few sets of the caches that they do not stay.
    bool collides(std::int64_t stride) const {
        return vector_bytes < 64 ? stride % 2048 == 0 && stride && k > 8
                                 : stride % 4096 == 0 && stride && k > 128;
    }
    bool is_packed() const {
        return !is_dense() || ((is_spread(a_k) || collides(a_k)) && n >= 16 && k <= longest_packed);
    }
    bool is_smallest() const { return m / parts <= smallest && n <= smallest && k <= smallest; }
    // Whether others are not faster.
    bool suits() const {
        const std::int64_t rows = m / parts;
        // For a vector others have more sums at a time.
        if (n == 1 && (!is_dense() || rows * k * size > most_vector_bytes)) return false;
        return rows <= longest && n <= longest && k <= (is_dense() ? longest : longest_packed) &&
               4 * m >= 3 * width && rows * n * k <= most_work && n * k * size <= most_bytes &&
               (is_packed() || !collides(a_k)) && !collides(b_k) &&
               (vector_bytes == 64 || b_k == size || !is_spread(b_k));
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
        if (height == strip)
            all_columns<2, true>(height, count, place);
        else if (height > width)
            all_columns<2, false>(height, count, place);
        else if (height == width)
            all_columns<1, true>(height, count, place);
        else
            all_columns<1, false>(height, count, place);
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

} // namespace

template <class T> bool direct_product(const atoll_call &call, T alpha, T beta, bool conj_a,
                                       bool conj_b, bool only_smallest) {
    using Product = DirectProduct<T>;
    const std::int64_t *shape = call.shape;
    if (!is_of_matrices(call, longest) || !truth(alpha)) return false;
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
    if (!product.is_smallest() && (only_smallest || !product.suits())) return false;
    std::int64_t count = 1;
    for (std::uint32_t axis = 3; axis < call.rank; ++axis) count *= shape[axis];
    // Large ones are cut along the rows, or along the columns if these are more and a is not
    // packed.
    const std::int64_t work = product.m * product.k * product.n * Product::parts / 8;
    const std::int64_t strips = (product.m + Product::strip - 1) / Product::strip;
    const std::int64_t groups = (product.n + Product::group - 1) / Product::group;
    const bool by_columns = groups > strips && !product.is_packed();
    const std::int64_t cuts = count * work < parallel_threshold ? 1 : by_columns ? groups : strips;
    const auto operand_of = [&](int o) -> const atoll_operand & {
        return operands[o == 3 && !adds ? 0 : o];
    };
    const auto multiply = [&](Range rows, Range columns, char *const *data) {
        product.run(rows, columns, data[0], data[exchanged ? 2 : 1], data[exchanged ? 1 : 2],
                    data[3]);
    };
    if (count == 1 && cuts == 1) {
        char *data[4];
        for (int o = 0; o < 4; ++o) data[o] = static_cast<char *>(operand_of(o).data);
        multiply({0, product.m}, {0, product.n}, data);
        return true;
    }
    // As a rule products differ along one axis, with neighbours one step away.
    const std::int64_t neighbours = call.rank > 3 ? shape[3] : 1;
    parallel(count * cuts, work / cuts + 1, [&](std::int64_t begin, std::int64_t end) {
        while (begin < end) {
            const std::int64_t at = begin / cuts;
            char *data[4];
            std::int64_t step[4];
            for (int o = 0; o < 4; ++o) {
                const atoll_operand &operand = operand_of(o);
                data[o] = static_cast<char *>(operand.data);
                std::int64_t index = at;
                for (std::uint32_t axis = 3; axis < call.rank; index /= shape[axis++])
                    data[o] += index % shape[axis] * operand.strides[axis];
                step[o] = call.rank > 3 ? operand.strides[3] : 0;
            }
            const std::int64_t stop = std::min(end, (at + neighbours - at % neighbours) * cuts);
            for (std::int64_t first = begin % cuts; begin < stop; first = 0) {
                const std::int64_t last = std::min(cuts, first + stop - begin);
                Range rows{0, product.m}, columns{0, product.n};
                if (cuts > 1 && by_columns)
                    columns = {first * Product::group,
                               std::min(columns.end, last * Product::group)};
                else if (cuts > 1)
                    rows = {first * Product::strip, std::min(rows.end, last * Product::strip)};
                multiply(rows, columns, data);
                begin += last - first;
                for (int o = 0; o < 4; ++o) data[o] += step[o];
            }
        }
    });
    return true;
}
template bool direct_product(const atoll_call &, std::uint32_t, std::uint32_t, bool, bool, bool);
template bool direct_product(const atoll_call &, std::uint64_t, std::uint64_t, bool, bool, bool);
template bool direct_product(const atoll_call &, float, float, bool, bool, bool);
template bool direct_product(const atoll_call &, double, double, bool, bool, bool);
template bool direct_product(const atoll_call &, Complex<float>, Complex<float>, bool, bool, bool);
template bool direct_product(const atoll_call &, Complex<double>, Complex<double>, bool, bool,
                             bool);

} // namespace Atoll::kernels
