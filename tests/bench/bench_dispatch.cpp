// What the core and the tracer add to a kernel: the slot, a no-op interposer, counting, recording.
// Prints a table (or JSON with --json); asserts nothing, since absolute times do not hold on shared
// machines. Whole calls are measured by `atoll bench 'o*'`.
#include "atoll/atoll.hpp"
#include "clock.hpp"
#include "runtime/dispatch.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

#include <fmt/format.h>

using namespace Atoll;

namespace {

volatile std::uint64_t sink;

struct Row {
    std::string id, what;
    double nanoseconds;
};

// Best of many rounds: the least disturbed one.
template <class Body> double best_time(Body body) {
    constexpr int calls = 20'000, rounds = 60;
    double best = 1e30;
    for (int round = 0; round < rounds; ++round) {
        const auto start = std::chrono::steady_clock::now();
        for (int i = 0; i < calls; ++i) body();
        const std::chrono::duration<double, std::nano> time =
            std::chrono::steady_clock::now() - start;
        best = std::min(best, time.count() / calls);
    }
    return best;
}

std::int32_t pass_on(const atoll_link *self, atoll_call *call) {
    return self->next->fn(self->next, call);
}

// Keeps a call as a backend gets it, so that it can be made again.
struct Captured {
    const atoll_link *link = nullptr;
    atoll_call call;
    std::vector<atoll_operand> operands;
    std::vector<std::vector<std::int64_t>> strides;
    std::vector<std::int64_t> shape;
    char text[256];
    atoll_error error;
};

std::int32_t capture(const atoll_link *self, atoll_call *call) {
    auto &kept = *static_cast<Captured *>(self->ctx);
    kept.link = self->next;
    kept.call = *call;
    kept.operands.assign(call->operands, call->operands + call->operand_count);
    kept.shape.assign(call->shape, call->shape + call->rank);
    for (atoll_operand &operand : kept.operands) {
        kept.strides.emplace_back(operand.strides, operand.strides + call->rank);
        operand.strides = kept.strides.back().data();
    }
    kept.error = *call->error;
    kept.error.text = kept.text;
    kept.error.capacity = sizeof kept.text;
    kept.call.operands = kept.operands.data();
    kept.call.shape = kept.shape.data();
    kept.call.error = &kept.error;
    return self->next->fn(self->next, call);
}

} // namespace

int main(int argc, char **argv) try {
    const bool json = argc > 1 && std::strcmp(argv[1], "--json") == 0;
    load_plugin("cpu");
    const Device cpu = device("cpu");
    const Tensor a = full({1}, 1.5, {float32, cpu}), b = full({1}, 2.0, {float32, cpu});
    const Tensor c = empty({1}, {float32, cpu});
    std::vector<Row> rows;
    const auto measure = [&](const char *id, const char *what, auto body) {
        rows.push_back({id, what, best_time(body)});
        return rows.back().nanoseconds;
    };

    Captured kept;
    const InterposerHandle capturing = push_interposer("core.add@cpu", capture, &kept);
    add(a, b, c);
    pop_interposer(capturing);
    const detail::DeviceTypeRecord &type = *cpu.record()->type;
    // The link captured above went with its chain: take the live one.
    const detail::FunctionRecord &function = *detail::Registry::get().find_function("core.add");
    kept.link = &type.chain(function, ATOLL_DTYPE_FLOAT32)->links[0];
    const double direct = measure("d1.direct", "direct call of the kernel function",
                                  [&] { kept.link->fn(kept.link, &kept.call); });
    const auto through_slot = [&] {
        const detail::ReadSection section;
        type.chain(function, ATOLL_DTYPE_FLOAT32)->call(kept.call);
    };
    const double dispatched = measure("d1.dispatched", "the same through its slot", through_slot);
    const InterposerHandle handle = push_interposer("core.add", pass_on, nullptr);
    const double interposed =
        measure("d1.interposed", "the same with a no-op interposer", through_slot);
    pop_interposer(handle);
    load_plugin("trace");
    // The tracer with some settings, over this function.
    const auto measure_tracer = [&](const char *id, const char *what, auto... settings) {
        (configure("trace", settings.first, settings.second), ...);
        const InterposerHandle tracer = push_interposer("core.add", "trace");
        const double traced = measure(id, what, through_slot);
        pop_interposer(tracer);
        (configure("trace", settings.first, ""), ...);
        return traced;
    };
    using Setting = std::pair<const char *, const char *>;
    const double counted = measure_tracer("d1.counted", "the same with the tracer, counts alone",
                                          Setting("times", "0"));
    const double traced = measure_tracer("d1.traced", "the same with the tracer, counts and times");
    const std::string file = fmt::format("/tmp/bench_dispatch-{}.timeline", ::getpid());
    const double recorded = measure_tracer("d1.recorded", "the same with a record of each call",
                                           Setting("timeline", file.c_str()));
    std::remove(file.c_str());
    const tracing::Clock clock;
    std::uint64_t ticks = 0;
    const double readings = measure("clock", "two readings of the tracer's clock", [&] {
        const std::uint64_t start = clock.now();
        ticks += clock.now() - start;
    });
    sink = ticks;
    rows.push_back({"d1.dispatch_cost", "dispatched - direct", dispatched - direct});
    rows.push_back({"d1.interposer_cost", "interposed - dispatched", interposed - dispatched});
    rows.push_back({"d1.counter_cost", "counted - dispatched", counted - dispatched});
    rows.push_back({"d1.tracer_cost", "traced - dispatched", traced - dispatched});
    rows.push_back({"d1.record_cost", "recorded - dispatched", recorded - dispatched});
    rows.push_back(
        {"d1.record_work", "recorded - dispatched - clock", recorded - dispatched - readings});

    for (const Row &row : rows) {
        if (json)
            fmt::print("{{\"id\":\"{}\",\"ns\":{:.2f}}}\n", row.id, row.nanoseconds);
        else
            fmt::print("{:<20} {:<44} {:>8.1f} ns\n", row.id, row.what, row.nanoseconds);
    }
} catch (const Error &e) {
    fmt::print(stderr, "{}\n", e.what());
    return 1;
}
