// Matrix products against the oracle: dtypes, transposes, strides, stacks, conjugates, alpha, beta.
#include "atoll_kernels.h"
#include "operand.h"

#include <doctest/doctest.h>

using namespace oracle;

namespace {

Value add(const Value &a, const Value &b, int dtype) {
    if (dtype == ATOLL_BOOL) return Value::of(__int128{a.truth() || b.truth()});
    if (is_integer(dtype)) return Value::of(wrap(a.i + b.i, dtype));
    return Value::of(a.real() + b.real(), a.im + b.im);
}
Value multiply(const Value &a, const Value &b, int dtype) {
    if (dtype == ATOLL_BOOL) return Value::of(__int128{a.truth() && b.truth()});
    if (is_integer(dtype))
        return Value::of(wrap(static_cast<__int128>(static_cast<unsigned __int128>(a.i) *
                                                    static_cast<unsigned __int128>(b.i)),
                              dtype));
    return Value::of(a.real() * b.real() - a.im * b.im, a.real() * b.im + a.im * b.real());
}

// Small whole numbers, so that every dtype's arithmetic is exact; integers take their whole range.
Value element(int dtype, int limit, Random &random) {
    const auto small = [&] {
        return static_cast<long double>(static_cast<std::int64_t>(random() % (2 * limit + 1)) -
                                        limit);
    };
    if (dtype == ATOLL_BOOL) return Value::of(__int128{random() % 8 == 0});
    if (is_integer(dtype)) return Value::of(wrap(static_cast<__int128>(random()), dtype));
    return Value::of(small(), is_complex(dtype) ? small() : 0.0L);
}

atoll_scalar scalar(int dtype, long double re, long double im) {
    const int wide = dtype == ATOLL_FLOAT16 || dtype == ATOLL_BFLOAT16 ? int{ATOLL_FLOAT32}
                     : dtype == ATOLL_COMPLEX32                        ? int{ATOLL_COMPLEX64}
                                                                       : dtype;
    atoll_scalar s{};
    s.dtype = static_cast<std::uint32_t>(wide);
    write(reinterpret_cast<char *>(s.value.bytes), wide, false, convert(Value::of(re, im), wide));
    return s;
}

struct Case {
    std::int64_t m, n, k, stack;
};

void check(int dtype, const Case &c, Layout layouts[3], int dtypes[3], bool swapped[3],
           std::uint32_t conj, int alpha, int beta, Random &random) {
    const Shape shape = c.stack ? Shape{c.m, c.n, c.k, c.stack} : Shape{c.m, c.n, c.k};
    const auto varies = [&](bool m, bool n, bool k) {
        std::vector<bool> v = {m, n, k};
        if (c.stack) v.push_back(true);
        return v;
    };
    Operand out(dtypes[0], swapped[0], shape, varies(true, true, false), layouts[0]);
    Operand a(dtypes[1], swapped[1], shape, varies(true, false, true), layouts[1]);
    Operand b(dtypes[2], swapped[2], shape, varies(false, true, true), layouts[2]);
    for (Operand *operand : {&out, &a, &b})
        each(shape, [&](const Shape &index) {
            operand->set(index, convert(element(operand->dtype, 3, random), operand->dtype));
        });
    // With beta == 0 what stands in the output does not matter.
    if (beta == 0 && !is_integer(dtypes[0]) && dtypes[0] != ATOLL_BOOL)
        each(shape, [&](const Shape &index) { out.set(index, Value::of(NAN, 0.0L)); });
    const std::vector<char> before = out.memory;
    atoll_matmul_params params{};
    params.struct_size = sizeof params;
    params.conj = conj;
    params.alpha = scalar(dtype, alpha, 0);
    params.beta = scalar(dtype, beta, 0);
    Shape extents = shape;
    Shape space = shape;
    space[2] = 1;
    std::vector<Value> expected;
    each(space, [&](const Shape &index) {
        Value sum = convert(Value::of(__int128{0}), dtype);
        for (std::int64_t k = 0; k < c.k; ++k) {
            Shape at = index;
            at[2] = k;
            Value x = convert(a.get(at), dtype), y = convert(b.get(at), dtype);
            if (conj & 1) x.im = -x.im;
            if (conj & 2) y.im = -y.im;
            sum = add(sum, multiply(x, y, dtype), dtype);
        }
        const Value s = convert(Value::of(__int128{alpha}), dtype),
                    t = convert(Value::of(__int128{beta}), dtype);
        Value v = multiply(s, sum, dtype);
        if (beta) v = add(v, multiply(t, convert(out.get(index), dtype), dtype), dtype);
        expected.push_back(convert(convert(v, dtype), out.dtype));
    });
    const atoll_operand operands[3] = {out.c(), a.c(), b.c()};
    REQUIRE(atoll_kernels_matmul(static_cast<std::uint32_t>(dtype),
                                 static_cast<std::uint32_t>(shape.size()), extents.data(), operands,
                                 &params) == ATOLL_STATUS_OK);
    std::size_t k = 0;
    std::int64_t wrong = 0;
    std::string first;
    each(space, [&](const Shape &index) {
        Value got = out.get(index), want = expected[k];
        // The sign of a zero depends on the order of additions.
        for (Value *v : {&got, &want}) {
            if (v->re == 0) v->re = 0;
            if (v->im == 0) v->im = 0;
        }
        if (!same(got, want, out.dtype, 0) && wrong++ == 0)
            first =
                "got " + text(got) + ", expected " + text(want) + ", element " + std::to_string(k);
        ++k;
    });
    INFO(first);
    CHECK(wrong == 0);
    out.shape = space; // k has no elements of its own
    CHECK(out.rest_is(before));
}

} // namespace

TEST_CASE("matrix products agree with the oracle") {
    Random random(13);
    const Case cases[] = {{3, 4, 5, 0}, {1, 1, 9, 0},    {7, 1, 6, 0},   {1, 7, 6, 0},
                          {5, 4, 1, 0}, {4, 3, 0, 0},    {16, 9, 33, 2}, {2, 3, 4, 5},
                          {1, 5, 3, 4}, {40, 40, 40, 0}, {33, 1, 20, 3}};
    for (int dtype = 1; dtype < ATOLL_DTYPE_COUNT; ++dtype)
        for (const Case &c : cases)
            for (int trial = 0; trial < 12; ++trial) {
                Layout layout[3];
                int dtypes[3];
                bool swapped[3];
                for (int o = 0; o < 3; ++o) {
                    layout[o] = oracle::layouts[random() % (o == 0 ? 5 : 6)];
                    const bool mixed = trial % 4 == 3 && random() % 2;
                    // Outputs that hold the result exactly or wrap it.
                    dtypes[o] = !mixed ? dtype : o == 0 ? int{ATOLL_COMPLEX128} : int{ATOLL_INT8};
                    if (o && mixed && !is_integer(dtype)) dtypes[o] = ATOLL_BOOL;
                    swapped[o] = trial % 4 == 2 && random() % 2;
                }
                CAPTURE(std::string(facts[dtype].name));
                CAPTURE(c.m);
                CAPTURE(c.n);
                CAPTURE(c.k);
                CAPTURE(c.stack);
                CAPTURE(static_cast<int>(layout[0]));
                CAPTURE(static_cast<int>(layout[1]));
                CAPTURE(static_cast<int>(layout[2]));
                CAPTURE(trial);
                const bool plain = trial % 2 == 0;
                const int alpha = plain || dtype == ATOLL_BOOL ? 1 : 2;
                const int beta = plain ? 0 : dtype == ATOLL_BOOL ? 1 : 2;
                check(dtype, c, layout, dtypes, swapped, is_complex(dtype) ? random() % 4 : 0,
                      alpha, beta, random);
            }
}

TEST_CASE("a large integer product is cut into blocks correctly") {
    Random random(17);
    for (Layout first : {Layout::dense, Layout::permuted}) {
        Layout layout[3] = {first, Layout::permuted, Layout::dense};
        int dtypes[3] = {ATOLL_INT32, ATOLL_INT32, ATOLL_INT32};
        bool swapped[3] = {};
        check(ATOLL_INT32, {300, 40, 140, 0}, layout, dtypes, swapped, 0, 1, 1, random);
    }
}
