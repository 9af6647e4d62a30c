// Expressions that people write at first try. Each compiles, runs without an error, and has the
// shape and dtype that its line names.
#include "atoll/atoll.hpp"
#include "atoll/format.hpp"

#include <algorithm>
#include <any>
#include <array>
#include <cmath>
#include <complex>
#include <functional>
#include <numeric>
#include <vector>

#include <doctest/doctest.h>

// As beginners do: nothing of std may be found instead of Atoll's.
using namespace Atoll;

namespace {
// Nor are arguments in std, so that std::equal is not found by them.
Tensor equal_in_mode(const Tensor &a) { return equal(a, a, Out(), Mode(ComputeMode::error)); }
} // namespace

using namespace std;

namespace {

struct World {
    const Device cpu = (Atoll::load_plugin("cpu"), Atoll::device("cpu"));
    const Tensor v = Atoll::vector({3.0, 1.0, 2.0}), i = Atoll::vector({2, 0, 1}, int64),
                 b = Atoll::vector({true, false, true});
    const Tensor m = arange(6, float64).reshape({2, 3}), s = full({}, 4.0, float64);
    const Tensor z = v.cast(complex128), single = v.cast(float32);
    const std::vector<int> axes{0, 1};
    const Scalar two = 2;
};

void check(const char *text, const Tensor &result, DType dtype, const Dims &shape) {
    CAPTURE(std::string(text));
    CHECK(result.dtype() == dtype);
    CHECK(result.shape() == shape);
    result.replicate().device().synchronize();
}

} // namespace

#define IS(dtype, shape, ...) check(#__VA_ARGS__, __VA_ARGS__, dtype, Dims shape)

TEST_CASE_FIXTURE(World, "operators between tensors, selections and numbers") {
    IS(float64, ({3}), v + v);
    IS(float64, ({3}), v + 1);
    IS(float64, ({3}), 1 + v);
    IS(float64, ({3}), v - 2.5);
    IS(float64, ({3}), 2.5 - v);
    IS(float64, ({3}), v * 2);
    IS(float64, ({3}), 2 * v);
    IS(float64, ({3}), v / 2);
    IS(float64, ({3}), 1 / v);
    IS(float64, ({3}), -v);
    IS(float64, ({3}), v % 2);
    IS(float64, ({3}), 7 % v);
    IS(int64, ({3}), i % 2);
    IS(int64, ({3}), i & 1);
    IS(int64, ({3}), 1 | i);
    IS(int64, ({3}), i ^ i);
    IS(int64, ({3}), ~i);
    IS(int64, ({3}), i << 1);
    IS(int64, ({3}), 1 << i);
    IS(int64, ({3}), i >> 1);
    IS(bool_, ({3}), ~b);
    IS(bool_, ({3}), b & b);
    IS(bool_, ({3}), b | true);
    IS(bool_, ({3}), v == v);
    IS(bool_, ({3}), v == 2);
    IS(bool_, ({3}), 2 == v);
    IS(bool_, ({3}), 2.0 == v);
    IS(bool_, ({3}), v != 2);
    IS(bool_, ({3}), 2 != v);
    IS(bool_, ({3}), v < 2);
    IS(bool_, ({3}), 2 < v);
    IS(bool_, ({3}), v <= v);
    IS(bool_, ({3}), v > 2.5f);
    IS(bool_, ({3}), 2.5f >= v);
    IS(bool_, ({3}), two == v);
    IS(bool_, ({3}), v == two);
    IS(bool_, ({3}), two != v);
    IS(bool_, ({3}), v == s);
    IS(bool_, ({3}), s == v);
    IS(bool_, ({3}), b == true);
    IS(bool_, ({3}), true == b);
    IS(bool_, ({2}), v(b) == v(b));
    IS(bool_, ({2}), v(b) == 2);
    IS(bool_, ({2}), 2 == v(b));
    IS(bool_, ({3}), v == v(i));
    IS(bool_, ({3}), v(i) != v);
    IS(float64, ({3}), v(i) + 1);
    IS(float64, ({3}), 1 + v(i));
    IS(float64, ({3}), v(i) + v(i));
    IS(float64, ({3}), v - v(i));
    IS(float32, ({3}), single + 2.5);
    IS(float32, ({3}), single * 2);
    IS(float64, ({3}), single + v);
    IS(float64, ({3}), i + v);
    IS(int64, ({3}), i + 1);
    IS(float64, ({3}), i + 1.5);
    IS(float64, ({3}), i / 2);
    IS(complex128, ({3}), v + complex<double>(0, 1));
    IS(complex128, ({3}), complex<double>(0, 1) * v);
    IS(complex128, ({3}), z + v);
    IS(float64, ({2, 3}), m + s);
    IS(float64, ({2, 3}), m * s);
    IS(float64, ({2}), m * v);
    IS(float64, ({2, 2}), m * m.T());
    IS(float64, ({2, 3}), 2 * m);
    IS(float64, ({2, 3}), m / m + 1);
    IS(float64, ({2, 3}), m - mean(m));
    IS(float64, ({2, 3}), m - mean(m, 1, {.keepdims = true}));
    IS(float64, ({2, 3}), (m + 1)(all_, all_));
}

TEST_CASE_FIXTURE(World, "in place: tensors, views, selections, and what a function returns") {
    Tensor v = this->v.clone(), m = this->m.clone();
    IS(float64, ({3}), v += v);
    IS(float64, ({3}), v += v(0));
    IS(float64, ({3}), v -= 1);
    IS(float64, ({3}), v *= 2);
    IS(float64, ({3}), v *= Scalar(0.5));
    IS(float64, ({3}), v /= 2);
    IS(float64, ({2, 3}), m -= mean(m, 1, {.keepdims = true}));
    IS(float64, ({2}), m(all_, 1) += 1);
    IS(float64, ({2}), m(all_, 1) *= 3);
    IS(float64, ({3}), m.T()(all_, 0) += v);
    IS(float64, ({3}), m(0).assign(v));
    IS(float64, ({2}), m.diag().fill(1));
    IS(float64, ({3, 2}), m.T() += 1);
    IS(float64, ({2}), v(b) *= 2);
    IS(float64, ({3}), v(i) += 1);
    auto row = m(1);
    row = v;
    row *= 2;
    CHECK(m(1, 2).item<double>() == 2 * v(2).item<double>());
}

TEST_CASE_FIXTURE(World, "functions beside those of std") {
    IS(float64, ({3}), sqrt(v));
    IS(float64, ({3}), abs(v));
    IS(float64, ({3}), exp(v));
    IS(float64, ({3}), log(v));
    IS(float64, ({3}), log2(v));
    IS(float64, ({3}), sin(v) + cos(v));
    IS(float64, ({3}), pow(v, 2));
    IS(float64, ({3}), pow(2, v));
    IS(float64, ({3}), pow(v, v));
    IS(float64, ({3}), atan2(v, v));
    IS(float64, ({3}), hypot(v, 1));
    IS(float64, ({3}), copysign(v, -1));
    IS(float64, ({3}), fmod(v, 2));
    IS(float64, ({3}), remainder(v, 2));
    IS(float64, ({3}), floor(v));
    IS(float64, ({3}), ceil(v));
    IS(float64, ({3}), round(v));
    IS(float64, ({3}), trunc(v));
    IS(float64, ({3}), cbrt(v));
    IS(float64, ({3}), fmin(v, 2));
    IS(float64, ({3}), fmax(v, 2));
    IS(float64, ({3}), minimum(v, 2));
    IS(float64, ({3}), maximum(v, v));
    IS(float64, ({3}), clip(v, 1, 2));
    IS(float64, ({3}), where(v > 1, v, 0));
    IS(float64, ({3}), where(b, 1.0, v));
    IS(bool_, ({3}), isnan(v));
    IS(bool_, ({3}), isinf(v));
    IS(bool_, ({3}), isfinite(v));
    IS(bool_, ({3}), equal(v, v));
    IS(bool_, ({3}), equal(v, 2));
    IS(bool_, ({3}), equal(2, v));
    IS(bool_, ({3}), equal_in_mode(v));
    IS(bool_, ({3}), not_equal(v, v, {}));
    IS(bool_, ({3}), Atoll::less(v, 2));
    IS(bool_, ({3}), Atoll::logical_and(b, b));
    IS(bool_, ({3}), Atoll::logical_not(b));
    IS(complex128, ({3}), conj(z));
    IS(float64, ({3}), real(z));
    IS(float64, ({3}), imag(z));
    IS(float64, ({3}), abs(z));
    IS(float64, ({3}), angle(z));
    IS(complex128, ({3}), sqrt(-v, {}, ComputeMode::complex));
    IS(float64, ({3}), square(v));
    IS(float64, ({3}), negative(v));
    IS(float64, ({3}), sign(v));
    IS(float64, ({3}), sqrt(v(i)));
    IS(float64, ({3}), sqrt(i));
    IS(float64, ({3}), add(v, 1));
    IS(float64, ({3}), subtract(1, v));
    IS(float64, ({3}), divide(1, v));
    IS(int64, ({3}), floor_divide(i, 2));
    IS(int64, ({3}), left_shift(1, i));
    IS(float64, ({2, 3}), add(m, s));
    IS(float64, (), sqrt(4.0 + s));
}

TEST_CASE_FIXTURE(World, "reductions, order and search") {
    IS(float64, (), sum(m));
    IS(float64, ({3}), sum(m, 0));
    IS(float64, ({2}), sum(m, -1));
    IS(float64, (), sum(m, {0, 1}));
    IS(float64, (), sum(m, axes));
    IS(float64, ({1, 1}), sum(m, {}, {.keepdims = true}));
    IS(float64, ({1, 3}), sum(m, 0, {.keepdims = true}));
    IS(float64, ({2}), mean(m, 1));
    IS(int64, (), sum(i));
    IS(int64, (), sum(b));
    IS(int64, (), count_nonzero(b));
    IS(float64, (), min(v));
    IS(float64, (), median(v));
    IS(float64, ({3}), median(m, 0));
    IS(float64, ({2, 3}), quantile(m, {0.25, 0.75}, 0));
    IS(float64, ({1, 3}), quantile(m, 0.9, {0}, {.keepdims = true}));
    IS(float64, ({3}), unique(v));
    IS(int64, ({3}), unique_all(v).inverse);
    IS(int64, ({3}), bincount(i));
    IS(float64, ({3}), bincount(i, {.weights = v}));
    IS(int64, ({10}), histogram(v).counts);
    IS(float64, ({4}), histogram(v, 3, {.range = {{0, 1}}}).edges);
    IS(float64, ({2}), topk(v, 2).values);
    IS(int64, ({2, 1}), topk(m, 1, 1, {.largest = false}).indices);
    IS(float64, ({2}), diff(v));
    IS(float64, ({2, 1}), diff(m, 1, {.n = 2}));
    IS(float64, ({3, 3}), outer(v, v));
    IS(bool_, ({3}), isclose(v, v + 1e-9));
    IS(bool_, ({3}), isclose(v, 3, {.rtol = 0.1, .equal_nan = true}));
    IS(float64, ({3}), nan_to_num(v, {.nan = -1}));
    IS(float64, ({3}), min(v, v));
    IS(float64, ({2, 3}), max(m, m(0, 0)));
    IS(float64, ({3}), max(m(0), m(1)));
    IS(float64, (), max(m));
    IS(float64, ({3}), min(m, 0));
    IS(bool_, (), all(v > 0));
    IS(bool_, (), Atoll::any(v > 2));
    IS(bool_, ({3}), all(m > 0, 0));
    IS(int64, (), argmax(v));
    IS(int64, ({3}), argmin(m, 0));
    IS(float64, (), prod(v));
    IS(float64, (), var(v));
    IS(float64, (), stddev(v));
    IS(float64, ({3}), sort(v));
    IS(int64, ({3}), argsort(v));
    IS(float64, ({2, 3}), sort(m, 0));
    IS(float64, ({3}), cumsum(v));
    IS(float64, ({2, 3}), cumsum(m, 1));
    IS(float64, ({3}), cumprod(v));
    IS(int64, ({3}), searchsorted(v, sort(v)));
    IS(int64, ({2}), find(b));
    IS(int64, ({1, 2}), nonzero(b));
    IS(float64, ({3}), v(argsort(v)));
    IS(float64, (), norm(v));
    IS(float64, (), norm(v, {}, {.p = 1}));
    IS(float64, ({3}), norm(m, 0, {.p = INFINITY, .keepdims = false}));
    IS(float64, (), sum(v, {}, {.skip_nan = true}));
    IS(float64, ({1, 3}), max(m, 0, {.skip_nan = true, .keepdims = true}));
    IS(float64, ({1, 1}), var(m, axes, {.ddof = 1, .keepdims = true}));
    IS(float64, ({3}), stddev(m, 0, {.ddof = 1}));
    IS(float64, ({3}), sort(v, {}, {.descending = true}));
    IS(int64, ({3}), argsort(v, 0, {.descending = true}));
    IS(int64, ({3}), searchsorted(v, sort(v), {.right = true}));
    IS(bool_, (), all_in_range(v, 0, 5));
    IS(bool_, ({1, 3}), all_lt(m, 9, 0, {.keepdims = true}));
    IS(float64, ({2, 3}), sum(m, 1, {.keepdims = true}) + m);
    IS(float64, ({2}), m(all_, 0) - sum(m, 1));
}

TEST_CASE_FIXTURE(World, "indexing and views") {
    IS(float64, (), v(0));
    IS(float64, (), v(-1));
    IS(float64, ({3}), m(0));
    IS(float64, ({3}), m(0, all_));
    IS(float64, ({2}), m(all_, 1));
    IS(float64, ({2}), v(range(0, 2)));
    IS(float64, ({2}), v(range(1, {})));
    IS(float64, ({3}), v(range({}, {}, -1)));
    IS(float64, ({2, 1}), m(all_, range(0, 1)));
    IS(float64, ({2}), m(ellipsis, 0));
    IS(float64, ({1, 3}), v(newaxis, all_));
    IS(float64, ({2}), v(b));
    IS(float64, ({3}), v(i));
    IS(float64, ({3}), v(i).get());
    IS(float64, ({2, 2}), m(all_, b));
    IS(float64, ({3, 2}), m.T());
    IS(float64, ({3, 2}), m.reshape({3, 2}));
    IS(float64, ({6}), m.reshape({-1}));
    IS(float64, ({6}), m.flatten());
    IS(float64, ({2}), m.slice(1, 0, 1).squeeze());
    IS(float64, ({2}), m.diag());
    IS(float64, ({3}), z.real());
    IS(float64, ({2, 3, 1}), m.unsqueeze(-1));
    IS(float64, ({3, 2}), m.swap_axes(0, 1));
    IS(float64, ({3, 2}), m.permute_axes({1, 0}));
    IS(float64, ({2, 3}), m.flip(0));
    IS(float64, ({3, 4}), v.broadcast_to({3, 4}));
    IS(float32, ({2, 3}), m.cast(float32));
    IS(float64, ({2, 3}), m.clone());
    IS(float64, ({2, 3}), m.to(cpu));
    IS(int8, ({2, 3}), m.cast(int8));
    IS(float64, ({2, 3}), m.replicate());
}

TEST_CASE_FIXTURE(World, "making") {
    IS(float64, ({2, 3}), zeros({2, 3}, float64));
    IS(float32, ({2, 3}), Atoll::empty({2, 3}));
    IS(int64, ({3}), zeros({3}, int64));
    IS(int32, ({2}), full({2}, 7));
    IS(float64, ({2}), full({2}, 7.0, float64));
    IS(bool_, ({2}), full({2}, true));
    IS(int32, ({5}), arange(5));
    IS(int32, ({3}), arange(2, 5));
    IS(float64, ({4}), arange(0, 2, 0.5, float64));
    IS(float64, ({5}), linspace(0, 1, 5, float64));
    IS(float64, ({3, 3}), eye(3, {}, 0, float64));
    IS(int32, ({3}), Atoll::vector({1, 2, 3}).cast(int32));
    IS(float64, ({3}), Atoll::vector(std::vector<double>{1, 2, 3}));
    IS(float64, ({3}), Atoll::vector(std::array<double, 3>{1, 2, 3}));
    IS(float64, ({2, 3}), zeros_like(m));
    IS(float64, ({2, 3}), ones_like(m));
    IS(float64, ({2, 3}), full_like(m, 3));
    IS(float64, ({6}), concatenate({v, v}, 0));
    IS(float64, ({6}), concatenate({v, v}));
    IS(int32, ({3, 2}), tensor({{1, 2}, {3, 4}, {5, 6}}));
    IS(float64, ({2}), tensor({1.5, 2.5}, float64));
    IS(float64, ({3, 2}), stack({v, v}, 1));
    IS(float64, ({3, 3}), Atoll::diag(v));
    IS(float64, ({2, 6}), tile(m, {1, 2}));
    IS(float64, ({4, 3}), repeat(m, 2, 0));
    IS(float64, ({4, 5}), pad(m, {{1, 1}}));
    IS(float64, ({4}), pad(v, {{0, 1}}, {.mode = PadMode::edge}));
    IS(float64, ({3}), roll(v, 1));
    IS(float64, ({2, 3}), roll(m, -1, 1));
    IS(float64, ({2, 2}), take(m, Atoll::vector({0, 2}), 1));
    IS(float64, ({3}), take(v, i));
    IS(float64, ({2, 3}), triu(m));
    IS(float64, ({2, 3}), tril(m, -1));
    IS(float64, ({3, 3}), meshgrid({v, v})[0]);
    IS(int64, ({2, 3}), unravel_index(i, {2, 3}));
}

TEST_CASE_FIXTURE(World, "`empty` with a list makes a tensor, whatever else is in sight") {
    const auto t = empty({2, 3});
    static_assert(std::same_as<decltype(t), const Tensor>);
    CHECK(t.shape() == Dims{2, 3});
    CHECK(empty({}).rank() == 0);
}

TEST_CASE_FIXTURE(World, "a selection tells what it would be") {
    const Selection some = v(b);
    CHECK(some.shape() == Dims{2});
    CHECK(some.rank() == 1);
    CHECK(some.size() == 2);
    CHECK(some.dtype() == float64);
    CHECK(some.device() == cpu);
    CHECK(m(all_, b).shape() == Dims{2, 2});
    CHECK_THROWS_AS(v(b, b).shape(), Atoll::Error);
}

TEST_CASE_FIXTURE(World, "a loop runs over the parts along the first axis") {
    const Tensor t = m.clone();
    double sum_of_rows = 0;
    for (const Tensor &row : t) sum_of_rows += sum(row).item<double>();
    CHECK(sum_of_rows == 15);
    for (View row : t) row = row(2);
    CHECK(t.to_vector<double>() == std::vector<double>{4, 5, 4, 5, 4, 5});
    for (const Tensor &element : v + 1)
        CHECK(element.rank() == 0); // the sum lives as long as the loop
    CHECK(std::distance(t.begin(), t.end()) == 2);
    CHECK(zeros({0, 3}).begin() == zeros({0, 3}).end());
    CHECK_THROWS_WITH(
        s.begin(),
        "[tensor.begin] got rank 0, need an axis to iterate over; read the element with item()");
    CHECK(allclose(v, v + 1e-9));
    CHECK(!allclose(v, v + 1));
}
