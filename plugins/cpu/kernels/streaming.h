// Loops whose results go past the caches: a large result need not be read before it is written,
// and does not push out what the caches hold.
#pragma once

#include "loops.h"

#include <limits>

namespace Atoll::kernels {

inline constexpr int cache_line = 64;
inline constexpr std::int64_t tile_scratch = 2048 * cache_line; // bytes for operands of a tile

// Tiles of large operands that are transposed.
struct LargeTiles {
    std::int64_t streamed; // bytes of all operands, from which on the result is streamed
    // From here on operands do not come from the caches: they are read and written in longer runs,
    // tile by tile. On Zen 4 that takes 1.5 to 2 times as long up to 16 MiB, and half as long
    // beyond, if the result is streamed.
    std::int64_t long_runs;
    std::int64_t out, in; // cache lines along the result's dense axis, and along the operand's
    int ahead;            // so many tiles before its own what is transposed is fetched
    bool fetches_all;     // and other inputs as well
    // Bytes for what is transposed. More than tile_scratch: in strips of as many rows as a cache
    // line has elements, by long runs of these, into the last cache.
    std::int64_t scratch = tile_scratch;
};

// How element-wise functions treat operands that are large, all together. A test may change it.
struct LargeOperands {
    // From so many bytes on the result is streamed: where the operands do not fit the last level's
    // cache (32 MiB of AMD's processors), what was written first is gone from it anyway. If one
    // thread computes it, a + b takes 0.7 of the time from there on (Zen 4); several wait for the
    // memory sooner. On Emerald Rapids it takes 0.75 from 4 MiB on, but what reads the result then
    // takes as much longer.
    std::int64_t alone, shared;
    // From so many bytes on what is read, in order, does not come from a cache.
    std::int64_t far = 24 << 20;
    // Of copies: the memory writes lines that follow each other faster. On Sapphire Rapids a
    // transposed copy of 256 MB takes 10 ms instead of 16 by 1 x 8 lines, and 35 where lines are
    // read before they are written; on the first Zen 18 by 32 x 1, 28 by 4 x 4 and 57 by 1 x 8. On
    // Zen 4 one of 128 MB takes 7.0 ms by 12 x 2 fetched two tiles ahead, 8.2 by 32 x 1 fetched
    // one ahead, and of elements of 1 or 2 bytes half as long. On Zen 5 it takes 5.4 ms by 6 x 3
    // lines fetched two ahead, and 7.2 by 12 x 2.
    LargeTiles copied;
    // Of other functions. a + b.T of 96 MB takes 5.5 ms by 32 x 2 lines and 10.5 by 256 x 1 on
    // Sapphire Rapids; one thread of an Emerald Rapids takes 7.2 ms by 32 x 2 where all inputs are
    // fetched one tile ahead, 8.2 where they are not, and 6.3 by 4 x 4, by which exp takes three
    // times as long; on the first Zen 7.4 ms by 128 x 2 and 21 by 256 x 1; on Zen 4 3.1 by 16 x 1
    // where all inputs are fetched two tiles ahead, and 4.4 by 256 x 1; on Zen 5 2.0, and 4.5 where
    // nothing is fetched. Others take an eighth less there by 10 x 1 than by 16 x 1. Zen 3 takes
    // 10 ms by 8 x 4, and 7 by whole columns, as many as 4 MiB of scratch hold.
    LargeTiles computed;
    // Elements of 1 or 2 bytes are no large operands below so many bytes: Emerald Rapids takes 0.5
    // to 0.8 of the time for copies of wider ones from 4 MiB on, but 1.2 for bytes.
    std::int64_t narrow = 0;
    // Whether exp and the like are streamed in tiles, too: exp of 40 MB takes 2.3 ms on Emerald
    // Rapids, and 2.7 streamed.
    bool streams_math = true;
    // Whether software fetches what is read in order, too (fetch.h). With it, where little is
    // written, Zen 4 reads as fast as memory gives; on Zen 5 a < b takes 1.87 ms instead of 1.45,
    // and a sum 0.69 instead of 0.56.
    bool fetched_ahead;
    // Whether long running sums are streamed: 10 M float32 take 4.9 ms instead of 7.2 on Emerald
    // Rapids, but 6.0 instead of 4.1 on Zen 4.
    bool scans_stream = false;
    // Whether few threads share what no cache holds, too: 10 M float32 take 2.4 ms by two instead
    // of 3.7 by one on Emerald Rapids, but 4.4 to 5.2 instead of 4.1 on Zen 4: each fetches ahead
    // what the other one is about to write.
    bool scans_shared = false;
    // Whether sums of long rows read two leaves at once: Zen 3 then reads 10 M float32 in 2.6 ms
    // instead of 3.7, Emerald Rapids in 0.97 of the time, but Zen 4 takes twice as long.
    bool two_streams = false;
    // Whether copies of one transposed operand, and functions of it, write whole lines
    // (whole_lines.h): Zen 3 reads long runs of a few rows as fast as memory gives, but lines of
    // different rows at a third of that, and writes lines anywhere. A copy of 4,000² float64 takes
    // 15.5 ms instead of 21 there, one of 4,001² 31 instead of 53, of bytes 8.8 instead of 18.
    // Emerald Rapids takes 1.4 times as long for 4,000², and 0.9 for 4,001² float64 alone.
    bool by_lines = false;
    // Accesses spread over so many bytes are paced, see Note [Paced accesses] in offsets.h.
    std::int64_t paced = std::numeric_limits<std::int64_t>::max();
    // Results of products that have so many bytes, at least, are streamed.
    std::int64_t products = 8 << 20;
};
LargeOperands &large_operands();

// a + b, a - b, a · b of floats and integers, a / b and comparisons of float32 and float64, where
// out is dense, and each input dense or one value. Null for others. Out begins where a cache line
// does, and the elements fill whole ones; no input may be out.
Loop streamed_loop(std::uint32_t function, std::uint32_t dtype);
// Whether that loop also takes every second element of an input, such as the real parts of complex
// numbers: of a + b, a - b, a · b and a / b of elements of 4 or 8 bytes.
bool streams_every_second(std::uint32_t function, std::uint32_t dtype);
// Bytes from where a cache line begins to p.
inline std::int64_t past_line(const void *p) {
    return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(p) % cache_line);
}
// Copies so many bytes to where a cache line begins.
template <std::int64_t bytes>
[[gnu::always_inline]] inline void stream_lines(char *to, const char *from) {
    static_assert(bytes % cache_line == 0);
#pragma GCC unroll 16
    for (std::int64_t v = 0; v < bytes; v += vector_bytes)
        stream_vector(to + v, load_vector<Vector<std::uint8_t>>(from + v));
}
// The same of whole lines.
inline void stream_lines(std::int64_t bytes, char *to, const char *from) {
    for (std::int64_t at = 0; at < bytes; at += cache_line)
        stream_lines<cache_line>(to + at, from + at);
}
// After streaming: makes what was stored visible to other threads in order.
void finish_streaming();

} // namespace Atoll::kernels
