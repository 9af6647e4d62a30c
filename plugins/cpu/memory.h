// The cpu's memory: a caching allocator, so that a result costs a few nanoseconds when it is small
// and no page faults when it is large.
//
// Note [Allocator]
// Up to `small_limit` bytes, blocks come from per-thread free lists, one per size, refilled from
// and drained to slabs in batches; a block may be freed on any thread. Larger ones come from a
// shared cache of blocks, in size classes an eighth of a power of two apart; of those up to
// `medium_limit` a thread keeps a few that it freed, which costs no lock, and are in its caches.
// Slabs of which no block is in use are in the shared cache, too. It is bounded by set_cache_limit,
// and empties itself when the system has no memory; the block longest unused goes first. Sizes are
// given again at free, so that no block needs a header. With the address sanitizer everything goes
// straight to the system, so that overruns and leaks are seen.
//
// It is our own because kept libraries take longer (Zen 4, mimalloc 2.0.9 and jemalloc 5.3.0 in its
// place): a + b of one float32 92 ns, 106 and 107; of 10 million into a new result 2.6 ms, 22 and
// 23, as they return that memory to the system each time.
#pragma once

#include <cstddef>
#include <cstdint>

namespace Atoll::cpu::memory {

inline constexpr std::size_t alignment = 64;

// `bytes` > 0, aligned to 64; null when the system has none. Both are thread-safe.
void *allocate(std::uint64_t bytes);
void free(void *data, std::uint64_t bytes);

// Most bytes kept for reuse in the shared cache.
void set_cache_limit(std::uint64_t bytes);

// Gives everything back to the system. No block may be in use, no call may be inside; threads that
// used the allocator may live on and may use it again.
void release();

} // namespace Atoll::cpu::memory
