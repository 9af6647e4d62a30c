// Totals of a trace and its hot list, as JSON.
#include "reasons.hpp"
#include "trace_measure.hpp"
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
        const auto line = [&](const tracing::Names &name) -> HotLine & {
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

Json ranges_json(const TraceModel &model) {
    Json list = Json::array();
    for (const RangeUse &range : range_use(model))
        list.push_back({{"range", range.name},
                        {"count", range.count},
                        {"ns", range.ns},
                        {"min_ns", range.min_ns},
                        {"p50_ns", range.spread.p50},
                        {"p99_ns", range.spread.p99},
                        {"max_ns", range.max_ns},
                        {"calls", range.calls},
                        {"call_ns", range.call_ns},
                        {"execution_ns", range.execution_ns}});
    return list;
}

Json devices_json(const TraceModel &model) {
    Json list = Json::array();
    for (const DeviceUse &use : device_use(model))
        list.push_back({{"process", model.processes[use.process].id},
                        {"device", use.device},
                        {"work_ns", use.work_ns},
                        {"busy_ns", use.busy_ns},
                        {"overlap_ns", use.overlap_ns},
                        {"transfer_ns", use.transfer_ns},
                        {"hidden_transfer_ns", use.hidden_ns}});
    return list;
}

} // namespace

Json summary_json(const TraceModel &model, const TracedRun &run) {
    Json processes = Json::array(), functions = Json::array(), memory = Json::array(),
         libraries = Json::array(), warnings = Json::array();
    std::uint64_t executions = 0;
    for (const TracedProcess &process : model.processes) {
        for (const libraries::Library &library : process.libraries) {
            libraries.push_back(json_of(library));
            libraries.back()["process"] = process.id;
        }
        for (const std::string &warning : libraries::warnings(process.libraries))
            warnings.push_back(warning);
        processes.push_back({{"process", process.id},
                             {"calls", process.calls},
                             {"dropped", process.dropped},
                             {"uncounted", process.uncounted},
                             {"ended_regularly", process.closed},
                             {"file", process.full == 0   ? "complete"
                                      : process.full == 1 ? "at its size limit"
                                                          : "could not grow"}});
    }
    for (const MemoryUse &use : memory_use(model, 2))
        memory.push_back({{"process", model.processes[use.process].id},
                          {"device", use.device},
                          {"peak_bytes", use.peak}});
    const auto measured = spreads(model);
    for (const HotLine &line : hot_list(model)) {
        executions += line.executions;
        Json served = Json::array();
        for (const auto &[reasons, part] : line.served) {
            served.push_back(served_json(part));
            served.back()["because"] = tracing::reasons_text(reasons);
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
                             {"operations", line.operations},
                             {"gigaflops_per_second", line.gigaflops_per_second()},
                             {"served", std::move(served)}});
        functions.back().update(served_json(line.all_served()));
        // Of executions where `executions` is not 0; of those with a record.
        if (const auto own = measured.find({line.function, line.device}); own != measured.end())
            functions.back()["spread"] = {{"min_ns", own->second.min},
                                          {"p50_ns", own->second.p50},
                                          {"p99_ns", own->second.p99},
                                          {"max_ns", own->second.max}};
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
            {"ranges", ranges_json(model)},
            {"devices", devices_json(model)},
            {"memory", std::move(memory)},
            {"libraries", std::move(libraries)},
            {"library_warnings", std::move(warnings)},
            {"functions", std::move(functions)}};
}

} // namespace Atoll::tools
