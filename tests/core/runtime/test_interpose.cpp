// Interposers: which slots they cover, in which order, what they see, and how they go; and plugins
// that replace one function of another plugin's device type.
#include "../plugin_tests.hpp"
#include "atoll/plugin.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <stdexcept>
#include <thread>

using namespace Atoll;
using namespace plugin_tests;

namespace {

std::string function_name(const atoll_call &call) {
    static constexpr const char *core[] = {
#define ATOLL_FUNCTION(id, name, ...) "core." #name,
#include "atoll/lists/functions.inc"
    };
    static constexpr const char *device[] = {
#define ATOLL_DEVICE_FUNCTION(id, name, PARAMS, REQUIRED, doc) "device." #name,
#include "atoll/lists/device_functions.inc"
    };
    if (call.module == ATOLL_MODULE_CORE) return core[call.function];
    if (call.module == ATOLL_MODULE_DEVICE) return device[call.function];
    return "other";
}

std::int32_t pass_on(const atoll_link *self, atoll_call *call) {
    return self->next->fn(self->next, call);
}

// Counts by name, independently of the tracer.
struct Counter {
    struct Entry {
        int calls = 0, inserted = 0, errors = 0; // of this function
        int temporaries = 0, copies = 0;         // made to serve this function
        std::uint64_t temporary_bytes = 0;
        std::map<int, int> dtypes;
        bool operator==(const Entry &) const = default;
    };
    std::mutex mutex;
    std::map<std::string, Entry> entries;

    static std::int32_t count(const atoll_link *self, atoll_call *call) {
        const std::int32_t status = self->next->fn(self->next, call);
        auto &counter = *static_cast<Counter *>(self->ctx);
        const std::lock_guard lock(counter.mutex);
        Entry &entry = counter.entries[function_name(*call)];
        ++entry.calls;
        ++entry.dtypes[call->dtype];
        entry.errors += status != ATOLL_STATUS_OK && status != ATOLL_STATUS_NOT_READY;
        if (!(call->flags & ATOLL_CALL_INSERTED)) return status;
        ++entry.inserted;
        atoll_call parent_call = *call;
        parent_call.module = call->parent_module;
        parent_call.function = call->parent_function;
        Entry &parent = counter.entries[function_name(parent_call)];
        const std::string name = function_name(*call);
        if (name == "device.allocate") {
            ++parent.temporaries;
            parent.temporary_bytes += static_cast<const atoll_memory_params *>(call->params)->bytes;
        } else if (name == "core.copy" || name == "device.transfer") {
            ++parent.copies;
        }
        return status;
    }
    int calls(const std::string &name) {
        const std::lock_guard lock(mutex);
        return entries.count(name) ? entries[name].calls : 0;
    }
};

// Writes its name down when a call passes.
struct Marker {
    std::string name;
    std::vector<std::string> *trail;
    static std::int32_t mark(const atoll_link *self, atoll_call *call) {
        const auto &marker = *static_cast<Marker *>(self->ctx);
        marker.trail->push_back(marker.name);
        return self->next->fn(self->next, call);
    }
};

// Pushed for a scope.
class Pushed {
public:
    explicit Pushed(InterposerHandle handle) : handle_(handle) {}
    ~Pushed() { pop_interposer(handle_); }
    Pushed(const Pushed &) = delete;
    Pushed &operator=(const Pushed &) = delete;

private:
    InterposerHandle handle_;
};

Device cpu() {
    load_plugin("cpu");
    return device("cpu");
}

// A bit of everything; the same numbers every time.
std::vector<double> workload(const Device &where) {
    std::vector<double> numbers;
    const auto keep = [&](const Tensor &t) {
        for (const double number : t.to_doubles()) numbers.push_back(number);
    };
    const Tensor a = arange(1, 13, 1, {float64, where}).reshape({3, 4});
    const Tensor b = full({4, 3}, 0.5, {float32, where});
    keep(a + b.T());
    keep(a * b);
    keep(sqrt(a));
    keep(sum(a, {0}));
    keep(norm(a));
    keep(a.cast(int16) - 3);
    Tensor c = a.clone();
    c.slice(0, 1, 3) += c.slice(0, 0, 2);
    c(0).fill(-7);
    keep(c);
    keep(less(a, 5.5));
    keep(linspace(0, 1, 7, {float64, where}));
    return numbers;
}

} // namespace

TEST_CASE("targets cover what they name and nothing else") {
    const Device where = cpu();
    load_plugin("dummy");
    const Tensor a = full({4}, 1.0, {float64, where}), f = full({4}, 1.0f, {float32, where});
    const Tensor d = full({4}, 1.0, {float64, device("dummy")});
    struct Case {
        const char *target;
        int add, add_float, sqrt, other_device, allocate;
    };
    const Case cases[] = {
        {"*", 1, 1, 1, 1, 1},
        {"core.*", 1, 1, 1, 1, 0},
        {"core.add", 1, 1, 0, 1, 0},
        {"add", 1, 1, 0, 1, 0},
        {"core.add@cpu", 1, 1, 0, 0, 0},
        {"core.add@dummy", 0, 0, 0, 1, 0},
        {"core.add:float32", 0, 1, 0, 0, 0},
        {"core.add@cpu:float64", 1, 0, 0, 0, 0},
        {"core.*@cpu:float64", 1, 0, 1, 0, 0},
        {"core.*:double", 1, 0, 1, 1, 0},
        {"*@cpu", 1, 1, 1, 0, 1},
        {"*@dummy", 0, 0, 0, 1, 0},
        {"device.*", 0, 0, 0, 0, 1},
        {"device.allocate@cpu", 0, 0, 0, 0, 1},
        {"no_such_module.*", 0, 0, 0, 0, 0},
    };
    for (const Case &c : cases) {
        CAPTURE(std::string(c.target));
        Counter counter;
        const auto count = [&](const char *name, auto &&call) {
            const int before = counter.calls(name);
            call();
            return counter.calls(name) - before;
        };
        const Pushed pushed(push_interposer(c.target, Counter::count, &counter));
        CHECK(count("core.add", [&] { add(a, a); }) == c.add);
        CHECK(count("core.add", [&] { add(f, f); }) == c.add_float);
        CHECK(count("core.sqrt", [&] { sqrt(a); }) == c.sqrt);
        CHECK(count("core.add", [&] { add(d, d); }) == c.other_device);
        CHECK(count("device.allocate", [&] { empty({3}, {float64, where}); }) == c.allocate);
    }
    CHECK(interposers().empty());

    const auto refuse = [](const char *target, const char *words) {
        const Caught error = caught([&] { push_interposer(target, pass_on, nullptr); });
        CHECK_MESSAGE(error.status != Status::ok, target);
        CHECK_MESSAGE(contains(error.text, words), error.text);
    };
    refuse("core.ad", "there is no function 'ad'");
    refuse("cores.add", "there is no module 'cores'");
    refuse("core.add@cpuu", "there is no device type 'cpuu'");
    refuse("core.add:float33", "float33");
    refuse("", "there is no function ''");
    CHECK(caught([] { push_interposer("*", nullptr, nullptr); }).status ==
          Status::invalid_argument);
    const Caught unknown = caught([] { push_interposer("*", "tracer"); });
    CHECK(unknown.status == Status::not_found);
    CHECK(contains(unknown.text, "'tracer'; load its plugin first; offered now: none"));
    CHECK(caught([] { pop_interposer(12345); }).status == Status::not_found);
    CHECK(caught([] { interposer_report(12345); }).status == Status::not_found);
    CHECK(interposers().empty());
}

TEST_CASE("priority orders, then age; the chain can be printed") {
    const Device where = cpu();
    const Tensor a = full({4}, 4.0, {float64, where});
    std::vector<std::string> trail;
    Marker low{"low", &trail}, old{"old", &trail}, young{"young", &trail}, high{"high", &trail};
    const std::vector<std::string> bare = chain("core.sqrt", "cpu", "float64");
    CHECK(bare == std::vector<std::string>{"implementation of plugin cpu", "stub"});
    const auto push = [&](Marker &marker, int priority) {
        return push_interposer("core.sqrt", Marker::mark, &marker, priority, marker.name);
    };
    const InterposerHandle h_old = push(old, 0), h_high = push(high, 5), h_low = push(low, -5),
                           h_young = push(young, 0);
    sqrt(a);
    CHECK(trail == std::vector<std::string>{"high", "young", "old", "low"});
    CHECK(chain("core.sqrt", "cpu", "float64") ==
          std::vector<std::string>{"interposer high", "interposer young", "interposer old",
                                   "interposer low", "implementation of plugin cpu", "stub"});
    CHECK(chain("core.add", "cpu", "float64") == bare);
    std::vector<std::string> listed;
    for (const InterposerInfo &info : interposers())
        listed.push_back(info.name + " " + info.target + " " + std::to_string(info.priority));
    CHECK(listed == std::vector<std::string>{"high core.sqrt 5", "young core.sqrt 0",
                                             "old core.sqrt 0", "low core.sqrt -5"});
    // Out of the middle, in any order.
    trail.clear();
    pop_interposer(h_old);
    sqrt(a);
    CHECK(trail == std::vector<std::string>{"high", "young", "low"});
    CHECK(caught([&] { pop_interposer(h_old); }).status == Status::not_found);
    pop_interposer(h_high);
    pop_interposer(h_low);
    pop_interposer(h_young);
    trail.clear();
    sqrt(a);
    CHECK(trail.empty());
    CHECK(chain("core.sqrt", "cpu", "float64") == bare);

    // Two of one function and context are two all the same.
    const Pushed first(push_interposer("core.sqrt", pass_on, nullptr, 0, "first"));
    const Pushed second(push_interposer("*", pass_on, nullptr, 0, "second"));
    CHECK(chain("core.sqrt", "cpu", "float64") ==
          std::vector<std::string>{"interposer second", "interposer first",
                                   "implementation of plugin cpu", "stub"});
    CHECK(chain("core.sqrt", "cpu", "int8") ==
          std::vector<std::string>{"interposer second", "interposer first", "stub"});
    CHECK(chain("device.allocate", "cpu") ==
          std::vector<std::string>{"interposer second", "implementation of plugin cpu", "stub"});
    CHECK(caught([] { chain("core.sqrt", "gpu"); }).status == Status::not_found);
    CHECK(caught([] { chain("core.no", "cpu"); }).status == Status::not_found);
}

TEST_CASE("a no-op interposer changes nothing, and covers what loads later") {
    const Device where = cpu();
    load_plugin("dummy");
    load_plugin("dummy_min");
    const std::vector<double> expected = workload(where);
    CHECK(workload(device("dummy")) == expected);
    Counter counter;
    {
        const Pushed pushed(push_interposer("*", pass_on, nullptr));
        for (const char *name : {"cpu", "dummy:1", "dummy_min"})
            CHECK(workload(device(name)) == expected);
        retire_plugin("dummy_min");
        const Pushed count(push_interposer("*@dummy_min", Counter::count, &counter));
        load_plugin("dummy_min");
        CHECK(workload(device("dummy_min")) == expected);
        CHECK(counter.calls("core.sqrt") == 1);
        CHECK(counter.calls("device.enumerate") == 1);
        load_plugin("hello");
        load_plugin("hello_cpu");
        CHECK(chain("hello.calls", "cpu") ==
              std::vector<std::string>{"interposer application",
                                       "implementation of plugin hello_cpu", "stub"});
    }
    CHECK(workload(where) == expected);
    for (const char *name : {"hello_cpu", "hello", "dummy_min", "dummy"}) retire_plugin(name);
}

TEST_CASE("counts are exact, also over many threads") {
    const Device where = cpu();
    Counter counter;
    constexpr int threads = 4, rounds = 200;
    {
        const Pushed pushed(push_interposer("*", Counter::count, &counter));
        std::vector<std::thread> workers;
        for (int i = 0; i < threads; ++i)
            workers.emplace_back([&] {
                const Tensor a = full({3}, 2.0, {float64, where});
                for (int round = 0; round < rounds; ++round) square(add(a, a));
            });
        for (std::thread &worker : workers) worker.join();
    }
    square(full({3}, 2.0, {float64, where}));
    CHECK(counter.calls("core.add") == threads * rounds);
    CHECK(counter.calls("core.square") == threads * rounds);
    CHECK(counter.calls("core.fill") == threads);
    CHECK(counter.calls("device.allocate") == threads * (1 + 2 * rounds));
    CHECK(counter.calls("device.free") == threads * (1 + 2 * rounds));
    CHECK(counter.calls("core.copy") == 0);
}

TEST_CASE("device-level calls can be seen, changed and refused") {
    const Device where = cpu();
    load_plugin("dummy");
    const Device dummy = device("dummy");
    Counter counter;
    {
        const Pushed pushed(push_interposer("device.*@dummy", Counter::count, &counter));
        const Tensor t = full({4}, 2.0, {float64, where}).to(dummy);
        const Tensor u = t.to(device("dummy:1"));
        CHECK(u.to_vector<double>() == std::vector<double>(4, 2.0));
        const Stream stream = dummy.new_stream();
        stream.wait(dummy.default_stream().record());
        stream.synchronize();
    }
    CHECK(counter.calls("device.allocate") == counter.calls("device.free"));
    CHECK(counter.calls("device.allocate") >= 2);
    CHECK(counter.calls("device.transfer") >= 3); // in, across, out
    CHECK(counter.calls("device.stream_synchronize") >= 2);
    CHECK(counter.calls("device.stream_create") == 1);
    CHECK(counter.calls("device.stream_destroy") == 1);
    CHECK(counter.calls("device.event_create") == counter.calls("device.event_destroy"));

    // One that says no.
    const auto full_memory = +[](const atoll_link *, atoll_call *call) -> std::int32_t {
        const char text[] = "a quota says no";
        std::copy(std::begin(text), std::end(text), call->error->text);
        return ATOLL_STATUS_OUT_OF_MEMORY;
    };
    {
        const Pushed pushed(push_interposer("device.allocate@cpu", full_memory, nullptr));
        const Caught error = caught([&] { zeros({4}, {float64, where}); });
        CHECK(error.status == Status::out_of_memory);
        CHECK(contains(error.text, "a quota says no"));
        CHECK(error.function == "device.allocate");
    }
    check_cpu_works();
    retire_plugin("dummy");
}

TEST_CASE("an interposer that throws or returns nonsense is contained") {
    const Device where = cpu();
    const Tensor a = full({4}, 4.0, {float64, where});
    const auto thrower = +[](const atoll_link *self, atoll_call *call) -> std::int32_t {
        self->next->fn(self->next, call);
        throw std::runtime_error("wrapper exploded");
    };
    const auto nonsense = +[](const atoll_link *, atoll_call *) -> std::int32_t { return 777; };
    {
        const Pushed pushed(push_interposer("core.sqrt", thrower, nullptr));
        const Caught error = caught([&] { sqrt(a); });
        CHECK(error.status == Status::plugin_fault);
        CHECK(error.function == "core.sqrt");
        CHECK(contains(error.text, "wrapper exploded"));
        CHECK_MESSAGE(contains(error.text, "or one of the interposers"), error.text);
    }
    {
        const Pushed pushed(push_interposer("core.sqrt", nonsense, nullptr));
        CHECK(contains(caught([&] { sqrt(a); }).text,
                       "the plugin, or one of the interposers around it (Atoll::chain() lists "
                       "them), returned status 777, which does not exist"));
    }
    // Where nobody can be told: a destructor.
    {
        const Pushed pushed(push_interposer("device.free", thrower, nullptr));
        { const Tensor gone = full({4}, 4.0, {float64, where}); }
    }
    CHECK(sqrt(a).to_vector<double>() == std::vector<double>(4, 2.0));
    check_cpu_works();
}

TEST_CASE("push, pop, load and retire from inside a call are refused") {
    const Device where = cpu();
    const Tensor a = full({4}, 4.0, {float64, where});
    struct Inside {
        InterposerHandle self = 0;
        std::vector<Caught> errors;
    } inside;
    const auto misbehave = +[](const atoll_link *self, atoll_call *call) -> std::int32_t {
        auto &state = *static_cast<Inside *>(self->ctx);
        state.errors = {caught([] { push_interposer("*", pass_on, nullptr); }),
                        caught([] { push_interposer("*", "trace"); }),
                        caught([&] { pop_interposer(state.self); }),
                        caught([&] { interposer_report(state.self); }),
                        caught([] { interposers(); }),
                        caught([] { chain("core.add", "cpu"); }),
                        caught([] { load_plugin("dummy"); }),
                        caught([] { load_all_plugins(); }),
                        caught([] { load_report(); }),
                        caught([] { retire_plugin("cpu"); })};
        return self->next->fn(self->next, call);
    };
    inside.self = push_interposer("core.sqrt", misbehave, &inside);
    CHECK(sqrt(a).to_vector<double>() == std::vector<double>(4, 2.0));
    REQUIRE(inside.errors.size() == 10);
    for (const Caught &error : inside.errors) {
        CHECK(error.status == Status::busy);
        CHECK(contains(error.text, "from inside a call"));
        CHECK(contains(error.text, "do it after the call has returned"));
    }
    CHECK(interposers().size() == 1);
    pop_interposer(inside.self);
}

TEST_CASE("pop waits for the calls that are inside") {
    const Device where = cpu();
    // The first call through stops inside until it is let go, the others pass.
    struct Gate {
        std::mutex mutex;
        std::condition_variable changed;
        bool open = false;
        std::atomic<int> calls{0};
        std::atomic<bool> left{false};
    } gate;
    const auto blocking = +[](const atoll_link *self, atoll_call *call) -> std::int32_t {
        auto &g = *static_cast<Gate *>(self->ctx);
        if (g.calls.fetch_add(1) == 0) {
            std::unique_lock lock(g.mutex);
            g.changed.wait(lock, [&] { return g.open; });
            g.left = true;
        }
        return self->next->fn(self->next, call);
    };
    const InterposerHandle handle = push_interposer("core.sqrt", blocking, &gate);
    const Tensor probe = full({2}, 9.0, {float64, where});
    std::vector<double> result;
    std::thread caller([&] {
        result = sqrt(full({2}, 4.0, {float64, where})).to_vector<double>();
    });
    while (gate.calls == 0) std::this_thread::yield();
    std::atomic<bool> popped{false};
    bool left_before_pop = false;
    std::thread popper([&] {
        pop_interposer(handle);
        left_before_pop = gate.left;
        popped = true;
    });
    // It is out of the slot before the pop has returned: calls pass it by.
    for (int before = -1; before != gate.calls;) {
        before = gate.calls;
        sqrt(probe);
    }
    for (int i = 0; i < 1000; ++i) {
        if (!(sqrt(probe).to_vector<double>() == std::vector<double>(2, 3.0))) FAIL("wrong values");
        std::this_thread::yield();
    }
    CHECK_FALSE(popped);
    {
        const std::lock_guard lock(gate.mutex);
        gate.open = true;
    }
    gate.changed.notify_all();
    caller.join();
    popper.join();
    CHECK(popped);
    CHECK(left_before_pop);
    CHECK(result == std::vector<double>(2, 2.0));
}

TEST_CASE("a plugin replaces one function for one dtype") {
    const Device where = cpu();
    const Tensor four = full({5}, 4.0, {float64, where}), nine = full({5}, 9.0, {float64, where});
    const auto values = [](const Tensor &t) { return t.to_doubles(); };
    const std::vector<double> replaced(5, -1.0), two(5, 2.0), three(5, 3.0);
    Counter counter;
    const Pushed pushed(push_interposer("*", Counter::count, &counter));
    const auto copies = [&](auto &&call) {
        const int before = counter.calls("core.copy");
        call();
        return counter.calls("core.copy") - before;
    };
    const Tensor strided = full({10}, 9.0, {float64, where})(range(0, 10, 2));
    const Tensor swapped = nine.clone().byteswap();
    CHECK(copies([&] { CHECK(values(sqrt(strided)) == three); }) == 0);
    CHECK(copies([&] { sqrt(swapped); }) == 0);
    CHECK(copies([&] { sqrt(full({5}, 9, {int32, where})); }) == 0);

    SUBCASE("altogether") {
        const PluginReport report = load_plugin(test_plugin("override"));
        CHECK(report.implements == std::vector<std::string>{"core for cpu"});
        CHECK(chain("core.sqrt", "cpu", "float64") ==
              std::vector<std::string>{"interposer application",
                                       "implementation of plugin override",
                                       "implementation of plugin cpu", "stub"});
        CHECK(values(sqrt(nine)) == replaced);
        CHECK(values(sqrt(full({5}, 9.0, {float32, where}))) == three);
        CHECK(values(square(nine)) == std::vector<double>(5, 81.0));
        // It declares nothing: the host brings operands into the plain form.
        CHECK(copies([&] { CHECK(values(sqrt(strided)) == replaced); }) == 1);
        CHECK(copies([&] { CHECK(values(sqrt(swapped)) == replaced); }) == 1);
        CHECK(copies([&] { CHECK(values(sqrt(full({5}, 9, {int32, where}))) == replaced); }) == 1);
        const Tensor out = full({10}, 0.0, {float64, where})(range(0, 10, 2));
        CHECK(copies([&] { sqrt(nine, out); }) == 1);
        CHECK(values(out) == replaced);
        // Of attributes it knows none: those with their defaults make no difference to it.
        CHECK(max(nine).item().to_double() == -1);
        const char *unknown = "does not know the attribute skip_nan";
        CHECK(contains(caught([&] { max(nine, {}, {.skip_nan = true}); }).text, unknown));
        CHECK(contains(caught([&] { max(nine, 0, {.skip_nan = true}); }).text, unknown));
        const std::vector<FunctionSupport> support = Function("core.sqrt").support();
        REQUIRE(support.size() == 1);
        CHECK(support[0].dtypes.size() == 7);
        retire_plugin("override");
    }
    SUBCASE("passing on what it does not handle") {
        load_plugin(test_plugin("override_forwards"));
        CHECK(values(sqrt(four)) == replaced);
        CHECK(values(sqrt(nine)) == three);
        // What both take stays as it is, what only the cpu takes is converted.
        CHECK(copies([&] { CHECK(values(sqrt(strided)) == three); }) == 0);
        CHECK(copies([&] { CHECK(values(sqrt(full({5}, 9, {int32, where}))) == three); }) == 0);
        CHECK(copies([&] { CHECK(values(sqrt(swapped)) == three); }) == 1);
        retire_plugin("override_forwards");
    }
    SUBCASE("the higher priority wins, among equals the newer; retiring restores") {
        load_plugin(test_plugin("override"));
        load_plugin(test_plugin("override_forwards"));
        CHECK(values(sqrt(nine)) == replaced); // passed on to the one below
        // What follows in the chain takes nothing, so neither does the whole.
        CHECK(copies([&] { sqrt(strided); }) == 1);
        retire_plugin("override");
        CHECK(values(sqrt(nine)) == three);
        CHECK(copies([&] { sqrt(strided); }) == 0);
        // The device type itself may go and come below it.
        retire_plugin("override_forwards");
    }
    CHECK(values(sqrt(nine)) == three);
    CHECK(copies([&] { sqrt(strided); }) == 0);
    CHECK(chain("core.sqrt", "cpu", "float64").size() == 3);
}

namespace {
// "name":NUMBER in a line of JSON; -1 if it is not there.
long number(const std::string &line, const std::string &name) {
    const std::size_t at = line.find("\"" + name + "\":");
    return at == std::string::npos ? -1 : std::stol(line.substr(at + name.size() + 3));
}
} // namespace

TEST_CASE("the tracer's counts agree with independent ones") {
    cpu();
    load_plugin("dummy_min"); // takes nothing, so copies and temporaries abound
    load_plugin("trace");
    const Device where = device("dummy_min");
    configure("trace", "format", "json");
    Counter counter;
    const InterposerHandle traced = push_interposer("*@dummy_min", "trace");
    const InterposerHandle counted = push_interposer("*@dummy_min", Counter::count, &counter, 1);
    workload(where);
    {
        const Tensor a = full({3, 4}, 2.0, {float64, where});
        CHECK(caught([&] { add(a, full({7}, 1.0, {float64, where})); }).status != Status::ok);
        CHECK(caught([&] { // an error of the device
                  configure("dummy_min", "fault", "enqueue:negative");
                  negative(a);
              })
                  .status == Status::kernel_failed);
        configure("dummy_min", "fault", "");
        // Exactly known: a transposed operand is copied to a temporary of 12 elements.
        const int copies = counter.entries["core.sqrt"].copies,
                  temporaries = counter.entries["core.sqrt"].temporaries;
        const std::uint64_t bytes = counter.entries["core.sqrt"].temporary_bytes;
        const Tensor out = empty({4, 3}, {float64, where});
        sqrt(a.T(), out);
        CHECK(counter.entries["core.sqrt"].copies == copies + 1);
        CHECK(counter.entries["core.sqrt"].temporaries == temporaries + 1);
        CHECK(counter.entries["core.sqrt"].temporary_bytes == bytes + 96);
    }
    const std::string text = interposer_report(traced);
    pop_interposer(counted);
    pop_interposer(traced);
    std::size_t lines = 0, nonzero = 0;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = text.find('\n', at);
        const std::string line = text.substr(at, end - at);
        at = end + 1;
        if (contains(line, "\"type\":\"trace\"")) CHECK(number(line, "lost") == 0);
        if (!contains(line, "\"type\":\"function\"")) continue;
        const std::size_t name_at = line.find("\"function\":\"", 10) + 12;
        const std::string name = line.substr(name_at, line.find('"', name_at) - name_at);
        CAPTURE(line);
        const Counter::Entry &entry = counter.entries[name];
        CHECK(contains(line, "\"device\":\"dummy_min\""));
        CHECK(number(line, "calls") == entry.calls);
        CHECK(number(line, "inserted") == entry.inserted);
        CHECK(number(line, "errors") == entry.errors);
        CHECK(number(line, "temporaries") == entry.temporaries);
        CHECK(number(line, "temporary_bytes") == static_cast<long>(entry.temporary_bytes));
        CHECK(number(line, "copies") == entry.copies);
        ++lines;
        nonzero += entry.copies > 0;
    }
    CHECK(lines == counter.entries.size());
    CHECK(nonzero >= 3);
    CHECK(counter.entries["core.negative"].errors == 1);
    configure("trace", "format", "");
    retire_plugin("trace");
    retire_plugin("dummy_min");
}

TEST_CASE("a plugin takes its interposers along when it retires") {
    cpu();
    load_plugin(test_plugin("odd"));
    LogCapture log;
    const InterposerHandle first = push_interposer("core.sqrt", "odd_wrap", 3);
    push_interposer("*", "odd_wrap");
    const Pushed own(push_interposer("core.*", pass_on, nullptr, 0, "own"));
    CHECK(interposer_report(first) == "odd report");
    CHECK(interposers().size() == 3);
    CHECK(chain("core.sqrt", "cpu", "float64").front() == "interposer odd_wrap");
    log.take();
    retire_plugin("odd");
    CHECK(log.take() == std::vector<std::string>{"odd: destroyed", "odd: destroyed", "odd: closed",
                                                 "odd: unloaded"});
    CHECK(interposers().size() == 1);
    CHECK(interposers()[0].name == "own");
    CHECK(caught([&] { pop_interposer(first); }).status == Status::not_found);
    CHECK(chain("core.sqrt", "cpu", "float64").front() == "interposer own");
    CHECK(caught([] { push_interposer("*", "odd_wrap"); }).status == Status::not_found);
    check_cpu_works();
}

TEST_CASE("an interposer reads results wherever they are") {
    cpu();
    load_plugin("dummy");
    load_plugin(test_plugin("watcher"));
    for (const char *name : {"cpu", "dummy:0"}) {
        const Device where = device(name);
        const Tensor a = arange(6, {float64, where}).reshape({2, 3});
        const Tensor out = zeros({2, 3}, {float64, where});
        const InterposerHandle watcher = push_interposer("*", "watcher");
        add(a, a);
        CHECK(interposer_report(watcher) == "0 2 4 6 8 10 ; ");
        // Elements in the order of the call's axes, whatever their strides.
        add(a, a.flip(0), out.flip(1));
        std::string seen = interposer_report(watcher);
        CHECK(seen.size() == std::string("1 1 5 5 9 9 ; ").size());
        CHECK(contains(seen, "5 5"));
        sum(a);
        CHECK(contains(interposer_report(watcher), "15 "));
        add(zeros({0}, {float64, where}), 1);
        CHECK(caught([&] { add(a, 13); }).status == Status::refused);
        pop_interposer(watcher);
        CHECK(out(0, all_).to_vector<double>() == std::vector<double>{9, 5, 1});
    }
    retire_plugin("watcher");
}

TEST_CASE("an interposer is told of ranges from its push to its pop, whatever its target") {
    load_plugin("cpu");
    load_plugin(test_plugin("watcher"));
    const Range before("before");
    const InterposerHandle watcher = push_interposer("core.add", "watcher");
    { const Range outer("outer"), inner(std::string("inner")); }
    atoll_range_push("thrown"); // contained
    atoll_range_push(nullptr);
    CHECK(interposer_report(watcher) == "[outer[inner]][thrown[");
    {
        const Range across("across");
        pop_interposer(watcher);
    }
    const InterposerHandle again = push_interposer("core.add", "watcher");
    CHECK(interposer_report(again) == "[across");
    atoll_range_pop();
    atoll_range_pop();
    atoll_range_pop(); // one that nobody pushed
    CHECK(interposer_report(again) == "]]]");
    retire_plugin("watcher");
    const Range after("after");
}

TEST_CASE("interposers come and go while threads open ranges") {
    load_plugin("cpu");
    load_plugin(test_plugin("watcher"));
    std::atomic<bool> stop{false};
    std::atomic<int> started{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([&] {
            ++started;
            while (!stop) const Range range("r");
        });
    while (started < 4) std::this_thread::yield();
    std::size_t told = 0;
    for (int i = 0; i < 50 || told == 0; ++i) {
        const InterposerHandle watcher = push_interposer("core.add", "watcher");
        told += interposer_report(watcher).size();
        pop_interposer(watcher);
    }
    stop = true;
    for (std::thread &thread : threads) thread.join();
    retire_plugin("watcher");
}
