// Small products: columns of a in registers against elements of b.
#include "small_product.h"

#include "parallel.h"
#include "partial_vector.h"

#include <algorithm>

namespace Atoll::kernels {
namespace {

constexpr std::int64_t largest = 32;

// One product; strides in bytes. d is dense along m.
template <class T> struct Small {
    std::int64_t m, k, n;
    std::int64_t a_m, a_k, b_k, b_n, c_m, c_n, d_n;
    T alpha, beta;
    bool plain; // alpha is 1, beta 0

    void run(char *d, const char *a, const char *b, const char *c) const {
        if (a_m == size || m == 1) return all_rows(d, a, a_k, b, c);
        alignas(64) T packed[largest * largest];
        for (std::int64_t p = 0; p < k; ++p)
            for (std::int64_t i = 0; i < m; ++i) packed[p * m + i] = load<T>(a + p * a_k + i * a_m);
        all_rows(d, reinterpret_cast<const char *>(packed), m * size, b, c);
    }

private:
    static constexpr std::int64_t size = sizeof(T), width = lanes<T>;
    // Columns at a time of two vectors of rows.
    static constexpr int columns = vector_bytes < 64 ? 4 : 8;
    using V = Vector<T>;

    void all_rows(char *d, const char *a, std::int64_t step, const char *b, const char *c) const {
        std::int64_t i = 0;
        const auto rows = [&]<int vectors, bool whole>() {
            all_columns<vectors, whole>(i, d + i * size, a + i * size, step, b, c + i * c_m);
            i += vectors * width;
        };
        while (m - i >= 2 * width) rows.template operator()<2, true>();
        if (m - i > width) return rows.template operator()<2, false>();
        if (m - i == width) return rows.template operator()<1, true>();
        if (m > i) rows.template operator()<1, false>();
    }
    template <int vectors, bool whole> void all_columns(std::int64_t i, char *d, const char *a,
                                                        std::int64_t step, const char *b,
                                                        const char *c) const {
        std::int64_t j = 0;
        const auto some = [&]<int count>(std::integral_constant<int, count>) {
            for (; j + count <= n; j += count)
                block<vectors, count, whole>(m - i, d + j * d_n, a, step, b + j * b_n, c + j * c_n);
        };
        if constexpr (columns == 8 || vectors == 1) some(std::integral_constant<int, 8>());
        some(std::integral_constant<int, 4>());
        some(std::integral_constant<int, 2>());
        some(std::integral_constant<int, 1>());
    }

    // `whole`: all rows of the vectors are there, else some of the last one. Not inlined, so that
    // it has all registers to itself.
    template <int vectors, int count, bool whole>
    [[gnu::noinline]] void block(std::int64_t height, char *d, const char *a, std::int64_t step,
                                 const char *b, const char *c) const {
        constexpr int last = vectors - 1;
        const PartialVector<T> rest(whole ? 0 : height - last * width);
        V sum[count][vectors] = {};
        // Addresses of four columns from one register each: compilers keep more of them in vector
        // registers, which costs as much as the arithmetic.
        constexpr int bases = (count + 3) / 4;
        const char *base[bases];
#pragma GCC unroll 2
        for (int i = 0; i < bases; ++i) base[i] = b + 4 * i * b_n;
        for (std::int64_t p = 0; p < k; ++p) {
            V x[vectors];
            if constexpr (vectors == 2) x[0] = load_vector<V>(a);
            const char *const end = a + last * width * size;
            if constexpr (whole)
                x[last] = load_vector<V>(end);
            else
                x[last] = rest.load(end);
#pragma GCC unroll 8
            for (int j = 0; j < count; ++j) {
                const V y = load<T>(base[j / 4] + j % 4 * b_n) - V{};
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
                V value = sum[j][v];
                if (!plain)
                    value = finished(value, std::min(height - v * width, width),
                                     c + j * c_n + v * width * c_m);
                char *const to = d + j * d_n + v * width * size;
                if (whole || v < last)
                    store_vector(to, value);
                else
                    rest.store(to, value);
            }
    }
    // alpha times the value, beta c added.
    V finished(V value, std::int64_t height, const char *c) const {
        if (alpha != 1) value *= alpha;
        if (beta == 0) return value;
        V third = {};
        for (std::int64_t i = 0; i < height; ++i) third[i] = load<T>(c + i * c_m);
        return value + beta * third;
    }
};

} // namespace

template <class T> bool small_product(const atoll_call &call, T alpha, T beta) {
    const std::int64_t *shape = call.shape;
    if (call.core != 3 || call.axes[0] != 1 || call.axes[1] != 1 || shape[0] > largest ||
        shape[1] > largest || shape[2] > largest || alpha == 0)
        return false;
    const atoll_operand *operands = call.operands;
    const bool adds = beta != 0;
    for (int o = 0; o < (adds ? 4 : 3); ++o)
        if (operands[o].dtype != call.dtype || (operands[o].flags & ATOLL_OPERAND_SWAPPED))
            return false;
    const std::int64_t *d = operands[0].strides, *a = operands[1].strides, *b = operands[2].strides,
                       *c = operands[adds ? 3 : 0].strides;
    // Dot products of dense vectors have a loop of their own.
    if (shape[0] == 1 && shape[2] == 1 && a[1] == sizeof(T) && b[1] == sizeof(T)) return false;
    // A stack of matrices that lie side by side is multiplied along the stack.
    if (call.rank > 3 && shape[3] >= lanes<T> && d[3] == sizeof(T) && a[3] == sizeof(T) &&
        b[3] == sizeof(T))
        return false;
    // An output that is dense along its rows is computed as its transpose: d' = b' a'.
    const bool exchanged = d[0] != sizeof(T) && shape[0] != 1;
    if (exchanged && d[2] != sizeof(T) && shape[2] != 1) return false;
    const bool plain = alpha == 1 && !adds;
    Small<T> product = {shape[0], shape[1], shape[2], a[0],  a[1], b[1], b[2],
                        c[0],     c[2],     d[2],     alpha, beta, plain};
    if (exchanged)
        product = {shape[2], shape[1], shape[0], b[2],  b[1], a[1], a[0],
                   c[2],     c[0],     d[0],     alpha, beta, plain};
    std::int64_t count = 1;
    for (std::uint32_t axis = 3; axis < call.rank; ++axis) count *= shape[axis];
    // As a rule products differ along one axis, with neighbours one step away.
    const std::int64_t run = call.rank > 3 ? shape[3] : 1;
    parallel(
        count, shape[0] * shape[1] * shape[2] / 8 + 1, [&](std::int64_t begin, std::int64_t end) {
            while (begin < end) {
                char *data[4];
                std::int64_t step[4];
                for (int o = 0; o < 4; ++o) {
                    const atoll_operand &operand = operands[o == 3 && !adds ? 0 : o];
                    data[o] = static_cast<char *>(operand.data);
                    std::int64_t index = begin;
                    for (std::uint32_t axis = 3; axis < call.rank; index /= shape[axis++])
                        data[o] += index % shape[axis] * operand.strides[axis];
                    step[o] = call.rank > 3 ? operand.strides[3] : 0;
                }
                const std::int64_t last = std::min(end, begin + run - begin % run);
                for (; begin < last; ++begin) {
                    product.run(data[0], data[exchanged ? 2 : 1], data[exchanged ? 1 : 2], data[3]);
                    for (int o = 0; o < 4; ++o) data[o] += step[o];
                }
            }
        });
    return true;
}
template bool small_product(const atoll_call &, float, float);
template bool small_product(const atoll_call &, double, double);

} // namespace Atoll::kernels
