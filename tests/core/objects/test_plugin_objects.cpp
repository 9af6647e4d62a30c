// Objects of plugins: made, shared, used, let go of, and all that can be wrong with them. With
// tests/plugins/picky.cpp.
#include "../picky.hpp"
#include "../support.hpp"
#include "atoll/interpose.hpp"
#include "atoll/module.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

using namespace Atoll;
using namespace plugin_tests;

namespace {

struct Counters {
    Function make{"picky.make"}, next{"picky.next"}, now{"picky.now"}, both{"picky.both"},
        count_on{"picky.count_on"}, plan{"picky.plan"}, plan_each{"picky.plan_each"};
    Object from(std::int64_t start, const char *where = "cpu") const {
        return make.make({}, {.attributes = {{"start", start}}, .device = device(where)});
    }
    static std::int64_t number(const Function &f, std::initializer_list<Operand> inputs) {
        return f(inputs)[0].item().to_int();
    }
};

// The plugin loaded on the cpu, and what is logged meanwhile.
struct OnCpu {
    explicit OnCpu(const char *words = "") : picky(words) {}
    LogCapture log;
    const Picky picky;
    const Counters fn;
};
// On the simulated accelerator, too, which has to be there before.
struct Dummy {
    Dummy() { load_plugin("dummy"); }
};
struct OnDummy : Dummy, OnCpu {
    OnDummy() : OnCpu("dummy") {}
};

// How many objects the plugin has said it destroyed since the last time.
std::size_t destroyed(LogCapture &log) {
    std::size_t count = 0;
    for (const std::string &line : log.take()) count += contains(line, "picky: destroyed ");
    return count;
}
std::string retire_error() {
    const Caught error = caught([] { retire_plugin("picky"); });
    CHECK(error.status == Status::busy);
    return error.text;
}

} // namespace

TEST_CASE_FIXTURE(OnDummy,
                  "an object is used, shared, and destroyed once when the last handle goes") {
    for (const char *where : {"cpu", "dummy:0", "dummy:1"}) {
        CAPTURE(where);
        {
            const Object counter = fn.from(40, where), other = fn.from(1, where);
            CHECK(counter);
            CHECK(counter.type() == "picky.counter");
            CHECK(counter.device() == device(where));
            CHECK(fn.number(fn.next, {counter}) == 40);
            CHECK(fn.number(fn.next, {counter}) == 41);
            CHECK(fn.number(fn.now, {counter}) == 42);
            Object shared = counter, moved = std::move(shared);
            CHECK(fn.number(fn.next, {moved}) == 42);
            CHECK(fn.number(fn.now, {counter}) == 43);
            CHECK(fn.number(fn.both, {counter, other}) == 2);
            CHECK(fn.number(fn.both, {counter, counter}) == 46);
            moved = other;
            CHECK(fn.number(fn.now, {moved}) == 2);
            // Results that are given.
            const Tensor n = zeros({}, {int64, device(where)}),
                         many = zeros({2, 3}, {float32, device(where)});
            fn.next({counter}, {.out = {n}});
            CHECK(n.item().to_int() == 46);
            fn.next({counter}, {.out = {many}});
            CHECK(many.to_doubles() == std::vector<double>(6, 47));
            CHECK(destroyed(log) == 0);
            CHECK_MESSAGE(contains(retire_error(), "2 of picky.counter"), retire_error());
            CHECK(fn.number(fn.now, {counter}) == 48);
        }
        CHECK(destroyed(log) == 2);
    }
    CHECK_FALSE(Object());
    { // A thread made it, another lets it go.
        Object counter;
        std::thread([&] { counter = fn.from(7); }).join();
        std::thread([&] {
            CHECK(fn.number(fn.next, {counter}) == 7);
            counter = {};
        }).join();
        CHECK(destroyed(log) == 1);
    }
    {
        // The device's plugin cannot go, either.
        const Object counter = fn.from(1, "dummy:1");
        const Caught error = caught([] { retire_plugin("dummy"); });
        CHECK(error.status == Status::busy);
        CHECK_MESSAGE(contains(error.text, "1 of dummy:1"), error.text);
    }
}

TEST_CASE("objects beside tensors, and made of them") {
    LogCapture log;
    for (const std::uint64_t caps :
         {std::uint64_t{0}, std::uint64_t{ATOLL_CAP_LOOPS},
          std::uint64_t{ATOLL_CAP_LOOPS | ATOLL_CAP_STRIDED | ATOLL_CAP_NEGATIVE_STRIDES}}) {
        CAPTURE(caps);
        const Picky picky("", {.caps = caps});
        const Counters fn;
        const Tensor a = arange(3, {float64, device("cpu")});
        const Object counter = fn.from(10);
        CHECK(fn.count_on({counter, a})[0].to_doubles() == std::vector<double>{10, 11, 12});
        // The loop: once for each of its elements where the implementation takes one at a time.
        const Tensor stack = zeros({3, 2, 2}, {int32, device("cpu")});
        const std::vector<double> numbers = fn.count_on({counter, stack})[0].to_doubles();
        for (std::size_t i = 0; i < numbers.size(); ++i)
            CHECK(numbers[i] == (caps ? 11 : 11 + static_cast<double>(i / 3)));
        // In place, overlapping, no elements.
        fn.count_on({counter, a}, {.out = {a}});
        CHECK(a.to_doubles()[0] == (caps ? 12 : 15));
        const Tensor line = zeros({4}, {float64, device("cpu")});
        fn.count_on({counter, line.slice(0, 0, 3)}, {.out = {line.slice(0, 1, 4)}});
        CHECK(line.to_doubles()[0] == 0);
        CHECK(line.to_doubles()[3] == (caps ? 13 : 16));
        const std::int64_t before = fn.number(fn.now, {counter});
        CHECK(fn.count_on({counter, zeros({3, 0}, {float64, device("cpu")})})[0].size() == 0);
        CHECK(fn.number(fn.now, {counter}) == before);
        // Of a tensor, also one in another dtype and layout.
        for (const Function &plan : {fn.plan, fn.plan_each}) {
            const Object made = plan.make({full({4}, 3.0, {int32, device("cpu")})});
            CHECK(fn.number(fn.now, {made}) == 12);
            CHECK(fn.number(fn.now, {plan.make({full({1}, 3.0, {float64, device("cpu")})})}) == 3);
        }
        // One object is made, so nothing can be made of no elements or of a loop that is taken
        // apart.
        for (const Function &plan : {fn.plan, fn.plan_each}) {
            const Caught empty = caught([&] { plan.make({zeros({0}, {float64, device("cpu")})}); });
            CHECK(empty.status == Status::invalid_argument);
            CHECK_MESSAGE(contains(empty.text, "no elements"), empty.text);
        }
        Object looped;
        const Caught loop = caught([&] {
            looped = fn.plan.make({full({4, 2}, 1.0, {float64, device("cpu")})});
        });
        if (caps) {
            CHECK(loop.status == Status::ok);
            CHECK(fn.number(fn.now, {looped}) == 8);
        } else {
            CHECK(loop.status == Status::not_supported);
            CHECK_MESSAGE(contains(loop.text, "state"), loop.text);
        }
    }
}

TEST_CASE_FIXTURE(OnDummy, "errors name the operand, and what is wrong with it") {
    const Object counter = fn.from(1), there = fn.from(2, "dummy:0"),
                 beside = fn.from(3, "dummy:1");
    Tensor a = ones({3}, {float64, device("cpu")});
    const auto refused = [](const auto &call, const std::string &text) {
        const Caught error = caught(call);
        CHECK(error.status == Status::invalid_argument);
        CHECK_MESSAGE(contains(error.text, text), error.text);
    };
    refused([&] { fn.next({a}); }, "state is a tensor, needs an object");
    refused([&] { fn.next({1}); }, "state is a number, needs an object");
    refused([&] { fn.next({Object()}); }, "got no state");
    refused([&] { fn.next({}); }, "got no state");
    refused([&] { fn.next({counter, counter}); }, "got 2 inputs");
    refused([&] { fn.next({counter}, {.device = device("dummy:0")}); },
            "state lies on cpu, the call runs on dummy:0; objects are not copied");
    refused([&] { fn.both({counter, there}); }, "other lies on dummy:0, the call runs on cpu");
    refused([&] { fn.both({beside, there}); }, "other lies on dummy:0, the call runs on dummy:1");
    refused([&] { fn.count_on({counter, counter}); }, "a is an object, needs a tensor");
    refused([&] { fn.count_on({a, counter}); }, "is a tensor, needs an object");
    refused([&] { fn.plan({counter}); }, "call Function::make");
    refused([&] { fn.plan.make({counter}); }, "a is an object, needs a tensor");
    refused([&] { fn.next.make({counter}); }, "call Function::operator()");
    refused([&] { fn.make({}); }, "call Function::make");
    refused([&] { fn.make.make({}, {.out = {a}}); }, "leave it out");
    // Another type of object of the same plugin: the plugin says so.
    Picky::set("make", "stranger");
    const Object stranger = fn.from(1);
    CHECK(stranger.type() == "picky.stranger");
    refused([&] { fn.next({stranger}); }, "got a stranger, needs a counter");
    Picky::set("make", "");
    // Functions of the library take tensors and numbers alone.
    const char *needs = "is an object, needs a tensor";
    Tensor out = a.clone();
    refused([&] { sqrt(counter); }, needs);
    refused([&] { sqrt(counter, out); }, needs);
    refused([&] { square(there); }, needs);
    refused([&] { add(a, counter); }, needs);
    refused([&] { add(counter, a); }, needs);
    refused([&] { add(counter, 1); }, needs);
    refused([&] { add(1, counter); }, needs);
    refused([&] { add(counter, counter); }, needs);
    refused([&] { equal(counter, counter); }, needs);
    refused([&] { divide(counter, a); }, needs);
    refused([&] { where(counter, a, a); }, needs);
    refused([&] { matmul(counter, a); }, needs);
    refused([&] { matmul(a, counter); }, needs);
    refused([&] { searchsorted(counter, a); }, needs);
    refused([&] { a.assign(counter); }, needs);
    refused([&] { copy(a, counter); }, needs);
    refused([&] { out += counter; }, needs);
    refused([&] { a(vector({0, 1}, {int64, device("cpu")})) = counter; }, needs);
    refused([&] { a(vector({0, 1}, {int64, device("cpu")})) += counter; }, needs);
    refused([&] { Function("core.sum")({counter}); }, needs);
    refused([&] { Function("core.matmul")({counter, counter}); }, needs);
    refused([&] { Function("core.sum")({counter}); }, needs);
    CHECK(a.to_doubles() == std::vector<double>(3, 1));
    CHECK(fn.number(fn.next, {counter}) == 1);
}

TEST_CASE_FIXTURE(OnCpu, "an object of another plugin is not given to an implementation") {
    const Object mine = fn.from(1);
    load_plugin(test_plugin("picky_other"));
    {
        const Object others = fn.from(5);
        CHECK(others.type() == "picky_other.counter");
        CHECK(fn.number(fn.next, {others}) == 5);
        const Caught error = caught([&] { fn.next({mine}); });
        CHECK(error.status == Status::invalid_argument);
        CHECK_MESSAGE(contains(error.text, "state is a picky.counter of plugin picky, the "
                                           "implementation is of plugin picky_other"),
                      error.text);
        const Caught busy = caught([] { retire_plugin("picky_other"); });
        CHECK_MESSAGE(contains(busy.text, "1 of picky_other.counter"), busy.text);
        CHECK(fn.number(fn.next, {others}) == 6);
    }
    retire_plugin("picky_other");
    CHECK(fn.number(fn.next, {mine}) == 1);
}

TEST_CASE_FIXTURE(
    OnDummy,
    "a plugin that gives back what is no object of its own is at fault, and nothing leaks") {
    struct Entry {
        const char *what, *text;
        std::size_t destroyed;
    };
    for (const char *where : {"cpu", "dummy:0"}) {
        CAPTURE(where);
        for (const Entry &entry : {Entry{"nothing", "gave back nothing", 0},
                                   {"garbage", "gave back what is no object", 0},
                                   {"let go", "gave back what is no object", 1},
                                   {"elsewhere", "gave back an object of another device", 1}}) {
            CAPTURE(entry.what);
            Picky::set("make", entry.what);
            const Caught error = caught([&] { fn.from(1, where); });
            CHECK(error.status == Status::plugin_fault);
            CHECK(error.function == "picky.make");
            CHECK_MESSAGE(contains(error.text, entry.text), error.text);
            CHECK(destroyed(log) == entry.destroyed);
        }
        // Makes one and fails all the same.
        Picky::set("make", "fails");
        CHECK(caught([&] { fn.from(1, where); }).status == Status::kernel_failed);
        CHECK(destroyed(log) == 1);
        Picky::set("make", "");
        {
            // The same again: with a count it is another handle, without one a fault.
            Object counter = fn.from(3, where);
            Picky::set("make", "once more");
            Object again = fn.from(0, where);
            CHECK(fn.number(fn.next, {again}) == 3);
            CHECK(fn.number(fn.next, {counter}) == 4);
            Picky::set("make", "again");
            const Caught error = caught([&] { fn.from(0, where); });
            CHECK(error.status == Status::plugin_fault);
            CHECK_MESSAGE(contains(error.text, "count"), error.text);
            Picky::set("make", "");
            counter = {};
            CHECK(destroyed(log) == 0);
            CHECK(fn.number(fn.next, {again}) == 5);
        }
        CHECK(destroyed(log) == 1);
        {
            // Lets go of a count that is the handle's.
            const Object counter = fn.from(3, where);
            Picky::set("make", "let go later");
            fn.next({counter});
            Picky::set("make", "");
            CHECK(fn.number(fn.next, {counter}) == 4);
            const auto lines = log.take();
            REQUIRE(lines.size() == 1);
            CHECK(contains(
                lines[0],
                "object_release of a picky.counter whose references all belong to handles"));
        }
        CHECK(destroyed(log) == 1);
        // What destroy throws is logged.
        Picky::set("destroy", "throws");
        fn.from(1, where);
        const auto lines = log.take();
        CHECK(std::any_of(lines.begin(), lines.end(), [](const std::string &line) {
            return contains(line, "destroy of picky.counter: destroy exploded");
        }));
        Picky::set("destroy", "");
    }
}

TEST_CASE_FIXTURE(
    OnDummy, "on an asynchronous device an object goes after the work that was enqueued with it") {
    const Device dummy = device("dummy:0");
    const Stream one = dummy.new_stream(), two = dummy.new_stream();
    const Tensor first = zeros({1000}, {int64, dummy, one}),
                 second = zeros({}, {int64, dummy, two});
    dummy.synchronize();
    for (const Tensor &out : {first, second}) {
        configure("dummy", "fault", "latency:20000");
        Object counter = fn.from(3, "dummy:0");
        fn.next({counter}, {.out = {out}});
        fn.now({counter}, {.out = {first}});
        const Event end = one.record(), other = two.record();
        CHECK_FALSE((end.done() && other.done()));
        counter = {};
        // All that was enqueued with it has been waited for.
        CHECK(end.done());
        if (out.size() == 1) CHECK(other.done());
        CHECK(destroyed(log) == 1);
        configure("dummy", "fault", "");
    }
    CHECK(first.to_vector<std::int64_t>() == std::vector<std::int64_t>(1000, 4));
    CHECK(second.item().to_int() == 3);
    // An error of that work is not lost with the object.
    configure("dummy", "fault", "kernel:fill");
    {
        const Object counter = fn.from(3, "dummy:0");
        fn.next({counter});
    }
    configure("dummy", "fault", "");
    const Caught error = caught([&] { dummy.synchronize(); });
    CHECK(error.status == Status::kernel_failed);
    CHECK(error.function == "core.fill");
}

TEST_CASE("threads make, use and drop objects while others retire and load the plugin") {
    load_plugin("cpu");
    load_plugin("dummy");
    LogCapture log;
    const std::string path = test_plugin("picky");
    const Variable words("PICKY", "dummy");
    load_plugin(path);
    const Counters fn;
    std::atomic<bool> stop{false};
    std::atomic<long> made{0}, used{0}, refused{0}, strange{0};
    std::vector<std::thread> threads;
    Object common = fn.from(0);
    for (int t = 0; t < 3; ++t)
        threads.emplace_back([&, t] {
            const char *where = t == 2 ? "dummy:0" : "cpu";
            while (!stop) try {
                    const Object counter = fn.from(t, where);
                    ++made;
                    const Object copy = counter;
                    if (fn.number(fn.next, {copy}) != t || fn.number(fn.now, {counter}) != t + 1)
                        ++strange;
                    if (counter.type() != "picky.counter") ++strange;
                    ++used;
                } catch (const Error &e) {
                    const bool expected =
                        e.status() == Status::not_found || e.status() == Status::not_supported;
                    if (!expected && strange++ == 0) MESSAGE(e.what());
                    ++refused;
                }
        });
    for (int i = 0; i < 50; ++i) CHECK(fn.number(fn.next, {common}) == i);
    common = {};
    int retired = 0;
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(1500);
    while (std::chrono::steady_clock::now() < end) {
        const Caught error = caught([] { retire_plugin("picky"); });
        if (error.status == Status::busy) continue;
        REQUIRE_MESSAGE(error.status == Status::ok, error.text);
        ++retired;
        load_plugin(path);
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    stop = true;
    for (std::thread &thread : threads) thread.join();
    CHECK(strange == 0);
    CHECK(made > 0);
    CHECK(static_cast<long>(destroyed(log)) == made + 1);
    MESSAGE(retired << " times retired, " << made.load() << " made, " << used.load() << " used, "
                    << refused.load() << " refused");
    CHECK(caught([] { retire_plugin("picky"); }).status == Status::ok);
}

namespace {

struct Gate {
    std::atomic<bool> entered{false}, open{false};
    static std::int32_t pass(const atoll_link *self, atoll_call *call) {
        auto &gate = *static_cast<Gate *>(self->ctx);
        gate.entered = true;
        while (!gate.open) std::this_thread::yield();
        return self->next->fn(self->next, call);
    }
};

} // namespace

TEST_CASE_FIXTURE(OnCpu, "an object that is being made keeps its plugin from retiring") {
    Gate gate;
    const InterposerHandle handle = push_interposer("picky.make@cpu", &Gate::pass, &gate);
    Object made;
    std::thread maker([&] { made = fn.from(3); });
    while (!gate.entered) std::this_thread::yield();
    std::atomic<bool> retiring{false};
    std::string error;
    std::thread other([&] {
        retiring = true;
        error = caught([] { retire_plugin("picky"); }).text;
    });
    while (!retiring) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(100)); // it has seen no object yet
    gate.open = true;
    maker.join();
    other.join();
    pop_interposer(handle);
    CHECK_MESSAGE(contains(error, "1 of picky.counter"), error);
    CHECK(fn.number(fn.next, {made}) == 3);
    made = {};
    CHECK(destroyed(log) == 1);
}

TEST_CASE_FIXTURE(OnCpu, "interposers and the log show calls with objects") {
    load_plugin("trace");
    set_log_level("debug");
    const InterposerHandle trace = push_interposer("*", "trace");
    {
        const Object counter = fn.from(3);
        fn.next({counter});
        fn.count_on({counter, zeros({2, 2}, {int32, device("cpu")})});
    }
    CHECK_FALSE(interposer_report(trace).empty());
    pop_interposer(trace);
    const auto lines = log.take();
    CHECK(std::any_of(lines.begin(), lines.end(), [](const std::string &line) {
        return contains(line, "picky.count_on float64 on cpu");
    }));
}

TEST_CASE("exceptions do not leave the host's services") {
    // A function of another plugin throws in a call that a plugin dispatches outside of calls.
    load_plugin("cpu");
    LogCapture log;
    const auto explode = [](const atoll_link *, atoll_call *) -> std::int32_t {
        throw std::runtime_error("fill exploded");
    };
    const InterposerHandle handle = push_interposer("core.fill@cpu", explode, nullptr);
    {
        const Variable words("PICKY", "memory");
        const Caught error = caught([] { load_plugin(test_plugin("picky")); });
        CHECK(error.status == Status::refused);
        CHECK(contains(error.text, "could not open cpu:0"));
    }
    pop_interposer(handle);
    const auto lines = log.take();
    CHECK(std::any_of(lines.begin(), lines.end(), [](const std::string &line) {
        return contains(line, "fill failed: ") && contains(line, "fill exploded");
    }));
    const Picky picky("memory");
}
