// Running totals, sorting and searching of the plugin `dummy`.
#include "device.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include <doctest/doctest.h>

using namespace FakeHost;

namespace {

using Positions = std::vector<std::int64_t>;

// sort or argsort of one vector.
template <class R, class T> std::vector<R> sorted(Dummy &dummy, std::uint16_t function,
                                                  std::uint16_t dtype, std::uint16_t result,
                                                  const std::vector<T> &values, bool descending) {
    char *in = dummy.upload(values), *out = dummy.allocate(values.size() * sizeof(R));
    dummy.compute(function, dtype, {static_cast<std::int64_t>(values.size())},
                  {{out, {sizeof(R)}, result}, {in, {sizeof(T)}, dtype}},
                  {.attributes = {flag(descending)}});
    return dummy.download<R>(out, values.size());
}

Positions searched(Dummy &dummy, const std::vector<double> &values,
                   const std::vector<double> &haystack, bool right) {
    char *v = dummy.upload(values), *s = dummy.upload(haystack),
         *out = dummy.allocate(8 * values.size());
    dummy.compute(
        ATOLL_FN_searchsorted, ATOLL_DTYPE_FLOAT64,
        {static_cast<std::int64_t>(haystack.size()), static_cast<std::int64_t>(values.size())},
        {{out, {0, 8}, ATOLL_DTYPE_INT64},
         {v, {0, 8}, ATOLL_DTYPE_FLOAT64},
         {s, {8, 0}, ATOLL_DTYPE_FLOAT64}},
        {.attributes = {flag(right)}});
    return dummy.download<std::int64_t>(out, values.size());
}

} // namespace

TEST_CASE("running sums and products along the first axis, in place too") {
    Dummy dummy;
    // A column-major 2 x 3 matrix, summed along its second axis.
    const std::vector<std::int64_t> values{1, 10, 2, 20, 3, INT64_MAX};
    char *x = dummy.upload(values), *out = dummy.allocate(48);
    const View in{x, {16, 8}, ATOLL_DTYPE_INT64};
    dummy.compute(ATOLL_FN_cumsum, ATOLL_DTYPE_INT64, {3, 2},
                  {{out, {16, 8}, ATOLL_DTYPE_INT64}, in});
    CHECK(dummy.download<std::int64_t>(out, 6) ==
          std::vector<std::int64_t>{1, 10, 3, 30, 6, INT64_MIN + 29});
    dummy.compute(ATOLL_FN_cumprod, ATOLL_DTYPE_INT64, {3, 2}, {in, in});
    CHECK(dummy.download<std::int64_t>(x, 6) == std::vector<std::int64_t>{1, 10, 2, 200, 6, -200});
}

TEST_CASE("running sums and products begin with the element itself") {
    Dummy dummy;
    const auto sums = dummy.elementwise<double>(ATOLL_FN_cumsum, ATOLL_DTYPE_FLOAT64,
                                                ATOLL_DTYPE_FLOAT64, std::vector{-0.0, -0.0});
    CHECK(std::signbit(sums[0]));
    CHECK(std::signbit(sums[1]));
    const auto products =
        dummy.elementwise<Complex128>(ATOLL_FN_cumprod, ATOLL_DTYPE_COMPLEX128,
                                      ATOLL_DTYPE_COMPLEX128, std::vector{Complex128(inf, 0)});
    CHECK(products[0] == Complex128(inf, 0));
}

TEST_CASE("running sums carry more digits than they show") {
    Dummy dummy;
    const std::size_t count = 4096;
    const std::vector<float> tenths(count, 0.1F);
    const auto sums =
        dummy.elementwise<float>(ATOLL_FN_cumsum, ATOLL_DTYPE_FLOAT32, ATOLL_DTYPE_FLOAT32, tenths);
    double exact = 0;
    int wrong = 0;
    for (const float sum : sums) wrong += sum != static_cast<float>(exact += tenths[0]);
    CHECK(wrong == 0);
    // Beyond 2048 float16 cannot count by ones.
    const std::vector<std::uint16_t> ones(count, atoll_float_to_half(1));
    const auto counts = dummy.elementwise<std::uint16_t>(ATOLL_FN_cumsum, ATOLL_DTYPE_FLOAT16,
                                                         ATOLL_DTYPE_FLOAT16, ones);
    CHECK(atoll_half_to_float(counts.back()) == 4096);
}

TEST_CASE("sorting is stable, NaN is last both ways") {
    Dummy dummy;
    const std::vector<double> values{3, quiet_nan, -0.0, 0.0, -1, 3, quiet_nan, inf};
    CHECK(sorted<std::int64_t>(dummy, ATOLL_FN_argsort, ATOLL_DTYPE_FLOAT64, ATOLL_DTYPE_INT64,
                               values, false) == Positions{4, 2, 3, 0, 5, 7, 1, 6});
    CHECK(sorted<std::int64_t>(dummy, ATOLL_FN_argsort, ATOLL_DTYPE_FLOAT64, ATOLL_DTYPE_INT64,
                               values, true) == Positions{7, 0, 5, 2, 3, 4, 1, 6});
    const auto ascending = sorted<double>(dummy, ATOLL_FN_sort, ATOLL_DTYPE_FLOAT64,
                                          ATOLL_DTYPE_FLOAT64, values, false);
    CHECK(std::vector<double>(ascending.begin(), ascending.begin() + 6) ==
          std::vector<double>{-1, -0.0, 0.0, 3, 3, inf});
    CHECK(std::signbit(ascending[1]));
    CHECK_FALSE(std::signbit(ascending[2]));
    CHECK(std::isnan(ascending[7]));
    const std::vector<Complex128> complex{{1, 2}, {1, -2}, {0, 9}, {2, quiet_nan}, {quiet_nan, 0}};
    CHECK(sorted<std::int64_t>(dummy, ATOLL_FN_argsort, ATOLL_DTYPE_COMPLEX128, ATOLL_DTYPE_INT64,
                               complex, false) == Positions{2, 1, 0, 3, 4});
    CHECK(sorted<std::int64_t>(dummy, ATOLL_FN_argsort, ATOLL_DTYPE_COMPLEX128, ATOLL_DTYPE_INT64,
                               complex, true) == Positions{0, 1, 2, 3, 4});
    CHECK(sorted<std::uint8_t>(dummy, ATOLL_FN_sort, ATOLL_DTYPE_BOOL, ATOLL_DTYPE_BOOL,
                               std::vector<std::uint8_t>{1, 0, 1, 0},
                               false) == std::vector<std::uint8_t>{0, 0, 1, 1});
    const std::vector<std::uint64_t> large{UINT64_MAX, 1, UINT64_MAX - 1};
    CHECK(sorted<std::int64_t>(dummy, ATOLL_FN_argsort, ATOLL_DTYPE_UINT64, ATOLL_DTYPE_INT64,
                               large, false) == Positions{1, 2, 0});
}

TEST_CASE("lines are sorted one by one, with strides, in place") {
    Dummy dummy;
    std::mt19937 random(7);
    std::vector<std::int32_t> matrix(4 * 9);
    for (std::int32_t &value : matrix) value = static_cast<std::int32_t>(random() % 20);
    char *x = dummy.upload(matrix);
    const View view{x, {16, 4}, ATOLL_DTYPE_INT32}; // 4 x 9, sorted along the second axis
    dummy.compute(ATOLL_FN_sort, ATOLL_DTYPE_INT32, {9, 4}, {view, view},
                  {.attributes = {flag(false)}});
    const auto got = dummy.download<std::int32_t>(x, matrix.size());
    for (std::size_t row = 0; row < 4; ++row) {
        std::vector<std::int32_t> expected, line;
        for (std::size_t i = row; i < matrix.size(); i += 4)
            expected.push_back(matrix[i]), line.push_back(got[i]);
        std::sort(expected.begin(), expected.end());
        CHECK(line == expected);
    }
}

TEST_CASE("searching finds the first or the last place") {
    Dummy dummy;
    const std::vector<double> haystack{-1, 0, 0, 2, quiet_nan, quiet_nan};
    const std::vector<double> values{-2, -1, -0.0, 1, 2, inf, quiet_nan};
    CHECK(searched(dummy, values, haystack, false) == Positions{0, 0, 1, 3, 3, 4, 4});
    CHECK(searched(dummy, values, haystack, true) == Positions{0, 1, 3, 3, 4, 4, 6});
    // A sorted vector for each value: the columns of a matrix.
    char *columns = dummy.upload(std::vector<std::int32_t>{1, 2, 3, 2, 3, 3});
    char *v = dummy.upload(std::vector<std::int32_t>{2, 3}), *out = dummy.allocate(16);
    dummy.compute(ATOLL_FN_searchsorted, ATOLL_DTYPE_INT32, {3, 2},
                  {{out, {0, 8}, ATOLL_DTYPE_INT64},
                   {v, {0, 4}, ATOLL_DTYPE_INT32},
                   {columns, {4, 12}, ATOLL_DTYPE_INT32}},
                  {.attributes = {flag(true)}});
    CHECK(dummy.download<std::int64_t>(out, 2) == Positions{2, 3});
}
