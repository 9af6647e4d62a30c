// Loops of complex functions.
#pragma once

#include "functors/functors.h"
#include "loops.h"
#include "vector_complex.h"
#include "vector_loops.h"

#include <algorithm>

namespace Atoll::kernels {

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

// The parts of a block of complex numbers, apart, so that loops over them vectorise.
struct PartsBlock {
    static constexpr std::int64_t size = 64; // numbers; a multiple of every lane count
    alignas(64) double re[size], im[size];

    // Of `count` numbers that lie `stride` bytes apart.
    template <class T> void load(std::int64_t count, const char *from, std::int64_t stride) {
        if (stride == sizeof(T)) {
            const T *z = reinterpret_cast<const T *>(from);
            for (std::int64_t i = 0; i < count; ++i) {
                re[i] = z[i].re;
                im[i] = z[i].im;
            }
        } else {
            for (std::int64_t i = 0; i < count; ++i) {
                const T z = *reinterpret_cast<const T *>(from + i * stride);
                re[i] = z.re;
                im[i] = z.im;
            }
        }
    }
    // The same, up to the end of a vector.
    template <class T> void load_padded(std::int64_t count, const char *from, std::int64_t stride) {
        load<T>(count, from, stride);
        for (std::int64_t i = count; i % lanes<double> != 0; ++i) {
            re[i] = re[0];
            im[i] = im[0];
        }
    }
    template <class T> T at(std::int64_t i) const {
        return {static_cast<Part<T>>(re[i]), static_cast<Part<T>>(im[i])};
    }
    template <class T> void store(std::int64_t count, char *to, std::int64_t stride) const {
        if (stride == sizeof(T))
            for (std::int64_t i = 0; i < count; ++i) kernels::at<T>(to)[i] = at<T>(i);
        else
            for (std::int64_t i = 0; i < count; ++i) *kernels::at<T>(to + i * stride) = at<T>(i);
    }
};

// A vector of the real and one of the imaginary parts of as many dense complex numbers.
template <class R> struct PartVectors { Vector<R> re, im; };
using Doubles = Vector<double>;
using DoubleParts = PartVectors<double>;
template <class R, class From> PartVectors<R> load_parts(const Complex<From> *from) {
    return [&]<int... i>(std::integer_sequence<int, i...>)->PartVectors<R> {
        using V = VectorN<From, lanes<R>>;
        const auto a = load_vector<V>(from);
        const auto b = load_vector<V>(from + lanes<R> / 2);
        const V re = __builtin_shufflevector(a, b, 2 * i...),
                im = __builtin_shufflevector(a, b, (2 * i + 1)...);
        if constexpr (std::is_same_v<R, From>)
            return {re, im};
        else
            return {vector_math::as_doubles(re), vector_math::as_doubles(im)};
    }
    (std::make_integer_sequence<int, lanes<R>>());
}
inline void store_parts(Complex<double> *to, DoubleParts z) {
    [&]<int... i>(std::integer_sequence<int, i...>) {
        constexpr int count = lanes<double>;
        constexpr auto place = [](int k) { return k % 2 * count + k / 2; };
        store_vector(to, __builtin_shufflevector(z.re, z.im, place(i)...));
        store_vector(to + count / 2, __builtin_shufflevector(z.re, z.im, place(i + count)...));
    }
    (std::make_integer_sequence<int, lanes<double>>());
}

// complex_math::plain_quotient and is_plain, with the same bits.
inline DoubleParts plain_quotients(DoubleParts a, DoubleParts b) {
    using namespace vector_math;
    const auto sign = bits(absolute(b.re) >= absolute(b.im) ? b.re : b.im);
    const auto turned = [&](Doubles x) { return flipped(x, sign); };
    const Doubles re = turned(b.re), im = turned(b.im), square = turned(re * re + im * im);
    return {(a.re * re + a.im * im) / square, (a.im * re + a.re * -im) / square};
}
inline auto are_plain(DoubleParts a, DoubleParts b) {
    using vector_math::absolute;
    constexpr double low = complex_math::moderate_low, high = complex_math::moderate_high;
    const Doubles a_re = absolute(a.re), a_im = absolute(a.im);
    const Doubles b_re = absolute(b.re), b_im = absolute(b.im);
    return (a_re <= high) & (a_im <= high) &
           ((a_re >= low) | (a_im >= low) | ((a_re == 0.0) & (a_im == 0.0))) & (b_re <= high) &
           (b_im <= high) & ((b_re >= low) | (b_im >= low));
}

// Of complex doubles; those of complex floats take longer this way, as they must be converted.
inline void dense_quotients(std::int64_t n, char *const *data, const std::int64_t *strides) {
    using T = Complex<double>;
    constexpr std::int64_t count = lanes<double>;
    T *const out = at<T>(data[0]);
    const T *const a = at<const T>(data[1]), *const b = at<const T>(data[2]);
    const std::int64_t step_a = strides[1] != 0, step_b = strides[2] != 0;
    const auto one_by_one = [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t k = begin; k < end; ++k)
            out[k] = functor::divide::apply(a[k * step_a], b[k * step_b]);
    };
    const auto same = [](T z) { return DoubleParts{z.re - Doubles{}, z.im - Doubles{}}; };
    const DoubleParts first_a = same(*a), first_b = same(*b);
    std::int64_t k = 0;
    for (; k + count <= n; k += count) {
        const DoubleParts x = step_a ? load_parts<double>(a + k) : first_a;
        const DoubleParts y = step_b ? load_parts<double>(b + k) : first_b;
        if (vector_math::all_of(are_plain(x, y))) [[likely]]
            store_parts(out + k, plain_quotients(x, y));
        else
            one_by_one(k, k + count);
    }
    one_by_one(k, n);
}

template <class T>
void quotient_loop(std::int64_t n, char *const *data, const std::int64_t *strides) {
    constexpr std::int64_t block = PartsBlock::size;
    constexpr bool narrow = sizeof(Part<T>) < sizeof(double);
    PartsBlock a, b, q;
    if (n == 1) {
        *at<T>(data[0]) = functor::divide::apply(*at<const T>(data[1]), *at<const T>(data[2]));
        return;
    }
    if constexpr (!narrow) {
        if (strides[0] == sizeof(T) && dense_or_same<T>(strides[1]) && dense_or_same<T>(strides[2]))
            return dense_quotients(n, data, strides);
    }
    const auto take = [&](PartsBlock &parts, int k, std::int64_t begin, std::int64_t count) {
        if (strides[k] != 0 || begin == 0) // one value is there already
            parts.load<T>(strides[k] ? count : std::min(n, block), data[k] + begin * strides[k],
                          strides[k]);
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
        q.store<T>(count, data[0] + begin * strides[0], strides[0]);
    }
}

template <class T>
void reciprocal_loop(std::int64_t n, char *const *data, const std::int64_t *strides) {
    T one = {1, 0};
    char *const both[] = {data[0], reinterpret_cast<char *>(&one), data[1]};
    const std::int64_t steps[] = {strides[0], 0, strides[1]};
    quotient_loop<T>(n, both, steps);
}

// Functions of vector_complex.h. A block's tail is padded, so that every element goes through the
// same code; what that does not cover is computed again one by one.
template <class F, class T, int Inputs>
void complex_vector_loop(std::int64_t n, char *const *data, const std::int64_t *strides) {
    using V = vector_math::ComplexV;
    constexpr std::int64_t block = PartsBlock::size;
    constexpr bool narrow = sizeof(Part<T>) < sizeof(double);
    PartsBlock in[Inputs], out;
    alignas(64) std::int64_t outside[block];
    for (std::int64_t begin = 0; begin < n; begin += block) {
        const std::int64_t count = std::min(block, n - begin);
        for (int k = 0; k < Inputs; ++k)
            in[k].template load_padded<T>(count, data[k + 1] + begin * strides[k + 1],
                                          strides[k + 1]);
        vector_math::ComplexMask some{};
        for (std::int64_t i = 0; i < count; i += lanes<double>) {
            const V x = load_vector<V>(in[0].re + i), y = load_vector<V>(in[0].im + i);
            vector_math::ComplexResult z;
            if constexpr (Inputs == 1)
                z = vector_math::OfComplex<F>::template of<narrow>(x, y);
            else
                z = vector_math::OfComplex<F>::template of<narrow>(
                    x, y, load_vector<V>(in[1].re + i), load_vector<V>(in[1].im + i));
            store_vector(out.re + i, z.re);
            store_vector(out.im + i, z.im);
            store_vector(outside + i, z.outside);
            some |= z.outside;
        }
        if (vector_math::any(some)) [[unlikely]]
            for (std::int64_t i = 0; i < count; ++i) {
                if (!outside[i]) continue;
                T z;
                if constexpr (Inputs == 1)
                    z = F::apply(in[0].template at<T>(i));
                else
                    z = F::apply(in[0].template at<T>(i), in[1].template at<T>(i));
                out.re[i] = z.re;
                out.im[i] = z.im;
            }
        out.store<T>(count, data[0] + begin * strides[0], strides[0]);
    }
}

// Real functions of complex numbers, by those of two reals.
template <class R> struct ModulusOfParts {
    using Functor = functor::abs;
    using Real = R; // what it is computed in
    using Length = typename vector_math::Of<functor::hypot, R>::type;
    template <class X> static auto of(X re, X im) { return Length::of(re, im); }
    template <class X> static auto outside(X re, X im) { return Length::outside(re, im); }
};
struct AngleOfParts {
    using Functor = functor::angle;
    using Real = double;
    template <class X> static auto of(X re, X im) { return vector_math::Atan2::of(im, re); }
    template <class X> static auto outside(X re, X im) {
        return vector_math::Atan2::outside(im, re);
    }
};

template <class F, class T>
void real_of_complex_loop(std::int64_t n, char *const *data, const std::int64_t *strides) {
    using R = Part<T>;
    using Real = typename F::Real;
    constexpr std::int64_t block = 64, step = lanes<Real>;
    alignas(64) T in[block];
    alignas(64) R out[block];
    for (std::int64_t begin = 0; begin < n; begin += block) {
        const std::int64_t count = std::min(block, n - begin);
        const char *from = data[1] + begin * strides[1];
        char *to = data[0] + begin * strides[0];
        const bool whole = count % step == 0, direct = whole && strides[0] == sizeof(R);
        const T *z = reinterpret_cast<const T *>(from);
        if (!whole || strides[1] != sizeof(T)) {
            for (std::int64_t i = 0; i < count; ++i) in[i] = load<T>(from + i * strides[1]);
            for (std::int64_t i = count; i % step != 0; ++i) in[i] = in[0];
            z = in;
        }
        R *const results = direct ? at<R>(to) : out;
        for (std::int64_t i = 0; i < count; i += step) {
            const PartVectors<Real> parts = load_parts<Real>(z + i);
            Vector<Real> values = F::of(parts.re, parts.im);
            const auto outside = F::outside(parts.re, parts.im);
            if (vector_math::any(outside)) [[unlikely]]
                for (int k = 0; k < step; ++k)
                    if (outside[k])
                        values[k] = F::Functor::apply(Complex<Real>{parts.re[k], parts.im[k]});
            if constexpr (std::is_same_v<R, Real>)
                store_vector(results + i, values);
            else
                store_vector(results + i, vector_math::as_floats(values));
        }
        if (!direct) scattered(count, to, strides[0], out);
    }
}

} // namespace Atoll::kernels
