// Loops of complex products and quotients.
#pragma once

#include "functors/arithmetic.h"
#include "loops.h"
#include "vector_operations.h"

#include <algorithm>

namespace Atoll::kernels {

// A vector of complex numbers: the real or the imaginary parts, each twice; and both exchanged.
template <int first, int second, class V> V parts_of(V z) {
    return [&]<int... i>(std::integer_sequence<int, i...>) {
        return __builtin_shufflevector(z, z, (i % 2 ? i - 1 + second : i + first)...);
    }
    (std::make_integer_sequence<int, static_cast<int>(sizeof z / sizeof z[0])>());
}
// Each part is rounded as functor::multiply rounds it. `minus` has the sign of real parts set.
template <class V> V complex_product(V re, V im, V b, V minus) {
    using vector_math::bits;
    return re * b + vector_math::from_bits<V>(bits(im * parts_of<1, 0>(b)) ^ bits(minus));
}

// GCC's own vectors of loops over complex numbers cross from lane to lane.
template <class T>
void product_loop(std::int64_t n, char *const *data, const std::int64_t *strides) {
    using V = Vector<Part<T>>;
    constexpr std::int64_t size = sizeof(T), count = lanes<Part<T>> / 2;
    const bool dense_a = strides[1] == size, dense_b = strides[2] == size;
    const bool one_a = strides[1] == 0, one_b = strides[2] == 0;
    if (n < count || strides[0] != size || !((dense_a && (dense_b || one_b)) || (one_a && dense_b)))
        return binary_loop<functor::multiply, T>(n, data, strides);
    const auto same = [](const char *z) {
        V all;
        for (std::int64_t i = 0; i < count; ++i)
            std::memcpy(reinterpret_cast<char *>(&all) + i * size, z, size);
        return all;
    };
    V minus{};
    for (std::int64_t i = 0; i < count; ++i) minus[2 * i] = -Part<T>(0);
    const V first_a = same(data[1]), first_b = same(data[2]);
    const auto run = [&](auto vector_a, auto vector_b) {
        std::int64_t k = 0;
        for (; k + count <= n; k += count) {
            const V a = vector_a(k);
            store_vector(data[0] + k * size,
                         complex_product(parts_of<0, 0>(a), parts_of<1, 1>(a), vector_b(k), minus));
        }
        for (; k < n; ++k)
            at<T>(data[0])[k] = functor::multiply::apply(*at<const T>(data[1] + k * strides[1]),
                                                         *at<const T>(data[2] + k * strides[2]));
    };
    const auto at_a = [&](std::int64_t k) { return load_vector<V>(data[1] + k * size); };
    const auto at_b = [&](std::int64_t k) { return load_vector<V>(data[2] + k * size); };
    if (dense_a && dense_b)
        run(at_a, at_b);
    else if (dense_a)
        run(at_a, [&](std::int64_t) { return first_b; });
    else
        run([&](std::int64_t) { return first_a; }, at_b);
}

// Division: see Note [Complex division] in complex_math.h. A block's real and imaginary parts are
// taken apart, so that it vectorises; what is not moderate is computed again one by one.
template <class T>
void quotient_loop(std::int64_t n, char *const *data, const std::int64_t *strides) {
    constexpr std::int64_t block = 64;
    constexpr bool narrow = sizeof(Part<T>) < sizeof(double);
    struct Parts {
        alignas(64) double re[block], im[block];
    } a, b, q;
    if (n == 1) {
        *at<T>(data[0]) = functor::divide::apply(*at<const T>(data[1]), *at<const T>(data[2]));
        return;
    }
    const auto take = [&](Parts &parts, int k, std::int64_t begin, std::int64_t count) {
        const char *from = data[k] + begin * strides[k];
        if (strides[k] == sizeof(T)) {
            const T *z = reinterpret_cast<const T *>(from);
            for (std::int64_t i = 0; i < count; ++i) {
                parts.re[i] = z[i].re;
                parts.im[i] = z[i].im;
            }
        } else if (strides[k] != 0 || begin == 0) {
            const std::int64_t several = strides[k] ? count : std::min(n, block);
            for (std::int64_t i = 0; i < several; ++i) {
                const T z = *reinterpret_cast<const T *>(from + i * strides[k]);
                parts.re[i] = z.re;
                parts.im[i] = z.im;
            }
        }
    };
    for (std::int64_t begin = 0; begin < n; begin += block) {
        const std::int64_t count = std::min(block, n - begin);
        take(a, 1, begin, count);
        take(b, 2, begin, count);
        std::int64_t others = 0;
        for (std::int64_t i = 0; i < count; ++i) {
            const auto [re, im] =
                complex_math::plain_quotient<narrow>(a.re[i], a.im[i], b.re[i], b.im[i]);
            q.re[i] = re;
            q.im[i] = im;
            others |= complex_math::is_plain<narrow>(re, im, a.re[i], a.im[i], b.re[i], b.im[i])
                          ? std::int64_t{0}
                          : std::int64_t{-1};
        }
        for (std::int64_t i = 0; others && i < count; ++i) {
            const auto [re, im] =
                complex_math::quotient<narrow>({a.re[i], a.im[i]}, {b.re[i], b.im[i]});
            q.re[i] = re;
            q.im[i] = im;
        }
        char *to = data[0] + begin * strides[0];
        const auto z = [&](std::int64_t i) {
            return T{static_cast<Part<T>>(q.re[i]), static_cast<Part<T>>(q.im[i])};
        };
        if (strides[0] == sizeof(T))
            for (std::int64_t i = 0; i < count; ++i) at<T>(to)[i] = z(i);
        else
            for (std::int64_t i = 0; i < count; ++i) *at<T>(to + i * strides[0]) = z(i);
    }
}

template <class T>
void reciprocal_loop(std::int64_t n, char *const *data, const std::int64_t *strides) {
    T one = {1, 0};
    char *const both[] = {data[0], reinterpret_cast<char *>(&one), data[1]};
    const std::int64_t steps[] = {strides[0], 0, strides[1]};
    quotient_loop<T>(n, both, steps);
}

} // namespace Atoll::kernels
