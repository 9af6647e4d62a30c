// The tracer's timeline in one process: threads that come and go, pushes, retirement, failures.
#include "../core/plugin_tests.hpp"
#include "clock.hpp"
#include "libraries.hpp"
#include "trace_measure.hpp"
#include "trace_model.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <ctime>
#include <set>
#include <thread>

using namespace Atoll;
using namespace plugin_tests;
using tools::TraceModel;

namespace {

// The tracer with a timeline of its own, over everything on the cpu and the simulated accelerator.
class Traced {
public:
    explicit Traced(const std::string &file, const std::string &buffer = "",
                    const std::string &target = "*") {
        for (const char *plugin : {"cpu", "dummy", "trace"}) load_plugin(plugin);
        configure("trace", "timeline", file);
        configure("trace", "buffer_bytes", buffer);
        handle_ = push_interposer(target, "trace");
        configure("trace", "timeline", "");
        configure("trace", "buffer_bytes", "");
    }
    ~Traced() {
        if (handle_) pop();
    }
    Traced(const Traced &) = delete;
    Traced &operator=(const Traced &) = delete;
    void pop() { pop_interposer(std::exchange(handle_, 0)); }
    InterposerHandle handle() const { return handle_; }

private:
    InterposerHandle handle_;
};

std::unique_ptr<TraceModel> read(const std::string &file) {
    auto model = std::make_unique<TraceModel>();
    model->read(file);
    model->finish();
    return model;
}
std::vector<const tools::TracedCall *> calls_to(const TraceModel &model, std::string_view function,
                                                std::string_view device = "cpu") {
    std::vector<const tools::TracedCall *> found;
    for (const tools::TracedCall &call : model.calls)
        if (call.function() == function && call.device_type() == device) found.push_back(&call);
    return found;
}
long calls_of(const TraceModel &model, std::string_view function, std::string_view device = "cpu") {
    return static_cast<long>(calls_to(model, function, device).size());
}

} // namespace

TEST_CASE("threads that end lose nothing, however many and however small their buffers") {
    const Folder folder;
    const std::string file = folder.path + "/t";
    constexpr int threads = 60, calls = 300;
    Traced traced(file, "8192");
    const Tensor a = full({3, 2}, 1.0, {float64, device("cpu")});
    for (int round = 0; round < threads / 4; ++round) {
        std::vector<std::thread> four;
        for (int i = 0; i < 4; ++i)
            four.emplace_back([&] {
                for (int k = 0; k < calls; ++k) (void)sqrt(a);
            });
        for (std::thread &thread : four) thread.join();
    }
    // Whole before the pop, too.
    CHECK(calls_of(*read(file), "core.sqrt") == threads * calls);
    traced.pop();
    const auto model = read(file);
    CHECK(calls_of(*model, "core.sqrt") == threads * calls);
    CHECK(calls_of(*model, "device.free") == threads * calls);
    CHECK(model->dropped() == 0);
    CHECK(model->processes.at(0).closed);
    std::map<std::uint32_t, long> by_thread;
    for (const tools::TracedCall &call : model->calls)
        if (call.function() == "core.sqrt") {
            ++by_thread[call.thread];
            CHECK(call.shape() == std::vector<std::int64_t>{6}); // as the plugin gets it: merged
            CHECK(call.record->bytes == 96);
        }
    // Each under its own name, though they share a few lanes; the kernel may give an id again.
    CHECK(by_thread.size() > threads / 2);
    for (const auto &[thread, count] : by_thread) CHECK(count % calls == 0);
}

TEST_CASE("a deep shape is cut and says so by its rank") {
    const Folder folder;
    Traced traced(folder.path + "/t");
    // Half of each axis: nothing can be merged.

    const std::vector<std::int64_t> four(10, 4);
    const Tensor a = zeros({four.data(), four.size()}, {int8, device("cpu")});
    Tensor view = a;
    for (int axis = 0; axis < 10; ++axis) view = view.slice(axis, 0, 2);
    (void)negative(view);
    traced.pop();
    const auto model = read(folder.path + "/t");
    long found = 0;
    for (const tools::TracedCall &call : model->calls)
        if (call.function() == "core.negative") {
            ++found;
            CHECK(call.record->rank == 10);
            CHECK(call.shape() == std::vector<std::int64_t>(8, 2));
        }
    CHECK(found == 1);
}

TEST_CASE("the tracer retires with a timeline open, and works when it is loaded again") {
    const Folder folder;
    for (int round = 0; round < 3; ++round) {
        const std::string file = folder.path + "/t" + std::to_string(round);
        Traced traced(file);
        const Tensor a = full({4}, 4.0, {float64, device("dummy:0")});
        for (int i = 0; i < 10; ++i) (void)sqrt(a);
        retire_plugin("trace"); // pops
        CHECK(caught([&] { traced.pop(); }).status == Status::not_found);
        (void)sqrt(a);
        CHECK(a.to_doubles() == std::vector<double>(4, 4.0));
        const auto model = read(file);
        CHECK(calls_of(*model, "core.sqrt", "dummy") == 10);
        CHECK(model->processes.at(0).closed);
        long executed = 0;
        for (const tools::Execution &execution : model->executions)
            executed += model->calls[execution.call].function() == "core.sqrt";
        CHECK(executed == 10);
    }
}

TEST_CASE("two pushes record each for itself and take the callbacks of the other for none") {
    const Folder folder;
    const std::string pattern = folder.path + "/t-%p",
                      file = folder.path + "/t-" + std::to_string(::getpid());
    {
        Traced outer(pattern), inner(pattern);
        const Tensor a = full({4}, 4.0, {float64, device("dummy:0")});
        (void)sqrt(a).to_doubles();
    }
    for (const std::string &name : {file, file + "-2"}) {
        const auto model = read(name);
        CHECK(calls_of(*model, "core.sqrt", "dummy") == 1);
        CHECK(calls_of(*model, "device.host_callback", "dummy") == 0);
        CHECK(model->executions.size() >= 3); // fill, sqrt, transfer
    }
}

TEST_CASE("a failed call is recorded with its status, and what is thrown goes through") {
    const Folder folder;
    Traced traced(folder.path + "/t");
    const Device cpu = device("cpu");
    const Tensor a = full({4}, 4.0, {float64, cpu});
    const InterposerHandle thrower = push_interposer(
        "core.sqrt",
        +[](const atoll_link *, atoll_call *) -> std::int32_t {
            throw std::runtime_error("wrapper exploded");
        },
        nullptr, -1);
    const Caught error = caught([&] { sqrt(a); });
    CHECK(error.status == Status::plugin_fault);
    CHECK(contains(error.text, "wrapper exploded"));
    pop_interposer(thrower);
    configure("dummy", "fault", "enqueue:negative");
    CHECK(caught([&] {
              negative(full({4}, 1.0, {float64, device("dummy:0")}));
          }).status == Status::kernel_failed);
    configure("dummy", "fault", "");
    traced.pop();
    const auto model = read(folder.path + "/t");
    long failed = 0;
    for (const tools::TracedCall &call : model->calls)
        if (call.status() != 0) {
            ++failed;
            CHECK(call.execution < 0);
            CHECK(call.status() == static_cast<int>(call.device_type() == "cpu"
                                                        ? Status::plugin_fault
                                                        : Status::kernel_failed));
        }
    CHECK(failed == 2);
}

TEST_CASE("a call of more ticks than 32 bits hold keeps its length, alone and with all else") {
    const Folder folder;
    Traced traced(folder.path + "/t");
    const Device dummy = device("dummy:1");
    const Stream stream = dummy.new_stream();
    const Tensor a = full({4}, 4.0, {float64, dummy, stream}),
                 plain = full({4}, 4.0, {float64, device("cpu")});
    // At most 4.3 s, where a tick is a nanosecond.
    static std::int64_t slept[2]; // by the device's index
    const InterposerHandle sleeper = push_interposer(
        "core.sqrt",
        +[](const atoll_link *self, atoll_call *call) -> std::int32_t {
            const tracing::Clock clock;
            const std::uint64_t start = clock.now();
            while (clock.now() - start <= ~std::uint32_t{0})
                std::this_thread::sleep_for(std::chrono::milliseconds(50));
            slept[call->device] = static_cast<std::int64_t>(clock.elapsed_ns());
            return call->device == 1 ? ATOLL_STATUS_KERNEL_FAILED
                                     : self->next->fn(self->next, call);
        },
        nullptr, -1);
    std::thread other([&] { (void)sqrt(plain); });
    CHECK(caught([&] { sqrt(a); }).status == Status::kernel_failed);
    other.join();
    pop_interposer(sleeper);
    traced.pop();
    const auto model = read(folder.path + "/t");
    REQUIRE(calls_of(*model, "core.sqrt", "dummy") == 1);
    REQUIRE(calls_of(*model, "core.sqrt") == 1);
    for (const tools::TracedCall &call : model->calls)
        if (call.function() == "core.sqrt") {
            const bool alone = call.device() == "cpu:0";
            CHECK(call.nanoseconds() >= slept[alone ? 0 : 1]);
            CHECK(call.nanoseconds() < 2 * slept[alone ? 0 : 1]);
            CHECK((call.stream() == 0) == alone);
            CHECK(call.status() == (alone ? ATOLL_STATUS_OK : ATOLL_STATUS_KERNEL_FAILED));
            if (!alone) CHECK(call.device() == "dummy:1");
            CHECK(call.shape() == std::vector<std::int64_t>{4});
        }
}

TEST_CASE("a record keeps what few records have, each thing alone") {
    const Folder folder;
    Traced traced(folder.path + "/t");
    const Device cpu = device("cpu"), first = device("dummy:0"), second = device("dummy:1");
    const Stream stream = first.new_stream();
    (void)empty({4}, {float64, second}); // its device
    stream.synchronize();                // its stream
    const Event event = first.default_stream().record();
    const auto answering = [](const char *target, auto answer) {
        return push_interposer(target, answer, nullptr, -1);
    };
    const InterposerHandle late = answering(
        "device.event_query",
        +[](const atoll_link *, atoll_call *) -> std::int32_t { return ATOLL_STATUS_NOT_READY; });
    CHECK_FALSE(event.done()); // its event, and a status that is no failure
    pop_interposer(late);
    event.synchronize(); // its event
    const InterposerHandle fails = answering(
        "core.sqrt@cpu", +[](const atoll_link *, atoll_call *) -> std::int32_t {
            return ATOLL_STATUS_KERNEL_FAILED;
        });
    const Tensor a = full({4}, 4.0, {float64, cpu});
    CHECK(caught([&] { sqrt(a); }).status == Status::kernel_failed); // its status
    pop_interposer(fails);
    traced.pop();
    const auto model = read(folder.path + "/t");
    const auto allocations = calls_to(*model, "device.allocate", "dummy");
    CHECK(std::count_if(allocations.begin(), allocations.end(), [](const auto *call) {
              return call->device() == "dummy:1" && !call->failed();
          }) == 1);
    const auto waits = calls_to(*model, "device.stream_synchronize", "dummy");
    CHECK(std::count_if(waits.begin(), waits.end(),
                        [](const auto *call) { return call->stream() != 0; }) == 1);
    const auto questions = calls_to(*model, "device.event_query", "dummy"),
               waited = calls_to(*model, "device.event_synchronize", "dummy");
    REQUIRE(questions.size() == 1);
    CHECK(questions[0]->status() == ATOLL_STATUS_NOT_READY);
    CHECK_FALSE(questions[0]->failed());
    REQUIRE(waited.size() == 1);
    CHECK(waited[0]->handle() != 0);
    CHECK(waited[0]->handle() == questions[0]->handle());
    const auto roots = calls_to(*model, "core.sqrt");
    REQUIRE(roots.size() == 1);
    CHECK(roots[0]->failed());
}

TEST_CASE("ranges nest on their thread, and end with it at the latest") {
    const Folder folder;
    const Tensor a = [] {
        load_plugin("cpu");
        return full({4}, 4.0, {float64, device("cpu")});
    }();
    constexpr int deep = 100; // more than have totals
    {
        atoll_range_push("before the push");
        Traced traced(folder.path + "/t", "", "core.*");
        atoll_range_pop();
        {
            const Range outer("outer");
            for (int i = 0; i < 3; ++i) {
                const Range inner("inner");
                (void)sqrt(a);
            }
            std::thread([&] {
                atoll_range_push("left open");
                (void)sqrt(a);
            }).join();
            std::thread([&] {
                const Range next("next thread"); // in the same lane of the file
                (void)sqrt(a);
            }).join();
            (void)sqrt(a);
        }
        for (int i = 0; i < deep; ++i) atoll_range_push("deep");
        (void)sqrt(a);
        for (int i = 0; i < deep; ++i) atoll_range_pop();
        const Range long_name(std::string(1000, 'x'));
        { const Range none(nullptr); }
        for (int i = 0; i < 300; ++i) const Range many("many " + std::to_string(i));
        traced.pop();
    }
    const auto model = read(folder.path + "/t");
    std::map<std::string, long> count;
    const tools::TracedRange *outer = nullptr, *left = nullptr, *next = nullptr;
    for (const tools::TracedRange &range : model->ranges) {
        ++count[std::string(range.name)];
        CHECK(range.start <= range.end);
        CHECK(range.open == (range.name == "left open" || range.name[0] == 'x'));
        if (range.name == "outer") outer = &range;
        if (range.name == "left open") left = &range;
        if (range.name == "next thread") next = &range;
    }
    CHECK(count["before the push"] == 0);
    CHECK(count["outer"] == 1);
    CHECK(count["inner"] == 3);
    CHECK(count["deep"] == deep);
    CHECK(count["(no name)"] == 1);
    CHECK(count[std::string(255, 'x')] == 1);
    REQUIRE(outer);
    REQUIRE(left);
    REQUIRE(next);
    CHECK(left->end <= next->start);
    CHECK(next->depth == 0);
    std::uint32_t deepest = 0;
    for (const tools::TracedRange &range : model->ranges) {
        if (range.name == "deep") deepest = std::max(deepest, range.depth);
        if (range.name != "inner") continue;
        CHECK(range.depth == outer->depth + 1);
        CHECK(range.thread == outer->thread);
        CHECK(range.start >= outer->start);
        CHECK(range.end <= outer->end);
    }
    CHECK(deepest >= deep - 1);
    std::map<std::string, tools::RangeUse> uses;
    for (const tools::RangeUse &use : range_use(*model)) uses[use.name] = use;
    CHECK(uses.at("outer").calls == 4); // those of its thread
    CHECK(uses.at("inner").calls == 3);
    CHECK(uses.at("inner").count == 3);
    CHECK(uses.at("inner").ns <= uses.at("outer").ns);
    CHECK(uses.at("inner").call_ns <= uses.at("inner").ns);
    CHECK(uses.at("left open").count == 1);
    CHECK(uses.at("left open").calls == 1);
    CHECK(uses.at("(other ranges)").count > 100);
    CHECK(uses.at("deep").calls >= 1);
}

TEST_CASE("a stream whose handle was destroyed and given to another is another stream") {
    const Folder folder;
    Traced traced(folder.path + "/t");
    const Device dummy = device("dummy:0");
    constexpr int streams = 40;
    for (int i = 0; i < streams; ++i) {
        const Stream stream = dummy.new_stream();
        (void)full({4}, 1.0, {float64, dummy, stream});
        stream.synchronize();
    }
    traced.pop();
    const auto model = read(folder.path + "/t");
    std::vector<long> executions(model->streams.size());
    for (const tools::Execution &execution : model->executions) ++executions[execution.stream];
    long own = 0;
    std::set<std::uint32_t> numbers;
    for (std::size_t i = 0; i < model->streams.size(); ++i)
        if (model->streams[i].handle != 0) {
            ++own;
            CHECK(executions[i] == 1);
            numbers.insert(model->streams[i].number);
        }
    CHECK(own == streams);
    CHECK(numbers.size() == streams);
}

TEST_CASE("percentiles are lengths that occur") {
    std::vector<std::int64_t> lengths;
    for (std::int64_t i = 1000; i > 0; --i) lengths.push_back(i * 7);
    const tools::Spread spread = tools::spread_of(lengths);
    CHECK(spread.min == 7);
    CHECK(spread.p50 == 3500);
    CHECK(spread.p99 == 6930);
    CHECK(spread.max == 7000);
    std::vector<std::int64_t> one{5}, none;
    CHECK(tools::spread_of(one).p99 == 5);
    CHECK(tools::spread_of(none).max == 0);
}

TEST_CASE("the use of devices: neither a wait in a queue nor managing memory is work") {
    TraceModel model;
    const auto named = [](const char *function, const char *device, bool asynchronous) {
        tracing::Names names{};
        std::strcpy(names.function, function);
        std::strcpy(names.device, device);
        names.asynchronous = asynchronous;
        return names;
    };
    static const tracing::Names work = named("core.add", "dummy", true),
                                copy = named("device.transfer", "dummy", true),
                                wait = named("device.event_wait", "dummy", true),
                                mark = named("device.event_record", "dummy", true),
                                free = named("device.free", "cpu", false),
                                host = named("core.add", "cpu", false);
    static const tracing::timeline::Record plain{};
    model.processes.push_back({7, 0, 0, 0, true, 0, {}});
    model.threads.push_back({0, 1, "main"});
    const auto call = [&](const tracing::Names &name, std::int64_t start, std::int64_t end,
                          std::int64_t executed_from = -1, std::int64_t executed_to = -1) {
        tools::TracedCall added{};
        added.record = &plain;
        added.name = &name;
        added.asynchronous = name.asynchronous;
        added.start = start;
        added.end = end;
        if (executed_from >= 0) {
            added.execution = static_cast<std::int64_t>(model.executions.size());
            model.executions.push_back(
                {executed_from, executed_to, 0, model.calls.size(), 0, false, 0});
        }
        model.calls.push_back(added);
    };
    call(work, 0, 1, 10, 20);
    call(work, 1, 2, 15, 30);
    call(copy, 2, 3, 25, 45);
    call(wait, 3, 4, 45, 900);
    call(mark, 4, 5, 900, 950);
    call(host, 5, 8);
    call(free, 8, 50);
    const std::vector<tools::DeviceUse> uses = device_use(model);
    REQUIRE(uses.size() == 2);
    CHECK(uses[0].device == "cpu:0");
    CHECK(uses[0].busy_ns == 3);
    CHECK(uses[1].device == "dummy:0");
    CHECK(uses[1].work_ns == 10 + 15 + 20);
    CHECK(uses[1].busy_ns == 35);
    CHECK(uses[1].overlap_ns == 10);
    CHECK(uses[1].transfer_ns == 20);
    CHECK(uses[1].hidden_ns == 5);
    const auto spread = spreads(model);
    CHECK(spread.at({"core.add", "dummy"}).max == 15);
    CHECK(spread.at({"device.free", "cpu"}).min == 42);
}

TEST_CASE("memory over time is what was allocated and not freed, with its peak") {
    const Folder folder;
    Traced traced(folder.path + "/t");
    {
        const Device dummy = device("dummy:1");
        const Tensor a = empty({1000}, {float64, dummy});
        for (int i = 0; i < 200; ++i) (void)empty({500}, {float64, dummy});
        { const Tensor b = empty({3000}, {float64, dummy}); }
        for (int i = 0; i < 200; ++i) (void)empty({500}, {float64, dummy});
    }
    traced.pop();
    const auto model = read(folder.path + "/t");
    for (const std::size_t points : {10'000u, 20u}) {
        const auto uses = memory_use(*model, points);
        const auto use = std::find_if(uses.begin(), uses.end(),
                                      [](const auto &own) { return own.device == "dummy:1"; });
        REQUIRE(use != uses.end());
        CHECK(use->peak >= 32'000);
        CHECK(use->peak < 40'000);
        CHECK(use->steps.back().second == 0);
        CHECK(use->steps.size() <= points + 2);
        std::int64_t most = 0, before = -1;
        for (const auto &[time, bytes] : use->steps) {
            CHECK(time >= before);
            CHECK(bytes >= 0);
            before = time;
            most = std::max(most, bytes);
        }
        CHECK(most == use->peak);
    }
}

TEST_CASE("libraries keep what is said of them in a file, and two copies are warned of") {
    const libraries::Library first{"OpenBLAS", "/a/libopenblas.so.0", "0.3", "12ab", {"x", "y"}},
        second{"OpenBLAS", "/b/libopenblas.so.0", "", "", {}};
    const std::string text = libraries::packed({first, second});
    const auto again = libraries::unpacked(text);
    REQUIRE(again.size() == 2);
    CHECK(again[0].path == first.path);
    CHECK(again[0].needed_by == first.needed_by);
    CHECK(again[1].kind == second.kind);
    CHECK(again[1].build_id.empty());
    CHECK(again[1].needed_by.empty());
    CHECK(libraries::unpacked(text.substr(0, text.size() - 3)).size() == 1);
    CHECK(libraries::warnings({first}).empty());
    REQUIRE(libraries::warnings(again).size() == 1);
    CHECK(contains(libraries::table(again), "warning: two copies of OpenBLAS are loaded"));
    // A loader and what it loads are no two copies.
    CHECK(libraries::warnings(
              {{"MKL", "/libmkl_core.so", "", "", {}}, {"MKL loader", "/libmkl_rt.so", "", "", {}}})
              .empty());
    CHECK(libraries::detail::kind_of("libmkl_rt.so.2")->name !=
          libraries::detail::kind_of("libmkl_core.so.2")->name);
}

TEST_CASE("bad settings are refused where the tracer is pushed") {
    load_plugin("cpu");
    load_plugin("trace");
    const auto refused = [](const char *key, const char *value, const char *text) {
        configure("trace", key, value);
        const Caught error = caught([] { push_interposer("*", "trace"); });
        configure("trace", key, "");
        CHECK(error.status == Status::invalid_argument);
        CHECK_MESSAGE(contains(error.text, text), error.text);
    };
    refused("timeline", "/no/such/folder/file", "cannot open '/no/such/folder/file': No such file");
    refused("timeline", "/", "cannot open '/'");
    refused("buffer_bytes", "many", "got 'many', need a number");
    refused("timeline_bytes", "-1", "got '-1'");
    CHECK(interposers().empty());
}

TEST_CASE("what is no timeline is refused, and damage does no harm") {
    const Folder folder;
    const auto text = [](auto &&body) {
        try {
            body();
        } catch (const std::runtime_error &e) {
            return std::string(e.what());
        }
        return std::string();
    };
    CHECK(contains(text([&] { read(folder.file("short", "x")); }), "is not a timeline file"));
    CHECK(contains(text([&] { read(folder.file("other", std::string(90'000, 'x'))); }),
                   "is not a timeline file"));
    CHECK(contains(text([&] { read(folder.path + "/none"); }), "No such file"));
    {
        Traced traced(folder.path + "/t", "8192");
        const Tensor a = full({4}, 4.0, {float64, device("dummy:0")});
        for (int i = 0; i < 50; ++i) (void)sqrt(a);
    }
    std::ifstream in(folder.path + "/t", std::ios::binary);
    const std::string good{std::istreambuf_iterator<char>(in), {}};
    CHECK(calls_of(*read(folder.path + "/t"), "core.sqrt", "dummy") == 50);
    // Cut anywhere, and with any byte changed behind the magic and the version.
    std::uint64_t state = 1;
    const auto draw = [&](std::size_t n) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        return static_cast<std::size_t>(state >> 33) % n;
    };
    constexpr std::size_t header = tracing::timeline::header_bytes;
    long most = 0;
    for (int i = 0; i < 300; ++i) {
        std::string bad = good;
        if (i % 3 == 0) bad.resize(header + draw(good.size() - header));
        if (i % 3 != 1) bad[12 + draw(100)] = static_cast<char>(draw(256));
        if (i % 3 != 0) bad[header + draw(good.size() - header)] = static_cast<char>(draw(256));
        const auto model = read(folder.file("bad", bad));
        most = std::max(most, static_cast<long>(model->calls.size()));
        for (const tools::TracedCall &call : model->calls) (void)call.shape();
    }
    CHECK(most > 50);
}

// Threads call a function while others are pushed over and popped from functions that they do not
// call; what their calls cost them is their own processor time, alternating with and without.
TEST_CASE("pushing and popping costs running threads nothing that can be measured") {
    load_plugin("cpu");
    load_plugin("trace");
    const Device cpu = device("cpu");
    constexpr int threads = 8, calls = 4000;
    const auto processor_time = [&] {
        std::atomic<long> sum{0};
        std::vector<std::thread> all;
        for (int i = 0; i < threads; ++i)
            all.emplace_back([&] {
                const Tensor a = full({1}, 1.5, {float32, cpu}), b = empty({1}, {float32, cpu});
                const auto now = [] {
                    timespec t{};
                    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
                    return t.tv_sec * 1'000'000'000L + t.tv_nsec;
                };
                const long start = now();
                for (int k = 0; k < calls; ++k) add(a, a, b);
                sum += now() - start;
            });
        for (std::thread &thread : all) thread.join();
        return static_cast<double>(sum);
    };
    double quiet = 1e30, pushed = 1e30;
    std::atomic<long> pushes{0};
    for (int round = 0; round < 12; ++round) {
        quiet = std::min(quiet, processor_time());
        std::atomic<bool> stop{false};
        std::thread pusher([&] {
            do { // at least once, however late it starts
                pop_interposer(push_interposer("core.sqrt", "trace"));
                ++pushes;
                const timespec pause{0, 200'000};
                ::nanosleep(&pause, nullptr);
            } while (!stop);
        });
        pushed = std::min(pushed, processor_time());
        stop = true;
        pusher.join();
    }
    INFO(pushes, " pushes; ratio ", pushed / quiet);
    CHECK(pushes >= 12);
    CHECK(pushed < 1.5 * quiet);
}
