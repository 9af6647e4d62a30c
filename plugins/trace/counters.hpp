// The totals of one thread: counters per device type, function and dtype. They are complete even
// where records are not, and readable after the process has died, because a session with a timeline
// keeps them in its file.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace Atoll::tracing {

// Plain numbers, so that tables can live in zeroed memory whose pages nobody has touched yet; in
// the traced process they are accessed through add() and read() only.
struct Counters {
    std::uint64_t calls;
    std::uint64_t ticks; // in total; inclusive of nested calls
    std::uint64_t min_ticks, max_ticks;
    std::uint64_t bytes;      // read and written
    std::uint64_t operations; // floating-point operations, of functions that declare them
    std::uint64_t errors;
    std::uint64_t inserted; // of `calls`: made by the core to serve another function
    // What the core inserted to serve THIS function (see atoll_call::parent_function), on the
    // entry's device type. In an entry of its own for each set of reasons, under dtype 0: the
    // parent's is not known.
    std::uint64_t temporaries, temporary_bytes; // allocations
    std::uint64_t copies, copied_bytes;         // copies, casts, transfers
    std::uint64_t served_ticks; // time in inserted calls that neither are followed nor wait
    // Followed work that is done, as its brackets have it (Note [Executions]), and what of it
    // served this function. Written by the threads of devices, so with add_shared().
    std::uint64_t executions, execution_ticks, executed_bytes, executed_operations,
        served_execution_ticks;
};

// Before the first call.
inline void reset(Counters &counters) noexcept {
    counters = {};
    counters.min_ticks = ~std::uint64_t{0}; // so that any call is the shortest so far
}

inline void add(std::uint64_t &counter, std::uint64_t amount) noexcept {
    const std::atomic_ref<std::uint64_t> value(counter);
    value.store(value.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
}
inline void add_shared(std::uint64_t &counter, std::uint64_t amount) noexcept {
    std::atomic_ref(counter).fetch_add(amount, std::memory_order_relaxed);
}
inline std::uint64_t read(std::uint64_t &counter) noexcept {
    return std::atomic_ref<std::uint64_t>(counter).load(std::memory_order_relaxed);
}

// Adds `part`, which its thread may be changing.
void merge(Counters &sum, Counters &part) noexcept;

struct alignas(64) Entry {
    const char *device; // the key's first half; null: free. Published last, with release
    std::uint64_t key;  // reasons, module, function, dtype: 16 bits each
    Counters counters;
    std::uint32_t flop; // operations per point of a call's space; 0: the function declares none
    bool skipped;       // the setting `functions` leaves it out
    bool enqueues;      // the device type is asynchronous and the function puts work on the stream
    bool on_handle;     // its calls are about an event, or create or destroy a stream
};
inline std::uint16_t dtype_of(const Entry &entry) { return static_cast<std::uint16_t>(entry.key); }
inline std::uint16_t reasons_of(const Entry &entry) { // ATOLL_REASON_*
    return static_cast<std::uint16_t>(entry.key >> 48);
}

// Copies, since the host's strings live only as long as the plugin that they name.
struct Names {
    char device[32];
    bool asynchronous; // times are those to enqueue
    char function[95];
};

// The totals of the ranges of one name (atoll/range.h) that have ended. A range within one of the
// same name is in them twice.
struct RangeTotals {
    char name[80]; // cut off if longer
    std::uint64_t count;
    std::uint64_t ticks, min_ticks, max_ticks;
    std::uint64_t calls, call_ticks; // of functions, on the thread, ranges inside included
};
inline constexpr std::size_t max_ranges = 128; // names; the last one is for all that find no room
inline constexpr const char *other_ranges = "(other ranges)";

// A hash table with open addressing; entries are never removed. 320 KiB of address space, of which
// a page is used for every 20 entries or so.
struct CounterTable {
    static constexpr std::size_t size = 1024; // a power of two, several times what programs need

    Entry entries[size];
    Names names[size];
    std::uint64_t dropped;          // calls that are counted but have no record
    RangeTotals ranges[max_ranges]; // in the order of their first ends; count 0: free
};

} // namespace Atoll::tracing
