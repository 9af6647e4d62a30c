// Per-thread state of the core: read sections, settings, correlation ids, live counts.
//
// Note [Read sections]
// A slot's chain may be replaced at any time. Every API call runs inside a read section, and the
// thread that unpublishes a chain waits for all sections that began before (wait_for_readers), then
// frees it. A reader only makes two plain stores to its own cache line; the writer calls
// membarrier(2), which makes every running thread pass a full barrier: either the writer sees the
// reader's epoch, or the reader sees the new chain.
#pragma once

#include "atoll/abi/note.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

namespace Atoll {
struct Settings;
}

namespace Atoll::detail {

// The largest number of device records; they index the live counts.
inline constexpr int max_devices = 128;

// Memory of freed objects of one class, linked by its first word.
struct SpareMemory {
    void *first = nullptr;
    std::uint32_t count = 0;
};

// One per thread, never freed, reused by later threads.
struct alignas(64) ThreadRecord {
    std::atomic<std::uint64_t> epoch{0}; // 0: in no read section
    std::atomic<bool> claimed{true};
    ThreadRecord *next = nullptr;
    std::uint64_t id = 0;
    // Objects (storages, streams, events) made minus objects destroyed by this thread, per device.
    // Only sums over all threads are meaningful. Written by the owner only.
    std::array<std::atomic<std::int64_t>, max_devices> live{};
    std::shared_ptr<const Settings> default_settings; // as of settings_version
    std::uint64_t settings_version = 0;
    // See Reused; the owner's only.
    SpareMemory blocks, views;
};

struct ThreadState {
    ThreadRecord *record;
    std::uint32_t depth;       // nested read sections
    std::uint64_t correlation; // of the API call under way
    std::uint64_t calls;       // API calls so far
    std::uint64_t storages;    // made so far
    Settings *scoped_settings; // innermost ScopedSettings, or null
    bool pool_failed;          // the application's parallel_for threw since the last call
};

extern thread_local constinit ThreadState thread_state __attribute__((tls_model("initial-exec")));

// A base of classes whose freed memory the thread keeps for its next objects: expressions make and
// drop one after the other. Not where a sanitizer is to see each use of freed memory.
template <SpareMemory ThreadRecord::*spare> class Reused {
public:
    static void *operator new(std::size_t size) {
        ThreadRecord *mine = thread_state.record;
        if (!mine || !(mine->*spare).first) return ::operator new(size);
        --(mine->*spare).count;
        void *memory = (mine->*spare).first;
        (mine->*spare).first = *static_cast<void **>(memory);
        return memory;
    }
    static void operator delete(void *memory) {
        ThreadRecord *mine = thread_state.record;
        if (!mine || (mine->*spare).count >= most) return ::operator delete(memory);
        *static_cast<void **>(memory) = (mine->*spare).first;
        (mine->*spare).first = memory;
        ++(mine->*spare).count;
    }
    static void *operator new(std::size_t, void *place) noexcept { return place; }

private:
    static constexpr std::uint32_t most = ATOLL_SANITIZERS & ATOLL_SANITIZER_ADDRESS ? 0 : 32;
};
extern std::atomic<std::uint64_t> global_epoch;
extern bool readers_need_fence; // membarrier is not available

// Gives the thread its record.
void register_thread();

// Begins and ends a read section; nested ones cost an increment.
class ReadSection {
public:
    ReadSection() {
        ThreadState &state = thread_state;
        if (state.depth++ != 0) return;
        if (!state.record) [[unlikely]]
            register_thread();
        // Acquire: a thread that sees an epoch sees the chains published before it. Release: one
        // that sees this section sees the end of the previous one. Plain moves on x86-64.
        state.record->epoch.store(global_epoch.load(std::memory_order_acquire),
                                  std::memory_order_release);
        std::atomic_signal_fence(std::memory_order_seq_cst);
        if (readers_need_fence) [[unlikely]]
            std::atomic_thread_fence(std::memory_order_seq_cst);
        state.correlation = (state.record->id << 40) | (++state.calls & 0xffffffffff);
    }
    ~ReadSection() {
        ThreadState &state = thread_state;
        if (--state.depth == 0) state.record->epoch.store(0, std::memory_order_release);
    }
    ReadSection(const ReadSection &) = delete;
    ReadSection &operator=(const ReadSection &) = delete;
};

// Returns when every read section that began before the call has ended. Never call it inside one.
void wait_for_readers();
inline bool in_read_section() { return thread_state.depth != 0; }

// An identity that no other storage of the process ever has. Call inside a read section.
inline std::uint64_t next_storage_id() {
    return (thread_state.record->id << 40) | (++thread_state.storages & 0xffffffffff);
}

// Adds to this thread's share of a device's live count.
inline void count_live(int device_slot, int change) {
    if (!thread_state.record) [[unlikely]]
        register_thread();
    auto &count = thread_state.record->live[static_cast<std::size_t>(device_slot)];
    count.store(count.load(std::memory_order_relaxed) + change, std::memory_order_relaxed);
}
// The sum over all threads; exact once no thread can change it.
std::int64_t live_count(int device_slot);

} // namespace Atoll::detail
