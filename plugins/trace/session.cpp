// The existing sessions, the tables of their threads, and the sums of all tables.
#include "session.hpp"

#include "libraries.hpp"
#include "thread_state.hpp"

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <map>
#include <mutex>
#include <pthread.h>
#include <tuple>
#include <unistd.h>

namespace Atoll::tracing {
namespace {

// The sessions that exist, so that a thread can give up its tables when it ends. Never destroyed:
// threads may end after static destructors have run.
struct Registry {
    std::mutex mutex;
    std::vector<Session *> sessions;
};
Registry &registry() {
    static Registry *const instance = new Registry;
    return *instance;
}

// Created at a thread's first traced call; its destructor releases the thread's tables.
struct ThreadToken {
    std::uint64_t value;
    ThreadToken() {
        static std::atomic<std::uint64_t> last{0};
        value = last.fetch_add(1, std::memory_order_relaxed) + 1;
    }
    ~ThreadToken() {
        here.ends = true;
        for (CachedTable &cached : here.cache) cached = {};
        const std::lock_guard lock(registry().mutex);
        for (Session *session : registry().sessions) session->release(value);
    }
};

// A child process records nothing: it shares the parent's file and lacks its other threads.
void watch_forks() {
    static const int code =
        ::pthread_atfork([] { registry().mutex.lock(); }, [] { registry().mutex.unlock(); },
                         [] {
                             for (Session *session : registry().sessions) session->begin_in_child();
                             registry().mutex.unlock();
                         });
    static_cast<void>(code);
}

// Runs at the end of the process, after the program's own exit handlers; other threads may go on.
__attribute__((destructor)) void end_of_process() {
    std::unique_lock lock(registry().mutex, std::try_to_lock);
    if (!lock)
        return; // a session is being created or destroyed; its records are already in the file
    for (Session *session : registry().sessions) {
        session->settle();
        session->synchronise(true);
    }
}

// quick_exit() runs no destructors.
[[maybe_unused]] const int quick_exit_code = std::at_quick_exit(end_of_process);

std::uint64_t next_session_id() {
    static std::atomic<std::uint64_t> last{0};
    return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

} // namespace

void merge(Counters &sum, Counters &part) noexcept {
    const std::uint64_t calls = read(part.calls);
    if (calls > 0) {
        const std::uint64_t min_ticks = read(part.min_ticks);
        sum.min_ticks = sum.calls > 0 ? std::min(sum.min_ticks, min_ticks) : min_ticks;
        sum.max_ticks = std::max(sum.max_ticks, read(part.max_ticks));
        sum.calls += calls;
    }
    for (std::uint64_t Counters::*counter :
         {&Counters::ticks, &Counters::bytes, &Counters::operations, &Counters::errors,
          &Counters::inserted, &Counters::temporaries, &Counters::temporary_bytes,
          &Counters::copies, &Counters::copied_bytes, &Counters::served_ticks,
          &Counters::executions, &Counters::execution_ticks, &Counters::executed_bytes,
          &Counters::executed_operations, &Counters::served_execution_ticks}) {
        sum.*counter += read(part.*counter);
    }
}

Session::Session(const atoll_host &host, Options options)
    : host_(host), id_(next_session_id()), options_(std::move(options)),
      timed_(options_.times || !options_.timeline.empty()) {
    if (!options_.timeline.empty()) {
        own_timeline_ = std::make_unique<Timeline>(options_.timeline, options_.buffer_bytes,
                                                   options_.timeline_bytes, clock_);
        timeline_ = own_timeline_.get();
    }
    watch_forks();
    const std::lock_guard lock(registry().mutex);
    registry().sessions.push_back(this);
}

Session::~Session() {
    {
        const std::lock_guard lock(registry().mutex);
        std::erase(registry().sessions, this);
    }
    for (Table *table = tables_.load(std::memory_order_acquire); table;) {
        Table *const next = table->next;
        if (own_timeline_) own_timeline_->leave(table->lane);
        if (table->memory)
            std::free(table->memory);
        else
            Timeline::unmap_counters(table, sizeof *table);
        table = next;
    }
}

bool Session::settle() noexcept {
    for (int waited = 0; brackets_.load(std::memory_order_acquire) != 0; ++waited) { // ms
        if (waited == 1000) return false;
        const timespec pause{0, 1'000'000};
        ::nanosleep(&pause, nullptr);
    }
    return true;
}

// Also while calls run, so that the file has them whatever ends the process.
void Session::note_libraries() noexcept {
    Timeline *const timeline = timeline_.load(std::memory_order_relaxed);
    if (!timeline) return;
    const std::uint64_t changes = libraries::changes();
    if (library_changes_.exchange(changes, std::memory_order_relaxed) == changes) return;
    try {
        timeline->set_libraries(libraries::packed(libraries::mapped()));
    } catch (const std::bad_alloc &) { // they are listed again with the next change
    }
}

void Session::synchronise(bool closed) noexcept {
    note_libraries();
    if (Timeline *const timeline = timeline_.load(std::memory_order_relaxed))
        timeline->synchronise(closed);
}

Table *Session::find_table() noexcept {
    for (const CachedTable &cached : here.cache) {
        if (cached.session == id_) return cached.table;
    }
    if (here.ends) return nullptr; // a call out of some thread_local's destructor
    Table *const table = take_table();
    if (table) {
        std::copy_backward(here.cache, here.cache + cache_size - 1, here.cache + cache_size);
        here.cache[0] = {id_, table};
    }
    return table;
}

Table *Session::take_table() noexcept {
    thread_local const ThreadToken token;
    // This thread's own, evicted from its cache by other sessions; or one that another thread left.
    for (Table *table = tables_.load(std::memory_order_acquire); table; table = table->next) {
        if (std::atomic_ref(table->owner).load(std::memory_order_relaxed) == token.value)
            return table;
    }
    for (Table *table = tables_.load(std::memory_order_acquire); table; table = table->next) {
        std::uint64_t nobody = 0;
        if (std::atomic_ref(table->owner)
                .compare_exchange_strong(nobody, token.value, std::memory_order_acquire)) {
            table->lane.announced = 0;
            table->range_depth = 0;
            return table;
        }
    }
    Table *const table = make_table();
    if (!table) return nullptr;
    std::atomic_ref(table->owner).store(token.value, std::memory_order_relaxed);
    table->next = tables_.load(std::memory_order_relaxed);
    while (!tables_.compare_exchange_weak(table->next, table, std::memory_order_release,
                                          std::memory_order_relaxed)) {
    }
    return table;
}

// Zeroed lazily: a new thread pays only for the pages that it uses.
Table *Session::make_table() noexcept {
    Timeline *const timeline = timeline_.load(std::memory_order_relaxed);
    Lane lane{};
    if (timeline)
        if (void *const memory = timeline->map_counters(lane, sizeof(Table))) {
            Table *const table = static_cast<Table *>(memory);
            table->lane = lane;
            table->lane.dropped = &table->dropped;
            return table;
        }
    std::size_t space = sizeof(Table) + alignof(Table);
    void *const memory = std::calloc(1, space);
    if (!memory) return nullptr;
    void *aligned = memory;
    Table *const table =
        static_cast<Table *>(std::align(alignof(Table), sizeof(Table), aligned, space));
    table->memory = memory;
    table->lane = lane;
    return table;
}

void Session::begin_in_child() noexcept {
    timeline_.store(nullptr, std::memory_order_relaxed);
    static_cast<void>(own_timeline_.release());
    brackets_.store(0, std::memory_order_relaxed); // their callbacks run in the parent
    lost_.store(0, std::memory_order_relaxed);
    // The tables belong to the parent: its file has them, and other threads than this one.
    tables_.store(nullptr, std::memory_order_relaxed);
    for (CachedTable &cached : here.cache)
        if (cached.session == id_) cached = {};
}

void Session::release(std::uint64_t thread) noexcept {
    for (Table *table = tables_.load(std::memory_order_acquire); table; table = table->next) {
        const std::atomic_ref owner(table->owner);
        if (owner.load(std::memory_order_relaxed) == thread)
            owner.store(0, std::memory_order_release);
    }
}

std::vector<Row> Session::rows() const {
    std::map<std::tuple<std::string, std::string, std::uint16_t, std::uint16_t, bool>, Counters>
        sums;
    for (Table *table = tables_.load(std::memory_order_acquire); table; table = table->next) {
        for (std::size_t place = 0; place < Table::size; ++place) {
            Entry &entry = table->entries[place];
            if (!std::atomic_ref(entry.device).load(std::memory_order_acquire)) continue;
            const Names &names = table->names[place];
            merge(sums[{names.device, names.function, dtype_of(entry), reasons_of(entry),
                        names.asynchronous}],
                  entry.counters);
        }
    }
    std::vector<Row> rows;
    rows.reserve(sums.size());
    for (const auto &[key, counters] : sums)
        rows.push_back({std::get<0>(key), std::get<1>(key), std::get<2>(key), std::get<3>(key),
                        std::get<4>(key), counters});
    return rows;
}

} // namespace Atoll::tracing
