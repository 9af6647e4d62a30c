// Loops whose results go past the caches: a large result need not be read before it is written,
// and does not push out what the caches hold.
#pragma once

#include "loops.h"

namespace Atoll::kernels {

inline constexpr int cache_line = 64;

// Results of products that have so many bytes, at least, are streamed.
inline constexpr std::int64_t streamed_bytes = 8 << 20;

// From how many bytes on element-wise functions treat their operands, together, as large. A test
// may change them.
struct LargeBytes {
    // The result is streamed: where the operands do not fit the last level's cache (32 MiB of AMD's
    // processors), what was written first is gone from it anyway. If one thread computes it, a + b
    // takes 0.7 of the time from there on (Zen 4); several wait for the memory sooner. Other
    // makers' processors do not stream, as that was not measured.
    std::int64_t streamed_alone, streamed_shared;
    // The operands do not come from the caches of one core: those that are transposed are read and
    // written in longer runs. On Zen 4 a + b.T of 24 MB, and of 96, takes 0.65 of the time.
    std::int64_t long_runs;
};
LargeBytes &large_bytes();

// a + b, a - b, a · b of floats and integers, a / b and comparisons of float32 and float64, where
// out is dense, and each input dense or one value. Null for others. No input may be out.
Loop streamed_loop(std::uint32_t function, std::uint32_t dtype);
// Copies bytes to any address; none of `to` is one of `from`.
void stream(std::int64_t bytes, char *to, const char *from);

// Cache lines, one after the other, go to one each `stride` bytes.
void stream_lines(std::int64_t count, char *to, std::int64_t stride, const char *lines);

// After streaming: makes what was stored visible to other threads in order.
void finish_streaming();

} // namespace Atoll::kernels
