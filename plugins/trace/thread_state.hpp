// What the tracer keeps of a thread, in thread-local memory.
#pragma once

#include "session.hpp"

namespace Atoll::trace {

// This thread's tables. More than four pushes of the tracer at a time work, but more slowly.
// Constant-initialised and without a destructor, so that the hot path needs no guard.
struct CachedTable {
    std::uint64_t session;
    Table *table;
};
inline constexpr unsigned cache_size = 4;
struct ThreadState {
    bool own_call; // the tracer makes a call of its own, which it passes on
    bool ends;
    CachedTable cache[cache_size]; // the newest session's first
};
// A few bytes only, so they fit where a library that is loaded late may have fast ones.
extern constinit thread_local ThreadState here __attribute__((tls_model("initial-exec")));

} // namespace Atoll::trace
