// Real functions of doubles at arguments where a single step of theirs would lose digits or a sign,
// which random ones seldom find.
#include "check.h"

#include <bit>
#include <cmath>
#include <complex>
#include <limits>
#include <random>

using namespace oracle;

namespace {

struct Hard {
    int function;
    double x, y;
    long double truth;
};

// The ordered integers of doubles.
std::int64_t place(double x) {
    const auto bits = std::bit_cast<std::int64_t>(x);
    return bits < 0 ? std::numeric_limits<std::int64_t>::min() - bits : bits;
}

} // namespace

TEST_CASE("reals are within a last place where a step could lose it") {
    std::vector<Hard> all;
    // Beside the interval around 1 of the logarithm its smaller part is largest, and powers near
    // the ends of the range multiply that.
    for (const double base : {0x1.0412f317ad0e5p+0, 0x1.040000000001ep+0, 0x1.fbp-1})
        for (const double result : {1015.0, -1015.0, -1050.0, 300.0})
            for (int k = 0; k < 16; ++k)
                all.push_back({ATOLL_FN_pow, base, (result + k / 128.0) / std::log2(base), 0});
    for (const double base : {-3.0, 0x1p-1060, -0x1.8p-1040, 1 + 0x1p-52})
        for (const double exponent : {3.0, -3.0, 0.5, -1.0})
            if (base > 0 || exponent != 0.5) all.push_back({ATOLL_FN_pow, base, exponent, 0});
    for (Hard &h : all) h.truth = std::pow(static_cast<long double>(h.x), h.y);
    const auto unary = [&](int function, double x, long double truth) {
        all.push_back({function, x, 0, truth});
    };
    for (const double border : {1.0, 2.0, 4.0, 8.0, 16.0, 0.5, 170.5})
        for (const double x : {std::nextafter(border, 0), border, std::nextafter(border, 999)}) {
            int sign;
            unary(ATOLL_FN_lgamma, x, ::lgammal_r(x, &sign));
            unary(ATOLL_FN_tgamma, x, std::tgamma(static_cast<long double>(x)));
        }
    for (const double x : {171.6243769563027, -0x1.74ffffffca29p+6, -0.25, -1e-17, -3e-15, -20.5,
                           -170.625, 0x1p-1022})
        unary(ATOLL_FN_tgamma, x, std::tgamma(static_cast<long double>(x)));
    for (const double x :
         {-0x1.0000065256673p-1, 0x1.0479a7943f961p-1, 0.5, 0x1.fffffffffffffp-1}) {
        unary(ATOLL_FN_asin, x, std::asin(static_cast<long double>(x)));
        unary(ATOLL_FN_acos, x, std::acos(static_cast<long double>(x)));
    }
    const std::int64_t stride = 8;
    at_each_level([&] {
        for (Hard &h : all) {
            const std::string name = function_list[h.function].name;
            CAPTURE(name);
            CAPTURE(h.x);
            CAPTURE(h.y);
            double out;
            std::vector<atoll_operand> operands = {operand_at(&out, &stride, ATOLL_DTYPE_FLOAT64),
                                                   operand_at(&h.x, &stride, ATOLL_DTYPE_FLOAT64)};
            if (h.function == ATOLL_FN_pow)
                operands.push_back(operand_at(&h.y, &stride, ATOLL_DTYPE_FLOAT64));
            REQUIRE(run(h.function, ATOLL_DTYPE_FLOAT64, {1}, operands) == ATOLL_STATUS_OK);
            CHECK(std::abs(place(out) - place(static_cast<double>(h.truth))) <= 1);
        }
    });
}

// Where products of small numbers lose digits, too.
TEST_CASE_TEMPLATE("square roots are rounded correctly at every exponent", T, float, double) {
    constexpr int dtype = sizeof(T) == 4 ? ATOLL_DTYPE_FLOAT32 : ATOLL_DTYPE_FLOAT64;
    using Limits = std::numeric_limits<T>;
    std::mt19937_64 random(5);
    std::vector<T> x, out;
    for (int exponent = Limits::min_exponent - Limits::digits; exponent < Limits::max_exponent;
         ++exponent)
        for (int k = 0; k < 64; ++k)
            x.push_back(std::ldexp(
                1 + static_cast<T>(static_cast<double>(random() >> 12) * 0x1p-52), exponent));
    out.resize(x.size());
    const std::int64_t stride = sizeof(T);
    at_each_level([&] {
        REQUIRE(run(ATOLL_FN_sqrt, dtype, {static_cast<std::int64_t>(x.size())},
                    {operand_at(out.data(), &stride, dtype),
                     operand_at(x.data(), &stride, dtype)}) == ATOLL_STATUS_OK);
        std::int64_t wrong = 0;
        for (std::size_t k = 0; k < x.size(); ++k) wrong += out[k] != std::sqrt(x[k]);
        CHECK(wrong == 0);
    });
}

// Powers of a row by one number that take no logarithm: a product that is rounded twice is off by
// up to one and a half last places.
TEST_CASE_TEMPLATE("powers by some numbers are nearly rounded once", T, float, double) {
    constexpr int dtype = sizeof(T) == 4 ? ATOLL_DTYPE_FLOAT32 : ATOLL_DTYPE_FLOAT64;
    constexpr int count = 1000;
    const std::int64_t stride = sizeof(T), same = 0;
    std::mt19937_64 random(3);
    std::vector<T> x(count), out(count);
    // Of both signs; at the end those whose cubes are about as large as numbers can be.
    for (std::size_t k = 0; k < x.size(); ++k) {
        const T fraction =
            std::ldexp(static_cast<T>(random() >> (64 - std::numeric_limits<T>::digits)),
                       -std::numeric_limits<T>::digits);
        const int exponent = k < count / 2 ? static_cast<int>(random() % 33) - 16
                                           : std::numeric_limits<T>::max_exponent / 3 +
                                                 static_cast<int>(random() % 40);
        x[k] = std::ldexp(k % 2 ? fraction : -fraction, exponent);
    }
    std::vector<double> powers = {3, -1, 0.5};
    if (sizeof(T) == 4) powers.push_back(-2);
    at_each_level([&] {
        for (const double power : powers) {
            CAPTURE(power);
            T exponent = static_cast<T>(power);
            REQUIRE(
                run(ATOLL_FN_pow, dtype, {count},
                    {operand_at(out.data(), &stride, dtype), operand_at(x.data(), &stride, dtype),
                     operand_at(&exponent, &same, dtype)}) == ATOLL_STATUS_OK);
            long double worst = 0; // in last places
            int wrong = 0;         // beyond the numbers
            for (std::size_t k = 0; k < x.size(); ++k) {
                const long double truth = std::pow(static_cast<long double>(x[k]), power);
                const T rounded = static_cast<T>(truth),
                        next = std::nextafter(rounded, T(INFINITY));
                if (std::isfinite(rounded))
                    worst = std::max(worst, std::fabs(out[k] - truth) / (next - rounded));
                else
                    wrong += !(out[k] == rounded || (std::isnan(out[k]) && std::isnan(rounded)));
            }
            CHECK(worst < 0.75L);
            CHECK(wrong == 0);
        }
    });
}

// Where gamma rounds to zero its sign is that of an integer's parity, up to where doubles are
// integers; those are poles.
TEST_CASE("the gamma function of doubles vanishes with the right sign") {
    const std::int64_t stride = 8;
    at_each_level([&] {
        for (const double size : {200.5, 201.5, 0x1p40 + 0.5, 0x1p51 + 0.5, 0x1p51 + 1.5, 0x1p52}) {
            CAPTURE(size);
            double x = -size, out;
            REQUIRE(run(ATOLL_FN_tgamma, ATOLL_DTYPE_FLOAT64, {1},
                        {operand_at(&out, &stride, ATOLL_DTYPE_FLOAT64),
                         operand_at(&x, &stride, ATOLL_DTYPE_FLOAT64)}) == ATOLL_STATUS_OK);
            if (size == std::floor(size)) {
                CHECK(std::isnan(out));
            } else {
                CHECK(out == 0);
                CHECK(std::signbit(out) == (std::fmod(std::floor(size), 2) == 0));
            }
        }
    });
}

// Steps on the way to a power must not overflow before it does.
TEST_CASE("complex powers near the end of the range are finite") {
    using Complex = std::complex<double>;
    const std::int64_t same = 0, stride = sizeof(Complex);
    at_each_level([&] {
        for (const double exponent : {300.1, 300.2, 301.5, 303.0, 304.0, 304.1, 307.5}) {
            CAPTURE(exponent);
            Complex base = 10, power(exponent, 1), out[16];
            REQUIRE(run(ATOLL_FN_pow, ATOLL_DTYPE_COMPLEX128, {16},
                        {operand_at(out, &stride, ATOLL_DTYPE_COMPLEX128),
                         operand_at(&base, &same, ATOLL_DTYPE_COMPLEX128),
                         operand_at(&power, &same, ATOLL_DTYPE_COMPLEX128)}) == ATOLL_STATUS_OK);
            const double size = std::pow(10.0, exponent), angle = std::log(10.0);
            for (const Complex z : out) {
                CHECK(std::fabs(z.real() / size - std::cos(angle)) < 1e-12);
                CHECK(std::fabs(z.imag() / size - std::sin(angle)) < 1e-12);
            }
        }
    });
}
