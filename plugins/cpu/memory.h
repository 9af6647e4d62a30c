// The cpu's memory: a caching allocator, so that a result costs a few nanoseconds when it is small
// and no page faults when it is large.
//
// Note [Allocator]
// Up to `small_limit` bytes, blocks come from per-thread free lists, one per size, refilled from
// and drained to slabs in batches; a block may be freed on any thread. Larger ones come from a
// shared cache of blocks, in size classes an eighth of a power of two apart. Slabs of which no
// block is in use are in that cache, too. It is bounded by set_cache_limit, and empties itself when
// the system has no memory; the block longest unused goes first. Sizes are given again at free, so
// that no block needs a header. With the address sanitizer everything goes straight to the system,
// so that overruns and leaks are seen.
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
