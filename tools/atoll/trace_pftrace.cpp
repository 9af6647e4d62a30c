// A trace in Perfetto's own format, protocol buffers: a sixth of the JSON and quicker to open.
//
// Note [Packets]
// A file is a sequence of TracePacket, of the schema protos/perfetto/trace of Perfetto. A span is
// two packets, at its beginning and its end. Each track has a sequence of packets of its own, whose
// first packet sets what all others need not repeat: the track, and a clock whose timestamps are
// differences to the one before. Names and arguments are interned: written once per sequence, with
// a number that later packets refer to. So a call takes about 50 bytes. Field numbers are the
// schema's.
#include "atoll/dtype_facts.hpp"
#include "reasons.hpp"
#include "trace_output.hpp"
#include "trace_record.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <unordered_map>

#include <fmt/format.h>

namespace Atoll::tools {

using namespace trace::timeline;

namespace {

// A message of a protocol buffer.
class Message {
public:
    void number(unsigned field, std::uint64_t value) {
        varint(field << 3);
        varint(value);
    }
    void fixed(unsigned field, std::uint64_t value) {
        varint(field << 3 | 1);
        for (int i = 0; i < 8; ++i) bytes_ += static_cast<char>(value >> 8 * i);
    }
    void text(unsigned field, std::string_view value) {
        varint(field << 3 | 2);
        varint(value.size());
        bytes_ += value;
    }
    void message(unsigned field, const Message &value) { text(field, value.bytes_); }
    void clear() { bytes_.clear(); }
    bool empty() const { return bytes_.empty(); }
    std::string_view bytes() const { return bytes_; }

private:
    void varint(std::uint64_t value) {
        for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
        bytes_ += static_cast<char>(value);
    }
    std::string bytes_;
};

namespace packet {
enum : unsigned {
    clock_snapshot = 6,
    timestamp = 8,
    sequence_id = 10,
    track_event = 11,
    interned_data = 12,
    sequence_flags = 13,
    clock_id = 58,
    defaults = 59,
    track_descriptor = 60,
    state_cleared = 1, // sequence_flags
    needs_state = 2,
};
}
namespace event {
enum : unsigned {
    categories = 3,
    annotations = 4,
    type = 9,
    name = 10,
    track = 11,
    flows = 47,
    ending_flows = 48,
    begin = 1, // type
    end = 2,
    instant = 3,
};
}

// What is interned: the field of InternedData, and that of the text in its message.
struct Kind {
    unsigned list, text = 2;
};
constexpr Kind categories{1}, names{2}, annotation_names{3}, annotation_texts{29};

struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
        return std::hash<std::string_view>()(text);
    }
};

// Number of each text in its list, from 1.
class Interned {
public:
    explicit Interned(Kind kind) : kind_(kind) {}
    // `key` stands for the text that `make` returns. Adds a new one to the data.
    template <class Make>
    std::uint64_t operator()(std::string_view key, Message &data, const Make &make) {
        const auto found = numbers_.find(key);
        if (found != numbers_.end()) return found->second;
        const std::uint64_t number = numbers_.size() + 1;
        Message entry;
        entry.number(1, number);
        entry.text(kind_.text, make());
        data.message(kind_.list, entry);
        numbers_.emplace(key, number);
        return number;
    }

private:
    Kind kind_;
    std::unordered_map<std::string, std::uint64_t, Hash, std::equal_to<>> numbers_;
};

// The packets of one track.
class Track {
public:
    // Each track has a uuid; children refer to that of their parent.
    Track(Sink &out, std::uint64_t uuid, const Message &descriptor) : out_(out), uuid_(uuid) {
        constexpr unsigned own_clock = 64, boot_time = 6; // of this sequence; of the trace
        Message clocks, clock;
        clock.number(1, own_clock);
        clock.number(2, 0);
        clock.number(3, 1); // incremental
        clocks.message(1, clock);
        clock.clear();
        clock.number(1, boot_time);
        clock.number(2, 0);
        clocks.message(1, clock);
        Message defaults, track;
        track.number(event::track, uuid);
        defaults.number(packet::clock_id, own_clock);
        defaults.message(packet::track_event, track);
        packet_.number(packet::sequence_flags, packet::state_cleared);
        packet_.message(packet::defaults, defaults);
        packet_.message(packet::clock_snapshot, clocks);
        send();
        packet_.message(packet::track_descriptor, descriptor);
        send();
    }

    // Adds to the span that begins next.
    template <class Make>
    void annotate(std::string_view name, std::string_view key, const Make &make) {
        annotation_.clear();
        annotation_.number(1, annotation_names_(name, data_, [&] { return name; }));
        annotation_.number(17, annotation_texts_(key, data_, make));
        event_.message(event::annotations, annotation_);
    }
    void annotate(std::string_view name, std::string_view text) {
        annotate(name, text, [&] { return text; });
    }
    void annotate(std::string_view name, std::uint64_t value) {
        annotation_.clear();
        annotation_.number(1, annotation_names_(name, data_, [&] { return name; }));
        annotation_.number(3, value);
        event_.message(event::annotations, annotation_);
    }
    // An arrow from one span to another. Ids are those of the trace.
    void flow(unsigned field, std::uint64_t id) { event_.fixed(field, id); }

    void begin(std::int64_t at, std::string_view name, std::string_view category) {
        start(event::begin, at, name, category);
    }
    void instant(std::int64_t at, std::string_view name, std::string_view category) {
        start(event::instant, at, name, category);
    }
    void end(std::int64_t at) {
        event_.number(event::type, event::end);
        send_event(at);
    }

private:
    void start(unsigned type, std::int64_t at, std::string_view name, std::string_view category) {
        event_.number(event::type, type);
        event_.number(event::name, names_(name, data_, [&] { return name; }));
        event_.number(event::categories, categories_(category, data_, [&] { return category; }));
        send_event(at);
    }
    void send_event(std::int64_t at) {
        at = std::max(at, last_); // only the clock's inaccuracy can make it smaller
        packet_.number(packet::timestamp, static_cast<std::uint64_t>(at - last_));
        last_ = at;
        packet_.number(packet::sequence_flags, packet::needs_state);
        if (!data_.empty()) packet_.message(packet::interned_data, data_);
        packet_.message(packet::track_event, event_);
        data_.clear();
        event_.clear();
        send();
    }
    void send() {
        packet_.number(packet::sequence_id, uuid_);
        framed_.clear();
        framed_.message(1, packet_);
        out_.write(framed_.bytes());
        packet_.clear();
    }

    Sink &out_;
    std::uint64_t uuid_;
    std::int64_t last_ = 0;
    Message packet_, framed_, event_, data_, annotation_;
    Interned categories_{categories}, names_{names}, annotation_names_{annotation_names},
        annotation_texts_{annotation_texts};
};

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
            Message descriptor, process;
            const std::uint64_t uuid = ++tracks_;
            descriptor.number(1, uuid);
            process.number(1, model_.processes[i].id);
            process.text(6, "host");
            descriptor.message(3, process);
            Track(out_, uuid, descriptor);
        }
        for (std::uint32_t i = 0; i < model_.threads.size(); ++i) write_thread(i);
        std::map<std::pair<std::uint32_t, std::string>, std::uint64_t> devices;
        for (std::uint32_t i = 0; i < model_.streams.size(); ++i) {
            const TracedStream &stream = model_.streams[i];
            std::uint64_t &device = devices[{stream.process, stream.device}];
            if (device == 0) {
                device = ++tracks_;
                Message descriptor;
                descriptor.number(1, device);
                descriptor.text(2, device_title(model_, stream));
                Track(out_, device, descriptor);
            }
            Message descriptor;
            const std::uint64_t uuid = ++tracks_;
            descriptor.number(1, uuid);
            descriptor.text(2, stream_title(stream));
            descriptor.number(5, device);
            Track track(out_, uuid, descriptor);
            write_stream(track, i);
        }
    }

private:
    void write_thread(std::uint32_t index) {
        const TracedThread &thread = model_.threads[index];
        Message descriptor, facts;
        const std::uint64_t uuid = ++tracks_;
        descriptor.number(1, uuid);
        facts.number(1, model_.processes[thread.process].id);
        facts.number(2, thread.id);
        facts.text(5, thread.name);
        descriptor.message(4, facts);
        Track track(out_, uuid, descriptor);
        for (; next_ < model_.api_calls.size() &&
               model_.calls[model_.api_calls[next_].begin].thread == index;
             ++next_) {
            const ApiCall &api = model_.api_calls[next_];
            const bool shown = !model_.repeats_its_call(api);
            if (shown) track.begin(model_.calls[api.begin].start, model_.name(api), "api");
            std::int64_t last = 0;
            open_.clear();
            for (std::size_t i = api.begin; i < api.end; ++i) {
                const TracedCall &call = model_.calls[i];
                while (open_.size() > call.depth) end_call(track);
                describe(track, call);
                if (call.execution >= 0)
                    track.flow(event::flows, static_cast<std::uint64_t>(call.execution) + 1);
                track.begin(call.start, call.function(),
                            call.has(flag_inserted) ? "inserted" : "call");
                open_.push_back(call.end);
                last = std::max(last, call.end);
            }
            while (!open_.empty()) end_call(track);
            if (shown) track.end(last);
        }
    }
    void end_call(Track &track) {
        track.end(open_.back());
        open_.pop_back();
    }

    void write_stream(Track &track, std::uint32_t index) {
        for (;
             execution_ < model_.executions.size() && model_.executions[execution_].stream == index;
             ++execution_) {
            const Execution &execution = model_.executions[execution_];
            const TracedCall &call = model_.calls[execution.call];
            describe(track, call);
            if (execution.shared) track.annotate("execution", shared_execution);
            if (execution.status != 0)
                track.annotate("stream status", status_name(execution.status));
            track.flow(event::ending_flows, execution_ + 1);
            const auto record = event_flows_.equal_range(execution_);
            for (auto flow = record.first; flow != record.second; ++flow)
                track.flow(event::flows, flow->second);
            track.begin(execution.start, call.function(), "execution");
            // The wait may have begun long before: the arrow ends where it is over.
            if (const auto wait = awaited_.find(execution_); wait != awaited_.end()) {
                track.flow(event::ending_flows, wait->second);
                track.instant(execution.end - 1, "event", "execution");
            }
            track.end(execution.end);
        }
    }

    // The arguments of a call, those that go together in one text.
    static void describe(Track &track, const TracedCall &call) {
        const Record &record = *call.record;
        struct {
            const trace::Names *name;
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
        if (call.has(flag_inserted)) {
            track.annotate("serves", call.parent ? text_of(call.parent->function) : "?");
            track.annotate("because", trace::reasons_text(call.reasons));
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
    std::uint64_t tracks_ = 0; // so far
    std::size_t next_ = 0, execution_ = 0;
    std::vector<std::int64_t> open_;                        // ends of the calls around the next one
    std::multimap<std::size_t, std::uint64_t> event_flows_; // ids by the record's execution
    std::map<std::size_t, std::uint64_t> awaited_;          // by that of the wait
};

} // namespace

void write_pftrace(const TraceModel &model, const TracedRun &, Sink &out) {
    Writer(model, out).write();
}

} // namespace Atoll::tools
