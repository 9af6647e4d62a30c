// The elementary functions of the plugin `dummy`: against other formulas for the same, and on the
// branch cuts.
#include "device.hpp"

#include <cmath>
#include <random>

#include <doctest/doctest.h>

using namespace FakeHost;

namespace {

using Real = long double;
using Complex = std::complex<long double>;

struct Identity {
    std::uint16_t function;
    Complex (*by_reals)(Real x, Real y); // from real functions of the two parts
};

Complex cis(Real modulus, Real angle) { return {modulus * cosl(angle), modulus * sinl(angle)}; }

constexpr Identity identities[] = {
    {ATOLL_FN_exp, [](Real x, Real y) { return cis(expl(x), y); }},
    {ATOLL_FN_exp2, [](Real x, Real y) { return cis(exp2l(x), y * logl(2)); }},
    {ATOLL_FN_exp10, [](Real x, Real y) { return cis(powl(10, x), y * logl(10)); }},
    {ATOLL_FN_expm1, [](Real x, Real y) { return cis(expl(x), y) - Complex(1); }},
    {ATOLL_FN_log, [](Real x, Real y) { return Complex(logl(hypotl(x, y)), atan2l(y, x)); }},
    {ATOLL_FN_log2,
     [](Real x, Real y) { return Complex(log2l(hypotl(x, y)), atan2l(y, x) / logl(2)); }},
    {ATOLL_FN_log10,
     [](Real x, Real y) { return Complex(log10l(hypotl(x, y)), atan2l(y, x) / logl(10)); }},
    {ATOLL_FN_log1p,
     [](Real x, Real y) { return Complex(logl(hypotl(1 + x, y)), atan2l(y, 1 + x)); }},
    {ATOLL_FN_sqrt, [](Real x, Real y) { return cis(sqrtl(hypotl(x, y)), atan2l(y, x) / 2); }},
    {ATOLL_FN_sin, [](Real x, Real y) { return Complex(sinl(x) * coshl(y), cosl(x) * sinhl(y)); }},
    {ATOLL_FN_cos, [](Real x, Real y) { return Complex(cosl(x) * coshl(y), -sinl(x) * sinhl(y)); }},
    {ATOLL_FN_sinh, [](Real x, Real y) { return Complex(sinhl(x) * cosl(y), coshl(x) * sinl(y)); }},
    {ATOLL_FN_cosh, [](Real x, Real y) { return Complex(coshl(x) * cosl(y), sinhl(x) * sinl(y)); }},
    {ATOLL_FN_tan,
     [](Real x, Real y) {
         return Complex(sinl(2 * x), sinhl(2 * y)) / (cosl(2 * x) + coshl(2 * y));
     }},
    {ATOLL_FN_tanh,
     [](Real x, Real y) {
         return Complex(sinhl(2 * x), sinl(2 * y)) / (coshl(2 * x) + cosl(2 * y));
     }},
};

// The inverse of a function.
struct Inverse {
    std::uint16_t function, of;
};
constexpr Inverse inverses[] = {
    {ATOLL_FN_asin, ATOLL_FN_sin},   {ATOLL_FN_acos, ATOLL_FN_cos},
    {ATOLL_FN_atan, ATOLL_FN_tan},   {ATOLL_FN_asinh, ATOLL_FN_sinh},
    {ATOLL_FN_acosh, ATOLL_FN_cosh}, {ATOLL_FN_atanh, ATOLL_FN_tanh},
};

std::vector<Complex128> some_complex(std::size_t count) {
    std::mt19937 random(5);
    std::uniform_real_distribution<double> part(-3, 3);
    std::vector<Complex128> values(count);
    for (Complex128 &value : values) value = {part(random), part(random)};
    return values;
}

double distance(Complex128 got, Complex expected) {
    return static_cast<double>(std::abs(Complex(got) - expected) / std::abs(expected));
}

// One element.
Complex128 at(Dummy &dummy, std::uint16_t function, Complex128 z) {
    return dummy.elementwise<Complex128>(function, ATOLL_DTYPE_COMPLEX128, ATOLL_DTYPE_COMPLEX128,
                                         std::vector<Complex128>{z})[0];
}
double at(Dummy &dummy, std::uint16_t function, double x) {
    return dummy.elementwise<double>(function, ATOLL_DTYPE_FLOAT64, ATOLL_DTYPE_FLOAT64,
                                     std::vector<double>{x})[0];
}

constexpr double pi = 3.14159265358979323846;
constexpr double precise = 4e-16; // relative, of float64 results

} // namespace

TEST_CASE("complex functions agree with the real ones on the two parts") {
    Dummy dummy;
    const std::vector<Complex128> z = some_complex(2000);
    for (const Identity &identity : identities) {
        CAPTURE(identity.function);
        const auto got = dummy.elementwise<Complex128>(identity.function, ATOLL_DTYPE_COMPLEX128,
                                                       ATOLL_DTYPE_COMPLEX128, z);
        double worst = 0;
        for (std::size_t i = 0; i < z.size(); ++i)
            worst = std::max(worst, distance(got[i], identity.by_reals(z[i].real(), z[i].imag())));
        CHECK(worst < precise);
    }
    // Inverting amplifies the rounding of the first function, here by less than 100.
    for (const Inverse &inverse : inverses) {
        CAPTURE(inverse.function);
        const auto w = dummy.elementwise<Complex128>(inverse.function, ATOLL_DTYPE_COMPLEX128,
                                                     ATOLL_DTYPE_COMPLEX128, z);
        const auto back = dummy.elementwise<Complex128>(inverse.of, ATOLL_DTYPE_COMPLEX128,
                                                        ATOLL_DTYPE_COMPLEX128, w);
        double worst = 0;
        for (std::size_t i = 0; i < z.size(); ++i) worst = std::max(worst, distance(back[i], z[i]));
        CHECK(worst < 100 * precise);
    }
}

TEST_CASE("real functions and complex ones agree on the real axis") {
    Dummy dummy;
    std::vector<double> x;
    std::vector<Complex128> z;
    for (int i = 1; i < 1000; ++i) x.push_back(i / 1000.0), z.push_back(i / 1000.0);
    std::vector<std::uint16_t> functions{ATOLL_FN_asin, ATOLL_FN_acos, ATOLL_FN_atan,
                                         ATOLL_FN_asinh, ATOLL_FN_atanh};
    for (const Identity &identity : identities) functions.push_back(identity.function);
    for (const std::uint16_t function : functions) {
        CAPTURE(function);
        const auto reals =
            dummy.elementwise<double>(function, ATOLL_DTYPE_FLOAT64, ATOLL_DTYPE_FLOAT64, x);
        const auto complexes = dummy.elementwise<Complex128>(function, ATOLL_DTYPE_COMPLEX128,
                                                             ATOLL_DTYPE_COMPLEX128, z);
        double worst = 0;
        for (std::size_t i = 0; i < x.size(); ++i)
            worst = std::max(worst, distance(reals[i], complexes[i]));
        CHECK(worst < precise);
    }
    CHECK(at(dummy, ATOLL_FN_cbrt, -27.0) == -3);
    CHECK(at(dummy, ATOLL_FN_exp10, 22.0) == 1e22);
    CHECK(at(dummy, ATOLL_FN_reciprocal, -0.0) == -inf);
    CHECK(at(dummy, ATOLL_FN_acosh, std::cosh(1.0)) == doctest::Approx(1).epsilon(1e-15));
    CHECK(std::isnan(at(dummy, ATOLL_FN_log, -1.0)));
    CHECK(std::isnan(at(dummy, ATOLL_FN_acosh, 0.5)));
}

TEST_CASE("near 0, expm1 and log1p keep their digits") {
    Dummy dummy;
    for (const double tiny : {1e-5, 1e-10, 1e-200}) {
        CHECK(at(dummy, ATOLL_FN_expm1, tiny) / tiny ==
              doctest::Approx(1 + tiny / 2).epsilon(1e-10));
        CHECK(at(dummy, ATOLL_FN_log1p, tiny) / tiny ==
              doctest::Approx(1 - tiny / 2).epsilon(1e-10));
        // Two terms of the series suffice.
        const Complex z(tiny, -2 * tiny), square = z * z / Real{2};
        const Complex128 narrow(tiny, -2 * tiny);
        CHECK(distance(at(dummy, ATOLL_FN_expm1, narrow), z + square) < 1e-9);
        CHECK(distance(at(dummy, ATOLL_FN_log1p, narrow), z - square) < 1e-9);
    }
    // |1 + z| is 1 but for the rounding of x. 1 + x is exact in long double.
    const double y = 0.06, x = static_cast<double>(sqrtl(1 - static_cast<Real>(y) * y) - 1);
    const Real expected = std::log(Complex(1 + static_cast<Real>(x), y)).real();
    CHECK(at(dummy, ATOLL_FN_log1p, Complex128(x, y)).real() ==
          doctest::Approx(static_cast<double>(expected)).epsilon(1e-6).scale(0));
}

TEST_CASE("branch cuts go by the sign of zero") {
    Dummy dummy;
    struct Cut {
        std::uint16_t function;
        Complex128 above, below; // two sides of a cut
        Complex128 value;        // there; below: its conjugate, or (by_real) the negative conjugate
        bool by_real;
    };
    const double half_pi = pi / 2, root3 = std::sqrt(3.0), log2_3 = std::log(2 + root3),
                 atanh_half = std::atanh(0.5);
    const Cut cuts[] = {
        {ATOLL_FN_sqrt, {-4, 0.0}, {-4, -0.0}, {0, 2}, false},
        {ATOLL_FN_log, {-1, 0.0}, {-1, -0.0}, {0, pi}, false},
        {ATOLL_FN_log1p, {-2, 0.0}, {-2, -0.0}, {0, pi}, false},
        {ATOLL_FN_log10, {-100, 0.0}, {-100, -0.0}, {2, pi / std::log(10.0)}, false},
        {ATOLL_FN_log2, {-8, 0.0}, {-8, -0.0}, {3, pi / std::log(2.0)}, false},
        {ATOLL_FN_asin, {2, 0.0}, {2, -0.0}, {half_pi, log2_3}, false},
        {ATOLL_FN_asin, {-2, 0.0}, {-2, -0.0}, {-half_pi, log2_3}, false},
        {ATOLL_FN_acos, {2, 0.0}, {2, -0.0}, {0, -log2_3}, false},
        {ATOLL_FN_acos, {-2, 0.0}, {-2, -0.0}, {pi, -log2_3}, false},
        {ATOLL_FN_acosh, {-2, 0.0}, {-2, -0.0}, {log2_3, pi}, false},
        {ATOLL_FN_acosh, {0.5, 0.0}, {0.5, -0.0}, {0, pi / 3}, false},
        {ATOLL_FN_atanh, {2, 0.0}, {2, -0.0}, {atanh_half, half_pi}, false},
        {ATOLL_FN_atan, {0.0, 2}, {-0.0, 2}, {half_pi, atanh_half}, true},
        {ATOLL_FN_atan, {0.0, -2}, {-0.0, -2}, {half_pi, -atanh_half}, true},
        {ATOLL_FN_asinh, {0.0, 2}, {-0.0, 2}, {log2_3, half_pi}, true},
    };
    const auto near = [](Complex128 a, Complex128 b) { return std::abs(a - b) < 1e-15 * 4; };
    for (const Cut &cut : cuts) {
        CAPTURE(cut.function);
        const Complex128 other = cut.by_real ? -std::conj(cut.value) : std::conj(cut.value);
        CHECK(near(at(dummy, cut.function, cut.above), cut.value));
        CHECK(near(at(dummy, cut.function, cut.below), other));
    }
    const auto angle = [&](double x) {
        return dummy.elementwise<double>(ATOLL_FN_angle, ATOLL_DTYPE_FLOAT64, ATOLL_DTYPE_FLOAT64,
                                         std::vector<double>{x})[0];
    };
    CHECK(angle(3) == 0);
    CHECK(angle(-3) == pi);
    CHECK(angle(0.0) == 0);
    CHECK(angle(-0.0) == pi);
    CHECK(std::isnan(angle(quiet_nan)));
    CHECK(dummy.elementwise<double>(ATOLL_FN_angle, ATOLL_DTYPE_COMPLEX128, ATOLL_DTYPE_FLOAT64,
                                    std::vector<Complex128>{{-1, -0.0}, {0, 2}}) ==
          std::vector<double>{-pi, pi / 2});
}

TEST_CASE("special values are those of C99, Annex G, and nothing overflows early") {
    Dummy dummy;
    CHECK(at(dummy, ATOLL_FN_exp, Complex128(-inf, inf)) == Complex128(0, 0));
    CHECK(at(dummy, ATOLL_FN_exp, Complex128(inf, 0)) == Complex128(inf, 0));
    CHECK(at(dummy, ATOLL_FN_exp2, Complex128(inf, 0)) == Complex128(inf, 0));
    CHECK(at(dummy, ATOLL_FN_exp10, Complex128(-inf, 1)) == Complex128(0, 0));
    CHECK(at(dummy, ATOLL_FN_expm1, Complex128(inf, 0)) == Complex128(inf, 0));
    CHECK(at(dummy, ATOLL_FN_expm1, Complex128(-inf, 1)) == Complex128(-1, 0));
    CHECK(at(dummy, ATOLL_FN_log, Complex128(0, 0)) == Complex128(-inf, 0));
    CHECK(at(dummy, ATOLL_FN_log1p, Complex128(-1, 0)) == Complex128(-inf, 0));
    CHECK(at(dummy, ATOLL_FN_log2, Complex128(-inf, inf)).real() == inf);
    CHECK(at(dummy, ATOLL_FN_atanh, Complex128(1, 0)) == Complex128(inf, 0));
    CHECK(at(dummy, ATOLL_FN_tanh, Complex128(inf, 1)) == Complex128(1, 0));
    CHECK(at(dummy, ATOLL_FN_sqrt, Complex128(quiet_nan, inf)).real() == inf);
    CHECK(std::isnan(at(dummy, ATOLL_FN_sin, Complex128(inf, 1)).real()));
    // 1e308 squared is infinite, and so is exp(710)
    CHECK(at(dummy, ATOLL_FN_log, Complex128(1e308, 1e308)).real() ==
          doctest::Approx(308 * std::log(10.0) + std::log(2.0) / 2));
    CHECK(at(dummy, ATOLL_FN_asinh, Complex128(1e308, 1e308)).real() ==
          doctest::Approx(308 * std::log(10.0) + std::log(2.0) * 1.5));
    CHECK(at(dummy, ATOLL_FN_exp, Complex128(710, pi / 2)).imag() == inf);
    CHECK(std::isfinite(at(dummy, ATOLL_FN_exp, Complex128(710, pi / 2)).real()));
    CHECK(std::isfinite(at(dummy, ATOLL_FN_cosh, Complex128(710, 1)).real()));
}

TEST_CASE("powers") {
    Dummy dummy;
    const auto power = [&](Complex128 a, Complex128 b) {
        const std::vector<Complex128> exponents{b};
        return dummy.elementwise<Complex128>(ATOLL_FN_pow, ATOLL_DTYPE_COMPLEX128,
                                             ATOLL_DTYPE_COMPLEX128, std::vector<Complex128>{a},
                                             &exponents)[0];
    };
    CHECK(power(0, 0) == 1.0);
    CHECK(power(0, {2, 1}) == 0.0);
    CHECK(std::isnan(power(0, -1).real()));
    CHECK(power({3, 4}, 2) == Complex128(-7, 24));
    CHECK(power({0, 2}, -2) == -0.25);
    CHECK(power({1, 1}, 4) == -4.0);
    const std::vector<Complex128> z = some_complex(500);
    for (std::size_t i = 0; i + 1 < z.size(); ++i)
        CHECK(distance(power(z[i], z[i + 1]),
                       std::exp(Complex(z[i + 1]) * std::log(Complex(z[i])))) < precise);
    const std::vector<double> a{2, -2, -2, 0, inf, 1}, b{0.5, 3, 0.5, -1, 0, quiet_nan};
    const auto reals =
        dummy.elementwise<double>(ATOLL_FN_pow, ATOLL_DTYPE_FLOAT64, ATOLL_DTYPE_FLOAT64, a, &b);
    CHECK(reals[0] == std::sqrt(2.0));
    CHECK(reals[1] == -8);
    CHECK(std::isnan(reals[2]));
    CHECK(reals[3] == inf);
    CHECK(reals[4] == 1);
    CHECK(reals[5] == 1);
}

TEST_CASE("halves are rounded once from a precise result") {
    Dummy dummy;
    std::vector<std::uint16_t> all;
    for (std::uint32_t i = 0; i < 0x7c00; ++i) all.push_back(static_cast<std::uint16_t>(i));
    const auto roots = dummy.elementwise<std::uint16_t>(ATOLL_FN_cbrt, ATOLL_DTYPE_FLOAT16,
                                                        ATOLL_DTYPE_FLOAT16, all);
    const auto logs = dummy.elementwise<std::uint16_t>(ATOLL_FN_log, ATOLL_DTYPE_BFLOAT16,
                                                       ATOLL_DTYPE_BFLOAT16, all);
    int wrong = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
        wrong += roots[i] != atoll_double_to_half(std::cbrt(double{atoll_half_to_float(all[i])}));
        wrong += logs[i] != atoll_double_to_bfloat(std::log(double{atoll_bfloat_to_float(all[i])}));
    }
    CHECK(wrong == 0);
}
