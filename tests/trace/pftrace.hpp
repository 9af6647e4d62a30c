// Reads what a .pftrace file says of its spans: enough of Perfetto's TracePacket for the tests.
#pragma once

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pftrace {

// A protocol buffer: fields in their order, each a number or bytes.
struct Field {
    unsigned id;
    std::uint64_t number;
    std::string_view bytes;
};
inline std::vector<Field> fields_of(std::string_view text) {
    std::size_t at = 0;
    const auto varint = [&] {
        std::uint64_t value = 0;
        for (unsigned shift = 0;; shift += 7) {
            const auto byte = static_cast<unsigned char>(text.at(at++));
            value |= std::uint64_t{byte & 0x7fu} << shift;
            if (byte < 0x80) return value;
        }
    };
    std::vector<Field> fields;
    while (at < text.size()) {
        const std::uint64_t tag = varint();
        Field field{static_cast<unsigned>(tag >> 3), 0, {}};
        if ((tag & 7) == 0) {
            field.number = varint();
        } else {
            const std::size_t size = (tag & 7) == 1 ? 8 : (tag & 7) == 2 ? varint() : 0;
            if (size > text.size() - at) throw std::runtime_error("a field is cut off");
            field.bytes = text.substr(at, size);
            at += size;
        }
        fields.push_back(field);
    }
    return fields;
}

struct Span {
    std::uint64_t track, start, end, depth;
    std::string name, category, on, because, shape{};
    std::size_t flows = 0;
    std::uint64_t bytes = 0;
};

// Of a packet; texts of parts that it lacks are empty.
struct Parts {
    std::uint64_t id = 0, time = 0; // of the sequence; since its packet before
    std::string_view event, data, descriptor;
};
inline Parts parts_of(const Field &packet) {
    Parts parts;
    for (const Field &field : fields_of(packet.bytes)) {
        if (field.id == 10) parts.id = field.number;
        if (field.id == 8) parts.time = field.number;
        if (field.id == 11) parts.event = field.bytes;
        if (field.id == 12) parts.data = field.bytes;
        if (field.id == 60) parts.descriptor = field.bytes;
    }
    return parts;
}

inline std::vector<Span> spans(const std::string &file) {
    struct Sequence {
        std::uint64_t time = 0;
        std::vector<std::size_t> open;
        std::map<std::pair<unsigned, std::uint64_t>, std::string> texts; // by list and number
    };
    std::map<std::uint64_t, Sequence> sequences;
    std::vector<Span> spans;
    for (const Field &packet : fields_of(file)) {
        const auto [id, time, event, data, descriptor] = parts_of(packet);
        Sequence &sequence = sequences[id];
        sequence.time += time;
        for (const Field &list : fields_of(data)) {
            const auto entry = fields_of(list.bytes);
            sequence.texts[{list.id, entry.at(0).number}] = entry.at(1).bytes;
        }
        if (event.empty()) continue;
        Span span{id, sequence.time, 0, sequence.open.size(), {}, {}, {}, {}};
        std::uint64_t type = 0;
        for (const Field &field : fields_of(event)) {
            if (field.id == 9) type = field.number;
            if (field.id == 10) span.name = sequence.texts.at({2, field.number});
            if (field.id == 3) span.category = sequence.texts.at({1, field.number});
            span.flows += field.id == 47 || field.id == 48;
            if (field.id != 4) continue;
            const auto annotation = fields_of(field.bytes);
            const std::string &name = sequence.texts.at({3, annotation.at(0).number});
            if (name == "bytes") span.bytes = annotation.at(1).number;
            if (annotation.at(1).id != 17) continue;
            const std::string &text = sequence.texts.at({29, annotation.at(1).number});
            if (name == "on") span.on = text;
            if (name == "because") span.because = text;
            if (name == "shape") span.shape = text;
        }
        if (type == 1) {
            sequence.open.push_back(spans.size());
            spans.push_back(span);
        } else if (type == 3) {
            span.end = span.start;
            spans.push_back(span);
        } else if (type == 2) {
            if (sequence.open.empty()) throw std::runtime_error("an end without a beginning");
            spans.at(sequence.open.back()).end = sequence.time;
            sequence.open.pop_back();
        }
    }
    for (const auto &[id, sequence] : sequences)
        if (!sequence.open.empty()) throw std::runtime_error("a span without an end");
    return spans;
}

// Tracks that are of no thread, in the order of the file.
struct Track {
    std::uint64_t uuid = 0, parent = 0, rank = 0, unit = 0;
    bool ranked = false; // its children are, by their ranks
    std::string name{};
    std::vector<std::pair<std::uint64_t, std::int64_t>> values{}; // of a counter: time, value
};
inline std::vector<Track> tracks(const std::string &file) {
    std::map<std::uint64_t, std::pair<std::size_t, std::uint64_t>> places; // sequences: track, time
    std::vector<Track> tracks;
    for (const Field &packet : fields_of(file)) {
        const auto [id, time, event, data, descriptor] = parts_of(packet);
        if (!descriptor.empty()) {
            Track track;
            for (const Field &field : fields_of(descriptor)) {
                if (field.id == 1) track.uuid = field.number;
                if (field.id == 2) track.name = field.bytes;
                if (field.id == 5) track.parent = field.number;
                if (field.id == 11) track.ranked = field.number == 3;
                if (field.id == 12) track.rank = field.number;
                if (field.id != 8) continue;
                for (const Field &counter : fields_of(field.bytes))
                    if (counter.id == 3) track.unit = counter.number;
            }
            if (track.name.empty()) continue;
            places[id] = {tracks.size(), 0};
            tracks.push_back(track);
        }
        if (event.empty() || !places.contains(id)) continue;
        auto &[track, now] = places[id];
        now += time;
        for (const Field &field : fields_of(event))
            if (field.id == 30)
                tracks[track].values.emplace_back(now, static_cast<std::int64_t>(field.number));
    }
    return tracks;
}

} // namespace pftrace
