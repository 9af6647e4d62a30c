// Copies between host memories with more than one thread.
//
// Not on the host's pool: a download is copied out in a callback of CUDA, for which all threads of
// that pool may be waiting.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace Atoll::cuda {

class CopyThreads {
public:
    CopyThreads() = default;
    ~CopyThreads();
    CopyThreads(const CopyThreads &) = delete;
    CopyThreads &operator=(const CopyThreads &) = delete;

    // Takes part itself, and goes on alone where the threads are busy or there are none. From any
    // thread.
    void copy(char *to, const char *from, std::uint64_t bytes);

private:
    struct Job {
        Job(char *to_, const char *from_, std::uint64_t bytes_)
            : to(to_), from(from_), bytes(bytes_) {}
        char *const to;
        const char *const from;
        const std::uint64_t bytes;
        std::atomic<std::uint64_t> taken{0}, copied{0};

        // Copies parts until all are taken.
        void work();
    };
    void run();

    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::shared_ptr<Job>> jobs_; // with parts that nobody may have taken
    bool ends_ = false;
    std::vector<std::thread> threads_; // started by the first large copy
};

} // namespace Atoll::cuda
