// Loops whose results go past the caches: a large result need not be read before it is written,
// and does not push out what the caches hold.
#pragma once

#include "loops.h"

namespace Atoll::kernels {

inline constexpr int cache_line = 64;

// Results of products that have so many bytes, at least, are streamed.
inline constexpr std::int64_t streamed_bytes = 8 << 20;

// The results of element-wise functions are streamed if they and the inputs have so many bytes, at
// least: where these do not fit the last level's cache (32 MiB of AMD's processors), what was
// written first is gone from it anyway. `alone`: if one thread computes them, where a + b takes 0.7
// of the time from there on (Zen 4); `shared`: several, which wait for the memory sooner. A test
// may change them. Other makers' processors do not stream, as that was not measured.
struct StreamedFrom {
    std::int64_t alone, shared;
};
StreamedFrom &streamed_from();

// a + b, a - b, a · b of floats and integers, a / b and comparisons of float32 and float64, where
// out is dense, and each input dense or one value. Null for others. No input may be out.
Loop streamed_loop(std::uint32_t function, std::uint32_t dtype);
// A copy of dense elements of `size` bytes.
Loop streamed_copy(std::int64_t size);

// Cache lines, one after the other, go to one each `stride` bytes.
void stream_lines(std::int64_t count, char *to, std::int64_t stride, const char *lines);

// After streaming: makes what was stored visible to other threads in order.
void finish_streaming();

} // namespace Atoll::kernels
