// What the functions made of others refuse, and what the user's settings mean to them. Their values
// are compared with NumPy's in tests/compositions.
#include "../support.hpp"

#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <vector>

using namespace Atoll;
using namespace support;

TEST_CASE("compositions say what does not fit") {
    load_devices();
    const Placement where{float64, cpu()};
    const Tensor v = arange(4, where), m = v.reshape({2, 2}), i = arange(4, {int64, cpu()});
    const Tensor z = v.cast(complex128), none = zeros({0}, where);
    const std::pair<std::string, std::function<void()>> calls[] = {
        {"[diff] got no axis for a tensor of rank 2, need one", [&] { diff(m); }},
        {"[diff] got n = -1, need 0 or more", [&] { diff(v, 0, {.n = -1}); }},
        {"[roll] got axis 2 of a tensor of rank 1, need -1 to 0", [&] { roll(v, 1, 2); }},
        {"[tile] got count -1 for axis 0, need 0 or more", [&] { tile(v, {-1}); }},
        {"[tile] more elements than fit 63 bits", [&] { tile(v, {INT64_MAX}); }},
        {"[repeat] got count -1, need 0 or more", [&] { repeat(v, -1); }},
        {"[repeat] more elements than fit 63 bits", [&] { repeat(v, INT64_MAX); }},
        {"[repeat] more elements than fit 63 bits",
         [&] {
             repeat(vector({1, 2, 3}, {cpu()}), vector({INT64_MAX, INT64_MAX, 5L}, {cpu()}));
         }},
        {"[repeat] more elements than fit 63 bits",
         [&] {
             repeat(vector({1, 2}, {cpu()}), vector({~0UL, 3UL}, {cpu()}));
         }},
        {"[repeat] more elements than fit 63 bits",
         [&] {
             repeat(vector({1, 2}, {cpu()}), vector({3UL, ~0UL}, {cpu()}));
         }},
        {"[repeat] got counts of dtype float64 and shape (4,), need integers, one for each of 4 "
         "elements",
         [&] { repeat(v, v); }},
        {"[repeat] got negative counts, need 0 or more", [&] { repeat(v, i - 1); }},
        {"[pad] got 2 pairs of widths for a tensor of rank 1, need one for each axis, or one for "
         "all",
         [&] {
             pad(v, {{1, 1}, {1, 1}});
         }},
        {"[pad] got widths -1 and 0 for axis 0, need 0 or more",
         [&] {
             pad(v, {{-1, 0}});
         }},
        {"[pad] more elements than fit 63 bits",
         [&] {
             pad(v, {{INT64_MAX, 0}});
         }},
        {"[pad] axis 0 has no elements to repeat; pad it with PadMode::constant",
         [&] {
             pad(none, {{1, 0}}, {.mode = PadMode::wrap});
         }},
        {"[pad] got mode 9, need constant, edge, reflect, symmetric or wrap",
         [&] {
             pad(v, {{1, 0}}, {.mode = static_cast<PadMode>(9)});
         }},
        {"[meshgrid] got shape (2, 2), need vectors",
         [&] {
             meshgrid({v, m});
         }},
        {"[triu] got shape (4,), need a matrix", [&] { triu(v); }},
        {"[take] got positions of dtype float64, need integers", [&] { take(v, v); }},
        {"[unravel_index] a position is outside shape (1, 3), need 0 to 2",
         [&] {
             unravel_index(i, {1, 3});
         }},
        {"[unravel_index] got positions of dtype float64, need integers",
         [&] { unravel_index(v, {4}); }},
        {"[bincount] got dtype float64, need integers", [&] { bincount(v); }},
        {"[bincount] got the element -1, need 0 or more", [&] { bincount(i - 1); }},
        {"[bincount] got the element 9223372036854775807: more bins than fit 63 bits",
         [&] {
             bincount(full({1}, INT64_MAX, {int64, cpu()}));
         }},
        {"[bincount] got weights of dtype float64 and shape (2, 2), need real ones of shape (4,)",
         [&] { bincount(i, {.weights = m}); }},
        {"[bincount] got 9223372036854775807 bins: more bytes than fit 63 bits",
         [&] { bincount(i, {.min_length = INT64_MAX}); }},
        {"[bincount] no memory for 1099511627776000 bins",
         [&] { bincount(i, {.weights = v, .min_length = std::int64_t{1000} << 40}); }},
        {"[histogram] got 9223372036854775807 bins: more bytes than fit 63 bits",
         [&] { histogram(v, INT64_MAX); }},
        {"[histogram] got 0 bins, need 1 or more", [&] { histogram(v, 0); }},
        {"[histogram] got the range nan to nan, need finite ascending ends; give "
         "HistogramOptions::range",
         [&] { histogram(v + std::numeric_limits<double>::quiet_NaN()); }},
        {"[histogram] got dtype complex128, need real numbers", [&] { histogram(z); }},
        {"[histogram] the edges do not ascend", [&] { histogram(v, -v); }},
        {"[histogram] got a range beside edges, need one of them",
         [&] {
             histogram(v, v, {.range = {{0, 1}}});
         }},
        {"[topk] got k = 5, need 0 to 4, the extent of axis 0", [&] { topk(v, 5); }},
        {"[quantile] got q = 1.5, need 0 to 1", [&] { quantile(v, 1.5); }},
        {"[quantile] got dtype complex128, need real numbers", [&] { median(z); }},
        {"[quantile] shape (0,) has no elements to order", [&] { median(none); }},
        {"[quantile] axis 0 stands twice",
         [&] {
             median(v, {0, -1});
         }},
        {"[isclose] got rtol -1 and atol 1e-08, need 0 or more",
         [&] { isclose(v, v, {.rtol = -1}); }},
    };
    for (const auto &[message, call] : calls) CHECK(error_text(call) == message);
    CHECK(contains(error_text([&] { isclose(v, m.T()(0, all_)); }), "[core.equal]"));
    CHECK(contains(error_text([&] { take(v, i + 1); }), "4"));
}

TEST_CASE("what a user has switched off does not reach into compositions") {
    for (const Device device : all_devices()) {
        const Tensor v = tensor({3.0, 1.0, 2.0}, {float32, device});
        const ScopedSettings strict([](Settings &s) {
            s.auto_cast = s.auto_broadcast = false;
            s.compute_mode = ComputeMode::error;
            s.default_dtype = DType::none;
        });
        CHECK(outer(v, v).shape() == Dims{3, 3});
        CHECK(allclose(v, v));
        CHECK(median(v).item<double>() == 2);
        CHECK(histogram(v, 2, {.density = true}).counts.to_doubles().size() == 2);
        CHECK(unique_all(v).inverse.to_doubles() == std::vector<double>{2, 0, 1});
        CHECK(pad(v, {{1, 1}}, {.value = 7}).to_doubles() == std::vector<double>{7, 3, 1, 2, 7});
        CHECK(repeat(v, tensor({0, 2, 1}, {int32, device})).to_doubles() ==
              std::vector<double>{1, 1, 2});
        // What differs between the user's own operands is refused.
        CHECK_THROWS_AS(isclose(v, v.cast(float64)), Error);
    }
}

TEST_CASE("infinities are close to equal ones only") {
    load_devices();
    CHECK(!allclose(vector({INFINITY}, {cpu()}), vector({1e308}, {cpu()}), {.rtol = 10}));
    CHECK(!allclose(vector({1e308}, {cpu()}), vector({INFINITY}, {cpu()}), {.rtol = 10}));
    CHECK(allclose(vector({-1e308}, {cpu()}), vector({1e308}, {cpu()}), {.rtol = 10}));
    using Number = std::complex<double>;
    const double inf = std::numeric_limits<double>::infinity(), nan = inf - inf;
    const auto check = [&]<class T>(T largest, DType dtype) {
        const std::vector<T> numbers = {T(inf), T(-inf), T(nan), largest, -largest, largest / 3,
                                        T(0),   -T(0),   T(1),   T(1.25), T(-1)};
        const Tensor values = vector(numbers, {dtype, cpu()});
        for (const T rtol : {T(1e-5), T(0.3), T(0.75), T(10)})
            for (const T atol : {T(1e-8), largest}) {
                const Tensor close =
                    isclose(values.unsqueeze(1), values.unsqueeze(0), {.rtol = rtol, .atol = atol});
                for (std::int64_t i = 0; i < values.size(); ++i)
                    for (std::int64_t j = 0; j < values.size(); ++j) {
                        const T x = values(i).item<T>(), y = values(j).item<T>();
                        const T bound = atol + rtol * std::abs(y);
                        const bool near = std::abs(x - y) <= bound;
                        CAPTURE(x);
                        CAPTURE(y);
                        CHECK(close(i, j).item<bool>() ==
                              (x == y || (std::isfinite(x) && std::isfinite(y) && near)));
                    }
            }
    };
    check(std::numeric_limits<float>::max(), float32);
    check(std::numeric_limits<double>::max(), float64);
    const Tensor a = tensor({Number(inf, 0), Number(-inf, 0), Number(1, nan), Number(1, 1)},
                            {complex128, cpu()});
    const Tensor b = tensor({Number(inf, 0), Number(inf, 0), Number(nan, 2), Number(1, 1 + 1e-9)},
                            {complex128, cpu()});
    CHECK(isclose(a, b).to_vector<bool>() == std::vector<bool>{true, false, false, true});
    CHECK(isclose(a, b, {.equal_nan = true}).to_vector<bool>() ==
          std::vector<bool>{true, false, true, true});
}

TEST_CASE("bins are counted wherever their elements lie, and however") {
    const std::vector<double> counts = [] {
        std::vector<double> c(301);
        c[300] = 2;
        c[7] = 1;
        return c;
    }();
    for (const Device device : all_devices()) {
        const Placement there{int64, device};
        const Tensor a = tensor({300, 1, 7, 2, 300, 3}, there)(range({}, {}, 2));
        const Tensor weights = tensor({1.0, 9.0, 2.0, 9.0, 4.0, 9.0}, {device})(range({}, {}, 2));
        Tensor swapped = a.clone(), swapped_weights = weights.clone();
        swapped.byteswap();
        swapped_weights.byteswap();
        for (const Tensor &bins : {a, swapped, a.cast(int16)}) {
            CHECK(bincount(bins).to_doubles() == counts);
            CHECK(bincount(bins, {.min_length = 5}).size() == 301);
            CHECK(bincount(bins, {.min_length = 305}).size() == 305);
            for (const Tensor &w : {weights, swapped_weights}) {
                const Tensor sums = bincount(bins, {.weights = w});
                CHECK(sums(300).item<double>() == 5);
                CHECK(sums(7).item<double>() == 2);
                CHECK(sum(sums).item<double>() == 7);
            }
        }
    }
    alignas(8) char memory[25];
    const std::int64_t numbers[] = {300, 7, 300};
    std::memcpy(memory + 1, numbers, sizeof numbers);
    CHECK(bincount(from_memory(memory + 1, {3}, {8}, int64, cpu())).to_doubles() == counts);
}
