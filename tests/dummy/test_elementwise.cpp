// Element-wise kernels of the plugin `dummy` against brute force and the values that are easily
// wrong.
#include "device.hpp"

#include <cmath>
#include <functional>

#include <doctest/doctest.h>

using namespace FakeHost;

namespace {

constexpr std::uint16_t byte_functions[] = {
    ATOLL_FN_floor_divide, ATOLL_FN_remainder,  ATOLL_FN_trunc_divide, ATOLL_FN_fmod,
    ATOLL_FN_pow,          ATOLL_FN_left_shift, ATOLL_FN_right_shift,  ATOLL_FN_bitwise_and,
    ATOLL_FN_bitwise_or,   ATOLL_FN_bitwise_xor};

// By the definitions, in int; the caller wraps.
int by_definition(std::uint16_t function, int a, int b) {
    const int quotient = b == 0 ? 0 : static_cast<int>(std::floor(static_cast<double>(a) / b));
    switch (function) {
    case ATOLL_FN_floor_divide: return quotient;
    case ATOLL_FN_remainder: return b == 0 ? 0 : a - b * quotient;
    case ATOLL_FN_trunc_divide: return b == 0 ? 0 : a / b;
    case ATOLL_FN_fmod: return b == 0 ? 0 : a % b;
    case ATOLL_FN_pow: {
        int power = b < 0 ? 0 : 1;
        for (int i = 0; i < b; ++i) power = power * a & 0xff;
        return power;
    }
    case ATOLL_FN_left_shift: return b < 0 || b >= 8 ? 0 : a * (1 << b);
    case ATOLL_FN_right_shift:
        return static_cast<int>(std::floor(a / std::ldexp(1.0, b < 0 || b >= 8 ? 8 : b)));
    case ATOLL_FN_bitwise_and: return a & b;
    case ATOLL_FN_bitwise_or: return a | b;
    default: return a ^ b;
    }
}

template <class T>
int count_wrong_bytes(Dummy &dummy, std::uint16_t function, std::uint16_t dtype) {
    std::vector<T> a, b;
    for (int i = 0; i < 65536; ++i)
        a.push_back(static_cast<T>(i)), b.push_back(static_cast<T>(i >> 8));
    const auto got = dummy.elementwise<T>(function, dtype, dtype, a, &b);
    int wrong = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
        wrong += got[i] != static_cast<T>(by_definition(function, a[i], b[i]));
    return wrong;
}

using Bools = std::vector<std::uint8_t>;
using Doubles = std::vector<double>;

// Also tells zeros and NaN apart by their bits.
std::vector<std::uint64_t> bits(const Doubles &values) {
    std::vector<std::uint64_t> result;
    for (const double value : values) {
        std::uint64_t word;
        std::memcpy(&word, &value, sizeof word);
        result.push_back(std::isnan(value) ? 1 : word);
    }
    return result;
}

} // namespace

TEST_CASE("integer division, powers, shifts and bits of all pairs of bytes") {
    Dummy dummy;
    for (const std::uint16_t function : byte_functions) {
        CAPTURE(function);
        CHECK(count_wrong_bytes<std::int8_t>(dummy, function, ATOLL_DTYPE_INT8) == 0);
        CHECK(count_wrong_bytes<std::uint8_t>(dummy, function, ATOLL_DTYPE_UINT8) == 0);
    }
}

TEST_CASE("wide integers wrap where they must") {
    Dummy dummy;
    const std::vector<std::int64_t> low{INT64_MIN, INT64_MIN, 3, -1}, by{-1, 0, 40, 64};
    const auto apply = [&](std::uint16_t function) {
        return dummy.elementwise<std::int64_t>(function, ATOLL_DTYPE_INT64, ATOLL_DTYPE_INT64, low,
                                               &by);
    };
    using Integers = std::vector<std::int64_t>;
    CHECK(apply(ATOLL_FN_floor_divide) == Integers{INT64_MIN, 0, 0, -1});
    CHECK(apply(ATOLL_FN_trunc_divide) == Integers{INT64_MIN, 0, 0, 0});
    CHECK(apply(ATOLL_FN_remainder) == Integers{0, 0, 3, 63});
    CHECK(apply(ATOLL_FN_fmod) == Integers{0, 0, 3, -1});
    CHECK(apply(ATOLL_FN_pow) == Integers{0, 1, -6289078614652622815, 1});
    CHECK(apply(ATOLL_FN_right_shift) == Integers{-1, INT64_MIN, 0, -1});
    CHECK(apply(ATOLL_FN_left_shift) == Integers{0, INT64_MIN, INT64_C(3) << 40, 0});
    CHECK(dummy.elementwise<std::int64_t>(ATOLL_FN_sign, ATOLL_DTYPE_INT64, ATOLL_DTYPE_INT64,
                                          low) == Integers{-1, -1, 1, -1});
    CHECK(dummy.elementwise<std::int64_t>(ATOLL_FN_bitwise_not, ATOLL_DTYPE_INT64,
                                          ATOLL_DTYPE_INT64,
                                          low) == Integers{INT64_MAX, INT64_MAX, -4, 0});
    CHECK(dummy.elementwise<std::int64_t>(ATOLL_FN_floor, ATOLL_DTYPE_INT64, ATOLL_DTYPE_INT64,
                                          low) == low);
    CHECK(dummy.elementwise<std::uint8_t>(ATOLL_FN_bitwise_not, ATOLL_DTYPE_BOOL, ATOLL_DTYPE_BOOL,
                                          Bools{0, 1}) == Bools{1, 0});
}

TEST_CASE("float division that rounds down agrees with its rest") {
    Dummy dummy;
    const Doubles a{7.5, -7.5, 7.5, -7.5, 6, -6, 1, -1, 1, 1, -1, inf, 0, 1, 0.3},
        b{2, 2, -2, -2, 3, 3, inf, inf, -inf, 0, 0, 1, -2, quiet_nan, 0.1};
    const auto apply = [&](std::uint16_t function) {
        return bits(
            dummy.elementwise<double>(function, ATOLL_DTYPE_FLOAT64, ATOLL_DTYPE_FLOAT64, a, &b));
    };
    // As NumPy.
    CHECK(apply(ATOLL_FN_floor_divide) ==
          bits({3, -4, -4, 3, 2, -2, 0, -1, -1, inf, -inf, quiet_nan, -0.0, quiet_nan, 2}));
    CHECK(apply(ATOLL_FN_remainder) ==
          bits({1.5, 0.5, -0.5, -1.5, 0, 0, 1, inf, -inf, quiet_nan, quiet_nan, quiet_nan, -0.0,
                quiet_nan, std::fmod(0.3, 0.1)}));
    CHECK(apply(ATOLL_FN_fmod) == bits({1.5, -1.5, 1.5, -1.5, 0, -0.0, 1, -1, 1, quiet_nan,
                                        quiet_nan, quiet_nan, 0, quiet_nan, std::fmod(0.3, 0.1)}));
    CHECK(apply(ATOLL_FN_trunc_divide) == bits({3, -3, -3, 3, 2, -2, 0, -0.0, -0.0, inf, -inf, inf,
                                                -0.0, quiet_nan, std::trunc(0.3 / 0.1)}));
}

TEST_CASE("the smaller and the larger: NaN wins, or is passed over") {
    Dummy dummy;
    const Doubles a{1, 2, quiet_nan, 1, quiet_nan}, b{2, 1, 1, quiet_nan, quiet_nan};
    const auto apply = [&](std::uint16_t function) {
        return bits(
            dummy.elementwise<double>(function, ATOLL_DTYPE_FLOAT64, ATOLL_DTYPE_FLOAT64, a, &b));
    };
    CHECK(apply(ATOLL_FN_minimum) == bits({1, 1, quiet_nan, quiet_nan, quiet_nan}));
    CHECK(apply(ATOLL_FN_maximum) == bits({2, 2, quiet_nan, quiet_nan, quiet_nan}));
    CHECK(apply(ATOLL_FN_fmin) == bits({1, 1, 1, 1, quiet_nan}));
    CHECK(apply(ATOLL_FN_fmax) == bits({2, 2, 1, 1, quiet_nan}));
}

TEST_CASE("clip and where") {
    Dummy dummy;
    const Column value(ATOLL_DTYPE_FLOAT64, Doubles{-5, 0.5, 5, quiet_nan, 1});
    const Column low(ATOLL_DTYPE_FLOAT64, Doubles{0, 0, 0, 0, 3}),
        high(ATOLL_DTYPE_FLOAT64, Doubles(5, 1));
    CHECK(bits(dummy.mapped<double>(ATOLL_FN_clip, ATOLL_DTYPE_FLOAT64, ATOLL_DTYPE_FLOAT64,
                                    {value, low, high})) == bits({0, 0.5, 1, quiet_nan, 1}));
    const Column mask(ATOLL_DTYPE_BOOL, Bools{1, 0, 1, 0, 1});
    using Shorts = std::vector<std::int16_t>;
    CHECK(dummy.mapped<std::int16_t>(ATOLL_FN_where, ATOLL_DTYPE_INT16, ATOLL_DTYPE_INT16,
                                     {mask, Column(ATOLL_DTYPE_INT16, Shorts{1, 2, 3, 4, 5}),
                                      Column(ATOLL_DTYPE_INT16, Shorts{6, 7, 8, 9, 10})}) ==
          Shorts{1, 7, 3, 9, 5});
}

TEST_CASE("signs, rounding and classes") {
    Dummy dummy;
    const Doubles a{-2.5, -1.5, -0.5, -0.0, 0.5, 1.5, 2.5, inf, -inf, quiet_nan};
    const auto apply = [&](std::uint16_t function) {
        return bits(
            dummy.elementwise<double>(function, ATOLL_DTYPE_FLOAT64, ATOLL_DTYPE_FLOAT64, a));
    };
    CHECK(apply(ATOLL_FN_sign) == bits({-1, -1, -1, 0, 1, 1, 1, 1, -1, quiet_nan}));
    CHECK(apply(ATOLL_FN_round) == bits({-2, -2, -0.0, -0.0, 0, 2, 2, inf, -inf, quiet_nan}));
    CHECK(apply(ATOLL_FN_ceil) == bits({-2, -1, -0.0, -0.0, 1, 2, 3, inf, -inf, quiet_nan}));
    CHECK(apply(ATOLL_FN_floor) == bits({-3, -2, -1, -0.0, 0, 1, 2, inf, -inf, quiet_nan}));
    CHECK(apply(ATOLL_FN_trunc) == bits({-2, -1, -0.0, -0.0, 0, 1, 2, inf, -inf, quiet_nan}));
    const auto classify = [&](std::uint16_t function) {
        return dummy.elementwise<std::uint8_t>(function, ATOLL_DTYPE_FLOAT64, ATOLL_DTYPE_BOOL, a);
    };
    CHECK(classify(ATOLL_FN_isnan) == Bools{0, 0, 0, 0, 0, 0, 0, 0, 0, 1});
    CHECK(classify(ATOLL_FN_isinf) == Bools{0, 0, 0, 0, 0, 0, 0, 1, 1, 0});
    CHECK(classify(ATOLL_FN_isposinf) == Bools{0, 0, 0, 0, 0, 0, 0, 1, 0, 0});
    CHECK(classify(ATOLL_FN_isneginf) == Bools{0, 0, 0, 0, 0, 0, 0, 0, 1, 0});
    CHECK(classify(ATOLL_FN_isfinite) == Bools{1, 1, 1, 1, 1, 1, 1, 0, 0, 0});
    CHECK(classify(ATOLL_FN_logical_not) == Bools{0, 0, 0, 1, 0, 0, 0, 0, 0, 0});
    const std::vector<Complex128> z{{3e300, -4e300}, {0, -0.0},  {inf, -2},
                                    {2, -inf},       {inf, inf}, {quiet_nan, 1}};
    const auto signs = dummy.elementwise<Complex128>(ATOLL_FN_sign, ATOLL_DTYPE_COMPLEX128,
                                                     ATOLL_DTYPE_COMPLEX128, z);
    CHECK(signs[0] == Complex128(0.6, -0.8));
    CHECK(signs[1] == Complex128(0, 0));
    CHECK(bits({signs[2].real(), signs[2].imag()}) == bits({1, -0.0}));
    CHECK(bits({signs[3].real(), signs[3].imag()}) == bits({0, -1}));
    for (const std::size_t i : {std::size_t{4}, std::size_t{5}})
        CHECK((std::isnan(signs[i].real()) && std::isnan(signs[i].imag())));
    CHECK(dummy.elementwise<std::uint8_t>(ATOLL_FN_isinf, ATOLL_DTYPE_COMPLEX128, ATOLL_DTYPE_BOOL,
                                          z) == Bools{0, 0, 1, 1, 1, 0});
    CHECK(dummy.elementwise<std::uint8_t>(ATOLL_FN_isnan, ATOLL_DTYPE_COMPLEX128, ATOLL_DTYPE_BOOL,
                                          z) == Bools{0, 0, 0, 0, 0, 1});
    CHECK(dummy.elementwise<std::uint8_t>(ATOLL_FN_isfinite, ATOLL_DTYPE_COMPLEX128,
                                          ATOLL_DTYPE_BOOL, z) == Bools{1, 1, 0, 0, 0, 0});
}

TEST_CASE("logic: everything but zero is true, NaN too") {
    Dummy dummy;
    const Doubles a{0, 0, 1, 1, quiet_nan, -0.0}, b{0, 2, 0, 2, 0, quiet_nan};
    const auto apply = [&](std::uint16_t function) {
        return dummy.elementwise<std::uint8_t>(function, ATOLL_DTYPE_FLOAT64, ATOLL_DTYPE_BOOL, a,
                                               &b);
    };
    CHECK(apply(ATOLL_FN_logical_and) == Bools{0, 0, 0, 1, 0, 0});
    CHECK(apply(ATOLL_FN_logical_or) == Bools{0, 1, 1, 1, 1, 1});
    CHECK(apply(ATOLL_FN_logical_xor) == Bools{0, 1, 1, 0, 1, 1});
}

TEST_CASE("comparisons of mixed dtypes compare true values") {
    Dummy dummy;
    const auto compare = [&](std::uint16_t function, const Column &a, const Column &b) {
        return dummy.mapped<std::uint8_t>(function, ATOLL_DTYPE_FLOAT64, ATOLL_DTYPE_BOOL, {a, b});
    };
    // In float64 all these pairs were equal.
    const std::int64_t big = (INT64_C(1) << 53) + 1;
    const Column integers(ATOLL_DTYPE_INT64, std::vector<std::int64_t>{big, -big, INT64_MAX, -1}),
        floats(ATOLL_DTYPE_FLOAT64, Doubles{0x1p53, -0x1p53, 0x1p63, -1}),
        numbers(ATOLL_DTYPE_UINT64,
                std::vector<std::uint64_t>{static_cast<std::uint64_t>(big) + 1, UINT64_MAX,
                                           UINT64_C(1) << 63, UINT64_MAX});
    CHECK(compare(ATOLL_FN_equal, integers, floats) == Bools{0, 0, 0, 1});
    CHECK(compare(ATOLL_FN_not_equal, integers, floats) == Bools{1, 1, 1, 0});
    CHECK(compare(ATOLL_FN_less, integers, floats) == Bools{0, 1, 1, 0});
    CHECK(compare(ATOLL_FN_less_equal, integers, floats) == Bools{0, 1, 1, 1});
    CHECK(compare(ATOLL_FN_greater, integers, floats) == Bools{1, 0, 0, 0});
    CHECK(compare(ATOLL_FN_greater_equal, integers, floats) == Bools{1, 0, 0, 1});
    CHECK(compare(ATOLL_FN_less, integers, numbers) == Bools{1, 1, 1, 1});
    CHECK(compare(ATOLL_FN_equal, integers, numbers) == Bools{0, 0, 0, 0});
    CHECK(compare(ATOLL_FN_greater, numbers, floats) == Bools{1, 1, 0, 1});
    const Column complex(
        ATOLL_DTYPE_COMPLEX128,
        std::vector<Complex128>{{0x1p53, 0}, {-0x1p53 - 2, 0}, {0x1p63, 0}, {-1, 1}});
    CHECK(compare(ATOLL_FN_equal, integers, complex) == Bools{0, 0, 0, 0});
    CHECK(compare(ATOLL_FN_equal, floats, complex) == Bools{1, 0, 1, 0});
}
