// Uploads and downloads of the plugin cuda through pinned memory.
#include "gpu.hpp"
#include "stall.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

namespace {

using Atoll::Tensor;

constexpr std::int64_t mib = 1 << 20;

std::vector<std::int32_t> numbers(std::int64_t bytes, std::int32_t first) {
    std::vector<std::int32_t> values(static_cast<std::size_t>(bytes) / sizeof(std::int32_t));
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = first + static_cast<std::int32_t>(i);
    return values;
}

Tensor uploaded(std::vector<std::int32_t> &values, const Atoll::Stream &stream) {
    Tensor result =
        Atoll::from_values(values.data(), Atoll::int32, static_cast<std::int64_t>(values.size()),
                           {Atoll::int32, stream.device(), stream});
    std::fill(values.begin(), values.end(), -1); // the source may be used again at once
    return result;
}

} // namespace

TEST_CASE("uploads larger than a chunk arrive whole, on streams that are stalled as well") {
    const Atoll::Device device = gpu();
    const Atoll::Stream stalled = device.new_stream(), other = device.new_stream();
    Stall stall(stalled);
    std::vector<Tensor> tensors;
    for (std::int32_t k = 0; k < 4; ++k) {
        auto values = numbers(9 * mib + 4 * k, k);
        tensors.push_back(uploaded(values, stalled));
    }
    // Another stream is not held up.
    auto values = numbers(6 * mib, 7);
    const std::vector<std::int32_t> want = values;
    CHECK(uploaded(values, other).to_vector<std::int32_t>() == want);
    stall.end();
    for (std::int32_t k = 0; k < 4; ++k)
        CHECK(tensors[static_cast<std::size_t>(k)].to_vector<std::int32_t>() ==
              numbers(9 * mib + 4 * k, k));
}

TEST_CASE("an upload does not wait for another stream that has all pinned memory") {
    const Atoll::Device device = gpu();
    const Atoll::Stream stalled = device.new_stream(), other = device.new_stream();
    Stall stall(stalled);
    auto much = numbers(60 * mib, 1), values = numbers(30 * mib, 2);
    const std::vector<std::int32_t> want = much, want_of_other = values;
    const Tensor tensor = uploaded(much, stalled);
    CHECK(uploaded(values, other).to_vector<std::int32_t>() == want_of_other);
    stall.end();
    CHECK(tensor.to_vector<std::int32_t>() == want);
}

TEST_CASE(
    "downloads of any size pass through pinned memory, and do not wait while they are enqueued") {
    const Atoll::Stream stream = gpu().new_stream();
    for (const std::int64_t bytes : {mib, 4 * mib, 4 * mib + 4, 21 * mib}) {
        auto values = numbers(bytes, 3);
        const std::vector<std::int32_t> want = values;
        const Tensor tensor = uploaded(values, stream);
        const long waits = emulated_blocking_copies();
        CHECK(tensor.to_vector<std::int32_t>() == want);
        CHECK(tensor.to_vector<std::int32_t>() == want);
        CHECK(emulated_blocking_copies() == waits);
    }
}

TEST_CASE("a few bytes are downloaded directly from an idle stream, not from a busy one") {
    const Atoll::Stream stream = gpu().new_stream();
    auto values = numbers(64, 4);
    const std::vector<std::int32_t> want = values;
    const Tensor tensor = uploaded(values, stream);
    stream.synchronize();
    const long waits = emulated_blocking_copies();
    CHECK(tensor.to_vector<std::int32_t>() == want);
    CHECK(emulated_blocking_copies() == waits + 1);
    Stall stall(stream);
    std::vector<std::int32_t> got;
    std::thread reader([&] { got = tensor.to_vector<std::int32_t>(); });
    while (!stall.is_waited_for()) std::this_thread::yield();
    CHECK(emulated_blocking_copies() == waits + 1);
    stall.end();
    reader.join();
    CHECK(got == want);
}

// The destination may be gone once the error is known.
TEST_CASE("nothing is written to the destination of a download that has failed") {
    const Atoll::Stream stream = gpu().new_stream();
    auto values = numbers(21 * mib, 5);
    const std::vector<std::int32_t> want = values;
    const Tensor tensor = uploaded(values, stream);
    for (long piece = 1; piece <= 6; ++piece) {
        Stall stall(stream);
        emulated_fail_call("cudaStreamAddCallback", piece, cudaErrorUnknown);
        const Tensor cpu = Atoll::zeros({tensor.size()}, {Atoll::int32, Atoll::device("cpu")});
        CHECK_THROWS_AS(cpu(Atoll::all_) = tensor, Atoll::Error);
        stall.end();
        stream.synchronize();
        CHECK(Atoll::all(Atoll::equal(cpu, 0)).item<bool>());
        CHECK(tensor.to_vector<std::int32_t>() == want);
    }
}

TEST_CASE("an upload waits where all pinned memory is full, and goes on when a stream does") {
    const Atoll::Device device = gpu();
    const Atoll::Stream stalled = device.new_stream();
    Stall stall(stalled);
    auto much = numbers(90 * mib, 1);
    const std::vector<std::int32_t> want = much;
    const long waits = emulated_waits();
    std::atomic<bool> is_done{false};
    std::thread later([&] {
        while (emulated_waits() == waits && !is_done)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        stall.end();
    });
    const Tensor tensor = uploaded(much, stalled);
    CHECK(emulated_waits() > waits);
    is_done = true;
    later.join();
    CHECK(tensor.to_vector<std::int32_t>() == want);
}
