// Running sums and products, sorting and searching against the oracle: dtypes, layouts, mixtures,
// in place, ties, NaN, and rows long enough to be cut up or merged.
#include "atoll/operand.hpp"
#include "check.h"

#include <bit>
#include <map>
#include <numeric>

using namespace oracle;

namespace {

const Shape shapes[] = {{1},     {2},        {17},         {300},          {4, 9},
                        {9, 33}, {3, 2, 20}, {2, 3, 2, 7}, {2, 2, 3, 2, 5}};

// Calls body(first): an index of every row, with the last axis at 0.
template <class Body> void each_row(const Shape &shape, Body &&body) {
    Shape others = shape;
    others.back() = 1;
    each(others, body);
}
std::vector<Value> row_of(const Operand &in, Shape index) {
    std::vector<Value> row;
    for (index.back() = 0; index.back() < in.shape.back(); ++index.back())
        row.push_back(in.get(index));
    return row;
}

// `in` may be `out`.
void check_rows(int function, int dtype, Operand &out, Operand &in, bool descending) {
    const Shape &shape = out.shape;
    const Function &f = function_list[function];
    const int natural = result_dtype(function, dtype);
    const std::vector<char> before = out.memory;
    std::vector<Expected> expected;
    each_row(shape, [&](const Shape &index) {
        if (is_scan(f)) {
            for (const Expected &e : scan(function, dtype, row_of(in, index)))
                expected.push_back(e);
        } else {
            for (const Value &v : sort(function, dtype, row_of(in, index), descending))
                expected.push_back({v});
        }
    });
    const std::string what = std::string(f.name) + " computed in " + facts[dtype].name + ", out " +
                             out.text() + ", in " + (&in == &out ? "place" : in.text()) +
                             (descending ? ", descending" : "");
    INFO(what);
    std::vector<atoll_scalar> attributes;
    if (is_sort(f)) attributes = {flag_of(descending)};
    compute(
        out, {&in},
        [&] {
            return run(function, dtype, shape, {out.c(), in.c()}, attributes, 1);
        },
        [&] {
            Findings findings;
            std::size_t k = 0;
            each_row(shape, [&](const Shape &index) {
                Shape at = index;
                for (at.back() = 0; at.back() < shape.back(); ++at.back(), ++k)
                    findings.check(expected[k], out.get(at), natural, out.dtype,
                                   " (" + std::to_string(k) + ")");
            });
            findings.report(what);
            CHECK(out.rest_is(before));
        });
}

void fill_for(int function, int dtype, Operand &in, Random &random, int kind) {
    each(in.shape, [&](const Shape &index) {
        Value v = random_value(in.dtype, random, kind == 1);
        if (kind == 2) // many ties
            v = Value::of(static_cast<long double>(random() % 4) - 1,
                          static_cast<long double>(random() % 3) - 1);
        if (function == ATOLL_FN_cumprod && !is_integer(dtype) && dtype != ATOLL_DTYPE_BOOL)
            v = kind == 1 && random() % 50 == 0 ? random_value(in.dtype, random, true)
                : is_complex(dtype) && random() % 2
                    ? Value::of(0.0L, random() % 2 ? 1.0L : -1.0L)
                    : Value::of(random() % 2 ? 1.0L + 0x1p-6L : -1.0L, 0.0L);
        in.set(index, convert(v, in.dtype));
    });
}

void check_function(const Function &f) {
    Random random = sequence(static_cast<std::uint64_t>(f.id));
    for (int dtype = 1; dtype < ATOLL_DTYPE_COUNT; ++dtype) {
        if (!(f.domain >> dtype & 1)) continue;
        for (Layout layout : layouts)
            for (int variant = 0; variant < 8; ++variant) {
                const bool mixed = variant & 2, descending = variant & 4;
                const Shape &shape = shapes[random() % std::size(shapes)];
                const auto swap = [&] { return (variant & 1) && random() % 2; };
                Operand in(mixed ? any_dtype(random) : dtype, swap(), shape, all_axes(shape),
                           layout);
                Operand out(mixed ? any_dtype(random) : result_dtype(f.id, dtype), swap(), shape,
                            all_axes(shape),
                            random() % 2 && layout != Layout::broadcast ? layout : Layout::dense);
                fill_for(f.id, dtype, in, random, static_cast<int>(random() % 3));
                check_rows(f.id, dtype, out, in, descending);
                // In place: the same dtype is compute dtype, input and output.
                if (f.id == ATOLL_FN_argsort || layout == Layout::broadcast) continue;
                Operand own(dtype, swap(), shape, all_axes(shape), layout);
                fill_for(f.id, dtype, own, random, static_cast<int>(random() % 3));
                check_rows(f.id, dtype, own, own, descending);
            }
    }
}

} // namespace

TEST_CASE("scans agree with the oracle on every dtype and layout") {
    for (const Function &f : function_list)
        if (is_scan(f)) check_function(f);
}

TEST_CASE("sorts agree with the oracle on every dtype and layout") {
    for (const Function &f : function_list)
        if (is_sort(f)) check_function(f);
}

TEST_CASE("rows of a few elements are sorted together as each alone") {
    Random random = sequence(41);
    for (int dtype = 1; dtype < ATOLL_DTYPE_COUNT; ++dtype)
        for (int function : {int{ATOLL_FN_sort}, int{ATOLL_FN_argsort}})
            for (std::int64_t n : {2, 3, 7, 16, 17})
                for (const Shape &shape : {Shape{7, n}, Shape{64, n}, Shape{9, 15, n}}) {
                    const Layout layout = layouts[random() % std::size(layouts)];
                    const bool swapped = random() % 4 == 0;
                    Operand in(dtype, swapped, shape, all_axes(shape), layout);
                    Operand out(result_dtype(function, dtype), random() % 4 == 0, shape,
                                all_axes(shape), random() % 2 ? Layout::dense : Layout::strided);
                    const int kind = static_cast<int>(random() % 3);
                    fill_for(function, dtype, in, random, kind);
                    check_rows(function, dtype, out, in, random() % 2);
                    if (function == ATOLL_FN_argsort || layout == Layout::broadcast) continue;
                    check_rows(function, dtype, in, in, random() % 2);
                }
}

// As their networks depend on the length, none is left out.
TEST_CASE("rows of every length are sorted together as each alone") {
    Random random = sequence(57);
    for (std::int64_t n = 2; n <= 130; ++n)
        for (int function : {int{ATOLL_FN_sort}, int{ATOLL_FN_argsort}})
            for (int trial = 0; trial < 3; ++trial) {
                const int dtype = 1 + static_cast<int>(random() % (ATOLL_DTYPE_COUNT - 1));
                const Shape shape = {8 + static_cast<std::int64_t>(random() % 150), n};
                Operand in(dtype, false, shape, all_axes(shape), Layout::dense);
                Operand out(result_dtype(function, dtype), false, shape, all_axes(shape),
                            Layout::dense);
                for (Operand *operand : {&in, &out}) { // rows that follow each other, or with gaps
                    const std::int64_t size = facts[operand->dtype].size,
                                       next = (n + static_cast<std::int64_t>(random() % 2)) * size;
                    operand->strides = {next, size};
                    operand->memory.resize(static_cast<std::size_t>(shape[0] * next + 256), '\x5a');
                }
                fill_for(function, dtype, in, random, static_cast<int>(random() % 3));
                if (dtype == ATOLL_DTYPE_BOOL) // all but 0 are true
                    for (char &byte : in.memory)
                        if (byte) byte = static_cast<char>(1 + random() % 255);
                check_rows(function, dtype, out, in, random() % 2);
                if (out.dtype == ATOLL_DTYPE_BOOL) // of which 1 is written
                    CHECK(std::ranges::all_of(out.memory, [](char byte) {
                        return byte == 0 || byte == 1 || byte == '\x5a';
                    }));
            }
}

TEST_CASE("special values are sorted with NaN last and ties in their order") {
    for (int function : {int{ATOLL_FN_sort}, int{ATOLL_FN_argsort}})
        for (int dtype = 1; dtype < ATOLL_DTYPE_COUNT; ++dtype)
            for (const auto &[descending, im_alone] :
                 {std::pair{false, false}, {true, false}, {false, true}, {true, true}}) {
                if (im_alone && !is_complex(dtype)) continue;
                const std::vector<Value> parts = special_values(dtype);
                std::vector<Value> values;
                for (int twice = 0; twice < 2; ++twice)
                    for (std::size_t k = 0; k < parts.size(); ++k)
                        for (std::size_t l = 0; l < (is_complex(dtype) ? parts.size() : 1); l += 3)
                            values.push_back(!is_complex(dtype) ? parts[k]
                                             : im_alone         ? Value::of(1.0L, parts[k].re)
                                                        : Value::of(parts[k].re, parts[l].re));
                Random random = sequence(3);
                std::shuffle(values.begin(), values.end(), random);
                const Shape shape = {static_cast<std::int64_t>(values.size())};
                Operand in(dtype, false, shape, {true}, Layout::dense);
                for (std::int64_t k = 0; k < shape[0]; ++k)
                    in.set({k}, values[static_cast<std::size_t>(k)]);
                Operand out(result_dtype(function, dtype), false, shape, {true}, Layout::dense);
                check_rows(function, dtype, out, in, descending);
            }
}

// Such as 0 / 0 gives on x86.
TEST_CASE("a NaN with a sign is sorted like any other") {
    Random random = sequence(59);
    for (int dtype :
         {int{ATOLL_DTYPE_FLOAT32}, int{ATOLL_DTYPE_FLOAT64}, int{ATOLL_DTYPE_COMPLEX64}})
        for (const std::int64_t n : {20, 300, 5000})
            for (const bool in_im : {false, true}) {
                if (in_im && !is_complex(dtype)) continue;
                Operand in(dtype, false, {n}, {true}, Layout::dense), out = in;
                for (std::int64_t k = 0; k < n; ++k)
                    in.set({k}, convert(Value::of(1.0L + random() % 50, 1.0L), dtype));
                const long double nan = -std::numeric_limits<long double>::quiet_NaN();
                in.set({n / 2},
                       convert(in_im ? Value::of(1.0L, nan) : Value::of(nan, 1.0L), dtype));
                for (const bool descending : {false, true})
                    check_rows(ATOLL_FN_sort, dtype, out, in, descending);
            }
}

TEST_CASE("a scan begins with the element itself") {
    // One row at a time, a strip of rows, and runs of a row.
    for (const Shape &shape : {Shape{3}, Shape{40, 3}, Shape{5000}})
        for (const auto &[re, im] : {std::pair{-0.0L, -0.0L}, std::pair{INFINITY + 0.0L, 0.0L}})
            for (int dtype = ATOLL_DTYPE_FLOAT16; dtype <= ATOLL_DTYPE_COMPLEX128; ++dtype)
                for (int function : {int{ATOLL_FN_cumsum}, int{ATOLL_FN_cumprod}}) {
                    Operand in(dtype, false, shape, all_axes(shape), Layout::dense);
                    Operand out(dtype, false, shape, all_axes(shape), Layout::dense);
                    each(shape, [&, re = re, im = im](const Shape &index) {
                        in.set(index, convert(Value::of(re, im), dtype));
                    });
                    CAPTURE(dtype);
                    CAPTURE(function);
                    at_each_level([&, re = re, im = im] {
                        REQUIRE(run(function, dtype, shape, {out.c(), in.c()}, {}, 1) ==
                                ATOLL_STATUS_OK);
                        const Value first = out.get(Shape(shape.size(), 0));
                        CHECK(first.re == re);
                        CHECK(std::signbit(first.re) == std::signbit(re));
                        if (is_complex(dtype)) {
                            CHECK(first.im == im);
                            CHECK(std::signbit(first.im) == std::signbit(im));
                        }
                    });
                }
}

TEST_CASE("long rows and many rows are scanned and sorted as short ones") {
    Random random = sequence(37);
    for (const Shape &shape : {Shape{80003}, Shape{2, 40000}, Shape{25000, 3}, Shape{900, 80}})
        for (int function : {int{ATOLL_FN_cumsum}, int{ATOLL_FN_cumprod}, int{ATOLL_FN_sort},
                             int{ATOLL_FN_argsort}})
            for (int dtype : {int{ATOLL_DTYPE_INT64}, int{ATOLL_DTYPE_FLOAT32},
                              int{ATOLL_DTYPE_FLOAT64}, int{ATOLL_DTYPE_INT16}}) {
                if (!(function_list[function].domain >> dtype & 1)) continue;
                if (random_tests::leaves_out(random)) continue;
                const bool sorts = is_sort(function_list[function]);
                Operand in(dtype, false, shape, all_axes(shape),
                           random() % 2 ? Layout::permuted : Layout::dense);
                Operand out(result_dtype(function, dtype), false, shape, all_axes(shape),
                            Layout::dense);
                each(shape, [&](const Shape &index) {
                    const bool ones = function == ATOLL_FN_cumprod && is_real_float(dtype);
                    in.set(index, ones ? Value::of(random() % 2 ? 1.0L : -1.0L, 0.0L)
                                       : random_value(dtype, random, sorts));
                });
                check_rows(function, dtype, out, in, random() % 2);
            }
}

TEST_CASE("rows that are neither short nor long are scanned together as each alone") {
    Random random = sequence(39);
    for (int function : {int{ATOLL_FN_cumsum}, int{ATOLL_FN_cumprod}})
        for (int dtype = 1; dtype < ATOLL_DTYPE_COUNT; ++dtype) {
            if (!(function_list[function].domain >> dtype & 1)) continue;
            for (const std::int64_t length : {8, 13, 32, 67, 128}) {
                const Shape shape = {150, length};
                const bool converts = random() % 3 == 0;
                const int from = converts ? any_dtype(random) : dtype;
                Operand in(from, converts && random() % 2, shape, all_axes(shape),
                           Layout::permuted);
                Operand out(converts ? any_dtype(random) : result_dtype(function, dtype), false,
                            shape, all_axes(shape),
                            random() % 4 ? Layout::permuted : Layout::dense);
                each(shape, [&](const Shape &index) {
                    const bool ones = function == ATOLL_FN_cumprod;
                    in.set(index, convert(ones ? Value::of(random() % 2 ? 1.0L : -1.0L, 0.0L)
                                               : random_value(dtype, random, random() % 8 == 0),
                                          from));
                });
                check_rows(function, dtype, out, in, random() % 2);
            }
        }
}

TEST_CASE("long rows are scanned as short ones, whatever the layout, and in place") {
    Random random = sequence(53);
    // Multiples of what is scanned at once, and a few more and less; of some dtypes as long as it
    // takes for threads.
    const Shape lengths[] = {{4096}, {4095}, {6143}, {8192}, {9001}, {2, 6145}, {19, 4100}};
    const auto shape_for = [&](int dtype) {
        const bool threads = dtype == ATOLL_DTYPE_UINT8 || dtype == ATOLL_DTYPE_INT32 ||
                             dtype == ATOLL_DTYPE_FLOAT16 || dtype == ATOLL_DTYPE_COMPLEX64;
        return threads ? Shape{70'001} : lengths[random() % std::size(lengths)];
    };
    for (int function : {int{ATOLL_FN_cumsum}, int{ATOLL_FN_cumprod}})
        for (int dtype = 1; dtype < ATOLL_DTYPE_COUNT; ++dtype) {
            if (!(function_list[function].domain >> dtype & 1)) continue;
            const bool ones = function == ATOLL_FN_cumprod && !is_integer(dtype);
            for (Layout layout : {Layout::dense, Layout::strided, Layout::unaligned}) {
                const Shape shape = shape_for(dtype);
                const bool in_place = random() % 3 == 0, swapped = random() % 2;
                Operand in(dtype, swapped, shape, all_axes(shape), layout);
                each(shape, [&](const Shape &index) {
                    in.set(index, ones ? Value::of(random() % 2 ? 1.0L : -1.0L, 0.0L)
                                       : random_value(dtype, random, false));
                });
                Operand out(random() % 2 ? any_dtype(random) : result_dtype(function, dtype),
                            random() % 2, shape, all_axes(shape), layout);
                check_rows(function, dtype, in_place ? in : out, in, false);
            }
        }
}

// cumsum of a dense row at the present level.
template <class T> void running_sums(const std::vector<T> &x, std::vector<T> &y) {
    constexpr std::uint16_t dtype = Atoll::sdk::dtype_of<T>;
    const std::int64_t stride = sizeof(T);
    T *const from = const_cast<T *>(x.data());
    REQUIRE(run(ATOLL_FN_cumsum, dtype, {static_cast<std::int64_t>(x.size())},
                {operand_at(y.data(), &stride, dtype), operand_at(from, &stride, dtype)}, {},
                1) == ATOLL_STATUS_OK);
}

// Rows of 3 that follow each other, backwards, apart, in two groups, and each of these in the
// result. Whole numbers, which any order of additions gives exactly.
TEST_CASE("short rows are scanned wherever they lie") {
    constexpr std::int64_t n = 3, rows = 12, groups = 2, room = 300, middle = 100;
    struct Steps {
        std::int64_t element, row, group;
    };
    const Steps all[] = {{1, 3, 36}, {-1, 3, 36},   {1, -3, -36}, {1, 4, 48},
                         {2, 6, 72}, {1, 3, 3 * 9}, {1, 3, 40},   {24, 1, 12}};
    const auto place = [&](const Steps &steps, std::int64_t k, std::int64_t row,
                           std::int64_t group) {
        return static_cast<std::size_t>(middle + k * steps.element + row * steps.row +
                                        group * steps.group);
    };
    for (const Steps &from : all)
        for (const Steps &to : all) {
            if (to.group == 27) continue; // groups that share elements
            std::vector<double> x(room), y(room, -1), expected(room, -1);
            for (std::size_t i = 0; i < room; ++i) x[i] = static_cast<double>(i * i % 97);
            for (std::int64_t group = 0; group < groups; ++group)
                for (std::int64_t row = 0; row < rows; ++row) {
                    double sum = 0;
                    for (std::int64_t k = 0; k < n; ++k)
                        expected[place(to, k, row, group)] = sum += x[place(from, k, row, group)];
                }
            const auto operand = [&](std::vector<double> &values, const Steps &steps,
                                     std::int64_t(&bytes)[3]) {
                bytes[0] = 8 * steps.group, bytes[1] = 8 * steps.row, bytes[2] = 8 * steps.element;
                return operand_at(values.data() + middle, bytes, ATOLL_DTYPE_FLOAT64);
            };
            std::int64_t bytes[2][3];
            CAPTURE(from.row);
            CAPTURE(from.element);
            CAPTURE(to.row);
            CAPTURE(to.element);
            REQUIRE(run(ATOLL_FN_cumsum, ATOLL_DTYPE_FLOAT64, {groups, rows, n},
                        {operand(y, to, bytes[0]), operand(x, from, bytes[1])}, {},
                        1) == ATOLL_STATUS_OK);
            CHECK(y == expected);
        }
}

// Long enough for threads to work side by side, and not so long that two of them do not.
TEST_CASE_TEMPLATE("running sums of a long row do not depend on the threads", T, std::int64_t,
                   float, double) {
    Random random = sequence(61);
    std::vector<T> x(1'400'011), y(x.size()), alone(x.size());
    for (T &value : x) value = static_cast<T>(static_cast<std::int64_t>(random()) >> 20);
    at_each_level([&] {
        level->set_pool(nullptr, nullptr, 0);
        running_sums(x, alone);
        level->set_pool(&parallel_for, nullptr, 3);
        running_sums(x, y);
        CHECK(y == alone);
        if constexpr (std::is_integral_v<T>) {
            std::partial_sum(x.begin(), x.end(), alone.begin());
            CHECK(y == alone);
        }
    });
}

TEST_CASE_TEMPLATE("running sums that are streamed are the same", T, float, double) {
    Random random = sequence(67);
    constexpr std::int64_t n = 70'011, line = 64 / sizeof(T), stride = sizeof(T);
    constexpr std::uint16_t dtype = Atoll::sdk::dtype_of<T>;
    std::vector<T> x(n);
    for (T &value : x) value = static_cast<T>(static_cast<std::int64_t>(random()) >> 20);
    // So many elements behind the beginning of a cache line, with others before and behind.
    const auto sums = [&](std::int64_t offset, bool streams) {
        level->large_operands().scans_stream = streams;
        std::vector<T> memory(n + 4 * line, T(7));
        const auto past = reinterpret_cast<std::uintptr_t>(memory.data()) % 64 / sizeof(T);
        T *const first = memory.data() + 2 * line - static_cast<std::int64_t>(past) + offset;
        REQUIRE(run(ATOLL_FN_cumsum, dtype, {n},
                    {operand_at(first, &stride, dtype), operand_at(x.data(), &stride, dtype)}, {},
                    1) == ATOLL_STATUS_OK);
        return std::vector<T>(first - line, first + n + line);
    };
    Atoll::kernels::LargeOperands lowest = level->large_operands();
    lowest.far = 0;
    lowest.scans_shared = true;
    const Lowered lowered(lowest);
    at_each_level([&] {
        for (const std::int64_t offset : {std::int64_t{0}, std::int64_t{1}, line}) {
            level->set_pool(nullptr, nullptr, 0);
            const std::vector<T> expected = sums(offset, false);
            CHECK(expected == sums(offset, true));
            level->set_pool(&parallel_for, nullptr, 3);
            CHECK(expected == sums(offset, true));
            CHECK(expected == sums(offset, false));
            CHECK(std::count(expected.begin(), expected.begin() + line, T(7)) == line);
            CHECK(std::count(expected.end() - line, expected.end(), T(7)) == line);
        }
    });
}

TEST_CASE("running sums of numbers that are not negative do not fall") {
    Random random = sequence(59);
    const auto check = [&](auto zero) {
        using T = decltype(zero);
        std::vector<T> x(50'000), y(x.size());
        for (T &value : x)
            value = random() % 4 ? 0 : std::ldexp(T(random() % 1'000'003), -int(random() % 20));
        at_each_level([&] {
            running_sums(x, y);
            CHECK(std::is_sorted(y.begin(), y.end()));
        });
    };
    check(0.0F);
    check(0.0);
}

TEST_CASE("running sums overflow where they do in order, and only there") {
    constexpr double large = 1.5e308;
    std::vector<double> x(200'000), y(x.size()), expected(x.size());
    const auto check = [&](const char *what) {
        CAPTURE(what);
        double sum = 0;
        for (std::size_t k = 0; k < x.size(); ++k) expected[k] = sum += x[k];
        at_each_level([&] {
            running_sums(x, y);
            for (std::size_t k = 0; k < x.size(); ++k)
                if (y[k] != expected[k] && !(std::isnan(y[k]) && std::isnan(expected[k]))) {
                    FAIL_CHECK(k << ": " << y[k] << ", need " << expected[k]);
                    break;
                }
        });
    };
    // Those of parts of the first run would be infinite, and NaN from there on.
    constexpr double largest = std::numeric_limits<double>::max();
    x[0] = x[4] = x[5] = -largest;
    x[2] = x[3] = x[6] = largest;
    check("parts of the first run");
    CHECK(expected.back() == 0);
    std::fill_n(x.begin(), 7, 0.0);
    // The sums of runs of 32 elements would be infinite by themselves.
    for (const std::size_t k : {0u, 2000u}) {
        x[k + 5] = -large;
        x[k + 580] = x[k + 581] = x[k + 590] = x[k + 591] = large / 2;
        x[k + 600] = -large;
    }
    check("finite");
    CHECK(expected.back() == 0);
    // What overflows does not come back: where a part that is large is added to something moderate,
    x[100'000] = 0.5e308;
    x[150'000] = large;
    x[150'001] = -large;
    check("overflow of a part");
    CHECK(expected.back() == INFINITY);
    // and where one that is moderate is added to something large.
    std::swap(x[100'000], x[150'000]);
    x[150'001] = -0.5e308;
    check("overflow by a part");
    CHECK(expected.back() == INFINITY);
    x[150'000] = x[150'001] = 0;
    x[190'000] = -INFINITY;
    x[195'000] = 1;
    check("infinite element");
    x[195'001] = INFINITY;
    check("infinite elements of both signs");
    x[100] = NAN;
    check("NaN");
    // Large parts everywhere.
    Random random = sequence(67);
    for (std::size_t k = 0; k < x.size(); ++k)
        x[k] = k % 1000 == 500   ? 1.2e308
               : k % 1000 == 501 ? -1.2e308
                                 : static_cast<double>(random() % 1000);
    check("large parts");
}

TEST_CASE("rows that several threads sort are sorted as short ones") {
    Random random = sequence(43);
    // Digits that are the same everywhere cost no pass: none to all of them vary.
    enum Kind { equal, two_values, few_values, ordinary, special };
    const auto value = [&](Kind kind, int dtype) {
        switch (kind) {
        case equal: return convert(Value::of(3.0L, 1.0L), dtype);
        case two_values: return convert(Value::of(random() % 2 ? 3.0L : 2.0L, 1.0L), dtype);
        case few_values:
            return convert(Value::of(static_cast<long double>(random() % 201) - 100, 1.0L), dtype);
        default: return random_value(dtype, random, kind == special);
        }
    };
    for (int function : {int{ATOLL_FN_sort}, int{ATOLL_FN_argsort}})
        for (int dtype : {int{ATOLL_DTYPE_BOOL}, int{ATOLL_DTYPE_INT16}, int{ATOLL_DTYPE_FLOAT32},
                          int{ATOLL_DTYPE_FLOAT64}, int{ATOLL_DTYPE_COMPLEX128}})
            for (Kind kind : {equal, two_values, few_values, ordinary, special}) {
                if (!is_thorough() && random() % 5 >= 2) continue;
                if (random_tests::leaves_out(random)) continue;
                const Shape shape = random() % 8 ? Shape{131'079} : Shape{2, 196'613};
                const Layout layout = random() % 2 ? Layout::dense : Layout::strided;
                Operand in(dtype, false, shape, all_axes(shape), layout);
                each(shape, [&](const Shape &index) { in.set(index, value(kind, dtype)); });
                const bool descending = random() % 2;
                if (function == ATOLL_FN_sort && random() % 2) {
                    check_rows(function, dtype, in, in, descending);
                    continue;
                }
                Operand out(result_dtype(function, dtype), false, shape, all_axes(shape),
                            random() % 2 ? Layout::dense : Layout::strided);
                check_rows(function, dtype, out, in, descending);
            }
}

// Beside std::sort: rows that vectors partition, and those that are cut into as many pieces as any,
// in and out of place.
TEST_CASE_TEMPLATE("long rows of numbers are sorted, by one thread or several", T, std::int32_t,
                   std::uint32_t, std::int64_t, std::uint64_t, float, double) {
    constexpr bool is_short = sizeof(T) == 4;
    constexpr std::uint16_t dtype = Atoll::sdk::dtype_of<T>;
    using Bits = std::conditional_t<is_short, std::uint32_t, std::uint64_t>;
    Random random = sequence(47);
    // All values but NaN and -0.
    const auto any = [&] {
        const T x = std::bit_cast<T>(static_cast<Bits>(random()));
        return x == x && x != T(0) ? x : T(1);
    };
    enum Kind { all_values, few_values, one_value, repeating, rare, ends, rising, falling, kinds };
    const auto value = [&](int kind, std::size_t k, std::size_t n) {
        constexpr auto lowest = std::numeric_limits<T>::lowest();
        constexpr auto highest = std::numeric_limits<T>::max();
        switch (kind) {
        case few_values: return static_cast<T>(random() % 5);
        case one_value: return T(7);
        case repeating: return static_cast<T>(k % 64);
        case rare: return k % (is_short ? 800 : 1600) == 0 ? any() : highest; // 40 to 80 of a piece
        case ends: return k % 3 == 0 ? any() : k % 3 == 1 ? highest : lowest;
        case rising: return static_cast<T>(k);
        case falling: return static_cast<T>(n - k);
        default: return any();
        }
    };
    const auto check = [&](std::size_t n, int kind, bool descending) {
        constexpr std::size_t beside = 32;
        std::vector<T> x(n), y(n + 2 * beside, T(5));
        for (std::size_t k = 0; k < n; ++k) x[k] = value(kind, k, n);
        std::vector<T> sorted = x;
        std::sort(sorted.begin(), sorted.end());
        if (descending) std::reverse(sorted.begin(), sorted.end());
        sorted.insert(sorted.begin(), beside, T(5));
        sorted.insert(sorted.end(), beside, T(5));
        const std::int64_t stride = sizeof(T);
        const bool in_place = random() % 2;
        CAPTURE(n);
        CAPTURE(kind);
        CAPTURE(descending);
        at_each_level([&] {
            T *const row = y.data() + beside;
            if (in_place) std::copy(x.begin(), x.end(), row);
            REQUIRE(run(ATOLL_FN_sort, dtype, {static_cast<std::int64_t>(n)},
                        {operand_at(row, &stride, dtype),
                         operand_at(in_place ? row : x.data(), &stride, dtype)},
                        {flag_of(descending)}, 1) == ATOLL_STATUS_OK);
            CHECK(y == sorted);
        });
    };
    for (int kind = 0; kind < kinds; ++kind)
        for (const bool descending : {false, true}) {
            const bool longest = std::is_same_v<T, float> && kind == all_values && descending;
            if (kind <= rare || descending == (random() % 2 != 0))
                check(longest ? 2'200'011 : 131'072 + random() % 150'000, kind, descending);
            for (int trial = 0; trial < 20; ++trial) {
                const std::size_t most = trial % 2 ? 700 : 9'000;
                check(16 + random() % most, kind, descending);
            }
        }
}

TEST_CASE("searches agree with the oracle on every dtype and layout") {
    Random random = sequence(41);
    struct Case {
        Shape values;
        std::int64_t n;
    };
    const Case cases[] = {{{}, 5},      {{1}, 1},      {{40}, 1},       {{40}, 2},
                          {{40}, 17},   {{7, 6}, 100}, {{3, 2, 4}, 64}, {{2, 3, 2, 2}, 9},
                          {{30}, 1000}, {{50}, 700}};
    const auto check = [&](int dtype, const Case &c, Layout layout, bool mixed, bool swap,
                           bool right, bool vectors) {
        Shape shape = c.values;
        shape.push_back(c.n);
        std::vector<bool> of_values(shape.size(), true), of_sorted(shape.size(), false);
        of_values.back() = false;
        of_sorted.back() = true;
        // One vector for all values, or others along some of their axes.
        for (std::size_t axis = 0; axis < c.values.size(); ++axis)
            of_sorted[axis] = vectors && random() % 2;
        // Conversions that keep the order: small dtypes into larger ones.
        const int own = mixed ? int{ATOLL_DTYPE_UINT8} : dtype,
                  other = mixed ? int{ATOLL_DTYPE_BOOL} : dtype;
        Operand values(own, swap, shape, of_values, layout);
        Operand sorted(other, swap && random() % 2, shape, of_sorted,
                       layout == Layout::broadcast ? Layout::dense : layout);
        Operand out(mixed ? any_dtype(random) : int{ATOLL_DTYPE_INT64}, swap, shape, of_values,
                    layout == Layout::broadcast ? Layout::dense : layout);
        const bool specials = random() % 2, ties = random() % 2;
        std::map<std::int64_t, std::vector<Value>> lines; // by the address of the first element
        Shape places = shape;
        places.back() = 1;
        each(places, [&](const Shape &index) {
            std::vector<Value> &line = lines[sorted.offset(index)];
            if (line.empty()) {
                for (std::int64_t k = 0; k < c.n; ++k)
                    line.push_back(
                        ties ? convert(Value::of(static_cast<long double>(random() % 9) - 4,
                                                 static_cast<long double>(random() % 2)),
                                       other)
                             : random_value(other, random, specials));
                std::stable_sort(line.begin(), line.end(), oracle::before);
                Shape at = index;
                for (at.back() = 0; at.back() < c.n; ++at.back())
                    sorted.set(at, line[static_cast<std::size_t>(at.back())]);
            }
            Value v = random_value(own, random, specials);
            if (random() % 2) v = convert(line[random() % line.size()], own);
            values.set(index, v);
        });
        const std::vector<char> before = out.memory;
        const std::string what = std::string("searchsorted computed in ") + facts[dtype].name +
                                 ", out " + out.text() + ", values " + values.text() + ", sorted " +
                                 sorted.text() + (right ? ", right" : "");
        INFO(what);
        for (auto &[address, line] : lines)
            for (Value &v : line) v = convert(v, dtype);
        std::vector<Expected> expected;
        each(places, [&](const Shape &index) {
            const std::vector<Value> &line = lines[sorted.offset(index)];
            // Every element is looked at only where that is cheap.
            const Value v = convert(values.get(index), dtype);
            const auto bound = right
                                   ? std::upper_bound(line.begin(), line.end(), v, oracle::before)
                                   : std::lower_bound(line.begin(), line.end(), v, oracle::before);
            std::int64_t position = bound - line.begin();
            if (c.n <= 100) position = search(ATOLL_FN_searchsorted, dtype, v, line, right);
            expected.push_back({Value::of(__int128{position})});
        });
        out.shape = places;
        compute(
            out, {&values, &sorted},
            [&] {
                return run(ATOLL_FN_searchsorted, dtype, shape, {out.c(), values.c(), sorted.c()},
                           {flag_of(right)}, 1);
            },
            [&] {
                Findings findings;
                std::size_t k = 0;
                each(places, [&](const Shape &index) {
                    findings.check(expected[k++], out.get(index), ATOLL_DTYPE_INT64, out.dtype,
                                   " of " + text(convert(values.get(index), dtype)));
                });
                findings.report(what);
                CHECK(out.rest_is(before));
            });
    };
    for (int dtype = 1; dtype < ATOLL_DTYPE_COUNT; ++dtype)
        for (const Case &c : cases)
            for (Layout layout : layouts)
                for (int variant = 0; variant < 6; ++variant)
                    check(dtype, c, layout, variant == 3, variant & 1, random() % 2, variant > 3);
    for (int dtype : {int{ATOLL_DTYPE_INT32}, int{ATOLL_DTYPE_FLOAT64}})
        for (bool vectors : {false, true}) {
            check(dtype, {{vectors ? 20003 : 100003}, 33}, Layout::dense, false, false, true,
                  vectors);
            check(dtype, {{10, 20}, 70001}, Layout::permuted, false, false, false, vectors);
            check(dtype, {{4000, 20}, 40}, Layout::strided, false, true, false, vectors);
            check(dtype, {{6000}, 5000}, Layout::reversed, false, true, true, false);
        }
    // The vector is converted by several threads.
    check(ATOLL_DTYPE_INT32, {{60}, 100003}, Layout::dense, true, false, false, false);
}
