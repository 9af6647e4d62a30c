// Reductions against the oracle: functions, dtypes, axes, layouts, numbers, accuracy and range.
#include "atoll/operand.hpp"
#include "check.h"

using namespace oracle;

namespace {

// What the elements of one operand are like, so that results are neither trivial nor out of range.
enum class Kind { any, tame, factors, mostly_zero, mostly_one, rarely_special, ties };
Kind kind_of(int function, Random &random) {
    switch (function) {
    case ATOLL_FN_prod: return Kind::factors;
    case ATOLL_FN_any: return Kind::mostly_zero;
    case ATOLL_FN_all: return Kind::mostly_one;
    case ATOLL_FN_all_finite:
    case ATOLL_FN_any_inf:
    case ATOLL_FN_any_nan: return Kind::rarely_special;
    default: break;
    }
    const std::uint64_t k = random() % 4;
    return k == 0 ? Kind::any : k == 1 ? Kind::ties : k == 2 ? Kind::rarely_special : Kind::tame;
}
Value element(Kind kind, int dtype, Random &random) {
    const bool whole = is_integer(dtype) || dtype == ATOLL_DTYPE_BOOL;
    switch (kind) {
    case Kind::any: return random_value(dtype, random, true);
    case Kind::tame: return random_value(dtype, random, false);
    case Kind::ties:
        return convert(Value::of(static_cast<long double>(random() % 5) - 2,
                                 static_cast<long double>(random() % 3) - 1),
                       dtype);
    case Kind::mostly_zero: return convert(Value::of(__int128{random() % 100 == 0}), dtype);
    case Kind::mostly_one: return convert(Value::of(__int128{random() % 100 != 0}), dtype);
    case Kind::rarely_special:
        return random() % 60 ? random_value(dtype, random, false)
                             : random_value(dtype, random, true);
    default:
        if (whole) return random_value(dtype, random, false);
        if (random() % 2000 == 0) return random_value(dtype, random, true);
        return convert(random() % 4 == 0 ? Value::of(0.0L, random() % 2 ? 1.0L : -1.0L)
                       : is_complex(dtype) || random() % 2
                           ? Value::of(random() % 2 ? 1.0L : -1.0L, 0.0L)
                           : Value::of(1 + (random() % 2 ? 0x1p-6L : -0x1p-6L), 0.0L),
                       dtype);
    }
}
// Imaginary units of a real dtype would be zeros.
Value factor_of(Value v, int dtype) {
    if (!is_complex(dtype) && v.re == 0 && !v.integer) v.re = 1;
    return v;
}

struct Case {
    Shape shape;
    std::size_t kept;
};

void check(int function, int dtype, std::size_t kept, Operand &out, Operand &in,
           const Value &x = {}, bool skip_nan = false) {
    const Shape &shape = in.shape;
    const std::vector<char> before = out.memory;
    const std::string what = std::string(function_list[function].name) + " computed in " +
                             facts[dtype].name + ", out " + out.text() + ", in " + in.text() +
                             ", kept " + std::to_string(kept) + ", number " + text(x) +
                             (skip_nan ? ", without NaN" : "");
    INFO(what);
    std::vector<atoll_scalar> attributes;
    if (has_number(function)) attributes.push_back(scalar_of(x, ATOLL_DTYPE_FLOAT64));
    if (can_skip_nan(function)) attributes.push_back(flag_of(skip_nan));
    const auto middle = shape.begin() + static_cast<std::ptrdiff_t>(kept);
    const Shape outer(shape.begin(), middle), inner(middle, shape.end());
    const int natural = result_dtype(function, dtype);
    Shape results = outer;
    results.resize(shape.size(), 1);
    std::vector<Expected> expected;
    std::vector<Value> elements;
    each(results, [&](Shape whole) {
        elements.clear();
        each(inner, [&](const Shape &rest) {
            std::copy(rest.begin(), rest.end(), whole.begin() + static_cast<std::ptrdiff_t>(kept));
            elements.push_back(in.get(whole));
        });
        expected.push_back(reduce(function, dtype, elements, x, skip_nan));
    });
    compute(
        out, {&in},
        [&] {
            return run(function, dtype, shape, {out.c(), in.c()}, attributes, shape.size() - kept);
        },
        [&] {
            Findings findings;
            std::size_t k = 0;
            each(results, [&](const Shape &index) {
                findings.check(expected[k++], out.get(index), natural, out.dtype);
            });
            findings.report(what);
            CHECK(out.rest_is(before));
        });
}

// A number with which the function gives now this, now that.
Value number_for(int function, Random &random) {
    const auto real = [](long double x) { return Value::of(x, 0.0L); };
    switch (function) {
    case ATOLL_FN_var:
    case ATOLL_FN_stddev: {
        const long double some[] = {0, 1, 2.5L, 17, 1e6L};
        return real(some[random() % 5]);
    }
    case ATOLL_FN_norm: {
        const long double some[] = {0, 1, 2, 3, 5, 0.5L, 1.5L, INFINITY};
        return real(some[random() % std::size(some)]);
    }
    default: return {};
    }
}

// Puts the axes of an operand into memory in another order, the densest one first, with free bytes
// behind each step along the others. The axes of bits that are set run backwards.
void reorder(Operand &operand, const std::vector<std::size_t> &axes, std::int64_t gap,
             std::uint64_t back) {
    std::int64_t next = facts[operand.dtype].size;
    for (std::size_t axis : axes) {
        if (axis != axes.front()) next += gap;
        operand.strides[axis] = next;
        next *= operand.shape[axis];
    }
    operand.memory.resize(static_cast<std::size_t>(next + 256), '\x5a');
    for (std::size_t axis = 0; axis < axes.size(); ++axis) {
        if (!(back >> axis & 1)) continue;
        operand.start += operand.strides[axis] * (operand.shape[axis] - 1);
        operand.strides[axis] *= -1;
    }
}

void check_random(int function, int dtype, const Case &c, Layout layout, int variant,
                  Random &random, const std::vector<std::size_t> &order = {}) {
    std::vector<bool> kept(c.shape.size(), false);
    std::fill_n(kept.begin(), c.kept, true);
    const bool mixed = variant & 2;
    const int in_dtype = mixed ? any_dtype(random) : dtype;
    const int natural = result_dtype(function, dtype);
    Operand in(in_dtype, variant & 1, c.shape, all_axes(c.shape), layout);
    if (!order.empty()) {
        const std::int64_t gaps[] = {0, 1, facts[in_dtype].size};
        if (variant == 0)
            reorder(in, order, 0, 0);
        else
            reorder(in, order, gaps[random() % 3], random() % 4 ? 0 : random());
    }
    Operand out(mixed ? any_dtype(random) : natural, (variant & 1) && random() % 2, c.shape, kept,
                random() % 2 && layout != Layout::broadcast ? layout : Layout::dense);
    const Kind kind = kind_of(function, random);
    each(c.shape, [&](const Shape &index) {
        Value v = element(kind, kind == Kind::factors ? dtype : in_dtype, random);
        if (kind == Kind::factors) v = factor_of(v, dtype);
        in.set(index, convert(v, in_dtype));
    });
    const Value x = number_for(function, random);
    check(function, dtype, c.kept, out, in, x, can_skip_nan(function) && random() % 2);
}

} // namespace

TEST_CASE("reductions agree with the oracle on every dtype, axis and layout") {
    Random random = sequence(5);
    const Case cases[] = {{{9}, 0},
                          {{300}, 0},
                          {{20, 30}, 1},
                          {{3, 50}, 1},
                          {{40, 3}, 1},
                          {{5, 6, 7}, 1},
                          {{5, 6, 7}, 2},
                          {{4, 5, 6}, 0},
                          {{1, 17}, 1},
                          {{18, 5, 20}, 2},
                          {{2, 3, 4, 5}, 2},
                          {{3, 2, 3, 2, 3}, 2},
                          {{2, 3, 2, 3, 2}, 4},
                          {{1}, 0}};
    const Case long_cases[] = {{{2500}, 0}, {{100, 40}, 1}, {{30, 4, 30}, 1}, {{2, 900}, 1}};
    for (const Function &f : function_list) {
        if (!is_reduction(f)) continue;
        for (int dtype = 1; dtype < ATOLL_DTYPE_COUNT; ++dtype) {
            if (!(f.domain >> dtype & 1)) continue;
            for (Layout layout : layouts) {
                for (int variant = 0; variant < 4; ++variant)
                    check_random(f.id, dtype, cases[random() % std::size(cases)], layout, variant,
                                 random);
                check_random(f.id, dtype, long_cases[random() % std::size(long_cases)], layout, 0,
                             random);
            }
        }
    }
}

TEST_CASE("large reductions take the threads' path with the same results") {
    Random random = sequence(7);
    const Case cases[] = {{{70003}, 0}, {{2, 35000}, 1}, {{25000, 3}, 1}, {{70, 1000}, 1}};
    for (const Function &f : function_list) {
        if (!is_reduction(f)) continue;
        const int dtype =
            f.domain >> ATOLL_DTYPE_FLOAT32 & 1 ? int{ATOLL_DTYPE_FLOAT32} : int{ATOLL_DTYPE_INT64};
        for (int trial = 0; trial < 2; ++trial)
            check_random(f.id, dtype, cases[random() % std::size(cases)],
                         random() % 2 ? Layout::permuted : Layout::dense, 0, random);
        // Rows that are long enough to be taken in together, and some that remain.
        for (int other :
             {int{ATOLL_DTYPE_FLOAT32}, int{ATOLL_DTYPE_FLOAT64}, int{ATOLL_DTYPE_INT64}})
            if (f.domain >> other & 1)
                check_random(f.id, other, {{4100, 13}, 1}, Layout::dense, 0, random);
        // Several results, each merged from several parts.
        check_random(f.id, dtype, {{3, 70003}, 1}, Layout::permuted, 0, random);
        // What counts is near the end of a long row, on its own.
        const Shape shape = {67000};
        Operand in(dtype, false, shape, {true}, Layout::dense);
        Operand out(result_dtype(f.id, dtype), false, shape, {false}, Layout::dense);
        each(shape,
             [&](const Shape &index) { in.set(index, convert(Value::of(__int128{1}), dtype)); });
        for (const long double x : {0.0L, static_cast<long double>(NAN)}) {
            in.set({66990}, convert(Value::of(x, 0.0L), dtype));
            check(f.id, dtype, 0, out, in, Value::of(1.0L, 0.0L));
            if (can_skip_nan(f.id)) check(f.id, dtype, 0, out, in, Value::of(1.0L, 0.0L), true);
        }
    }
}

TEST_CASE_TEMPLATE("reductions that read two streams have the same results", T, float, double,
                   std::int64_t) {
    Random random = sequence(71);
    constexpr std::uint16_t dtype = Atoll::sdk::dtype_of<T>;
    constexpr std::int64_t stride = sizeof(T), none = 0;
    constexpr std::int64_t n = (1 << 20) + 7'013; // from no cache
    std::vector<T> x(n);
    for (T &value : x)
        value = static_cast<T>(static_cast<std::int64_t>(random()) >> (40 + random() % 20));
    Atoll::kernels::LargeOperands lowest = level->large_operands();
    lowest.far = 0;
    const Lowered lowered(lowest);
    // The last streams end two to four leaves before the end.
    for (const std::int64_t less : {0, 1, 2'000, 4'096})
        for (const int function : {ATOLL_FN_sum, ATOLL_FN_max, ATOLL_FN_sum_abs}) {
            const auto result = [&](bool two_streams) {
                level->large_operands().two_streams = two_streams;
                char out[16] = {};
                REQUIRE(run(function, dtype, {n - less},
                            {operand_at(out, &none,
                                        static_cast<std::uint16_t>(result_dtype(function, dtype))),
                             operand_at(x.data(), &stride, dtype)},
                            {}, 1) == ATOLL_STATUS_OK);
                return std::string(out, sizeof out);
            };
            CAPTURE(function);
            at_each_level([&] {
                level->set_pool(nullptr, nullptr, 0);
                CHECK(result(false) == result(true));
                level->set_pool(&parallel_for, nullptr, 3);
            });
        }
}

TEST_CASE("results whose elements are neighbours in memory, and the rows of a few results") {
    Random random = sequence(8);
    struct Neighbours {
        Case c;
        std::vector<std::size_t> order;
    };
    const Neighbours cases[] = {
        {{{150, 5}, 1}, {1, 0}},            // short rows
        {{{300, 16}, 1}, {1, 0}},           // of several columns at a time
        {{{70, 60}, 1}, {1, 0}},            //
        {{{70, 120}, 1}, {1, 0}},           //
        {{{64, 140}, 1}, {1, 0}},           //
        {{{64, 200}, 1}, {1, 0}},           //
        {{{150, 3, 4}, 1}, {2, 1, 0}},      // of two axes
        {{{3, 70, 7}, 2}, {0, 2, 1}},       // colours
        {{{2, 40, 3, 8}, 2}, {2, 0, 3, 1}}, // between the axes that go
        {{{3, 90, 2, 5}, 3}, {0, 3, 1, 2}}, // with an outer axis
        {{{2, 3, 2, 40, 3}, 4}, {0, 2, 4, 3, 1}},
        {{{3, 2047}, 1}, {0, 1}},      // rows of a few results, and rows that remain
        {{{7, 130, 5}, 1}, {0, 1, 2}}, // which do not all follow each other
        {{{2, 300, 4}, 2}, {0, 1, 2}}, //
    };
    for (const Function &f : function_list) {
        if (!is_reduction(f)) continue;
        for (int dtype = 1; dtype < ATOLL_DTYPE_COUNT; ++dtype) {
            if (!(f.domain >> dtype & 1)) continue;
            for (const Neighbours &n : cases)
                if (random() % 4 == 0 || is_thorough())
                    check_random(f.id, dtype, n.c, Layout::dense, static_cast<int>(random() % 5),
                                 random, n.order);
            // Rows that are folded before anything is transposed.
            check_random(f.id, dtype, {{80, 66}, 1}, Layout::dense, 0, random, {1, 0});
            check_random(f.id, dtype, {{80, 9, 8}, 1}, Layout::dense, 4, random, {2, 1, 0});
            // Rows whose results stay in registers, with gaps between some.
            check_random(f.id, dtype, {{20, 9, 4}, 1}, Layout::dense, 4, random, {0, 1, 2});
            // Rows of a few results, with gaps between them.
            check_random(f.id, dtype, {{3, 500}, 1}, Layout::dense, 4, random, {0, 1});
        }
    }
}

// As a broadcast axis gives them, and windows that overlap: more elements than memory has between
// two results.
TEST_CASE("rows with gaps between their elements") {
    Random random = sequence(19);
    const Shape shape = {70, 100};
    for (const Function &f : function_list) {
        if (!is_reduction(f)) continue;
        for (int dtype = 1; dtype < ATOLL_DTYPE_COUNT; ++dtype) {
            if (!(f.domain >> dtype & 1)) continue;
            Operand in(dtype, false, shape, all_axes(shape), Layout::dense);
            reorder(in, {1, 0}, 0, 0);
            for (std::int64_t &stride : in.strides) stride *= 2;
            in.memory.resize(2 * in.memory.size());
            fill(in, random, true);
            Operand out(result_dtype(f.id, dtype), false, shape, {true, false}, Layout::dense);
            check(f.id, dtype, 1, out, in, number_for(f.id, random), false);
        }
    }
}

TEST_CASE("neighbours in memory that repeat") {
    Random random = sequence(9);
    const std::int64_t steps[][2] = {{1, 0}, {0, 1}, {1, 1}, {2, 1}}; // of the axes that go
    for (const Function &f : function_list) {
        if (!is_reduction(f)) continue;
        for (int dtype : {int{ATOLL_DTYPE_INT32}, int{ATOLL_DTYPE_FLOAT32}})
            for (int from : {dtype, int{ATOLL_DTYPE_FLOAT16}})
                for (const auto &step : steps) {
                    if (!(f.domain >> dtype & 1)) continue;
                    const Shape shape = {515, step[0] ? 8 : 15, step[1] ? 8 : 15};
                    Operand in(from, random() % 2, {shape[0], 24}, {true, true}, Layout::dense);
                    reorder(in, {1, 0}, 0, 0);
                    fill(in, random, false);
                    in.shape = shape;
                    in.strides = {in.strides[0], step[0] * in.strides[1], step[1] * in.strides[1]};
                    Operand out(result_dtype(f.id, dtype), false, shape, {true, false, false},
                                Layout::dense);
                    if (kind_of(f.id, random) != Kind::factors)
                        check(f.id, dtype, 1, out, in, number_for(f.id, random));
                }
    }
}

TEST_CASE("positions of extremes are counted along the axes in their order") {
    // The same extreme several times: the first in column-major order of the reduced axes counts,
    // wherever it lies in memory.
    const Shape shape = {3, 4, 5};
    for (int function : {int{ATOLL_FN_argmin}, int{ATOLL_FN_argmax}})
        for (int dtype : {int{ATOLL_DTYPE_INT8}, int{ATOLL_DTYPE_FLOAT16}, int{ATOLL_DTYPE_FLOAT64},
                          int{ATOLL_DTYPE_UINT64}})
            for (std::size_t kept : {std::size_t{0}, std::size_t{1}, std::size_t{2}})
                for (Layout layout : layouts) {
                    if (layout == Layout::broadcast) continue;
                    std::vector<bool> varies(3, false);
                    std::fill_n(varies.begin(), kept, true);
                    for (int pattern = 0; pattern < 4; ++pattern) {
                        Operand in(dtype, pattern & 1, shape, all_axes(shape), layout);
                        Operand out(ATOLL_DTYPE_INT64, false, shape, varies, Layout::dense);
                        int k = 0;
                        each(shape, [&](const Shape &index) {
                            ++k;
                            const bool hit =
                                pattern == 0 ? false : k % (pattern * 7) >= pattern * 6;
                            in.set(index,
                                   convert(Value::of(__int128{
                                               hit ? (function == ATOLL_FN_argmax ? 9 : 1) : 5}),
                                           dtype));
                        });
                        check(function, dtype, kept, out, in);
                        if (!is_real_float(dtype)) continue;
                        in.set({1, 2, 3}, Value::of(NAN, 0.0L));
                        in.set({2, 1, 4}, Value::of(NAN, 0.0L));
                        check(function, dtype, kept, out, in);
                    }
                }
}

TEST_CASE("rows of equal elements that end where a vector ends, and better ones behind them") {
    for (int function : {int{ATOLL_FN_argmin}, int{ATOLL_FN_argmax}})
        for (int dtype = 1; dtype < ATOLL_DTYPE_COUNT; ++dtype) {
            if (!(function_list[function].domain >> dtype & 1)) continue;
            for (std::int64_t length : {16, 32, 48, 64, 192, 512, 2048, 4096}) {
                const Shape shape = {2, length}; // results come first
                Operand in(dtype, false, shape, all_axes(shape), Layout::permuted);
                Operand out(ATOLL_DTYPE_INT64, false, shape, {true, false}, Layout::dense);
                each(shape, [&](const Shape &index) {
                    in.set(index, convert(Value::of(__int128{(index[0] == 1) ==
                                                             (function == ATOLL_FN_argmax)}),
                                          dtype));
                });
                check(function, dtype, 1, out, in);
            }
        }
}

TEST_CASE("one extreme in each column of many rows") {
    Random random = sequence(29);
    for (int function : {int{ATOLL_FN_argmin}, int{ATOLL_FN_argmax}})
        for (int dtype = 1; dtype < ATOLL_DTYPE_COUNT; ++dtype) {
            if (!(function_list[function].domain >> dtype & 1)) continue;
            for (int trial = 0; trial < 20; ++trial) {
                const std::int64_t some[] = {16, 20, 33, 40, 63, 65, 129, 130, 300};
                const std::int64_t columns = some[random() % std::size(some)],
                                   rows = random() % 2 ? 12 : 290;
                const Shape shape = {columns, rows};
                Operand in(dtype, random() % 4 == 0, shape, all_axes(shape),
                           random() % 4 ? Layout::dense : Layout::permuted);
                Operand out(ATOLL_DTYPE_INT64, false, shape, {true, false}, Layout::dense);
                const auto first = static_cast<std::int64_t>(random() % 290);
                each(shape, [&](const Shape &index) {
                    const std::int64_t row = (index[0] * 37 + first) % rows;
                    const bool is_bool = dtype == ATOLL_DTYPE_BOOL;
                    const bool is_there = is_bool ? index[1] >= row : index[1] == row;
                    const bool is_more = is_there == (function == ATOLL_FN_argmax);
                    if (is_bool) // any other byte than 0 is true
                        in.memory[static_cast<std::size_t>(in.offset(index))] =
                            static_cast<char>(is_more ? 1 + random() % 255 : 0);
                    else if (is_there && is_real_float(dtype) && index[0] % 3 == 0)
                        in.set(index, Value::of(NAN, 0.0L));
                    else
                        in.set(index, convert(Value::of(__int128{is_more}), dtype));
                });
                check(function, dtype, 1, out, in);
            }
        }
}

TEST_CASE("large sums are pairwise accurate along either axis") {
    Random random = sequence(9);
    struct Large {
        Shape shape;
        std::size_t kept;
        Layout layout;
    };
    const Large cases[] = {{{120007}, 0, Layout::dense},
                           {{3, 30000}, 1, Layout::dense},
                           {{3, 30000}, 1, Layout::permuted},
                           {{70, 1200}, 1, Layout::dense},
                           {{700, 140}, 1, Layout::dense}};
    for (int dtype :
         {int{ATOLL_DTYPE_FLOAT32}, int{ATOLL_DTYPE_FLOAT64}, int{ATOLL_DTYPE_COMPLEX64},
          int{ATOLL_DTYPE_FLOAT16}, int{ATOLL_DTYPE_BFLOAT16}})
        for (const Large &c : cases) {
            std::vector<bool> kept(c.shape.size(), false);
            std::fill_n(kept.begin(), c.kept, true);
            Operand in(dtype, false, c.shape, all_axes(c.shape), c.layout);
            each(c.shape, [&](const Shape &index) {
                in.set(index,
                       convert(Value::of(static_cast<long double>(random() % 1000) / 1e6L + 0.1L,
                                         0.25L),
                               dtype));
            });
            // A running sum of so many float32 is off by far more; so is a mean or a variance.
            for (int function : {int{ATOLL_FN_sum}, int{ATOLL_FN_mean}, int{ATOLL_FN_sum_abs},
                                 int{ATOLL_FN_norm}, int{ATOLL_FN_var}, int{ATOLL_FN_all}}) {
                Operand out(result_dtype(function, dtype), false, c.shape, kept, Layout::dense);
                const Value x = Value::of(function == ATOLL_FN_norm ? 2.0L : 0.0L, 0.0L);
                check(function, dtype, c.kept, out, in, x);
                if (function == ATOLL_FN_sum) check(function, dtype, c.kept, out, in, x, true);
            }
        }
}

TEST_CASE("variances are right beside means of 10^8 deviations, along any axis") {
    Random random = sequence(11);
    const Case cases[] = {{{20000}, 0},    {{2, 20000}, 1}, {{20000, 2}, 1},
                          {{300, 700}, 1}, {{30, 700}, 0},  {{7, 11, 300}, 1},
                          {{200000}, 0},   {{40, 5000}, 1}, {{5}, 0}};
    for (int dtype : {int{ATOLL_DTYPE_FLOAT32}, int{ATOLL_DTYPE_FLOAT64},
                      int{ATOLL_DTYPE_COMPLEX64}, int{ATOLL_DTYPE_COMPLEX128}})
        for (const Case &c : cases)
            for (Layout layout : {Layout::dense, Layout::permuted, Layout::strided}) {
                std::vector<bool> kept(c.shape.size(), false);
                std::fill_n(kept.begin(), c.kept, true);
                Operand in(dtype, false, c.shape, all_axes(c.shape), layout);
                // A trend, and noise: neither the first elements nor the last are the mean.
                long double trend = 0;
                const auto part = [&] {
                    return 1e8L + trend + static_cast<long double>(random() % 1024) / 1024 +
                           static_cast<long double>(random() % 1024) / 1024;
                };
                each(c.shape, [&](const Shape &index) {
                    trend += 1e-5L;
                    const long double re = part(), im = is_complex(dtype) ? -part() : 0;
                    in.set(index, convert(Value::of(re, im), dtype));
                });
                for (const auto &[function, ddof] :
                     {std::pair{int{ATOLL_FN_var}, 0.0L}, std::pair{int{ATOLL_FN_stddev}, 1.0L}}) {
                    Operand out(result_dtype(function, dtype), false, c.shape, kept, Layout::dense);
                    check(function, dtype, c.kept, out, in, Value::of(ddof, 0.0L));
                }
            }
}

TEST_CASE("variances of few values, whose squares are rounded alike, are right along any axis") {
    Random random = sequence(13);
    for (int dtype : {int{ATOLL_DTYPE_FLOAT64}, int{ATOLL_DTYPE_COMPLEX128}})
        for (std::int64_t length : {3, 5, 7, 20, 31, 40, 64, 200, 1500})
            for (Layout layout : {Layout::dense, Layout::permuted}) {
                const Shape shape = {400, length};
                Operand in(dtype, false, shape, all_axes(shape), layout);
                for (std::int64_t row = 0; row < shape[0]; ++row) {
                    const Value values[] = {random_value(dtype, random, false),
                                            random_value(dtype, random, false)};
                    const std::uint64_t seldom = 2 + random() % 20;
                    for (std::int64_t k = 0; k < length; ++k)
                        in.set({row, k}, values[random() % seldom == 0]);
                }
                Operand out(ATOLL_DTYPE_FLOAT64, false, shape, {true, false}, Layout::dense);
                check(ATOLL_FN_var, dtype, 1, out, in, Value::of(0.0L, 0.0L));
            }
}

TEST_CASE("variances of equal elements are zero, and overflow is no NaN") {
    for (int dtype : {int{ATOLL_DTYPE_FLOAT32}, int{ATOLL_DTYPE_FLOAT64},
                      int{ATOLL_DTYPE_COMPLEX64}, int{ATOLL_DTYPE_COMPLEX128}})
        for (const Shape &shape : {Shape{3000}, Shape{40, 100}, Shape{100, 40}, Shape{7}})
            for (const long double x : {0.1L, 12345678.9L, -1e20L}) {
                const std::size_t kept = shape.size() - 1;
                std::vector<bool> varies(shape.size(), false);
                std::fill_n(varies.begin(), kept, true);
                Operand in(dtype, false, shape, all_axes(shape), Layout::dense);
                Operand out(result_dtype(ATOLL_FN_stddev, dtype), false, shape, varies,
                            Layout::dense);
                each(shape,
                     [&](const Shape &index) { in.set(index, convert(Value::of(x, x), dtype)); });
                const atoll_scalar ddof = scalar_of(Value::of(1.0L, 0.0L), ATOLL_DTYPE_FLOAT64);
                at_each_level([&] {
                    REQUIRE(run(ATOLL_FN_stddev, dtype, shape, {out.c(), in.c()}, {ddof},
                                shape.size() - kept) == ATOLL_STATUS_OK);
                    // What is left is far below the rounding of an element.
                    CHECK(out.get(Shape(shape.size(), 0)).re <=
                          std::fabs(x) * epsilon(ATOLL_DTYPE_FLOAT64) * 1e-3L);
                });
            }
    const Shape shape = {3000};
    Operand in(ATOLL_DTYPE_FLOAT64, false, shape, {true}, Layout::dense);
    Operand out(ATOLL_DTYPE_FLOAT64, false, shape, {false}, Layout::dense);
    each(shape, [&](const Shape &index) {
        in.set(index, Value::of(index[0] % 3 ? 1e200L : -3e200L, 0.0L));
    });
    const atoll_scalar ddof = scalar_of(Value::of(0.0L, 0.0L), ATOLL_DTYPE_FLOAT64);
    at_each_level([&] {
        REQUIRE(run(ATOLL_FN_var, ATOLL_DTYPE_FLOAT64, shape, {out.c(), in.c()}, {ddof}, 1) ==
                ATOLL_STATUS_OK);
        CHECK(out.get({0}).re == INFINITY);
    });
    // The sum of these overflows, their mean does not.
    for (const Shape &large : {Shape{1, 20}, Shape{1, 3000}, Shape{40, 20}, Shape{40, 100}})
        for (const long double x : {2e306L, 1e307L, 1.7e308L}) {
            Operand same(ATOLL_DTYPE_FLOAT64, false, large, all_axes(large), Layout::dense);
            Operand variance(ATOLL_DTYPE_FLOAT64, false, large, {true, false}, Layout::dense);
            each(large, [&](const Shape &index) { same.set(index, Value::of(x, 0.0L)); });
            at_each_level([&] {
                REQUIRE(run(ATOLL_FN_var, ATOLL_DTYPE_FLOAT64, large, {variance.c(), same.c()},
                            {ddof}, 1) == ATOLL_STATUS_OK);
                CHECK(!std::isnan(variance.get({0, 0}).re));
            });
        }
}

// The mean of so many may be a last place off, the square of which overflows.
TEST_CASE("variances of equal numbers are zero however large they are") {
    const std::int64_t stride = 8, across[] = {0, 8}, along[] = {8, 0};
    for (const double x : {1.0209947513121719e200, 9.9999999999999997e199, 1.7e308})
        for (const std::int64_t n : {3, 7, 63, 5000})
            at_each_level([&] {
                CAPTURE(x);
                CAPTURE(n);
                std::vector<double> equal(static_cast<std::size_t>(n), x), results(20, -1);
                const std::vector<atoll_scalar> attributes = {
                    scalar_of(Value::of(0.0L, 0.0L), ATOLL_DTYPE_FLOAT64), flag_of(false)};
                const auto variances = [&](const Shape &shape, const std::int64_t *in,
                                           const std::int64_t *out) {
                    REQUIRE(run(ATOLL_FN_var, ATOLL_DTYPE_FLOAT64, shape,
                                {operand_at(results.data(), out, ATOLL_DTYPE_FLOAT64),
                                 operand_at(equal.data(), in, ATOLL_DTYPE_FLOAT64)},
                                attributes, 1) == ATOLL_STATUS_OK);
                };
                const std::int64_t none = 0;
                variances({n}, &stride, &none);
                CHECK(results[0] == 0);
                variances({20, n}, across, along);
                CHECK(std::count(results.begin(), results.end(), 0.0) == 20);
            });
}

TEST_CASE_TEMPLATE("norms of float64 leave the range only when the result does", Power,
                   std::integral_constant<int, 2>, std::integral_constant<int, 3>,
                   std::integral_constant<int, 12>) {
    const Value power = Value::of(static_cast<long double>(Power()), 0.0L);
    for (const double x : {1e200, 1e-200, 3e-320, 1.7e308})
        for (const Shape &shape :
             {Shape{100}, Shape{40, 100}, Shape{40, 3}, Shape{3, 9001}, Shape{3, 90001}}) {
            const std::size_t kept = shape.size() - 1;
            std::vector<bool> varies(shape.size(), false);
            std::fill_n(varies.begin(), kept, true);
            Operand in(ATOLL_DTYPE_FLOAT64, false, shape, all_axes(shape), Layout::dense);
            Operand out(ATOLL_DTYPE_FLOAT64, false, shape, varies, Layout::dense);
            each(shape, [&](const Shape &index) {
                in.set(
                    index,
                    Value::of(index.back() % 1000 == 0 ? static_cast<long double>(x) : 0.0L, 0.0L));
            });
            check(ATOLL_FN_norm, ATOLL_DTYPE_FLOAT64, kept, out, in, power);
        }
    // Rows of one result that are taken in with others.
    for (const std::int64_t length : {12, 70}) {
        const Shape shape = {80, length};
        Operand in(ATOLL_DTYPE_FLOAT64, false, shape, all_axes(shape), Layout::permuted);
        Operand out(ATOLL_DTYPE_FLOAT64, false, shape, {true, false}, Layout::dense);
        const long double some[] = {1e200L, 1, 1e-200L, 3e-320L, 1.7e308L};
        each(shape, [&](const Shape &index) {
            in.set(index, Value::of(index[1] == 5 ? some[index[0] % 5] : 0.0L, 0.0L));
        });
        check(ATOLL_FN_norm, ATOLL_DTYPE_FLOAT64, 1, out, in, power);
    }
    // Elements that are larger and larger, or smaller and smaller.
    for (const int sign : {1, -1}) {
        const Shape shape = {20'001};
        Operand in(ATOLL_DTYPE_FLOAT64, false, shape, all_axes(shape), Layout::dense);
        Operand out(ATOLL_DTYPE_FLOAT64, false, shape, {false}, Layout::dense);
        each(shape, [&](const Shape &index) {
            const int exponent = sign * (static_cast<int>(index[0]) / 10 - 1000);
            in.set(index, Value::of(std::ldexp(1.5L, exponent), 0.0L));
        });
        check(ATOLL_FN_norm, ATOLL_DTYPE_FLOAT64, 0, out, in, power);
    }
}

// What one element divided by another leaves no trace of may count all the same. An error of a
// power counts 1 / p times.
TEST_CASE("norms of low order count elements of every size") {
    constexpr std::size_t count = 1000;
    for (const double p : {0.01, 0.02, 0.1, 0.5})
        for (const std::size_t large : {0u, 999u})
            for (const std::size_t results : {1u, 20u}) // which share the rows of memory
                at_each_level([&] {
                    CAPTURE(p);
                    CAPTURE(results);
                    std::vector<double> x(results * count, 1e-300), norms(results);
                    std::fill_n(x.begin() + static_cast<std::ptrdiff_t>(large * results), results,
                                1e200);
                    const long double n = count - 1,
                                      sum = n * std::pow(static_cast<long double>(1e-300), p) +
                                            std::pow(static_cast<long double>(1e200), p),
                                      truth = std::pow(sum, 1 / static_cast<long double>(p));
                    const auto length = static_cast<std::int64_t>(results);
                    const std::int64_t in[] = {8, 8 * length}, out[] = {8, 0};
                    REQUIRE(run(ATOLL_FN_norm, ATOLL_DTYPE_FLOAT64, {length, count},
                                {operand_at(norms.data(), out, ATOLL_DTYPE_FLOAT64),
                                 operand_at(x.data(), in, ATOLL_DTYPE_FLOAT64)},
                                {scalar_of(Value::of(static_cast<long double>(p), 0.0L),
                                           ATOLL_DTYPE_FLOAT64),
                                 flag_of(false)},
                                1) == ATOLL_STATUS_OK);
                    for (const double norm : norms)
                        CHECK(std::fabs(norm / truth - 1) < 0x1p-52L / p);
                });
}

TEST_CASE("norms of low order that are too large are infinite") {
    const Shape shape = {70'000};
    Operand in(ATOLL_DTYPE_FLOAT64, false, shape, all_axes(shape), Layout::dense);
    Operand out(ATOLL_DTYPE_FLOAT64, false, shape, {false}, Layout::dense);
    each(shape, [&](const Shape &index) {
        in.set(index, Value::of(static_cast<long double>(index[0] % 1000 + 1), 0.0L));
    });
    for (const double p : {0.01, 0.011, 0.012})
        check(ATOLL_FN_norm, ATOLL_DTYPE_FLOAT64, 0, out, in,
              Value::of(static_cast<long double>(p), 0.0L));
}

// They are not converted first: vectors of halves, and what remains of them.
TEST_CASE("rows of halves of every length") {
    Random random = sequence(19);
    for (int dtype : {int{ATOLL_DTYPE_FLOAT16}, int{ATOLL_DTYPE_BFLOAT16}})
        for (int function : {int{ATOLL_FN_sum}, int{ATOLL_FN_prod}, int{ATOLL_FN_min},
                             int{ATOLL_FN_max}, int{ATOLL_FN_mean}, int{ATOLL_FN_norm}})
            for (std::int64_t n = 1; n <= 70; ++n) {
                const Shape shapes[] = {{n}, {40, n}, {n, 40}};
                const Shape &shape = shapes[random() % std::size(shapes)];
                const std::size_t kept = shape.size() - 1;
                std::vector<bool> varies(shape.size(), false);
                std::fill_n(varies.begin(), kept, true);
                Operand in(dtype, random() % 4 == 0, shape, all_axes(shape),
                           random() % 3 ? Layout::permuted : Layout::dense);
                Operand out(result_dtype(function, dtype), false, shape, varies, Layout::dense);
                each(shape, [&](const Shape &index) {
                    const long double x = static_cast<long double>(random() % 255) / 128 - 1;
                    in.set(index,
                           Value::of(function == ATOLL_FN_prod ? (x < 0 ? -1 : 1) : x, 0.0L));
                });
                check(function, dtype, kept, out, in, Value::of(2.0L, 0.0L));
            }
}

// They are not converted first either.
TEST_CASE("sums and means of the largest integers that are narrower than their sums") {
    Random random = sequence(23);
    const auto compare = [&](int dtype, const Shape &shape, Layout layout, bool alike) {
        const std::size_t kept = shape.size() - 1;
        std::vector<bool> varies(shape.size(), false);
        std::fill_n(varies.begin(), kept, true);
        Operand in(dtype, false, shape, all_axes(shape), layout);
        const bool is_signed = dtype <= ATOLL_DTYPE_INT32 && dtype >= ATOLL_DTYPE_INT8;
        const int bits = 8 * facts[dtype].size - is_signed;
        const __int128 largest = (__int128{1} << bits) - 1, smallest = is_signed ? -largest - 1 : 0;
        const std::uint64_t first = random();
        each(shape, [&](const Shape &index) {
            const bool is_large = (alike ? first : random()) & 1;
            if (dtype == ATOLL_DTYPE_BOOL) // any other byte than 0 is true
                in.memory[static_cast<std::size_t>(in.offset(index))] =
                    static_cast<char>(is_large ? 1 + random() % 255 : 0);
            else
                in.set(index, Value::of(is_large ? largest : smallest));
        });
        for (int function : {int{ATOLL_FN_sum}, int{ATOLL_FN_mean}}) {
            const bool sums = function == ATOLL_FN_sum;
            const int computed = !sums                                    ? ATOLL_DTYPE_FLOAT64
                                 : is_signed || dtype == ATOLL_DTYPE_BOOL ? ATOLL_DTYPE_INT64
                                                                          : ATOLL_DTYPE_UINT64;
            Operand out(computed, false, shape, varies, Layout::dense);
            check(function, computed, kept, out, in);
        }
    };
    for (int dtype : {int{ATOLL_DTYPE_BOOL}, int{ATOLL_DTYPE_INT8}, int{ATOLL_DTYPE_UINT8},
                      int{ATOLL_DTYPE_INT16}, int{ATOLL_DTYPE_UINT16}, int{ATOLL_DTYPE_INT32},
                      int{ATOLL_DTYPE_UINT32}}) {
        for (std::int64_t n = 1; n <= 70; ++n) {
            const Shape shapes[] = {{n}, {80, n}, {n, 40}};
            compare(dtype, shapes[random() % std::size(shapes)],
                    random() % 3 ? Layout::permuted : Layout::dense, false);
        }
        for (const Shape &shape : {Shape{140'003}, Shape{2, 70'001}})
            for (bool alike : {false, true, true}) compare(dtype, shape, Layout::dense, alike);
    }
}

TEST_CASE("a mean divides before it is rounded to a half") {
    const Shape shape = {3000};
    Operand in(ATOLL_DTYPE_FLOAT16, false, shape, {true}, Layout::dense);
    Operand out(ATOLL_DTYPE_FLOAT16, false, shape, {false}, Layout::dense);
    each(shape, [&](const Shape &index) { in.set(index, Value::of(40000.0L, 0.0L)); });
    check(ATOLL_FN_mean, ATOLL_DTYPE_FLOAT16, 0, out, in);
    check(ATOLL_FN_mean, ATOLL_DTYPE_FLOAT16, 0, out, in, {}, true);
    CHECK(out.get({0}).re == 40000.0L);
}
