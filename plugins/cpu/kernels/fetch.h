// Cache lines fetched before they are read.
#pragma once

#include <cstdint>

namespace Atoll::kernels {

// Into L2, so that L1 keeps what is in use.
inline void fetch(const void *p) { __builtin_prefetch(p, 0, 2); }

// How many bytes ahead what no cache holds is fetched, in order: the processor itself does not go
// beyond a page, nor from one row to the next, nor as fast as memory gives where little is written.
inline constexpr std::int64_t fetched_ahead = 1024;
template <int lines> void fetch_ahead(const void *p) {
    const char *first = static_cast<const char *>(p) + fetched_ahead;
#pragma GCC unroll 8
    for (int line = 0; line < lines; ++line) fetch(first + line * 64);
}

} // namespace Atoll::kernels
