// Every element-wise function through the whole library against the oracle: dtype pairs, layouts,
// byte orders, broadcasting, new and given results, in place, operands on other devices.
#include "../by_id.hpp"
#include "../support.hpp"

using namespace Atoll;
using namespace support;

namespace {

// The shape of an operand that broadcasts to `shape`: unit axes, and trailing axes left out.
Shape narrowed(Shape shape, Random &random) {
    if (random() % 3 == 0) return shape;
    for (std::int64_t &extent : shape)
        if (random() % 3 == 0) extent = 1;
    if (!shape.empty() && random() % 4 == 0) shape.pop_back();
    return shape;
}
Shape source_index(const Shape &index, const Shape &shape) {
    Shape own(index.begin(), index.begin() + std::ssize(shape));
    for (std::size_t axis = 0; axis < own.size(); ++axis)
        if (shape[axis] == 1) own[axis] = 0;
    return own;
}

int compute_dtype(const FunctionFacts &f, int common) {
    return static_cast<int>(
        sdk::make_T(static_cast<std::uint32_t>(f.rule), static_cast<std::uint32_t>(common)));
}

// Exponents and counts of integers must not be negative; that they are refused is tested apart.
bool counts(int function) {
    return function == ATOLL_FN_pow || function == ATOLL_FN_left_shift ||
           function == ATOLL_FN_right_shift;
}
void make_counts(oracle::Operand &b) {
    oracle::each(b.shape, [&](const Shape &index) {
        const Value v = b.get(index);
        if (v.integer && v.i < 0) b.set(index, Value::of(v.i & 15));
    });
}

// One call with random shapes, layouts and destination; false (and why) if anything is wrong.
struct Trial {
    int function;
    int dtype_a, dtype_b; // dtype_b 0: unary
    Device device;
    Random &random;

    std::string run() {
        static const Shape shapes[] = {{}, {5}, {3, 4}, {2, 3, 2}, {0, 3}, {1, 1}, {2, 2, 2, 2}};
        const FunctionFacts &f = functions[function];
        const Shape shape = shapes[random() % std::size(shapes)];
        // 0: new result; 1: given, of any dtype; 2: given, of the result's; 3: in place
        const int mode = static_cast<int>(random() % 4);
        const auto layout = [&](bool output) {
            return oracle::layouts[random() % (output ? 5 : 6)];
        };
        oracle::Operand a = operand(dtype_a, mode == 3 ? shape : narrowed(shape, random),
                                    layout(mode == 3), random() % 2);
        oracle::Operand b =
            operand(dtype_b ? dtype_b : dtype_a, dtype_b ? narrowed(shape, random) : a.shape,
                    layout(false), random() % 2);
        oracle::fill(a, random, true);
        oracle::fill(b, random, true);
        if (counts(function)) make_counts(b);
        // The result of new ones is no wider than the inputs make it.
        Shape result_shape = a.shape;
        if (mode != 0) {
            result_shape = shape;
        } else if (dtype_b) {
            for (std::size_t axis = 0; axis < b.shape.size(); ++axis) {
                if (axis >= result_shape.size()) result_shape.push_back(b.shape[axis]);
                if (result_shape[axis] == 1) result_shape[axis] = b.shape[axis];
            }
        }
        const int common =
            dtype_b ? id(promote(static_cast<DType>(dtype_a), static_cast<DType>(dtype_b)))
                    : dtype_a;
        const int compute = compute_dtype(f, common);
        const int natural = oracle::result_dtype(function, compute);
        oracle::Operand out = operand(mode == 1 ? 1 + static_cast<int>(random() % 16) : natural,
                                      shape, layout(true), random() % 2);

        const Tensor ta = upload(a, device);
        // The first operand decides where the others go.
        const Tensor tb = upload(b, random() % 8 ? device : Atoll::device("dummy:1"));
        const Tensor tout = upload(out, random() % 8 ? device : cpu());
        const oracle::Operand *destination = mode == 3 ? &a : &out;
        const std::vector<char> before = destination->memory, before_b = b.memory;
        const Out given = mode == 0 ? Out() : mode == 3 ? Out(ta) : Out(tout);
        const Tensor result =
            dtype_b ? by_id::binary(function, ta, tb, given) : by_id::unary(function, ta, given);
        const Tensor &expected_handle = mode == 3 ? ta : tout;
        if (mode != 0 && result.impl() != expected_handle.impl()) return "another tensor came back";
        if (mode == 0 && (result.device() != device || id(result.dtype()) != natural ||
                          shape_of(result.shape()) != result_shape || result.is_byteswapped()))
            return "the new result has the wrong device, dtype, shape or byte order";
        if (bytes_of(tb) != before_b) return "an input was changed";
        const std::vector<Value> got = values_of(result);
        if (mode != 0) {
            oracle::Operand after = *destination;
            after.memory = bytes_of(result);
            if (!after.rest_is(before)) return "bytes between the elements were written";
        }
        const int to = id(result.dtype());
        std::string wrong;
        std::size_t k = 0;
        oracle::each(result_shape, [&](const Shape &index) {
            const Value x = a.get(source_index(index, a.shape));
            const Value y = b.get(source_index(index, b.shape));
            const oracle::Expected want = dtype_b ? oracle::binary(function, compute, x, y)
                                                  : oracle::unary(function, compute, x);
            const Value &value = got[k++];
            if (wrong.empty() && !oracle::accepts(want, value, natural, to))
                wrong = oracle::text(x) + (dtype_b ? " and " + oracle::text(y) : "") + " gave " +
                        oracle::text(value) + ", expected " + oracle::text(want.value);
        });
        return wrong;
    }
};

void check_function(int function, Random &random, int trials) {
    const FunctionFacts &f = functions[function];
    const bool binary = f.form == Form::binary;
    for (const Device device : all_devices())
        for (int a = 1; a < ATOLL_DTYPE_COUNT; ++a)
            for (int b = binary ? 1 : 0; b < (binary ? int{ATOLL_DTYPE_COUNT} : 1); ++b) {
                const int common =
                    b ? id(promote(static_cast<DType>(a), static_cast<DType>(b))) : a;
                if (!(f.domain >> compute_dtype(f, common) & 1)) continue;
                for (int trial = 0; trial < trials; ++trial) {
                    const std::string wrong = Trial{function, a, b, device, random}.run();
                    if (wrong.empty()) continue;
                    FAIL_CHECK(std::string(f.name) << " of " << std::string(oracle::facts[a].name)
                                                   << " and " << std::string(oracle::facts[b].name)
                                                   << " on " << device.name() << ": " << wrong);
                }
            }
}

} // namespace

TEST_CASE("unary functions agree with the oracle on every dtype and layout") {
    const AnyOutput any_output;
    Random random(41);
    int checked = 0;
    for (int f = 0; f < ATOLL_FN_COUNT; ++f) {
        if (functions[f].form != Form::unary) continue;
        ++checked;
        check_function(f, random, 12);
    }
    CHECK(checked == oracle::count_of(oracle::has_inputs<1>));
}

TEST_CASE("binary functions agree with the oracle on every pair of dtypes") {
    const AnyOutput any_output;
    Random random(42);
    int checked = 0;
    for (int f = 0; f < ATOLL_FN_COUNT; ++f) {
        if (functions[f].form != Form::binary) continue;
        ++checked;
        check_function(f, random, 2);
    }
    CHECK(checked == oracle::count_of(oracle::has_inputs<2>));
}

TEST_CASE("scalars stand on either side") {
    for (const Device device : all_devices())
        for (int d = 1; d < ATOLL_DTYPE_COUNT; ++d) {
            const auto dtype = static_cast<DType>(d);
            CAPTURE(device.name());
            CAPTURE(name(dtype));
            if (dtype == bool_) {
                CHECK(add(zeros({2}, {dtype, device}), true).to_doubles() ==
                      std::vector<double>{1, 1});
                continue;
            }
            const Tensor t = counting({3}, dtype, device);
            CHECK((t + 2).to_doubles() == std::vector<double>{2, 3, 4});
            CHECK((7 - t).to_doubles() == std::vector<double>{7, 6, 5});
            CHECK((2 * t).to_doubles() == std::vector<double>{0, 2, 4});
            CHECK((t * 2).to_doubles() == std::vector<double>{0, 2, 4});
            CHECK((t / 2).to_doubles() == std::vector<double>{0, 0.5, 1});
            CHECK((1.5 - t).to_doubles() == std::vector<double>{1.5, 0.5, -0.5});
            if (!is_complex(dtype)) {
                CHECK(less(t, 1).to_doubles() == std::vector<double>{1, 0, 0});
                CHECK(greater_equal(1, t).to_doubles() == std::vector<double>{1, 1, 0});
            }
            CHECK(equal(t, 1).to_doubles() == std::vector<double>{0, 1, 0});
        }
    CHECK(add(2, 3, zeros({2}, {cpu()})).to_doubles() == std::vector<double>{5, 5});
}

TEST_CASE("operands of one size and several shapes broadcast, or are refused") {
    for (const Device device : all_devices()) {
        const Tensor row = full({1, 4}, 2, {float32, device}),
                     column = full({4, 1}, 3, {float32, device}),
                     vector = full({4}, 5, {float32, device}),
                     given = full({4, 1}, 0, {float32, device});
        const auto check = [](const Tensor &sum, const Dims &shape, double value) {
            CHECK(sum.shape() == shape);
            CHECK(sum.to_doubles() ==
                  std::vector<double>(static_cast<std::size_t>(sum.size()), value));
        };
        check(row + column, {4, 4}, 5);
        check(column + row, {4, 4}, 5);
        check(row + vector, {4, 4}, 7);
        check(vector + row, {4, 4}, 7);
        check(column + vector, {4, 1}, 8);
        check(vector + column, {4, 1}, 8);
        add(vector, vector, given);
        check(given, {4, 1}, 10);
        CHECK_THROWS_AS(row + zeros({2, 2}, {device}), Error);
        CHECK_THROWS_AS(add(row, row, given), Error);
        check(given, {4, 1}, 10);
    }
}

TEST_CASE("in place the left side keeps shape, dtype and device") {
    const AnyOutput any_output;
    for (const Device device : all_devices()) {
        Tensor t = counting({3}, int32, device);
        t += 1.75; // computed in float64, truncated back
        CHECK(t.dtype() == int32);
        CHECK(t.to_doubles() == std::vector<double>{1, 2, 3});
        multiply(t, counting({3}, float32, cpu()), t);
        CHECK(t.to_doubles() == std::vector<double>{0, 2, 6});
        t /= 4;
        CHECK(t.to_doubles() == std::vector<double>{0, 0, 1});
        t -= full({1}, 2, {int8, cpu()});
        CHECK(t.to_doubles() == std::vector<double>{-2, -2, -1});
        CHECK(t.device() == device);
        CHECK_THROWS_AS(t += zeros({3, 2}, {device}), Error);
        CHECK_THROWS_AS(t += zeros({2}, {device}), Error);
        CHECK(t.to_doubles() == std::vector<double>{-2, -2, -1});
    }
}

TEST_CASE("a result is on the device of the first operand") {
    load_devices();
    const Device on[] = {device("cpu"), device("dummy:0"), device("dummy:1"),
                         device("dummy_min:0")};
    for (const Device &first : on)
        for (const Device &second : on) {
            const Tensor sum = counting({3}, float32, first) + counting({3}, int16, second);
            CHECK(sum.device() == first);
            CHECK(sum.to_doubles() == std::vector<double>{0, 2, 4});
            const Tensor out = zeros({3}, {float64, second});
            multiply(counting({3}, float32, first), 2, out);
            CHECK(out.device() == second);
            CHECK(out.to_doubles() == std::vector<double>{0, 2, 4});
        }
}

TEST_CASE("a destination may overlap its operands") {
    for (const Device device : all_devices()) {
        CAPTURE(device.name());
        const Tensor v = counting({6}, int64, device);
        v(range(1, {})) += v(range({}, -1));
        CHECK(v.to_doubles() == std::vector<double>{0, 1, 3, 5, 7, 9});
        Tensor a = counting({2, 2}, float32, device);
        a += a.T();
        CHECK(a.to_doubles() == std::vector<double>{0, 3, 3, 6});
        Tensor b = counting({2, 2}, float32, device);
        b -= b(all_, 1);
        CHECK(b.to_doubles() == std::vector<double>{-2, -2, 0, 0});
        const Tensor z = full({2}, std::complex<double>(3, 4), {complex64, device});
        square(z.imag(), z.real());
        CHECK(z(1).item().to_complex() == std::complex<double>(16, 4));
    }
}

// The order of two numbers that no dtype of 64 bits holds both: -1, 0, 1; 2 if one is NaN.
int true_order(const Value &a, const Value &b) {
    const auto whole = [](long double x) { return static_cast<__int128>(std::floor(x)); };
    if ((!a.integer && std::isnan(a.re)) || (!b.integer && std::isnan(b.re))) return 2;
    if (a.integer && b.integer) return (a.i > b.i) - (a.i < b.i);
    if (b.integer) return -true_order(b, a);
    if (!a.integer && !b.integer) return (a.re > b.re) - (a.re < b.re);
    // __int128 beside long double: by the whole part, then by what is left of it.
    if (std::fabs(b.re) > 0x1p100L) return b.re > 0 ? -1 : 1;
    const __int128 floor = whole(b.re);
    if (a.i != floor) return a.i < floor ? -1 : 1;
    return b.re > static_cast<long double>(floor) ? -1 : 0;
}

TEST_CASE("comparisons of 64-bit integers with other kinds compare the true values") {
    const std::int64_t high = std::int64_t{1} << 53;
    std::vector<std::int64_t> i{0,         1,         -1,        high,           high + 1,
                                -high - 1, INT64_MAX, INT64_MIN, INT64_MAX - 512};
    std::vector<std::uint64_t> u{0,
                                 1,
                                 std::uint64_t(high),
                                 std::uint64_t(high) + 1,
                                 std::uint64_t(1) << 63,
                                 (std::uint64_t(1) << 63) - 1,
                                 ~std::uint64_t{0},
                                 ~std::uint64_t{0} - 1024};
    std::vector<double> f{0.0,         -0.0,     0.5,       -0.5,   0x1p53,
                          -0x1p53 - 2, 0x1p63,   -0x1p63,   0x1p64, 1e300,
                          -1e300,      INFINITY, -INFINITY, NAN,    std::nextafter(0x1p63, 0)};
    for (const Device device : all_devices()) {
        CAPTURE(device.name());
        const Tensor sides[] = {vector(i, {device}), vector(u, {device}), vector(f, {device}),
                                vector(f, {device}).cast(float32),
                                vector(f, {device}).cast(bfloat16)};
        for (const Tensor &a : sides)
            for (const Tensor &b : sides) {
                // Every element of a beside every element of b.
                const Tensor row = b.unsqueeze(0);
                const std::vector<Value> x = values_of(a), y = values_of(b);
                const Tensor results[] = {equal(a, row),   not_equal(a, row),
                                          less(a, row),    less_equal(a, row),
                                          greater(a, row), greater_equal(a, row)};
                for (std::size_t m = 0; m < x.size(); ++m)
                    for (std::size_t n = 0; n < y.size(); ++n) {
                        const int order = true_order(x[m], y[n]);
                        const bool want[] = {order == 0,  order != 0,
                                             order == -1, order == -1 || order == 0,
                                             order == 1,  order == 1 || order == 0};
                        for (int k = 0; k < 6; ++k) {
                            const bool got = values_of(results[k])[m + n * x.size()].truth();
                            if (got == want[k]) continue;
                            FAIL_CHECK("comparison " << k << " of " << std::string(name(a.dtype()))
                                                     << " element " << m << " with "
                                                     << std::string(name(b.dtype())) << " element "
                                                     << n << " is " << got);
                        }
                    }
            }
        // Numbers beside 64-bit integers keep their value too; complex numbers can be equal.
        const Tensor large = vector<std::int64_t>({high + 1}, {device});
        CHECK(!equal(large, 0x1p53));
        CHECK(!equal(0x1p53, large));
        CHECK(greater(large, 0x1p53));
        CHECK(!equal(large, Scalar(std::complex<double>(0x1p53, 0))));
        CHECK(equal(large - 1, Scalar(std::complex<double>(0x1p53, 0))));
        CHECK(!equal(large - 1, Scalar(std::complex<double>(0x1p53, 1))));
        // A number need not fit the tensor's dtype.
        const Tensor byte = vector<std::uint8_t>({7}, {device});
        CHECK(less(byte, 300));
        CHECK(greater(byte, -1));
        CHECK(not_equal(byte, 263));
        CHECK(less(vector<std::uint64_t>({~std::uint64_t{0}}, {device}), -1).item().to_int() == 0);
        CHECK(less(vector<std::int64_t>({-1}, {device}), ~std::uint64_t{0}));
        // Into a destination of another dtype, and in place of an operand.
        const Tensor out = zeros({1}, {float32, device});
        greater(large, 0x1p53, out);
        CHECK(out.item().to_double() == 1);
        const Tensor self = large.replicate();
        greater(self, 0x1p53, self);
        CHECK(self.item().to_int() == 1);
    }
}

TEST_CASE(
    "dense operands of one kind skip conversions, not checks: overlap, read-only, shape, order") {
    for (const Device device : all_devices()) {
        CAPTURE(device.name());
        const Placement f64(float64, device);
        const Tensor v = arange(6, f64), a = v.slice(0, 0, 5);
        Tensor out = empty({6}, f64);
        CHECK(&add(v, v, out) == &out); // a named tensor comes back itself
        CHECK(out.to_doubles() == std::vector<double>({0, 2, 4, 6, 8, 10}));

        const Tensor shifted = v.slice(0, 1, 6); // dense, of the same shape, and overlapping
        add(a, a, shifted);
        CHECK(v.to_doubles() == std::vector<double>({0, 0, 2, 4, 6, 8}));
        multiply(a, a, a); // the very same elements
        CHECK(v.to_doubles() == std::vector<double>({0, 0, 4, 16, 36, 8}));

        const auto status = [](auto call) {
            try {
                call();
            } catch (const Error &e) {
                return e.status();
            }
            return Status::ok;
        };
        Tensor fixed = zeros({6}, f64), shorter = empty({5}, f64), undefined;
        fixed.set_read_only();
        CHECK(status([&] { add(v, v, fixed); }) == Status::read_only);
        CHECK(sum(fixed).item().to_double() == 0);
        CHECK(status([&] { add(v, v, shorter); }) == Status::invalid_argument);
        CHECK(status([&] { add(v, v, undefined); }) == Status::invalid_argument);
        CHECK(status([&] { add(v, undefined, out); }) == Status::invalid_argument);

        Tensor other = arange(6, f64), swapped = empty({6}, f64);
        swapped.set_byteswapped(true);
        add(other, other, swapped);
        CHECK(swapped.is_byteswapped());
        CHECK(swapped.to_doubles() == std::vector<double>({0, 2, 4, 6, 8, 10}));
        const Tensor none = empty({0, 3}, f64), one = full({}, 2.0, f64);
        CHECK((none + none).shape() == Dims{0, 3});
        CHECK((one + one).item().to_double() == 4);
    }
}
