// The hot path of the tracer, and how threads come by their tables.
#include "session.hpp"

#include "atoll/dtype_facts.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fnmatch.h>
#include <map>
#include <mutex>
#include <pthread.h>
#include <tuple>
#include <unistd.h>

namespace Atoll::trace {
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

// This thread's tables. More than four pushes of the tracer at a time work, but more slowly.
// Constant-initialised and without a destructor, so that the hot path needs no guard.
struct CachedTable {
    std::uint64_t session;
    Table *table;
};
constexpr unsigned cache_size = 4;
struct ThreadState {
    bool own_call; // the tracer makes a call of its own, which it passes on
    bool ends;
    CachedTable cache[cache_size]; // the newest session's first
};
// A few bytes only, so they fit where a library that is loaded late may have fast ones.
thread_local ThreadState here __attribute__((tls_model("initial-exec")));

// Made at a thread's first traced call; its destructor gives the tables up.
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

// A child shares the parent's file and has none of its other threads: it records nothing.
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
    if (!lock) return; // a session is being made or destroyed: what is recorded is in the file
    for (Session *session : registry().sessions) {
        session->settle();
        session->synchronise(true);
    }
}

std::uint64_t next_session_id() {
    static std::atomic<std::uint64_t> last{0};
    return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

constexpr std::uint64_t pack(std::uint16_t module, std::uint16_t function, std::uint16_t dtype) {
    return std::uint64_t{module} << 32 | std::uint64_t{function} << 16 | dtype;
}

// Bytes that a call reads and writes: of each operand the elements that differ (an axis of stride 0
// repeats them), once. An absent operand has no data.
std::uint64_t bytes_of(const atoll_call &call) noexcept {
    if (call.module == ATOLL_MODULE_DEVICE) {
        if (!call.params) return 0;
        switch (call.function) {
        case ATOLL_DEVICE_FN_allocate:
        case ATOLL_DEVICE_FN_free: return sdk::params<atoll_memory_params>(call).bytes;
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

template <std::size_t Capacity> void copy_text(char (&to)[Capacity], const char *from) noexcept {
    const std::size_t size = std::min(std::strlen(from), Capacity - 1);
    std::memcpy(to, from, size);
    to[size] = '\0';
}

void merge(Counters &sum, Counters &part) noexcept {
    const std::uint64_t calls = read(part.calls);
    if (calls > 0) {
        const std::uint64_t min_ticks = read(part.min_ticks);
        sum.min_ticks = sum.calls > 0 ? std::min(sum.min_ticks, min_ticks) : min_ticks;
        sum.max_ticks = std::max(sum.max_ticks, read(part.max_ticks));
        sum.calls += calls;
    }
    for (std::uint64_t Counters::*counter :
         {&Counters::ticks, &Counters::bytes, &Counters::errors, &Counters::inserted,
          &Counters::temporaries, &Counters::temporary_bytes, &Counters::copies,
          &Counters::copied_bytes, &Counters::served_ticks}) {
        sum.*counter += read(part.*counter);
    }
}

} // namespace

Session::Session(const atoll_host &host, Options options)
    : host_(host), id_(next_session_id()), options_(std::move(options)),
      timed_(options_.times || !options_.timeline.empty()) {
    if (!options_.timeline.empty()) {
        own_timeline_ = std::make_unique<Timeline>(options_.timeline, options_.buffer_bytes / 2,
                                                   options_.timeline_bytes, clock_);
        if (options_.execution) executions_ = std::make_unique<Executions>();
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
    if (own_timeline_) own_timeline_->stop(); // before its lanes go
    for (Table *table = tables_.load(std::memory_order_acquire); table;) {
        Table *const next = table->next;
        if (own_timeline_) own_timeline_->leave(table->lane);
        std::free(table->memory);
        table = next;
    }
}

bool Session::settle() noexcept { return !executions_ || executions_->settle(1000); }

void Session::synchronise(bool closed) noexcept {
    if (Timeline *const timeline = timeline_.load(std::memory_order_relaxed))
        timeline->synchronise(closed);
}

void Session::stop() noexcept {
    synchronise(true);
    if (own_timeline_) own_timeline_->stop();
}

std::int32_t Session::trace(const atoll_link &self, atoll_call &call) {
    if (here.own_call) [[unlikely]]
        return self.next->fn(self.next, &call);
    Table *const own = table();
    Entry *const entry =
        own ? find_entry(*own, self, call.module, call.function, call.dtype) : nullptr;
    if (!entry) [[unlikely]] {
        lost_.fetch_add(1, std::memory_order_relaxed);
        return self.next->fn(self.next, &call);
    }
    if (entry->skipped) return self.next->fn(self.next, &call);
    Traced traced{own, entry, nullptr, nullptr, 0, 0, 0, ATOLL_STATUS_PLUGIN_FAULT, 0};
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
    // A thread that moved between processors whose counters differ a little: no time, not 2^64.
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
    // NOT_READY is event_query's way to say "no".
    if (traced.status != ATOLL_STATUS_OK && traced.status != ATOLL_STATUS_NOT_READY) [[unlikely]]
        add(counters.errors, 1);
    if (call.flags & ATOLL_CALL_INSERTED) [[unlikely]]
        serve(self, call, traced);
    if (Timeline *const timeline = timeline_.load(std::memory_order_relaxed))
        record(*timeline, call, traced);
    if (traced.bracket) [[unlikely]]
        close_bracket(*traced.entry, call, *traced.bracket);
}

// Counts an inserted call for the function that it serves.
void Session::serve(const atoll_link &self, const atoll_call &call, Traced &traced) noexcept {
    add(traced.entry->counters.inserted, 1);
    traced.parent =
        find_entry(*traced.table, self, call.parent_module, call.parent_function, ATOLL_DTYPE_NONE);
    if (!traced.parent) {
        lost_.fetch_add(1, std::memory_order_relaxed);
        return;
    }
    Counters &served = traced.parent->counters;
    add(served.served_ticks, traced.end - traced.start);
    const bool on_device = call.module == ATOLL_MODULE_DEVICE;
    if (on_device && call.function == ATOLL_DEVICE_FN_allocate) {
        add(served.temporaries, 1);
        add(served.temporary_bytes, traced.bytes);
    } else if (on_device ? call.function == ATOLL_DEVICE_FN_transfer
                         : call.module == ATOLL_MODULE_CORE && call.function == ATOLL_FN_copy) {
        add(served.copies, 1);
        // Of a copy, what arrives: its output. Of a transfer, all that there is.
        std::uint64_t copied = traced.bytes;
        if (!on_device && call.operand_count > 0) {
            copied = static_cast<std::uint64_t>(sdk::dtype_size(call.operands[0].dtype));
            for (std::uint32_t axis = 0; axis < call.rank; ++axis)
                copied *= static_cast<std::uint64_t>(call.shape[axis]);
        }
        add(served.copied_bytes, copied);
    }
}

inline Entry *Session::find_entry(Table &table, const atoll_link &link, std::uint16_t module,
                                  std::uint16_t function, std::uint16_t dtype) noexcept {
    const char *const device = host_.device_type_of(&link);
    const std::uint64_t key = pack(module, function, dtype);
    const std::uint64_t hash =
        (key ^ static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(device)) << 20) *
        0x9e3779b97f4a7c15u;
    std::size_t place = hash >> 54;
    static_assert(Table::size == std::size_t{1} << (64 - 54));
    for (std::size_t probe = 0; probe < Table::size; ++probe) {
        Entry &entry = table.entries[place];
        if (entry.device == device && entry.key == key) [[likely]]
            return &entry;
        if (!entry.device) return add_entry(table, place, link, key, module, function);
        place = (place + 1) % Table::size;
    }
    return nullptr;
}

namespace {

// Does the function put work on the call's stream? What only manages objects, waits on the host or
// asks does not.
bool enqueues_work(std::uint16_t module, std::uint16_t function) {
    if (module != ATOLL_MODULE_DEVICE) return true;
    return function == ATOLL_DEVICE_FN_transfer || function == ATOLL_DEVICE_FN_event_record ||
           function == ATOLL_DEVICE_FN_event_wait;
}

// A glob with an '@' is of "core.add@cpu", another one of "core.add".
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
                          std::uint64_t key, std::uint16_t module,
                          std::uint16_t function) noexcept {
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
    entry.on_event = module == ATOLL_MODULE_DEVICE && function >= ATOLL_DEVICE_FN_event_create &&
                     function <= ATOLL_DEVICE_FN_event_query;
    entry.key = key;
    reset(entry.counters);
    std::atomic_ref(entry.device).store(device, std::memory_order_release);
    if (Timeline *const timeline = timeline_.load(std::memory_order_relaxed))
        write_name(*timeline, table.lane, static_cast<std::uint16_t>(place), key, names);
    return &entry;
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
    // This thread's own, pushed out of its cache by other sessions; or one that a thread left.
    for (Table *table = tables_.load(std::memory_order_acquire); table; table = table->next) {
        if (std::atomic_ref(table->owner).load(std::memory_order_relaxed) == token.value)
            return table;
    }
    for (Table *table = tables_.load(std::memory_order_acquire); table; table = table->next) {
        std::uint64_t nobody = 0;
        if (std::atomic_ref(table->owner)
                .compare_exchange_strong(nobody, token.value, std::memory_order_acquire)) {
            table->lane.announced = 0;
            return table;
        }
    }
    // Zeroed and untouched: a new thread pays for the pages that it counts in, not for all.
    std::size_t space = sizeof(Table) + alignof(Table);
    void *const memory = std::calloc(1, space);
    if (!memory) return nullptr;
    void *aligned = memory;
    Table *const table =
        static_cast<Table *>(std::align(alignof(Table), sizeof(Table), aligned, space));
    table->memory = memory;
    std::atomic_ref(table->owner).store(token.value, std::memory_order_relaxed);
    table->next = tables_.load(std::memory_order_relaxed);
    while (!tables_.compare_exchange_weak(table->next, table, std::memory_order_release,
                                          std::memory_order_relaxed)) {
    }
    return table;
}

void Session::begin_in_child() noexcept {
    timeline_.store(nullptr, std::memory_order_relaxed);
    static_cast<void>(own_timeline_.release());
    static_cast<void>(executions_.release());
    lost_.store(0, std::memory_order_relaxed);
    // The child has this one thread.
    for (Table *table = tables_.load(std::memory_order_acquire); table; table = table->next)
        for (Entry &entry : table->entries)
            if (entry.device) reset(entry.counters);
}

void Session::release(std::uint64_t thread) noexcept {
    for (Table *table = tables_.load(std::memory_order_acquire); table; table = table->next) {
        const std::atomic_ref owner(table->owner);
        if (owner.load(std::memory_order_relaxed) == thread)
            owner.store(0, std::memory_order_release);
    }
}

std::vector<Row> Session::rows() const {
    std::map<std::tuple<std::string, std::string, std::uint16_t, bool>, Counters> sums;
    for (Table *table = tables_.load(std::memory_order_acquire); table; table = table->next) {
        for (std::size_t place = 0; place < Table::size; ++place) {
            Entry &entry = table->entries[place];
            if (!std::atomic_ref(entry.device).load(std::memory_order_acquire)) continue;
            const Names &names = table->names[place];
            const auto dtype = static_cast<std::uint16_t>(entry.key & 0xffff);
            merge(sums[{names.device, names.function, dtype, names.asynchronous}], entry.counters);
        }
    }
    std::vector<Row> rows;
    rows.reserve(sums.size());
    for (const auto &[key, counters] : sums)
        rows.push_back(
            {std::get<0>(key), std::get<1>(key), std::get<2>(key), std::get<3>(key), counters});
    return rows;
}

} // namespace Atoll::trace
