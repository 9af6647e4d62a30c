// Thread records, epochs, live counts.
#include "runtime/thread_state.hpp"

#include "atoll/settings.hpp"

#include <linux/membarrier.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

namespace Atoll::detail {

thread_local constinit ThreadState thread_state{};
std::atomic<std::uint64_t> global_epoch{1};

namespace {

std::atomic<ThreadRecord *> all_records{nullptr};
std::atomic<std::uint64_t> thread_ids{0};

long membarrier(int command) { return syscall(SYS_membarrier, command, 0, 0); }

// Returns the record when the thread ends. By a POSIX key, whose destructors run after those of
// thread-local objects, and again if the thread claims a record after that.
void return_record(void *record) {
    thread_state.record = nullptr;
    static_cast<ThreadRecord *>(record)->claimed.store(false, std::memory_order_release);
}
pthread_key_t returner_key() {
    static const pthread_key_t key = [] {
        pthread_key_t made;
        return pthread_key_create(&made, &return_record) == 0 ? made : ~pthread_key_t{0};
    }();
    return key;
}

} // namespace

bool readers_need_fence = membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) != 0;

void register_thread() {
    ThreadRecord *record = all_records.load(std::memory_order_acquire);
    for (; record; record = record->next) {
        bool free = false;
        if (record->claimed.compare_exchange_strong(free, true, std::memory_order_acq_rel)) break;
    }
    if (!record) {
        record = new ThreadRecord;
        record->id = ++thread_ids;
        record->next = all_records.load(std::memory_order_relaxed);
        while (
            !all_records.compare_exchange_weak(record->next, record, std::memory_order_acq_rel)) {
        }
    }
    thread_state.record = record;
    pthread_setspecific(returner_key(), record); // without room for a key the record stays claimed
}

void wait_for_readers() {
    const std::uint64_t epoch = global_epoch.fetch_add(1, std::memory_order_seq_cst) + 1;
    if (readers_need_fence)
        std::atomic_thread_fence(std::memory_order_seq_cst);
    else
        membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
    for (ThreadRecord *record = all_records.load(std::memory_order_acquire); record;
         record = record->next) {
        for (int spins = 0;; ++spins) {
            const std::uint64_t seen = record->epoch.load(std::memory_order_acquire);
            if (seen == 0 || seen >= epoch) break;
            if (spins < 100)
                std::this_thread::yield();
            else
                std::this_thread::sleep_for(std::chrono::microseconds(50));
        }
    }
}

std::int64_t live_count(int device_slot) {
    std::int64_t sum = 0;
    for (ThreadRecord *record = all_records.load(std::memory_order_acquire); record;
         record = record->next)
        sum += record->live[static_cast<std::size_t>(device_slot)].load(std::memory_order_relaxed);
    return sum;
}

} // namespace Atoll::detail
