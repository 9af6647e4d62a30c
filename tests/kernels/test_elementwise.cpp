// Unary, binary and ternary kernels against the oracle: every function, every dtype, every layout,
// every mixture. Single values that matter are in test_special_values.cpp.
#include "address_space.h"
#include "atoll/operand.hpp"
#include "check.h"
#include "end_of_page.h"

#include <array>
#include <optional>
#include <sys/wait.h>
#include <unistd.h>

using namespace oracle;

namespace {

const Shape shapes[] = {{},       {1},        {7},          {130},          {5, 4},
                        {33, 12}, {3, 2, 11}, {2, 3, 4, 5}, {2, 3, 2, 3, 2}};
const Shape long_shapes[] = {{1100}, {33, 40}};

// The host gives 64-bit integers to comparisons only with the dtype that they have in common:
// tested below.
bool never_called(const Function &f, int dtype, int in) {
    return is_comparison(f.id) && facts[in].size == 8 && is_integer(in) && dtype != in;
}

void check_function(const Function &f) {
    Random random = sequence(static_cast<std::uint64_t>(f.id) + 1);
    const int inputs = f.signature.input_count();
    for (int dtype = 1; dtype < ATOLL_DTYPE_COUNT; ++dtype) {
        if (!(f.domain >> dtype & 1)) continue;
        for (Layout layout : layouts) {
            for (int variant = 0; variant < 4; ++variant) { // bit 0: swapped, bit 1: mixed dtypes
                const Shape &shape = variant == 0 && random() % 2
                                         ? long_shapes[random() % std::size(long_shapes)]
                                         : shapes[random() % std::size(shapes)];
                const auto swap = [&] { return (variant & 1) && random() % 2; };
                const Layout out_layout = layout == Layout::broadcast ? Layout::dense
                                          : random() % 2              ? layout
                                                                      : Layout::dense;
                Operand out(variant & 2 ? any_dtype(random) : result_dtype(f.id, dtype), swap(),
                            shape, all_axes(shape), out_layout);
                std::vector<Operand> in;
                for (int k = 0; k < inputs; ++k) {
                    int own = f.id == ATOLL_FN_where && k == 0 ? int{ATOLL_DTYPE_BOOL} : dtype;
                    if (variant & 2) own = any_dtype(random);
                    if (never_called(f, dtype, own)) own = dtype;
                    const bool scalar = random() % 6 == 0;
                    in.emplace_back(own, swap(), shape, std::vector<bool>(shape.size(), !scalar),
                                    k == 0 || random() % 2 ? layout : Layout::dense);
                    in.back().flag_scalar = random() % 2;
                    fill(in.back(), random, true);
                }
                fill(out, random, false);
                std::vector<Operand *> pointers;
                for (Operand &operand : in) pointers.push_back(&operand);
                check_elementwise(f, dtype, out, pointers);
                // In place: one or more inputs are the output's own elements.
                fill(out, random, true);
                if (never_called(f, dtype, out.dtype)) continue;
                const std::size_t own = random() % pointers.size();
                pointers[own] = &out;
                if (random() % 4 == 0) pointers[0] = &out;
                check_elementwise(f, dtype, out, pointers);
            }
        }
    }
}

} // namespace

TEST_CASE("unary kernels agree with the oracle on every dtype, layout and mixture") {
    for (const Function &f : function_list)
        if (has_inputs<1>(f)) check_function(f);
}
TEST_CASE("binary kernels agree with the oracle on every dtype, layout and mixture") {
    for (const Function &f : function_list)
        if (has_inputs<2>(f)) check_function(f);
}
TEST_CASE("ternary kernels agree with the oracle on every dtype, layout and mixture") {
    for (const Function &f : function_list)
        if (has_inputs<3>(f)) check_function(f);
}

TEST_CASE("kernels refuse dtypes outside the domain and write nothing") {
    for (const Function &f : function_list) {
        if (!is_elementwise(f)) continue;
        for (int dtype = 0; dtype < ATOLL_DTYPE_COUNT + 1; ++dtype) {
            if (f.domain >> dtype & 1) continue;
            Operand out(ATOLL_DTYPE_COMPLEX128, false, {3}, {true}, Layout::dense), a = out;
            const std::vector<char> before = out.memory;
            CAPTURE(std::string(f.name));
            CAPTURE(dtype);
            at_each_level([&] {
                CHECK(run(f.id, dtype, {3}, {out.c(), a.c(), a.c(), a.c()}) ==
                      ATOLL_STATUS_NOT_SUPPORTED);
                CHECK(out.memory == before);
            });
        }
    }
}

TEST_CASE("large operands take the threads' path with the same results") {
    Random random = sequence(11);
    const auto check = [&](int function, int dtype, int to, const Shape &shape, Layout layout) {
        const Function &f = function_list[function];
        Operand a(dtype, false, shape, all_axes(shape), layout);
        Operand b(ATOLL_DTYPE_FLOAT64, true, shape, all_axes(shape), Layout::dense);
        Operand c(dtype, false, shape, std::vector<bool>(shape.size(), false), Layout::dense);
        Operand out(to, false, shape, all_axes(shape), Layout::dense);
        for (Operand *o : {&a, &b, &c}) fill(*o, random, false);
        std::vector<Operand *> in = {&a};
        if (f.signature.input_count() > 1) in = {&a, has_inputs<3>(f) ? &a : &b};
        if (f.signature.input_count() > 2) in.push_back(&c);
        check_elementwise(f, dtype, out, in);
    };
    for (const Shape &shape : {Shape{100001}, Shape{317, 251}})
        for (Layout layout : {Layout::dense, Layout::permuted}) {
            check(ATOLL_FN_add, ATOLL_DTYPE_FLOAT32, ATOLL_DTYPE_FLOAT32, shape, layout);
            check(ATOLL_FN_multiply, ATOLL_DTYPE_INT16, ATOLL_DTYPE_INT32, shape, layout);
            check(ATOLL_FN_less, ATOLL_DTYPE_INT32, ATOLL_DTYPE_BOOL, shape, layout);
            check(ATOLL_FN_exp, ATOLL_DTYPE_FLOAT32, ATOLL_DTYPE_FLOAT32, shape, layout);
            check(ATOLL_FN_square, ATOLL_DTYPE_FLOAT16, ATOLL_DTYPE_FLOAT64, shape, layout);
            check(ATOLL_FN_clip, ATOLL_DTYPE_FLOAT32, ATOLL_DTYPE_FLOAT32, shape, layout);
            check(ATOLL_FN_where, ATOLL_DTYPE_INT64, ATOLL_DTYPE_INT64, shape, layout);
        }
    check(ATOLL_FN_copy, ATOLL_DTYPE_FLOAT32, ATOLL_DTYPE_INT16, {100001}, Layout::permuted);
}

TEST_CASE("results that go past the caches are the same") {
    // With the tiles of each maker's processors.
    Atoll::kernels::LargeOperands lowest = {.alone = 2048,
                                            .shared = 2048,
                                            .copied = {2048, 2048, 1, 8, 1, false},
                                            .computed = {2048, 2048, 256, 1, 1, false},
                                            .fetched_ahead = true};
    bool other_paths = true; // that have no tiles
    SUBCASE("long tiles") {}
    SUBCASE("wide tiles") {
        other_paths = false;
        lowest.copied = {2048, 2048, 6, 3, 2, false};
        lowest.computed = {2048, 2048, 8, 2, 3, true};
    }
    SUBCASE("whole lines") {
        other_paths = false;
        lowest.by_lines = true;
    }
    SUBCASE("strips") {
        other_paths = false;
        lowest.computed = {2048, 2048, 4096, 4, 0, false, Atoll::kernels::tile_scratch + 8192};
    }
    const Lowered lowered(lowest);
    Random random = sequence(13);
    // A cache line begins at the first element, or `past` bytes before it.
    const auto shift = [](Operand &operand, std::int64_t past) {
        const auto at = reinterpret_cast<std::uintptr_t>(operand.memory.data() + operand.start);
        operand.start += (64 - static_cast<std::int64_t>(at % 64)) % 64 + past - 64 * (past > 0);
    };
    const Shape several[] = {{1601}, {96, 18}, {80, 5, 4}, {192, 10}};
    const Shape long_runs = {2070, 20}; // longer than any tile, and several tiles wide
    for (int function : {int{ATOLL_FN_add}, int{ATOLL_FN_subtract}, int{ATOLL_FN_multiply},
                         int{ATOLL_FN_divide}, int{ATOLL_FN_equal}, int{ATOLL_FN_not_equal},
                         int{ATOLL_FN_less}, int{ATOLL_FN_less_equal}, int{ATOLL_FN_greater},
                         int{ATOLL_FN_greater_equal}, int{ATOLL_FN_maximum}})
        for (int dtype :
             {int{ATOLL_DTYPE_FLOAT32}, int{ATOLL_DTYPE_FLOAT64}, int{ATOLL_DTYPE_INT8},
              int{ATOLL_DTYPE_UINT16}, int{ATOLL_DTYPE_INT32}, int{ATOLL_DTYPE_UINT64}}) {
            if (!(function_list[function].domain >> dtype & 1)) continue;
            std::vector<Shape> shapes(std::begin(several), std::end(several));
            if (function == ATOLL_FN_subtract || function == ATOLL_FN_maximum)
                shapes.push_back(long_runs);
            for (const Shape &shape : shapes)
                for (int variant = 0; variant < 13; ++variant) {
                    const auto input = [&](bool value, Layout layout, int from, bool swapped) {
                        std::vector<bool> varies = all_axes(shape);
                        if (value) varies.assign(shape.size(), false);
                        if (value && shape.size() > 1) varies.back() = random() % 2;
                        Operand in(from, swapped, shape, varies, layout);
                        fill(in, random, true);
                        return in;
                    };
                    const bool tiled = variant == 9 || variant == 12; // out begins a line
                    if (!tiled && (!other_paths || (shape == long_runs && variant != 5))) continue;
                    if (random_tests::leaves_out(random)) continue;
                    const Layout other = variant == 5 ? layouts[random() % std::size(layouts)]
                                         : tiled      ? Layout::permuted
                                                      : Layout::dense;
                    const Layout beside[] = {Layout::dense, Layout::permuted, Layout::strided};
                    Operand a = input(variant == 1, other, dtype, variant >= 11),
                            b = input(variant == 2, tiled ? beside[random() % 3] : Layout::dense,
                                      variant == 10 ? int{ATOLL_DTYPE_FLOAT64} : dtype, false);
                    const int result = result_dtype(function, dtype);
                    Operand out(result, false, shape, all_axes(shape),
                                variant == 6 ? Layout::strided : Layout::dense);
                    if (variant != 6) shift(out, facts[result].size * (variant % 3));
                    Operand &second = variant == 4 && result == dtype ? out : b;
                    if (&second == &out) fill(out, random, true);
                    check_elementwise(function_list[function], dtype, out, {&a, &second});
                }
        }
    for (int dtype : {int{ATOLL_DTYPE_INT8}, int{ATOLL_DTYPE_FLOAT32}, int{ATOLL_DTYPE_INT64},
                      int{ATOLL_DTYPE_COMPLEX64}, int{ATOLL_DTYPE_COMPLEX128}})
        for (const Shape &shape :
             other_paths ? std::vector<Shape>{{2611}, {700, 3}} : std::vector<Shape>{})
            for (Layout layout : {Layout::dense, Layout::strided, Layout::reversed})
                for (std::int64_t past : {0, 1, 5}) {
                    if (random_tests::leaves_out(random)) continue;
                    Operand mask(ATOLL_DTYPE_BOOL, false, shape, all_axes(shape), Layout::dense);
                    Operand a(dtype, false, shape, all_axes(shape), layout);
                    Operand b(dtype, false, shape, all_axes(shape), Layout::dense);
                    Operand out(dtype, false, shape, all_axes(shape), Layout::dense);
                    for (Operand *in : {&mask, &a, &b}) fill(*in, random, true);
                    shift(out, past * facts[facts[dtype].part].size);
                    check_elementwise(function_list[ATOLL_FN_where], dtype, out, {&mask, &a, &b});
                }
    for (int dtype : {int{ATOLL_DTYPE_BOOL}, int{ATOLL_DTYPE_UINT8}, int{ATOLL_DTYPE_FLOAT16},
                      int{ATOLL_DTYPE_FLOAT32}, int{ATOLL_DTYPE_INT64}, int{ATOLL_DTYPE_COMPLEX64},
                      int{ATOLL_DTYPE_COMPLEX128}})
        for (const Shape &shape :
             {Shape{5001}, Shape{64, 80}, Shape{192, 37}, Shape{128, 3, 20}, Shape{100, 35, 3},
              Shape{90, 91}, Shape{137, 1100}, Shape{9, 2090}, Shape{128, 1030}})
            for (Layout layout : {Layout::dense, Layout::permuted, Layout::unaligned})
                for (std::int64_t past : {0, 1}) {
                    if (random_tests::leaves_out(random)) continue;
                    Operand in(dtype, random() % 4 == 0, shape, all_axes(shape), layout);
                    Operand out(dtype, false, shape, all_axes(shape), Layout::dense);
                    shift(out, past * facts[facts[dtype].part].size);
                    fill(in, random, true);
                    check_elementwise(function_list[ATOLL_FN_copy], dtype, out, {&in});
                    if (function_list[ATOLL_FN_negative].domain >> dtype & 1)
                        check_elementwise(function_list[ATOLL_FN_negative], dtype, out, {&in});
                }
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) // which need memory
TEST_CASE("tiles are transposed element by element where there is no memory for it") {
    // More scratch than any that an earlier call has left.
    const Lowered lowered({.alone = 2048,
                           .shared = 2048,
                           .copied = {2048, 2048, 1, 8, 1, false},
                           .computed = {2048, 2048, 4096, 300, 0, false, 128 << 20},
                           .fetched_ahead = false});
    constexpr std::int64_t rows = 4096, columns = 40, size = sizeof(float);
    std::vector<float> a(rows * columns), b(a.size()), out(a.size());
    for (std::size_t k = 0; k < a.size(); ++k) {
        a[k] = static_cast<float>(k);
        b[k] = static_cast<float>(3 * k);
    }
    const Shape shape = {rows, columns}, dense = {size, rows * size},
                transposed = {columns * size, size};
    const std::vector<atoll_operand> operands = {
        operand_at(out.data(), dense.data(), ATOLL_DTYPE_FLOAT32),
        operand_at(a.data(), dense.data(), ATOLL_DTYPE_FLOAT32),
        operand_at(b.data(), transposed.data(), ATOLL_DTYPE_FLOAT32)};
    const auto is_right = [&] {
        if (run(ATOLL_FN_add, ATOLL_DTYPE_FLOAT32, shape, operands) != ATOLL_STATUS_OK)
            return false;
        for (std::int64_t j = 0; j < columns; ++j)
            for (std::int64_t i = 0; i < rows; ++i)
                if (out[i + j * rows] != a[i + j * rows] + b[j + i * columns]) return false;
        return true;
    };
    at_each_level([&] {
        const pid_t child = fork();
        if (child == 0) {
            if (!limit_address_space(16 << 20)) _exit(2);
            _exit(is_right() ? 0 : 1);
        }
        int status = 0;
        REQUIRE(waitpid(child, &status, 0) == child);
        REQUIRE(WIFEXITED(status));
        CHECK(WEXITSTATUS(status) == 0);
    });
}
#endif

// Inputs end where the memory does: nothing behind their last element may be read.
TEST_CASE_TEMPLATE("every second element is taken on the way past the caches", T, float, double,
                   std::uint32_t, std::int64_t) {
    const Lowered lowered({.alone = 2048,
                           .shared = 2048,
                           .copied = {2048, 2048, 1, 8, 1, false},
                           .computed = {2048, 2048, 256, 1, 1, false},
                           .fetched_ahead = true});
    constexpr std::uint16_t dtype = Atoll::sdk::dtype_of<T>;
    constexpr std::int64_t size = sizeof(T);
    Random random = sequence(67);
    const auto expected = [](int function, T x, T y) -> T {
        switch (function) {
        case ATOLL_FN_add: return x + y;
        case ATOLL_FN_subtract: return x - y;
        case ATOLL_FN_multiply: return x * y;
        default: return x / y;
        }
    };
    for (int function :
         {int{ATOLL_FN_add}, int{ATOLL_FN_subtract}, int{ATOLL_FN_multiply}, int{ATOLL_FN_divide}})
        for (int trial = 0; trial < 16; ++trial) {
            if (!(function_list[function].domain >> dtype & 1)) continue;
            // More than what one thread takes at once, of which nothing is streamed.
            const auto n = static_cast<std::int64_t>(65'536 + random() % 3'000);
            std::optional<AtEndOfPage> in[2];
            std::int64_t strides[2];
            std::vector<T> values[2];
            for (int k = 0; k < 2; ++k) {
                const std::int64_t step = k == trial % 2 ? 2 : static_cast<int>(random() % 4);
                strides[k] = step * size;
                in[k].emplace(((n - 1) * step + 1) * size, '\x7f');
                for (std::int64_t i = 0; i < (step ? n : 1); ++i) {
                    const T value = static_cast<T>(1 + random() % 40'000) / 4;
                    std::memcpy(in[k]->data + i * strides[k], &value, sizeof value);
                    values[k].push_back(value);
                }
            }
            std::vector<T> out(static_cast<std::size_t>(n + 24), T(7)), all = out;
            const auto first = static_cast<std::size_t>(random() % 20);
            for (std::int64_t i = 0; i < n; ++i) {
                const auto at = [&](int k) { return values[k][strides[k] ? i : 0]; };
                all[first + static_cast<std::size_t>(i)] = expected(function, at(0), at(1));
            }
            CAPTURE(function);
            CAPTURE(n);
            at_each_level([&] {
                std::fill(out.begin(), out.end(), T(7));
                REQUIRE(run(function, dtype, {n},
                            {operand_at(out.data() + first, &size, dtype),
                             operand_at(in[0]->data, &strides[0], dtype),
                             operand_at(in[1]->data, &strides[1], dtype)}) == ATOLL_STATUS_OK);
                CHECK(out == all);
            });
        }
}

// Rows that several of the loop's calls share: inputs that repeat from row to row, are one value in
// each, or lie apart; few rows and more than a block or a piece has, and axes beyond.
TEST_CASE("short rows agree with the oracle") {
    std::optional<Lowered> lowered;
    SUBCASE("in the caches") {}
    SUBCASE("past the caches") {
        lowered.emplace(Atoll::kernels::LargeOperands{.alone = 2048,
                                                      .shared = 2048,
                                                      .copied = {2048, 1 << 20, 4, 4, 1, false},
                                                      .computed = {2048, 1 << 20, 32, 2, 1, false},
                                                      .fetched_ahead = true});
    }
    struct Called {
        int function, dtype;
    };
    const Called all[] = {
        {ATOLL_FN_add, ATOLL_DTYPE_FLOAT32},      {ATOLL_FN_multiply, ATOLL_DTYPE_FLOAT16},
        {ATOLL_FN_subtract, ATOLL_DTYPE_INT8},    {ATOLL_FN_divide, ATOLL_DTYPE_COMPLEX128},
        {ATOLL_FN_less, ATOLL_DTYPE_FLOAT64},     {ATOLL_FN_pow, ATOLL_DTYPE_FLOAT32},
        {ATOLL_FN_where, ATOLL_DTYPE_INT16},      {ATOLL_FN_clip, ATOLL_DTYPE_BFLOAT16},
        {ATOLL_FN_negative, ATOLL_DTYPE_FLOAT32}, {ATOLL_FN_copy, ATOLL_DTYPE_INT32}};
    Random random = sequence(19);
    for (const Called &called : all) {
        const Function &f = function_list[called.function];
        CAPTURE(std::string(f.name));
        for (int trial = 0; trial < 60; ++trial) {
            const auto length =
                static_cast<std::int64_t>(random() % 2 ? 2 + random() % 16 : 2 + random() % 140);
            const std::int64_t most = trial < 4 ? 70000 : 2000,
                               rows = 1 + static_cast<std::int64_t>(
                                              random() % static_cast<std::uint64_t>(most / length));
            Shape shape = {length, rows};
            if (random() % 3 == 0) shape.push_back(2);
            CAPTURE(length);
            CAPTURE(rows);
            const bool converted = random() % 4 == 0;
            const auto operand = [&](int dtype, bool is_out) {
                std::vector<bool> varies = all_axes(shape);
                if (!is_out && random() % 3)
                    for (std::size_t axis = 0; axis < varies.size(); ++axis)
                        varies[axis] = random() % 2;
                const bool other = converted && random() % 2;
                const Layout any = layouts[random() % std::size(layouts)];
                const bool dense = random() % 2 || (is_out && any == Layout::broadcast);
                Operand made(other ? int{ATOLL_DTYPE_FLOAT32} : dtype, converted && random() % 2,
                             shape, varies, dense ? Layout::dense : any);
                fill(made, random, true);
                return made;
            };
            Operand out = operand(result_dtype(f.id, called.dtype), true);
            std::vector<Operand> in;
            for (int k = 0; k < f.signature.input_count(); ++k)
                in.push_back(
                    operand(f.id == ATOLL_FN_where && k == 0 ? int{ATOLL_DTYPE_BOOL} : called.dtype,
                            false));
            std::vector<Operand *> inputs;
            for (Operand &each : in) inputs.push_back(&each);
            if (random() % 4 == 0 && out.dtype == in[0].dtype) inputs[0] = &out;
            check_elementwise(f, called.dtype, out, inputs);
        }
    }
}

// What a layout says of an axis without elements means nothing.
TEST_CASE("nothing is computed of rows without elements") {
    char nothing[64] = {};
    const Shape shape = {0, 20}, any = {0, 0}, apart = {2, 200};
    at_each_level([&] {
        CHECK(run(ATOLL_FN_add, ATOLL_DTYPE_FLOAT16, shape,
                  {operand_at(nothing, any.data(), ATOLL_DTYPE_FLOAT16),
                   operand_at(nothing, apart.data(), ATOLL_DTYPE_FLOAT16),
                   operand_at(nothing, apart.data(), ATOLL_DTYPE_FLOAT16)}) == ATOLL_STATUS_OK);
        // Nor tiles without columns.
        const Shape tiles = {256, 0, 31}, columns = {4, 1024, 1024}, transposed = {124, 4, 4};
        CHECK(run(ATOLL_FN_negative, ATOLL_DTYPE_FLOAT32, tiles,
                  {operand_at(nothing, columns.data(), ATOLL_DTYPE_FLOAT32),
                   operand_at(nothing, transposed.data(), ATOLL_DTYPE_FLOAT32)}) ==
              ATOLL_STATUS_OK);
        // Nor are rows moved if there are none.
        const Shape no_rows = {20, 0}, dense = {2, 40}, offsets = {0, 8};
        for (const int function : {int{ATOLL_FN_gather}, int{ATOLL_FN_scatter}})
            CHECK(run(function, ATOLL_DTYPE_FLOAT16, no_rows,
                      {operand_at(nothing, dense.data(), ATOLL_DTYPE_FLOAT16),
                       operand_at(nothing, dense.data(), ATOLL_DTYPE_FLOAT16),
                       operand_at(nothing, offsets.data(), ATOLL_DTYPE_INT64)}) == ATOLL_STATUS_OK);
    });
}

TEST_CASE("comparisons compare the true values of 64-bit integers") {
    Random random = sequence(23);
    const auto interesting = [&](int dtype) {
        const long double bases[] = {0,       1,       0x1p31L, 0x1p52L, 0x1p53L,
                                     0x1p54L, 0x1p62L, 0x1p63L, 0x1p64L};
        const long double base = bases[random() % std::size(bases)];
        const int step = static_cast<int>(random() % 5) - 2;
        if (is_integer(dtype)) {
            const __int128 i = static_cast<__int128>(base) + step;
            return Value::of(wrap(random() % 2 ? i : -i, dtype));
        }
        long double x = random() % 12 == 0 ? (random() % 2 ? NAN : INFINITY) : base;
        if (random() % 2) x = -x;
        x += static_cast<long double>(step) * (random() % 2 ? 1.0L : 0.25L);
        const bool imaginary = is_complex(dtype) && random() % 4 == 0;
        return convert(Value::of(x, imaginary ? 0x1p-20L : 0.0L), dtype);
    };
    for (const Function &f : function_list)
        for (int wide : {int{ATOLL_DTYPE_INT64}, int{ATOLL_DTYPE_UINT64}})
            for (int other = 2; other < ATOLL_DTYPE_COUNT && is_comparison(f.id); ++other) {
                const bool inexact = is_integer(other) ? facts[wide].kind != facts[other].kind &&
                                                             (wide == ATOLL_DTYPE_UINT64 ||
                                                              other == ATOLL_DTYPE_UINT64)
                                                       : true;
                const int dtype = is_complex(other) ? ATOLL_DTYPE_COMPLEX128 : ATOLL_DTYPE_FLOAT64;
                if (!inexact || !(f.domain >> dtype & 1)) continue;
                for (Layout layout : layouts)
                    for (int trial = 0; trial < 4; ++trial) {
                        const Shape shape = trial == 0   ? Shape{700}
                                            : trial == 1 ? Shape{}
                                                         : Shape{31, 5};
                        Operand x(wide, trial & 1, shape,
                                  std::vector<bool>(shape.size(), trial != 2), layout);
                        Operand y(other, trial & 2, shape,
                                  std::vector<bool>(shape.size(), trial != 3),
                                  random() % 2 ? layout : Layout::dense);
                        x.flag_scalar = y.flag_scalar = true;
                        const int to = trial ? any_dtype(random) : int{ATOLL_DTYPE_BOOL};
                        Operand out(to, trial & 1, shape, all_axes(shape),
                                    layout == Layout::broadcast ? Layout::dense : layout);
                        each(shape, [&](const Shape &index) {
                            x.set(index, interesting(wide));
                            y.set(index, interesting(other));
                        });
                        check_elementwise(f, dtype, out, {&x, &y});
                        check_elementwise(f, dtype, out, {&y, &x});
                        // In place, where the output's elements are one operand's.
                        if (layout != Layout::broadcast && trial != 2)
                            check_elementwise(f, dtype, x, {&x, &y});
                    }
            }
}

TEST_CASE("every byte but 0 is a true bool, and 0 or 1 is written") {
    Random random = sequence(19);
    const Shape shape = {150};
    for (const Function &f : function_list) {
        const auto &signature = f.signature;
        const bool indexed = f.id == ATOLL_FN_gather || f.id == ATOLL_FN_scatter;
        const bool any_bool = f.domain >> ATOLL_DTYPE_BOOL & 1;
        if (!any_bool || signature.input_count() == 0 || f.id == ATOLL_FN_copy ||
            f.id == ATOLL_FN_matmul)
            continue;
        CAPTURE(std::string(f.name));
        const bool reduces = is_reduction(f);
        const bool finds = is_find(f), searches = is_search(f),
                   compresses = f.id == ATOLL_FN_compress;
        // The call on these bytes and on their truth values.
        std::vector<std::vector<char>> bytes(static_cast<std::size_t>(signature.input_count()),
                                             std::vector<char>(150));
        for (auto &input : bytes)
            for (char &byte : input) byte = static_cast<char>(random() % 3 ? random() % 256 : 0);
        if (searches) // a sorted vector
            std::sort(bytes[1].begin(), bytes[1].end(),
                      [](char a, char b) { return (a != 0) < (b != 0); });
        std::vector<std::int64_t> offsets(150);
        for (std::size_t k = 0; k < offsets.size(); ++k)
            offsets[k] = f.id == ATOLL_FN_gather ? static_cast<std::int64_t>(random() % 150)
                                                 : static_cast<std::int64_t>(149 - k);
        std::int64_t nonzero = 0;
        for (const char byte : bytes[compresses]) nonzero += byte != 0;
        const auto call_on = [&](std::vector<std::vector<char>> inputs, std::vector<char> &out) {
            const int result =
                finds || searches ? int{ATOLL_DTYPE_INT64} : result_dtype(f.id, ATOLL_DTYPE_BOOL);
            const std::int64_t size = facts[result].size, zero[] = {0, 0};
            const std::int64_t whole[] = {size, 0}, step[] = {1, 0}, wide[] = {8, 0};
            const std::int64_t second[] = {0, size}, across[] = {0, 1};
            out.assign(static_cast<std::size_t>(150 * size), 0);
            std::vector<atoll_scalar> attributes;
            if (reduces && has_number(f.id))
                attributes.push_back(scalar_of(Value::of(1.0L, 0.0L), ATOLL_DTYPE_FLOAT64));
            if (reduces && can_skip_nan(f.id)) attributes.push_back(flag_of(false));
            if (is_sort(f) || searches) attributes.push_back(flag_of(false));
            if (indexed) attributes.push_back(scalar_of(Value::of(__int128{1}), ATOLL_DTYPE_INT64));
            std::vector<atoll_operand> operands;
            if (finds) {
                operands = {operand_at(out.data(), second, result),
                            operand_at(inputs[0].data(), step, ATOLL_DTYPE_BOOL)};
                return call(f.id, ATOLL_DTYPE_BOOL, {150, nonzero}, 2, operands, attributes);
            }
            if (compresses) {
                operands = {operand_at(out.data(), across, ATOLL_DTYPE_BOOL),
                            operand_at(inputs[0].data(), step, ATOLL_DTYPE_BOOL),
                            operand_at(inputs[1].data(), step, ATOLL_DTYPE_BOOL)};
                return call(f.id, ATOLL_DTYPE_BOOL, {150, nonzero}, 2, operands, attributes);
            }
            if (searches) {
                operands = {operand_at(out.data(), second, result),
                            operand_at(inputs[0].data(), across, ATOLL_DTYPE_BOOL),
                            operand_at(inputs[1].data(), step, ATOLL_DTYPE_BOOL)};
                return call(f.id, ATOLL_DTYPE_BOOL, {150, 150}, 1, operands, attributes);
            }
            if (indexed) {
                const bool gathers = f.id == ATOLL_FN_gather;
                operands = {operand_at(out.data(), gathers ? step : zero, ATOLL_DTYPE_BOOL),
                            operand_at(inputs[0].data(), gathers ? zero : step, ATOLL_DTYPE_BOOL),
                            operand_at(offsets.data(), wide, ATOLL_DTYPE_INT64)};
                return call(f.id, ATOLL_DTYPE_BOOL, shape, 0, operands, attributes);
            }
            operands = {operand_at(out.data(), reduces ? zero : whole, result)};
            for (auto &input : inputs)
                operands.push_back(operand_at(input.data(), step, ATOLL_DTYPE_BOOL));
            return call(f.id, ATOLL_DTYPE_BOOL, shape, reduces || is_sort(f) || is_scan(f) ? 1 : 0,
                        operands, attributes);
        };
        std::vector<std::vector<char>> truths = bytes;
        for (auto &input : truths)
            for (char &byte : input) byte = byte != 0;
        at_each_level([&] {
            std::vector<char> got, wanted;
            REQUIRE(call_on(bytes, got) == ATOLL_STATUS_OK);
            REQUIRE(call_on(truths, wanted) == ATOLL_STATUS_OK);
            CHECK((got == wanted));
        });
    }
}

TEST_CASE("integers are divided and raised as they are one by one") {
    Random random = sequence(12);
    // All pairs of bytes, and pairs of others about multiples and at the ends.
    for (int dtype : {int{ATOLL_DTYPE_INT8}, int{ATOLL_DTYPE_UINT8}, int{ATOLL_DTYPE_INT16},
                      int{ATOLL_DTYPE_UINT16}, int{ATOLL_DTYPE_INT32}, int{ATOLL_DTYPE_UINT32},
                      int{ATOLL_DTYPE_INT64}, int{ATOLL_DTYPE_UINT64}}) {
        const bool bytes = facts[dtype].size == 1;
        const Shape shape = {bytes ? 65536 : 10'007};
        Operand a(dtype, false, shape, {true}, Layout::dense), b = a, small = a;
        Operand apart(dtype, false, shape, {true}, Layout::strided);
        const auto some = [&] {
            const Value v = random_value(dtype, random, true);
            return Value::of(v.i >> random() % static_cast<unsigned>(8 * facts[dtype].size));
        };
        for (std::int64_t k = 0; k < shape[0]; ++k) {
            Value x = Value::of(__int128{k % 256}), y = Value::of(__int128{k / 256});
            if (!bytes) {
                y = some();
                x = Value::of(some().i * (k % 2 ? y.i : 1) + static_cast<int>(random() % 3) - 1);
            }
            a.set({k}, convert(x, dtype));
            b.set({k}, convert(y, dtype));
            small.set({k}, Value::of(__int128{random() % 70}));
        }
        Operand out(dtype, false, shape, {true}, Layout::dense);
        CAPTURE(std::string(facts[dtype].name));
        const std::array divisions = {int{ATOLL_FN_trunc_divide}, int{ATOLL_FN_floor_divide},
                                      int{ATOLL_FN_fmod}, int{ATOLL_FN_remainder}};
        for (int function : divisions)
            check_elementwise(function_list[function], dtype, out, {&a, &b});
        check_elementwise(function_list[ATOLL_FN_pow], dtype, out, {&a, &small});
        Operand one(dtype, false, shape, {false}, Layout::dense);
        const bool is_signed = facts[dtype].kind == ATOLL_DTYPE_KIND_SIGNED;
        const int bits = 8 * facts[dtype].size - is_signed;
        std::vector<Value> divisors(16);
        for (Value &divisor : divisors) divisor = some();
        for (int shift = 0; shift < bits; shift += 3)
            for (const int beside : {-1, 0, 1})
                divisors.push_back(Value::of((__int128{1} << shift) + beside));
        for (const Value divisor : divisors) {
            one.set({0}, convert(divisor, dtype));
            for (std::int64_t k = 0; !bytes && divisor.i && k < shape[0]; ++k) {
                const __int128 multiple = some().i / divisor.i * divisor.i;
                a.set({k}, convert(Value::of(multiple + k % 3 - 1), dtype));
            }
            for (int function : divisions)
                check_elementwise(function_list[function], dtype, out, {&a, &one});
            each(shape, [&](const Shape &index) { apart.set(index, a.get(index)); });
            check_elementwise(function_list[divisions[random() % 4]], dtype, out, {&apart, &one});
        }
        check_elementwise(function_list[ATOLL_FN_floor_divide], dtype, out, {&one, &b});
        check_elementwise(function_list[ATOLL_FN_fmod], dtype, a, {&a, &b});
        for (const int exponent : {0, 1, 2, 3, 6, 13, 64, is_signed ? -1 : 5}) {
            one.set({0}, Value::of(__int128{exponent}));
            check_elementwise(function_list[ATOLL_FN_pow], dtype, out, {&a, &one});
        }
        check_elementwise(function_list[ATOLL_FN_pow], dtype, b, {&b, &one});
    }
}
