// Roots, powers, exponentials, logarithms, circular and hyperbolic functions.
//
// All are computed in long double with the C library's functions and rounded once to the result's
// dtype, so they are right to a little more than half a unit in the last place, on every branch cut
// and for every special value of C99's Annex G that the library handles.
#include "kernels.hpp"
#include "wide.hpp"

namespace Dummy {

namespace {

using Real = long double;
using Complex = std::complex<long double>;

Complex complex_of(const Wide &wide) { return {wide.re, wide.im}; }

// operation(Real) for reals, operation(Complex) for complex numbers.
template <class Operation> void math(const atoll_call &call, const Operation &operation) {
    const std::uint32_t from = call.operands[1].dtype, to = call.operands[0].dtype;
    const bool complex = Atoll::sdk::dtype_facts[from].kind == ATOLL_DTYPE_KIND_COMPLEX;
    for_each(call, [&](Pointers at) {
        const Wide a = load(at[1], from);
        store(at[0], complex ? widen(operation(complex_of(a))) : widen(operation(a.re)), to);
    });
}

// operation(Real), operation(Real, Real); for functions of reals only.
template <class Operation> void math_of_real(const atoll_call &call, const Operation &operation) {
    for_each(call, [&](Pointers at) {
        store(at[0], widen(operation(load(at[1], call.dtype).re)), call.dtype);
    });
}
template <class Operation> void math_of_two(const atoll_call &call, const Operation &operation) {
    for_each(call, [&](Pointers at) {
        store(at[0], widen(operation(load(at[1], call.dtype).re, load(at[2], call.dtype).re)),
              call.dtype);
    });
}

// log(2) and log(10), each as the sum of two numbers.
constexpr Real log_2[] = {0.69314718055994530941723212145817656807550013436L,
                          -1.1458352726798732810946208121006293549e-20L};
constexpr Real log_10[] = {2.3025850929940456840179914546843642076011014886L,
                           -1.8347406626957372104707127327939609555e-20L};

// exp(z * (base[0] + base[1]))
Complex exp_of_product(Complex z, const Real (&base)[2]) {
    const Complex product{z.real() * base[0], z.imag() * base[0]};
    const Complex power = std::exp(product);
    if (!is_finite(power) || !nonzero(power)) return power;
    // What the product lost in rounding is multiplied in.
    const Complex lost{std::fma(z.real(), base[0], -product.real()) + z.real() * base[1],
                       std::fma(z.imag(), base[0], -product.imag()) + z.imag() * base[1]};
    if (z.imag() == 0) return {power.real() * std::exp(lost.real()), z.imag()}; // keeps its sign
    return times(power, std::exp(lost));
}

Complex divided(Complex z, Real by) { return {z.real() / by, z.imag() / by}; }

Complex expm1_of(Complex z) {
    const Real x = z.real(), y = z.imag();
    if (!(std::fabs(x) <= 1) || !std::isfinite(y)) {
        const Complex power = std::exp(z);
        return {power.real() - 1, power.imag()};
    }
    // exp(x) cos(y) - 1 without cancellation near 0
    const Real half_sine = std::sin(y / 2);
    return {std::expm1(x) * std::cos(y) - 2 * half_sine * half_sine, std::exp(x) * std::sin(y)};
}

Complex log1p_of(Complex z) {
    const Real x = z.real(), y = z.imag();
    if (!(std::fabs(x) < 0.125L && std::fabs(y) < 0.125L)) return std::log(Complex{1 + x, y});
    // |1 + z|^2 - 1 = 2x + x^2 + y^2, where 2x and y^2 may cancel: y^2 with all its digits
    const Real square = y * y, lost = std::fma(y, y, -square);
    return {std::log1p(2 * x + square + (x * x + lost)) / 2, std::atan2(y, 1 + x)};
}

// a to the power of an integer, by multiplying.
Complex repeated_product(Complex a, int exponent) {
    Complex product{1};
    for (int i = 0; i < std::abs(exponent); ++i) product = times(product, a);
    return exponent < 0 ? over(Complex{1}, product) : product;
}

Complex power_of(Complex a, Complex b) {
    if (!nonzero(b)) return 1;
    if (!nonzero(a)) {
        constexpr Real nan = std::numeric_limits<Real>::quiet_NaN();
        return b.real() > 0 ? Complex{} : Complex{nan, nan};
    }
    const Complex log = std::log(a);
    if (b.imag() != 0) return std::exp(times(b, log));
    if (std::fabs(b.real()) <= 100 && b.real() == std::trunc(b.real()))
        return repeated_product(a, static_cast<int>(b.real()));
    return std::exp(Complex{b.real() * log.real(), b.real() * log.imag()});
}

// By squaring; wraps. The host lets no negative exponent through.
template <class V> V integer_power(V base, V exponent) {
    if (exponent < 0) return 0;
    V power = 1;
    for (; exponent != 0; exponent = static_cast<V>(exponent >> 1)) {
        if (exponent & 1) power = times(power, base);
        base = times(base, base);
    }
    return power;
}

} // namespace

namespace Kernels {

#define MATH(name, ...)                                                                            \
    void name(const atoll_call &call) {                                                            \
        math(call, [](auto z) { return __VA_ARGS__; });                                            \
    }
// Complex numbers another way than real ones.
#define MATH_APART(name, of_complex, of_real)                                                      \
    void name(const atoll_call &call) {                                                            \
        math(call, [](auto z) {                                                                    \
            if constexpr (is_complex<decltype(z)>)                                                 \
                return of_complex;                                                                 \
            else                                                                                   \
                return of_real;                                                                    \
        });                                                                                        \
    }

// Rounding a real root twice could be wrong; double holds every real element.
MATH_APART(sqrt, std::sqrt(z), std::sqrt(static_cast<double>(z)))

void hypot(const atoll_call &call) {
    math_of_two(call, [](Real a, Real b) { return std::hypot(a, b); });
}

void cbrt(const atoll_call &call) {
    math_of_real(call, [](Real a) { return std::cbrt(a); });
}

namespace {
// The C library's powl is wrong for (-inf) ** -2^63; infinities need no more than double.
Real real_power(double a, double b) {
    return std::isfinite(a) && std::isfinite(b) ? std::pow(Real{a}, Real{b}) : Real{std::pow(a, b)};
}
} // namespace

void pow(const atoll_call &call) {
    for_each(call, [&](Pointers at) {
        with_dtype<ATOLL_DOMAIN_NUMERIC>(call.dtype, [&](auto element, auto) {
            const auto a = element.load(at[1]), b = element.load(at[2]);
            using V = typename decltype(element)::Value;
            if constexpr (std::is_integral_v<V>)
                element.store(at[0], integer_power(a, b));
            else if constexpr (is_complex<V>)
                store(at[0], widen(power_of(Complex(a), Complex(b))), call.dtype);
            else
                store(at[0], widen(real_power(a, b)), call.dtype);
        });
    });
}

void erf(const atoll_call &call) {
    math_of_real(call, [](Real a) { return std::erf(a); });
}
void erfc(const atoll_call &call) {
    math_of_real(call, [](Real a) { return std::erfc(a); });
}
void tgamma(const atoll_call &call) {
    math_of_real(call, [](Real a) { return std::tgamma(a); });
}
void lgamma(const atoll_call &call) { // lgammal would write a global variable
    math_of_real(call, [](Real a) {
        int sign;
        return ::lgammal_r(a, &sign);
    });
}

MATH_APART(angle, std::atan2(z.imag(), z.real()), std::atan2(Real{0}, z))
MATH(exp, std::exp(z))
MATH_APART(exp2, exp_of_product(z, log_2), std::exp2(z))
MATH_APART(exp10, exp_of_product(z, log_10), ::exp10l(z))
MATH_APART(expm1, expm1_of(z), std::expm1(z))
MATH(log, std::log(z))
MATH_APART(log2, divided(std::log(z), log_2[0]), std::log2(z))
MATH_APART(log10, divided(std::log(z), log_10[0]), std::log10(z))
MATH_APART(log1p, log1p_of(z), std::log1p(z))
MATH(sin, std::sin(z))
MATH(cos, std::cos(z))
MATH(tan, std::tan(z))
MATH(asin, std::asin(z))
MATH(acos, std::acos(z))
MATH(atan, std::atan(z))

void atan2(const atoll_call &call) {
    math_of_two(call, [](Real a, Real b) { return std::atan2(a, b); });
}

MATH(sinh, std::sinh(z))
MATH(cosh, std::cosh(z))
MATH(tanh, std::tanh(z))
MATH(asinh, std::asinh(z))
MATH(acosh, std::acosh(z))
MATH(atanh, std::atanh(z))

#undef MATH
#undef MATH_APART

} // namespace Kernels

} // namespace Dummy
