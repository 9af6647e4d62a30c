// Operands that the conformance kit does not make: long rows, complex elements between alignments.
#include "../random_tests.hpp"
#include "gpu.hpp"
#include "stall.hpp"

#include <bit>
#include <cmath>
#include <complex>
#include <functional>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

namespace {

using Atoll::Tensor;

// Of one column, aligned to the part of a complex element only.
Tensor between_alignments(const Tensor &values) {
    const Tensor parts = Atoll::zeros({2 * values.size() + 1}, {Atoll::float32, values.device()});
    const Tensor result(parts.storage(), 4, values.shape(), values.strides(), Atoll::complex64);
    result(Atoll::all_) = values;
    return result;
}

// Numbers whose product depends on the order of the multiplications.
Tensor factors(std::int64_t count, Atoll::DType dtype) {
    std::mt19937 random(1);
    std::uniform_real_distribution<double> uniform(0.9, 1.1);
    std::vector<double> values(static_cast<std::size_t>(count));
    for (double &value : values) value = uniform(random);
    return Atoll::from_values(values.data(), Atoll::float64, count, {Atoll::float64, gpu()})
        .cast(dtype);
}
// Integers of any magnitude, or small numbers, whose products and sums no dtype rounds.
Tensor scattered(const Atoll::Dims &shape, Atoll::DType dtype) {
    std::int64_t count = 1;
    for (const std::int64_t extent : shape) count *= extent;
    const Tensor all = Atoll::arange(0, count, 1, {Atoll::int64, Atoll::device("cpu")}) *
                       std::int64_t{0x1e3779b97f4a7c15};
    if (is_integer(dtype)) return all.cast(dtype).reshape(shape);
    const Tensor rest = Atoll::remainder(all, 61);
    const Tensor small = Atoll::where(Atoll::less(rest, 9), rest - 4, 0).cast(dtype);
    return is_complex(dtype) ? Atoll::multiply(small, Atoll::Scalar(std::complex<float>(1, 2)))
                                   .cast(dtype)
                                   .reshape(shape)
                             : small.reshape(shape);
}
bool same_bits(const Tensor &a, const Tensor &b) {
    return Atoll::all(Atoll::equal(a, b)).item<bool>();
}

// How rows lie: one after the other, an element further, with gaps, from their ends, across.
enum class Layout { plain, shifted, apart, reversed, across };
Tensor laid_out(std::int64_t rows, std::int64_t length, Atoll::DType dtype, Layout layout) {
    const std::int64_t size = size_of(dtype);
    const Tensor place = Atoll::zeros({2 * rows * length + 1}, {dtype, gpu()});
    std::int64_t offset = 0, row = length * size, step = size;
    if (layout == Layout::shifted) offset = size;
    if (layout == Layout::apart) row *= 2, step *= 2;
    if (layout == Layout::reversed) offset = row - size, step = -size;
    if (layout == Layout::across) row = size, step = rows * size;
    return {place.storage(), offset, {length, rows}, {step, row}, dtype};
}
// Of every row, by a loop.
template <class Join>
std::vector<double> running_totals(std::vector<double> x, std::size_t length, const Join &join) {
    for (std::size_t k = 0; k < x.size(); ++k)
        if (k % length != 0) x[k] = join(x[k - 1], x[k]);
    return x;
}
void check_scans(std::int64_t rows, std::int64_t length, Atoll::DType dtype, Layout in,
                 Layout out) {
    CAPTURE(rows);
    CAPTURE(length);
    CAPTURE(name(dtype));
    CAPTURE(static_cast<int>(in));
    CAPTURE(static_cast<int>(out));
    const auto check = [&](const auto &scan, const auto &join, const auto &number) {
        std::vector<double> x(static_cast<std::size_t>(rows * length));
        for (std::size_t k = 0; k < x.size(); ++k) x[k] = number(k);
        const Tensor given = laid_out(rows, length, dtype, in);
        given(Atoll::all_, Atoll::all_) =
            Atoll::from_values(x.data(), Atoll::float64, rows * length, {Atoll::float64, gpu()})
                .reshape({length, rows});
        const Tensor result = laid_out(rows, length, dtype, out);
        scan(given, 0, result);
        const auto want = running_totals(x, static_cast<std::size_t>(length), join);
        CHECK(Atoll::real(result).cast(Atoll::float64).to_vector<double>() == want);
        scan(given, 0, given);
        CHECK(same_bits(given, result));
    };
    check([](const Tensor &a, int axis, const Tensor &b) { Atoll::cumsum(a, axis, b); },
          std::plus<>(), [](std::size_t k) { return static_cast<double>(k * k % 7) - 2; });
    // Of all doubled ones, or of every other pack, the product would overflow.
    if (dtype != Atoll::int64)
        check([](const Tensor &a, int axis, const Tensor &b) { Atoll::cumprod(a, axis, b); },
              std::multiplies<>(),
              [](std::size_t k) { return (k % 16 < 8 ? 2.0 : 0.5) * (k % 3 == 0 ? -1 : 1); });
}

} // namespace

// One block handles 256 chunks of a row at a time.
TEST_CASE("transposes of whole tiles and of parts of them") {
    using Atoll::Dims;
    for (const Atoll::DType dtype : {Atoll::bool_, Atoll::float16, Atoll::float32, Atoll::float64})
        // Words of several elements, with and without a rest; single ones; several matrices.
        for (const Dims &shape :
             {Dims{256, 128}, Dims{136, 264}, Dims{131, 66}, Dims{72, 3, 136}}) {
            CAPTURE(to_string(dtype));
            CAPTURE(to_string(shape));
            const Tensor here =
                Atoll::greater(scattered(shape, Atoll::int64), 0).cast(Atoll::int64) +
                (dtype == Atoll::bool_ ? Atoll::zeros(shape, {Atoll::int64, Atoll::device("cpu")})
                                       : Atoll::remainder(scattered(shape, Atoll::int64), 100));
            const Tensor there = here.cast(dtype, gpu());
            CHECK(same_bits(there.T().replicate().to(Atoll::device("cpu")), here.cast(dtype).T()));
        }
}

TEST_CASE("means and variances of floats whose sum is too large for them") {
    const Tensor large = Atoll::full({1000}, 3e38, {Atoll::float32, gpu()});
    CHECK(Atoll::mean(large).item<float>() == 3e38f);
    CHECK(Atoll::var(large).item<float>() == 0);
}

TEST_CASE("rows of more chunks than a block has threads") {
    constexpr std::int64_t count = 300 * 4096 + 7;
    const Atoll::Device device = gpu();
    const Tensor ones = Atoll::ones({count}, {Atoll::float32, device});
    const Tensor sums = Atoll::cumsum(ones, 0);
    CHECK(sums(count - 1).item<float>() == count);
    CHECK(sums(300 * 2048).item<float>() == 300 * 2048 + 1);
    const Tensor places = Atoll::find(ones);
    CHECK(places.size() == count);
    CHECK(places(count - 1).item<std::int64_t>() == count - 1);
    CHECK(Atoll::sum(ones).item<float>() == count);
}

TEST_CASE("complex elements that are aligned to their parts only") {
    const Atoll::Device device = gpu();
    const Tensor aligned = Atoll::arange(1.0, 26.0, 1.0, {Atoll::float64, device})
                               .cast(Atoll::complex64)
                               .reshape({5, 5});
    const Tensor between = between_alignments(aligned.flatten()).reshape({5, 5});
    REQUIRE(reinterpret_cast<std::uintptr_t>(between.data()) % 8 == 4);
    CHECK(Atoll::all(Atoll::equal(aligned + aligned, between + between)));
    CHECK(
        Atoll::all(Atoll::equal(Atoll::matmul(aligned, aligned), Atoll::matmul(between, between))));
    CHECK(Atoll::all(Atoll::equal(Atoll::sum(aligned), Atoll::sum(between))));
}

// A dense kernel reads 16 bytes at a time where all operands allow it.
TEST_CASE("runs of elements that begin anywhere") {
    constexpr std::int64_t count = 9000;
    const Atoll::Device device = gpu();
    for (const Atoll::DType dtype : {Atoll::float16, Atoll::float32, Atoll::float64}) {
        const Tensor all = Atoll::ones({count + 8}, {dtype, device});
        for (std::int64_t first = 0; first < 8; ++first) {
            const Tensor a(all.storage(), first * size_of(dtype), {count}, {size_of(dtype)}, dtype);
            CHECK(Atoll::all(Atoll::equal(a + a, 2.0)));
            CHECK(Atoll::all(Atoll::equal(a.cast(Atoll::int32), 1)));
        }
    }
}

TEST_CASE("reductions give the same bits wherever a row begins, and however its elements lie") {
    for (const Atoll::DType dtype : {Atoll::float32, Atoll::float64, Atoll::complex64})
        for (const std::int64_t count : {3, 18, 100, 1001, 5003, 40'000}) {
            CAPTURE(name(dtype));
            CAPTURE(count);
            const std::int64_t size = size_of(dtype);
            const Tensor values = factors(count, dtype), want = Atoll::prod(values);
            const Tensor place = Atoll::zeros({2 * count + 8}, {dtype, gpu()});
            for (std::int64_t first = 0; first < 16 / size; ++first)
                for (const std::int64_t step : {1, 2}) {
                    CAPTURE(first);
                    CAPTURE(step);
                    const Tensor row(place.storage(), first * size, {count}, {step * size}, dtype);
                    row(Atoll::all_) = values;
                    CHECK(same_bits(Atoll::prod(row), want));
                }
        }
}

TEST_CASE("reductions count short elements wherever a row begins") {
    constexpr std::int64_t bytes = 79 * 256; // nothing else is there behind the last row
    const Tensor place = Atoll::zeros({bytes}, {Atoll::bool_, gpu()});
    for (std::int64_t first = 0; first < 16; ++first) {
        const std::int64_t count = bytes - first;
        const Tensor row(place.storage(), first, {count}, {1}, Atoll::bool_);
        place(Atoll::all_) = true; // what surrounds the row must not count
        row(Atoll::all_) = Atoll::arange(0, count, 1, {Atoll::int64, gpu()}).cast(Atoll::bool_);
        CHECK(Atoll::count_nonzero(row).item<std::int64_t>() == count - 1);
        CHECK_FALSE(Atoll::all(row).item<bool>());
        CHECK(Atoll::argmin(row).item<std::int64_t>() == 0);
    }
}

// A thread reads several results' elements at once where there are many results, side by side.
TEST_CASE("reductions of columns give the same bits however many are read at once") {
    for (const Atoll::DType dtype : {Atoll::float32, Atoll::float64, Atoll::complex64})
        for (const std::int64_t results : {1024, 2048})
            for (const std::int64_t count : {5, 37}) {
                CAPTURE(name(dtype));
                CAPTURE(results);
                const std::int64_t size = size_of(dtype);
                const Tensor matrix = factors(results * count, dtype).reshape({results, count});
                const Tensor place = Atoll::zeros({results * count + 1}, {dtype, gpu()});
                const Tensor moved(place.storage(), size, {results, count}, {size, results * size},
                                   dtype);
                moved(Atoll::all_, Atoll::all_) = matrix;
                const Tensor want = Atoll::prod(matrix, 1);
                CHECK(same_bits(Atoll::prod(moved, 1), want));
            }
}

TEST_CASE("reductions of any shape add up all elements") {
    std::mt19937 random(1);
    for (const std::int64_t results : {1, 2, 3, 31, 255, 256, 300, 4100})
        for (const std::int64_t count : {1, 2, 31, 255, 1025}) {
            if (random_tests::leaves_out(random)) continue;
            CAPTURE(results);
            CAPTURE(count);
            const Tensor numbers = Atoll::arange(0, results * count, 1, {Atoll::int64, gpu()})
                                       .reshape({results, count});
            const Tensor here = numbers.to(Atoll::device("cpu"));
            for (const int axis : {0, 1}) {
                CAPTURE(axis);
                const auto got = Atoll::sum(numbers, axis).to_vector<std::int64_t>();
                CHECK(got == Atoll::sum(here, axis).to_vector<std::int64_t>());
            }
        }
}

TEST_CASE("running totals of rows of any length, wherever they lie") {
    std::mt19937 random(2);
    const auto check_lengths = [&random](Atoll::DType dtype, Layout in, Layout out) {
        // Elements of a lane; a warp's tile. Rows of more than four tiles have several chunks, and
        // those of more than eight more than one block.
        const std::int64_t few = 64 / size_of(dtype), tile = 32 * few;
        for (const std::int64_t length :
             {few, few + 1, 5 * few - 3, tile - 1, tile, tile + few + 1, 4 * tile, 4 * tile + 1,
              6 * tile - 1, 6 * tile, 8 * tile + 1, 9 * tile + few + 2})
            if (!random_tests::leaves_out(random)) check_scans(2, length, dtype, in, out);
        for (const std::int64_t length : {std::int64_t{1}, few - 1, few, 2 * few + 1, 8 * few})
            if (!random_tests::leaves_out(random)) check_scans(70, length, dtype, in, out);
    };
    for (const Atoll::DType dtype :
         {Atoll::int64, Atoll::float16, Atoll::float64, Atoll::complex64})
        check_lengths(dtype, Layout::plain, Layout::shifted);
    check_lengths(Atoll::float32, Layout::plain, Layout::plain);
    check_lengths(Atoll::float32, Layout::shifted, Layout::plain);
    check_lengths(Atoll::float32, Layout::apart, Layout::reversed);
    check_lengths(Atoll::float32, Layout::reversed, Layout::apart);
}

TEST_CASE("running totals where memory runs across the rows") {
    std::mt19937 random(3);
    for (const Atoll::DType dtype : {Atoll::float16, Atoll::float32, Atoll::complex64})
        for (const std::int64_t rows : {32, 300})
            for (const std::int64_t length : {1, 15, 16, 17, 64, 65, 200}) {
                if (random_tests::leaves_out(random)) continue;
                check_scans(rows, length, dtype, Layout::across, Layout::across);
                check_scans(rows, length, dtype, Layout::across, Layout::plain);
            }
}

TEST_CASE("running totals of integers that are narrower than their sums") {
    for (const Atoll::DType dtype : {Atoll::bool_, Atoll::int8, Atoll::uint8, Atoll::int16,
                                     Atoll::uint16, Atoll::int32, Atoll::uint32})
        for (const std::int64_t length : {1, 7, 9, 255, 257, 2309}) {
            CAPTURE(name(dtype));
            CAPTURE(length);
            const Atoll::Device device = gpu();
            const Tensor numbers =
                Atoll::arange(0, 3 * length, 1, {Atoll::int64, Atoll::device("cpu")}) * 37 % 256;
            Tensor rows = (numbers * 251).cast(dtype);
            if (dtype == Atoll::bool_) rows = Atoll::greater(numbers, 100);
            if (size_of(dtype) == 1 && dtype != Atoll::bool_)
                rows = numbers.cast(Atoll::uint8).view_as(dtype);
            rows = rows.reshape({length, 3});
            const auto want = running_totals(rows.cast(Atoll::float64).to_vector<double>(),
                                             static_cast<std::size_t>(length), std::plus<>());
            CHECK(Atoll::cumsum(rows.to(device), 0).to_vector<double>() == want);
        }
}

TEST_CASE("running totals of chunks of several tiles") {
    constexpr std::int64_t length = 8 * 256 + 9;
    const Tensor ones = Atoll::ones({length, 512}, {Atoll::float64, gpu()});
    const Tensor want = Atoll::arange(1, length + 1, 1, {Atoll::float64, gpu()});
    CHECK(same_bits(Atoll::cumsum(ones, 0), want)); // of every row
}

TEST_CASE("running totals keep -0, infinities and NaN in their places") {
    std::mt19937 random(4);
    constexpr std::int64_t length = 9 * 512 + 3; // several chunks of either dtype
    const auto bits = [](const std::vector<double> &x) {
        std::vector<std::uint64_t> all(x.size());
        for (std::size_t k = 0; k < x.size(); ++k)
            all[k] = std::isnan(x[k]) ? 1 : std::bit_cast<std::uint64_t>(x[k]);
        return all;
    };
    const double inf = std::numeric_limits<double>::infinity();
    for (const Atoll::DType dtype : {Atoll::float32, Atoll::float64})
        for (const std::size_t place : {0, 7, 8, 511, 512, 1024, 2048, 4607, 4610})
            for (const double special : {-0.0, 0.0, inf, -inf, std::nan("")})
                for (const double others : {-0.0, 1.0}) {
                    if (random_tests::leaves_out(random)) continue;
                    CAPTURE(name(dtype));
                    CAPTURE(place);
                    CAPTURE(special);
                    CAPTURE(others);
                    std::vector<double> x(length, others);
                    x[place] = special;
                    const Tensor row =
                        Atoll::from_values(x.data(), Atoll::float64, length, {dtype, gpu()});
                    const auto sums = Atoll::cumsum(row, 0).cast(Atoll::float64);
                    CHECK(bits(sums.to_vector<double>()) ==
                          bits(running_totals(x, x.size(), std::plus<>())));
                    const auto products = Atoll::cumprod(row, 0).cast(Atoll::float64);
                    CHECK(bits(products.to_vector<double>()) ==
                          bits(running_totals(x, x.size(), std::multiplies<>())));
                }
}

TEST_CASE("running sums are exact to the last place wherever a row begins") {
    constexpr std::int64_t count = 9001;
    const Tensor values = factors(count, Atoll::float64), want = Atoll::cumsum(values, 0);
    const Tensor place = Atoll::zeros({count + 1}, {Atoll::float64, gpu()});
    const Tensor row(place.storage(), 8, {count}, {8}, Atoll::float64);
    row(Atoll::all_) = values;
    CHECK(same_bits(Atoll::cumsum(row, 0), want));
    const auto numbers = values.to_vector<double>(), sums = want.to_vector<double>();
    long double total = 0;
    int wrong = 0;
    for (std::size_t k = 0; k < numbers.size(); ++k) {
        total += static_cast<long double>(numbers[k]);
        const auto exact = static_cast<double>(total);
        wrong += std::abs(sums[k] - exact) > exact * 0x1p-52;
    }
    CHECK(wrong == 0);
}

TEST_CASE("a result whose axes make no matrix keeps what a product is added to") {
    for (const Atoll::DType dtype : {Atoll::float32, Atoll::complex64, Atoll::int32}) {
        CAPTURE(name(dtype));
        const auto product = [&](Atoll::Device device) {
            const auto numbers = [&](const Atoll::Dims &shape, std::int64_t count) {
                const Tensor all = Atoll::arange(0, count, 1, {Atoll::int64, device});
                return all.cast(dtype).reshape(shape);
            };
            const Tensor a = numbers({4, 3, 7}, 84), b = numbers({7, 5}, 35),
                         place = numbers({5, 4, 6}, 120);
            const Tensor d = place(Atoll::range(0, 4), Atoll::range(0, 3), Atoll::range(0, 5));
            Atoll::contract(2, a, "xyk", b, "kn", 3, d, "xyn");
            return place.to(Atoll::device("cpu"));
        };
        CHECK(Atoll::all(product(gpu()) == product(Atoll::device("cpu"))).item<bool>());
    }
}

// The emulated device has four multiprocessors: eight tiles of 128 x 128 fill it, less do not.
TEST_CASE("products of dtypes that cuBLAS lacks are exact for all tiles, axes and strides") {
    struct Case {
        std::int64_t x, y, k, p, n, stack; // m = x y, k = k p
    };
    const Case cases[] = {{65, 4, 3, 5, 390, 1}, {33, 4, 17, 1, 129, 3}, {65, 2, 1, 1, 65, 4},
                          {5, 4, 331, 3, 17, 1}, {3, 11, 2, 8, 1, 2},    {1, 1, 1, 129, 70, 1}};
    for (const Atoll::DType dtype : {Atoll::bool_, Atoll::int32, Atoll::int64, Atoll::uint8,
                                     Atoll::int16, Atoll::bfloat16, Atoll::complex32}) {
        try {
            Atoll::ones({2, 2}, {dtype, gpu()});
        } catch (const Atoll::Error &error) {
            REQUIRE(error.status() == Atoll::Status::not_supported); // in quick builds
            continue;
        }
        for (const auto &[x, y, k, p, n, stack] : cases) {
            CAPTURE(name(dtype));
            CAPTURE(x * y);
            CAPTURE(k * p);
            CAPTURE(n);
            const auto product = [&](const Tensor &a, const Tensor &b, const Tensor &place,
                                     int beta) {
                // Nothing beside the result may change.
                const Tensor d = place(Atoll::range(1, n + 1), Atoll::all_, Atoll::range(0, x),
                                       Atoll::range(1, y + 1));
                const Tensor turned = b(Atoll::range({}, {}, beta == 0 ? 1 : -1), Atoll::ellipsis);
                Atoll::contract(Atoll::Scalar(3).cast(dtype), a, "xkspy", turned, "pnks",
                                Atoll::Scalar(beta).cast(dtype), d, "nsxy",
                                {.conj_a = true, .conj_b = beta == 0});
                return place.to(Atoll::device("cpu"));
            };
            // The first element is at no multiple of 16 bytes.
            const auto moved = [&](const Tensor &values) {
                const Tensor all = Atoll::zeros({values.size() + 1}, {dtype, gpu()});
                const Tensor result(all.storage(), size_of(dtype), values.shape(), values.strides(),
                                    dtype);
                result(Atoll::ellipsis) = values.to(gpu());
                return result;
            };
            const Tensor place = scattered({n + 2, stack, x + 1, y + 2}, dtype);
            const auto check = [&](const Tensor &a, const Tensor &b) {
                const Tensor other_a = moved(a), other_b = moved(b);
                for (const int beta : {0, 2})
                    CHECK(same_bits(product(other_a, other_b, place.to(gpu()), beta),
                                    product(a, b, place.clone(), beta)));
            };
            const Tensor a = scattered({x, k, stack, p, y}, dtype),
                         b = scattered({p, n, k, stack}, dtype);
            check(a, b);
            check(scattered({p, k, stack, y, x}, dtype).permute_axes({4, 1, 2, 0, 3}),
                  scattered({n, p, k, stack}, dtype).permute_axes({1, 0, 2, 3}));
        }
    }
}

TEST_CASE("comparisons of long integers with floats run on the stream of their operands") {
    const Atoll::Stream stream = gpu().new_stream();
    Stall stall(stream);
    const Tensor a = Atoll::ones({100}, {Atoll::int64, gpu(), stream}),
                 b = Atoll::ones({100}, {Atoll::float64, gpu(), stream});
    const Tensor equal = Atoll::equal(a, b);
    gpu().synchronize(); // the device's own stream has no work left
    stall.end();
    CHECK(Atoll::all(equal).item<bool>());
}

TEST_CASE("positions of an index tensor may lie at any address") {
    const Tensor from = Atoll::arange(0, 100, 1, {Atoll::float32, gpu()});
    const Tensor words = Atoll::zeros({9}, {Atoll::int32, gpu()});
    const Tensor at(words.storage(), 4, {4}, {8}, Atoll::int64);
    at(Atoll::all_) = Atoll::tensor({7, 0, 99, 5}, {Atoll::int64, gpu()});
    REQUIRE(reinterpret_cast<std::uintptr_t>(at.data()) % 8 == 4);
    const Tensor picked = Atoll::tensor({7, 0, 99, 5}, {Atoll::float32, gpu()});
    CHECK(same_bits(from(at), picked));
    Tensor to = Atoll::zeros({100}, {Atoll::float32, gpu()});
    to(at) = picked;
    CHECK(same_bits(to(at), picked));
    CHECK(Atoll::sum(to).item<float>() == 111);
}
