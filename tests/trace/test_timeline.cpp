// The tracer's timeline in one process: threads that come and go, pushes, retirement, failures.
#include "../core/plugin_tests.hpp"
#include "clock.hpp"
#include "trace_model.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <ctime>
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
            const trace::Clock clock;
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
    CHECK(waited[0]->event() != 0);
    CHECK(waited[0]->event() == questions[0]->event());
    const auto roots = calls_to(*model, "core.sqrt");
    REQUIRE(roots.size() == 1);
    CHECK(roots[0]->failed());
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
    CHECK(contains(text([&] { read(folder.file("other", std::string(9000, 'x'))); }),
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
    long most = 0;
    for (int i = 0; i < 300; ++i) {
        std::string bad = good;
        if (i % 3 == 0) bad.resize(4096 + draw(good.size() - 4096));
        if (i % 3 != 1) bad[12 + draw(100)] = static_cast<char>(draw(256));
        if (i % 3 != 0) bad[4096 + draw(good.size() - 4096)] = static_cast<char>(draw(256));
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
