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

void Session::record(Timeline &timeline, Table &table, const Entry &entry, const Entry *parent,
                     const atoll_call &call, const Measured &measured, std::uint64_t bytes,
                     const Bracket *bracket, std::uint16_t flags) noexcept {
    Lane &lane = table.lane;
    if (!lane.announced) [[unlikely]]
        announce(timeline, lane);
    const auto place = [&](const Entry &e) {
        return static_cast<std::uint16_t>(&e - table.entries);
    };
    const bool custom = call.family == ATOLL_FAMILY_CUSTOM && call.operand_count > 0;
    const std::uint32_t rank = std::min(custom ? call.operands[0].rank : call.rank, max_extents);
    const std::int64_t *const shape = custom ? call.operands[0].strides : call.shape;
    std::uint64_t words[2];
    unsigned count = 0;
    if (bracket) {
        flags |= flag_followed;
        words[count++] = bracket->id;
    }
    if (call.module == ATOLL_MODULE_DEVICE && call.params &&
        call.function >= ATOLL_DEVICE_FN_event_create &&
        call.function <= ATOLL_DEVICE_FN_event_query) {
        flags |= flag_event;
        words[count++] =
            reinterpret_cast<std::uintptr_t>(sdk::params<atoll_event_params>(call).event);
    }
    const std::size_t size = sizeof(Record) + (count + rank) * sizeof(std::uint64_t);
    char *const at = timeline.reserve(lane, size, true);
    if (!at) return;

    Record &record = *reinterpret_cast<Record *>(at);
    record.kind = Kind::call;
    record.words = static_cast<std::uint8_t>(size / 8);
    record.rank = static_cast<std::uint8_t>(custom ? call.operands[0].rank : call.rank);
    record.operand_count = static_cast<std::uint8_t>(std::min<unsigned>(call.operand_count, 255));
    record.entry = place(entry);
    record.parent = parent ? place(*parent) : no_entry;
    record.status = measured.status;
    record.device = static_cast<std::int16_t>(call.device);
    record.flags =
        static_cast<std::uint16_t>(flags | (call.flags & ATOLL_CALL_INSERTED ? flag_inserted : 0));
    for (unsigned i = 0; i < max_dtypes; ++i)
        record.dtypes[i] = i < call.operand_count
                               ? static_cast<std::uint8_t>(call.operands[i].dtype)
                               : std::uint8_t{0};
    record.reserved = 0;
    record.start = measured.start;
    record.end = measured.end;
    record.correlation = call.correlation;
    record.stream = reinterpret_cast<std::uintptr_t>(call.stream);
    record.bytes = bytes;
    std::memcpy(at + sizeof record, words, count * sizeof words[0]);
    std::uint64_t *const extents = reinterpret_cast<std::uint64_t *>(at + sizeof record) + count;
    for (std::uint32_t axis = 0; axis < rank; ++axis)
        extents[axis] = static_cast<std::uint64_t>(shape[axis]);
    Timeline::commit(lane, size);
}

Bracket *Session::open_bracket(Table &table, const Entry &entry, const atoll_call &call,
                               std::uint16_t &flags) noexcept {
    if (!executions_) {
        flags |= flag_not_asked;
        return nullptr;
    }
    Bracket *const bracket = executions_->take();
    if (!bracket) {
        flags |= flag_no_room;
        return nullptr;
    }
    bracket->session = this;
    // The address is as good as a number: a table belongs to one thread at a time.
    bracket->id = (reinterpret_cast<std::uintptr_t>(&table) >> 6) << 32 ^ ++table.lane.executions;
    bracket->correlation = call.correlation;
    bracket->start = 0;
    bracket->open = 2;
    const auto begins = +[](void *argument, std::int32_t) {
        Bracket &own = *static_cast<Bracket *>(argument);
        own.start = own.session->clock_.now();
        own.session->let_go(own);
    };
    if (call_back(entry, call, *bracket, begins) == ATOLL_STATUS_OK) return bracket;
    executions_->give_back(*bracket);
    flags |= flag_no_callback;
    return nullptr;
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
