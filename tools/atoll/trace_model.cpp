// Derives nesting, groups, streams and flows from the records of timeline files.
#include "trace_model.hpp"

#include "atoll/core_functions.hpp"
#include "atoll/plugin.hpp"
#include "trace_record.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>

#include <fmt/format.h>

namespace Atoll::tools {

using namespace tracing::timeline;

std::string TracedCall::device() const {
    return fmt::format("{}:{}", device_type(), device_index());
}
int TracedCall::device_index() const { return details_of(*record).device; }
std::int32_t TracedCall::status() const { return details_of(*record).status; }
bool TracedCall::failed() const {
    const std::int32_t own = status();
    return own != ATOLL_STATUS_OK && own != ATOLL_STATUS_NOT_READY;
}
std::uint64_t TracedCall::stream() const { return word_of(*record, flag_stream); }
std::uint64_t TracedCall::handle() const { return word_of(*record, flag_handle); }

std::vector<std::int64_t> TracedCall::shape() const {
    const std::uint64_t *extents = words_of(*record) + announced_words(*record);
    return {extents, extents + std::min<unsigned>(record->rank, max_extents)};
}

std::uint64_t TracedCall::operations() const { return word_of(*record, flag_operations); }

std::string TracedCall::labels() const {
    if (!has(flag_slots) || record->rank > 26) return {};
    constexpr std::string_view module = "core.";
    const auto &all = sdk::core_functions;
    const auto line = std::find_if(std::begin(all), std::end(all), [&](const auto &own) {
        return own.name && function().starts_with(module) &&
               function().substr(module.size()) == own.name;
    });
    if (line == std::end(all)) return {};
    const sdk::Signature &signature = line->signature;
    const auto slots =
        std::bit_cast<std::array<std::uint8_t, ATOLL_MAX_SLOTS>>(word_of(*record, flag_slots));
    std::string text, output;
    const int core = std::accumulate(slots.begin(), slots.begin() + signature.slot_count, 0);
    for (int o = 0; o < signature.operand_count; ++o) {
        const sdk::OperandSpec &spec = signature.operand(o);
        if (spec.optional) continue;
        std::string own;
        const auto add = [&](int begin, int end) {
            for (int axis = begin; axis < std::min<int>(end, record->rank); ++axis)
                own += static_cast<char>('a' + axis);
        };
        for (int i = 0; i < spec.axis_count; ++i) {
            const auto slot = spec.axes[static_cast<std::size_t>(i)];
            const int begin = std::accumulate(slots.begin(), slots.begin() + slot, 0);
            add(begin, begin + slots[slot]);
        }
        add(core, record->rank);
        if (o < signature.output_count)
            output = own;
        else
            text += (text.empty() ? "" : ",") + own;
    }
    return text + "->" + output;
}

void TraceModel::finish() {
    std::int64_t first = std::numeric_limits<std::int64_t>::max(), last = 0;
    for (const TracedCall &call : calls) first = std::min(first, call.start);
    for (const TracedRange &range : ranges) first = std::min(first, range.start);
    for (TracedRange &range : ranges) {
        range.start -= first;
        range.end -= first;
        last = std::max(last, range.end);
    }
    for (TracedCall &call : calls) {
        call.start -= first;
        call.end -= first;
        last = std::max(last, call.end);
    }
    for (Ids &ids : finished_)
        for (auto &[id, execution] : ids) {
            execution.start -= first;
            execution.end -= first;
            last = std::max(last, execution.end);
        }
    nanoseconds = last;
    nest();
    nest_ranges();
    group();
    attach();
    connect_events();
}

// Calls on one thread are nested or disjoint. If they overlap because processors' counters differ
// slightly, the inner one is shortened.
void TraceModel::nest() {
    const auto before = [](const TracedCall &a, const TracedCall &b) {
        return std::tie(a.thread, a.start, b.end) < std::tie(b.thread, b.start, a.end);
    };
    // Threads that make no nested calls record them in this order.
    if (!std::is_sorted(calls.begin(), calls.end(), before))
        std::sort(calls.begin(), calls.end(), before);
    std::vector<const TracedCall *> around;
    for (TracedCall &call : calls) {
        while (!around.empty() &&
               (around.back()->thread != call.thread || around.back()->end <= call.start))
            around.pop_back();
        if (!around.empty()) call.end = std::min(call.end, around.back()->end);
        call.depth = static_cast<std::uint32_t>(around.size());
        around.push_back(&call);
    }
}

void TraceModel::nest_ranges() {
    std::sort(ranges.begin(), ranges.end(), [](const TracedRange &a, const TracedRange &b) {
        return std::tie(a.thread, a.start, b.end) < std::tie(b.thread, b.start, a.end);
    });
    std::vector<const TracedRange *> around;
    for (TracedRange &range : ranges) {
        while (!around.empty() &&
               (around.back()->thread != range.thread || around.back()->end <= range.start))
            around.pop_back();
        range.depth = static_cast<std::uint32_t>(around.size());
        around.push_back(&range);
    }
}

namespace {

bool is_device_function(std::string_view name) { return name.starts_with("device."); }

std::string_view without_module(std::string_view name) {
    for (const std::string_view module : {"core.", "device."})
        if (name.starts_with(module)) return name.substr(module.size());
    return name;
}

} // namespace

// That of the first computing function that was not inserted, else of the function that the first
// inserted call serves, else of the first call.
std::string_view TraceModel::name(const ApiCall &api) const {
    for (std::size_t i = api.begin; i < api.end; ++i)
        if (!calls[i].has(flag_inserted) && !is_device_function(calls[i].function()))
            return without_module(calls[i].function());
    for (std::size_t i = api.begin; i < api.end; ++i)
        if (calls[i].parent) return without_module(text_of(calls[i].parent->function));
    return without_module(calls[api.begin].function());
}

std::int64_t TraceModel::end(const ApiCall &api) const {
    std::int64_t last = 0;
    for (std::size_t i = api.begin; i < api.end; ++i) last = std::max(last, calls[i].end);
    return last;
}

bool TraceModel::repeats_its_call(const ApiCall &api) const {
    return std::none_of(calls.begin() + static_cast<std::ptrdiff_t>(api.begin) + 1,
                        calls.begin() + static_cast<std::ptrdiff_t>(api.end),
                        [](const TracedCall &call) { return call.depth == 0; });
}

void TraceModel::group() {
    for (std::size_t begin = 0, end; begin < calls.size(); begin = end) {
        const TracedCall &first = calls[begin];
        for (end = begin + 1;
             end < calls.size() && calls[end].thread == first.thread &&
             (calls[end].depth > 0 || calls[end].record->correlation == first.record->correlation);
             ++end) {
        }
        api_calls.push_back({begin, end});
    }
}

// Sorts streams by device.
void TraceModel::sort_streams() {
    std::vector<std::uint32_t> order(streams.size()), place(streams.size());
    std::iota(order.begin(), order.end(), 0u);
    const auto key = [&](std::uint32_t i) {
        return std::tie(streams[i].process, streams[i].device, streams[i].number);
    };
    std::sort(order.begin(), order.end(),
              [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
    std::vector<TracedStream> sorted;
    for (const std::uint32_t stream : order) {
        place[stream] = static_cast<std::uint32_t>(sorted.size());
        sorted.push_back(std::move(streams[stream]));
    }
    streams = std::move(sorted);
    for (Execution &execution : executions) execution.stream = place[execution.stream];
}

// A handle of a stream that is destroyed may be given to a new one, so a stream is the handle and
// how often it had been created or destroyed before. Of all streams, when that happened.
void TraceModel::attach() {
    using Handle = std::tuple<std::uint32_t, std::string, std::uint64_t>; // process, device
    std::map<Handle, std::vector<std::int64_t>> changes;
    for (const TracedCall &call : calls) {
        if (!call.has(flag_handle)) continue;
        const bool made = call.function() == "device.stream_create";
        if (made || call.function() == "device.stream_destroy")
            changes[{threads[call.thread].process, call.device(), call.handle()}].push_back(
                made ? call.end : call.start);
    }
    for (auto &[handle, times] : changes) std::sort(times.begin(), times.end());
    std::map<std::pair<Handle, std::ptrdiff_t>, std::uint32_t> known;
    std::map<std::pair<std::uint32_t, std::string>, std::uint32_t> numbers;
    for (std::size_t i = 0; i < calls.size(); ++i) {
        TracedCall &call = calls[i];
        if (!call.has(flag_followed)) continue;
        const std::uint32_t process = threads[call.thread].process;
        const auto found = finished_[process].find(word_of(*call.record, flag_followed));
        // A call that failed has enqueued nothing.
        if (found == finished_[process].end() || call.status() != ATOLL_STATUS_OK) continue;
        const Handle handle_of{process, call.device(), call.stream()};
        const std::vector<std::int64_t> &times = changes[handle_of];
        const auto before = std::upper_bound(times.begin(), times.end(), call.start);
        const auto [place, is_new] = known.try_emplace({handle_of, before - times.begin()},
                                                       static_cast<std::uint32_t>(streams.size()));
        if (is_new) {
            const std::uint64_t handle = call.stream();
            const std::uint32_t number = handle ? ++numbers[{process, call.device()}] : 0;
            streams.push_back({process, call.device(), handle, number});
        }
        // The callback before the work may have run before the call.
        executions.push_back({std::max(found->second.start, call.start), found->second.end,
                              found->second.status, i, place->second, false,
                              found->second.end - found->second.start});
    }
    sort_streams();
    // A stream executes work in the order of enqueueing. Brackets overlap if several threads
    // enqueue at once, because one thread's callbacks may be enqueued between another's work and
    // callback. So work ends no later than the work enqueued after it, and begins no earlier than
    // the end of the work enqueued before it.
    const auto call_start = [&](const Execution &e) { return calls[e.call].start; };
    std::sort(executions.begin(), executions.end(), [&](const Execution &a, const Execution &b) {
        return std::tuple(a.stream, call_start(a), a.call) <
               std::tuple(b.stream, call_start(b), b.call);
    });
    for (std::size_t i = executions.size(); i-- > 1;) {
        Execution &own = executions[i - 1];
        const Execution &next = executions[i];
        if (own.stream != next.stream || own.end <= next.end) continue;
        own.end = next.end;
        own.shared = true;
    }
    for (std::size_t i = 0; i < executions.size(); ++i) {
        Execution &own = executions[i];
        if (i > 0 && executions[i - 1].stream == own.stream && own.start < executions[i - 1].end) {
            own.shared |= own.start + 1 < executions[i - 1].end;
            own.start = executions[i - 1].end;
        }
        own.end = std::max(own.end, own.start + 1); // flows need a span of nonzero length
        own.shortened -= own.end - own.start;
        calls[own.call].execution = static_cast<std::int64_t>(i);
    }
}

// A wait belongs to the latest record of its event that was enqueued before it.
void TraceModel::connect_events() {
    std::map<std::pair<std::uint32_t, std::uint64_t>, std::vector<std::size_t>> records, waits;
    for (std::size_t i = 0; i < executions.size(); ++i) {
        const TracedCall &call = calls[executions[i].call];
        const std::pair key{threads[call.thread].process, call.handle()};
        if (call.function() == "device.event_record") records[key].push_back(i);
        if (call.function() == "device.event_wait") waits[key].push_back(i);
    }
    const auto enqueued = [&](std::size_t execution) {
        return calls[executions[execution].call].start;
    };
    for (auto &[key, list] : records)
        std::sort(list.begin(), list.end(),
                  [&](std::size_t a, std::size_t b) { return enqueued(a) < enqueued(b); });
    for (const auto &[key, list] : waits) {
        const std::vector<std::size_t> &known = records[key];
        for (const std::size_t wait : list) {
            const auto after = std::upper_bound(
                known.begin(), known.end(), enqueued(wait),
                [&](std::int64_t time, std::size_t record) { return time < enqueued(record); });
            // With overlapping brackets the wait may seem to end earlier; then there is no arrow.
            if (after != known.begin() &&
                executions[*std::prev(after)].start < executions[wait].end)
                event_flows.push_back({*std::prev(after), wait});
        }
    }
}

std::uint64_t TraceModel::all_calls() const {
    std::uint64_t sum = 0;
    for (const TracedProcess &process : processes) sum += process.calls;
    return sum;
}

std::uint64_t TraceModel::dropped() const {
    std::uint64_t sum = 0;
    for (const TracedProcess &process : processes) sum += process.dropped;
    return sum;
}

} // namespace Atoll::tools
