// Reductions through the whole library against naive sums in __int128 and long double: dtypes,
// axes, keepdims, layouts, destinations, and nothing at all.
#include "support.hpp"

#include <cmath>
#include <complex>

using namespace Atoll;
using namespace support;

namespace {

struct Facts {
    const char *name;
    int family;
    std::uint32_t domain;
};
constexpr Facts functions[] = {
#define ATOLL_FUNCTION(id, name, FAMILY, RULE, DOMAIN, doc)                                        \
    {#name, ATOLL_FAMILY_##FAMILY, ATOLL_DOMAIN_##DOMAIN},
#include "atoll/lists/functions.inc"
};

// One element of the result, naively.
struct Naive {
    int function;
    __int128 i;
    std::complex<long double> z;
    long double scale = 0; // rounding errors are relative to this
    bool first = true;

    explicit Naive(int function) : function(function) {
        const bool one = function == ATOLL_FN_prod || function == ATOLL_FN_all;
        i = one ? 1 : 0;
        z = one ? 1 : 0;
    }
    void take(const Value &v) {
        const std::complex<long double> x(v.real(), v.im);
        switch (function) {
        case ATOLL_FN_sum:
            i = oracle::wrap(i + v.i, ATOLL_INT64);
            z += x;
            scale += std::abs(x);
            break;
        case ATOLL_FN_prod:
            i = static_cast<__int128>(static_cast<unsigned __int128>(i) *
                                      static_cast<unsigned __int128>(v.i));
            i = oracle::wrap(i, ATOLL_INT64);
            z *= x;
            scale = std::abs(z);
            break;
        case ATOLL_FN_min:
        case ATOLL_FN_max: {
            const bool more = function == ATOLL_FN_max;
            if (first || (more ? v.i > i : v.i < i)) i = v.i;
            const bool wins = more ? v.re > z.real() : v.re < z.real();
            if (first || std::isnan(v.re) || (!std::isnan(z.real()) && wins)) z = v.re;
            break;
        }
        case ATOLL_FN_norm2:
            z += std::norm(x);
            scale = std::sqrt(z.real());
            break;
        case ATOLL_FN_any: i |= v.truth(); break;
        default: i &= v.truth(); break;
        }
        first = false;
    }
    Value result(int dtype) const {
        if (oracle::is_integer(dtype) || dtype == ATOLL_BOOL)
            return oracle::convert(Value::of(i), dtype);
        if (function == ATOLL_FN_norm2) return Value::of(std::sqrt(z.real()), 0.0L);
        return Value::of(z.real(), z.imag());
    }
};

// sum, prod: 64 bits for integers; norm2: float64.
int compute_dtype(int function, int dtype) {
    if (is_floating(static_cast<DType>(dtype))) return dtype;
    if (function == ATOLL_FN_norm2) return ATOLL_FLOAT64;
    if (function != ATOLL_FN_sum && function != ATOLL_FN_prod) return dtype;
    return oracle::facts[dtype].kind == ATOLL_KIND_UNSIGNED ? int{ATOLL_UINT64} : int{ATOLL_INT64};
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
    case ATOLL_FN_min:
    case ATOLL_FN_max: return oracle::random_value(dtype, random, random() % 8 == 0);
    default: break;
    }
    return oracle::random_value(dtype, random, false);
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

    const bool no_answer = count == 0 && (function == ATOLL_FN_min || function == ATOLL_FN_max);
    Tensor result;
    try {
        result = detail::call_reduce(function, source, axes, keepdims, given ? Out(target) : Out());
    } catch (const Error &error) {
        if (!no_answer) return error.what();
        return bytes_of(target) == before ? "" : "an error, but the destination was written";
    }
    if (no_answer) return "the minimum of nothing was no error";
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
        Naive naive(function);
        oracle::each(shape, [&](const Shape &source_index) {
            std::size_t own = 0;
            for (std::size_t i = 0; i < shape.size(); ++i) {
                if (!reduced[i] && source_index[i] != index[own]) return;
                own += !reduced[i] || keepdims;
            }
            naive.take(oracle::convert(in.get(source_index), compute));
        });
        const Value exact = naive.result(natural);
        Value want = oracle::convert(oracle::convert(exact, natural), to);
        Value value = got[k++];
        const bool whole = oracle::is_integer(natural) || natural == ATOLL_BOOL ||
                           function == ATOLL_FN_min || function == ATOLL_FN_max;
        // Which of two zeros is the smaller is not said; nor in which order a sum meets them.
        for (Value *v : {&want, &value}) {
            if (v->re == 0) v->re = 0;
            if (v->im == 0) v->im = 0;
        }
        bool right;
        if (whole) {
            right = oracle::same(value, want, to, 0);
        } else if (want.integer) {
            // A floating-point result on its way to an integer: one more or less by its rounding,
            // and beyond the range by wherever it is cut off.
            const long double error =
                1 + 4 * naive.scale * std::max(oracle::epsilon(natural), oracle::epsilon(to));
            right = to == ATOLL_BOOL || std::fabs(static_cast<long double>(value.i) -
                                                  static_cast<long double>(want.i)) <= error;
        } else {
            const long double error = 4 * std::max(naive.scale, 1e-7L) *
                                      std::max(oracle::epsilon(natural), oracle::epsilon(to));
            right = oracle::same_part(value.real(), want.real(), error) &&
                    oracle::same_part(value.im, want.im, error);
        }
        if (!right && wrong.empty())
            wrong = "gave " + oracle::text(value) + ", expected " + oracle::text(want) + " in " +
                    oracle::facts[to].name;
    });
    return wrong;
}

} // namespace

TEST_CASE("reductions agree with naive ones over any axes, layouts and destinations") {
    Random random(51);
    int checked = 0;
    for (int f = 0; f < ATOLL_FN_COUNT; ++f) {
        if (functions[f].family != ATOLL_FAMILY_REDUCE) continue;
        ++checked;
        for (const Device device : all_devices())
            for (int d = 1; d < ATOLL_DTYPE_COUNT; ++d) {
                if (!(functions[f].domain >> compute_dtype(f, d) & 1)) continue;
                for (int trial = 0; trial < 40; ++trial) {
                    const std::string wrong = reduce_once(f, d, device, random);
                    if (wrong.empty()) continue;
                    FAIL_CHECK(std::string(functions[f].name)
                               << " of " << std::string(oracle::facts[d].name) << " on "
                               << device.name() << ": " << wrong);
                }
            }
    }
    CHECK(checked == 7);
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
        CHECK(norm2(-t, none).to_doubles() == t.to_doubles());
    }
}

TEST_CASE("nothing sums to 0, multiplies to 1, and has no minimum") {
    for (const Device device : all_devices()) {
        const Tensor e = zeros({0, 3}, {float32, device});
        CHECK(sum(e).item().to_double() == 0);
        CHECK(prod(e, 0).to_doubles() == std::vector<double>{1, 1, 1});
        CHECK(norm2(e).item().to_double() == 0);
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
    CHECK(error_status([&] { sum(t, 0, false, zeros({2}, {cpu()})); }) == Status::invalid_argument);
    CHECK(error_status([&] { sum(t, 0, true, zeros({3}, {cpu()})); }) == Status::invalid_argument);
    CHECK(error_status([&] { sum(zeros({}, {cpu()}), 0); }) == Status::out_of_range);
}

TEST_CASE("a destination inside the reduced tensor is right") {
    for (const Device device : all_devices()) {
        const Tensor t = counting({3, 3}, int64, device);
        // The last column takes the sums of the first ones before its own is made.
        sum(t, 0, false, t(all_, 2));
        CHECK(t(all_, 2).to_doubles() == std::vector<double>{3, 12, 21});
        sum(t, 1, false, t(2));
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
