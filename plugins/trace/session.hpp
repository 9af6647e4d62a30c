// The data of one push of the tracer: counters per thread, device type, function and dtype.
//
// Note [Counters]
// Each thread that calls through the push owns one Table and is the only one to write it, with
// relaxed loads and stores: no locked instruction, no shared cache line. A report reads all
// tables meanwhile: each number is correct, but those of one entry may differ by a call.
// Tables are linked into a list that only grows; a thread that ends gives its table to the next new
// thread, counts and all, so there are never more tables than threads at one time.
#pragma once

#include "atoll/plugin.hpp"
#include "clock.hpp"
#include "counters.hpp"
#include "timeline.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace Atoll::tracing {

class Session;

// An open range of a thread, and the calls in it so far, without those in ranges that are open
// inside it.
struct OpenRange {
    std::size_t totals; // place in CounterTable::ranges
    std::uint64_t start, calls, call_ticks;
};
inline constexpr std::uint32_t max_open_ranges = 32; // deeper ones are recorded, but have no totals

struct Table : CounterTable {
    Lane lane; // of the timeline
    OpenRange open_ranges[max_open_ranges];
    std::uint32_t range_depth;
    std::uint64_t owner; // token of the thread that writes here; 0: free to take
    Table *next;         // written before the table is published
    void *memory;        // to free; null: a part of the timeline's file
};

// One line of the report.
struct Row {
    std::string device, function;
    std::uint16_t dtype = 0, reasons = 0;
    bool asynchronous = false;
    Counters counters{};
};
using Ranges = std::map<std::string, RangeTotals>; // by name

// Note [Executions]
// An interposer sees a call of an asynchronous device only while it is enqueued. Two callbacks that
// the device runs in stream order, one before the work and one after, bracket its execution. They
// are dispatched as calls inserted to serve the traced one, which other interposers see and this
// one passes on. The bracket is an outer bound: it includes the device's cost of the callbacks and,
// where two threads enqueue into one stream at a time, also the other's work.
struct Bracket {
    Session *session;
    std::uint64_t id, correlation, start;
    // Who counts the execution, set once the call has returned; null: it failed. `parent` may be
    // null.
    Entry *entry, *parent;
    std::uint64_t bytes, operations;
    std::atomic<int> open{2}; // callbacks still to come
};

struct Options {
    bool times = true;                  // read the clock; a timeline does in any case
    std::vector<std::string> functions; // globs of "core.add" or "core.add@cpu"; none: all
    std::string timeline;               // file; none: no records
    std::uint64_t buffer_bytes = 0, timeline_bytes = 0;
    bool execution = true; // follow enqueued work on its stream
};

class Session {
public:
    // Throws sdk::Error.
    Session(const atoll_host &host, Options options);
    ~Session();
    Session(const Session &) = delete;
    Session &operator=(const Session &) = delete;

    // Passes the call on, counts and records it. Throws what the function throws.
    std::int32_t trace(const atoll_link &self, atoll_call &call);

    // A range of this thread begins, or ends (null).
    void range(const char *name) noexcept;

    // Sums over threads: one row per device type, function and dtype, or reasons. From any thread.
    std::vector<Row> rows() const;
    Ranges ranges() const;
    // Calls that were not counted because a table was full.
    std::uint64_t lost() const noexcept { return lost_.load(std::memory_order_relaxed); }
    const Clock &clock() const noexcept { return clock_; }
    bool timed() const noexcept { return timed_; }

    // Waits up to a second for pending executions. False if some remain; then the session must not
    // be destroyed, because their callbacks use it.
    bool settle() noexcept;
    // Lets readers convert the records so far to nanoseconds.
    void synchronise(bool closed) noexcept;
    // In a forked child: counts from zero, and leaves the file and all tables to the parent. They
    // leak, since the lock may be held by a thread that the child does not have.
    void begin_in_child() noexcept;

    // Gives up the tables of a thread that ends.
    void release(std::uint64_t thread) noexcept;

private:
    // A call on its way through the tracer.
    struct Traced {
        Table *table;
        Entry *entry;
        Entry *parent; // of the function that an inserted call serves
        Bracket *bracket;
        std::uint64_t start, end, bytes, operations;
        std::int32_t status;
        std::uint16_t flags; // timeline::RecordFlag
    };
    static std::uint16_t place_of(const Entry *entry, const Traced &traced) noexcept {
        return static_cast<std::uint16_t>(entry - traced.table->entries);
    }
    static unsigned rare_flags(const atoll_call &call, const Traced &traced,
                               std::uint64_t ticks) noexcept;
    static std::uint64_t *write_rare(std::uint64_t *word, unsigned rare, const atoll_call &call,
                                     const Traced &traced, std::uint64_t ticks) noexcept;
    void finish(const atoll_link &self, const atoll_call &call, Traced &traced) noexcept;
    void serve(const atoll_link &self, const atoll_call &call, Traced &traced) noexcept;
    void record(Timeline &timeline, const atoll_call &call, const Traced &traced) noexcept;
    void announce(Timeline &timeline, Lane &lane) noexcept;
    void record_range(Timeline &timeline, Lane &lane, const char *name, std::uint64_t now) noexcept;
    void open_bracket(const atoll_call &call, Traced &traced) noexcept;
    void close_bracket(const atoll_call &call, const Traced &traced) noexcept;
    std::int32_t call_back(const Entry &entry, const atoll_call &call, Bracket &bracket,
                           void (*function)(void *, std::int32_t)) noexcept;
    std::int32_t host_dispatch(const char *device_type, atoll_call &call) noexcept;
    void let_go(Bracket &bracket) noexcept;
    void executed(const Bracket &bracket, std::uint64_t end, std::int32_t status) noexcept;

    void note_libraries() noexcept;

    Table *table() noexcept; // this thread's
    Table *find_table() noexcept;
    Table *take_table() noexcept;
    Table *make_table() noexcept;
    Entry *find_entry(Table &table, const atoll_link &link, std::uint64_t key) noexcept;
    Entry *add_entry(Table &table, std::size_t place, const atoll_link &link,
                     std::uint64_t key) noexcept;

    const atoll_host &host_;
    const std::uint64_t id_; // never reused, so that a thread cannot mistake a new session for it
    Clock clock_;
    const Options options_;
    const bool timed_;
    std::atomic<Timeline *> timeline_{nullptr}; // what own_timeline_ points to, or null
    std::unique_ptr<Timeline> own_timeline_;
    std::atomic<std::int64_t> brackets_{0}; // under way
    std::atomic<Table *> tables_{nullptr};
    std::atomic<std::uint64_t> lost_{0};
    std::atomic<std::uint64_t> library_changes_{0}; // libraries::changes() that are in the file
};

// Writes what the session gathered as an aligned table, or as JSON lines.
void write_table(const Session &session, atoll_writer write, void *user);
void write_json(const Session &session, atoll_writer write, void *user);

} // namespace Atoll::tracing
