// Splits a call into pieces that may run on the pool.
#pragma once

#include "atoll/abi/host.h"

#include <algorithm>
#include <cstdint>
#include <thread>

namespace Atoll::kernels {

struct Pool {
    atoll_parallel_for run = nullptr;
    void *self = nullptr;
    int threads = 0; // of it, about; 0: not known
};
extern Pool pool; // of the process
// Of the call that this thread makes; null: that of the process. Initial-exec: an access is one
// load, also from a library that is opened at run time.
extern __attribute__((tls_model("initial-exec"))) constinit thread_local const Pool *own_pool;

inline const Pool &current_pool() { return own_pool ? *own_pool : pool; }

// Calls of this thread use another pool than the process's.
class OwnPool {
public:
    explicit OwnPool(const Pool &pool) : before_(own_pool) { own_pool = &pool; }
    ~OwnPool() { own_pool = before_; } // a pool may make calls, too
    OwnPool(const OwnPool &) = delete;
    OwnPool &operator=(const OwnPool &) = delete;

private:
    const Pool *const before_;
};

// About so many threads work on a call.
inline int threads_at_work() {
    const Pool &to = current_pool();
    if (!to.run) return 1;
    static const auto processors = static_cast<int>(std::thread::hardware_concurrency());
    return to.threads ? to.threads : std::max(1, processors);
}

// Below this many elements waking a thread costs more than it saves.
inline constexpr std::int64_t parallel_threshold = 65536;
// Elements of work that one task should have at least, and what long rows are cut into.
inline constexpr std::int64_t piece_size = 32768;

// body(begin, end) over a partition of [0, pieces); `work` is the elements of one piece. What a
// piece is never depends on the number of threads, so neither do results.
template <class Body> void parallel(std::int64_t pieces, std::int64_t work, Body &&body) {
    if (pieces <= 0) return;
    const bool small = pieces < 2 || pieces < parallel_threshold / std::max<std::int64_t>(work, 1);
    const Pool to = small ? Pool{} : current_pool();
    if (!to.run) return body(std::int64_t{0}, pieces);
    const std::int64_t grain =
        std::max<std::int64_t>(1, piece_size / std::max<std::int64_t>(work, 1));
    using Plain = std::remove_reference_t<Body>;
    to.run(
        to.self, pieces, grain,
        [](void *argument, std::int64_t begin, std::int64_t end) {
            (*static_cast<Plain *>(argument))(begin, end);
        },
        const_cast<void *>(static_cast<const void *>(&body)));
}

} // namespace Atoll::kernels
