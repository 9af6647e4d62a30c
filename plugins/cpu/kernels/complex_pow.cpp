// Powers of one complex number: see Note [Complex accuracy].
#include "complex_scalar.h"
#include "vector_complex_pow.h"

namespace Atoll::kernels::complex_math {

// glibc has these (the first ones since 2.26), but C++ headers do not always show them.
extern "C" {
Quad expf128(Quad) noexcept;
Quad logf128(Quad) noexcept;
Quad log1pf128(Quad) noexcept;
Quad sinf128(Quad) noexcept;
Quad cosf128(Quad) noexcept;
Quad atan2f128(Quad, Quad) noexcept;
}

namespace {

Quad absolute(Quad x) { return x < 0 ? -x : x; }
Z rounded(Quad re, Quad im) { return {static_cast<double>(re), static_cast<double>(im)}; }

// |a|^2 - 1, for moduli between 1/2 and 2. All squares are exact.
Quad square_less_one(Quad re, Quad im) {
    return re > im ? (re * re - 1) + im * im : (im * im - 1) + re * re;
}

Z pow_quad(Z a, Z b) {
    const Quad re = absolute(a.re), im = absolute(a.im), square = re * re + im * im;
    const Quad log_size = square > Quad(0.25) && square < Quad(4)
                              ? log1pf128(square_less_one(re, im)) / 2
                              : logf128(square) / 2;
    const Quad angle = atan2f128(a.im, a.re);
    const Quad exponent = b.re * log_size - b.im * angle, turn = b.re * angle + b.im * log_size;
    const Quad size = expf128(exponent);
    return rounded(sized(size, cosf128(turn)), sized(size, sinf128(turn)));
}

// As the vectors', with a wider range.
Z pow_general(Z a, Z b) {
    using namespace vector_math;
    const int exponent = exponent_of(a), twos = std::abs(exponent) > 200 ? exponent : 0;
    const Z near = twos ? complex_math::scaled(a, -twos) : a;
    const V x = same(near.re), y = same(near.im);
    const SquaredModulus modulus = squared_modulus<false>(x, y);
    const N ln_2{same(Constants<double>::ln_2.head), same(Constants<double>::ln_2.tail)};
    const N log_size = long_logarithm(modulus.square, modulus.excess) * 0.5 + wide(twos) * ln_2;
    const N angle = long_angle(x, y);
    const Product<N> product = product_of(wide(b.re), wide(b.im), log_size, angle);
    const double c = product.cos[0], s = product.sin[0];
    const bool unit = a.re != 0 && a.im != 0 && std::fabs(modulus.square.head[0] - 1) < 0.5 &&
                      std::fabs(modulus.excess.head[0]) < 0x1p-90; // its logarithm lacks digits
    if (unit || !(product.exponents[0] <= 0x1p18) ||
        !(product.turns[0] <= std::fmin(std::fabs(c), std::fabs(s)) * 0x1p18))
        return pow_quad(a, b);
    const double octaves =
        std::nearbyint(product.exponent.head[0] * Constants<double>::log2_e.head);
    const N rest = product.exponent - wide(octaves) * ln_2;
    const double near_size = std::exp(rest.head[0]), size = near_size + near_size * rest.tail[0];
    return complex_math::scaled({size * c, size * s}, static_cast<int>(octaves));
}

template <class T> vector_math::Pair<T> power(Z z, int n) {
    vector_math::Pair<T> result{1, 0}, base{z.re, z.im};
    for (int left = n < 0 ? -n : n; left; left >>= 1) {
        if (left & 1) result = vector_math::complex_product(result, base);
        if (left > 1) base = vector_math::complex_product(base, base);
    }
    if (n > 0) return result;
    const T square = result.first * result.first + result.second * result.second;
    return {result.first / square, -result.second / square};
}

// For |n| up to 100.
Z pow_integer(Z a, int n) {
    if (a.re == 0 || a.im == 0) { // one part is a zero, whose sign the power of a unit tells
        const auto [cos, sin] = power<double>({unit(a.re), unit(a.im)}, n);
        const double size = std::pow(std::fabs(a.re == 0 ? a.im : a.re), n);
        return {sized(size, cos), sized(size, sin)};
    }
    const int twos = exponent_of(a);
    const Z near_one = scaled(a, -twos);
    const auto [first, second] =
        vector_math::whole_power(same(near_one.re), same(near_one.im), same(n));
    const double re = first.head[0], im = second.head[0];
    if (std::fmin(std::fabs(re), std::fabs(im)) >=
        std::fmax(std::fabs(re), std::fabs(im)) * std::abs(n) * 0x1p-44)
        return scaled({re, im}, twos * n);
    const auto [long_re, long_im] = power<Quad>(a, n);
    return rounded(long_re, long_im);
}

} // namespace

Z pow(Z a, Z b) {
    const double n = b.re;
    if (b.re == 0 && b.im == 0) return {1, 0};
    if (a.re == 0 && a.im == 0) {
        constexpr double nan = std::numeric_limits<double>::quiet_NaN();
        return b.re > 0 ? Z{0, 0} : Z{nan, nan};
    }
    if (!finite(a) || !finite(b)) return from_c(__builtin_cpow(to_c(a), to_c(b)));
    if (b.im == 0) {
        if (n == 1) return a;
        if (n == 0.5) return sqrt(a);
        const bool whole = n == std::floor(n);
        if (a.im == 0 && (a.re > 0 || whole)) {
            const bool flips = a.re < 0 && std::fmod(n, 2) == 0;
            return {std::pow(a.re, n), (flips ? -a.im : a.im) * (n > 0 ? 1 : -1)};
        }
        if (whole && std::fabs(n) <= 100) {
            const double octaves = std::abs(exponent_of(a));
            if ((octaves + 1) * std::fabs(n) < 8000) return pow_integer(a, static_cast<int>(n));
        }
    }
    // Products with exponents, or an angle, that have lost digits to the end of the range.
    const auto vanishes = [](double x, double beside) {
        return x != 0 && std::fabs(x) < 0x1p-400 * beside;
    };
    const bool tiny = vanishes(b.re, 1) || vanishes(b.im, 1) || vanishes(a.re, std::fabs(a.im)) ||
                      vanishes(a.im, std::fabs(a.re));
    return tiny ? pow_quad(a, b) : pow_general(a, b);
}

} // namespace Atoll::kernels::complex_math
