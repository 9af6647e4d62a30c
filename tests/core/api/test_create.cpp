// Making tensors: layouts, values against the defining formulas, sizes that overflow, borrowed
// memory.
#include "../model.hpp"

#include <cmath>
#include <limits>

using namespace Atoll;
using namespace support;

namespace {
constexpr std::int64_t huge = std::numeric_limits<std::int64_t>::max();
}

TEST_CASE("an empty tensor has dense strides of the order that was asked for") {
    const Placement where{float64, cpu()};
    CHECK(empty({2, 3, 4}, where).strides() == Dims{8, 16, 48});
    CHECK(empty({2, 3, 4}, where, Order::C).strides() == Dims{96, 32, 8});
    CHECK(empty({2, 3, 4}, where, Order::R).strides() == Dims{24, 8, 48});
    CHECK(empty({3}, where, Order::R).strides() == Dims{8});
    CHECK(empty({}, where).size() == 1);
    CHECK(empty({3, 0}, where).bytes() == 0);
    CHECK(empty({2, 3}, where).is_contiguous(Order::F));
    CHECK(empty({2, 3}, where, Order::C).is_contiguous(Order::C));
    CHECK(!empty({2, 3}, where, Order::C).is_contiguous(Order::F));
}

TEST_CASE("strides of any sign get a storage of exactly their extent") {
    struct Case {
        Dims shape, strides;
        std::int64_t bytes, offset;
    };
    const Case cases[] = {{{4}, {8}, 32, 0},
                          {{4}, {-8}, 32, 24},
                          {{4}, {0}, 8, 0},
                          {{2, 3}, {-8, 24}, 64, 8},
                          {{2, 3}, {-8, -24}, 64, 56},
                          {{3, 3}, {8, 8}, 40, 0},
                          {{}, {}, 8, 0}};
    for (const Device device : all_devices())
        for (const Case &c : cases) {
            Tensor t = empty_strided(c.shape, c.strides, {float64, device});
            CHECK(t.storage().bytes() == c.bytes);
            CHECK(t.offset() == c.offset);
            CHECK(t.strides() == c.strides);
            CHECK(!t.is_byteswapped());
            t.fill(7);
            for (const Value &v : values_of(t)) CHECK(v.re == 7);
        }
    CHECK(empty_strided({4}, {0}, {float64, cpu()}).is_self_overlapping());
    CHECK(!empty_strided({4}, {-8}, {float64, cpu()}).is_self_overlapping());
}

TEST_CASE("sizes that overflow are an error") {
    const Placement where{float64, cpu()};
    const auto status = [&](auto &&make) { return error_status(make); };
    CHECK(status([&] { empty({huge}, where); }) == Status::overflow);
    CHECK(status([&] { empty({1 << 30, 1 << 30, 1 << 30}, where); }) == Status::overflow);
    // An extent of 0 must not hide the overflow of the strides.
    CHECK(status([&] { empty({0, huge, huge}, where); }) == Status::overflow);
    CHECK(status([&] { empty({-1}, where); }) == Status::invalid_argument);
    CHECK(status([&] { empty_strided({3}, {huge}, where); }) == Status::overflow);
    CHECK(status([&] { empty_strided({3}, {-huge}, where); }) == Status::overflow);
    CHECK(status([&] { empty_strided({2, 2}, {huge - 8, -huge + 8}, where); }) == Status::overflow);
    CHECK(status([&] { empty_strided({2}, {8, 8}, where); }) == Status::invalid_argument);
    CHECK(status([&] { zeros({huge}, where); }) == Status::overflow);
    CHECK(status([&] { eye(huge, 2, 0, where); }) == Status::overflow);
    CHECK(status([&] { diag(zeros({1}, where), huge); }) == Status::overflow);
    CHECK(status([&] { diag(zeros({1}, where), -huge); }) == Status::overflow);
    CHECK(status([&] { arange(std::numeric_limits<std::int64_t>::min(), huge, 1, where); }) ==
          Status::overflow);
    CHECK(status([&] { arange(0, huge, 1, where); }) == Status::overflow);
    CHECK(status([&] { arange(0.0, INFINITY, 1.0, where); }) == Status::invalid_argument);
    CHECK(status([&] { arange(0.0, 1.0, 0.0, where); }) == Status::invalid_argument);
    CHECK(status([&] { arange(0, 1, 0, where); }) == Status::invalid_argument);
    CHECK(status([&] { linspace(0, 1, -1, where); }) == Status::invalid_argument);
    const Tensor one = zeros({1, 1}, where);
    CHECK(status([&] { (void)one.broadcast_to({huge, 2}); }) == Status::overflow);
    CHECK(status([&] { (void)one.broadcast_to({1 << 20, 1 << 20}).replicate(); }) != Status::ok);
    const Tensor wide = zeros({}, where).broadcast_to({huge / 8});
    const Tensor two[] = {wide, wide};
    CHECK(status([&] { concatenate(two, 0); }) == Status::overflow);
    CHECK(status([&] { (void)zeros({0}, where).reshape({huge, huge, 0}); }) != Status::ok);
    CHECK(status([&] { (void)zeros({0}, where).reshape({0, huge, huge}); }) == Status::overflow);
    CHECK(status([&] { Storage(-1, cpu()); }) != Status::ok);
    CHECK(status([&] { Storage(huge, cpu()); }) == Status::out_of_memory);
}

TEST_CASE("a rank above the limit is an error of every function that adds axes") {
    const Tensor deep = zeros(Dims::filled(ATOLL_MAX_RANK, 1), {int8, cpu()});
    CHECK(error_status([&] {
              zeros(Dims::filled(ATOLL_MAX_RANK + 1, 1), {int8, cpu()});
          }) == Status::invalid_argument);
    CHECK_THROWS_AS((void)deep.unsqueeze(0), Error);
    CHECK_THROWS_AS((void)deep(newaxis), Error);
    CHECK_THROWS_AS((void)deep.reshape(Dims::filled(ATOLL_MAX_RANK + 1, 1)), Error);
    CHECK(add(deep, 1).rank() == ATOLL_MAX_RANK);
    // The deepest tensors go through every family.
    Dims shape = Dims::filled(ATOLL_MAX_RANK, 1);
    shape[0] = shape[ATOLL_MAX_RANK - 1] = 2;
    for (const Device device : all_devices()) {
        const Tensor t = ones(shape, {float32, device});
        Axes none;
        none.given = true;
        CHECK(sum(t, none).to_doubles() == std::vector<double>(4, 1.0));
        CHECK(sum(t).item().to_double() == 4);
        CHECK((t + t.reverse_axes()).rank() == ATOLL_MAX_RANK);
        CHECK(matmul(t, t.T()).size() == 8);
        CHECK(t.clone().to_doubles() == std::vector<double>(4, 1.0));
        CHECK(t.flip(-1).cast(int8).rank() == ATOLL_MAX_RANK);
    }
}

TEST_CASE("a view over a storage must fit it") {
    const Storage storage(80, cpu(), float64);
    const auto fits = [&](std::int64_t offset, const Dims &shape, const Dims &strides) {
        return error_status([&] { Tensor(storage, offset, shape, strides, float64); }) ==
               Status::ok;
    };
    CHECK(fits(0, {10}, {8}));
    CHECK(!fits(8, {10}, {8}));
    CHECK(!fits(-8, {1}, {8}));
    CHECK(fits(72, {10}, {-8}));
    CHECK(!fits(71, {10}, {-8}));
    CHECK(!fits(73, {1}, {8}));
    CHECK(fits(72, {1000}, {0}));
    CHECK(fits(0, {1, 5}, {huge, 16}));
    CHECK(!fits(0, {2, 5}, {huge, 16}));
    CHECK(!fits(0, {3}, {huge}));
    CHECK(fits(80, {0}, {8}));
    CHECK(!fits(81, {0}, {8}));
    CHECK(!fits(huge, {2}, {huge}));
    CHECK(!fits(0, {2}, {8, 8}));
    CHECK(Tensor(storage, 0, {2}, {8}, DType::none).dtype() == float64);
    CHECK_THROWS_AS(Tensor(Storage(), 0, {2}, {8}, float64), Error);
}

TEST_CASE("zeros, ones and full fill every dtype on every device") {
    for (const Device device : all_devices())
        for (int d = 1; d < ATOLL_DTYPE_COUNT; ++d) {
            const Placement where{static_cast<DType>(d), device};
            for (const Value &v : values_of(zeros({2, 3}, where))) CHECK(!v.truth());
            const Value one = oracle::convert(Value::of(1), d);
            for (const Tensor &t :
                 {ones({2, 3}, where), full({2, 3}, 1, where), ones_like(zeros({2, 3}, where))})
                for (const Value &v : values_of(t)) CHECK(oracle::same(v, one, d, 0));
        }
    CHECK(full({2}, true, {cpu()}).dtype() == bool_);
    CHECK(full({2}, 1, {cpu()}).dtype() == int32);
    CHECK(full({2}, 1.5, {cpu()}).dtype() == float64);
    CHECK(full({2}, std::complex<float>(0, 1), {cpu()}).dtype() == complex64);
    CHECK(full({2}, Scalar(1, uint8), {cpu()}).dtype() == uint8);
    CHECK(full_like(zeros({2, 3}, {int16, cpu()}), -3).shape() == Dims{2, 3});
    CHECK_THROWS_AS(full({2}, 300, {uint8, cpu()}), Error);
}

TEST_CASE("eye and diag put values on a diagonal and zeros elsewhere") {
    for (const Device device : all_devices())
        for (std::int64_t rows : {0, 1, 3, 4})
            for (std::int64_t cols : {0, 1, 3, 5})
                for (std::int64_t k = -6; k <= 6; ++k) {
                    const Model m = model_of(eye(rows, cols, k, {int64, device}));
                    CHECK(m.shape == Shape{rows, cols});
                    oracle::each(m.shape,
                                 [&](const Shape &at) { CHECK(m.at(at) == (at[1] - at[0] == k)); });
                }
    CHECK(eye(3, {}, 0, {float32, cpu()}).shape() == Dims{3, 3});
    for (std::int64_t k : {-2, 0, 1}) {
        const Model m = model_of(diag(vector<std::int64_t>({5, 6, 7}, {cpu()}), k));
        const std::int64_t n = 3 + std::abs(k);
        CHECK(m.shape == Shape{n, n});
        oracle::each(m.shape, [&](const Shape &at) {
            CHECK(m.at(at) == (at[1] - at[0] == k ? 5 + std::min(at[0], at[1]) : 0));
        });
    }
    CHECK_THROWS_AS(diag(zeros({2, 2}, {cpu()})), Error);
}

TEST_CASE("arange gives what NumPy's formula gives") {
    for (const Device device : all_devices()) {
        for (std::int64_t start : {-7, 0, 3})
            for (std::int64_t stop : {-8, 0, 3, 11})
                for (std::int64_t step : {-3, -1, 1, 2, 5}) {
                    std::vector<std::int64_t> expected;
                    for (std::int64_t x = start; step > 0 ? x < stop : x > stop; x += step)
                        expected.push_back(x);
                    const Tensor t = arange(start, stop, step, {device});
                    CHECK(t.dtype() == int64);
                    CHECK(t.to_vector<std::int64_t>() == expected);
                }
        const double steps[] = {0.1, 0.25, 1.0, -0.3};
        for (double step : steps) {
            const double stop = step > 0 ? 2.05 : -2.05;
            const Tensor t = arange(1.5 * step, stop, step, {float64, device});
            const auto n = static_cast<std::int64_t>(std::ceil((stop - 1.5 * step) / step));
            REQUIRE(t.shape() == Dims{n});
            const std::vector<double> values = t.to_doubles();
            for (std::int64_t i = 0; i < n; ++i)
                CHECK(values[static_cast<std::size_t>(i)] ==
                      doctest::Approx(1.5 * step + static_cast<double>(i) * step).epsilon(1e-15));
        }
        CHECK(arange(5, {device}).to_vector<std::int64_t>() ==
              std::vector<std::int64_t>{0, 1, 2, 3, 4});
        CHECK(arange(2.5, {device}).dtype() == float64);
        CHECK(arange(2.5f, {device}).dtype() == float32);
        CHECK(arange(0, 1.5f, 0.5f, {device}).dtype() == float32);
        CHECK(arange(0, 2, 0.5, {device}).dtype() == float64);
        CHECK(arange(3u, {device}).dtype() == uint32);
        CHECK(arange(0, std::int64_t{3}, 1, {device}).dtype() == int64);
        CHECK(arange(0, 3, 1, {float16, device}).to_doubles() == std::vector<double>{0, 1, 2});
        // Exact beyond the doubles.
        const std::int64_t large = (std::int64_t{1} << 53) + 1;
        CHECK(arange(large, large + 3, 1, {device}).to_vector<std::int64_t>() ==
              std::vector<std::int64_t>{large, large + 1, large + 2});
        const std::uint64_t top = ~std::uint64_t{0};
        CHECK(arange(top - 2, top, 1, {uint64, device}).to_vector<std::uint64_t>() ==
              std::vector<std::uint64_t>{top - 2, top - 1});
    }
}

TEST_CASE("linspace meets both ends exactly") {
    for (const Device device : all_devices()) {
        for (bool endpoint : {true, false})
            for (std::int64_t n : {0, 1, 2, 7, 50}) {
                const double a = -0.3, b = 1.7;
                const std::vector<double> values =
                    linspace(a, b, n, {.endpoint = endpoint}, {float64, device}).to_doubles();
                REQUIRE(std::ssize(values) == n);
                const double step = (b - a) / static_cast<double>(endpoint ? n - 1 : n);
                for (std::int64_t i = 0; i < n; ++i)
                    CHECK(values[static_cast<std::size_t>(i)] ==
                          doctest::Approx(n == 1 ? a : a + static_cast<double>(i) * step)
                              .epsilon(1e-14));
                if (n > 0) CHECK(values.front() == a);
                if (n > 1 && endpoint) CHECK(values.back() == b);
            }
        CHECK(linspace(0, 3, 5, {int32, device}).to_doubles() ==
              std::vector<double>{0, 0, 1, 2, 3}); // truncated, as NumPy does
        CHECK(linspace(0, 1, 3, {device}).dtype() == float64);
        const Tensor z = linspace(0.0, std::complex<double>(2, -4), 3, {complex128, device});
        CHECK(z(1).item().to_complex() == std::complex<double>(1, -2));
    }
}

TEST_CASE("nested lists read as written") {
    const Tensor rows = Atoll::tensor({{1, 2, 3}, {4, 5, 6}}, {int64, cpu()});
    CHECK(rows.shape() == Dims{2, 3});
    CHECK(rows.to_vector<std::int64_t>() == std::vector<std::int64_t>{1, 4, 2, 5, 3, 6});
    CHECK(Atoll::tensor({{1, 2}, {3, 4}, {5, 6}}, {cpu()}).shape() == Dims{3, 2});
    CHECK(contains(error_text([] { Atoll::tensor({{1, 2}, {3}}, {float32, cpu()}); }), "2 and 1"));
    CHECK(Atoll::tensor({}, {float32, cpu()}).size() == 0);
    CHECK(Atoll::tensor({{}, {}}, {float32, cpu()}).shape() == Dims{2, 0});
    const Tensor scalar = Atoll::tensor(4.5, {cpu()});
    CHECK(scalar.rank() == 0);
    CHECK(scalar.item<double>() == 4.5);

    const Nested deep{{{0, 1}, {2, 3}, {4, 5}},
                      {{6, 7}, {8, 9}, {10, 11}},
                      {{12, 13}, {14, 15}, {16, 17}},
                      {{18, 19}, {20, 21}, {22, 23}}};
    const Tensor c = Atoll::tensor(deep, {cpu()});
    CHECK(c.shape() == Dims{4, 3, 2});
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 3; ++j)
            for (int k = 0; k < 2; ++k) CHECK(c(i, j, k).item<int>() == 6 * i + 2 * j + k);
    CHECK(c.is_contiguous(Order::F));
    const std::vector<std::vector<float>> ranges{{1, 2}, {3, 4}, {5, 6}};
    CHECK(Atoll::tensor(ranges, {float32, cpu()}).shape() == Dims{3, 2});
}

TEST_CASE("numbers in lists have the dtype of their C++ types") {
    load_devices();
    CHECK(Atoll::tensor({true, false}, {cpu()}).dtype() == bool_);
    CHECK(Atoll::tensor({1, true}, {cpu()}).dtype() == int32);
    CHECK(Atoll::tensor({1, 2.5}, {cpu()}).dtype() == float64);
    CHECK(Atoll::tensor({1.0, std::complex<float>(0, 1)}, {cpu()}).dtype() == complex128);
    CHECK(Atoll::tensor({1, 0.5f}, {cpu()}).dtype() == float32);
    CHECK(Atoll::tensor({1L, 0.5f, true}, {cpu()}).dtype() == float32);
    CHECK(Atoll::tensor({1, 2u}, {cpu()}).dtype() == int64);
    CHECK(Atoll::tensor({'a', 'b'}, {cpu()}).dtype() == int8);
    CHECK(Atoll::tensor({1, std::complex<float>(0, 1)}, {cpu()}).dtype() == complex64);
    CHECK(Atoll::tensor({Scalar(1, int8), Scalar(2, uint8)}, {cpu()}).dtype() == int16);
    CHECK(Atoll::tensor({Scalar(1, int8), 2}, {cpu()}).dtype() == int32);
    const Tensor exact = Atoll::tensor({INT64_MAX, INT64_MIN}, {cpu()});
    CHECK(exact.to_vector<std::int64_t>() == std::vector<std::int64_t>{INT64_MAX, INT64_MIN});
    CHECK(error_status([] { Atoll::tensor({1, 300}, {uint8, cpu()}); }) == Status::out_of_range);
    CHECK(Atoll::tensor({1e300}, {cpu()}).to_doubles() == std::vector<double>{1e300});
    CHECK(error_text([] {
              Atoll::tensor({1, 1e300}, {float32, cpu()});
          }) == "[tensor] got 1e+300, which does not fit float32");
    CHECK(error_text([] {
              full({2}, 1e300, {float32, cpu()});
          }).find("1e+300") != std::string::npos);
    CHECK(error_text([] { Scalar(1e300, float32); }) == "[scalar] 1e+300 does not fit float32");
    CHECK(error_status([] { Scalar(std::complex<double>(0, 7e4), complex32); }) ==
          Status::out_of_range);
    CHECK(std::isinf(Scalar(INFINITY, float16).to_double()));
    CHECK(Scalar(3e38f, float32).to_double() > 2e38);
    CHECK(error_status([] { Atoll::tensor({{1, 2}, 3}, {cpu()}); }) == Status::invalid_argument);
    CHECK(error_status([] { Atoll::tensor({1, {2, 3}}, {cpu()}); }) == Status::invalid_argument);
}

TEST_CASE("ranges hold what fits their dtype, or say what does not") {
    for (const Device device : all_devices()) {
        CHECK(arange(-128, 128, 1, {int8, device}).size() == 256);
        CHECK(contains(error_text([&] { arange(-128, 129, 1, {int8, device}); }), "128"));
        CHECK(error_status([&] { arange(5, -2, -1, {uint16, device}); }) == Status::out_of_range);
        CHECK(arange(5, -1, -1, {uint16, device}).size() == 6);
        CHECK(error_status([&] {
                  arange(0.0, 300.0, 1.0, {uint8, device});
              }) == Status::out_of_range);
        CHECK(arange(0, 3, 0.5, {int64, device}).to_doubles() ==
              std::vector<double>{0, 0, 1, 1, 2, 2});
        const std::vector<double> wide = linspace(-1e308, 1e308, 5, {float64, device}).to_doubles();
        CHECK(wide == std::vector<double>{-1e308, -5e307, 0, 5e307, 1e308});
        const auto is_refused = [](const std::function<Tensor()> &make) {
            return error_status([&] { (void)make(); }) == Status::out_of_range;
        };
        CHECK(is_refused([&] { return linspace(0, 300, 4, {int8, device}); }));
        CHECK(is_refused([&] { return linspace(300, 0, 1, {int8, device}); }));
        CHECK(is_refused([&] { return linspace(300, 0, 2, {int8, device}); }));
        CHECK(is_refused([&] { return linspace(1e6, 0, 2, {float16, device}); }));
        CHECK(is_refused([&] { return linspace(-1, -5, 3, {uint8, device}); }));
        CHECK(is_refused([&] { return linspace(0, 1e6, 3, {float16, device}); }));
        CHECK(is_refused([&] { return linspace(0, INFINITY, 2, {int64, device}); }));
        CHECK(is_refused([&] { return arange(0, 100'000, 20'000, {float16, device}); }));
        CHECK(is_refused([&] { return arange(0.0, 1e39, 4e38, {float32, device}); }));
        CHECK(contains(error_text([&] {
                           arange(0, 100'000, 20'000, {float16, device});
                       }),
                       "the element 80000, which"));
        CHECK(is_refused([&] { return arange(-1e39, 0.0, 4e38, {complex64, device}); }));
        CHECK(linspace(0, 256, 2, {.endpoint = false}, {uint8, device}).to_doubles() ==
              std::vector<double>{0, 128});
        CHECK(linspace(-0.5, 255.5, 2, {uint8, device}).to_doubles() ==
              std::vector<double>{0, 255});
        const std::int64_t odd = (std::int64_t{1} << 53) + 1;
        CHECK(linspace(odd, odd + 2, 3, {int64, device}).to_vector<std::int64_t>().front() == odd);
        const Tensor across = linspace(std::complex<double>(-1e308, 1e308),
                                       std::complex<double>(1e308, 0), 3, {complex128, device});
        CHECK(across(1).item().to_complex() == std::complex<double>(0, 5e307));
        CHECK(eye(2, 3, 1, {float32, device}).to_doubles() ==
              std::vector<double>{0, 0, 1, 0, 0, 1});
        CHECK(eye(2, {}, 0, {float32, device}).shape() == Dims{2, 2});
        CHECK(error_status([&] { eye(3, -5, 0, {float32, device}); }) == Status::invalid_argument);
    }
    CHECK(error_status([] { Scalar(1.0, DType::none); }) == Status::invalid_argument);
    CHECK(error_status([] { diag(vector({1}, {cpu()}), INT64_MAX); }) == Status::overflow);
}

TEST_CASE("vectors of C++ values have their dtype, or the one that is asked for") {
    for (const Device device : all_devices()) {
        const Tensor v = vector({1.5, -2.5}, {device});
        CHECK(v.dtype() == float64);
        CHECK(v.to_doubles() == std::vector<double>{1.5, -2.5});
        CHECK(vector({1.5, -2.5}, {int8, device}).to_doubles() == std::vector<double>{1, -2});
        CHECK(vector<bool>({true, false}, {device}).dtype() == bool_);
        const std::complex<float> z(1, -1);
        CHECK(vector({z}, {device}).item().to_complex() == std::complex<double>(1, -1));
    }
}

TEST_CASE("borrowed memory is used in place and its deleter runs once, after the last user") {
    double data[] = {0, 1, 2, 3, 4, 5};
    int deleted = 0;
    {
        Tensor view;
        {
            Tensor t = from_memory(data + 5, {2, 3}, {-8, -16}, float64, cpu(), [&] { ++deleted; });
            CHECK(t.data() == data + 5);
            CHECK(t.to_doubles() == std::vector<double>{5, 4, 3, 2, 1, 0});
            t += 10;
            CHECK(data[0] == 10);
            view = t(0);
        }
        CHECK(deleted == 0);
        CHECK(view.to_doubles() == std::vector<double>{15, 13, 11});
    }
    CHECK(deleted == 1);
    CHECK_THROWS_AS(from_memory(data, {2}, {8, 8}, float64, cpu()), Error);
    CHECK_THROWS_AS(from_memory(data, {3}, {huge}, float64, cpu()), Error);
    CHECK(contains(
        error_text([&] { from_memory(data, {6}, {8}, float64, Atoll::device("dummy:0")); }),
        "dummy:0"));
    CHECK_THROWS_AS(from_memory(data, {6}, {8}, float64, Device()), Error);
}

TEST_CASE("integers beyond int64 and beyond float64 keep their value") {
    load_devices();
    const Placement u64{uint64, cpu()};
    const Tensor t =
        arange(std::uint64_t{5}, (std::uint64_t{1} << 63) + 3, std::uint64_t{1} << 62, u64);
    CHECK(t.to_vector<std::uint64_t>() ==
          std::vector<std::uint64_t>{5, (std::uint64_t{1} << 62) + 5});
    CHECK_THROWS_AS(arange(0, ~std::uint64_t{0}, 1, u64), Error); // more than fit
    const std::int64_t odd = (std::int64_t{1} << 53) + 1;
    CHECK(linspace(0, odd, 2, {int64, cpu()})(1).item().to_int() == odd);
}

TEST_CASE("vectors come from any contiguous range") {
    const std::vector<double> values{1, 2, 3};
    CHECK(vector(values, {float64, cpu()}).to_vector<double>() == values);
    CHECK(vector(std::array<int, 2>{4, 5}, {cpu()}).dtype() == int32);
    CHECK(vector({true, false}, {cpu()}).to_vector<bool>() == std::vector<bool>{true, false});
}

TEST_CASE("no tensor is made without a dtype") {
    load_devices();
    const Storage storage(8, cpu(), DType::none);
    CHECK_THROWS_AS(Tensor(storage, 0, {2}, {4}, DType::none), Error);
    float data[2] = {};
    CHECK_THROWS_AS(from_memory(data, {2}, {4}, DType::none, cpu()), Error);
}
