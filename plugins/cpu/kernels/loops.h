// The typed loops over one axis: a functor, the operands' addresses and byte strides. One generic
// loop per number of inputs.
#pragma once

#include "product_vectors.h"
#include "types.h"

#include <array>

namespace Atoll::kernels {

// `n` elements; operands aligned, native, in the kernel's dtypes; any strides. The output overlaps
// no input or is the very same elements.
using Loop = void (*)(std::int64_t n, char *const *data, const std::int64_t *strides);
using LoopTable = std::array<std::array<Loop, ATOLL_DTYPE_COUNT>, ATOLL_FN_COUNT>;

// [function][compute dtype]; null where the function has no such loop.
extern const LoopTable unary_loops;
extern const LoopTable binary_loops;
extern const LoopTable ternary_loops;

template <class T> T *at(char *p) { return reinterpret_cast<T *>(p); }
// Whether elements follow each other, or are one value over and over.
template <class T> bool dense_or_same(std::int64_t stride) {
    return stride == sizeof(T) || stride == 0;
}

// What a functor of one input gets: it may give it back, and a bool that is written is 0 or 1.
template <class T> T taken(T x) {
    if constexpr (is_bool<T>)
        return T(static_cast<std::uint8_t>(x) != 0);
    else
        return x;
}

// Functors with a test(): their vectors have loops of their own, in test_loops.h.
template <class F> inline constexpr bool has_test = requires { F::both_parts; };
// Functors whose loops do not vectorise get one loop for all strides.
template <class F> inline constexpr bool one_by_one = has_test<F> || requires { F::scalar; };

template <class F, class T>
void unary_loop(std::int64_t n, char *const *data, const std::int64_t *strides) {
    using R = decltype(F::apply(T{}));
    char *out = data[0];
    char *in = data[1];
    const std::int64_t os = strides[0], is = strides[1];
    if constexpr (!one_by_one<F>) {
        if (os == sizeof(R) && is == sizeof(T)) {
            R *o = at<R>(out);
            const T *a = at<const T>(in);
            ATOLL_INDEPENDENT
            for (std::int64_t k = 0; k < n; ++k) o[k] = F::apply(taken(a[k]));
            return;
        }
    }
    for (std::int64_t k = 0; k < n; ++k)
        *at<R>(out + k * os) = F::apply(taken(*at<const T>(in + k * is)));
}

// Functors that select by masks: of elements one by one compilers branch instead.
template <class F, class T> inline constexpr bool selects = is_float<T> &&requires { F::selects; };

template <class F, class A, class... T> auto applied(A a, T... x) {
    if constexpr (selects<F, A>) {
        using Few = VectorN<A, 16 / sizeof(A)>;
        return F::apply(Few{a}, Few{x}...)[0];
    } else {
        return F::apply(a, x...);
    }
}

template <class F, class T>
void binary_loop(std::int64_t n, char *const *data, const std::int64_t *strides) {
    using R = decltype(F::apply(T{}, T{}));
    constexpr std::int64_t size = sizeof(T);
    char *out = data[0];
    const std::int64_t os = strides[0], as = strides[1], bs = strides[2];
    const T *a = at<const T>(data[1]);
    const T *b = at<const T>(data[2]);
    if (n == 1) {
        *at<R>(out) = F::apply(*a, *b);
        return;
    }
    if (!one_by_one<F> && os == sizeof(R)) {
        R *o = at<R>(out);
        if (as == size && bs == size) {
            ATOLL_INDEPENDENT
            for (std::int64_t k = 0; k < n; ++k) o[k] = F::apply(a[k], b[k]);
            return;
        }
        if (as == size && bs == 0) {
            const T y = *b;
            ATOLL_INDEPENDENT
            for (std::int64_t k = 0; k < n; ++k) o[k] = F::apply(a[k], y);
            return;
        }
        if (as == 0 && bs == size) {
            const T x = *a;
            ATOLL_INDEPENDENT
            for (std::int64_t k = 0; k < n; ++k) o[k] = F::apply(x, b[k]);
            return;
        }
    }
    char *pa = data[1], *pb = data[2];
    for (std::int64_t k = 0; k < n; ++k)
        *at<R>(out + k * os) = applied<F>(*at<const T>(pa + k * as), *at<const T>(pb + k * bs));
}

template <Loop loop>
void exchanged_loop(std::int64_t n, char *const *data, const std::int64_t *strides) {
    char *const d[3] = {data[0], data[2], data[1]};
    const std::int64_t s[3] = {strides[0], strides[2], strides[1]};
    loop(n, d, s);
}

// b and c are dense (their stride is their size) or constant.
template <class F, class A, class T, std::int64_t BStep, std::int64_t CStep>
void dense_ternary(std::int64_t n, char *const *data) {
    using R = decltype(F::apply(A{}, T{}, T{}));
    R *o = at<R>(data[0]);
    const A *a = at<const A>(data[1]);
    const T *b = at<const T>(data[2]);
    const T *c = at<const T>(data[3]);
    const T low = *b, high = *c;
    std::int64_t k = 0;
    if constexpr (selects<F, T>) {
        using V = Vector<T>;
        const V lows = low - V{}, highs = high - V{};
        for (; k + lanes<T> <= n; k += lanes<T>)
            store_vector(o + k,
                         F::apply(load_vector<V>(a + k), BStep ? load_vector<V>(b + k) : lows,
                                  CStep ? load_vector<V>(c + k) : highs));
    }
    ATOLL_INDEPENDENT
    for (; k < n; ++k) o[k] = applied<F>(a[k], BStep ? b[k] : low, CStep ? c[k] : high);
}

template <class F> struct Between {
    template <class T> static T apply(T a, T low, T high) { return F::between(a, low, high); }
};

template <class F, class A, class T>
void ternary_loop(std::int64_t n, char *const *data, const std::int64_t *strides) {
    using R = decltype(F::apply(A{}, T{}, T{}));
    constexpr std::int64_t size = sizeof(T);
    const std::int64_t os = strides[0], as = strides[1], bs = strides[2], cs = strides[3];
    if (os == sizeof(R) && as == sizeof(A)) {
        if (bs == size && cs == size) return dense_ternary<F, A, T, 1, 1>(n, data);
        if (bs == size && cs == 0) return dense_ternary<F, A, T, 1, 0>(n, data);
        if (bs == 0 && cs == size) return dense_ternary<F, A, T, 0, 1>(n, data);
        if (bs == 0 && cs == 0) {
            if constexpr (selects<F, T>) {
                const T low = *at<const T>(data[2]), high = *at<const T>(data[3]);
                if (low == low && high == high)
                    return dense_ternary<Between<F>, A, T, 0, 0>(n, data);
            }
            return dense_ternary<F, A, T, 0, 0>(n, data);
        }
    }
    char *out = data[0], *a = data[1], *b = data[2], *c = data[3];
    for (std::int64_t k = 0; k < n; ++k)
        *at<R>(out + k * os) = applied<F>(*at<const A>(a + k * as), *at<const T>(b + k * bs),
                                          *at<const T>(c + k * cs));
}

} // namespace Atoll::kernels
