// Percentiles, use of devices and memory: see trace_measure.hpp.
#include "trace_measure.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

namespace Atoll::tools {

namespace {

using Device = std::pair<std::uint32_t, std::string>; // process, "dummy:0"

// Something of each device, found quickly for millions of calls.
template <class Value> class ByDevice {
public:
    explicit ByDevice(const TraceModel &model) : model_(model) {}
    Value &of(const TracedCall &call) {
        const std::uint32_t process = model_.threads[call.thread].process;
        Value *&known = known_[{call.name, call.device_index(), process}];
        if (!known)
            known = &values[{process, call.device() + (call.function().ends_with("_host")
                                                           ? ", memory of the host"
                                                           : "")}];
        return *known;
    }
    std::map<Device, Value> values;

private:
    const TraceModel &model_;
    std::map<std::tuple<const tracing::Names *, int, std::uint32_t>, Value *> known_;
};

struct Group {
    std::vector<std::int64_t> calls, executions;
};

} // namespace

Spread spread_of(std::vector<std::int64_t> &lengths) {
    if (lengths.empty()) return {};
    const auto nth = [&](std::size_t percent) {
        const std::size_t place = (lengths.size() * percent + 99) / 100 - 1;
        std::nth_element(lengths.begin(), lengths.begin() + static_cast<std::ptrdiff_t>(place),
                         lengths.end());
        return lengths[place];
    };
    const auto [min, max] = std::minmax_element(lengths.begin(), lengths.end());
    Spread spread{*min, 0, 0, *max};
    spread.p50 = nth(50);
    spread.p99 = nth(99);
    return spread;
}

std::map<std::pair<std::string, std::string>, Spread> spreads(const TraceModel &model) {
    std::unordered_map<const tracing::Names *, Group>
        by_name; // several of them may be the same text
    for (const TracedCall &call : model.calls) {
        Group &group = by_name[call.name];
        group.calls.push_back(call.nanoseconds());
        if (call.execution < 0) continue;
        const Execution &own = model.executions[static_cast<std::size_t>(call.execution)];
        group.executions.push_back(own.end - own.start);
    }
    std::map<std::pair<std::string, std::string>, Group> groups;
    for (auto &[name, part] : by_name) {
        Group &group =
            groups[{std::string(text_of(name->function)), std::string(text_of(name->device))}];
        group.calls.insert(group.calls.end(), part.calls.begin(), part.calls.end());
        group.executions.insert(group.executions.end(), part.executions.begin(),
                                part.executions.end());
        part = {};
    }
    std::map<std::pair<std::string, std::string>, Spread> result;
    for (auto &[key, group] : groups)
        result[key] = spread_of(group.executions.empty() ? group.calls : group.executions);
    return result;
}

std::vector<RangeUse> range_use(const TraceModel &model) {
    std::map<std::string_view, RangeUse> uses;
    for (const auto &[name, line] : model.range_totals) {
        RangeUse &use = uses[name];
        static_cast<RangeLine &>(use) = line;
        use.name = name;
    }
    std::map<std::string_view, std::vector<std::int64_t>> lengths;
    for (const TracedRange &range : model.ranges) {
        // Totals have the beginning of a long name only.
        const std::string_view name = range.name.substr(0, sizeof(tracing::RangeTotals::name) - 1);
        RangeUse &use = uses[name];
        use.name = name;
        lengths[name].push_back(range.end - range.start);
        const auto before = [](const TracedCall &call, const TracedRange &own) {
            return std::tie(call.thread, call.start) < std::tie(own.thread, own.start);
        };
        for (auto call = std::lower_bound(model.calls.begin(), model.calls.end(), range, before);
             call != model.calls.end() && call->thread == range.thread && call->start < range.end;
             ++call) {
            if (call->execution >= 0 && is_work(*call, true)) {
                const Execution &own = model.executions[static_cast<std::size_t>(call->execution)];
                add_saturated(use.execution_ns, own.end - own.start);
            }
            if (!range.open) continue;
            ++use.calls;
            add_saturated(use.call_ns, call->nanoseconds());
        }
        if (!range.open) continue;
        const std::int64_t length = range.end - range.start;
        use.min_ns = use.count > 0 ? std::min(use.min_ns, length) : length;
        use.max_ns = std::max(use.max_ns, length);
        ++use.count;
        add_saturated(use.ns, length);
    }
    std::vector<RangeUse> sorted;
    for (auto &[name, use] : uses) {
        use.spread = spread_of(lengths[name]);
        sorted.push_back(std::move(use));
    }
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const RangeUse &a, const RangeUse &b) { return a.ns > b.ns; });
    return sorted;
}

bool is_work(const TracedCall &call, bool on_stream) {
    const std::string_view function = call.function();
    if (on_stream) return !is_waiting(function, true);
    return !call.asynchronous && call.depth == 0 &&
           (!function.starts_with("device.") || function == "device.transfer");
}

std::vector<DeviceUse> device_use(const TraceModel &model) {
    struct Edge {
        std::int64_t at;
        std::int8_t change; // +1: work begins
        bool transfer;
    };
    ByDevice<std::vector<Edge>> edges(model);
    const auto add = [&](const TracedCall &call, std::int64_t start, std::int64_t end) {
        std::vector<Edge> &list = edges.of(call);
        const bool transfer = call.function() == "device.transfer";
        list.push_back({start, 1, transfer});
        list.push_back({end, -1, transfer});
    };
    for (const TracedCall &call : model.calls) {
        if (is_work(call, false)) add(call, call.start, call.end);
    }
    for (const Execution &execution : model.executions) {
        const TracedCall &call = model.calls[execution.call];
        if (is_work(call, true)) add(call, execution.start, execution.end);
    }
    std::vector<DeviceUse> uses;
    for (auto &[device, list] : edges.values) {
        std::sort(list.begin(), list.end(), [](const Edge &a, const Edge &b) {
            return a.at != b.at ? a.at < b.at : a.change < b.change;
        });
        DeviceUse use{device.first, device.second};
        std::int64_t before = 0, computing = 0, transferring = 0;
        for (const Edge &edge : list) {
            const std::int64_t length = edge.at - before, working = computing + transferring;
            use.work_ns += working * length;
            if (working > 0) use.busy_ns += length;
            if (working > 1) use.overlap_ns += length;
            if (transferring > 0) use.transfer_ns += length;
            if (transferring > 0 && computing > 0) use.hidden_ns += length;
            before = edge.at;
            (edge.transfer ? transferring : computing) += edge.change;
        }
        uses.push_back(std::move(use));
    }
    return uses;
}

std::vector<MemoryUse> memory_use(const TraceModel &model, std::size_t points) {
    ByDevice<std::vector<std::pair<std::int64_t, std::int64_t>>> changes(model);
    for (const TracedCall &call : model.calls) {
        const std::string_view function = call.function();
        const bool taken = function.starts_with("device.allocate"),
                   freed = function.starts_with("device.free");
        if ((!taken && !freed) || call.failed() || call.record->bytes == 0) continue;
        const auto bytes = static_cast<std::int64_t>(
            std::min<std::uint64_t>(call.record->bytes, std::uint64_t{1} << 60));
        changes.of(call).emplace_back(taken ? call.end : call.start, taken ? bytes : -bytes);
    }
    std::vector<MemoryUse> uses;
    for (auto &[device, list] : changes.values) {
        std::sort(list.begin(), list.end());
        MemoryUse use{device.first, device.second, 0, {}};
        // Of each stretch of time the peak and the end.
        const std::int64_t stretch = 2 * model.nanoseconds / static_cast<std::int64_t>(points) + 1;
        std::int64_t bytes = 0;
        constexpr std::pair none{std::int64_t{0}, std::numeric_limits<std::int64_t>::min()};
        auto peak = none;
        for (std::size_t i = 0; i < list.size(); ++i) {
            add_saturated(bytes, list[i].second);
            use.peak = std::max(use.peak, bytes);
            if (bytes > peak.second) peak = {list[i].first, bytes};
            const bool ends =
                i + 1 == list.size() || list[i + 1].first / stretch != list[i].first / stretch;
            if (!ends) continue;
            if (peak.first != list[i].first) use.steps.push_back(peak);
            use.steps.emplace_back(list[i].first, bytes);
            peak = none;
        }
        uses.push_back(std::move(use));
    }
    return uses;
}

} // namespace Atoll::tools
