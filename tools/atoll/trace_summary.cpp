// Totals of a trace and its hot list, as JSON.
#include "atoll/dtype_facts.hpp"
#include "trace_output.hpp"

#include <algorithm>
#include <limits>
#include <map>

namespace Atoll::tools {

using namespace trace::timeline;

namespace {

// Saturates, since sums of a damaged file may overflow.
void add(std::int64_t &sum, std::int64_t part) {
    if (__builtin_add_overflow(sum, part, &sum)) sum = std::numeric_limits<std::int64_t>::max();
}

} // namespace

std::vector<HotLine> hot_list(const TraceModel &model) {
    std::map<std::pair<std::string_view, std::string_view>, HotLine> lines;
    const auto line = [&](const NameText &name) -> HotLine & {
        HotLine &found = lines[{name.function, name.device}];
        found.function = name.function;
        found.device = name.device;
        return found;
    };
    for (const TracedCall &call : model.calls) {
        const Record &record = *call.record;
        HotLine &own = line(*call.name);
        own.asynchronous = call.asynchronous;
        ++own.calls;
        own.errors += call.failed();
        add(own.call_ns, call.nanoseconds());
        own.bytes += record.bytes;
        std::int64_t took = call.nanoseconds();
        if (call.execution >= 0) {
            const Execution &execution = model.executions[static_cast<std::size_t>(call.execution)];
            took = execution.end - execution.start;
            ++own.executions;
            add(own.execution_ns, took);
            own.executed_bytes += record.bytes;
        }
        if (!call.has(flag_inserted)) continue;
        ++own.inserted;
        if (!call.parent) continue;
        HotLine &served = line(*call.parent);
        add(served.served_ns, took);
        if (call.function() == "device.allocate") {
            ++served.temporaries;
            served.temporary_bytes += record.bytes;
        } else if (call.function() == "device.transfer") {
            ++served.copies;
            served.copied_bytes += record.bytes;
        } else if (call.function() == "core.copy") {
            ++served.copies;
            // The copied elements, once.
            std::uint64_t bytes = static_cast<std::uint64_t>(sdk::dtype_size(record.dtypes[0]));
            for (const std::int64_t extent : call.shape())
                bytes *= static_cast<std::uint64_t>(extent);
            served.copied_bytes += bytes;
        }
    }
    std::vector<HotLine> sorted;
    for (auto &[key, own] : lines) sorted.push_back(std::move(own));
    std::stable_sort(sorted.begin(), sorted.end(), [](const HotLine &a, const HotLine &b) {
        return a.nanoseconds() > b.nanoseconds();
    });
    return sorted;
}

Json summary_json(const TraceModel &model, const TracedRun &run) {
    Json processes = Json::array(), functions = Json::array();
    for (const TracedProcess &process : model.processes)
        processes.push_back({{"process", process.id},
                             {"calls", process.calls},
                             {"dropped", process.dropped},
                             {"ended_regularly", process.closed},
                             {"file", process.full == 0   ? "complete"
                                      : process.full == 1 ? "at its size limit"
                                                          : "could not grow"}});
    for (const HotLine &line : hot_list(model))
        functions.push_back({{"function", line.function},
                             {"device", line.device},
                             {"asynchronous", line.asynchronous},
                             {"waiting", line.waits()},
                             {"calls", line.calls},
                             {"errors", line.errors},
                             {"inserted", line.inserted},
                             {"executions", line.executions},
                             {"call_ns", line.call_ns},
                             {"execution_ns", line.execution_ns},
                             {"bytes", line.bytes},
                             {"gigabytes_per_second", line.gigabytes_per_second()},
                             {"temporaries", line.temporaries},
                             {"temporary_bytes", line.temporary_bytes},
                             {"copies", line.copies},
                             {"copied_bytes", line.copied_bytes},
                             {"served_ns", line.served_ns}});
    return {{"command", run.command},
            {"exit_status", run.signal ? Json(nullptr) : Json(run.status)},
            {"signal", run.signal ? Json(run.signal) : Json(nullptr)},
            {"seconds", run.seconds},
            {"traced_ns", model.nanoseconds},
            {"calls", model.calls.size()},
            {"dropped", model.dropped()},
            {"threads", model.threads.size()},
            {"streams", model.streams.size()},
            {"executions", model.executions.size()},
            {"processes", std::move(processes)},
            {"functions", std::move(functions)}};
}

} // namespace Atoll::tools
