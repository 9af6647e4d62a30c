// Everything at once: threads that compute, one that wraps what they call, one that loads and
// retires plugins, one that reads the registry. Right results and, under ThreadSanitizer, no race.
#include "../../random_tests.hpp"
#include "../plugin_tests.hpp"
#include "atoll/abi/note.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <random>
#include <thread>

using namespace Atoll;
using namespace plugin_tests;

namespace {

#if ATOLL_SANITIZERS & ATOLL_SANITIZER_THREAD
constexpr std::chrono::seconds duration{10};
#else
constexpr std::chrono::seconds duration{2};
#endif

// What the threads have found wrong. doctest's assertions are slow across threads, and one line of
// each kind says enough.
class Findings {
public:
    void add(const std::string &text) {
        const std::lock_guard lock(mutex_);
        ++count_;
        if (lines_.size() < 20) lines_.push_back(text);
    }
    void check(bool right, const char *what) {
        if (!right) add(std::string("wrong: ") + what);
    }
    void report() {
        for (const std::string &line : lines_) MESSAGE(line);
        CHECK(count_ == 0);
    }

private:
    std::mutex mutex_;
    int count_ = 0;
    std::vector<std::string> lines_;
};

// Runs bodies, each on a thread of its own and again and again, until the time is over.
class Crowd {
public:
    explicit Crowd(Findings &findings) : findings_(findings) {}
    void add(const char *name, std::function<void(int round)> body) {
        threads_.emplace_back([this, name, body = std::move(body), at = threads_.size()] {
            int round = 0;
            try {
                while (!stop_) body(round++);
            } catch (const std::exception &e) {
                findings_.add(std::string(name) + " threw: " + e.what());
            }
            rounds_[at] = round;
        });
        names_.push_back(name);
    }
    void run() {
        std::this_thread::sleep_for(duration); // how long, not how far: nothing depends on it
        stop_ = true;
        for (std::thread &thread : threads_) thread.join();
        for (std::size_t i = 0; i < names_.size(); ++i) {
            INFO(names_[i], ": ", rounds_[i], " rounds");
            CHECK(rounds_[i] > 0);
        }
    }

private:
    Findings &findings_;
    std::atomic<bool> stop_{false};
    std::vector<std::thread> threads_;
    std::vector<const char *> names_;
    int rounds_[32] = {};
};

std::atomic<long> wrapped{0};
std::int32_t count(const atoll_link *self, atoll_call *call) {
    static_cast<std::atomic<long> *>(self->ctx)->fetch_add(1, std::memory_order_relaxed);
    return self->next->fn(self->next, call);
}

// May fail while the plugin is gone, and then only so.
bool gone(const Error &e) {
    return e.status() == Status::not_found || e.status() == Status::not_supported;
}

} // namespace

TEST_CASE("calls, interposers, loading, settings and queries from many threads at once") {
    load_plugin("cpu");
    load_plugin("dummy");
    load_plugin("trace");
    const Device cpu = device("cpu"), dummy = device("dummy:0");
    Findings findings;
    Crowd crowd(findings);
    const auto all = [](const Tensor &t, double value) {
        const std::vector<double> numbers = t.to_doubles();
        for (double number : numbers)
            if (number != value) return false;
        return !numbers.empty();
    };

    // Eight that compute, each something else; all results are exact.
    crowd.add("elementwise", [&](int round) {
        const double x = round % 100;
        const Tensor a = full({17, 3}, x, {float64, cpu}), b = full({17, 3}, 2.0, {float32, cpu});
        findings.check(all(a + b, x + 2), "add");
        findings.check(all(sqrt(square(a)), x), "sqrt");
    });
    crowd.add("integers", [&](int round) {
        const Tensor a = full({31}, round % 7, {int16, cpu}), b = full({31}, 5, {int32, cpu});
        findings.check(all(multiply(a, b), round % 7 * 5), "multiply");
        findings.check((a - b).dtype() == int32, "promotion");
        findings.check(all(a.cast(uint8), round % 7), "cast");
    });
    crowd.add("reductions", [&](int) {
        const Tensor a = arange(100, {int64, cpu}).reshape({10, 10});
        findings.check(sum(a).item().to_int() == 4950, "sum");
        findings.check(max(a, {0}).to_vector<std::int64_t>()[9] == 99, "max");
        findings.check(sum(ones({100'000}, {float32, cpu})).item().to_double() == 100'000, "pool");
    });
    crowd.add("products", [&](int) {
        const Tensor a = ones({24, 40}, {int32, cpu}), b = full({40, 8}, 2, {int32, cpu});
        findings.check(all(a * b, 80), "matmul");
        const Tensor c = ones({64, 64}, {float64, cpu});
        findings.check(all(c * c, 64), "matmul of floats");
    });
    crowd.add("views and overlap", [&](int) {
        const Tensor a = arange(10, {float64, cpu});
        a.slice(0, 1, 10) += a.slice(0, 0, 9);
        findings.check(a.to_vector<double>() ==
                           std::vector<double>{0, 1, 3, 5, 7, 9, 11, 13, 15, 17},
                       "overlap");
        const Tensor m = ones({6, 5}, {float32, cpu});
        findings.check(all(m.T() + m.T(), 2), "transpose");
    });
    crowd.add("asynchronous", [&](int round) {
        const Stream stream = round % 4 ? dummy.default_stream() : dummy.new_stream();
        const Tensor a = full({50}, 3.0, {float64, dummy, stream});
        const Event event = stream.record();
        findings.check(all(square(a) - 1.0, 8), "dummy");
        event.synchronize();
        findings.check(event.done(), "event");
    });
    crowd.add("between devices", [&](int round) {
        const Tensor a = full({20}, round % 50, {float32, cpu});
        const Tensor b = a.to(dummy).to(device("dummy:1")).to(cpu);
        findings.check(all(b, round % 50), "transfer");
        findings.check(all(a + full({20}, 1, {float32, dummy}), round % 50 + 1), "mixed devices");
    });
    crowd.add("settings", [&](int round) {
        const ScopedSettings scope([](Settings &s) {
            s.default_dtype = float64;
            s.default_device = "cpu";
            s.auto_cast = false;
        });
        const Tensor a = ones({4});
        findings.check(a.dtype() == float64, "scoped dtype");
        {
            const ScopedSettings inner([](Settings &s) { s.auto_cast = true; });
            findings.check(all(a + ones({4}, {float32, cpu}), 2), "inner scope");
        }
        findings.check(caught([&] {
                           a + ones({4}, {float32, cpu});
                       }).status == Status::invalid_argument,
                       "automatic casting off");
        if (round % 16 == 0) {
            Settings process = settings(); // of this scope
            process.auto_cast = true;
            process.default_dtype = float32;
            process.print.width = 60 + round % 20;
            set_settings(process);
        }
    });

    // One that wraps what they call.
    crowd.add("interposers", [&](int round) {
        static constexpr const char *targets[] = {"*",        "core.*",    "core.add@cpu:float64",
                                                  "device.*", "core.copy", "*@dummy"};
        const InterposerHandle outer =
            push_interposer(targets[round % 6], count, &wrapped, round % 3 - 1);
        const InterposerHandle traced = push_interposer(targets[(round + 2) % 6], "trace");
        findings.check(interposers().size() >= 2, "interposers");
        std::this_thread::yield();
        pop_interposer(outer);
        findings.check(!interposer_report(traced).empty(), "report");
        pop_interposer(traced);
    });
    // One that loads and retires.
    crowd.add("plugins", [&](int round) {
        load_plugin("hello");
        load_plugin("hello_cpu");
        const Function scale_add("hello.scale_add");
        findings.check(
            all(scale_add({full({3}, 4.0, {float64, cpu}), full({3}, 1.0, {float64, cpu})})[0], 9),
            "hello");
        load_plugin("dummy_min");
        {
            const Tensor kept = full({8}, 2.0, {float64, device("dummy_min")});
            findings.check(all(kept.T() + kept.T(), 4), "dummy_min");
            if (round % 2) {
                // Another thread may hold tensors too, so at least this one.
                const Caught error = caught([] { retire_plugin("dummy_min"); });
                findings.check(error.status == Status::busy, "retire of a used plugin");
            }
        }
        // The user of the next body may hold a tensor for a moment.
        while (caught([] { retire_plugin("dummy_min"); }).status == Status::busy)
            std::this_thread::yield();
        retire_plugin("hello_cpu");
        retire_plugin("hello");
    });
    // One that uses a device which comes and goes.
    crowd.add("fleeting device", [&](int) {
        try {
            const Tensor t = full({5}, 3.0, {float64, device("dummy_min")});
            findings.check(all(square(t), 9), "fleeting");
            const Tensor calls = Function("hello.calls")({}, {.device = cpu})[0];
            findings.check(calls.item().to_int() > 0, "calls of hello");
        } catch (const Error &e) {
            if (!gone(e)) findings.add(std::string("fleeting device: ") + e.what());
            std::this_thread::yield();
        }
    });
    // Two that look at everything. What takes no lock stands alone: a lock would order it.
    crowd.add("queries", [&](int) {
        std::size_t named = 0;
        for (const Device &device : devices()) {
            named += !device.name().empty();
            for (const std::string &module : device.modules()) named += !module.empty();
            static_cast<void>(device.supports_byteswap());
        }
        findings.check(named > 4, "devices");
        for (const Module &module : modules()) {
            findings.check(!module.name().empty() && !module.functions().empty(), "modules");
            findings.check(module.plugin().empty() || module.plugin() == "hello", "owner");
        }
        for (const FunctionSupport &support : Function("core.sqrt").support())
            findings.check(support.plugin == support.device_type && support.dtypes.size() == 7,
                           "support");
        findings.check(default_device() == cpu, "default device");
        try {
            findings.check(!device("dummy_min").properties().name.empty(), "properties");
        } catch (const Error &e) {
            if (!gone(e)) findings.add(std::string("queries: ") + e.what());
        }
    });
    crowd.add("locked queries", [&](int) {
        findings.check(!load_report().empty(), "report");
        findings.check(chain("core.add", "cpu", "float64").size() >= 2, "chain");
        configure("dummy", "memory", "1000");
        configure("dummy", "memory", "");
        std::this_thread::yield(); // the lock is not fair
    });
    crowd.run();
    findings.report();
    CHECK(wrapped > 0);
    CHECK(interposers().empty());
    retire_plugin("trace");
    retire_plugin("dummy");
    retire_plugin("cpu");
}

TEST_CASE("several threads load and retire the same plugin") {
    load_plugin("cpu");
    Findings findings;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([&] {
            for (int round = 0; round < 30; ++round) {
                const Caught in = caught([] { load_plugin("dummy_min"); });
                findings.check(in.status == Status::ok, "load");
                try {
                    const Tensor t = full({3}, 1.0, {float64, device("dummy_min")});
                    findings.check(t.to_vector<double>() == std::vector<double>(3, 1.0), "values");
                } catch (const Error &e) {
                    if (!gone(e)) findings.add(e.what());
                }
                const Caught out = caught([] { retire_plugin("dummy_min"); });
                findings.check(out.status == Status::ok || out.status == Status::busy ||
                                   out.status == Status::not_found,
                               "retire");
            }
        });
    for (std::thread &thread : threads) thread.join();
    findings.report();
    load_plugin("dummy_min");
    retire_plugin("dummy_min"); // not a count is left
}

TEST_CASE("handles and queries are good while plugins come and go") {
    load_plugin("cpu");
    load_plugin("dummy_min");
    const Device fleeting = device("dummy_min");
    load_plugin("hello");
    const Function function("hello.scale_add");
    Findings findings;
    std::atomic<bool> stop{false};
    const std::int64_t rounds = random_tests::cases(100);
    std::vector<std::thread> readers;
    // No locks here: whatever these read must be safe by itself.
    for (int i = 0; i < 3; ++i)
        readers.emplace_back([&] {
            while (!stop) {
                findings.check(fleeting.name() == "dummy_min", "name");
                findings.check(fleeting.type() == "dummy_min" && fleeting.index() == 0, "type");
                findings.check(!fleeting.is_host_memory() && !fleeting.is_inline(), "flags");
                for (const Module &module : modules())
                    findings.check(module.plugin() == (module.name() == "hello" ? "hello" : ""),
                                   "owner");
                findings.check(function.name() == "hello.scale_add" && !function.doc().empty(),
                               "function");
                for (const FunctionSupport &support : function.support())
                    findings.check(support.plugin == "hello_cpu", "support");
                findings.check(default_device().name() == "cpu", "default device");
                const Caught missing = caught([] { device("no_such"); });
                findings.check(contains(missing.text, "devices now: cpu"), "devices");
                try {
                    fleeting.synchronize();
                } catch (const Error &e) {
                    if (!gone(e)) findings.add(e.what());
                }
            }
        });
    for (int round = 0; round < rounds; ++round) {
        retire_plugin("dummy_min");
        retire_plugin("hello");
        load_plugin("hello_cpu");
        load_plugin("hello");
        load_plugin("dummy_min");
        retire_plugin("hello_cpu");
    }
    stop = true;
    for (std::thread &reader : readers) reader.join();
    findings.report();
    retire_plugin("hello");
    retire_plugin("dummy_min");
}

TEST_CASE("a module or device type that nobody has seen before comes complete") {
    // Only the first load in a process makes these records, so this runs in many processes.
    for (std::int64_t left = random_tests::cases(25); left > 0; --left) {
        const ChildResult child = run_child("child: first load", {});
        REQUIRE_MESSAGE(child.status == 0, child.output);
    }
}

TEST_CASE("child: first load" * doctest::skip()) {
    load_plugin("cpu");
    const Device cpu = device("cpu");
    Findings findings;
    std::atomic<bool> stop{false};
    std::atomic<int> ready{0};
    std::vector<std::thread> readers;
    for (int i = 0; i < 3; ++i)
        readers.emplace_back([&] {
            ++ready;
            while (!stop) {
                findings.check(!cpu.modules().empty(), "modules of a device");
                findings.check(!devices().empty(), "devices");
                try {
                    const Function calls("hello.calls");
                    findings.check(calls.support().size() < 3, "support");
                    calls({}, {.device = cpu});
                } catch (const Error &e) {
                    if (!gone(e)) findings.add(e.what());
                }
            }
        });
    while (ready < 3) std::this_thread::yield();
    load_plugin("hello");
    load_plugin("dummy");
    load_plugin("trace");
    stop = true;
    for (std::thread &reader : readers) reader.join();
    findings.report();
}
