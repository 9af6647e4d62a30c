// Copies, fills, steps, unary and binary kernels against the oracle: every function, every dtype,
// every layout, every mixture.
#include "atoll_kernels.h"
#include "operand.h"

#include <doctest/doctest.h>

using namespace oracle;

namespace {

struct Function {
    int id, family;
    std::uint32_t domain;
    const char *name;
};
constexpr Function functions[] = {
#define ATOLL_FUNCTION(id, name, FAMILY, RULE, DOMAIN, doc)                                        \
    {id, ATOLL_FAMILY_##FAMILY, ATOLL_DOMAIN_##DOMAIN, #name},
#include "atoll/lists/functions.inc"
};

const Shape shapes[] = {{1}, {7}, {1100}, {5, 4}, {33, 40}, {3, 2, 11}};

std::vector<bool> all_axes(const Shape &shape) { return std::vector<bool>(shape.size(), true); }

// Runs one call and checks every element and every other byte of the output.
void check_call(const Function &f, int dtype, Operand &out, std::vector<Operand *> inputs,
                bool in_place) {
    const std::vector<char> before = out.memory;
    std::vector<Value> expected;
    std::vector<bool> approximate;
    each(out.shape, [&](const Shape &index) {
        bool inexact = false;
        Value v;
        if (f.family == ATOLL_FAMILY_COPY) {
            v = inputs[0]->get(index);
        } else {
            const Value a = convert(inputs[0]->get(index), dtype);
            const Value b = inputs.size() > 1 ? convert(inputs[1]->get(index), dtype) : Value{};
            v = apply(f.id, dtype, a, b, &inexact);
        }
        expected.push_back(convert(v, out.dtype));
        approximate.push_back(inexact);
    });
    std::vector<atoll_operand> operands = {out.c()};
    for (Operand *in : inputs) operands.push_back(in->c());
    if (in_place) operands[1] = operands[0];
    const auto rank = static_cast<std::uint32_t>(out.shape.size());
    std::int32_t status;
    if (f.family == ATOLL_FAMILY_COPY)
        status = atoll_kernels_copy(rank, out.shape.data(), operands.data());
    else if (f.family == ATOLL_FAMILY_UNARY)
        status =
            atoll_kernels_unary(static_cast<std::uint32_t>(f.id), static_cast<std::uint32_t>(dtype),
                                rank, out.shape.data(), operands.data());
    else
        status = atoll_kernels_binary(static_cast<std::uint32_t>(f.id),
                                      static_cast<std::uint32_t>(dtype), rank, out.shape.data(),
                                      operands.data());
    REQUIRE(status == ATOLL_STATUS_OK);
    std::size_t k = 0;
    std::int64_t wrong = 0;
    std::string first;
    each(out.shape, [&](const Shape &index) {
        const Value got = out.get(index);
        if (!same(got, expected[k], out.dtype, approximate[k] ? 4 : 0, result_dtype(f.id, dtype)) &&
            wrong++ == 0)
            first = "got " + text(got) + ", expected " + text(expected[k]) + ", element " +
                    std::to_string(k);
        ++k;
    });
    INFO(first);
    CHECK(wrong == 0);
    CHECK(out.rest_is(before));
}

// Complex division of specials and zero divisors is checked by hand below.
bool plain_values(const Function &f, int dtype) {
    return is_complex(dtype) && (f.id == ATOLL_FN_divide || f.id == ATOLL_FN_sqrt);
}

void check_function(const Function &f) {
    Random random(static_cast<std::uint64_t>(f.id) + 1);
    const std::size_t inputs = f.family == ATOLL_FAMILY_BINARY ? 2 : 1;
    for (int dtype = 1; dtype < ATOLL_DTYPE_COUNT; ++dtype) {
        if (!(f.domain >> dtype & 1)) continue;
        for (Layout layout : layouts) {
            for (int variant = 0; variant < 4; ++variant) { // bit 0: swapped, bit 1: mixed dtypes
                const Shape &shape = shapes[random() % std::size(shapes)];
                const auto pick = [&](int usual) {
                    return variant & 2 ? 1 + static_cast<int>(random() % (ATOLL_DTYPE_COUNT - 1))
                                       : usual;
                };
                const auto swap = [&] { return (variant & 1) && random() % 2; };
                const Layout out_layout = layout == Layout::broadcast ? Layout::dense
                                          : random() % 2              ? layout
                                                                      : Layout::dense;
                Operand out(pick(result_dtype(f.id, dtype)), swap(), shape, all_axes(shape),
                            out_layout);
                std::vector<Operand> in;
                for (std::size_t k = 0; k < inputs; ++k) {
                    in.emplace_back(pick(dtype), swap(), shape, all_axes(shape),
                                    k == 0 || random() % 2 ? layout : Layout::dense);
                    fill(in.back(), random, !plain_values(f, dtype));
                    if (f.id == ATOLL_FN_divide && is_complex(dtype) && k == 1)
                        each(shape, [&](const Shape &index) {
                            if (!convert(in[1].get(index), dtype).truth())
                                in[1].set(index, convert(Value::of(__int128{1}), in[1].dtype));
                        });
                }
                fill(out, random, false);
                CAPTURE(std::string(f.name));
                CAPTURE(std::string(facts[dtype].name));
                CAPTURE(static_cast<int>(layout));
                CAPTURE(variant);
                CAPTURE(std::string(facts[out.dtype].name));
                CAPTURE(std::string(facts[in[0].dtype].name));
                std::vector<Operand *> pointers;
                for (Operand &operand : in) pointers.push_back(&operand);
                check_call(f, dtype, out, pointers, false);
                // In place: the first input is the output's own elements.
                fill(out, random, !plain_values(f, dtype));
                pointers[0] = &out;
                check_call(f, dtype, out, pointers, true);
            }
        }
    }
}

} // namespace

TEST_CASE("elementwise kernels agree with the oracle") {
    for (const Function &f : functions)
        if (f.family == ATOLL_FAMILY_UNARY || f.family == ATOLL_FAMILY_BINARY) check_function(f);
}

TEST_CASE("copy converts between all dtypes, layouts and byte orders") {
    Random random(7);
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
                    check_call(functions[ATOLL_FN_copy], from, out, {&in}, false);
                }
}

TEST_CASE("every half converts exactly and rounding to halves happens once") {
    for (int half : {int{ATOLL_FLOAT16}, int{ATOLL_BFLOAT16}}) {
        const Shape shape = {65536};
        Operand halves(half, false, shape, {true}, Layout::dense);
        for (std::int64_t k = 0; k < 65536; ++k) {
            const auto bits = static_cast<std::uint16_t>(k);
            std::memcpy(halves.memory.data() + halves.start + 2 * k, &bits, 2);
        }
        Operand doubles(ATOLL_FLOAT64, false, shape, {true}, Layout::dense);
        check_call(functions[ATOLL_FN_copy], half, doubles, {&halves}, false);
        // Values a hair beside every tie: rounding twice would go wrong.
        Operand beside(ATOLL_FLOAT64, false, shape, {true}, Layout::dense);
        for (std::int64_t k = 0; k < 65536; ++k) {
            const long double x = doubles.get({k}).re, y = doubles.get({(k + 1) % 65536}).re;
            double tie = static_cast<double>((x + y) / 2);
            if (k % 3) tie = std::nextafter(tie, k % 3 == 1 ? INFINITY : -INFINITY);
            beside.set({k}, Value::of(static_cast<long double>(tie), 0.0L));
        }
        check_call(functions[ATOLL_FN_copy], ATOLL_FLOAT64, halves, {&beside}, false);
    }
    // Integers that a double cannot hold.
    Operand big(ATOLL_INT64, false, {4}, {true}, Layout::dense);
    const std::int64_t base = std::int64_t{1} << 62, tie = std::int64_t{1} << 54;
    big.set({0}, Value::of(__int128{base + tie + 1}));
    big.set({1}, Value::of(__int128{base + tie}));
    big.set({2}, Value::of(__int128{-(base + tie + 1)}));
    big.set({3}, Value::of(__int128{base + tie - 1}));
    Operand brains(ATOLL_BFLOAT16, false, {4}, {true}, Layout::dense);
    check_call(functions[ATOLL_FN_copy], ATOLL_INT64, brains, {&big}, false);
}

TEST_CASE("large operands take the threads' path with the same results") {
    Random random(11);
    for (int dtype : {int{ATOLL_FLOAT32}, int{ATOLL_INT16}}) {
        for (const Shape &shape : {Shape{100001}, Shape{317, 301}}) {
            for (Layout layout : {Layout::dense, Layout::permuted, Layout::reversed}) {
                Operand a(dtype, false, shape, all_axes(shape), layout);
                Operand b(ATOLL_FLOAT64, true, shape, all_axes(shape), Layout::dense);
                Operand out(dtype, false, shape, all_axes(shape), Layout::dense);
                fill(a, random, false);
                fill(b, random, false);
                check_call(functions[ATOLL_FN_add], dtype, out, {&a, &a}, false);
                check_call(functions[ATOLL_FN_multiply], ATOLL_FLOAT64, out, {&a, &b}, false);
                check_call(functions[ATOLL_FN_copy], dtype, out, {&a}, false);
            }
        }
    }
}

TEST_CASE("complex quotients and roots keep their range and branches") {
    const auto run = [](int function, std::complex<double> a, std::complex<double> b) {
        std::complex<double> out;
        const std::int64_t stride = 16, n = 1;
        const atoll_operand operands[3] = {{&out, &stride, ATOLL_COMPLEX128, 0, 0, 0},
                                           {&a, &stride, ATOLL_COMPLEX128, 0, 0, 0},
                                           {&b, &stride, ATOLL_COMPLEX128, 0, 0, 0}};
        const auto f = static_cast<std::uint32_t>(function);
        if (function == ATOLL_FN_divide)
            atoll_kernels_binary(f, ATOLL_COMPLEX128, 1, &n, operands);
        else
            atoll_kernels_unary(f, ATOLL_COMPLEX128, 1, &n, operands);
        return out;
    };
    CHECK(run(ATOLL_FN_divide, {1e300, 1e300}, {1e300, 1e300}) == std::complex<double>(1, 0));
    CHECK(run(ATOLL_FN_sqrt, {-4, 0.0}, {}) == std::complex<double>(0, 2));
    CHECK(run(ATOLL_FN_sqrt, {-4, -0.0}, {}) == std::complex<double>(0, -2));
    CHECK(std::isinf(run(ATOLL_FN_divide, {1, 0}, {0, 0}).real()));
}

TEST_CASE("fill writes one value everywhere and nowhere else") {
    Random random(3);
    for (int dtype = 1; dtype < ATOLL_DTYPE_COUNT; ++dtype)
        for (Layout layout : layouts)
            for (bool swapped : {false, true}) {
                const Shape &shape = shapes[random() % std::size(shapes)];
                Operand out(dtype, swapped, shape, all_axes(shape), layout);
                const std::vector<char> before = out.memory;
                const Value v = random_value(dtype, random, true);
                atoll_scalar scalar{};
                scalar.dtype = static_cast<std::uint32_t>(dtype);
                write(reinterpret_cast<char *>(scalar.value.bytes), dtype, false, v);
                const atoll_operand operand = out.c();
                REQUIRE(atoll_kernels_fill(static_cast<std::uint32_t>(shape.size()), shape.data(),
                                           &operand, &scalar) == ATOLL_STATUS_OK);
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
            for (int from :
                 {int{ATOLL_INT64}, int{ATOLL_UINT64}, int{ATOLL_FLOAT64}, int{ATOLL_COMPLEX128}}) {
                const Shape shape = {1300};
                Operand out(dtype, layout == Layout::strided, shape, {true}, layout);
                const std::vector<char> before = out.memory;
                atoll_steps_params params{};
                params.struct_size = sizeof params;
                params.has_last = layout == Layout::dense;
                const bool integer = is_integer(from);
                const Value start = integer
                                        ? Value::of(__int128{5})
                                        : Value::of(-2.5L, from == ATOLL_COMPLEX128 ? 1.0L : 0.0L);
                const Value step = integer ? Value::of(__int128{3}) : Value::of(0.125L, 0.0L);
                const Value last = integer ? Value::of(__int128{77}) : Value::of(9.0L, 0.0L);
                for (auto [scalar, v] : {std::pair{&params.start, start},
                                         {&params.step, step},
                                         {&params.last, last}}) {
                    scalar->dtype = static_cast<std::uint32_t>(from);
                    write(reinterpret_cast<char *>(scalar->value.bytes), from, false, v);
                }
                const atoll_operand operand = out.c();
                REQUIRE(atoll_kernels_steps(1, shape.data(), &operand, &params) == ATOLL_STATUS_OK);
                bool right = true;
                for (std::int64_t k = 0; k < shape[0]; ++k) {
                    Value v = integer ? Value::of(start.i + k * step.i)
                                      : Value::of(start.re + static_cast<long double>(k) * step.re,
                                                  start.im);
                    if (params.has_last && k == shape[0] - 1) v = last;
                    right &= same(out.get({k}), convert(v, dtype), dtype, 0);
                }
                CAPTURE(std::string(facts[dtype].name));
                CAPTURE(std::string(facts[from].name));
                CHECK(right);
                CHECK(out.rest_is(before));
            }
}
