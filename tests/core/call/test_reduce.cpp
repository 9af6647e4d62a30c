// Reductions through the whole library against naive sums in __int128 and long double: dtypes,
// axes, keepdims, layouts, destinations, and nothing at all.
#include "../../oracle/reduce.h"
#include "../by_id.hpp"
#include "../support.hpp"

#include <cmath>
#include <complex>

using namespace Atoll;
using namespace support;

namespace {

// sum, prod: 64 bits for integers; mean, norms: float64.
int compute_dtype(int function, int dtype) {
    return static_cast<int>(sdk::make_T(static_cast<std::uint32_t>(functions[function].rule),
                                        static_cast<std::uint32_t>(dtype)));
}

// Reductions that nothing has no answer for.
bool needs_elements(int function) {
    switch (function) {
    case ATOLL_FN_min:
    case ATOLL_FN_max:
    case ATOLL_FN_min_abs:
    case ATOLL_FN_max_abs:
    case ATOLL_FN_argmin:
    case ATOLL_FN_argmax:
    case ATOLL_FN_mean:
    case ATOLL_FN_var:
    case ATOLL_FN_stddev: return true;
    default: return false;
    }
}

Value random_element(int function, int dtype, Random &random) {
    switch (function) {
    case ATOLL_FN_prod:
        if (oracle::is_integer(dtype)) break;
        return oracle::convert(Value::of(random() % 3   ? 1.0L
                                         : random() % 2 ? -2.0L
                                                        : 0.5L,
                                         0.0L),
                               dtype);
    case ATOLL_FN_any: return oracle::convert(Value::of(random() % 12 == 0), dtype);
    case ATOLL_FN_all: return oracle::convert(Value::of(random() % 12 != 0), dtype);
    default: break;
    }
    const bool special =
        functions[function].rule != ATOLL_RULE_SUM && functions[function].rule != ATOLL_RULE_FLOAT;
    if (special) return oracle::random_value(dtype, random, random() % 8 == 0);
    return oracle::random_value(dtype, random, false);
}

// The attributes of a call, and the same for the oracle.
struct Attributes {
    std::vector<Scalar> scalars;
    Value x;
    bool skip_nan = false;
};
Attributes random_attributes(int function, Random &random) {
    static constexpr double orders[] = {0, 1, 2, INFINITY, 3, 0.5};
    Attributes made;
    if (oracle::has_number(function)) {
        const double x =
            function == ATOLL_FN_norm ? orders[random() % 6] : static_cast<double>(random() % 2);
        made.scalars.push_back(x);
        made.x = Value::of(static_cast<long double>(x), 0.0L);
    }
    if (oracle::can_skip_nan(function) && random() % 2) {
        made.skip_nan = random() % 4 != 0;
        made.scalars.push_back(made.skip_nan);
    }
    return made;
}

std::string reduce_once(int function, int dtype, Device device, Random &random) {
    static const Shape shapes[] = {{},     {1},       {7},          {3, 4},  {2, 3, 4}, {0},
                                   {3, 0}, {2, 0, 3}, {2, 1, 3, 2}, {40, 3}, {3, 40}};
    const Shape shape = shapes[random() % std::size(shapes)];
    oracle::Operand in = operand(dtype, shape, oracle::layouts[random() % 6], random() % 3 == 0);
    oracle::each(shape,
                 [&](const Shape &i) { in.set(i, random_element(function, dtype, random)); });

    Axes axes;
    std::vector<bool> reduced(shape.size(), true);
    if (random() % 4) { // a subset, in any order, some from the end
        axes.given = true;
        for (std::size_t i = 0; i < shape.size(); ++i) {
            reduced[i] = random() % 2;
            if (reduced[i])
                axes.list.push_back(static_cast<int>(i) -
                                    (random() % 2 ? static_cast<int>(shape.size()) : 0));
        }
        std::shuffle(axes.list.begin(), axes.list.end(), random);
    }
    const bool keepdims = random() % 2;
    Shape result_shape;
    std::int64_t count = 1;
    for (std::size_t i = 0; i < shape.size(); ++i) {
        if (reduced[i]) count *= shape[i];
        if (!reduced[i]) result_shape.push_back(shape[i]);
        if (reduced[i] && keepdims) result_shape.push_back(1);
    }
    const int compute = compute_dtype(function, dtype);
    const int natural = oracle::result_dtype(function, compute);
    const bool given = random() % 2;
    oracle::Operand out = operand(random() % 2 ? natural : 1 + static_cast<int>(random() % 16),
                                  result_shape, oracle::layouts[random() % 5], random() % 3 == 0);
    const std::vector<char> before = out.memory;
    const Tensor source = upload(in, device);
    const Tensor target = upload(out, random() % 8 ? device : cpu());

    const bool no_answer = count == 0 && needs_elements(function);
    const Attributes attributes = random_attributes(function, random);
    Tensor result;
    try {
        result = by_id::reduce(function, source, axes, keepdims, given ? Out(target) : Out(),
                               attributes.scalars);
    } catch (const Error &error) {
        if (!no_answer) return error.what();
        return bytes_of(target) == before ? "" : "an error, but the destination was written";
    }
    if (no_answer) return "the result of nothing was no error";
    if (given) {
        out.memory = bytes_of(target);
        if (!out.rest_is(before)) return "bytes between the elements were written";
    } else if (id(result.dtype()) != natural || result.device() != device) {
        return "the new result has the wrong dtype or device";
    }
    if (shape_of(result.shape()) != result_shape) return "the result has the wrong shape";

    const std::vector<Value> got = values_of(result);
    const int to = id(result.dtype());
    std::string wrong;
    std::size_t k = 0;
    oracle::each(result_shape, [&](const Shape &index) {
        std::vector<Value> elements;
        oracle::each(shape, [&](const Shape &source_index) {
            std::size_t own = 0;
            for (std::size_t i = 0; i < shape.size(); ++i) {
                if (!reduced[i] && source_index[i] != index[own]) return;
                own += !reduced[i] || keepdims;
            }
            elements.push_back(in.get(source_index));
        });
        const Value value = got[k++];
        const oracle::Expected want =
            oracle::reduce(function, compute, elements, attributes.x, attributes.skip_nan);
        if (oracle::accepts(want, value, natural, to) || !wrong.empty()) return;
        wrong = "gave " + oracle::text(value) + ", expected " + oracle::text(want.value) + " in " +
                oracle::facts[to].name;
    });
    return wrong;
}

} // namespace

TEST_CASE("reductions agree with naive ones over any axes, layouts and destinations") {
    const AnyOutput any_output;
    Random random(51);
    int checked = 0;
    for (int f = 0; f < ATOLL_FN_COUNT; ++f) {
        if (!is_reduction(functions[f].form)) continue;
        ++checked;
        for (const Device device : all_devices())
            for (int d = 1; d < ATOLL_DTYPE_COUNT; ++d) {
                if (!(functions[f].domain >> compute_dtype(f, d) & 1)) continue;
                for (int trial = 0; trial < 25; ++trial) {
                    const std::string wrong = reduce_once(f, d, device, random);
                    if (wrong.empty()) continue;
                    FAIL_CHECK(std::string(functions[f].name)
                               << " of " << std::string(oracle::facts[d].name) << " on "
                               << device.name() << ": " << wrong);
                }
            }
    }
    CHECK(checked == oracle::count_of(oracle::is_reduction));
}

TEST_CASE("reducing over no axes keeps every element") {
    for (const Device device : all_devices()) {
        Axes none;
        none.given = true;
        const Tensor t = counting({2, 3}, int16, device);
        const Tensor s = sum(t, none);
        CHECK(s.shape() == Dims{2, 3});
        CHECK(s.dtype() == int64);
        CHECK(s.to_doubles() == t.to_doubles());
        CHECK(norm(-t, none).to_doubles() == t.to_doubles());
    }
}

TEST_CASE("nothing sums to 0, multiplies to 1, and has no minimum") {
    for (const Device device : all_devices()) {
        const Tensor e = zeros({0, 3}, {float32, device});
        CHECK(sum(e).item().to_double() == 0);
        CHECK(prod(e, 0).to_doubles() == std::vector<double>{1, 1, 1});
        CHECK(norm(e).item().to_double() == 0);
        CHECK(any(e).item().to_int() == 0);
        CHECK(all(e).item().to_int() == 1);
        CHECK(sum(e, 1).shape() == Dims{0});
        CHECK(max(e, 1).shape() == Dims{0}); // no element is missing
        CHECK(contains(error_text([&] { min(e); }), "core.min"));
        CHECK_THROWS_AS(max(e, 0), Error);
    }
}

TEST_CASE("axes are checked: range, duplicates, the destination's shape") {
    const Tensor t = counting({2, 3}, float32, cpu());
    CHECK(error_status([&] { sum(t, 2); }) == Status::out_of_range);
    CHECK(error_status([&] { sum(t, -3); }) == Status::out_of_range);
    CHECK(error_status([&] { sum(t, {0, 0}); }) == Status::invalid_argument);
    CHECK(error_status([&] { sum(t, {1, -1}); }) == Status::invalid_argument);
    CHECK(error_status([&] { sum(t, 0, {}, zeros({2}, {cpu()})); }) == Status::invalid_argument);
    CHECK(error_status([&] { sum(t, 0, {.keepdims = true}, zeros({3}, {cpu()})); }) ==
          Status::invalid_argument);
    CHECK(error_status([&] { sum(zeros({}, {cpu()}), 0); }) == Status::out_of_range);
}

TEST_CASE("a destination inside the reduced tensor is right") {
    for (const Device device : all_devices()) {
        const Tensor t = counting({3, 3}, int64, device);
        // The last column takes the sums of the first ones before its own is made.
        sum(t, 0, {}, t(all_, 2));
        CHECK(t(all_, 2).to_doubles() == std::vector<double>{3, 12, 21});
        sum(t, 1, {}, t(2));
        CHECK(t(2).to_doubles() == std::vector<double>{6, 17, 28});
    }
}

TEST_CASE("sums of many numbers are at least pairwise accurate") {
    for (const Device device : all_devices()) {
        const Tensor t = full({1 << 20}, 0.1, {float32, device});
        const double exact = static_cast<double>(0.1f) * (1 << 20);
        CHECK(std::abs(sum(t).item().to_double() - exact) < 1e-6 * exact);
        // Halves accumulate in float32: 2048 + 1 would stick.
        CHECK(sum(ones({5000}, {float16, device})).item().to_double() == 5000);
        CHECK(sum(ones({600}, {bfloat16, device})).item().to_double() == 600);
    }
}

TEST_CASE("bounds keep their true value, whatever the dtype of the elements") {
    // Every bound beside every element, one by one.
    const std::vector<double> bounds{-1e300, -129, -128,  -1,       -0.5,      0,
                                     0.5,    1,    127,   127.5,    128,       255,
                                     255.5,  256,  1e300, INFINITY, -INFINITY, NAN};
    const auto check = [&](const Tensor &one, double bound, double element) {
        CAPTURE(bound);
        CAPTURE(element);
        CAPTURE(std::string(name(one.dtype())));
        CHECK(static_cast<bool>(all_lt(one, bound)) == (element < bound));
        CHECK(static_cast<bool>(all_le(one, bound)) == (element <= bound));
        CHECK(static_cast<bool>(all_gt(one, bound)) == (element > bound));
        CHECK(static_cast<bool>(all_ge(one, bound)) == (element >= bound));
        CHECK(static_cast<bool>(all_in_range(one, bound, 100)) ==
              (bound <= element && element <= 100));
        CHECK(static_cast<bool>(all_in_range(one, 0, bound)) == (0 <= element && element <= bound));
    };
    for (const Device device : all_devices())
        for (DType dtype : {bool_, int8, uint8, int64, uint64, float16, float64})
            for (double element : {-128.0, -1.0, 0.0, 1.0, 127.0, 255.0}) {
                const Tensor one = full({}, element, {float64, device}).cast(dtype);
                if (one.item().to_double() != element) continue;
                for (double bound : bounds)
                    // Beside floats a number takes their dtype.
                    check(one, is_floating(dtype) ? Scalar(bound).cast(dtype).to_double() : bound,
                          element);
            }
    const Tensor top = vector({~std::uint64_t{0}}, {cpu()});
    CHECK(all_le(top, ~std::uint64_t{0}));
    CHECK(!all_lt(top, ~std::uint64_t{0}));
    CHECK(all_lt(top, 0x1p64));
    CHECK(all_gt(top, -1));
    CHECK(all_lt(zeros({0}, {int8, cpu()}), -1e300)); // nothing fails no test
    CHECK(error_status([&] { norm(top, {}, {.p = -1}); }) == Status::invalid_argument);
    CHECK(error_status([&] { norm(top, {}, {.p = NAN}); }) == Status::invalid_argument);
    CHECK(error_status([&] { all_lt(top, std::complex<double>(1, 1)); }) ==
          Status::invalid_argument);
    CHECK(all_lt(vector({1, 2}, {cpu()}), Scalar(2.5, float64)));
}

TEST_CASE("a norm of large p stays between the largest modulus and the 1-norm") {
    load_devices();
    for (const Device device : {Atoll::device("cpu"), Atoll::device("dummy:0")})
        for (const double p : {500.0, 512.0, 513.0, 600.0, 2000.0, 1e6, 1e300})
            for (const DType dtype : {float16, float32, float64, complex128}) {
                CAPTURE(device.name());
                CAPTURE(p);
                CAPTURE(std::string(name(dtype)));
                const auto of = [&](std::initializer_list<double> values) {
                    return norm(vector(values, {dtype, device}), {}, {.p = p}).to_doubles()[0];
                };
                const auto near = [](double x) { return doctest::Approx(x).epsilon(2e-3); };
                CHECK(of({5}) == near(5));
                CHECK(of({0.3}) == near(0.3));
                CHECK(of({3, 3}) == near(3 * std::pow(2, 1 / p)));
                CHECK(of({0, 1, 2, 3.75, 4, 5.5, 7, 7, 1}) == near(7 * std::pow(2, 1 / p)));
                CHECK(of({0, 0}) == 0);
                CHECK(of({1, INFINITY, 2}) == INFINITY);
            }
}

TEST_CASE("positions of extremes count with the first reduced axis fastest") {
    for (const Device device : all_devices()) {
        const Tensor t = zeros({2, 3, 4}, {float32, device});
        t(1, 2, 3) = Scalar(5);
        t(1, 0, 3) = Scalar(5);
        CHECK(argmax(t).item().to_int() == 1 + 0 * 2 + 3 * 6);
        CHECK(argmax(t, {2, 0})(0).item().to_int() == 1 + 3 * 2); // axes in the tensor's order
        CHECK(argmax(t.flip(0).flip(2)).item().to_int() == 0);
        CHECK(argmax(t.reverse_axes()).item().to_int() == 3 + 0 * 4 + 1 * 12);
        CHECK(argmax(t, 1, {.keepdims = true}).shape() == Dims{2, 1, 4});
        t(0, 1, 2) = Scalar(NAN);
        CHECK(argmin(t).item().to_int() == 0 + 1 * 2 + 2 * 6);
    }
}
