// The plugin's threads: oneTBB, offered to the host as its pool.
#pragma once

#include "atoll/abi/host.h"

#include <memory>
#include <mutex>

namespace Atoll::cpu {

class Threads {
public:
    // `limit` threads at most; 0: all that the process may use.
    explicit Threads(int limit);
    ~Threads(); // joins them, unless others in the process use oneTBB too
    Threads(const Threads &) = delete;
    Threads &operator=(const Threads &) = delete;

    int count() const { return count_; }
    // An atoll_parallel_for; `pool` is a Threads.
    static void parallel_for(void *pool, std::int64_t count, std::int64_t grain,
                             atoll_range_body body, void *argument);

private:
    struct Arena;
    Arena &arena();

    int count_;
    std::once_flag made_;
    std::unique_ptr<Arena> arena_; // made when work is first shared: oneTBB opens some 40 files
};

} // namespace Atoll::cpu
