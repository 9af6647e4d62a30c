// What the plugin cuda does when calls of the runtime fail, one after the other, or a kernel does.
#include "../random_tests.hpp"
#include "gpu.hpp"
#include "runtime.hpp"

#include <optional>
#include <string>

#include <doctest/doctest.h>

namespace {

using Atoll::Status;
using Atoll::Tensor;

// A bit of everything: uploads, kernels of several steps, products, a stream, events, a download.
double scenario() {
    const Atoll::Device device = gpu();
    const Tensor a = Atoll::full({40, 50}, 2.0, {Atoll::float64, device});
    const Tensor b = Atoll::arange(0.0, 2000.0, 1.0, {Atoll::float64, device}).reshape({40, 50});
    const Tensor c = a + Atoll::multiply(b, a);
    const Tensor product = Atoll::matmul(c, b.T());
    const Atoll::Stream stream = device.new_stream();
    const Tensor sorted = Atoll::sort(c.reshape({2000}), 0);
    const Tensor running = Atoll::cumsum(b.reshape({2000}), 0);
    const Tensor total = Atoll::sum(product) + Atoll::sum(sorted) + Atoll::norm(running) +
                         Atoll::stddev(c) + Atoll::max(running);
    stream.synchronize();
    return total.item<double>();
}

std::optional<Atoll::Error> error_of(double (*body)()) {
    try {
        (void)body();
    } catch (const Atoll::Error &error) {
        return error;
    }
    return {};
}

// Work that failed may have left memory for the stream to free.
long allocations() {
    gpu().synchronize();
    return emulated_live_allocations();
}

} // namespace

TEST_CASE("whichever call of the runtime fails, the error says so, and all works afterwards") {
    const double want = scenario();
    // A failed transfer is waited for by an event, whose clock the device keeps from the first on.
    gpu().default_stream().record().synchronize();
    const long memory = allocations(), handles = emulated_live_handles();
    const long before = emulated_calls();
    CHECK(scenario() == want);
    const long calls = emulated_calls() - before;
    REQUIRE(calls > 50);
    for (const int code : {int{cudaErrorMemoryAllocation}, int{cudaErrorUnknown}}) {
        int errors = 0, tried = 0;
        for (long number = 1; number <= calls;
             number += static_cast<long>(random_tests::one_of()), ++tried) {
            CAPTURE(number);
            emulated_fail_call(nullptr, number, code);
            const std::optional<Atoll::Error> error = error_of(&scenario);
            emulated_fail_call(nullptr, 0, 0);
            if (error) {
                ++errors;
                const std::string text = error->what();
                CAPTURE(text);
                CHECK(error->plugin() == "cuda");
                CHECK(error->device() == "cuda:0");
                CHECK(text.find("cuda:0") != std::string::npos);
                CHECK((text.find("cudaError") != std::string::npos ||
                       text.find("CUBLAS_STATUS") != std::string::npos));
            }
            REQUIRE(scenario() == want);
            CHECK(allocations() == memory);
            CHECK(emulated_live_handles() <= handles + 2);
        }
        // Only what gives memory back may fail without a word, and memory is asked for twice.
        CHECK(errors > (code == cudaErrorUnknown ? tried / 2 : tried / 4));
    }
}

TEST_CASE("memory that is exhausted once is asked for again after the stream's work") {
    const double want = scenario();
    emulated_fail_call("cudaMallocFromPoolAsync", 3, cudaErrorMemoryAllocation);
    CHECK(scenario() == want);
    const std::optional<Atoll::Error> error = error_of([] {
        return Atoll::zeros({1 << 20, 1 << 20}, {Atoll::float64, gpu()}).item<double>();
    });
    REQUIRE(error.has_value());
    CHECK(error->status() == Status::out_of_memory);
    CHECK(std::string(error->what()).find("8796093022208 bytes") != std::string::npos);
    CHECK(scenario() == want);
}

TEST_CASE("results do not depend on the order in which the threads of a block run") {
    const double want = scenario();
    for (std::int64_t seed = 1; seed <= random_tests::cases(20); ++seed) {
        emulated_seed(static_cast<unsigned long>(seed) * 1000);
        CHECK(scenario() == want);
    }
}
