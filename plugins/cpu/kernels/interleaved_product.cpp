// Stacks of small products, one lane of a vector for each.
#include "interleaved_product.h"

#include "packed_side.h"
#include "parallel.h"
#include "partial_vector.h"

namespace Atoll::kernels {
namespace {

constexpr std::int64_t cached_bytes = 256 << 10; // of the factors of one vector of products
constexpr std::int64_t most_results = 64 * 64;   // of one product

// Products [first, first + lanes) of the stack and some more vectors of them; strides in bytes.
template <class T> class Interleaved {
public:
    Interleaved(const Contraction &p, T alpha, T beta)
        : m_(p.m.size()), k_(p.k.size()), n_(p.n.size()), a_m_(p.m.stride(0, product_a)),
          a_k_(p.k.stride(0, product_a)), b_k_(p.k.stride(0, product_b)),
          b_n_(p.n.stride(0, product_b)), c_m_(p.m.stride(0, product_c)),
          c_n_(p.n.stride(0, product_c)), d_m_(p.m.stride(0, product_d)),
          d_n_(p.n.stride(0, product_d)), alpha_(alpha), beta_(beta) {}

    // Vectors that a task takes at once: dot products read longer runs of memory.
    int vectors() const { return m_ * n_ == 1 ? 8 : m_ == 1 || n_ == 1 ? 2 : 1; }

    void run(char *const *data, std::int64_t count) const {
        constexpr std::int64_t width = lanes<T>;
        const int most = vectors();
        char *at[product_operands];
        std::copy_n(data, product_operands, at);
        const auto step = [&](std::int64_t elements) {
            for (char *&operand : at) operand += elements * size;
            count -= elements;
        };
        for (; most == 8 && count >= 8 * width; step(8 * width)) products<8>(at, Whole());
        for (; most >= 2 && count >= 2 * width; step(2 * width)) products<2>(at, Whole());
        for (; count >= width; step(width)) products<1>(at, Whole());
        if (count > 0) products<1>(at, PartialVector<T>(count));
    }

private:
    using V = Vector<T>;
    static constexpr std::int64_t size = sizeof(T);
    struct Whole {
        static V load(const char *p) { return load_vector<V>(p); }
        static void store(char *p, V v) { store_vector(p, v); }
    };

    // All results, in tiles that registers hold.
    template <int vectors, class Access>
    void products(char *const *data, const Access &access) const {
        if constexpr (vectors == 8) {
            tile<8, 1, 1>(data, 0, 0, access);
        } else {
            std::int64_t j = 0;
            for (; j + 4 <= n_; j += 4) rows<vectors, 4>(data, j, access);
            for (; j + 2 <= n_; j += 2) rows<vectors, 2>(data, j, access);
            if (j < n_) rows<vectors, 1>(data, j, access);
        }
    }
    template <int vectors, int columns, class Access>
    void rows(char *const *data, std::int64_t j, const Access &access) const {
        constexpr int most = vector_bytes == 64 ? 4 : 2; // half as many registers below AVX-512
        std::int64_t i = 0;
        if constexpr (vectors == 1 || columns == 1)
            for (; i + most <= m_; i += most) tile<vectors, most, columns>(data, i, j, access);
        for (; i < m_; ++i) tile<vectors, 1, columns>(data, i, j, access);
    }

    template <int vectors, int rows, int columns, class Access> [[gnu::noinline]] void
    tile(char *const *data, std::int64_t i, std::int64_t j, const Access &access) const {
        const char *a = data[product_a] + i * a_m_, *b = data[product_b] + j * b_n_;
        V sum[columns][rows][vectors] = {};
        for (std::int64_t p = 0; p < k_; ++p, a += a_k_, b += b_k_) {
            V x[rows][vectors];
#pragma GCC unroll 4
            for (int r = 0; r < rows; ++r)
#pragma GCC unroll 8
                for (int v = 0; v < vectors; ++v)
                    x[r][v] = access.load(a + r * a_m_ + v * vector_bytes);
#pragma GCC unroll 4
            for (int c = 0; c < columns; ++c)
#pragma GCC unroll 8
                for (int v = 0; v < vectors; ++v) {
                    const V y = access.load(b + c * b_n_ + v * vector_bytes);
#pragma GCC unroll 4
                    for (int r = 0; r < rows; ++r)
                        sum[c][r][v] = multiply_add(x[r][v], y, sum[c][r][v]);
                }
        }
#pragma GCC unroll 4
        for (int c = 0; c < columns; ++c)
#pragma GCC unroll 4
            for (int r = 0; r < rows; ++r)
#pragma GCC unroll 8
                for (int v = 0; v < vectors; ++v)
                    finish(sum[c][r][v], i + r, j + c, v * vector_bytes, data, access);
    }
    template <class Access> void finish(V value, std::int64_t i, std::int64_t j,
                                        std::int64_t offset, char *const *data,
                                        const Access &access) const {
        if (alpha_ != 1) value *= alpha_;
        if (beta_ != 0)
            value += beta_ * access.load(data[product_c] + i * c_m_ + j * c_n_ + offset);
        access.store(data[product_d] + i * d_m_ + j * d_n_ + offset, value);
    }

    std::int64_t m_, k_, n_;
    std::int64_t a_m_, a_k_, b_k_, b_n_, c_m_, c_n_, d_m_, d_n_;
    T alpha_, beta_;
};

template <class T> bool suits(const Contraction &p, std::uint32_t dtype, bool adds) {
    if (!p.is_plain() || p.batch.count == 0 || p.batch.extent(0) < lanes<T>) return false;
    for (ProductOperand o : {product_d, product_a, product_b, product_c})
        if ((o != product_c || adds) &&
            (p.batch.stride(0, o) != sizeof(T) || !is_native(p.side[o], dtype, sizeof(T))))
            return false;
    const std::int64_t m = p.m.size(), n = p.n.size();
    return m * n == 1 ||
           (m * n <= most_results && (m + n) * p.k.size() * vector_bytes <= cached_bytes);
}

} // namespace

template <class T>
bool interleaved_product(const Contraction &p, std::uint32_t dtype, T alpha, T beta) {
    if (alpha == 0 || !suits<T>(p, dtype, beta != 0)) return false;
    const Interleaved<T> product(p, alpha, beta);
    // Pieces of the first axis of the batch, for each element of the others.
    const std::int64_t extent = p.batch.extent(0), piece = product.vectors() * lanes<T>,
                       pieces = (extent + piece - 1) / piece;
    const std::int64_t work = p.m.size() * p.n.size() * p.k.size() * piece / 8 + 1;
    parallel(p.batch.size() / extent * pieces, work, [&](std::int64_t begin, std::int64_t end) {
        while (begin < end) {
            const std::int64_t row = begin / pieces, first = begin % pieces,
                               count = std::min(end - begin, pieces - first);
            const std::int64_t at = first * piece;
            char *data[product_operands];
            for (int o = 0; o < product_operands; ++o)
                data[o] = p.data[o] + p.batch_offset(o, row * extent + at);
            product.run(data, std::min(count * piece, extent - at));
            begin += count;
        }
    });
    return true;
}
template bool interleaved_product(const Contraction &, std::uint32_t, std::uint32_t, std::uint32_t);
template bool interleaved_product(const Contraction &, std::uint32_t, std::uint64_t, std::uint64_t);
template bool interleaved_product(const Contraction &, std::uint32_t, float, float);
template bool interleaved_product(const Contraction &, std::uint32_t, double, double);

} // namespace Atoll::kernels
