// oneTBB behind the pool's one function.
#include "threads.h"

#include "atoll/abi/note.h"

#include <algorithm>
#include <sched.h>
#include <thread>
#include <vector>

#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

namespace Atoll::cpu {

struct Threads::Arena {
    explicit Arena(int limit) : limited(limit), handle(tbb::attach{}) {}
    tbb::task_arena limited;
    tbb::task_scheduler_handle handle;
};

namespace {
// The processors that this process may run on.
int processors() {
    cpu_set_t set;
    // Fails on machines with more than 1024.
    if (::sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
    return tbb::this_task_arena::max_concurrency();
}
} // namespace

Threads::Threads(int limit) : count_(limit > 0 ? std::min(limit, processors()) : processors()) {}

Threads::Arena &Threads::arena() {
    std::call_once(made_, [this] { arena_ = std::make_unique<Arena>(count_); });
    return *arena_;
}

Threads::~Threads() {
    if (!arena_) return;
    arena_->limited.terminate();
    tbb::finalize(arena_->handle, std::nothrow);
}

#if ATOLL_SANITIZERS & ATOLL_SANITIZER_THREAD

// oneTBB is not built with the sanitizer, which then cannot see how its threads synchronise and
// reports races that are none. Plain threads it understands.
void Threads::parallel_for(void *pool, std::int64_t count, std::int64_t grain,
                           atoll_range_body body, void *argument) {
    const std::int64_t most = static_cast<Threads *>(pool)->count_;
    const std::int64_t parts = std::clamp<std::int64_t>(count / std::max<std::int64_t>(grain, 1), 1,
                                                        std::max<std::int64_t>(most, 2));
    std::vector<std::jthread> threads;
    for (std::int64_t part = 1; part < parts; ++part)
        threads.emplace_back(
            [=] { body(argument, count * part / parts, count * (part + 1) / parts); });
    body(argument, 0, count / parts);
}

#else

void Threads::parallel_for(void *pool, std::int64_t count, std::int64_t grain,
                           atoll_range_body body, void *argument) {
    auto &self = *static_cast<Threads *>(pool);
    grain = std::max<std::int64_t>(grain, 1);
    if (self.count_ == 1 || count <= grain) {
        if (count > 0) body(argument, 0, count);
        return;
    }
    const auto run = [&] {
        tbb::parallel_for(
            tbb::blocked_range<std::int64_t>(0, count, static_cast<std::size_t>(grain)),
            [&](const tbb::blocked_range<std::int64_t> &range) {
                body(argument, range.begin(), range.end());
            });
    };
    self.arena().limited.execute(run);
}

#endif

} // namespace Atoll::cpu
