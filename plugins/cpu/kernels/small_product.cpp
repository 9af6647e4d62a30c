// Small products: columns of a in registers against elements of b.
#include "small_product.h"

#include "parallel.h"
#include "product_vectors.h"

#include <algorithm>

namespace Atoll::kernels {
namespace {

constexpr std::int64_t largest = 32;

// One product; strides in bytes. d is dense along m.
template <class T> struct Small {
    std::int64_t m, k, n;
    std::int64_t a_m, a_k, b_k, b_n, c_m, c_n, d_n;
    T alpha, beta;

    void run(char *d, const char *a, const char *b, const char *c) const {
        alignas(64) T padded[largest * largest];
        const char *rows = a;
        std::int64_t step = a_k;
        const std::int64_t whole = (m + width - 1) / width * width;
        if (a_m != size || m != whole) {
            for (std::int64_t p = 0; p < k; ++p) {
                T *column = padded + p * whole;
                for (std::int64_t i = 0; i < m; ++i) column[i] = load<T>(a + p * a_k + i * a_m);
                for (std::int64_t i = m; i < whole; ++i) column[i] = 0;
            }
            rows = reinterpret_cast<const char *>(padded);
            step = whole * size;
        }
        std::int64_t i = 0;
        for (; i + 2 * width <= whole; i += 2 * width) all_columns<2>(i, rows, step, d, b, c);
        if (i < whole) all_columns<1>(i, rows, step, d, b, c);
    }

private:
    static constexpr std::int64_t size = sizeof(T), width = lanes<T>;
    using V = Vector<T>;

    template <int Vectors> void all_columns(std::int64_t i, const char *rows, std::int64_t step,
                                            char *d, const char *b, const char *c) const {
        rows += i * size;
        d += i * size;
        c += i * c_m;
        std::int64_t j = 0;
        const auto columns = [&]<int Columns>(std::integral_constant<int, Columns>) {
            for (; j + Columns <= n; j += Columns)
                block<Vectors, Columns>(m - i, rows, step, d + j * d_n, b + j * b_n, c + j * c_n);
        };
        columns(std::integral_constant<int, 8 / (vector_bytes < 64 ? Vectors : 1)>());
        columns(std::integral_constant<int, 4>());
        columns(std::integral_constant<int, 2>());
        columns(std::integral_constant<int, 1>());
    }

    template <int Vectors, int Columns> void block(std::int64_t height, const char *rows,
                                                   std::int64_t step, char *d, const char *b,
                                                   const char *c) const {
        V sum[Columns][Vectors] = {};
        for (std::int64_t p = 0; p < k; ++p) {
            V x[Vectors];
#pragma GCC unroll 2
            for (int v = 0; v < Vectors; ++v)
                x[v] = load_vector<V>(rows + p * step + v * width * size);
#pragma GCC unroll 8
            for (int j = 0; j < Columns; ++j) {
                const V y = load<T>(b + p * b_k + j * b_n) - V{};
#pragma GCC unroll 2
                for (int v = 0; v < Vectors; ++v) sum[j][v] = multiply_add(x[v], y, sum[j][v]);
            }
        }
        if (alpha != 1)
            for (auto &column : sum)
                for (V &s : column) s *= alpha;
        const bool whole = height >= Vectors * width;
#pragma GCC unroll 8
        for (int j = 0; j < Columns; ++j) {
            if (whole && beta == 0) {
#pragma GCC unroll 2
                for (int v = 0; v < Vectors; ++v)
                    store_vector(d + j * d_n + v * width * size, sum[j][v]);
                continue;
            }
            T column[Vectors * width];
            std::memcpy(column, sum[j], sizeof column);
            store_part(std::min<std::int64_t>(height, Vectors * width), d + j * d_n, column,
                       c + j * c_n);
        }
    }
    void store_part(std::int64_t height, char *d, T *column, const char *c) const {
        if (beta != 0)
            for (std::int64_t i = 0; i < height; ++i) column[i] += beta * load<T>(c + i * c_m);
        for (std::int64_t i = 0; i < height; ++i) std::memcpy(d + i * size, column + i, sizeof(T));
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
    // An output that is dense along its rows is computed as its transpose: d' = b' a'.
    const bool exchanged = d[0] != sizeof(T) && shape[0] != 1;
    if (exchanged && d[2] != sizeof(T) && shape[2] != 1) return false;
    Small<T> product = {shape[0], shape[1], shape[2], a[0], a[1],  b[1],
                        b[2],     c[0],     c[2],     d[2], alpha, beta};
    if (exchanged)
        product = {shape[2], shape[1], shape[0], b[2], b[1],  a[1],
                   a[0],     c[2],     c[0],     d[0], alpha, beta};
    std::int64_t count = 1;
    for (std::uint32_t axis = 3; axis < call.rank; ++axis) count *= shape[axis];
    parallel(
        count, shape[0] * shape[1] * shape[2] / 8 + 1, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t index = begin; index < end; ++index) {
                char *data[4];
                for (int o = 0; o < 4; ++o) {
                    const atoll_operand &operand = operands[o == 3 && !adds ? 0 : o];
                    data[o] = static_cast<char *>(operand.data);
                    std::int64_t rest = index;
                    for (std::uint32_t axis = 3; axis < call.rank; ++axis) {
                        data[o] += rest % shape[axis] * operand.strides[axis];
                        rest /= shape[axis];
                    }
                }
                product.run(data[0], data[exchanged ? 2 : 1], data[exchanged ? 1 : 2], data[3]);
            }
        });
    return true;
}
template bool small_product(const atoll_call &, float, float);
template bool small_product(const atoll_call &, double, double);

} // namespace Atoll::kernels
