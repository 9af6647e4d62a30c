// The kernels of the plugin `dummy` alone: every function, and the values that are easily wrong.
#include "atoll/dtype_facts.hpp"
#include "device.hpp"

#include <cmath>
#include <random>

#include <doctest/doctest.h>

using namespace FakeHost;

TEST_CASE("integers wrap, bool is a lattice") {
    Dummy dummy;
    const std::vector<std::uint16_t> big{65535, 65535}, also{65535, 2};
    CHECK(dummy.elementwise<std::uint16_t>(ATOLL_FN_multiply, ATOLL_DTYPE_UINT16,
                                           ATOLL_DTYPE_UINT16, big,
                                           &also) == std::vector<std::uint16_t>{1, 65534});
    const std::vector<std::int32_t> low{INT32_MIN, -7};
    CHECK(dummy.elementwise<std::int32_t>(ATOLL_FN_abs, ATOLL_DTYPE_INT32, ATOLL_DTYPE_INT32,
                                          low) == std::vector<std::int32_t>{INT32_MIN, 7});
    CHECK(dummy.elementwise<std::int32_t>(ATOLL_FN_negative, ATOLL_DTYPE_INT32, ATOLL_DTYPE_INT32,
                                          low) == std::vector<std::int32_t>{INT32_MIN, 7});
    const std::vector<std::int64_t> wide{INT64_MIN, INT64_MAX}, ones{-1, 1};
    CHECK(dummy.elementwise<std::int64_t>(ATOLL_FN_add, ATOLL_DTYPE_INT64, ATOLL_DTYPE_INT64, wide,
                                          &ones) ==
          std::vector<std::int64_t>{INT64_MAX, INT64_MIN});
    const std::vector<std::uint8_t> p{0, 0, 1, 1}, q{0, 1, 0, 1};
    CHECK(dummy.elementwise<std::uint8_t>(ATOLL_FN_add, ATOLL_DTYPE_BOOL, ATOLL_DTYPE_BOOL, p,
                                          &q) == std::vector<std::uint8_t>{0, 1, 1, 1});
    CHECK(dummy.elementwise<std::uint8_t>(ATOLL_FN_multiply, ATOLL_DTYPE_BOOL, ATOLL_DTYPE_BOOL, p,
                                          &q) == std::vector<std::uint8_t>{0, 0, 0, 1});
}

TEST_CASE("halves are computed in float and rounded once") {
    Dummy dummy;
    std::mt19937 random(2);
    std::vector<std::uint16_t> a, b;
    for (int i = 0; i < 20000; ++i) a.push_back(random() & 0xffff), b.push_back(random() & 0xffff);
    const auto quotients = dummy.elementwise<std::uint16_t>(ATOLL_FN_divide, ATOLL_DTYPE_FLOAT16,
                                                            ATOLL_DTYPE_FLOAT16, a, &b);
    const auto products = dummy.elementwise<std::uint16_t>(ATOLL_FN_multiply, ATOLL_DTYPE_BFLOAT16,
                                                           ATOLL_DTYPE_BFLOAT16, a, &b);
    int wrong = 0;
    const auto compare = [&](float expected, std::uint16_t rounded, float got, std::uint16_t bits) {
        wrong += std::isnan(expected) ? !std::isnan(got) : rounded != bits;
    };
    for (std::size_t i = 0; i < a.size(); ++i) {
        const float quotient = atoll_half_to_float(a[i]) / atoll_half_to_float(b[i]);
        compare(quotient, atoll_float_to_half(quotient), atoll_half_to_float(quotients[i]),
                quotients[i]);
        const float product = atoll_bfloat_to_float(a[i]) * atoll_bfloat_to_float(b[i]);
        compare(product, atoll_float_to_bfloat(product), atoll_bfloat_to_float(products[i]),
                products[i]);
    }
    CHECK(wrong == 0);
}

TEST_CASE("complex quotients are right over the whole range of floats") {
    Dummy dummy;
    const double large = std::numeric_limits<double>::max(), tiny = 0x1p-1074;
    const std::vector<Complex128> a{{large, large},        {large, 0},   {3 * tiny, tiny},
                                    {0x1p1000, 0x1p1000},  {tiny, tiny}, {1, 1},
                                    {large / 4, large / 2}},
        b{{large, large}, {large, large},       {tiny, tiny},   {0x1p1000, -0x1p1000},
          {0x1p-1070, 0}, {0x1p1023, 0x1p1023}, {large, -large}};
    const std::vector<Complex128> wanted{{1, 0},           {0.5, -0.5},    {2, -1},        {0, 1},
                                         {0x1p-4, 0x1p-4}, {0x1p-1023, 0}, {-0.125, 0.375}};
    const auto quotients = dummy.elementwise<Complex128>(ATOLL_FN_divide, ATOLL_DTYPE_COMPLEX128,
                                                         ATOLL_DTYPE_COMPLEX128, a, &b);
    for (std::size_t k = 0; k < a.size(); ++k) {
        CAPTURE(k);
        CHECK(quotients[k] == wanted[k]);
    }
}

TEST_CASE("complex: division, moduli without overflow, C99 square roots") {
    Dummy dummy;
    const std::vector<Complex128> a{{1e300, 1e300}, {3, 4}, {-4, 0.0}, {-4, -0.0}},
        b{{2e300, 2e300}, {0, 2}, {1, 0}, {1, 0}};
    const auto quotients = dummy.elementwise<Complex128>(ATOLL_FN_divide, ATOLL_DTYPE_COMPLEX128,
                                                         ATOLL_DTYPE_COMPLEX128, a, &b);
    CHECK(quotients[0] == Complex128(0.5, 0));
    CHECK(quotients[1] == Complex128(2, -1.5));
    const auto moduli =
        dummy.elementwise<double>(ATOLL_FN_abs, ATOLL_DTYPE_COMPLEX128, ATOLL_DTYPE_FLOAT64, a);
    CHECK(moduli[0] == doctest::Approx(std::sqrt(2.0) * 1e300));
    CHECK(moduli[1] == 5);
    const auto roots = dummy.elementwise<Complex128>(ATOLL_FN_sqrt, ATOLL_DTYPE_COMPLEX128,
                                                     ATOLL_DTYPE_COMPLEX128, a);
    CHECK(roots[2] == Complex128(0, 2));
    CHECK(roots[3] == Complex128(0, -2));
    const std::vector<Complex128> huge{{inf, 1}}, one{{1, 1}};
    const auto product = dummy.elementwise<Complex128>(ATOLL_FN_multiply, ATOLL_DTYPE_COMPLEX128,
                                                       ATOLL_DTYPE_COMPLEX128, huge, &one)[0];
    CHECK(product.real() == inf);
    CHECK(product.imag() == inf);
}

TEST_CASE("comparisons with NaN are false but for not_equal") {
    Dummy dummy;
    const std::vector<float> a{static_cast<float>(quiet_nan), 1, 2}, b{1, 1, 1};
    const auto compare = [&](std::uint16_t function) {
        return dummy.elementwise<std::uint8_t>(function, ATOLL_DTYPE_FLOAT32, ATOLL_DTYPE_BOOL, a,
                                               &b);
    };
    using Bools = std::vector<std::uint8_t>;
    CHECK(compare(ATOLL_FN_equal) == Bools{0, 1, 0});
    CHECK(compare(ATOLL_FN_not_equal) == Bools{1, 0, 1});
    CHECK(compare(ATOLL_FN_less) == Bools{0, 0, 0});
    CHECK(compare(ATOLL_FN_less_equal) == Bools{0, 1, 0});
    CHECK(compare(ATOLL_FN_greater) == Bools{0, 0, 1});
    CHECK(compare(ATOLL_FN_greater_equal) == Bools{0, 1, 1});
}

TEST_CASE("reductions") {
    Dummy dummy;
    const std::vector<float> tenths(100000, 0.1F);
    CHECK(dummy.reduced<float>(ATOLL_FN_sum, ATOLL_DTYPE_FLOAT32, ATOLL_DTYPE_FLOAT32, tenths) ==
          doctest::Approx(100000 * static_cast<double>(0.1F)).epsilon(1e-6));
    CHECK(dummy.reduced<std::int64_t>(ATOLL_FN_prod, ATOLL_DTYPE_INT64, ATOLL_DTYPE_INT64,
                                      std::vector<std::int64_t>{INT64_MAX, 2, 3}) == -6);
    const std::vector<double> with_nan{3, quiet_nan, 1}, plain{3, -2, 7, 1};
    CHECK(std::isnan(
        dummy.reduced<double>(ATOLL_FN_min, ATOLL_DTYPE_FLOAT64, ATOLL_DTYPE_FLOAT64, with_nan)));
    CHECK(std::isnan(
        dummy.reduced<double>(ATOLL_FN_max, ATOLL_DTYPE_FLOAT64, ATOLL_DTYPE_FLOAT64, with_nan)));
    CHECK(dummy.reduced<double>(ATOLL_FN_min, ATOLL_DTYPE_FLOAT64, ATOLL_DTYPE_FLOAT64, plain) ==
          -2);
    CHECK(dummy.reduced<double>(ATOLL_FN_max, ATOLL_DTYPE_FLOAT64, ATOLL_DTYPE_FLOAT64, plain) ==
          7);
    CHECK(dummy.reduced<double>(ATOLL_FN_norm, ATOLL_DTYPE_FLOAT64, ATOLL_DTYPE_FLOAT64,
                                std::vector<double>{3e200, 4e200}, 2) == doctest::Approx(5e200));
    CHECK(dummy.reduced<double>(ATOLL_FN_norm, ATOLL_DTYPE_COMPLEX128, ATOLL_DTYPE_FLOAT64,
                                std::vector<Complex128>{{3e-200, 0}, {0, 4e-200}},
                                2) == doctest::Approx(5e-200));
    CHECK(dummy.reduced<std::uint8_t>(ATOLL_FN_any, ATOLL_DTYPE_FLOAT64, ATOLL_DTYPE_BOOL,
                                      std::vector<double>{0, -0.0, quiet_nan}) == 1);
    CHECK(dummy.reduced<std::uint8_t>(ATOLL_FN_any, ATOLL_DTYPE_FLOAT64, ATOLL_DTYPE_BOOL,
                                      std::vector<double>{0, -0.0}) == 0);
    CHECK(dummy.reduced<std::uint8_t>(ATOLL_FN_all, ATOLL_DTYPE_FLOAT64, ATOLL_DTYPE_BOOL,
                                      std::vector<double>{1, quiet_nan}) == 1);
    CHECK(dummy.reduced<std::uint8_t>(ATOLL_FN_all, ATOLL_DTYPE_FLOAT64, ATOLL_DTYPE_BOOL,
                                      std::vector<double>{1, 0}) == 0);
    // Sixteen thousand ones exceed what float16 can count by ones, but not what float32 can.
    const std::vector<std::uint16_t> ones(16384, atoll_float_to_half(1));
    CHECK(atoll_half_to_float(dummy.reduced<std::uint16_t>(ATOLL_FN_sum, ATOLL_DTYPE_FLOAT16,
                                                           ATOLL_DTYPE_FLOAT16, ones)) == 16384);

    // Reduced and kept axes with strides: rows of a column-major 3x4 matrix, backwards.
    std::vector<std::int64_t> matrix(12);
    for (std::size_t i = 0; i < 12; ++i) matrix[i] = static_cast<std::int64_t>(i * i);
    char *in = dummy.upload(matrix), *out = dummy.allocate(24);
    dummy.compute(ATOLL_FN_sum, ATOLL_DTYPE_INT64, {4, 3},
                  {{out, {0, 8}, ATOLL_DTYPE_INT64}, {in + 11 * 8, {-24, -8}, ATOLL_DTYPE_INT64}},
                  {.attributes = {scalar(ATOLL_DTYPE_BOOL, std::uint8_t{0})}});
    CHECK(dummy.download<std::int64_t>(out, 3) ==
          std::vector<std::int64_t>{4 + 25 + 64 + 121, 1 + 16 + 49 + 100, 0 + 9 + 36 + 81});
}

namespace {

template <class T> std::vector<T> small_numbers(std::mt19937 &random, int count) {
    std::vector<T> values(static_cast<std::size_t>(count));
    for (T &value : values) {
        const int real = static_cast<int>(random() % 9) - 4, imag = static_cast<int>(random() % 9);
        if constexpr (std::is_same_v<T, Complex64>)
            value = {static_cast<float>(real), static_cast<float>(imag - 4)};
        else
            value = static_cast<T>(real);
    }
    return values;
}

template <class T> std::vector<atoll_scalar> factors(std::uint16_t dtype, T alpha, T beta,
                                                     bool conj_a = false, bool conj_b = false) {
    return {scalar(dtype, alpha), scalar(dtype, beta), flag(conj_a), flag(conj_b)};
}

View absent(std::uint16_t dtype) { return {nullptr, {}, dtype, ATOLL_OPERAND_ABSENT}; }

} // namespace

TEST_CASE("matmul: strides, loops, conjugation, alpha, beta") {
    Dummy dummy;
    std::mt19937 random(3);
    const int m = 3, n = 4, k = 5, stack = 2;
    const auto a = small_numbers<Complex64>(random, m * k),
               b = small_numbers<Complex64>(random, k * n * stack),
               c = small_numbers<Complex64>(random, m * n * stack);
    const Complex64 alpha{2, 1}, beta{0, -1};
    char *da = dummy.upload(a), *db = dummy.upload(b), *dc = dummy.upload(c);
    // a is row-major and broadcast over the stack; b's k axis runs backwards; c is the output.
    const View out{dc, {8, 0, 8 * m, 8 * m * n}, ATOLL_DTYPE_COMPLEX64};
    dummy.compute(ATOLL_FN_matmul, ATOLL_DTYPE_COMPLEX64, {m, k, n, stack},
                  {out,
                   {da, {8 * k, 8, 0, 0}, ATOLL_DTYPE_COMPLEX64},
                   {db + 8 * (k - 1), {0, -8, 8 * k, 8 * k * n}, ATOLL_DTYPE_COMPLEX64},
                   out},
                  {.attributes = factors(ATOLL_DTYPE_COMPLEX64, alpha, beta, true)});
    const auto result = dummy.download<Complex64>(dc, c.size());
    for (int s = 0; s < stack; ++s)
        for (int j = 0; j < n; ++j)
            for (int i = 0; i < m; ++i) {
                const auto at = static_cast<std::size_t>(i + m * j + m * n * s);
                Complex64 expected = beta * c[at];
                for (int l = 0; l < k; ++l)
                    expected += alpha * std::conj(a[static_cast<std::size_t>(k * i + l)]) *
                                b[static_cast<std::size_t>(k - 1 - l + k * j + k * n * s)];
                CHECK(result[at] == expected); // small integers: exact
            }
}

TEST_CASE("matmul: c is absent, another matrix, the output, or not read") {
    Dummy dummy;
    const std::vector<float> a{1, 2}, b{3, 4}, other{100, 200, 300, 400},
        nan(4, static_cast<float>(quiet_nan));
    char *da = dummy.upload(a), *db = dummy.upload(b), *dother = dummy.upload(other);
    // d is the outer product of a and b, 2 x 2.
    const auto product = [&](float beta, const View *c) {
        const std::vector<float> before(nan);
        char *out = dummy.upload(c ? other : before);
        const View d{out, {4, 0, 8}, ATOLL_DTYPE_FLOAT32};
        dummy.compute(ATOLL_FN_matmul, ATOLL_DTYPE_FLOAT32, {2, 1, 2},
                      {d,
                       {da, {4, 0, 0}, ATOLL_DTYPE_FLOAT32},
                       {db, {0, 0, 4}, ATOLL_DTYPE_FLOAT32},
                       c && c->data ? *c
                       : c          ? d
                                    : absent(ATOLL_DTYPE_FLOAT32)},
                      {.attributes = factors(ATOLL_DTYPE_FLOAT32, 2.0F, beta)});
        return dummy.download<float>(out, 4);
    };
    CHECK(product(3, nullptr) == std::vector<float>{6, 12, 8, 16}); // beta counts as 0
    const View same{nullptr, {}, ATOLL_DTYPE_FLOAT32};
    CHECK(product(1, &same) == std::vector<float>{106, 212, 308, 416});
    const View rows{dother, {8, 0, 4}, ATOLL_DTYPE_FLOAT32}; // by rows
    CHECK(product(-1, &rows) == std::vector<float>{-94, -288, -192, -384});
    CHECK(dummy.download<float>(dother, 4) == other);
    const View unread{dummy.upload(nan), {4, 0, 8}, ATOLL_DTYPE_FLOAT32};
    CHECK(product(0, &unread) == std::vector<float>{6, 12, 8, 16});
}

TEST_CASE("matmul: several axes in each group") {
    Dummy dummy;
    std::mt19937 random(4);
    // m of 2 and 3, k of 2 and 2, n of 3 and 2, loop of 2
    const int m = 6, k = 4, n = 6, loop = 2;
    const auto a = small_numbers<std::int64_t>(random, m * k * loop),
               b = small_numbers<std::int64_t>(random, k * n),
               c = small_numbers<std::int64_t>(random, m * n * loop);
    char *da = dummy.upload(a), *db = dummy.upload(b), *dc = dummy.upload(c),
         *dd = dummy.allocate(8 * c.size());
    const auto operand = [](char *data, std::vector<std::int64_t> elements) {
        for (std::int64_t &stride : elements) stride *= 8;
        return View{data, std::move(elements), ATOLL_DTYPE_INT64};
    };
    // Of a the axes lie in memory as k, m, loop; of b by rows, each group backwards; of c as d.
    dummy.compute(
        ATOLL_FN_matmul, ATOLL_DTYPE_INT64, {2, 3, 2, 2, 3, 2, loop},
        {operand(dd, {1, 2, 0, 0, m, 3 * m, m * n}), operand(da, {k, 2 * k, 1, 2, 0, 0, k * m}),
         operand(db + 8 * (k * n - 1), {0, 0, -n, -2 * n, -1, -3, 0}),
         operand(dc, {1, 2, 0, 0, m, 3 * m, m * n})},
        {.attributes = factors(ATOLL_DTYPE_INT64, INT64_C(3), INT64_C(-2)), .axes = {2, 2, 2}});
    std::vector<std::int64_t> expected;
    for (int s = 0; s < loop; ++s)
        for (int j = 0; j < n; ++j)
            for (int i = 0; i < m; ++i) {
                std::int64_t total = 0;
                for (int l = 0; l < k; ++l)
                    total += a[static_cast<std::size_t>(l + k * (i + m * s))] *
                             b[static_cast<std::size_t>(k * n - 1 - n * l - j)];
                expected.push_back(3 * total -
                                   2 * c[static_cast<std::size_t>(i + m * (j + n * s))]);
            }
    CHECK(dummy.download<std::int64_t>(dd, c.size()) == expected);
}

TEST_CASE("copy converts values as the semantics say") {
    Dummy dummy;
    const auto convert = [&]<class R, class T>(std::uint16_t to, std::uint16_t from, R,
                                               const std::vector<T> &values) {
        char *in = dummy.upload(values), *out = dummy.allocate(values.size() * sizeof(R));
        dummy.compute(ATOLL_FN_copy, from, {static_cast<std::int64_t>(values.size())},
                      {{out, {sizeof(R)}, to}, {in, {sizeof(T)}, from}});
        return dummy.download<R>(out, values.size());
    };
    const std::vector<double> reals{1.9, -1.9, quiet_nan, inf, -inf, 300, -300, 1e30};
    CHECK(convert(ATOLL_DTYPE_INT8, ATOLL_DTYPE_FLOAT64, std::int8_t{}, reals) ==
          std::vector<std::int8_t>{1, -1, 0, 127, -128, 127, -128, 127});
    CHECK(convert(ATOLL_DTYPE_UINT64, ATOLL_DTYPE_FLOAT64, std::uint64_t{}, reals) ==
          std::vector<std::uint64_t>{1, 0, 0, UINT64_MAX, 0, 300, 0, UINT64_MAX});
    CHECK(convert(ATOLL_DTYPE_INT64, ATOLL_DTYPE_FLOAT64, std::int64_t{}, reals) ==
          std::vector<std::int64_t>{1, -1, 0, INT64_MAX, INT64_MIN, 300, -300, INT64_MAX});
    CHECK(convert(ATOLL_DTYPE_BOOL, ATOLL_DTYPE_FLOAT64, std::uint8_t{},
                  std::vector<double>{0, -0.0, quiet_nan, 0.1}) ==
          std::vector<std::uint8_t>{0, 0, 1, 1});
    CHECK(convert(ATOLL_DTYPE_INT8, ATOLL_DTYPE_INT32, std::int8_t{},
                  std::vector<std::int32_t>{300, -300, -1}) ==
          std::vector<std::int8_t>{44, -44, -1});
    CHECK(convert(ATOLL_DTYPE_UINT64, ATOLL_DTYPE_INT8, std::uint64_t{},
                  std::vector<std::int8_t>{-1, 5}) == std::vector<std::uint64_t>{UINT64_MAX, 5});
    CHECK(convert(ATOLL_DTYPE_INT64, ATOLL_DTYPE_UINT64, std::int64_t{},
                  std::vector<std::uint64_t>{UINT64_MAX}) == std::vector<std::int64_t>{-1});
    CHECK(convert(ATOLL_DTYPE_FLOAT64, ATOLL_DTYPE_COMPLEX64, double{},
                  std::vector<Complex64>{{2, 3}}) == std::vector<double>{2});
    CHECK(convert(ATOLL_DTYPE_COMPLEX128, ATOLL_DTYPE_INT16, Complex128{},
                  std::vector<std::int16_t>{-3}) == std::vector<Complex128>{{-3, 0}});
    CHECK(convert(ATOLL_DTYPE_BOOL, ATOLL_DTYPE_COMPLEX64, std::uint8_t{},
                  std::vector<Complex64>{{0, 3}, {0, 0}}) == std::vector<std::uint8_t>{1, 0});
    // 2^60 + 2^36 + 1 lies just above the midpoint of two floats; rounding to double first hides
    // it.
    CHECK(convert(ATOLL_DTYPE_FLOAT32, ATOLL_DTYPE_INT64, float{},
                  std::vector<std::int64_t>{(INT64_C(1) << 60) + (INT64_C(1) << 36) + 1}) ==
          std::vector<float>{std::ldexp(1.0F + std::ldexp(1.0F, -23), 60)});
}

TEST_CASE("float64 to float16 and bfloat16 rounds once, to nearest even") {
    Dummy dummy;
    // Around every midpoint of two neighbours: just below, the midpoint, just above.
    std::vector<double> values;
    std::vector<std::uint16_t> halves, brains;
    for (std::uint32_t bits = 0; bits < 0x7c00; bits += 7) {
        const double low = atoll_half_to_float(static_cast<std::uint16_t>(bits));
        const double high =
            bits + 1 == 0x7c00 ? 65536 : atoll_half_to_float(static_cast<std::uint16_t>(bits + 1));
        const double middle = (low + high) / 2;
        values.insert(values.end(),
                      {std::nextafter(middle, 0), middle, std::nextafter(middle, 1e6)});
        halves.insert(halves.end(), {static_cast<std::uint16_t>(bits),
                                     static_cast<std::uint16_t>(bits + (bits & 1)),
                                     static_cast<std::uint16_t>(bits + 1)});
    }
    const auto count = static_cast<std::int64_t>(values.size());
    char *in = dummy.upload(values), *out = dummy.allocate(2 * values.size());
    dummy.compute(ATOLL_FN_copy, ATOLL_DTYPE_FLOAT64, {count},
                  {{out, {2}, ATOLL_DTYPE_FLOAT16}, {in, {8}, ATOLL_DTYPE_FLOAT64}});
    CHECK(dummy.download<std::uint16_t>(out, values.size()) == halves);
    values.clear();
    for (std::uint32_t bits = 0; bits < 0x7f80; bits += 7) {
        const double low = atoll_bfloat_to_float(static_cast<std::uint16_t>(bits));
        const double high = bits + 1 == 0x7f80
                                ? std::ldexp(1.0, 128)
                                : atoll_bfloat_to_float(static_cast<std::uint16_t>(bits + 1));
        const double middle = (low + high) / 2;
        values.insert(values.end(),
                      {std::nextafter(middle, 0), middle, std::nextafter(middle, inf)});
        brains.insert(brains.end(), {static_cast<std::uint16_t>(bits),
                                     static_cast<std::uint16_t>(bits + (bits & 1)),
                                     static_cast<std::uint16_t>(bits + 1)});
    }
    char *more = dummy.upload(values), *wide = dummy.allocate(2 * values.size());
    dummy.compute(ATOLL_FN_copy, ATOLL_DTYPE_FLOAT64, {static_cast<std::int64_t>(values.size())},
                  {{wide, {2}, ATOLL_DTYPE_BFLOAT16}, {more, {8}, ATOLL_DTYPE_FLOAT64}});
    CHECK(dummy.download<std::uint16_t>(wide, values.size()) == brains);
}

TEST_CASE("copy takes swapped, unaligned and strided operands, in place too") {
    Dummy dummy;
    const std::vector<std::uint32_t> values{0x01020304, 0x05060708};
    char *x = dummy.upload(values);
    const View native{x, {4}, ATOLL_DTYPE_UINT32},
        swapped{x, {4}, ATOLL_DTYPE_UINT32, ATOLL_OPERAND_SWAPPED};
    dummy.compute(ATOLL_FN_copy, ATOLL_DTYPE_UINT32, {2}, {swapped, native});
    CHECK(dummy.download<std::uint32_t>(x, 2) ==
          std::vector<std::uint32_t>{0x04030201, 0x08070605});
    // Swapped complex: each part by itself. Read from an odd address, backwards, as complex128.
    std::vector<unsigned char> bytes(17);
    const float parts[] = {1, 2, 3, 4};
    for (std::size_t p = 0; p < 4; ++p) {
        unsigned char part[4];
        std::memcpy(part, &parts[p], 4);
        for (std::size_t i = 0; i < 4; ++i) bytes[1 + 4 * p + i] = part[3 - i];
    }
    char *odd = dummy.upload(bytes), *out = dummy.allocate(32);
    dummy.compute(ATOLL_FN_copy, ATOLL_DTYPE_COMPLEX64, {2},
                  {{out, {16}, ATOLL_DTYPE_COMPLEX128},
                   {odd + 9, {-8}, ATOLL_DTYPE_COMPLEX64, ATOLL_OPERAND_SWAPPED}});
    CHECK(dummy.download<Complex128>(out, 2) == std::vector<Complex128>{{3, 4}, {1, 2}});
}

TEST_CASE("fill and steps") {
    Dummy dummy;
    char *x = dummy.upload(std::vector<std::int16_t>(6, 0));
    dummy.compute(ATOLL_FN_fill, ATOLL_DTYPE_INT16, {3}, {{x, {4}, ATOLL_DTYPE_INT16}},
                  {.attributes = {scalar(ATOLL_DTYPE_INT16, std::int16_t{-5})}});
    CHECK(dummy.download<std::int16_t>(x, 6) == std::vector<std::int16_t>{-5, 0, -5, 0, -5, 0});
    char *y = dummy.allocate(24);
    dummy.compute(
        ATOLL_FN_steps, ATOLL_DTYPE_FLOAT64, {3}, {{y + 16, {-8}, ATOLL_DTYPE_FLOAT64}},
        {.attributes = {scalar(ATOLL_DTYPE_FLOAT64, 0.0), scalar(ATOLL_DTYPE_FLOAT64, 0.1),
                        scalar(ATOLL_DTYPE_FLOAT64, 9.0)}});
    CHECK(dummy.download<double>(y, 3) == std::vector<double>{9.0, 0.1, 0.0});
    dummy.compute(ATOLL_FN_steps, ATOLL_DTYPE_UINT8, {3}, {{y, {1}, ATOLL_DTYPE_UINT8}},
                  {.attributes = {scalar(ATOLL_DTYPE_INT64, INT64_C(250)),
                                  scalar(ATOLL_DTYPE_INT64, INT64_C(3)), atoll_scalar{}}});
    CHECK(dummy.download<std::uint8_t>(y, 3) == std::vector<std::uint8_t>{250, 253, 0});
}

namespace {
std::uint32_t attribute_dtype(Atoll::sdk::AttributeType type, std::uint32_t of_call) {
    using enum Atoll::sdk::AttributeType;
    switch (type) {
    case boolean: return ATOLL_DTYPE_BOOL;
    case float64: return ATOLL_DTYPE_FLOAT64;
    case number: return ATOLL_DTYPE_INT64;
    case A: return Atoll::sdk::accumulator_of(of_call);
    default: return of_call;
    }
}
} // namespace

TEST_CASE("every function runs on every dtype of its domain") {
    using namespace Atoll::sdk;
    Dummy dummy;
    const std::vector<std::uint64_t> zeros(16, 0);
    // find's output has an element for each that is not zero: all of them.
    char *buffers[] = {dummy.allocate(128), dummy.upload(zeros), dummy.upload(zeros),
                       dummy.upload(zeros)},
         *ones = dummy.upload(std::vector<std::uint8_t>(128, 1));
    // All axes of extent 2, one of them a loop axis.
    const auto run = [&](std::uint16_t id, std::uint16_t T) {
        const FunctionLine &line = core_functions[id];
        const Signature &signature = line.signature;
        std::size_t core = 0;
        for (const AxisSlot &slot : std::span(signature.slots).first(signature.slot_count))
            core += !slot.opaque;
        const std::size_t rank = core + (id != ATOLL_FN_steps);
        std::vector<View> views;
        for (std::size_t o = 0; o < signature.operand_count; ++o) {
            const OperandSpec &spec = signature.operands[o];
            const std::uint32_t known = dtype_of_operand(spec, T);
            const auto dtype = static_cast<std::uint16_t>(known ? known : T);
            std::int64_t stride = dtype_size(dtype);
            View view{o == 1 && id == ATOLL_FN_find ? ones : buffers[o],
                      std::vector<std::int64_t>(rank), dtype};
            for (std::size_t i = 0; i < spec.axis_count && core > 0; ++i, stride *= 2)
                view.strides[spec.axes[i]] = stride;
            if (rank > core) view.strides[core] = stride;
            views.push_back(std::move(view));
        }
        CallOptions options;
        for (const AttributeSpec &spec :
             std::span(signature.attributes).first(signature.attribute_count)) {
            std::uint32_t dtype = ATOLL_VALUE_ABSENT;
            if (!spec.optional) dtype = attribute_dtype(spec.type, T);
            options.attributes.push_back(scalar(dtype, zero));
        }
        dummy.compute(id, T, std::vector<std::int64_t>(rank, 2), std::move(views), options);
        dummy.synchronize(); // an unknown dtype would surface here
    };
    for (const FunctionLine &line : core_functions)
        for (std::uint16_t dtype = 1; dtype < ATOLL_DTYPE_COUNT; ++dtype)
            if (line.domain >> dtype & 1) {
                CAPTURE(line.name);
                CAPTURE(dtype);
                CHECK_NOTHROW(run(line.id, dtype));
            }
}
