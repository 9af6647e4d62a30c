// The arithmetic of the module `linalg`, on memory that this code may touch: one matrix or one
// vector at a time, dense, native, in float32 or float64.
#pragma once

#include "atoll/plugin.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

namespace Linalg {

template <class T> T *data(const atoll_call &call, int operand) {
    return static_cast<T *>(call.operands[operand].data);
}
// Runs body(T()) for the call's dtype.
template <class Body> void with_floats(const atoll_call &call, const Body &body) {
    call.dtype == ATOLL_DTYPE_FLOAT32 ? body(float()) : body(double());
}

// --- solve: a (n, n), b (n, k?) -> x (n, k?), info (): int32

// Gaussian elimination with partial pivoting. The column of the first pivot that is zero, counted
// from 1, or 0.
template <class T> std::int32_t eliminate(std::int64_t n, std::int64_t k, std::vector<T> a, T *x) {
    for (std::int64_t j = 0; j < n; ++j) {
        std::int64_t pivot = j;
        for (std::int64_t i = j + 1; i < n; ++i)
            if (std::abs(a[i + n * j]) > std::abs(a[pivot + n * j])) pivot = i;
        if (a[pivot + n * j] == 0) return static_cast<std::int32_t>(j + 1);
        for (std::int64_t c = j; c < n; ++c) std::swap(a[j + n * c], a[pivot + n * c]);
        for (std::int64_t c = 0; c < k; ++c) std::swap(x[j + n * c], x[pivot + n * c]);
        for (std::int64_t i = j + 1; i < n; ++i) {
            const T factor = a[i + n * j] / a[j + n * j];
            for (std::int64_t c = j; c < n; ++c) a[i + n * c] -= factor * a[j + n * c];
            for (std::int64_t c = 0; c < k; ++c) x[i + n * c] -= factor * x[j + n * c];
        }
    }
    for (std::int64_t c = 0; c < k; ++c)
        for (std::int64_t i = n - 1; i >= 0; --i) {
            for (std::int64_t j = i + 1; j < n; ++j) x[i + n * c] -= a[i + n * j] * x[j + n * c];
            x[i + n * c] /= a[i + n * i];
        }
    return 0;
}

inline void solve(const atoll_call &call) {
    const std::int64_t n = call.shape[0], k = call.shape[2];
    with_floats(call, [&](auto zero) {
        using T = decltype(zero);
        T *x = data<T>(call, 0);
        std::copy_n(data<T>(call, 3), n * k, x);
        const T *a = data<T>(call, 2);
        *data<std::int32_t>(call, 1) = eliminate(n, k, std::vector<T>(a, a + n * n), x);
    });
}

// --- qr: a (m, n) -> q (m, r)?, r (r, n)

// Householder reflections; q (m × r) may be null.
template <class T>
void factor(std::int64_t m, std::int64_t n, std::int64_t r, std::vector<T> a, T *q, T *upper) {
    std::vector<T> full(static_cast<std::size_t>(m * m), T(0)), v(static_cast<std::size_t>(m));
    for (std::int64_t i = 0; i < m; ++i) full[i + m * i] = 1;
    const auto reflect = [&](T *column, std::int64_t from) {
        T dot = 0;
        for (std::int64_t i = from; i < m; ++i) dot += v[i] * column[i];
        for (std::int64_t i = from; i < m; ++i) column[i] -= 2 * dot * v[i];
    };
    for (std::int64_t j = 0; j < std::min(m - 1, n); ++j) {
        T norm = 0;
        for (std::int64_t i = j; i < m; ++i) norm += a[i + m * j] * a[i + m * j];
        norm = std::copysign(std::sqrt(norm), a[j + m * j]);
        T length = 0;
        for (std::int64_t i = j; i < m; ++i) {
            v[i] = a[i + m * j] + (i == j ? norm : 0);
            length += v[i] * v[i];
        }
        if (length == 0) continue;
        for (std::int64_t i = j; i < m; ++i) v[i] /= std::sqrt(length);
        for (std::int64_t c = j; c < n; ++c) reflect(&a[m * c], j);
        // Q = H1 H2 …: its rows are the columns of the product in the other order.
        for (std::int64_t c = 0; c < m; ++c) reflect(&full[m * c], j);
    }
    for (std::int64_t c = 0; c < n; ++c)
        for (std::int64_t i = 0; i < r; ++i) upper[i + r * c] = i <= c ? a[i + m * c] : T(0);
    for (std::int64_t c = 0; c < r && q; ++c)
        for (std::int64_t i = 0; i < m; ++i) q[i + m * c] = full[c + m * i];
}

inline void qr(const atoll_call &call) {
    const std::int64_t m = call.shape[0], n = call.shape[1], r = call.shape[2];
    with_floats(call, [&](auto zero) {
        using T = decltype(zero);
        const T *a = data<T>(call, 2);
        factor(m, n, r, std::vector<T>(a, a + m * n), data<T>(call, 0), data<T>(call, 1));
    });
}

// --- dct: a (n) -> b (k), the cosine transform of type II, cut or padded to `length`

inline void dct(const atoll_call &call) {
    const std::int64_t n = call.shape[0], k = call.shape[1];
    with_floats(call, [&](auto zero) {
        using T = decltype(zero);
        const T *a = data<T>(call, 1);
        T *b = data<T>(call, 0);
        for (std::int64_t f = 0; f < k; ++f) {
            double sum = 0;
            for (std::int64_t i = 0; i < std::min(n, k); ++i)
                sum += static_cast<double>(a[i]) *
                       std::cos(std::numbers::pi / static_cast<double>(k) *
                                (static_cast<double>(i) + 0.5) * static_cast<double>(f));
            b[f] = static_cast<T>(sum);
        }
    });
}

// --- smooth: a (n) -> b (n), b[i] = a[i] + rate * b[i - 1]

inline void smooth(const atoll_call &call) {
    const std::int64_t n = call.shape[0];
    const double rate = call.attributes[0].value.f64[0];
    with_floats(call, [&](auto zero) {
        using T = decltype(zero);
        const T *a = data<T>(call, 1);
        T *b = data<T>(call, 0), last = 0;
        for (std::int64_t i = 0; i < n; ++i) b[i] = last = a[i] + static_cast<T>(rate) * last;
    });
}

// --- uniform: state: object& -> a (n)

// The state of a generator. Number i of a seed is the same on every device; a call
// reserves its numbers when it is made, so that nothing waits.
struct Generator {
    std::uint64_t seed;
    std::atomic<std::uint64_t> next{0};
};

// Numbers `first` and so on, evenly spread over [0, 1): SplitMix64.
inline void uniform(const atoll_call &call, std::uint64_t seed, std::uint64_t first) {
    with_floats(call, [&](auto zero) {
        using T = decltype(zero);
        T *a = data<T>(call, 0);
        for (std::int64_t i = 0; i < call.shape[0]; ++i) {
            std::uint64_t z =
                seed + (first + static_cast<std::uint64_t>(i) + 1) * 0x9e3779b97f4a7c15;
            z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
            z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
            a[i] = static_cast<T>((z ^ (z >> 31)) >> 40) / T{1 << 24};
        }
    });
}

} // namespace Linalg
