// Device memory that the plugin cuda keeps: reuse, limits, exhaustion.
#include "gpu.hpp"
#include "stall.hpp"

#include <atoll/plugins.hpp>
#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace {

using Atoll::Status;
using Atoll::Storage;

constexpr std::int64_t kib = 1024, cache_bytes = 1024 * kib, limit = 8192 * kib;

Atoll::Device limited_gpu() {
    static const bool configured = [] {
        Atoll::configure("cuda", "cache_bytes", std::to_string(cache_bytes));
        Atoll::configure("cuda", "limit", std::to_string(limit));
        return true;
    }();
    (void)configured;
    return gpu();
}

std::uint64_t free_memory() { return limited_gpu().properties().free_memory; }

} // namespace

TEST_CASE("memory is used again without a call of the driver") {
    const Atoll::Device device = limited_gpu();
    const void *const first = Storage(5000, device).data();
    const long before = emulated_calls();
    for (int i = 0; i < 100; ++i) CHECK(Storage(4900 + i, device).data() == first);
    CHECK(emulated_calls() == before);
}

TEST_CASE("memory that was freed on one stream is not given to another") {
    const Atoll::Device device = limited_gpu();
    const Atoll::Stream one = device.new_stream(), other = device.new_stream();
    const void *const freed = Storage(7000, device, Atoll::uint8, one).data();
    const Storage there(7000, device, Atoll::uint8, other);
    CHECK(there.data() != freed);
    CHECK(Storage(7000, device, Atoll::uint8, one).data() == freed);
}

TEST_CASE("a stream gives back its memory when it goes") {
    const Atoll::Device device = limited_gpu();
    device.synchronize();
    const long before = emulated_live_allocations();
    {
        const Atoll::Stream stream = device.new_stream();
        for (int i = 1; i < 20; ++i) Storage(i * 3000, device, Atoll::uint8, stream);
        CHECK(emulated_live_allocations() > before);
    }
    device.synchronize();
    CHECK(emulated_live_allocations() == before);
}

TEST_CASE("no more is kept than the setting says") {
    const Atoll::Device device = limited_gpu();
    {
        std::vector<Storage> many;
        for (int i = 0; i < 40; ++i) many.emplace_back(100 * kib, device);
        CHECK(free_memory() <= limit - 40 * 100 * kib);
    }
    device.synchronize();
    // Blocks of 104 KiB: the size's class.
    CHECK(emulated_live_allocations() <= cache_bytes / (104 * kib) + 2);
    CHECK(free_memory() == limit);

    // What one stream keeps leaves no room for another's.
    const Atoll::Stream other = device.new_stream();
    {
        std::vector<Storage> many;
        for (int i = 0; i < 9; ++i) many.emplace_back(100 * kib, device, Atoll::uint8, other);
    }
    Storage(900 * kib, device);
    for (const Atoll::DeviceFact &fact : device.facts())
        if (fact.name == "kept_bytes") CHECK(std::stoll(fact.value) <= cache_bytes);
}

TEST_CASE("memory is freed after the work on its own stream") {
    const Atoll::Device device = limited_gpu();
    const Atoll::Stream stream = device.new_stream();
    constexpr std::int64_t count = 500 * kib; // int32: more than is kept
    Stall stall(stream);
    Atoll::Tensor twice;
    {
        const Atoll::Tensor large = Atoll::ones({count}, {Atoll::int32, device, stream});
        twice = Atoll::sum(large + large);
    }
    device.synchronize(); // the device's own stream has no work left
    stall.end();
    CHECK(twice.item<std::int64_t>() == 2 * count);
}

TEST_CASE("the limit counts what is kept only until it is needed") {
    const Atoll::Device device = limited_gpu();
    Storage(900 * kib, device); // kept from now on
    {
        const Storage nearly_all(7680 * kib, device);
        CHECK(free_memory() == static_cast<std::uint64_t>(limit - 7680 * kib));
        try {
            const Storage too_much(1000 * kib, device);
            FAIL("more than the limit");
        } catch (const Atoll::Error &error) {
            CHECK(error.status() == Status::out_of_memory);
            CHECK(std::string(error.what()).find("\"limit\" allows 8388608") != std::string::npos);
        }
    }
    CHECK(free_memory() == static_cast<std::uint64_t>(limit));
}

TEST_CASE("what is kept is given up before memory is exhausted, on all streams") {
    const Atoll::Device device = limited_gpu();
    const Atoll::Stream stream = device.new_stream();
    Storage(300 * kib, device);
    Storage(300 * kib, device, Atoll::uint8, stream);
    emulated_fail_call("cudaMallocFromPoolAsync", 1, cudaErrorMemoryAllocation);
    const Storage new_size(500 * kib, device);
    device.synchronize();
    CHECK(emulated_live_allocations() == 1);
}

TEST_CASE("facts of the device") {
    std::map<std::string, std::string> all;
    const auto number = [&](const char *name) {
        for (const Atoll::DeviceFact &fact : limited_gpu().facts()) all[fact.name] = fact.value;
        return std::stoll(all.at(name));
    };
    const std::int64_t taken = number("taken_bytes"), kept = number("kept_bytes"),
                       allocations = number("allocations"), reuses = number("reuses");
    CHECK(all.at("compute_capability") == "9.0");
    CHECK(number("multiprocessors") == limited_gpu().properties().units);
    CHECK(all.at("clock_mhz") == "1000");
    CHECK(all.at("memory_clock_mhz") == "2000");
    CHECK(all.at("pci") == "0000:01:00.0");
    CHECK(all.at("driver_cuda_version") == "13.0");
    CHECK(all.at("runtime_cuda_version") == "13.0");
    {
        const Storage fresh(2000 * kib, limited_gpu());
        CHECK(number("taken_bytes") == taken + 2048 * kib);
        CHECK(number("peak_bytes") >= taken + 2048 * kib);
    }
    Storage(90 * kib, limited_gpu());
    Storage(90 * kib, limited_gpu());
    CHECK(number("kept_bytes") == kept + 96 * kib);
    CHECK(number("allocations") == allocations + 3);
    CHECK(number("reuses") >= reuses + 1);
}
