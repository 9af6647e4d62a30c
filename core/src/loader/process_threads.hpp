// The threads of this process, to find those that a plugin leaves behind.
//
// The system does not say who made a thread. What begins while a plugin's load runs is taken for
// the plugin's, so another thread of the application that begins just then is counted too, and one
// that the plugin makes later is not: a remark, never a refusal.
#pragma once

#include <cstdint>
#include <vector>

namespace Atoll::detail {

struct ThreadIdentity {
    int id;              // the kernel's; used again by later threads
    std::uint64_t began; // clock ticks since the machine started
};

// Ids of all threads of now; empty where /proc cannot be read.
std::vector<int> threads_of_process();
// Those of now that are not in `before`.
std::vector<ThreadIdentity> threads_since(const std::vector<int> &before);
// How many of them live. One that has just been joined may take the system a moment to remove, so
// this looks again for a few milliseconds before it says that there is any.
std::size_t still_running(const std::vector<ThreadIdentity> &threads);

} // namespace Atoll::detail
