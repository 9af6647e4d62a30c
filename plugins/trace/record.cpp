// What a session writes to its timeline: calls, their executions, threads.
#include "session.hpp"

#include <algorithm>
#include <cstring>
#include <pthread.h>
#include <unistd.h>

namespace Atoll::trace {

using namespace timeline;

namespace {

// Copies a record and the words after it to its place in the lane.
template <class Text>
void append(Timeline &timeline, Lane &lane, Record record, const Text &text) noexcept {
    constexpr std::size_t size = sizeof record + sizeof text;
    static_assert(size % 8 == 0);
    char *const at = timeline.reserve(lane, size, false);
    if (!at) return;
    record.words = size / 8;
    std::memcpy(at, &record, sizeof record);
    std::memcpy(at + sizeof record, &text, sizeof text);
    Timeline::commit(lane, size);
}

} // namespace

void Session::announce(Timeline &timeline, Lane &lane) noexcept {
    Record record{};
    record.kind = Kind::thread;
    ThreadText text{static_cast<std::uint64_t>(::gettid()), {}};
    static_cast<void>(::pthread_getname_np(::pthread_self(), text.name, sizeof text.name));
    append(timeline, lane, record, text);
    lane.announced = 1;
}

void Session::write_name(Timeline &timeline, Lane &lane, std::uint16_t place, std::uint64_t key,
                         const Names &names) noexcept {
    Record record{};
    record.kind = Kind::name;
    record.entry = place;
    record.flags = names.asynchronous ? flag_asynchronous : 0;
    record.dtypes[0] = static_cast<std::uint8_t>(key & 0xff);
    NameText text{};
    std::memcpy(text.device, names.device, sizeof text.device);
    std::memcpy(text.function, names.function, sizeof text.function);
    append(timeline, lane, record, text);
}

void Session::record(Timeline &timeline, const atoll_call &call, const Traced &traced) noexcept {
    Lane &lane = traced.table->lane;
    if (!lane.announced) [[unlikely]]
        announce(timeline, lane);
    std::uint32_t rank = call.rank;
    const std::int64_t *shape = call.shape;
    if (call.family == ATOLL_FAMILY_CUSTOM && call.operand_count > 0) [[unlikely]] {
        rank = call.operands[0].rank;
        shape = call.operands[0].strides;
    }
    const std::uint32_t extents = std::min(rank, max_extents);
    const bool on_event = traced.entry->on_event && call.params;
    const std::size_t words =
        sizeof(Record) / sizeof(std::uint64_t) + (traced.bracket != nullptr) + on_event + extents;
    char *const at = timeline.reserve(lane, words * sizeof(std::uint64_t), true);
    if (!at) [[unlikely]]
        return;

    Record &record = *reinterpret_cast<Record *>(at);
    const auto place = [&](const Entry *entry) {
        return static_cast<std::uint16_t>(entry - traced.table->entries);
    };
    record.kind = Kind::call;
    record.words = static_cast<std::uint8_t>(words);
    record.rank = static_cast<std::uint8_t>(rank);
    record.operand_count = static_cast<std::uint8_t>(std::min<unsigned>(call.operand_count, 255));
    record.entry = place(traced.entry);
    record.parent = traced.parent ? place(traced.parent) : no_entry;
    record.status = traced.status;
    record.device = static_cast<std::int16_t>(call.device);
    record.flags = static_cast<std::uint16_t>(
        traced.flags | (traced.bracket ? flag_followed : 0) | (on_event ? flag_event : 0) |
        (call.flags & ATOLL_CALL_INSERTED ? flag_inserted : 0));
    std::uint32_t dtypes = 0;
    for (unsigned i = std::min<unsigned>(call.operand_count, max_dtypes); i-- > 0;)
        dtypes = dtypes << 8 | (call.operands[i].dtype & 0xffu);
    std::memcpy(record.dtypes, &dtypes, sizeof dtypes);
    record.reserved = 0;
    record.start = traced.start;
    record.end = traced.end;
    record.correlation = call.correlation;
    record.stream = reinterpret_cast<std::uintptr_t>(call.stream);
    record.bytes = traced.bytes;
    std::uint64_t *word = reinterpret_cast<std::uint64_t *>(at + sizeof record);
    if (traced.bracket) *word++ = traced.bracket->id;
    if (on_event)
        *word++ = reinterpret_cast<std::uintptr_t>(sdk::params<atoll_event_params>(call).event);
    for (std::uint32_t axis = 0; axis < extents; ++axis)
        *word++ = static_cast<std::uint64_t>(shape[axis]);
    Timeline::commit(lane, words * sizeof(std::uint64_t));
}

void Session::open_bracket(const atoll_call &call, Traced &traced) noexcept {
    if (!executions_) {
        traced.flags |= flag_not_asked;
        return;
    }
    Bracket *const bracket = executions_->take();
    if (!bracket) {
        traced.flags |= flag_no_room;
        return;
    }
    bracket->session = this;
    // The address is as good as a number: a table belongs to one thread at a time.
    bracket->id = (reinterpret_cast<std::uintptr_t>(traced.table) >> 6) << 32 ^
                  ++traced.table->lane.executions;
    bracket->correlation = call.correlation;
    bracket->start = 0;
    bracket->open = 2;
    const auto begins = +[](void *argument, std::int32_t) {
        Bracket &own = *static_cast<Bracket *>(argument);
        own.start = own.session->clock_.now();
        own.session->let_go(own);
    };
    if (call_back(*traced.entry, call, *bracket, begins) == ATOLL_STATUS_OK) {
        traced.bracket = bracket;
        return;
    }
    executions_->give_back(*bracket);
    traced.flags |= flag_no_callback;
}

void Session::close_bracket(const Entry &entry, const atoll_call &call, Bracket &bracket) noexcept {
    const auto ends = +[](void *argument, std::int32_t status) {
        Bracket &own = *static_cast<Bracket *>(argument);
        Session &session = *own.session;
        session.executed(own, session.clock_.now(), status);
        session.let_go(own);
    };
    if (call_back(entry, call, bracket, ends) != ATOLL_STATUS_OK) let_go(bracket);
}

// Enqueues a host callback on the call's stream, out of sight of every push of the tracer.
std::int32_t Session::call_back(const Entry &entry, const atoll_call &call, Bracket &bracket,
                                void (*function)(void *, std::int32_t)) noexcept {
    const atoll_callback_params params{sizeof params, 0, function, &bracket};
    char text[128];
    atoll_error error{sizeof error, 0, 0, sizeof text, 0, text, {}};
    atoll_call inserted{};
    inserted.struct_size = sizeof inserted;
    inserted.module = ATOLL_MODULE_DEVICE;
    inserted.function = ATOLL_DEVICE_FN_host_callback;
    inserted.family = ATOLL_FAMILY_DEVICE;
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
    if (std::atomic_ref(bracket.open).fetch_sub(1, std::memory_order_acq_rel) == 1)
        executions_->give_back(bracket);
}

// On the thread that the device runs callbacks on, which has a table and a lane as any other.
void Session::executed(const Bracket &bracket, std::uint64_t end, std::int32_t status) noexcept {
    Timeline *const timeline = timeline_.load(std::memory_order_relaxed);
    Table *const own = timeline ? table() : nullptr;
    if (!own) return;
    if (!own->lane.announced) announce(*timeline, own->lane);
    Record record{};
    record.kind = Kind::execution;
    record.status = status;
    record.start = bracket.start;
    record.end = std::max(bracket.start, end);
    record.correlation = bracket.correlation;
    append(*timeline, own->lane, record, bracket.id);
}

} // namespace Atoll::trace
