// Uploads of the plugin cuda through pinned memory.
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
