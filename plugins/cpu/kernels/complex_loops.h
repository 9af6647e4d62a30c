// Loops of complex division: see Note [Complex division] in complex_math.h.
//
// A block's real and imaginary parts are taken apart, so that it vectorises; what is not
// moderate is computed again one by one.
#pragma once

#include "functors/arithmetic.h"
#include "loops.h"

#include <algorithm>

namespace Atoll::kernels {

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
