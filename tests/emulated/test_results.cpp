// Operands that the conformance kit does not make: long rows, complex elements between alignments.
#include "gpu.hpp"
#include "stall.hpp"

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

} // namespace

// One block handles 256 chunks of a row at a time.
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
