// Copies, fills and steps against the oracle: all pairs of dtypes, layouts and byte orders.
#include "check.h"

using namespace oracle;

namespace {

const Shape shapes[] = {{}, {1}, {7}, {1100}, {5, 4}, {33, 40}, {3, 2, 11}, {2, 3, 2, 3, 2}};

} // namespace

TEST_CASE("copy converts between all dtypes, layouts and byte orders") {
    Random random = sequence(7);
    for (int from = 1; from < ATOLL_DTYPE_COUNT; ++from)
        for (int to = 1; to < ATOLL_DTYPE_COUNT; ++to)
            for (Layout in_layout : layouts)
                for (Layout out_layout : layouts) {
                    if (out_layout == Layout::broadcast) continue;
                    const Shape &shape = shapes[random() % std::size(shapes)];
                    Operand in(from, random() % 2, shape, all_axes(shape), in_layout);
                    Operand out(to, random() % 2, shape, all_axes(shape), out_layout);
                    fill(in, random, true);
                    CAPTURE(std::string(facts[from].name));
                    CAPTURE(std::string(facts[to].name));
                    CAPTURE(static_cast<int>(in_layout));
                    CAPTURE(static_cast<int>(out_layout));
                    check_elementwise(function_list[ATOLL_FN_copy], from, out, {&in});
                }
}

TEST_CASE("inputs that lie a few elements apart are read by copies and functions") {
    Random random = sequence(8);
    for (int dtype :
         {int{ATOLL_DTYPE_UINT8}, int{ATOLL_DTYPE_INT16}, int{ATOLL_DTYPE_FLOAT16},
          int{ATOLL_DTYPE_FLOAT32}, int{ATOLL_DTYPE_INT64}, int{ATOLL_DTYPE_COMPLEX128}})
        for (std::int64_t step : {-2, -1, 2, 3, 4, 5})
            for (std::int64_t n : {1, 2, 7, 31, 32, 33, 65, 130, 1100, 66'000}) {
                if (n > 60'000 && step != 2) continue;
                const std::int64_t size = facts[dtype].size, span = (n - 1) * std::abs(step) + 1;
                const bool unaligned = random() % 2, swapped = random() % 4 == 0;
                Operand in(dtype, swapped, {span}, {true},
                           unaligned ? Layout::unaligned : Layout::dense);
                fill(in, random, true);
                in.shape = {n};
                in.strides = {step * size};
                if (step < 0) in.start += (span - 1) * size;
                // Nothing behind the last element may be read.
                if (step > 0)
                    in.memory.resize(static_cast<std::size_t>(in.start + span * size)),
                        in.memory.shrink_to_fit();
                CAPTURE(std::string(facts[dtype].name));
                CAPTURE(step);
                CAPTURE(n);
                Operand out(dtype, false, {n}, {true}, Layout::dense);
                check_elementwise(function_list[ATOLL_FN_copy], dtype, out, {&in});
                check_elementwise(function_list[ATOLL_FN_negative], dtype, out, {&in});
                Operand other(dtype, false, {n}, {true}, Layout::dense);
                fill(other, random, true);
                check_elementwise(function_list[ATOLL_FN_subtract], dtype, out, {&other, &in});
                if (dtype == ATOLL_DTYPE_COMPLEX128) continue;
                Operand mask(ATOLL_DTYPE_BOOL, false, {n}, {true}, Layout::dense);
                check_elementwise(function_list[ATOLL_FN_less], dtype, mask, {&in, &other});
            }
}

// Distances of rows that fall on few sets of a cache have loops of their own.
TEST_CASE("rows are transposed whatever their distance") {
    constexpr std::int64_t rows = 45, columns = 70;
    for (int dtype : {int{ATOLL_DTYPE_UINT8}, int{ATOLL_DTYPE_INT16}, int{ATOLL_DTYPE_UINT32},
                      int{ATOLL_DTYPE_INT64}, int{ATOLL_DTYPE_COMPLEX128}})
        for (std::int64_t pitch : {2048, 4096, 1200}) {
            const std::int64_t size = facts[dtype].size;
            std::vector<char> in(static_cast<std::size_t>(rows * pitch)),
                out(static_cast<std::size_t>(rows * columns * size)), expected(out.size());
            for (std::size_t k = 0; k < in.size(); ++k) in[k] = static_cast<char>(k * k % 251);
            for (std::int64_t row = 0; row < rows; ++row)
                for (std::int64_t column = 0; column < columns; ++column)
                    std::memcpy(expected.data() + (column * rows + row) * size,
                                in.data() + row * pitch + column * size,
                                static_cast<std::size_t>(size));
            const std::int64_t to[] = {size * rows, size}, from[] = {size, pitch};
            CAPTURE(size);
            CAPTURE(pitch);
            REQUIRE(run(ATOLL_FN_copy, dtype, {columns, rows},
                        {operand_at(out.data(), to, dtype), operand_at(in.data(), from, dtype)}) ==
                    ATOLL_STATUS_OK);
            CHECK(out == expected);
        }
}

TEST_CASE("floats beside the ends of integers are cut off or saturate") {
    for (int from : {int{ATOLL_DTYPE_FLOAT32}, int{ATOLL_DTYPE_FLOAT64}, int{ATOLL_DTYPE_FLOAT16},
                     int{ATOLL_DTYPE_BFLOAT16}})
        for (int to = 1; to < ATOLL_DTYPE_COUNT; ++to) {
            if (!is_integer(to)) continue;
            std::vector<Value> values = special_values(from);
            const int bits = 8 * facts[to].size - 1;
            for (long double end : {-std::ldexp(1.0L, bits), std::ldexp(1.0L, bits),
                                    2 * std::ldexp(1.0L, bits), 0.0L})
                for (long double beside : {-2.0L, -1.25L, -1.0L, -0.75L, 0.0L, 0.75L, 1.0L, 1.25L})
                    values.push_back(Value::of(end + beside, 0.0L));
            while (values.size() % 64 != 7) values.push_back(Value::of(-3.75L, 0.0L));
            const Shape shape = {static_cast<std::int64_t>(values.size())};
            Operand in(from, false, shape, {true}, Layout::dense);
            for (std::int64_t k = 0; k < shape[0]; ++k)
                in.set({k}, convert(values[static_cast<std::size_t>(k)], from));
            Operand out(to, false, shape, {true}, Layout::dense);
            CAPTURE(std::string(facts[from].name));
            CAPTURE(std::string(facts[to].name));
            check_elementwise(function_list[ATOLL_FN_copy], from, out, {&in});
        }
}

TEST_CASE("every half converts exactly and rounding to halves happens once") {
    for (int half : {int{ATOLL_DTYPE_FLOAT16}, int{ATOLL_DTYPE_BFLOAT16}}) {
        const Shape shape = {65536};
        Operand halves(half, false, shape, {true}, Layout::dense);
        for (std::int64_t k = 0; k < 65536; ++k) {
            const auto bits = static_cast<std::uint16_t>(k);
            std::memcpy(halves.memory.data() + halves.start + 2 * k, &bits, 2);
        }
        Operand doubles(ATOLL_DTYPE_FLOAT64, false, shape, {true}, Layout::dense);
        check_elementwise(function_list[ATOLL_FN_copy], half, doubles, {&halves});
        // Values a hair beside every tie: rounding twice would go wrong.
        Operand beside(ATOLL_DTYPE_FLOAT64, false, shape, {true}, Layout::dense);
        for (std::int64_t k = 0; k < 65536; ++k) {
            const long double x = doubles.get({k}).re, y = doubles.get({(k + 1) % 65536}).re;
            double tie = static_cast<double>((x + y) / 2);
            if (k % 3) tie = std::nextafter(tie, k % 3 == 1 ? INFINITY : -INFINITY);
            beside.set({k}, Value::of(static_cast<long double>(tie), 0.0L));
        }
        check_elementwise(function_list[ATOLL_FN_copy], ATOLL_DTYPE_FLOAT64, halves, {&beside});
    }
    for (int from : {int{ATOLL_DTYPE_INT32}, int{ATOLL_DTYPE_UINT32}, int{ATOLL_DTYPE_INT64},
                     int{ATOLL_DTYPE_UINT64}}) {
        Operand integers(from, false, {200'000}, {true}, Layout::dense);
        const std::int64_t first = facts[from].kind == ATOLL_DTYPE_KIND_SIGNED ? -100'000 : 0;
        for (std::int64_t k = 0; k < 200'000; ++k)
            integers.set({k}, Value::of(__int128{first + k}));
        for (int half : {int{ATOLL_DTYPE_FLOAT16}, int{ATOLL_DTYPE_BFLOAT16}}) {
            Operand halves(half, false, {200'000}, {true}, Layout::dense);
            check_elementwise(function_list[ATOLL_FN_copy], from, halves, {&integers});
        }
    }
    // Integers that a double cannot hold.
    Operand big(ATOLL_DTYPE_INT64, false, {4}, {true}, Layout::dense);
    const std::int64_t base = std::int64_t{1} << 62, tie = std::int64_t{1} << 54;
    big.set({0}, Value::of(__int128{base + tie + 1}));
    big.set({1}, Value::of(__int128{base + tie}));
    big.set({2}, Value::of(__int128{-(base + tie + 1)}));
    big.set({3}, Value::of(__int128{base + tie - 1}));
    Operand brains(ATOLL_DTYPE_BFLOAT16, false, {4}, {true}, Layout::dense);
    check_elementwise(function_list[ATOLL_FN_copy], ATOLL_DTYPE_INT64, brains, {&big});
}

TEST_CASE("NaN stays NaN where a half has none of its bits") {
    // Each bit below the exponent's alone, in vectors and one by one behind them.
    const Shape shape = {5 * 23};
    Operand in(ATOLL_DTYPE_FLOAT32, false, shape, {true}, Layout::dense);
    for (std::int64_t k = 0; k < shape[0]; ++k) {
        const std::uint32_t bits = 0x7f800000u | 1u << k % 23 | (k % 2 ? 0x80000000u : 0);
        std::memcpy(in.memory.data() + in.start + 4 * k, &bits, 4);
    }
    for (int half : {int{ATOLL_DTYPE_FLOAT16}, int{ATOLL_DTYPE_BFLOAT16}}) {
        Operand out(half, false, shape, {true}, Layout::dense);
        check_elementwise(function_list[ATOLL_FN_copy], ATOLL_DTYPE_FLOAT32, out, {&in});
    }
}

TEST_CASE("fill writes one value everywhere and nowhere else") {
    Random random = sequence(3);
    for (int dtype = 1; dtype < ATOLL_DTYPE_COUNT; ++dtype)
        for (Layout layout : layouts)
            for (bool swapped : {false, true}) {
                const Shape &shape = shapes[random() % std::size(shapes)];
                Operand out(dtype, swapped, shape, all_axes(shape), layout);
                const std::vector<char> before = out.memory;
                const Value v = random_value(dtype, random, true);
                REQUIRE(run(ATOLL_FN_fill, dtype, shape, {out.c()}, {scalar_of(v, dtype)}) ==
                        ATOLL_STATUS_OK);
                bool right = true;
                each(shape,
                     [&](const Shape &index) { right &= same(out.get(index), v, dtype, 0); });
                CHECK(right);
                CHECK(out.rest_is(before));
            }
}

TEST_CASE("steps count in the dtype of start and end at last") {
    for (int dtype = 2; dtype < ATOLL_DTYPE_COUNT; ++dtype)
        for (Layout layout : {Layout::dense, Layout::strided, Layout::reversed, Layout::unaligned})
            for (int from : {int{ATOLL_DTYPE_INT64}, int{ATOLL_DTYPE_UINT64},
                             int{ATOLL_DTYPE_FLOAT64}, int{ATOLL_DTYPE_COMPLEX128}}) {
                const Shape shape = {1300};
                Operand out(dtype, layout == Layout::strided, shape, {true}, layout);
                const std::vector<char> before = out.memory;
                const bool has_last = layout == Layout::dense;
                const bool integer = is_integer(from);
                const Value start =
                    integer ? Value::of(__int128{5})
                            : Value::of(-2.5L, from == ATOLL_DTYPE_COMPLEX128 ? 1.0L : 0.0L);
                const Value step = integer ? Value::of(__int128{3}) : Value::of(0.125L, 0.0L);
                const Value last = integer ? Value::of(__int128{77}) : Value::of(9.0L, 0.0L);
                REQUIRE(run(ATOLL_FN_steps, dtype, shape, {out.c()},
                            {scalar_of(start, from), scalar_of(step, from),
                             has_last ? scalar_of(last, from) : atoll_scalar{}},
                            1) == ATOLL_STATUS_OK);
                bool right = true;
                for (std::int64_t k = 0; k < shape[0]; ++k) {
                    Value v = integer ? Value::of(start.i + k * step.i)
                                      : Value::of(start.re + static_cast<long double>(k) * step.re,
                                                  start.im);
                    if (has_last && k == shape[0] - 1) v = last;
                    right &= same(out.get({k}), convert(v, dtype), dtype, 0);
                }
                CAPTURE(std::string(facts[dtype].name));
                CAPTURE(std::string(facts[from].name));
                CHECK(right);
                CHECK(out.rest_is(before));
            }
}
