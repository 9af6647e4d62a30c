// What a small call on the plugin cuda costs the host: on the emulation, where kernels do nothing,
// beside the same call on the cpu, where it includes the work. The emulation's own cost is
// included; that of CUDA's launch, and of a driver, is not.
#include "gpu.hpp"
#include "runtime.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>

namespace {

using namespace Atoll;

// The best of several rounds, in nanoseconds.
template <class Body> double time_of(Device device, Body body) {
    constexpr int calls = 20'000, rounds = 15;
    double best = 1e9;
    for (int round = 0; round < rounds; ++round) {
        device.synchronize();
        const auto start = std::chrono::steady_clock::now();
        for (int i = 0; i < calls; ++i) body();
        const std::chrono::duration<double, std::nano> took =
            std::chrono::steady_clock::now() - start;
        best = std::min(best, took.count() / calls);
    }
    return best;
}

template <class Body> void print(const char *what, Body body) {
    const double there = time_of(gpu(), [&, work = body(gpu())]() mutable { work(); });
    const double here =
        time_of(device("cpu"), [&, work = body(device("cpu"))]() mutable { work(); });
    std::printf("%-45s cuda %7.0f ns   cpu %7.0f ns   ratio %5.2f\n", what, there, here,
                there / here);
}

} // namespace

int main() {
    gpu();
    emulated_skip_kernels();
    const auto ones_on = [](Device d, Dims shape) { return ones(shape, {float32, d}); };
    print("a + b, 1 float32, given result", [&](Device d) {
        return [a = ones_on(d, {1}), out = ones_on(d, {1})] { add(a, a, out); };
    });
    print("a + b, 1 float32, new result",
          [&](Device d) { return [a = ones_on(d, {1})] { return add(a, a); }; });
    print("a + 1.5, 1 float32, given result", [&](Device d) {
        return [a = ones_on(d, {1}), out = ones_on(d, {1})] { add(a, 1.5, out); };
    });
    print("a + b, 4x4 float32 transposed, given result", [&](Device d) {
        return [a = ones_on(d, {4, 4}), out = ones_on(d, {4, 4})] { add(a, a.T(), out); };
    });
    print("sum, 4 float32, given result", [&](Device d) {
        return [a = ones_on(d, {4}), out = ones_on(d, {})] { sum(a, {}, {}, out); };
    });
}
