// Shares copies among threads: see copy_threads.hpp.
#include "copy_threads.hpp"

#include <algorithm>
#include <cstring>
#include <system_error>

namespace Atoll::cuda {
namespace {

constexpr std::uint64_t part_bytes = 512 << 10;
// One processor moves some 10 GB/s, a GPU 25 to 60.
constexpr unsigned most_threads = 4;

} // namespace

void CopyThreads::Job::work() {
    for (;;) {
        const std::uint64_t begin = taken.fetch_add(part_bytes, std::memory_order_relaxed);
        if (begin >= bytes) return;
        const std::uint64_t size = std::min(part_bytes, bytes - begin);
        std::memcpy(to + begin, from + begin, size);
        if (copied.fetch_add(size, std::memory_order_acq_rel) + size == bytes) copied.notify_all();
    }
}

void CopyThreads::copy(char *to, const char *from, std::uint64_t bytes) {
    if (bytes <= 2 * part_bytes) {
        std::memcpy(to, from, bytes);
        return;
    }
    const auto job = std::make_shared<Job>(to, from, bytes);
    {
        const std::lock_guard lock(mutex_);
        const unsigned wanted = std::min(most_threads, std::thread::hardware_concurrency());
        try {
            while (threads_.size() + 1 < wanted) threads_.emplace_back([this] { run(); });
        } catch (const std::system_error &) { // no more than these, then
        }
        jobs_.push_back(job);
        changed_.notify_all();
    }
    job->work();
    {
        const std::lock_guard lock(mutex_);
        std::erase(jobs_, job);
    }
    for (std::uint64_t copied = job->copied; copied < bytes; copied = job->copied)
        job->copied.wait(copied);
}

void CopyThreads::run() {
    std::unique_lock lock(mutex_);
    for (;;) {
        changed_.wait(lock, [&] { return ends_ || !jobs_.empty(); });
        if (ends_) return;
        const std::shared_ptr<Job> job = jobs_.front();
        lock.unlock();
        job->work();
        lock.lock();
        std::erase(jobs_, job);
    }
}

CopyThreads::~CopyThreads() {
    {
        const std::lock_guard lock(mutex_);
        ends_ = true;
    }
    changed_.notify_all();
    for (std::thread &thread : threads_) thread.join();
}

} // namespace Atoll::cuda
