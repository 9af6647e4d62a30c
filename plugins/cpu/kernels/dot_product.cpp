// Dot products of dense vectors.
#include "dot_product.h"

#include "packed_side.h"
#include "parallel.h"
#include "partial_vector.h"

namespace Atoll::kernels {
namespace {

constexpr std::int64_t longest = 4096; // longer ones are cut into blocks elsewhere

template <class T> T dot(const char *a, const char *b, std::int64_t count,
                         const PartialVector<T> &rest, bool has_rest) {
    using V = Vector<T>;
    constexpr std::int64_t width = lanes<T>, step = vector_bytes;
    V sum[4] = {};
    for (; count >= 4 * width; count -= 4 * width, a += 4 * step, b += 4 * step)
#pragma GCC unroll 4
        for (int v = 0; v < 4; ++v)
            sum[v] =
                multiply_add(load_vector<V>(a + v * step), load_vector<V>(b + v * step), sum[v]);
    for (; count >= width; count -= width, a += step, b += step)
        sum[0] = multiply_add(load_vector<V>(a), load_vector<V>(b), sum[0]);
    if (has_rest) sum[1] = multiply_add(rest.load(a), rest.load(b), sum[1]);
    return sum_of((sum[0] + sum[1]) + (sum[2] + sum[3]));
}

} // namespace

template <class T> bool dot_products(const Contraction &p, std::uint32_t dtype, T alpha, T beta) {
    constexpr std::int64_t size = sizeof(T);
    const std::int64_t k = p.k.size();
    if (p.m.size() != 1 || p.n.size() != 1 || p.k.count != 1 || k > longest || alpha == 0 ||
        p.k.stride(0, product_a) != size || p.k.stride(0, product_b) != size)
        return false;
    const bool adds = beta != 0;
    for (ProductOperand o : {product_d, product_a, product_b, product_c})
        if ((o != product_c || adds) && !is_native(p.side[o], dtype, sizeof(T))) return false;
    const std::int64_t over = k % lanes<T>;
    const PartialVector<T> rest(over);
    parallel(p.batch.size(), k / 8 + 1, [&](std::int64_t begin, std::int64_t end) {
        // Rows of the first axis of the batch.
        const std::int64_t extent = p.batch.extent(0);
        while (begin < end) {
            char *at[product_operands];
            for (int o = 0; o < product_operands; ++o) at[o] = p.data[o] + p.batch_offset(o, begin);
            const std::int64_t stop = std::min(end, (begin / extent + 1) * extent);
            for (; begin < stop; ++begin) {
                T value = alpha * dot<T>(at[product_a], at[product_b], k, rest, over != 0);
                if (adds) value += beta * load<T>(at[product_c]);
                std::memcpy(at[product_d], &value, sizeof value);
                for (int o = 0; o < product_operands; ++o) at[o] += p.batch.stride(0, o);
            }
        }
    });
    return true;
}
template bool dot_products(const Contraction &, std::uint32_t, std::uint32_t, std::uint32_t);
template bool dot_products(const Contraction &, std::uint32_t, std::uint64_t, std::uint64_t);
template bool dot_products(const Contraction &, std::uint32_t, float, float);
template bool dot_products(const Contraction &, std::uint32_t, double, double);

} // namespace Atoll::kernels
