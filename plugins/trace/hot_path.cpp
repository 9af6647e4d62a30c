// The hot path: what happens around each call that the tracer sees.
#include "atoll/core_functions.hpp"
#include "atoll/dtype_facts.hpp"
#include "session.hpp"
#include "thread_state.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fnmatch.h>

namespace Atoll::tracing {

// GCC does not take the attribute from the declaration.
constinit thread_local ThreadState here __attribute__((tls_model("initial-exec")));

namespace {

// `reasons`: of the entry for what was inserted for them to serve the function.
constexpr std::uint64_t pack(std::uint16_t module, std::uint16_t function, std::uint16_t dtype,
                             std::uint32_t reasons = 0) {
    return std::uint64_t{reasons} << 48 | std::uint64_t{module} << 32 |
           std::uint64_t{function} << 16 | dtype;
}
static_assert(ATOLL_CALL_REASON_COUNT <= 16);

// Bytes that a call reads and writes: of each operand the elements that differ (an axis of stride 0
// repeats them), once. An absent operand has no data.
std::uint64_t bytes_of(const atoll_call &call) noexcept {
    if (call.module == ATOLL_MODULE_DEVICE) {
        if (!call.params) return 0;
        switch (call.function) {
        case ATOLL_DEVICE_FN_allocate:
        case ATOLL_DEVICE_FN_free:
        case ATOLL_DEVICE_FN_allocate_host:
        case ATOLL_DEVICE_FN_free_host: return sdk::params<atoll_memory_params>(call).bytes;
        case ATOLL_DEVICE_FN_transfer: return sdk::params<atoll_transfer_params>(call).bytes;
        default: return 0;
        }
    }
    std::uint64_t total = 0;
    const atoll_operand *const end = call.operands + call.operand_count;
    for (const atoll_operand *o = call.operands; o != end; ++o) {
        auto bytes = static_cast<std::uint64_t>(o->data ? sdk::dtype_size(o->dtype) : 0);
        for (std::uint32_t axis = 0; axis < call.rank; ++axis)
            bytes *= o->strides[axis] != 0 ? static_cast<std::uint64_t>(call.shape[axis]) : 1;
        total += bytes;
    }
    return total;
}

std::uint64_t points_of(const atoll_call &call) noexcept {
    std::uint64_t points = 1;
    for (std::uint32_t axis = 0; axis < call.rank; ++axis)
        points *= static_cast<std::uint64_t>(call.shape[axis]);
    return points;
}

} // namespace

std::int32_t Session::trace(const atoll_link &self, atoll_call &call) {
    if (here.own_call) [[unlikely]]
        return self.next->fn(self.next, &call);
    Table *const own = table();
    Entry *const entry =
        own ? find_entry(*own, self, pack(call.module, call.function, call.dtype)) : nullptr;
    if (!entry) [[unlikely]] {
        lost_.fetch_add(1, std::memory_order_relaxed);
        return self.next->fn(self.next, &call);
    }
    if (entry->skipped) return self.next->fn(self.next, &call);
    Traced traced{own, entry, nullptr, nullptr, 0, 0, 0, 0, ATOLL_STATUS_PLUGIN_FAULT, 0};
    if (entry->enqueues && timeline_.load(std::memory_order_relaxed)) [[unlikely]]
        open_bracket(call, traced);
    if (timed_) traced.start = clock_.now();
    try {
        traced.status = self.next->fn(self.next, &call);
    } catch (...) { // the host contains it
        finish(self, call, traced);
        throw;
    }
    finish(self, call, traced);
    return traced.status;
}

[[gnu::always_inline]] inline Table *cached_table(std::uint64_t session) noexcept {
    return here.cache[0].session == session ? here.cache[0].table : nullptr;
}

Table *Session::table() noexcept {
    Table *const cached = cached_table(id_);
    return cached ? cached : find_table();
}

std::int32_t Session::host_dispatch(const char *device_type, atoll_call &call) noexcept {
    here.own_call = true;
    std::int32_t status;
    try {
        status = host_.dispatch(host_.self, device_type, &call);
    } catch (...) { // out of another interposer
        status = ATOLL_STATUS_PLUGIN_FAULT;
    }
    here.own_call = false;
    return status;
}

[[gnu::always_inline]] inline void Session::finish(const atoll_link &self, const atoll_call &call,
                                                   Traced &traced) noexcept {
    // The counters of processors may differ slightly: avoid a negative time.
    traced.end = timed_ ? std::max(clock_.now(), traced.start) : 0;
    Counters &counters = traced.entry->counters;
    traced.bytes = bytes_of(call);
    const std::uint64_t calls = read(counters.calls);
    const std::uint64_t ticks = traced.end - traced.start;
    if (ticks < read(counters.min_ticks)) [[unlikely]]
        std::atomic_ref(counters.min_ticks).store(ticks, std::memory_order_relaxed);
    if (ticks > read(counters.max_ticks)) [[unlikely]]
        std::atomic_ref(counters.max_ticks).store(ticks, std::memory_order_relaxed);
    std::atomic_ref(counters.calls).store(calls + 1, std::memory_order_relaxed);
    add(counters.ticks, ticks);
    add(counters.bytes, traced.bytes);
    if (traced.entry->flop) [[unlikely]] {
        traced.operations = traced.entry->flop * points_of(call);
        add(counters.operations, traced.operations);
    }
    // NOT_READY is an answer of event_query, not an error.
    if (traced.status != ATOLL_STATUS_OK && traced.status != ATOLL_STATUS_NOT_READY) [[unlikely]]
        add(counters.errors, 1);
    if (traced.table->range_depth > 0) [[unlikely]] {
        OpenRange &range =
            traced.table->open_ranges[std::min(traced.table->range_depth, max_open_ranges) - 1];
        ++range.calls;
        range.call_ticks += ticks;
    }
    if (call.flags & ATOLL_CALL_INSERTED) [[unlikely]]
        serve(self, call, traced);
    if (Timeline *const timeline = timeline_.load(std::memory_order_relaxed))
        record(*timeline, call, traced);
    if (traced.bracket) [[unlikely]]
        close_bracket(call, traced);
}

// Counts an inserted call for the function that it serves.
void Session::serve(const atoll_link &self, const atoll_call &call, Traced &traced) noexcept {
    add(traced.entry->counters.inserted, 1);
    traced.parent =
        find_entry(*traced.table, self,
                   pack(call.parent_module, call.parent_function, ATOLL_DTYPE_NONE, call.reasons));
    if (!traced.parent) {
        lost_.fetch_add(1, std::memory_order_relaxed);
        return;
    }
    Counters &served = traced.parent->counters;
    const bool on_device = call.module == ATOLL_MODULE_DEVICE;
    // The host waits for everything enqueued before, most of which belongs to other calls.
    const bool waits = on_device && (call.function == ATOLL_DEVICE_FN_stream_synchronize ||
                                     call.function == ATOLL_DEVICE_FN_event_synchronize);
    if (!traced.bracket && !waits) add(served.served_ticks, traced.end - traced.start);
    if (on_device && call.function == ATOLL_DEVICE_FN_allocate) {
        add(served.temporaries, 1);
        add(served.temporary_bytes, traced.bytes);
    } else if (on_device ? call.function == ATOLL_DEVICE_FN_transfer
                         : call.module == ATOLL_MODULE_CORE && call.function == ATOLL_FN_copy) {
        add(served.copies, 1);
        // Of a copy, what arrives: its output. Of a transfer, all that there is.
        const bool has_output = !on_device && call.operand_count > 0;
        add(served.copied_bytes,
            has_output ? points_of(call) *
                             static_cast<std::uint64_t>(sdk::dtype_size(call.operands[0].dtype))
                       : traced.bytes);
    }
}

inline Entry *Session::find_entry(Table &table, const atoll_link &link,
                                  std::uint64_t key) noexcept {
    const char *const device = host_.device_type_of(&link);
    const std::uint64_t hash =
        (key ^ static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(device)) << 20) *
        0x9e3779b97f4a7c15u;
    std::size_t place = hash >> 54;
    static_assert(Table::size == std::size_t{1} << (64 - 54));
    for (std::size_t probe = 0; probe < Table::size; ++probe) {
        Entry &entry = table.entries[place];
        if (entry.device == device && entry.key == key) [[likely]]
            return &entry;
        if (!entry.device) return add_entry(table, place, link, key);
        place = (place + 1) % Table::size;
    }
    return nullptr;
}

namespace {

template <std::size_t Capacity> void copy_text(char (&to)[Capacity], const char *from) noexcept {
    const std::size_t size = std::min(std::strlen(from), Capacity - 1);
    std::memcpy(to, from, size);
    to[size] = '\0';
}

// Whether the function enqueues work on the call's stream. Functions that manage objects, query, or
// wait on the host do not.
bool enqueues_work(std::uint16_t module, std::uint16_t function) {
    if (module != ATOLL_MODULE_DEVICE) return true;
    return function == ATOLL_DEVICE_FN_transfer || function == ATOLL_DEVICE_FN_event_record ||
           function == ATOLL_DEVICE_FN_event_wait;
}

// A glob with an '@' is matched with "core.add@cpu", another one with "core.add".
bool is_wanted(const std::vector<std::string> &globs, const Names &names) {
    char full[sizeof names.function + sizeof names.device + 1];
    std::snprintf(full, sizeof full, "%s@%s", names.function, names.device);
    return globs.empty() || std::any_of(globs.begin(), globs.end(), [&](const std::string &glob) {
               const bool by_device = glob.find('@') != std::string::npos;
               return ::fnmatch(glob.c_str(), by_device ? full : names.function, 0) == 0;
           });
}

} // namespace

Entry *Session::add_entry(Table &table, std::size_t place, const atoll_link &link,
                          std::uint64_t key) noexcept {
    const auto module = static_cast<std::uint16_t>(key >> 32),
               function = static_cast<std::uint16_t>(key >> 16);
    const char *const device = host_.device_type_of(&link);
    if (!device) return nullptr;
    Names &names = table.names[place];
    const char *const name = host_.function_name(module, function);
    copy_text(names.device, device);
    names.asynchronous = !(host_.device_flags_of(&link) & ATOLL_DEVICE_INLINE);
    copy_text(names.function, name ? name : "?");
    Entry &entry = table.entries[place];
    entry.skipped = !is_wanted(options_.functions, names);
    entry.enqueues = names.asynchronous && enqueues_work(module, function);
    entry.flop = 0;
    if (module == ATOLL_MODULE_CORE && function < std::size(sdk::core_functions))
        entry.flop = static_cast<std::uint32_t>(sdk::core_functions[function].signature.flop);
    entry.on_handle = module == ATOLL_MODULE_DEVICE && function >= ATOLL_DEVICE_FN_stream_create &&
                      function <= ATOLL_DEVICE_FN_event_query &&
                      function != ATOLL_DEVICE_FN_stream_synchronize;
    entry.key = key;
    reset(entry.counters);
    std::atomic_ref(entry.device).store(device, std::memory_order_release);
    note_libraries(); // here, since this is rare
    return &entry;
}

} // namespace Atoll::tracing
