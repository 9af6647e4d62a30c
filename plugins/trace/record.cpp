// Writes calls, executions and threads to a session's timeline.
#include "session.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>
#include <pthread.h>
#include <unistd.h>

namespace Atoll::tracing {

using namespace timeline;

namespace {

constexpr std::size_t record_words = sizeof(Record) / sizeof(std::uint64_t);
constexpr std::uint64_t most_ticks = ~std::uint32_t{0};

std::uint64_t word_of(const Details &details) { return std::bit_cast<std::uint64_t>(details); }

// Copies a record and the data that follow it to the lane.
void append(Timeline &timeline, Lane &lane, Record record, const void *behind,
            std::size_t bytes) noexcept {
    const std::size_t size = sizeof record + bytes;
    char *const at = timeline.reserve(lane, size, false);
    if (!at) return;
    record.words = static_cast<std::uint8_t>(size / sizeof(std::uint64_t));
    std::memcpy(at, &record, sizeof record);
    std::memcpy(at + sizeof record, behind, bytes);
    Timeline::commit(lane, size);
}

} // namespace

void Session::announce(Timeline &timeline, Lane &lane) noexcept {
    Record record{};
    record.kind = Kind::thread;
    ThreadText text{static_cast<std::uint64_t>(::gettid()), {}};
    static_cast<void>(::pthread_getname_np(::pthread_self(), text.name, sizeof text.name));
    append(timeline, lane, record, &text, sizeof text);
    lane.announced = 1;
}

void Session::record_range(Timeline &timeline, Lane &lane, const char *name,
                           std::uint64_t now) noexcept {
    if (!lane.announced) announce(timeline, lane);
    Record record{};
    record.kind = name ? Kind::range_begin : Kind::range_end;
    record.start = now;
    char text[256] = {};
    std::size_t size = 0;
    if (name) {
        size = ::strnlen(name, sizeof text - 1);
        std::memcpy(text, name, size);
        size = (size + 8) / 8 * 8;
    }
    append(timeline, lane, record, text, size);
}

// The flags of the call that announce a word each; few calls have any.
inline unsigned Session::rare_flags(const atoll_call &call, const Traced &traced,
                                    std::uint64_t ticks) noexcept {
    unsigned flags = 0;
    if (traced.bracket) flags |= flag_followed;
    if (traced.entry->on_handle && call.params) flags |= flag_handle;
    if (ticks > most_ticks) flags |= flag_long;
    if (call.stream) flags |= flag_stream;
    if (traced.parent || traced.status != 0 || call.device != 0) flags |= flag_details;
    if (traced.entry->flop) flags |= flag_operations | flag_slots;
    return flags;
}

// The announced words, in the order of the flags.
std::uint64_t *Session::write_rare(std::uint64_t *word, unsigned rare, const atoll_call &call,
                                   const Traced &traced, std::uint64_t ticks) noexcept {
    if (rare & flag_followed) *word++ = traced.bracket->id;
    if (rare & flag_handle)
        *word++ =
            reinterpret_cast<std::uintptr_t>(call.function <= ATOLL_DEVICE_FN_stream_destroy
                                                 ? sdk::params<atoll_stream_params>(call).stream
                                                 : sdk::params<atoll_event_params>(call).event);
    if (rare & flag_long) *word++ = ticks;
    if (rare & flag_stream) *word++ = reinterpret_cast<std::uintptr_t>(call.stream);
    if (rare & flag_details)
        *word++ = word_of({traced.status, static_cast<std::int16_t>(call.device),
                           traced.parent ? place_of(traced.parent, traced) : no_entry});
    if (rare & flag_operations) *word++ = traced.operations;
    if (rare & flag_slots) *word++ = std::bit_cast<std::uint64_t>(call.axes);
    return word;
}

void Session::record(Timeline &timeline, const atoll_call &call, const Traced &traced) noexcept {
    Lane &lane = traced.table->lane;
    if (!lane.announced) [[unlikely]]
        announce(timeline, lane);
    const std::uint32_t extents = std::min<std::uint32_t>(call.rank, max_extents);
    const std::uint64_t ticks = traced.end - traced.start;
    const unsigned rare = rare_flags(call, traced, ticks);
    std::size_t words = record_words + extents;
    if (rare) [[unlikely]]
        words += static_cast<std::size_t>(std::popcount(rare));
    char *const at = timeline.reserve(lane, words * sizeof(std::uint64_t), true);
    if (!at) [[unlikely]]
        return;

    Record &record = *reinterpret_cast<Record *>(at);
    std::uint32_t dtypes = 0;
    for (unsigned i = std::min<unsigned>(call.operand_count, max_dtypes); i-- > 0;)
        dtypes = dtypes << 8 | (call.operands[i].dtype & 0xffu);
    record.kind = Kind::call;
    record.words = static_cast<std::uint8_t>(words);
    record.rank = static_cast<std::uint8_t>(call.rank);
    record.operand_count = static_cast<std::uint8_t>(std::min<unsigned>(call.operand_count, 255));
    record.entry = place_of(traced.entry, traced);
    record.flags = static_cast<std::uint16_t>(
        traced.flags | rare | (call.flags & ATOLL_CALL_INSERTED ? flag_inserted : 0));
    std::memcpy(record.dtypes, &dtypes, sizeof dtypes);
    record.ticks = static_cast<std::uint32_t>(ticks);
    record.start = traced.start;
    record.correlation = call.correlation;
    record.bytes = traced.bytes;
    std::uint64_t *word = reinterpret_cast<std::uint64_t *>(at + sizeof record);
    if (rare) [[unlikely]]
        word = write_rare(word, rare, call, traced, ticks);
    for (std::uint32_t axis = 0; axis < extents; ++axis)
        word[axis] = static_cast<std::uint64_t>(call.shape[axis]);
    Timeline::commit(lane, words * sizeof(std::uint64_t));
}

void Session::open_bracket(const atoll_call &call, Traced &traced) noexcept {
    if (!options_.execution) {
        traced.flags |= flag_not_asked;
        return;
    }
    // A table belongs to one thread at a time, so its address makes the id unique.
    const std::uint64_t id = (reinterpret_cast<std::uintptr_t>(traced.table) >> 6) << 32 ^
                             ++traced.table->lane.executions;
    auto *const bracket =
        new (std::nothrow) Bracket{this, id, call.correlation, 0, nullptr, nullptr, 0, 0};
    const auto begins = +[](void *argument, std::int32_t) {
        Bracket &own = *static_cast<Bracket *>(argument);
        own.start = own.session->clock_.now();
        own.session->let_go(own);
    };
    if (!bracket) return;
    brackets_.fetch_add(1, std::memory_order_relaxed);
    if (call_back(*traced.entry, call, *bracket, begins) == ATOLL_STATUS_OK) {
        traced.bracket = bracket;
        return;
    }
    bracket->open = 1;
    let_go(*bracket);
    traced.flags |= flag_no_callback;
}

void Session::close_bracket(const atoll_call &call, const Traced &traced) noexcept {
    Bracket &bracket = *traced.bracket;
    if (traced.status == ATOLL_STATUS_OK) {
        bracket.entry = traced.entry;
        bracket.parent = traced.parent;
        bracket.bytes = traced.bytes;
        bracket.operations = traced.operations;
    }
    const auto ends = +[](void *argument, std::int32_t status) {
        Bracket &own = *static_cast<Bracket *>(argument);
        Session &session = *own.session;
        session.executed(own, session.clock_.now(), status);
        session.let_go(own);
    };
    if (call_back(*traced.entry, call, bracket, ends) != ATOLL_STATUS_OK) let_go(bracket);
}

// Enqueues a host callback on the call's stream, out of sight of every push of the tracer.
std::int32_t Session::call_back(const Entry &entry, const atoll_call &call, Bracket &bracket,
                                void (*function)(void *, std::int32_t)) noexcept {
    atoll_callback_params params{sizeof params, 0, function, &bracket};
    char text[128];
    atoll_error error{sizeof error, 0, 0, sizeof text, 0, text, {}};
    atoll_call inserted{};
    inserted.struct_size = sizeof inserted;
    inserted.module = ATOLL_MODULE_DEVICE;
    inserted.function = ATOLL_DEVICE_FN_host_callback;
    inserted.flags = ATOLL_CALL_INSERTED;
    inserted.device = call.device;
    inserted.parent_module = call.module;
    inserted.parent_function = call.function;
    inserted.params = &params;
    inserted.stream = call.stream;
    inserted.correlation = call.correlation;
    inserted.error = &error;
    return host_dispatch(entry.device, inserted);
}

void Session::let_go(Bracket &bracket) noexcept {
    if (bracket.open.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    delete &bracket;
    brackets_.fetch_sub(1, std::memory_order_release); // last: the session may be gone then
}

// Runs on the device's callback thread, which has a table and a lane like any other.
void Session::executed(const Bracket &bracket, std::uint64_t end, std::int32_t status) noexcept {
    const std::uint64_t ticks = std::max(bracket.start, end) - bracket.start;
    if (bracket.entry) {
        Counters &counters = bracket.entry->counters;
        add_shared(counters.executions, 1);
        add_shared(counters.execution_ticks, ticks);
        add_shared(counters.executed_bytes, bracket.bytes);
        add_shared(counters.executed_operations, bracket.operations);
        if (bracket.parent) add_shared(bracket.parent->counters.served_execution_ticks, ticks);
    }
    Timeline *const timeline = timeline_.load(std::memory_order_relaxed);
    Table *const own = timeline ? table() : nullptr;
    if (!own) return;
    if (!own->lane.announced) announce(*timeline, own->lane);
    Record record{};
    record.kind = Kind::execution;
    record.flags = flag_followed;
    record.ticks = static_cast<std::uint32_t>(ticks);
    record.start = bracket.start;
    record.correlation = bracket.correlation;
    std::uint64_t words[3] = {bracket.id};
    std::size_t count = 1;
    if (ticks > most_ticks) {
        record.flags |= flag_long;
        words[count++] = ticks;
    }
    if (status != 0) {
        record.flags |= flag_details;
        words[count++] = word_of({status, 0, no_entry});
    }
    append(*timeline, own->lane, record, words, count * sizeof words[0]);
}

} // namespace Atoll::tracing
