// Unary, binary and ternary kernels against the oracle: every function, every dtype, every layout,
// every mixture. Single values that matter are in test_special_values.cpp.
#include "check.h"

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
    Random random(static_cast<std::uint64_t>(f.id) + 1);
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
            CHECK(run(f.id, dtype, {3}, {out.c(), a.c(), a.c(), a.c()}) ==
                  ATOLL_STATUS_NOT_SUPPORTED);
            CHECK(out.memory == before);
        }
    }
}

TEST_CASE("large operands take the threads' path with the same results") {
    Random random(11);
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

TEST_CASE("comparisons compare the true values of 64-bit integers") {
    Random random(23);
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
