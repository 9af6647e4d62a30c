// Contexts of the plugin cuda: what it leaves to the application, and what it says of a dead one.
#include "gpu.hpp"
#include "runtime.hpp"

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <doctest/doctest.h>

namespace {

using Atoll::Status;
using Atoll::Tensor;

std::optional<Atoll::Error> error_of(const std::function<void()> &body) {
    try {
        body();
    } catch (const Atoll::Error &error) {
        return error;
    }
    return {};
}

bool has(const Atoll::Error &error, const char *text) {
    return std::string(error.what()).find(text) != std::string::npos;
}

// Runs `body` in a process of its own; it tells by its result whether all was well. Children begin
// before the plugin is loaded, as it does not work in a forked process.
bool in_child(const std::function<bool()> &body) {
    const pid_t child = fork();
    if (child == 0) {
        bool good = false;
        try {
            good = body();
        } catch (const std::exception &error) {
            MESSAGE(error.what());
        }
        _exit(good ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

double work(const Atoll::Device &device) {
    const Tensor a = Atoll::full({30, 40}, 2.0, {Atoll::float64, device});
    return Atoll::sum(Atoll::matmul(a, a.T()) + 1.0).item<double>();
}
constexpr double worked = 30 * 30 * 161.0;

CUcontext current() {
    CUcontext context = nullptr;
    cuCtxGetCurrent(&context);
    return context;
}

} // namespace

TEST_CASE("a failed kernel ends the use of the device, and is named from then on") {
    for (const int code : {int{cudaErrorIllegalAddress}, int{cudaErrorECCUncorrectable}})
        for (long number = 1; number <= 3; ++number) {
            CAPTURE(number);
            CHECK(in_child([&] {
                const Atoll::Device device = gpu();
                const Tensor kept = Atoll::ones({5}, {Atoll::float64, device});
                const Atoll::Stream stream = device.new_stream();
                if (work(device) != worked) return false;
                device.synchronize();
                emulated_fail_kernel(number, code);
                const auto first = error_of([&] { work(device); });
                if (!first || !has(*first, "cudaError") || !has(*first, "core.")) return false;
                // Without a call of CUDA but for the current context. Other devices still work.
                const long calls = emulated_calls();
                const auto second = error_of([&] { work(device); });
                return second && second->status() == first->status() &&
                       has(*second, "started anew") && has(*second, "core.") &&
                       emulated_calls() == calls && work(gpu("cuda:1")) == worked;
            }));
        }
}

TEST_CASE("transfers are not blamed for what kernels do") {
    CHECK(in_child([] {
        const Atoll::Device device = gpu();
        const Tensor a = Atoll::ones({50}, {Atoll::float64, device});
        device.synchronize();
        emulated_fail_kernel(1, cudaErrorIllegalAddress);
        const auto error = error_of([&] { (void)Atoll::sqrt(a)(0).item<double>(); });
        return error && has(*error, "core.sqrt") && !has(*error, "device.transfer,");
    }));
}

TEST_CASE("with the setting blocking the very function is named") {
    CHECK(in_child([] {
        Atoll::configure("cuda", "blocking", "1");
        const Atoll::Device device = gpu();
        const Tensor a = Atoll::ones({50}, {Atoll::float64, device});
        emulated_fail_kernel(1, cudaErrorIllegalAddress);
        const auto error = error_of([&] {
            const Tensor root = Atoll::sqrt(a);
            (void)Atoll::exp(root);
        });
        return error && has(*error, "[core.sqrt]");
    }));
}

TEST_CASE("a forked process is told why nothing works") {
    CHECK(in_child([] {
        const Atoll::Device device = gpu();
        if (work(device) != worked) return false;
        return in_child([&] {
            const auto error = error_of([&] { work(device); });
            return error && error->status() == Status::device_lost && has(*error, "forked");
        });
    }));
}

TEST_CASE("a device that cannot be used says what to do") {
    for (const auto &[code, words] : {std::pair{cudaErrorDevicesUnavailable, "compute mode"},
                                      {cudaErrorSystemNotReady, "nvidia-fabricmanager"},
                                      {cudaErrorMpsServerNotReady, "Multi-Process Service"}}) {
        CAPTURE(code);
        CHECK(in_child([code = code, words = words] {
            const Atoll::Device device = gpu();
            emulated_fail_call("cuDevicePrimaryCtxRetain", 1, code);
            const auto error = error_of([&] { work(device); });
            return error && error->status() == Status::device_lost && has(*error, words) &&
                   has(*error, "cuDevicePrimaryCtxRetain") && work(device) == worked;
        }));
    }
}

// These use the plugin in this process: no child may begin from here on.
TEST_CASE("a thread's current context stays as it was") {
    const Atoll::Device first = gpu(), second = gpu("cuda:1");
    for (const bool own : {false, true}) {
        const CUcontext before = own ? emulated_make_context(1) : nullptr;
        std::thread([&] {
            if (before) cuCtxPushCurrent(before);
            CHECK(work(first) == worked);
            CHECK(work(second) == worked);
            const Atoll::Stream stream = first.new_stream();
            stream.wait(second.default_stream().record());
            CHECK(current() == before);
        }).join();
    }
    CHECK(emulated_implied_contexts() == 0);
    CHECK(emulated_retained_contexts() == 2);
}

TEST_CASE("events are used again") {
    const Atoll::Device device = gpu();
    const Atoll::Stream stream = device.new_stream();
    const Tensor here = Atoll::ones({3}, {Atoll::float64, device});
    const Tensor there = Atoll::ones({3}, {Atoll::float64, device, stream});
    const auto round = [&] {
        (void)stream.record().time();
        CHECK(Atoll::all(Atoll::equal(here + there, 2.0))); // one stream waits for the other
        stream.wait(device.default_stream().record());
    };
    round();
    const long handles = emulated_live_handles();
    for (int i = 0; i < 100; ++i) round();
    CHECK(emulated_live_handles() == handles);
}

TEST_CASE("the time of events goes forward, also from second to second") {
    const Atoll::Device device = gpu();
    const auto begin = std::chrono::steady_clock::now();
    const std::chrono::nanoseconds first = device.default_stream().record().time();
    std::chrono::nanoseconds last = first;
    while (std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(2500)) {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        const std::chrono::nanoseconds now = device.default_stream().record().time();
        CHECK(now > last);
        last = now;
    }
    const std::chrono::duration<double> host = std::chrono::steady_clock::now() - begin;
    CHECK(std::chrono::duration<double>(last - first).count() <= host.count());
    CHECK(std::chrono::duration<double>(last - first).count() > 2.3);
}
