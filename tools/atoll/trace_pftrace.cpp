// A trace in Perfetto's own format, protocol buffers: a sixth of the JSON and quicker to open. See
// Note [Packets].
#include "atoll/dtype_facts.hpp"
#include "reasons.hpp"
#include "trace_measure.hpp"
#include "trace_output.hpp"
#include "trace_packets.hpp"
#include "trace_record.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>

#include <fmt/format.h>

namespace Atoll::tools {

using namespace tracing::timeline;

namespace {

// The bytes of a value, as a key.
template <class T> std::string_view bytes_of(const T &value) {
    return {reinterpret_cast<const char *>(&value), sizeof value};
}

class Writer {
public:
    Writer(const TraceModel &model, Sink &out) : model_(model), out_(out) {
        for (std::size_t i = 0; i < model.event_flows.size(); ++i) {
            const std::uint64_t id = model.executions.size() + 1 + i;
            event_flows_.emplace(model.event_flows[i].from, id);
            awaited_.emplace(model.event_flows[i].to, id);
        }
    }

    void write() {
        for (std::uint32_t i = 0; i < model_.processes.size(); ++i) {
            Message own, process;
            const std::uint64_t uuid = ++tracks_;
            own.number(descriptor::uuid, uuid);
            process.number(1, model_.processes[i].id);
            process.text(6, "host");
            own.message(descriptor::process, process);
            Track track(out_, uuid, own);
            if (const std::string lost = lost_calls(model_.processes[i]); !lost.empty()) {
                track.name(lost, "lost");
                track.begin(last_record(model_, i));
                track.end(model_.nanoseconds);
            }
        }
        for (std::uint32_t i = 0; i < model_.threads.size(); ++i) write_thread(i);
        for (std::uint32_t i = 0; i < model_.streams.size(); ++i) {
            const TracedStream &stream = model_.streams[i];
            Track track = device_track(stream.process, stream.device, stream_title(stream),
                                       stream.number, nullptr);
            said_ = {};
            write_stream(track, i);
        }
        for (const MemoryUse &use : memory_use(model_, every_change)) {
            // "dummy:0, memory of the host" is another one of the same device.
            const std::size_t comma = use.device.find(", ");
            Message counter;
            counter.number(3, 3); // its unit: bytes
            const std::string device = use.device.substr(0, comma);
            // With the device, which the table of a selection does not show.
            const std::string title =
                (comma == std::string::npos ? "memory" : use.device.substr(comma + 2)) + ", " +
                device_title(model_, use.process, device);
            Track track = device_track(use.process, device, title, memory_rank, &counter);
            for (const auto &[at, bytes] : use.steps) track.count(at, bytes);
        }
    }

private:
    static constexpr std::uint32_t memory_rank = 1u << 30; // below all streams

    // A track below that of its device, which is written where it is the first.
    Track device_track(std::uint32_t process, const std::string &device, const std::string &name,
                       std::uint32_t rank, const Message *counter) {
        std::uint64_t &parent = devices_[{process, device}];
        if (parent == 0) {
            parent = ++tracks_;
            Message own;
            own.number(descriptor::uuid, parent);
            own.text(descriptor::name, device_title(model_, process, device));
            own.number(descriptor::order, descriptor::by_rank);
            Track(out_, parent, own);
        }
        Message own;
        const std::uint64_t uuid = ++tracks_;
        own.number(descriptor::uuid, uuid);
        own.text(descriptor::name, name);
        own.number(descriptor::parent, parent);
        own.number(descriptor::rank, rank);
        if (counter) own.message(descriptor::counter, *counter);
        return Track(out_, uuid, own);
    }

    // A span of a thread: those that end before it are ended, and it ends no later than that around
    // it.
    template <class Describe>
    void open(Track &track, std::int64_t start, std::int64_t end, const Describe &describe) {
        while (!open_.empty() && open_.back() <= start) end_span(track);
        describe();
        track.begin(start);
        open_.push_back(open_.empty() ? end : std::min(end, open_.back()));
    }
    // The ranges of a thread that begin up to then.
    void open_ranges(Track &track, std::uint32_t thread, std::int64_t until) {
        for (; range_ < model_.ranges.size() && model_.ranges[range_].thread == thread &&
               model_.ranges[range_].start <= until;
             ++range_) {
            const TracedRange &range = model_.ranges[range_];
            open(track, range.start, range.end, [&] {
                if (range.open) track.annotate("end", unknown_end);
                track.name(range.name, "range");
            });
        }
    }

    void write_thread(std::uint32_t index) {
        const TracedThread &thread = model_.threads[index];
        Message own, facts;
        const std::uint64_t uuid = ++tracks_;
        own.number(descriptor::uuid, uuid);
        facts.number(1, model_.processes[thread.process].id);
        facts.number(2, thread.id);
        facts.text(5, thread.name);
        own.message(descriptor::thread, facts);
        Track track(out_, uuid, own);
        said_ = {};
        for (; next_ < model_.api_calls.size() &&
               model_.calls[model_.api_calls[next_].begin].thread == index;
             ++next_) {
            const ApiCall &api = model_.api_calls[next_];
            const bool shown = !model_.repeats_its_call(api);
            open_ranges(track, index, model_.calls[api.begin].start);
            if (shown)
                open(track, model_.calls[api.begin].start, model_.end(api),
                     [&] { track.name(model_.name(api), "api"); });
            for (std::size_t i = api.begin; i < api.end; ++i) {
                const TracedCall &call = model_.calls[i];
                open_ranges(track, index, call.start);
                open(track, call.start, call.end, [&] {
                    describe(track, call, call.has(flag_inserted) ? "inserted" : "call");
                    if (call.execution >= 0)
                        track.flow(event::flows, static_cast<std::uint64_t>(call.execution) + 1);
                });
            }
        }
        open_ranges(track, index, std::numeric_limits<std::int64_t>::max());
        while (!open_.empty()) end_span(track);
    }
    void end_span(Track &track) {
        track.end(open_.back());
        open_.pop_back();
    }

    void write_stream(Track &track, std::uint32_t index) {
        for (;
             execution_ < model_.executions.size() && model_.executions[execution_].stream == index;
             ++execution_) {
            const Execution &execution = model_.executions[execution_];
            const TracedCall &call = model_.calls[execution.call];
            describe(track, call, execution_category(call));
            if (execution.shared) track.annotate("execution", shared_execution);
            if (execution.status != 0)
                track.annotate("stream status", status_name(execution.status));
            track.flow(event::ending_flows, execution_ + 1);
            const auto record = event_flows_.equal_range(execution_);
            for (auto flow = record.first; flow != record.second; ++flow)
                track.flow(event::flows, flow->second);
            track.begin(execution.start);
            // The wait may have begun long before: the arrow ends where it is over.
            if (const auto wait = awaited_.find(execution_); wait != awaited_.end()) {
                track.flow(event::ending_flows, wait->second);
                track.instant(execution.end - 1, "event", "flow");
            }
            track.end(execution.end);
        }
    }

    // Most calls of a loop differ in nothing but time, so what has been said is kept.
    struct Said {
        std::vector<std::uint64_t> of;
        std::string text;
    };
    void describe(Track &track, const TracedCall &call, std::string_view category) {
        const Record &record = *call.record;
        if (record.flags & (flag_followed | flag_handle | flag_long)) // words that differ
            return describe_new(track, call, category);
        // All that the description is made of.
        key_.assign({reinterpret_cast<std::uintptr_t>(call.name),
                     reinterpret_cast<std::uintptr_t>(call.parent),
                     std::uint64_t{call.reasons} << 16 | call.dtype, record.bytes,
                     std::uint64_t{record.flags} << 16 | std::uint64_t{record.rank} << 8 |
                         record.operand_count,
                     0});
        std::memcpy(&key_.back(), record.dtypes, sizeof record.dtypes);
        const std::uint64_t *const words = words_of(record);
        key_.insert(key_.end(), words,
                    words + announced_words(record) + std::min<unsigned>(record.rank, max_extents));
        std::uint64_t hash = 0;
        for (const std::uint64_t word : key_) hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
        Said &said = said_[hash >> 56];
        if (said.of == key_) return track.say(said.text);
        describe_new(track, call, category);
        said.of = key_;
        said.text = track.said();
    }

    // The arguments of a call, those that go together in one text.
    static void describe_new(Track &track, const TracedCall &call, std::string_view category) {
        track.name(call.function(), category);
        const Record &record = *call.record;
        struct {
            const tracing::Names *name;
            std::int16_t device;
            std::uint16_t dtype;
            std::uint8_t operands, dtypes[max_dtypes];
        } key;
        std::memset(&key, 0, sizeof key);
        key = {call.name, details_of(record).device, call.dtype, record.operand_count, {}};
        std::memcpy(key.dtypes, record.dtypes, sizeof key.dtypes);
        track.annotate("on", bytes_of(key), [&] { return place_text(call); });
        if (record.operand_count > 0) {
            const std::uint64_t *extents = words_of(record) + announced_words(record);
            const std::string_view shape(reinterpret_cast<const char *>(extents),
                                         std::min<unsigned>(record.rank, max_extents) *
                                             sizeof *extents);
            track.annotate("shape", shape.empty() ? "()" : shape, [&] { return shape_text(call); });
        }
        if (record.bytes > 0) track.annotate("bytes", record.bytes);
        if (const std::string labels = call.labels(); !labels.empty())
            track.annotate("labels", labels);
        if (call.operations() > 0) track.annotate("FLOP", call.operations());
        if (call.has(flag_inserted)) {
            track.annotate("serves", call.parent ? text_of(call.parent->function) : "?");
            track.annotate("because", tracing::reasons_text(call.reasons));
        }
        if (call.status() != 0) track.annotate("status", status_name(call.status()));
        if (call.asynchronous)
            if (const std::string why = unknown_execution(call); !why.empty())
                track.annotate("execution", why);
    }
    // "cpu:0, float64", with the dtypes of the operands where they are others.
    static std::string place_text(const TracedCall &call) {
        const Record &record = *call.record;
        std::string text = call.device();
        if (call.dtype != 0) text += std::string(", ") + sdk::dtype_name(call.dtype);
        const unsigned count = std::min<unsigned>(record.operand_count, max_dtypes);
        if (std::all_of(record.dtypes, record.dtypes + count,
                        [&](std::uint8_t dtype) { return dtype == 0 || dtype == call.dtype; }))
            return text;
        const char *before = " (";
        for (unsigned i = 0; i < count; ++i, before = ", ")
            text += before + std::string(sdk::dtype_name(record.dtypes[i]));
        return text + (record.operand_count > max_dtypes ? ", …)" : ")");
    }
    static std::string shape_text(const TracedCall &call) {
        return fmt::format("({}{})", fmt::join(call.shape(), ", "),
                           call.record->rank > max_extents ? ", …" : "");
    }

    const TraceModel &model_;
    Sink &out_;
    std::uint64_t tracks_ = 0;                                               // so far
    std::map<std::pair<std::uint32_t, std::string>, std::uint64_t> devices_; // their tracks
    std::size_t next_ = 0, execution_ = 0, range_ = 0;
    std::vector<std::uint64_t> key_;
    std::array<Said, 256> said_;                            // of the present thread
    std::vector<std::int64_t> open_;                        // ends of the spans around the next one
    std::multimap<std::size_t, std::uint64_t> event_flows_; // ids by the record's execution
    std::map<std::size_t, std::uint64_t> awaited_;          // by that of the wait
};

} // namespace

void write_pftrace(const TraceModel &model, const TracedRun &, Sink &out) {
    Writer(model, out).write();
}

} // namespace Atoll::tools
