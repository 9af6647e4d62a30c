// Reductions of the plugin `dummy`, each against its definition on a few elements.
#include "device.hpp"

#include <cmath>
#include <random>

#include <doctest/doctest.h>

using namespace FakeHost;

namespace {

using Doubles = std::vector<double>;
using Complexes = std::vector<Complex128>;

double reduced(Dummy &dummy, std::uint16_t function, const Doubles &values, double x = 0,
               bool skip_nan = false) {
    return dummy.reduced<double>(function, ATOLL_DTYPE_FLOAT64, ATOLL_DTYPE_FLOAT64, values, x,
                                 skip_nan);
}
double reduced(Dummy &dummy, std::uint16_t function, const Complexes &values, double x = 0,
               bool skip_nan = false) {
    return dummy.reduced<double>(function, ATOLL_DTYPE_COMPLEX128, ATOLL_DTYPE_FLOAT64, values, x,
                                 skip_nan);
}
std::int64_t counted(Dummy &dummy, std::uint16_t function, const Doubles &values,
                     bool skip_nan = false) {
    return dummy.reduced<std::int64_t>(function, ATOLL_DTYPE_FLOAT64, ATOLL_DTYPE_INT64, values, 0,
                                       skip_nan);
}
bool tested(Dummy &dummy, std::uint16_t function, const Doubles &values) {
    return dummy.reduced<std::uint8_t>(function, ATOLL_DTYPE_FLOAT64, ATOLL_DTYPE_BOOL, values);
}

} // namespace

TEST_CASE("means, variances") {
    Dummy dummy;
    std::mt19937 random(11);
    Doubles values(1000);
    long double sum = 0, squares = 0;
    for (double &value : values) sum += value = 1e6 + static_cast<double>(random() % 1000) / 7;
    const long double mean = sum / 1000;
    for (const double value : values) squares += (value - mean) * (value - mean);
    CHECK(reduced(dummy, ATOLL_FN_mean, values) ==
          doctest::Approx(static_cast<double>(mean)).epsilon(1e-15));
    for (const double correction : {0.0, 1.0, 1.5}) {
        const auto variance = static_cast<double>(squares / (1000 - correction));
        CHECK(reduced(dummy, ATOLL_FN_var, values, correction) ==
              doctest::Approx(variance).epsilon(1e-13));
        CHECK(reduced(dummy, ATOLL_FN_stddev, values, correction) ==
              doctest::Approx(std::sqrt(variance)).epsilon(1e-13));
    }
    CHECK(std::isnan(reduced(dummy, ATOLL_FN_var, Doubles{5}, 1)));
    CHECK(std::isnan(reduced(dummy, ATOLL_FN_var, Doubles{5, 7}, 2)));
    CHECK(std::isnan(reduced(dummy, ATOLL_FN_var, Doubles{5, 7}, 3)));
    CHECK(reduced(dummy, ATOLL_FN_var, Doubles{5}) == 0);
    CHECK(std::isnan(reduced(dummy, ATOLL_FN_var, Doubles{5, inf})));
    CHECK(reduced(dummy, ATOLL_FN_var, Complexes{{0, 2}, {0, -2}, {2, 0}, {-2, 0}}) == 4);
    // The sum of these exceeds float16, their mean does not.
    const std::vector<std::uint16_t> halves(8, atoll_float_to_half(60000));
    CHECK(dummy.reduced<std::uint16_t>(ATOLL_FN_mean, ATOLL_DTYPE_FLOAT16, ATOLL_DTYPE_FLOAT16,
                                       halves) == halves[0]);
    CHECK(dummy.reduced<Complex128>(ATOLL_FN_mean, ATOLL_DTYPE_COMPLEX128, ATOLL_DTYPE_COMPLEX128,
                                    Complexes{{1, 2}, {3, -8}}) == Complex128(2, -3));
}

TEST_CASE("norms") {
    Dummy dummy;
    const Doubles values{3, -4, 0, 0.5};
    CHECK(reduced(dummy, ATOLL_FN_norm, values, 0) == 3);
    CHECK(reduced(dummy, ATOLL_FN_norm, values, 1) == 7.5);
    CHECK(reduced(dummy, ATOLL_FN_norm, values, 2) == std::sqrt(25.25));
    CHECK(reduced(dummy, ATOLL_FN_norm, values, 3) ==
          doctest::Approx(std::cbrt(27 + 64 + 0.125)).epsilon(1e-15));
    CHECK(reduced(dummy, ATOLL_FN_norm, values, inf) == 4);
    CHECK(reduced(dummy, ATOLL_FN_norm, Doubles{1e200, 1e200}, 4) ==
          doctest::Approx(1e200 * std::pow(2, 0.25)).epsilon(1e-15));
    CHECK(reduced(dummy, ATOLL_FN_norm, Complexes{{3, 4}, {0, 12}}, 1) == 17);
    for (const double x : {1.0, 2.0, 2.5, inf}) {
        CHECK(std::isnan(reduced(dummy, ATOLL_FN_norm, Doubles{1, quiet_nan}, x)));
        CHECK(reduced(dummy, ATOLL_FN_norm, Doubles{quiet_nan, -2, quiet_nan}, x, true) == 2);
        CHECK(reduced(dummy, ATOLL_FN_norm, Complexes{{1, quiet_nan}, {0, 2}}, x, true) == 2);
        CHECK(reduced(dummy, ATOLL_FN_norm, Doubles{quiet_nan}, x, true) == 0);
    }
}

TEST_CASE("moduli") {
    Dummy dummy;
    const Complexes values{{3, 4}, {-1, 0}, {0, -7}};
    CHECK(reduced(dummy, ATOLL_FN_sum_abs, values) == 13);
    CHECK(reduced(dummy, ATOLL_FN_min_abs, values) == 1);
    CHECK(reduced(dummy, ATOLL_FN_max_abs, values) == 7);
    CHECK(std::isnan(reduced(dummy, ATOLL_FN_max_abs, Doubles{1, quiet_nan, 5})));
    CHECK(reduced(dummy, ATOLL_FN_sum_abs, Doubles{-1, quiet_nan, 5}, 0, true) == 6);
    const std::vector<std::int8_t> bytes{-128, 5, -3};
    CHECK(dummy.reduced<std::int8_t>(ATOLL_FN_max_abs, ATOLL_DTYPE_INT8, ATOLL_DTYPE_INT8, bytes) ==
          5);
    CHECK(dummy.reduced<std::int64_t>(ATOLL_FN_sum_abs, ATOLL_DTYPE_INT64, ATOLL_DTYPE_INT64,
                                      std::vector<std::int64_t>{-4, 5}) == 9);
}

TEST_CASE("NaN is passed over") {
    Dummy dummy;
    const Doubles some{quiet_nan, 3, 0, quiet_nan, -5}, none{quiet_nan, quiet_nan};
    CHECK(counted(dummy, ATOLL_FN_count_nonzero, some) == 4);
    CHECK(counted(dummy, ATOLL_FN_count_nonzero, some, true) == 2);
    CHECK(reduced(dummy, ATOLL_FN_sum, some, 0, true) == -2);
    CHECK(reduced(dummy, ATOLL_FN_prod, Doubles{3, quiet_nan, 4}, 0, true) == 12);
    CHECK(reduced(dummy, ATOLL_FN_min, some, 0, true) == -5);
    CHECK(reduced(dummy, ATOLL_FN_max, some, 0, true) == 3);
    CHECK(reduced(dummy, ATOLL_FN_mean, Doubles{quiet_nan, 1, 2}, 0, true) == 1.5);
    CHECK(reduced(dummy, ATOLL_FN_sum, none, 0, true) == 0);
    CHECK(reduced(dummy, ATOLL_FN_prod, none, 0, true) == 1);
    CHECK(std::isnan(reduced(dummy, ATOLL_FN_min, none, 0, true)));
    CHECK(std::isnan(reduced(dummy, ATOLL_FN_max, none, 0, true)));
    CHECK(std::isnan(reduced(dummy, ATOLL_FN_mean, none, 0, true)));
    CHECK(dummy.reduced<Complex128>(ATOLL_FN_sum, ATOLL_DTYPE_COMPLEX128, ATOLL_DTYPE_COMPLEX128,
                                    Complexes{{1, quiet_nan}, {2, 3}, {quiet_nan, 1}}, 0,
                                    true) == Complex128(2, 3));
}

TEST_CASE("tests of every element") {
    Dummy dummy;
    CHECK(tested(dummy, ATOLL_FN_all_finite, {1, -0.0}));
    CHECK_FALSE(tested(dummy, ATOLL_FN_all_finite, {1, -inf}));
    CHECK_FALSE(tested(dummy, ATOLL_FN_all_finite, {quiet_nan, 1}));
    CHECK(tested(dummy, ATOLL_FN_any_inf, {1, -inf}));
    CHECK_FALSE(tested(dummy, ATOLL_FN_any_inf, {1, quiet_nan}));
    CHECK(tested(dummy, ATOLL_FN_any_nan, {1, quiet_nan}));
    CHECK_FALSE(tested(dummy, ATOLL_FN_any_nan, {1, inf}));
}

TEST_CASE("positions: column-major, the first of equals, NaN wins") {
    Dummy dummy;
    CHECK(counted(dummy, ATOLL_FN_argmin, {3, 1, 2, 1}) == 1);
    CHECK(counted(dummy, ATOLL_FN_argmax, {3, 1, 3}) == 0);
    CHECK(counted(dummy, ATOLL_FN_argmax, {3, quiet_nan, 5, quiet_nan}) == 1);
    CHECK(counted(dummy, ATOLL_FN_argmin, {3, quiet_nan, -inf}) == 1);
    CHECK(dummy.reduced<std::int64_t>(ATOLL_FN_argmax, ATOLL_DTYPE_BOOL, ATOLL_DTYPE_INT64,
                                      std::vector<std::uint8_t>{0, 1, 1}) == 1);
    // Reduced axes 0 and 1 of 3 and 2, kept axis 2 of 2, row-major in memory.
    const std::vector<std::int32_t> cube{0, 0, 9, 1, 0, 0, 0, 8, 0, 0, 0, 0};
    char *in = dummy.upload(cube), *out = dummy.allocate(16);
    dummy.compute(ATOLL_FN_argmax, ATOLL_DTYPE_INT32, {3, 2, 2},
                  {{out, {0, 0, 8}, ATOLL_DTYPE_INT64}, {in, {8, 4, 24}, ATOLL_DTYPE_INT32}},
                  {.axes = {2}});
    CHECK(dummy.download<std::int64_t>(out, 2) == std::vector<std::int64_t>{1, 3});
}
