// The kernels of the plugin `dummy` alone: every function, and the values that are easily wrong.
#include "atoll/core_functions.hpp"
#include "device.hpp"

#include <cmath>
#include <random>

#include <doctest/doctest.h>

using namespace FakeHost;

TEST_CASE("integers wrap, bool is a lattice") {
    Dummy dummy;
    const std::vector<std::uint16_t> big{65535, 65535}, also{65535, 2};
    CHECK(dummy.elementwise<std::uint16_t>(ATOLL_FN_multiply, ATOLL_UINT16, ATOLL_UINT16, big,
                                           &also) == std::vector<std::uint16_t>{1, 65534});
    const std::vector<std::int32_t> low{INT32_MIN, -7};
    CHECK(dummy.elementwise<std::int32_t>(ATOLL_FN_abs, ATOLL_INT32, ATOLL_INT32, low) ==
          std::vector<std::int32_t>{INT32_MIN, 7});
    CHECK(dummy.elementwise<std::int32_t>(ATOLL_FN_negative, ATOLL_INT32, ATOLL_INT32, low) ==
          std::vector<std::int32_t>{INT32_MIN, 7});
    const std::vector<std::int64_t> wide{INT64_MIN, INT64_MAX}, ones{-1, 1};
    CHECK(dummy.elementwise<std::int64_t>(ATOLL_FN_add, ATOLL_INT64, ATOLL_INT64, wide, &ones) ==
          std::vector<std::int64_t>{INT64_MAX, INT64_MIN});
    const std::vector<std::uint8_t> p{0, 0, 1, 1}, q{0, 1, 0, 1};
    CHECK(dummy.elementwise<std::uint8_t>(ATOLL_FN_add, ATOLL_BOOL, ATOLL_BOOL, p, &q) ==
          std::vector<std::uint8_t>{0, 1, 1, 1});
    CHECK(dummy.elementwise<std::uint8_t>(ATOLL_FN_multiply, ATOLL_BOOL, ATOLL_BOOL, p, &q) ==
          std::vector<std::uint8_t>{0, 0, 0, 1});
}

TEST_CASE("halves are computed in float and rounded once") {
    Dummy dummy;
    std::mt19937 random(2);
    std::vector<std::uint16_t> a, b;
    for (int i = 0; i < 20000; ++i) a.push_back(random() & 0xffff), b.push_back(random() & 0xffff);
    const auto quotients =
        dummy.elementwise<std::uint16_t>(ATOLL_FN_divide, ATOLL_FLOAT16, ATOLL_FLOAT16, a, &b);
    const auto products =
        dummy.elementwise<std::uint16_t>(ATOLL_FN_multiply, ATOLL_BFLOAT16, ATOLL_BFLOAT16, a, &b);
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

TEST_CASE("complex: Smith's division, moduli without overflow, C99 square roots") {
    Dummy dummy;
    const std::vector<Complex128> a{{1e300, 1e300}, {3, 4}, {-4, 0.0}, {-4, -0.0}},
        b{{2e300, 2e300}, {0, 2}, {1, 0}, {1, 0}};
    const auto quotients =
        dummy.elementwise<Complex128>(ATOLL_FN_divide, ATOLL_COMPLEX128, ATOLL_COMPLEX128, a, &b);
    CHECK(quotients[0] == Complex128(0.5, 0));
    CHECK(quotients[1] == Complex128(2, -1.5));
    const auto moduli = dummy.elementwise<double>(ATOLL_FN_abs, ATOLL_COMPLEX128, ATOLL_FLOAT64, a);
    CHECK(moduli[0] == doctest::Approx(std::sqrt(2.0) * 1e300));
    CHECK(moduli[1] == 5);
    const auto roots =
        dummy.elementwise<Complex128>(ATOLL_FN_sqrt, ATOLL_COMPLEX128, ATOLL_COMPLEX128, a);
    CHECK(roots[2] == Complex128(0, 2));
    CHECK(roots[3] == Complex128(0, -2));
    const std::vector<Complex128> huge{{inf, 1}}, one{{1, 1}};
    const auto product = dummy.elementwise<Complex128>(ATOLL_FN_multiply, ATOLL_COMPLEX128,
                                                       ATOLL_COMPLEX128, huge, &one)[0];
    CHECK(product.real() == inf);
    CHECK(product.imag() == inf);
}

TEST_CASE("comparisons with NaN are false but for not_equal") {
    Dummy dummy;
    const std::vector<float> a{static_cast<float>(quiet_nan), 1, 2}, b{1, 1, 1};
    const auto compare = [&](std::uint16_t function) {
        return dummy.elementwise<std::uint8_t>(function, ATOLL_FLOAT32, ATOLL_BOOL, a, &b);
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
    CHECK(dummy.reduced<float>(ATOLL_FN_sum, ATOLL_FLOAT32, ATOLL_FLOAT32, tenths) ==
          doctest::Approx(100000 * static_cast<double>(0.1F)).epsilon(1e-6));
    CHECK(dummy.reduced<std::int64_t>(ATOLL_FN_prod, ATOLL_INT64, ATOLL_INT64,
                                      std::vector<std::int64_t>{INT64_MAX, 2, 3}) == -6);
    const std::vector<double> with_nan{3, quiet_nan, 1}, plain{3, -2, 7, 1};
    CHECK(std::isnan(dummy.reduced<double>(ATOLL_FN_min, ATOLL_FLOAT64, ATOLL_FLOAT64, with_nan)));
    CHECK(std::isnan(dummy.reduced<double>(ATOLL_FN_max, ATOLL_FLOAT64, ATOLL_FLOAT64, with_nan)));
    CHECK(dummy.reduced<double>(ATOLL_FN_min, ATOLL_FLOAT64, ATOLL_FLOAT64, plain) == -2);
    CHECK(dummy.reduced<double>(ATOLL_FN_max, ATOLL_FLOAT64, ATOLL_FLOAT64, plain) == 7);
    CHECK(dummy.reduced<double>(ATOLL_FN_norm2, ATOLL_FLOAT64, ATOLL_FLOAT64,
                                std::vector<double>{3e200, 4e200}) == doctest::Approx(5e200));
    CHECK(dummy.reduced<double>(ATOLL_FN_norm2, ATOLL_COMPLEX128, ATOLL_FLOAT64,
                                std::vector<Complex128>{{3e-200, 0}, {0, 4e-200}}) ==
          doctest::Approx(5e-200));
    CHECK(dummy.reduced<std::uint8_t>(ATOLL_FN_any, ATOLL_FLOAT64, ATOLL_BOOL,
                                      std::vector<double>{0, -0.0, quiet_nan}) == 1);
    CHECK(dummy.reduced<std::uint8_t>(ATOLL_FN_any, ATOLL_FLOAT64, ATOLL_BOOL,
                                      std::vector<double>{0, -0.0}) == 0);
    CHECK(dummy.reduced<std::uint8_t>(ATOLL_FN_all, ATOLL_FLOAT64, ATOLL_BOOL,
                                      std::vector<double>{1, quiet_nan}) == 1);
    CHECK(dummy.reduced<std::uint8_t>(ATOLL_FN_all, ATOLL_FLOAT64, ATOLL_BOOL,
                                      std::vector<double>{1, 0}) == 0);
    // Sixteen thousand ones exceed what float16 can count by ones, but not what float32 can.
    const std::vector<std::uint16_t> ones(16384, atoll_float_to_half(1));
    CHECK(atoll_half_to_float(dummy.reduced<std::uint16_t>(ATOLL_FN_sum, ATOLL_FLOAT16,
                                                           ATOLL_FLOAT16, ones)) == 16384);

    // Kept and reduced axes with strides: rows of a column-major 3x4 matrix, backwards.
    std::vector<std::int64_t> matrix(12);
    for (std::size_t i = 0; i < 12; ++i) matrix[i] = static_cast<std::int64_t>(i * i);
    char *in = dummy.upload(matrix), *out = dummy.allocate(24);
    const atoll_reduce_params params{sizeof params, 1, {}};
    dummy.compute(ATOLL_FN_sum, ATOLL_INT64, {3, 4},
                  {{out, {8, 0}, ATOLL_INT64}, {in + 11 * 8, {-8, -24}, ATOLL_INT64}}, &params);
    CHECK(dummy.download<std::int64_t>(out, 3) ==
          std::vector<std::int64_t>{4 + 25 + 64 + 121, 1 + 16 + 49 + 100, 0 + 9 + 36 + 81});
}

TEST_CASE("matmul: strides, stacks, conjugation, alpha, beta") {
    Dummy dummy;
    std::mt19937 random(3);
    const int m = 3, n = 4, k = 5, stack = 2;
    const auto some = [&](int count) {
        std::vector<Complex64> values(static_cast<std::size_t>(count));
        for (Complex64 &value : values)
            value = {static_cast<float>(random() % 9) - 4, static_cast<float>(random() % 9) - 4};
        return values;
    };
    const auto a = some(m * k), b = some(k * n * stack), c = some(m * n * stack);
    const Complex64 alpha{2, 1}, beta{0, -1};
    char *da = dummy.upload(a), *db = dummy.upload(b), *dc = dummy.upload(c);
    atoll_matmul_params params{sizeof params, 1, scalar(ATOLL_COMPLEX64, alpha),
                               scalar(ATOLL_COMPLEX64, beta)};
    // a is row-major and broadcast over the stack; b's k axis runs backwards.
    dummy.compute(ATOLL_FN_matmul, ATOLL_COMPLEX64, {m, n, k, stack},
                  {{dc, {8, 8 * m, 0, 8 * m * n}, ATOLL_COMPLEX64},
                   {da, {8 * k, 0, 8, 0}, ATOLL_COMPLEX64},
                   {db + 8 * (k - 1), {0, 8 * k, -8, 8 * k * n}, ATOLL_COMPLEX64}},
                  &params);
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
    // beta = 0: out is not read (it holds NaN).
    char *out = dummy.allocate(8), *zeros = dummy.upload(std::vector<float>(2, 0.0F));
    params = {sizeof params, 0, scalar(ATOLL_FLOAT32, 1.0F), scalar(ATOLL_FLOAT32, 0.0F)};
    dummy.compute(ATOLL_FN_matmul, ATOLL_FLOAT32, {2, 1, 1},
                  {{out, {4, 8, 0}, ATOLL_FLOAT32},
                   {zeros, {4, 0, 8}, ATOLL_FLOAT32},
                   {zeros, {0, 4, 4}, ATOLL_FLOAT32}},
                  &params);
    CHECK(dummy.download<float>(out, 2) == std::vector<float>{0, 0});
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
    CHECK(convert(ATOLL_INT8, ATOLL_FLOAT64, std::int8_t{}, reals) ==
          std::vector<std::int8_t>{1, -1, 0, 127, -128, 127, -128, 127});
    CHECK(convert(ATOLL_UINT64, ATOLL_FLOAT64, std::uint64_t{}, reals) ==
          std::vector<std::uint64_t>{1, 0, 0, UINT64_MAX, 0, 300, 0, UINT64_MAX});
    CHECK(convert(ATOLL_INT64, ATOLL_FLOAT64, std::int64_t{}, reals) ==
          std::vector<std::int64_t>{1, -1, 0, INT64_MAX, INT64_MIN, 300, -300, INT64_MAX});
    CHECK(convert(ATOLL_BOOL, ATOLL_FLOAT64, std::uint8_t{},
                  std::vector<double>{0, -0.0, quiet_nan, 0.1}) ==
          std::vector<std::uint8_t>{0, 0, 1, 1});
    CHECK(
        convert(ATOLL_INT8, ATOLL_INT32, std::int8_t{}, std::vector<std::int32_t>{300, -300, -1}) ==
        std::vector<std::int8_t>{44, -44, -1});
    CHECK(convert(ATOLL_UINT64, ATOLL_INT8, std::uint64_t{}, std::vector<std::int8_t>{-1, 5}) ==
          std::vector<std::uint64_t>{UINT64_MAX, 5});
    CHECK(convert(ATOLL_INT64, ATOLL_UINT64, std::int64_t{},
                  std::vector<std::uint64_t>{UINT64_MAX}) == std::vector<std::int64_t>{-1});
    CHECK(convert(ATOLL_FLOAT64, ATOLL_COMPLEX64, double{}, std::vector<Complex64>{{2, 3}}) ==
          std::vector<double>{2});
    CHECK(convert(ATOLL_COMPLEX128, ATOLL_INT16, Complex128{}, std::vector<std::int16_t>{-3}) ==
          std::vector<Complex128>{{-3, 0}});
    CHECK(convert(ATOLL_BOOL, ATOLL_COMPLEX64, std::uint8_t{},
                  std::vector<Complex64>{{0, 3}, {0, 0}}) == std::vector<std::uint8_t>{1, 0});
    // 2^60 + 2^36 + 1 lies just above the midpoint of two floats; rounding to double first hides
    // it.
    CHECK(convert(ATOLL_FLOAT32, ATOLL_INT64, float{},
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
    dummy.compute(ATOLL_FN_copy, ATOLL_FLOAT64, {count},
                  {{out, {2}, ATOLL_FLOAT16}, {in, {8}, ATOLL_FLOAT64}});
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
    dummy.compute(ATOLL_FN_copy, ATOLL_FLOAT64, {static_cast<std::int64_t>(values.size())},
                  {{wide, {2}, ATOLL_BFLOAT16}, {more, {8}, ATOLL_FLOAT64}});
    CHECK(dummy.download<std::uint16_t>(wide, values.size()) == brains);
}

TEST_CASE("copy takes swapped, unaligned and strided operands, in place too") {
    Dummy dummy;
    const std::vector<std::uint32_t> values{0x01020304, 0x05060708};
    char *x = dummy.upload(values);
    const View native{x, {4}, ATOLL_UINT32}, swapped{x, {4}, ATOLL_UINT32, ATOLL_OPERAND_SWAPPED};
    dummy.compute(ATOLL_FN_copy, ATOLL_UINT32, {2}, {swapped, native});
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
    dummy.compute(
        ATOLL_FN_copy, ATOLL_COMPLEX64, {2},
        {{out, {16}, ATOLL_COMPLEX128}, {odd + 9, {-8}, ATOLL_COMPLEX64, ATOLL_OPERAND_SWAPPED}});
    CHECK(dummy.download<Complex128>(out, 2) == std::vector<Complex128>{{3, 4}, {1, 2}});
}

TEST_CASE("fill and steps") {
    Dummy dummy;
    char *x = dummy.upload(std::vector<std::int16_t>(6, 0));
    const atoll_fill_params fill{sizeof fill, 0, scalar(ATOLL_INT16, std::int16_t{-5})};
    dummy.compute(ATOLL_FN_fill, ATOLL_INT16, {3}, {{x, {4}, ATOLL_INT16}}, &fill);
    CHECK(dummy.download<std::int16_t>(x, 6) == std::vector<std::int16_t>{-5, 0, -5, 0, -5, 0});
    atoll_steps_params steps{sizeof steps, 1, scalar(ATOLL_FLOAT64, 0.0),
                             scalar(ATOLL_FLOAT64, 0.1), scalar(ATOLL_FLOAT64, 9.0)};
    char *y = dummy.allocate(24);
    dummy.compute(ATOLL_FN_steps, ATOLL_FLOAT64, {3}, {{y + 16, {-8}, ATOLL_FLOAT64}}, &steps);
    CHECK(dummy.download<double>(y, 3) == std::vector<double>{9.0, 0.1, 0.0});
    steps = {sizeof steps, 0, scalar(ATOLL_INT64, INT64_C(250)), scalar(ATOLL_INT64, INT64_C(3)),
             scalar(ATOLL_INT64, zero)};
    dummy.compute(ATOLL_FN_steps, ATOLL_UINT8, {3}, {{y, {1}, ATOLL_UINT8}}, &steps);
    CHECK(dummy.download<std::uint8_t>(y, 3) == std::vector<std::uint8_t>{250, 253, 0});
}

TEST_CASE("every function runs on every dtype of its domain") {
    Dummy dummy;
    const std::vector<std::uint64_t> zeros(8, 0);
    char *out = dummy.allocate(64), *a = dummy.upload(zeros), *b = dummy.upload(zeros),
         *c = dummy.upload(zeros);
    const auto run = [&](std::uint16_t id, std::uint16_t family, std::uint16_t dtype) {
        const std::int64_t size = Atoll::sdk::dtype_size(dtype);
        const auto result =
            static_cast<std::uint16_t>(Atoll::sdk::core_functions[id].result_dtype(dtype));
        const std::int64_t out_size = Atoll::sdk::dtype_size(result);
        const atoll_fill_params fill{sizeof fill, 0, scalar(dtype, zero)};
        const atoll_steps_params steps{sizeof steps, 0, scalar(ATOLL_INT64, zero),
                                       scalar(ATOLL_INT64, zero), scalar(ATOLL_INT64, zero)};
        const atoll_reduce_params reduce{sizeof reduce, 0, {}};
        const atoll_sort_params sort{sizeof sort, 0};
        const atoll_search_params search{sizeof search, 0};
        const atoll_matmul_params matmul{sizeof matmul, 0, scalar(dtype, zero),
                                         scalar(dtype, zero)};
        const View o{out, {out_size}, result}, i{a, {size}, dtype}, j{b, {size}, dtype};
        const View offsets{c, {8}, ATOLL_INT64};
        switch (family) {
        case ATOLL_FAMILY_FILL: dummy.compute(id, dtype, {4}, {o}, &fill); break;
        case ATOLL_FAMILY_STEPS: dummy.compute(id, dtype, {4}, {o}, &steps); break;
        case ATOLL_FAMILY_BINARY: dummy.compute(id, dtype, {4}, {o, i, j}); break;
        case ATOLL_FAMILY_TERNARY:
            dummy.compute(id, dtype, {4},
                          {o, id == ATOLL_FN_where ? View{c, {1}, ATOLL_BOOL} : i, i, j});
            break;
        case ATOLL_FAMILY_REDUCE:
        case ATOLL_FAMILY_REDUCE_ONE:
        case ATOLL_FAMILY_ARG_REDUCE:
            dummy.compute(id, dtype, {4}, {{out, {0}, result}, i}, &reduce);
            break;
        case ATOLL_FAMILY_SORT: dummy.compute(id, dtype, {4}, {o, i}, &sort); break;
        case ATOLL_FAMILY_SEARCH:
            dummy.compute(id, dtype, {2, 3},
                          {{out, {8, 0}, result}, {a, {size, 0}, dtype}, {b, {0, size}, dtype}},
                          &search);
            break;
        case ATOLL_FAMILY_MATMUL:
            dummy.compute(id, dtype, {2, 2, 2},
                          {{out, {size, 2 * size, 0}, dtype},
                           {a, {size, 0, 2 * size}, dtype},
                           {b, {0, 2 * size, size}, dtype}},
                          &matmul);
            break;
        case ATOLL_FAMILY_GATHER:
        case ATOLL_FAMILY_SCATTER: dummy.compute(id, dtype, {4}, {o, i, offsets}); break;
        default: dummy.compute(id, dtype, {4}, {o, i}); // UNARY, COPY, SCAN, FIND
        }
        dummy.synchronize(); // an unknown dtype would surface here
    };
#define ATOLL_FUNCTION(id, name, FAMILY, SIGNATURE, RULE, DOMAIN, ATTRIBUTES, PROPERTIES, doc)     \
    for (std::uint16_t dtype = 1; dtype < ATOLL_DTYPE_COUNT; ++dtype)                              \
        if (ATOLL_DOMAIN_##DOMAIN >> dtype & 1) {                                                  \
            CAPTURE(#name);                                                                        \
            CAPTURE(dtype);                                                                        \
            CHECK_NOTHROW(run(id, ATOLL_FAMILY_##FAMILY, dtype));                                  \
        }
#include "atoll/lists/functions.inc"
}
