// Thread-local state of the tracer.
#pragma once

#include "session.hpp"

namespace Atoll::tracing {

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
// Small enough for the static TLS block, which libraries that are loaded later share.
extern constinit thread_local ThreadState here __attribute__((tls_model("initial-exec")));

} // namespace Atoll::tracing
