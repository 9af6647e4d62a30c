// Loops over the functions of vector_math.h.
//
// Every element goes through the same vector code, whatever its place and stride: what is not dense
// passes through a block, and a block's tail is padded. The few elements that the vector function
// does not cover are computed again by the functor itself, one by one.
#pragma once

#include "loops.h"
#include "vector_math.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace Atoll::kernels {

inline constexpr std::int64_t vector_block = 128; // elements; a multiple of every lane count

// Dense elements for a block: those at `p` themselves, or a padded copy in `block`.
template <class T> const T *gathered(std::int64_t n, const char *p, std::int64_t stride, T *block) {
    if (stride == sizeof(T) && n % lanes<T> == 0) return reinterpret_cast<const T *>(p);
    for (std::int64_t k = 0; k < n; ++k) block[k] = *reinterpret_cast<const T *>(p + k * stride);
    for (std::int64_t k = n; k % lanes<T> != 0; ++k) block[k] = block[0];
    return block;
}

template <class T> void scattered(std::int64_t n, char *p, std::int64_t stride, const T *block) {
    if (stride == sizeof(T)) {
        std::memcpy(p, block, static_cast<std::size_t>(n) * sizeof(T));
        return;
    }
    for (std::int64_t k = 0; k < n; ++k) *reinterpret_cast<T *>(p + k * stride) = block[k];
}

template <class V, class T> inline constexpr bool covers_all = !requires { V::outside(T{}); };

// y[k] = the vector function of x[k], of whole vectors. Returns whether it covers all of them,
// which is found out on the way: a loop ahead for that would make the stores wait. Functions with a
// place() need a loop ahead anyway; where it finds all elements of the block ordinary, the second
// one does without the question.
template <class V, class T> bool apply_vectors(std::int64_t n, const T *x, T *y) {
    using Mask = decltype(Vector<T>{} < Vector<T>{});
    if constexpr (requires { V::place(Vector<T>{}); }) {
        alignas(64) std::uint64_t places[vector_block];
        Mask ordinary = ~Mask{};
        for (std::int64_t k = 0; k < n; k += lanes<T>) {
            const auto a = load_vector<Vector<T>>(x + k);
            ordinary &= V::ordinary(a);
            store_vector(places + k, V::place(a));
        }
        if (vector_math::all_of(ordinary)) [[likely]] {
            for (std::int64_t k = 0; k < n; k += lanes<T>)
                store_vector(y + k, V::of_ordinary(load_vector<Vector<T>>(x + k), places + k));
            return true;
        }
    }
    Mask outside{};
    for (std::int64_t k = 0; k < n; k += lanes<T>) {
        const auto a = load_vector<Vector<T>>(x + k);
        if constexpr (requires { V::ordinary(a); })
            if (vector_math::all_of(V::ordinary(a))) [[likely]] {
                store_vector(y + k, V::of_ordinary(a));
                continue;
            }
        if constexpr (!covers_all<V, T>) outside |= V::outside(a);
        store_vector(y + k, V::of(a));
    }
    return !vector_math::any(outside);
}

// Of<F, T> is the vector function, F::apply the same for one element.
template <class F, class T> [[gnu::flatten]] void
vector_unary_loop(std::int64_t n, char *const *data, const std::int64_t *strides) {
    using V = typename vector_math::Of<F, T>::type;
    alignas(64) T in[vector_block];
    alignas(64) T out[vector_block];
    for (std::int64_t begin = 0; begin < n; begin += vector_block) {
        const std::int64_t count = std::min(vector_block, n - begin);
        char *to = data[0] + begin * strides[0];
        const T *x = gathered(count, data[1] + begin * strides[1], strides[1], in);
        // Elements that are not covered are looked at again: not overwritten until then.
        const bool in_place = to == data[1] + begin * strides[1];
        const bool direct =
            strides[0] == sizeof(T) && count % lanes<T> == 0 && (covers_all<V, T> || !in_place);
        T *y = direct ? at<T>(to) : out;
        if (!apply_vectors<V>(count, x, y)) [[unlikely]] {
            if constexpr (!covers_all<V, T>)
                for (std::int64_t k = 0; k < count; ++k)
                    if (V::outside(x[k])) y[k] = F::apply(x[k]);
        }
        if (!direct) scattered(count, to, strides[0], y);
    }
}

// Whether a vector function of two arguments has run(), of a block, instead of of() and outside().
template <class V, class T> inline constexpr bool of_blocks = requires(T *p) {
    V::template run<lanes<T>>(0, p, p, p);
};

// out[k] = the function of x[k] and y[k], of whole vectors; `out` is neither of them.
template <class F, class T> void apply_to_pairs(std::int64_t n, const T *x, const T *y, T *out) {
    using V = typename vector_math::Of<F, T>::type;
    if constexpr (of_blocks<V, T>) {
        V::template run<lanes<T>>(n, x, y, out);
    } else {
        decltype(Vector<T>{} < Vector<T>{}) outside{};
        for (std::int64_t k = 0; k < n; k += lanes<T>) {
            const auto a = load_vector<Vector<T>>(x + k), b = load_vector<Vector<T>>(y + k);
            outside |= V::outside(a, b);
            store_vector(out + k, V::of(a, b));
        }
        if (vector_math::any(outside)) [[unlikely]]
            for (std::int64_t k = 0; k < n; ++k)
                if (V::outside(x[k], y[k])) out[k] = F::apply(x[k], y[k]);
    }
}

// As vector_unary_loop.
template <class F, class T> [[gnu::flatten]] void
vector_binary_loop(std::int64_t n, char *const *data, const std::int64_t *strides) {
    using V = typename vector_math::Of<F, T>::type;
    if constexpr (!of_blocks<V, T>)
        if (n == 1) { // a vector that has just been written in parts is slow to read
            const T a = *at<const T>(data[1]), b = *at<const T>(data[2]);
            *at<T>(data[0]) =
                V::outside(a, b) ? F::apply(a, b) : V::of(a - Vector<T>{}, b - Vector<T>{})[0];
            return;
        }
    alignas(64) T blocks[2][vector_block];
    alignas(64) T out[vector_block];
    for (std::int64_t begin = 0; begin < n; begin += vector_block) {
        const std::int64_t count = std::min(vector_block, n - begin);
        char *to = data[0] + begin * strides[0];
        const T *in[2];
        bool direct = strides[0] == sizeof(T) && count % lanes<T> == 0;
        for (int k = 0; k < 2; ++k) {
            const std::int64_t stride = strides[k + 1];
            const char *from = data[k + 1] + begin * stride;
            direct &= to != from; // not overwritten before it is looked at again
            // One value is there already in the second block.
            in[k] = begin > 0 && stride == 0 ? blocks[k] : gathered(count, from, stride, blocks[k]);
        }
        T *results = direct ? at<T>(to) : out;
        apply_to_pairs<F>(count, in[0], in[1], results);
        if (!direct) scattered(count, to, strides[0], results);
    }
}

// The power 1/2, as C99 says of zeros and infinities; rounded correctly.
struct PositiveRoot : functor::Same {
    template <class T> static T apply(T x) {
        constexpr T infinite = std::numeric_limits<T>::infinity();
        return x == -infinite ? infinite : std::sqrt(x) + T(0);
    }
};

// The power 3: of float32 by way of float64, of that with the error of the square added. Both are
// rounded all but correctly.
struct Cube : functor::Same {
    template <class T> static T apply(T x) {
        if constexpr (sizeof(T) < sizeof(double)) return static_cast<T>(double{x} * x * x);
        const T square = x * x, cube = square * x;
        const T exact = std::fma(square, x, std::fma(x, x, -square) * x);
        return std::fabs(cube) <= std::numeric_limits<T>::max() ? exact : cube;
    }
};
// The power -2. That of float64 would be off by more than the error bound.
struct ReciprocalSquare : functor::Same {
    static float apply(float x) { return static_cast<float>(1 / (double{x} * x)); }
};

// The loop of a power that takes no logarithm; null for others. Squares are as multiply gives them.
template <class T> Loop loop_of_power(T exponent) {
    if (exponent == T(2)) return &unary_loop<functor::square, T>;
    if (exponent == T(0.5)) return &unary_loop<PositiveRoot, T>;
    if (exponent == T(-1)) return &unary_loop<functor::reciprocal, T>;
    if constexpr (sizeof(T) == sizeof(float))
        if (exponent == T(-2)) return &unary_loop<ReciprocalSquare, T>;
#if !defined(__FMA__) && !defined(__aarch64__)
    if constexpr (sizeof(T) == sizeof(double)) return nullptr;
#endif
    if (exponent == T(3)) return &unary_loop<Cube, T>;
    return nullptr;
}

template <class F, class T>
void vector_pow_loop(std::int64_t n, char *const *data, const std::int64_t *strides) {
    if (strides[2] == 0)
        if (const Loop loop = loop_of_power(*at<const T>(data[2]))) return loop(n, data, strides);
    vector_binary_loop<F, T>(n, data, strides);
}

} // namespace Atoll::kernels
