// Totals of a trace and its hot list, as JSON.
#include "reasons.hpp"
#include "trace_output.hpp"

#include <algorithm>

namespace Atoll::tools {

Served HotLine::all_served() const {
    Served sum;
    for (const auto &[reasons, part] : served) {
        sum.temporaries += part.temporaries;
        sum.temporary_bytes += part.temporary_bytes;
        sum.copies += part.copies;
        sum.copied_bytes += part.copied_bytes;
        add_saturated(sum.nanoseconds, part.nanoseconds);
    }
    return sum;
}

std::vector<HotLine> hot_list(const TraceModel &model) {
    auto lines = model.totals;
    for (const Execution &execution : model.executions) {
        if (execution.shortened == 0) continue;
        const TracedCall &call = model.calls[execution.call];
        const auto line = [&](const trace::Names &name) -> HotLine & {
            return lines[{std::string(text_of(name.function)), std::string(text_of(name.device))}];
        };
        add_saturated(line(*call.name).execution_ns, -execution.shortened);
        if (call.parent)
            add_saturated(line(*call.parent).served[call.reasons].nanoseconds,
                          -execution.shortened);
    }
    std::vector<HotLine> sorted;
    for (auto &[key, own] : lines) sorted.push_back(std::move(own));
    std::stable_sort(sorted.begin(), sorted.end(), [](const HotLine &a, const HotLine &b) {
        return a.nanoseconds() > b.nanoseconds();
    });
    return sorted;
}

namespace {

Json served_json(const Served &served) {
    return {{"temporaries", served.temporaries},
            {"temporary_bytes", served.temporary_bytes},
            {"copies", served.copies},
            {"copied_bytes", served.copied_bytes},
            {"served_ns", served.nanoseconds}};
}

} // namespace

Json summary_json(const TraceModel &model, const TracedRun &run) {
    Json processes = Json::array(), functions = Json::array();
    std::uint64_t executions = 0;
    for (const TracedProcess &process : model.processes)
        processes.push_back({{"process", process.id},
                             {"calls", process.calls},
                             {"dropped", process.dropped},
                             {"uncounted", process.uncounted},
                             {"ended_regularly", process.closed},
                             {"file", process.full == 0   ? "complete"
                                      : process.full == 1 ? "at its size limit"
                                                          : "could not grow"}});
    for (const HotLine &line : hot_list(model)) {
        executions += line.executions;
        Json served = Json::array();
        for (const auto &[reasons, part] : line.served) {
            served.push_back(served_json(part));
            served.back()["because"] = trace::reasons_text(reasons);
        }
        functions.push_back({{"function", line.function},
                             {"device", line.device},
                             {"asynchronous", line.asynchronous},
                             {"waiting", line.waits()},
                             {"calls", line.calls},
                             {"errors", line.errors},
                             {"inserted", line.inserted},
                             {"executions", line.executions},
                             {"call_ns", line.call_ns},
                             {"min_ns", line.min_ns},
                             {"max_ns", line.max_ns},
                             {"execution_ns", line.execution_ns},
                             {"bytes", line.bytes},
                             {"gigabytes_per_second", line.gigabytes_per_second()},
                             {"served", std::move(served)}});
        functions.back().update(served_json(line.all_served()));
    }
    return {{"command", run.command},
            {"exit_status", run.signal ? Json(nullptr) : Json(run.status)},
            {"signal", run.signal ? Json(run.signal) : Json(nullptr)},
            {"seconds", run.seconds},
            {"traced_ns", model.nanoseconds},
            {"calls", model.all_calls()},
            {"dropped", model.dropped()},
            {"threads", model.threads.size()},
            {"streams", model.streams.size()},
            {"executions", executions},
            {"processes", std::move(processes)},
            {"advice", advice(model, run)},
            {"functions", std::move(functions)}};
}

} // namespace Atoll::tools
