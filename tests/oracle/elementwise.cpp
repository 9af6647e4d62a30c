// One line per function in a table, keyed by its id. A function of the list without a line does not
// compile.
//
// Note [Expectations]
// A line says what the function does to integers (exactly; bool counts as an integer that is made
// 0 or 1 at the end), to reals and to complex numbers. Reals and complex numbers come in two ways:
//  - exactly(f): f computes as the dtype does, step by step in float or double, and is compared
//    digit by digit, signs of zeros included;
//  - nearly(f): f is right in long double, and the result may be off by `ulps` units in the last
//    place of what the dtype computes in. For complex numbers the unit is that of the larger part.
//    NaN, infinities and zeros are still exact.
// A missing column means that the function's domain leaves it out.
#include "elementwise.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

namespace oracle {

namespace {

// In bits.
int width(int dtype) { return 8 * facts[dtype].size; }

template <class T, int> using Argument = T;
template <class T, class Indices> struct SignatureOf;
template <class T, int... i> struct SignatureOf<T, std::integer_sequence<int, i...>> {
    using type = T (*)(Argument<T, i>...);
    using integers = __int128 (*)(Argument<__int128, i>..., int dtype);
    using scale = long double (*)(Argument<T, i>...);
};
template <class T, int arity> using Signature =
    typename SignatureOf<T, std::make_integer_sequence<int, arity>>::type;

// One column: over real numbers, or over complex ones.
template <class F, class D, class L, int arity> struct Column {
    Signature<F, arity> in_float = nullptr;
    Signature<D, arity> in_double = nullptr;
    Signature<L, arity> in_wide = nullptr;
    // Units in the last place by which the result may be off; below 0: nothing is said.
    typename SignatureOf<L, std::make_integer_sequence<int, arity>>::scale ulps = nullptr;
};
template <int arity> using Reals = Column<float, double, long double, arity>;
template <int arity> using Complexes =
    Column<std::complex<float>, std::complex<double>, Complex, arity>;

// Made into a column of either kind where a line is built.
template <class F> struct Exactly {
    F f;
    template <class A, class B, class L, int arity>
    constexpr operator Column<A, B, L, arity>() const {
        return {f, f, nullptr, nullptr};
    }
};
template <class F, class U> struct Nearly {
    F f;
    U ulps;
    template <class A, class B, class L, int arity>
    constexpr operator Column<A, B, L, arity>() const {
        return {nullptr, nullptr, f, ulps};
    }
};
constexpr auto four = [](auto...) { return 4.0L; };
template <class F> constexpr Exactly<F> exactly(F f) { return {f}; }
template <class F, class U = decltype(four)> constexpr Nearly<F, U> nearly(F f, U ulps = four) {
    return {f, ulps};
}

template <int arity> struct Line {
    int function;
    typename SignatureOf<long double, std::make_integer_sequence<int, arity>>::integers integers =
        nullptr;
    Reals<arity> reals = {};
    Complexes<arity> complexes = {};
};

// ---- helpers of the tables ----------------------------------------------------------------------

__int128 floor_quotient(__int128 a, __int128 b) {
    if (b == 0) return 0;
    return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}
__int128 wrapped_power(__int128 a, __int128 b) {
    if (b < 0) return 0;
    __int128 r = 1;
    for (; b; b >>= 1, a = wrapped_product(a, a))
        if (b & 1) r = wrapped_product(r, a);
    return r;
}
#if __LDBL_MANT_DIG__ == 113 // AArch64
using Quad = long double;
#else
__extension__ using Quad = __float128;
#endif
// Quotient and remainder that fit each other: the remainder of fmod is exact, and the quotient is
// the integer nearest to what is left over the divisor.
template <class T> struct Division { T quotient, remainder; };
template <class T> Division<T> floor_division(T a, T b) {
    T rest = std::fmod(a, b);
    if (b == 0) return {a / b, rest};
    if (std::isnan(rest)) return {rest, rest};
    // A whole number; with 113 bits the nearest one is right while it fits an integer.
    Quad whole = (static_cast<Quad>(a) - rest) / b;
    if (whole < 0x1p100 && whole > -0x1p100)
        whole = static_cast<__int128>(whole + (whole < 0 ? -0.5 : 0.5));
    if (rest == 0)
        rest = std::copysign(T(0), b);
    else if ((b < 0) != (rest < 0))
        rest += b, whole -= 1;
    return {whole == 0 ? std::copysign(T(0), a / b) : static_cast<T>(whole), rest};
}
Complex times_i(Complex z) { return {-z.imag(), z.real()}; }
Complex over_i(Complex z) { return {z.imag(), -z.real()}; }
constexpr long double ln2 = 0.693147180559945309417232121458176568L,
                      ln10 = 2.302585092994045684017991454684364208L;
bool has_nan(Complex z) { return std::isnan(z.real()) || std::isnan(z.imag()); }
// Far from where powers leave the range of float.
bool moderate(Complex z) {
    for (const long double part : {z.real(), z.imag()})
        if (part != 0 && !(std::fabs(part) > 0x1p-30L && std::fabs(part) < 0x1p30L)) return false;
    return true;
}
Complex quotient(Complex a, Complex b) {
    // By a zero: the parts over a positive zero.
    if (b == Complex(0)) return {a.real() / 0.0L, a.imag() / 0.0L};
    const long double d = b.real() * b.real() + b.imag() * b.imag();
    return {(a.real() * b.real() + a.imag() * b.imag()) / d,
            (a.imag() * b.real() - a.real() * b.imag()) / d};
}
long double quotient_ulps(Complex a, Complex b) {
    if (b == Complex(0)) return 0;
    return finite(a) && finite(b) ? 4.0L : -1.0L;
}
// Of b^z, from which z * log b has to be taken first.
long double power_ulps(Complex z) {
    if (std::fabs(z.imag()) > 1e6L && std::isfinite(z.imag())) return -1;
    if (!finite(z)) return 4;
    return 4 + 6 * (std::min(std::fabs(z.real()), 2000.0L) + std::fabs(z.imag()));
}
// C99 says NaN + i NaN for tanh(0 + i inf), later editions 0 + i NaN.
long double tanh_ulps(Complex z) {
    return z.real() == 0 && !std::isfinite(z.imag()) ? -1.0L : 4.0L;
}
// The sign of the imaginary part of acosh(0 + i NaN) is not said.
long double acosh_ulps(Complex z) { return z.real() == 0 && std::isnan(z.imag()) ? -1.0L : 4.0L; }
// Signs of zeros and infinities that no standard says.
bool has_signs(int function) {
    switch (function) {
    case ATOLL_FN_divide:
    case ATOLL_FN_reciprocal:
    case ATOLL_FN_pow:
    case ATOLL_FN_expm1:
    case ATOLL_FN_log1p: return false;
    default: return true;
    }
}
Complex complex_sign(Complex z) {
    const long double re = z.real(), im = z.imag();
    if (has_nan(z) || (std::isinf(re) && std::isinf(im))) return {NAN, NAN};
    if (std::isinf(re)) return {std::copysign(1.0L, re), std::copysign(0.0L, im)};
    if (std::isinf(im)) return {std::copysign(0.0L, re), std::copysign(1.0L, im)};
    const long double size = std::hypot(re, im);
    return size == 0 ? Complex(0) : Complex(re / size, im / size);
}
Complex complex_expm1(Complex z) {
    const Complex e = std::exp(z);
    if (!finite(z)) return {e.real() - 1, e.imag()};
    const long double half = std::sin(z.imag() / 2);
    return {std::expm1(z.real()) * std::cos(z.imag()) - 2 * half * half, e.imag()};
}
Complex complex_log1p(Complex z) {
    const long double x = z.real(), y = z.imag();
    const Complex plain = std::log(Complex(1 + x, y));
    // Both terms of the logarithm's argument are small, so nothing is lost in their sum.
    if (std::fabs(x) > 0.5L || std::fabs(y) > 0.5L || std::isnan(x) || std::isnan(y)) return plain;
    return {std::log1p(x * (2 + x) + y * y) / 2, plain.imag()};
}
Complex complex_power(Complex a, Complex b) {
    if (b == Complex(0)) return 1;
    if (a == Complex(0)) return 0;
    return std::pow(a, b);
}
long double complex_power_ulps(Complex a, Complex b) {
    if (b == Complex(0)) return finite(a) ? 0.0L : -1.0L;
    if (a == Complex(0)) return b.imag() == 0 && b.real() > 0 ? 0.0L : -1.0L;
    if (!moderate(a) || !moderate(b)) return -1;
    const long double size = std::abs(std::log(a)) * std::abs(b);
    return size < 40 ? 16 + 8 * (size + std::abs(b)) : -1;
}

// clang-format off
// ---- one argument ----------------------------------------------------------------------------------------------

constexpr Line<1> unary_lines[] = {
    {ATOLL_FN_negative, [](__int128 a, int) { return -a; }, exactly([](auto a) { return -a; }), exactly([](auto a) { return -a; })},
    {ATOLL_FN_abs, [](__int128 a, int) { return a < 0 ? -a : a; }, exactly([](auto a) { return std::fabs(a); }), nearly([](Complex a) { return Complex(std::hypot(a.real(), a.imag())); })},
    {ATOLL_FN_sqrt, nullptr, exactly([](auto a) { return std::sqrt(a); }), nearly([](Complex a) { return std::sqrt(a); })},
    {ATOLL_FN_square, [](__int128 a, int) { return wrapped_product(a, a); }, exactly([](auto a) { return a * a; }),
        exactly([](auto a) { return decltype(a)(a.real() * a.real() - a.imag() * a.imag(), a.real() * a.imag() + a.imag() * a.real()); })},
    {ATOLL_FN_conj, [](__int128 a, int) { return a; }, exactly([](auto a) { return a; }), exactly([](auto a) { return decltype(a)(a.real(), -a.imag()); })},
    {ATOLL_FN_sign, [](__int128 a, int) { return static_cast<__int128>((a > 0) - (a < 0)); },
        exactly([](auto a) { return a > 0 ? decltype(a)(1) : a < 0 ? decltype(a)(-1) : a == 0 ? decltype(a)(0) : a; }), nearly(complex_sign)},
    {ATOLL_FN_angle, nullptr, nearly([](long double a) { return std::isnan(a) ? a : std::atan2(0.0L, a); }), nearly([](Complex a) { return Complex(std::atan2(a.imag(), a.real())); })},
    {ATOLL_FN_reciprocal, nullptr, exactly([](auto a) { return 1 / a; }), nearly([](Complex a) { return quotient(1, a); }, [](Complex a) { return quotient_ulps(1, a); })},
    {ATOLL_FN_cbrt, nullptr, nearly([](long double a) { return std::cbrt(a); })},
    {ATOLL_FN_exp, nullptr, nearly([](long double a) { return std::exp(a); }), nearly([](Complex a) { return std::exp(a); })},
    {ATOLL_FN_exp2, nullptr, nearly([](long double a) { return std::exp2(a); }),
        nearly([](Complex a) { return std::exp(Complex(a.real() * ln2, a.imag() * ln2)); }, power_ulps)},
    {ATOLL_FN_exp10, nullptr, nearly([](long double a) { return std::pow(10.0L, a); }),
        nearly([](Complex a) { return std::exp(Complex(a.real() * ln10, a.imag() * ln10)); }, power_ulps)},
    {ATOLL_FN_expm1, nullptr, nearly([](long double a) { return std::expm1(a); }), nearly(complex_expm1)},
    {ATOLL_FN_log, nullptr, nearly([](long double a) { return std::log(a); }), nearly([](Complex a) { return std::log(a); })},
    {ATOLL_FN_log2, nullptr, nearly([](long double a) { return std::log2(a); }), nearly([](Complex a) { return Complex(std::log(a).real() / ln2, std::log(a).imag() / ln2); })},
    {ATOLL_FN_log10, nullptr, nearly([](long double a) { return std::log10(a); }), nearly([](Complex a) { return Complex(std::log(a).real() / ln10, std::log(a).imag() / ln10); })},
    {ATOLL_FN_log1p, nullptr, nearly([](long double a) { return std::log1p(a); }), nearly(complex_log1p)},
    {ATOLL_FN_sin, nullptr, nearly([](long double a) { return std::sin(a); }), nearly([](Complex a) { return over_i(std::sinh(times_i(a))); })},
    {ATOLL_FN_cos, nullptr, nearly([](long double a) { return std::cos(a); }), nearly([](Complex a) { return std::cosh(times_i(a)); })},
    {ATOLL_FN_tan, nullptr, nearly([](long double a) { return std::tan(a); }), nearly([](Complex a) { return over_i(std::tanh(times_i(a))); }, [](Complex a) { return tanh_ulps(times_i(a)); })},
    {ATOLL_FN_asin, nullptr, nearly([](long double a) { return std::asin(a); }), nearly([](Complex a) { return over_i(std::asinh(times_i(a))); })},
    {ATOLL_FN_acos, nullptr, nearly([](long double a) { return std::acos(a); }), nearly([](Complex a) { return std::acos(a); })},
    {ATOLL_FN_atan, nullptr, nearly([](long double a) { return std::atan(a); }), nearly([](Complex a) { return over_i(std::atanh(times_i(a))); })},
    {ATOLL_FN_sinh, nullptr, nearly([](long double a) { return std::sinh(a); }), nearly([](Complex a) { return std::sinh(a); })},
    {ATOLL_FN_cosh, nullptr, nearly([](long double a) { return std::cosh(a); }), nearly([](Complex a) { return std::cosh(a); })},
    {ATOLL_FN_tanh, nullptr, nearly([](long double a) { return std::tanh(a); }), nearly([](Complex a) { return std::tanh(a); }, tanh_ulps)},
    {ATOLL_FN_asinh, nullptr, nearly([](long double a) { return std::asinh(a); }), nearly([](Complex a) { return std::asinh(a); })},
    {ATOLL_FN_acosh, nullptr, nearly([](long double a) { return std::acosh(a); }), nearly([](Complex a) { return std::acosh(a); }, acosh_ulps)},
    {ATOLL_FN_atanh, nullptr, nearly([](long double a) { return std::atanh(a); }), nearly([](Complex a) { return std::atanh(a); })},
    {ATOLL_FN_ceil, [](__int128 a, int) { return a; }, exactly([](auto a) { return std::ceil(a); })},
    {ATOLL_FN_floor, [](__int128 a, int) { return a; }, exactly([](auto a) { return std::floor(a); })},
    {ATOLL_FN_trunc, [](__int128 a, int) { return a; }, exactly([](auto a) { return std::trunc(a); })},
    {ATOLL_FN_round, [](__int128 a, int) { return a; }, exactly([](auto a) { return std::nearbyint(a); }),
        exactly([](auto a) { return decltype(a)(std::nearbyint(a.real()), std::nearbyint(a.imag())); })},
    {ATOLL_FN_isnan, [](__int128, int) { return __int128{0}; }, exactly([](auto a) { return decltype(a)(std::isnan(a)); }),
        exactly([](auto a) { return decltype(a)(std::isnan(a.real()) || std::isnan(a.imag())); })},
    {ATOLL_FN_isinf, [](__int128, int) { return __int128{0}; }, exactly([](auto a) { return decltype(a)(std::isinf(a)); }),
        exactly([](auto a) { return decltype(a)(std::isinf(a.real()) || std::isinf(a.imag())); })},
    {ATOLL_FN_isfinite, [](__int128, int) { return __int128{1}; }, exactly([](auto a) { return decltype(a)(std::isfinite(a)); }),
        exactly([](auto a) { return decltype(a)(std::isfinite(a.real()) && std::isfinite(a.imag())); })},
    {ATOLL_FN_isposinf, [](__int128, int) { return __int128{0}; }, exactly([](auto a) { return decltype(a)(std::isinf(a) && a > 0); })},
    {ATOLL_FN_isneginf, [](__int128, int) { return __int128{0}; }, exactly([](auto a) { return decltype(a)(std::isinf(a) && a < 0); })},
    {ATOLL_FN_bitwise_not, [](__int128 a, int dtype) { return dtype == ATOLL_DTYPE_BOOL ? __int128{a == 0} : ~a; }},
    {ATOLL_FN_logical_not, [](__int128 a, int) { return __int128{a == 0}; }, exactly([](auto a) { return decltype(a)(a == decltype(a)(0)); }),
        exactly([](auto a) { return decltype(a)(a == decltype(a)(0)); })},
    {ATOLL_FN_erf, nullptr, nearly([](long double a) { return std::erf(a); })},
    {ATOLL_FN_erfc, nullptr, nearly([](long double a) { return std::erfc(a); })},
    {ATOLL_FN_tgamma, nullptr, nearly([](long double a) { return std::tgamma(a); })},
    {ATOLL_FN_lgamma, nullptr, nearly([](long double a) { int sign; return ::lgammal_r(a, &sign); })},
};
static_assert(complete(unary_lines, has_inputs<1>));

// ---- two arguments ---------------------------------------------------------------------------------------------

constexpr Line<2> binary_lines[] = {
    {ATOLL_FN_add, [](__int128 a, __int128 b, int) { return a + b; }, exactly([](auto a, auto b) { return a + b; }), exactly([](auto a, auto b) { return a + b; })},
    {ATOLL_FN_subtract, [](__int128 a, __int128 b, int) { return a - b; }, exactly([](auto a, auto b) { return a - b; }), exactly([](auto a, auto b) { return a - b; })},
    {ATOLL_FN_multiply, [](__int128 a, __int128 b, int) { return wrapped_product(a, b); }, exactly([](auto a, auto b) { return a * b; }),
        exactly([](auto a, auto b) { return decltype(a)(a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()); })},
    {ATOLL_FN_divide, nullptr, exactly([](auto a, auto b) { return a / b; }), nearly(quotient, quotient_ulps)},
    {ATOLL_FN_equal, [](__int128 a, __int128 b, int) { return __int128{a == b}; }, exactly([](auto a, auto b) { return decltype(a)(a == b); }),
        exactly([](auto a, auto b) { return decltype(a)(a == b); })},
    {ATOLL_FN_not_equal, [](__int128 a, __int128 b, int) { return __int128{a != b}; }, exactly([](auto a, auto b) { return decltype(a)(a != b); }),
        exactly([](auto a, auto b) { return decltype(a)(a != b); })},
    {ATOLL_FN_less, [](__int128 a, __int128 b, int) { return __int128{a < b}; }, exactly([](auto a, auto b) { return decltype(a)(a < b); })},
    {ATOLL_FN_less_equal, [](__int128 a, __int128 b, int) { return __int128{a <= b}; }, exactly([](auto a, auto b) { return decltype(a)(a <= b); })},
    {ATOLL_FN_greater, [](__int128 a, __int128 b, int) { return __int128{a > b}; }, exactly([](auto a, auto b) { return decltype(a)(a > b); })},
    {ATOLL_FN_greater_equal, [](__int128 a, __int128 b, int) { return __int128{a >= b}; }, exactly([](auto a, auto b) { return decltype(a)(a >= b); })},
    {ATOLL_FN_floor_divide, [](__int128 a, __int128 b, int) { return floor_quotient(a, b); }, exactly([](auto a, auto b) { return floor_division(a, b).quotient; })},
    {ATOLL_FN_remainder, [](__int128 a, __int128 b, int) { return b == 0 ? __int128{0} : a - b * floor_quotient(a, b); }, exactly([](auto a, auto b) { return floor_division(a, b).remainder; })},
    {ATOLL_FN_fmod, [](__int128 a, __int128 b, int) { return b == 0 ? __int128{0} : a % b; }, exactly([](auto a, auto b) { return std::fmod(a, b); })},
    {ATOLL_FN_trunc_divide, [](__int128 a, __int128 b, int) { return b == 0 ? __int128{0} : a / b; }, exactly([](auto a, auto b) { return std::trunc(a / b); })},
    {ATOLL_FN_pow, [](__int128 a, __int128 b, int) { return wrapped_power(a, b); }, nearly([](long double a, long double b) { return std::pow(a, b); }), nearly(complex_power, complex_power_ulps)},
    {ATOLL_FN_bitwise_and, [](__int128 a, __int128 b, int) { return a & b; }},
    {ATOLL_FN_bitwise_or, [](__int128 a, __int128 b, int) { return a | b; }},
    {ATOLL_FN_bitwise_xor, [](__int128 a, __int128 b, int) { return a ^ b; }},
    {ATOLL_FN_left_shift, [](__int128 a, __int128 b, int dtype) { return b < 0 || b >= width(dtype) ? __int128{0} : wrapped_product(a, __int128{1} << b); }},
    {ATOLL_FN_right_shift, [](__int128 a, __int128 b, int dtype) { return a >> (b < 0 || b >= width(dtype) ? 126 : static_cast<int>(b)); }},
    {ATOLL_FN_logical_and, [](__int128 a, __int128 b, int) { return __int128{a != 0 && b != 0}; }, exactly([](auto a, auto b) { return decltype(a)(a != decltype(a)(0) && b != decltype(a)(0)); }),
        exactly([](auto a, auto b) { return decltype(a)(a != decltype(a)(0) && b != decltype(a)(0)); })},
    {ATOLL_FN_logical_or, [](__int128 a, __int128 b, int) { return __int128{a != 0 || b != 0}; }, exactly([](auto a, auto b) { return decltype(a)(a != decltype(a)(0) || b != decltype(a)(0)); }),
        exactly([](auto a, auto b) { return decltype(a)(a != decltype(a)(0) || b != decltype(a)(0)); })},
    {ATOLL_FN_logical_xor, [](__int128 a, __int128 b, int) { return __int128{(a != 0) != (b != 0)}; }, exactly([](auto a, auto b) { return decltype(a)((a != decltype(a)(0)) != (b != decltype(a)(0))); }),
        exactly([](auto a, auto b) { return decltype(a)((a != decltype(a)(0)) != (b != decltype(a)(0))); })},
    {ATOLL_FN_minimum, [](__int128 a, __int128 b, int) { return std::min(a, b); }, exactly([](auto a, auto b) { return a <= b || std::isnan(a) ? a : b; })},
    {ATOLL_FN_maximum, [](__int128 a, __int128 b, int) { return std::max(a, b); }, exactly([](auto a, auto b) { return a >= b || std::isnan(a) ? a : b; })},
    {ATOLL_FN_fmin, [](__int128 a, __int128 b, int) { return std::min(a, b); }, exactly([](auto a, auto b) { return a <= b || std::isnan(b) ? a : b; })},
    {ATOLL_FN_fmax, [](__int128 a, __int128 b, int) { return std::max(a, b); }, exactly([](auto a, auto b) { return a >= b || std::isnan(b) ? a : b; })},
    {ATOLL_FN_hypot, nullptr, nearly([](long double a, long double b) { return std::hypot(a, b); })},
    {ATOLL_FN_copysign, nullptr, exactly([](auto a, auto b) { return std::copysign(a, b); })},
    {ATOLL_FN_atan2, nullptr, nearly([](long double a, long double b) { return std::atan2(a, b); })},
};
static_assert(complete(binary_lines, has_inputs<2>));

// ---- three arguments -------------------------------------------------------------------------------------------

constexpr Line<3> ternary_lines[] = {
    // `ternary` takes the first argument's truth by itself.
    {ATOLL_FN_where, [](__int128 a, __int128 b, __int128 c, int) { return a != 0 ? b : c; }, exactly([](auto a, auto b, auto c) { return a != decltype(a)(0) ? b : c; }),
        exactly([](auto a, auto b, auto c) { return a != decltype(a)(0) ? b : c; })},
    {ATOLL_FN_clip, [](__int128 a, __int128 b, __int128 c, int) { return std::min(std::max(a, b), c); },
        exactly([](auto a, auto b, auto c) { const auto x = a >= b || std::isnan(a) ? a : b; return x <= c || std::isnan(x) ? x : c; })},
};
static_assert(complete(ternary_lines, has_inputs<3>));
// clang-format on

// ---- evaluation ---------------------------------------------------------------------------------

// The columns are called with the arguments in the order of `i`; integers of the compute dtype.
template <int arity, int... i> Expected evaluate(const Line<arity> &line, int dtype,
                                                 const Value (&x)[arity],
                                                 std::integer_sequence<int, i...>) {
    const int natural = result_dtype(line.function, dtype), part = compute_part(dtype);
    const bool wide = part == ATOLL_DTYPE_FLOAT64;
    const auto missing = [&]() -> Expected {
        throw std::logic_error(std::string("the oracle has no ") +
                               function_list[line.function].name + " of " + facts[dtype].name);
    };
    Expected e;
    if (is_integer(dtype) || dtype == ATOLL_DTYPE_BOOL) {
        if (!line.integers) return missing();
        e.value = convert(Value::of(line.integers(x[i].i..., dtype)), natural);
        return e;
    }
    if (!is_complex(dtype)) {
        const Reals<arity> &f = line.reals;
        if (f.in_wide) {
            const long double v = f.in_wide(x[i].re...), ulps = f.ulps(x[i].re...);
            e = {Value::of(v, 0.0L), std::isfinite(v) ? ulps * ulp(v, part) : 0.0L};
            e.open = ulps < 0;
        } else if (wide && f.in_double) {
            e.value = Value::of(
                static_cast<long double>(f.in_double(static_cast<double>(x[i].re)...)), 0.0L);
        } else if (f.in_float) {
            e.value = Value::of(
                static_cast<long double>(f.in_float(static_cast<float>(x[i].re)...)), 0.0L);
        } else {
            return missing();
        }
    } else {
        const Complexes<arity> &f = line.complexes;
        const auto as = [](const auto &z) {
            return Value::of(z.real(), static_cast<long double>(z.imag()));
        };
        if (f.in_wide) {
            const Complex arguments[] = {Complex(x[i].re, x[i].im)...};
            const Complex v = f.in_wide(arguments[i]...);
            const long double ulps = f.ulps(arguments[i]...);
            const long double size = std::max(std::isfinite(v.real()) ? std::fabs(v.real()) : 0.0L,
                                              std::isfinite(v.imag()) ? std::fabs(v.imag()) : 0.0L);
            e = {as(v), ulps * ulp(size, part)};
            e.open = ulps < 0;
            // A part that should be zero is exactly that in functions of one argument.
            e.zeros = line.function != ATOLL_FN_divide && line.function != ATOLL_FN_pow;
            // C99, Annex G leaves open the signs that NaN and doubly infinite arguments give.
            for (const Complex &z : arguments)
                e.signs &= !has_nan(z) && !(std::isinf(z.real()) && std::isinf(z.imag()));
            e.signs &= !has_nan(v) && has_signs(line.function);
        } else if (wide && f.in_double) {
            using C = std::complex<double>;
            e.value =
                as(f.in_double(C(static_cast<double>(x[i].re), static_cast<double>(x[i].im))...));
        } else if (f.in_float) {
            using C = std::complex<float>;
            e.value =
                as(f.in_float(C(static_cast<float>(x[i].re), static_cast<float>(x[i].im))...));
        } else {
            return missing();
        }
    }
    if (e.tolerance == 0) e.value = convert(e.value, natural);
    return e;
}

} // namespace

bool finite(Complex z) { return std::isfinite(z.real()) && std::isfinite(z.imag()); }
__int128 wrapped_product(__int128 a, __int128 b) {
    return static_cast<__int128>(static_cast<unsigned __int128>(a) *
                                 static_cast<unsigned __int128>(b));
}
Expected unary(int function, int dtype, const Value &a) {
    return evaluate<1>(line_of(unary_lines, function), dtype, {convert(a, dtype)},
                       std::make_integer_sequence<int, 1>());
}

bool is_comparison(int function) { return function_list[function].signature.exact; }

namespace {

// By their true values: integers have up to 64 bits, and long double holds them.
bool compare(int function, const Value &a, const Value &b) {
    if (a.integer && b.integer)
        return line_of(binary_lines, function).integers(a.i, b.i, ATOLL_DTYPE_INT64) != 0;
    const bool equal = a.real() == b.real() && a.im == b.im;
    switch (function) {
    case ATOLL_FN_equal: return equal;
    case ATOLL_FN_not_equal: return !equal;
    case ATOLL_FN_less: return a.real() < b.real();
    case ATOLL_FN_less_equal: return a.real() <= b.real();
    case ATOLL_FN_greater: return a.real() > b.real();
    default: return a.real() >= b.real();
    }
}

} // namespace

Expected binary(int function, int dtype, const Value &a, const Value &b) {
    // Note [Exact comparisons] in atoll/abi/module.h: these dtypes cannot hold 64-bit integers.
    if (is_comparison(function) &&
        (dtype == ATOLL_DTYPE_FLOAT64 || dtype == ATOLL_DTYPE_COMPLEX128) &&
        (a.integer || b.integer))
        return {Value::of(__int128{compare(function, a.integer ? a : convert(a, dtype),
                                           b.integer ? b : convert(b, dtype))})};
    return evaluate<2>(line_of(binary_lines, function), dtype,
                       {convert(a, dtype), convert(b, dtype)},
                       std::make_integer_sequence<int, 2>());
}

Expected ternary(int function, int dtype, const Value &a, const Value &b, const Value &c) {
    const Value first = function == ATOLL_FN_where ? convert(Value::of(__int128{a.truth()}), dtype)
                                                   : convert(a, dtype);
    return evaluate<3>(line_of(ternary_lines, function), dtype,
                       {first, convert(b, dtype), convert(c, dtype)},
                       std::make_integer_sequence<int, 3>());
}

Value apply(int function, int dtype, const Value &a, const Value &b, bool *approximate) {
    const Expected e = has_inputs<1>(function_list[function]) ? unary(function, dtype, a)
                                                              : binary(function, dtype, a, b);
    *approximate = e.tolerance > 0 || e.open;
    return rounded(e, result_dtype(function, dtype));
}

} // namespace oracle
