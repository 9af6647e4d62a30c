// Reductions against the oracle: functions, dtypes, axes, layouts, accuracy and range.
#include "atoll_kernels.h"
#include "operand.h"

#include <doctest/doctest.h>

using namespace oracle;

namespace {

constexpr std::uint32_t domains[] = {
#define ATOLL_FUNCTION(id, name, FAMILY, RULE, DOMAIN, doc)                                        \
    ATOLL_FAMILY_##FAMILY == ATOLL_FAMILY_REDUCE ? ATOLL_DOMAIN_##DOMAIN : 0,
#include "atoll/lists/functions.inc"
};
constexpr const char *names[] = {
#define ATOLL_FUNCTION(id, name, FAMILY, RULE, DOMAIN, doc) #name,
#include "atoll/lists/functions.inc"
};

using C = std::complex<long double>;

// Accumulates exactly for integers, in long double otherwise.
struct Oracle {
    int function, dtype;
    bool first = true;
    __int128 i = 0;
    C z = 0;
    long double size = 0; // scale of rounding errors

    Oracle(int f, int d) : function(f), dtype(d) {
        if (f == ATOLL_FN_prod) i = 1, z = 1;
        if (f == ATOLL_FN_all) i = 1;
    }
    void take(const Value &v) {
        const C x(v.real(), v.im);
        switch (function) {
        case ATOLL_FN_sum: i = wrap(i + v.i, ATOLL_INT64), z += x, size += std::abs(x); break;
        case ATOLL_FN_prod:
            i = wrap(static_cast<__int128>(static_cast<unsigned __int128>(i) *
                                           static_cast<unsigned __int128>(v.i)),
                     ATOLL_INT64);
            z *= x;
            size = std::abs(z);
            break;
        case ATOLL_FN_min:
        case ATOLL_FN_max: {
            const bool more = function == ATOLL_FN_max;
            if (first || (more ? v.i > i : v.i < i)) i = v.i;
            if (std::isnan(v.re) || first ||
                (!std::isnan(z.real()) && (more ? v.re > z.real() : v.re < z.real())))
                z = v.re;
            break;
        }
        case ATOLL_FN_norm2: z += std::norm(x); break;
        case ATOLL_FN_any: i |= v.truth(); break;
        default: i &= v.truth(); break;
        }
        first = false;
    }
    Value result() {
        const int to = result_dtype(function, dtype);
        if (function == ATOLL_FN_norm2) {
            z = std::sqrt(z.real());
            size = z.real();
        }
        return facts[to].kind == ATOLL_KIND_BOOL || is_integer(to)
                   ? convert(Value::of(i), to)
                   : convert(Value::of(z.real(), z.imag()), to);
    }
};

void check(int function, int dtype, std::size_t kept, Operand &out, Operand &in, double ulps) {
    const Shape &shape = in.shape;
    const std::vector<char> before = out.memory;
    const atoll_operand operands[2] = {out.c(), in.c()};
    REQUIRE(atoll_kernels_reduce(
                static_cast<std::uint32_t>(function), static_cast<std::uint32_t>(dtype),
                static_cast<std::uint32_t>(shape.size()), static_cast<std::uint32_t>(kept),
                shape.data(), operands) == ATOLL_STATUS_OK);
    const Shape outer(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(kept));
    const Shape inner(shape.begin() + static_cast<std::ptrdiff_t>(kept), shape.end());
    std::int64_t wrong = 0;
    std::string first;
    each(outer, [&](const Shape &index) {
        Oracle oracle(function, dtype);
        Shape whole = index;
        each(inner, [&](const Shape &rest) {
            whole.resize(kept);
            whole.insert(whole.end(), rest.begin(), rest.end());
            oracle.take(convert(in.get(whole), dtype));
        });
        whole = index;
        whole.resize(shape.size(), 0);
        Value want = convert(oracle.result(), out.dtype), got = out.get(whole);
        const int natural = result_dtype(function, dtype);
        // Rounding errors are relative to the sum of moduli, then there is one to the result.
        const long double error = std::max<long double>(oracle.size, 1e-30L) * ulps *
                                  std::max(epsilon(natural), epsilon(out.dtype));
        // Which of two zeros is smaller is not said.
        if (got.re == 0 && want.re == 0) got.re = want.re = 0;
        const bool exact = is_integer(natural) || natural == ATOLL_BOOL ||
                           function == ATOLL_FN_min || function == ATOLL_FN_max;
        const bool right =
            exact ? same(got, want, out.dtype, 0)
                  : same_part(got.real(), want.real(), error + (got.integer ? 1 : 0)) &&
                        same_part(got.im, want.im, error);
        if (!right && wrong++ == 0) first = "got " + text(got) + ", expected " + text(want);
    });
    INFO(first);
    CHECK(wrong == 0);
    CHECK(out.rest_is(before));
}

} // namespace

TEST_CASE("reductions agree with the oracle on every dtype, axis and layout") {
    Random random(5);
    struct Case {
        Shape shape;
        std::size_t kept;
    };
    const Case cases[] = {{{9}, 0},         {{2500}, 0},    {{20, 30}, 1},  {{600, 40}, 1},
                          {{3, 50}, 1},     {{40, 3}, 1},   {{5, 6, 7}, 1}, {{5, 6, 7}, 2},
                          {{30, 4, 70}, 1}, {{4, 5, 6}, 0}, {{1, 17}, 1},   {{18, 5, 20}, 2}};
    for (int function = 0; function < ATOLL_FN_COUNT; ++function)
        for (int dtype = 1; dtype < ATOLL_DTYPE_COUNT; ++dtype) {
            if (!(domains[function] >> dtype & 1)) continue;
            for (const Case &c : cases)
                for (Layout layout : layouts)
                    for (int variant = 0; variant < 4; ++variant) {
                        if (variant && random() % 2) continue;
                        std::vector<bool> kept(c.shape.size(), false);
                        std::fill_n(kept.begin(), c.kept, true);
                        const bool mixed = variant & 2;
                        // prod stays in the range of a half with values near 1 only
                        const int in_dtype = mixed ? 1 + static_cast<int>(random() % 9) : dtype;
                        const int out_dtype =
                            mixed && function != ATOLL_FN_prod && function != ATOLL_FN_sum
                                ? 1 + static_cast<int>(random() % 16)
                                : result_dtype(function, dtype);
                        Operand in(in_dtype, variant & 1, c.shape,
                                   std::vector<bool>(c.shape.size(), true), layout);
                        Operand out(out_dtype, (variant & 1) && random() % 2, c.shape, kept,
                                    random() % 2 && layout != Layout::broadcast ? layout
                                                                                : Layout::dense);
                        const bool integers = is_integer(dtype) || dtype == ATOLL_BOOL;
                        each(c.shape, [&](const Shape &index) {
                            Value v;
                            if (function == ATOLL_FN_prod && !integers)
                                v = Value::of(random() % 8 ? 1.0L : -1.0L, 0.0L);
                            else if (!integers && mixed)
                                v = Value::of(__int128{random() % 4});
                            else if (function == ATOLL_FN_any)
                                v = Value::of(__int128{random() % 100 == 0});
                            else if (function == ATOLL_FN_all)
                                v = Value::of(__int128{random() % 100 != 0});
                            else
                                v = random_value(dtype, random,
                                                 function == ATOLL_FN_min ||
                                                     function == ATOLL_FN_max);
                            in.set(index, convert(v, in_dtype));
                        });
                        CAPTURE(std::string(names[function]));
                        CAPTURE(std::string(facts[dtype].name));
                        CAPTURE(std::string(facts[in_dtype].name));
                        CAPTURE(std::string(facts[out_dtype].name));
                        CAPTURE(static_cast<int>(layout));
                        CAPTURE(c.shape.size());
                        CAPTURE(c.kept);
                        check(function, dtype, c.kept, out, in, 8);
                    }
        }
}

TEST_CASE("large sums are pairwise accurate along either axis") {
    Random random(9);
    struct Case {
        Shape shape;
        std::size_t kept;
        Layout layout;
    };
    const Case cases[] = {{{300007}, 0, Layout::dense},
                          {{3, 90000}, 1, Layout::dense},
                          {{3, 90000}, 1, Layout::permuted},
                          {{70, 3000}, 1, Layout::dense},
                          {{1500, 140}, 1, Layout::dense}};
    for (int dtype :
         {int{ATOLL_FLOAT32}, int{ATOLL_FLOAT64}, int{ATOLL_COMPLEX64}, int{ATOLL_FLOAT16}})
        for (const Case &c : cases) {
            std::vector<bool> kept(c.shape.size(), false);
            std::fill_n(kept.begin(), c.kept, true);
            Operand in(dtype, false, c.shape, std::vector<bool>(c.shape.size(), true), c.layout);
            Operand out(dtype, false, c.shape, kept, Layout::dense);
            each(c.shape, [&](const Shape &index) {
                in.set(index,
                       convert(Value::of(static_cast<long double>(random() % 1000) / 1e6L + 0.1L,
                                         0.25L),
                               dtype));
            });
            CAPTURE(std::string(facts[dtype].name));
            CAPTURE(c.shape[0]);
            // A running sum of so many float32 is off by far more.
            if (dtype != ATOLL_FLOAT16) check(ATOLL_FN_sum, dtype, c.kept, out, in, 16);
            check(ATOLL_FN_norm2, dtype, c.kept, out, in, 16);
            check(ATOLL_FN_all, dtype, c.kept, out, in, 0);
        }
}

TEST_CASE("norm2 of float64 leaves the range only when the result does") {
    for (const double x : {1e200, 1e-200, 3e-320, 1.7e308})
        for (const Shape &shape : {Shape{100}, Shape{40, 100}, Shape{40, 3}}) {
            const std::size_t kept = shape.size() - 1;
            std::vector<bool> varies(shape.size(), false);
            std::fill_n(varies.begin(), kept, true);
            Operand in(ATOLL_FLOAT64, false, shape, std::vector<bool>(shape.size(), true),
                       Layout::dense);
            Operand out(ATOLL_FLOAT64, false, shape, varies, Layout::dense);
            each(shape, [&](const Shape &index) {
                in.set(index,
                       Value::of(index.back() == 0 ? static_cast<long double>(x) : 0.0L, 0.0L));
            });
            CAPTURE(x);
            check(ATOLL_FN_norm2, ATOLL_FLOAT64, kept, out, in, 4);
        }
}
