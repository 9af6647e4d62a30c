// The packets of a file in Perfetto's own format.
//
// Note [Packets]
// A file is a sequence of TracePacket, of the schema protos/perfetto/trace of Perfetto. A span is
// two packets, at its beginning and its end. Each track has a sequence of packets of its own, whose
// first packet sets what all others need not repeat: the track, and a clock whose timestamps are
// differences to the one before. Names and arguments are interned: written once per sequence, with
// a number that later packets refer to. So a call takes about 50 bytes. Field numbers are the
// schema's.
#pragma once

#include "trace_sink.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace Atoll::tools {

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
    void fields(std::string_view encoded) { bytes_ += encoded; }
    // Begins a message of so many bytes.
    void header(unsigned field, std::size_t bytes) {
        varint(field << 3 | 2);
        varint(bytes);
    }
    void clear() { bytes_.clear(); }
    bool empty() const { return bytes_.empty(); }
    std::string_view bytes() const { return bytes_; }

private:
    void varint(std::uint64_t value) {
        char digits[10];
        std::size_t count = 0;
        for (; value >= 0x80; value >>= 7) digits[count++] = static_cast<char>(value | 0x80);
        digits[count++] = static_cast<char>(value);
        bytes_.append(digits, count);
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
namespace descriptor {
enum : unsigned {
    uuid = 1,
    name = 2,
    process = 3,
    thread = 4,
    parent = 5,
    counter = 8,
    order = 11, // of its children
    rank = 12,  // among those of its parent
    by_rank = 3,
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
    counter_value = 30,
    begin = 1, // type
    end = 2,
    instant = 3,
    counter = 4,
};
}

// What is interned: the field of InternedData, and that of the text in its message.
struct InternedKind {
    unsigned list, text = 2;
};
inline constexpr InternedKind categories{1}, names{2}, annotation_names{3}, annotation_texts{29};

struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
        return std::hash<std::string_view>()(text);
    }
};

// Number of each text in its list, from 1.
class Interned {
public:
    explicit Interned(InternedKind kind) : kind_(kind) {}
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
    InternedKind kind_;
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

    void name(std::string_view name, std::string_view category, unsigned type = event::begin) {
        event_.number(event::type, type);
        event_.number(event::name, names_(name, data_, [&] { return name; }));
        event_.number(event::categories, categories_(category, data_, [&] { return category; }));
    }
    // What has been said of the span that begins next, and to say the same of another one.
    std::string_view said() const { return event_.bytes(); }
    void say(std::string_view said) { event_.fields(said); }

    void begin(std::int64_t at) { send_event(at); }
    void instant(std::int64_t at, std::string_view own, std::string_view category) {
        name(own, category, event::instant);
        send_event(at);
    }
    void count(std::int64_t at, std::int64_t value) {
        event_.number(event::type, event::counter);
        event_.number(event::counter_value, static_cast<std::uint64_t>(value));
        send_event(at);
    }
    void end(std::int64_t at) {
        event_.number(event::type, event::end);
        send_event(at);
    }

private:
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
        frame_.clear();
        frame_.header(1, packet_.bytes().size());
        out_.write(frame_.bytes());
        out_.write(packet_.bytes());
        packet_.clear();
    }

    Sink &out_;
    std::uint64_t uuid_;
    std::int64_t last_ = 0;
    Message packet_, frame_, event_, data_, annotation_;
    Interned categories_{categories}, names_{names}, annotation_names_{annotation_names},
        annotation_texts_{annotation_texts};
};

} // namespace Atoll::tools
