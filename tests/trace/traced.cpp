// A host program that knows nothing of the tracer, for the tests to run under it: traced MODE.
// It counts its calls with an interposer of its own and prints them as "function device calls".
#include "atoll/atoll.hpp"
#include "atoll/plugin.h"

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace Atoll;

extern "C" void in_range_of_c(const char *name, void (*body)());

namespace {

constexpr std::pair<int, const char *> device_functions[] = {
#define ATOLL_DEVICE_FUNCTION(id, name, PARAMS, REQUIRED, doc) {id, "device." #name},
#include "atoll/lists/device_functions.inc"
};
constexpr std::pair<int, const char *> core_functions[] = {
#define ATOLL_FUNCTION(id, name, ...) {id, "core." #name},
#include "atoll/lists/functions.inc"
};

std::string name_of(const atoll_call &call) {
    const auto find = [&](const auto &functions) {
        for (const auto &[id, name] : functions)
            if (id == call.function) return name;
        return "?";
    };
    return call.module == ATOLL_MODULE_DEVICE ? find(device_functions) : find(core_functions);
}

thread_local long own_calls = 0; // of this thread

// Told by the chain that a call goes through, so one context per device type.
struct Counter {
    std::string device;
    std::mutex mutex;
    std::map<std::string, long> calls;

    static std::int32_t count(const atoll_link *self, atoll_call *call) {
        auto &own = *static_cast<Counter *>(self->ctx);
        // What the tracer inserts to follow work on streams is not one of the program's calls.
        if (call->module != ATOLL_MODULE_DEVICE ||
            call->function != ATOLL_DEVICE_FN_host_callback ||
            !(call->flags & ATOLL_CALL_INSERTED)) {
            const std::lock_guard lock(own.mutex);
            ++own.calls[name_of(*call)];
            ++own_calls;
        }
        return self->next->fn(self->next, call);
    }
};

// Broadcast, cast, transposed and given operands: much for the runtime to insert.
void compute(Device where) {
    const Tensor a = arange(12, {float64, where}).reshape({3, 4});
    const Tensor b = full({4, 3}, 2, {int32, where});
    Tensor c = a + b.T();
    c += a;
    sqrt(abs(c), c);
    const Tensor d = a * b;
    (void)sum(d, {0});
    (void)(a.T() * a.cast(float32));
    const Tensor line = arange(10, {float64, where});
    line.slice(0, 1, 10) += line.slice(0, 0, 9);
    (void)d.to_doubles();
}

void work(int rounds) {
    const Device cpu = device("cpu"), dummy = device("dummy:0");
    for (int i = 0; i < rounds; ++i) {
        compute(cpu);
        compute(dummy);
        compute(device("dummy_min"));
        const Stream other = dummy.new_stream();
        Tensor x = full({64}, 1.5, {float64, dummy});
        const Event ready = dummy.default_stream().record();
        other.wait(ready);
        Tensor y = full({64}, 2.5, {float64, dummy, other});
        y += x;
        other.synchronize();
    }
}

// Runs the body and prints "range NAME" and how many calls it made on this thread.
void print_calls(const char *name, const std::function<void()> &body) {
    const long before = own_calls;
    body();
    std::printf("%s range %ld\n", name, own_calls - before);
}

void in_ranges() {
    const Device cpu = device("cpu");
    atoll_range_pop(); // without an open one
    print_calls("epoch", [&] {
        const Range epoch("epoch");
        for (int i = 0; i < 3; ++i) {
            print_calls(i < 2 ? "batch" : "last_batch", [&] {
                const Range batch(std::string(i < 2 ? "batch" : "last_batch"));
                compute(cpu);
            });
        }
        compute(cpu);
    });
    print_calls("from_C", [] { in_range_of_c("from_C", [] { compute(device("cpu")); }); });
    std::thread([&] {
        print_calls("thread", [&] {
            const Range range("thread");
            compute(device("dummy:0"));
        });
    }).join();
}

void in_threads(int threads, int rounds) {
    std::vector<std::thread> all;
    for (int i = 0; i < threads; ++i) all.emplace_back([=] { work(rounds); });
    for (std::thread &thread : all) thread.join();
}

} // namespace

int main(int argc, char **argv) {
    const std::string mode = argc > 1 ? argv[1] : "threads";
    if (mode == "nothing") return 5; // no use of the library at all
    if (mode == "sleep") {
        load_plugin("cpu");
        compute(device("cpu"));
        std::puts("ready");
        std::fflush(stdout);
        for (;;) ::pause();
    }
    for (const char *plugin : {"cpu", "dummy", "dummy_min"}) load_plugin(plugin);
    if (mode == "many") { // more records than a small timeline takes
        const int rounds = argc > 2 ? std::atoi(argv[2]) : 20'000;
        const Tensor a = full({1}, 1.0, {float64, device("cpu")}), b = a.clone();
        for (int i = 0; i < rounds; ++i) add(a, a, b);
        return 0;
    }
    if (mode == "child") { // 3 calls here, then 2 in a forked child; each prints its own table
        const Tensor a = full({1}, 1.0, {float64, device("cpu")});
        for (int i = 0; i < 3; ++i) add(a, a, a);
        const pid_t child = ::fork();
        if (child == 0) {
            for (int i = 0; i < 2; ++i) add(a, a, a);
            std::exit(0);
        }
        int status = 1;
        ::waitpid(child, &status, 0);
        return status;
    }
    if (mode == "name") {
        load_plugin("cpu");
        compute(device("cpu"));
        return argc == 3 ? 0 : 1;
    }
    std::vector<std::unique_ptr<Counter>> counters;
    for (const char *type : {"cpu", "dummy", "dummy_min"}) {
        counters.push_back(std::make_unique<Counter>());
        counters.back()->device = type;
        // Below the tracer, which the environment has pushed before.
        push_interposer(std::string("*@") + type, Counter::count, counters.back().get(), -1);
    }
    if (mode == "ranges" || mode == "killed_in_range") {
        in_ranges();
        std::fflush(stdout);
        if (mode == "ranges") return 0;
        atoll_range_push("open");
        compute(device("cpu"));
        std::raise(SIGKILL);
    }
    in_threads(8, 3);
    if (mode == "killed") std::raise(SIGKILL);
    if (mode == "quick") ::_exit(3);
    if (mode == "quick_exit") std::quick_exit(4);
    if (mode == "abort") std::abort();
    if (mode == "segfault") std::raise(SIGSEGV);
    if (mode == "fork") {
        const pid_t child = ::fork();
        if (child == 0) {
            compute(device("cpu")); // in the parent's trace this must not appear
            for (const InterposerInfo &info : interposers())
                if (info.name == "trace") retire_plugin("trace");
            ::_exit(0);
        }
        int status = 0;
        ::waitpid(child, &status, 0);
        if (status != 0) return 1;
        in_threads(1, 1); // not on this thread: its last records are those before the fork
    }
    for (const auto &counter : counters) {
        const std::lock_guard lock(counter->mutex);
        for (const auto &[function, calls] : counter->calls)
            std::printf("%s %s %ld\n", function.c_str(), counter->device.c_str(), calls);
    }
    std::fflush(stdout);
    if (mode == "busy") { // exits with threads at work
        static std::atomic<long> rounds{0};
        for (int i = 0; i < 4; ++i)
            std::thread([] {
                // No products: the BLAS library takes its buffers down at exit.
                const Tensor a = full({3, 4}, 2.0, {float64, device("cpu")});
                for (;;) {
                    (void)sqrt(a + a);
                    ++rounds;
                }
            }).detach();
        while (rounds < 20) std::this_thread::yield();
        std::exit(7);
    }
    return mode == "status" ? 42 : 0;
}
