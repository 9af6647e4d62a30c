// Runs of a result that go past the caches, most of them one behind another.
#pragma once

#include "streaming.h"

#include <algorithm>
#include <cstring>

namespace Atoll::kernels {

// Lines that are not written whole cost the memory a read of each: 9 M float32 in rows of 12,000
// bytes take 4.4 ms on Zen 3 instead of 3.0. So where a run ends within a line, what it has of that
// line waits for the run behind it.
class JoinedLines {
public:
    // The next run: n elements of `size` bytes at out, which is a multiple of `size`.
    // part(first, count, to) writes less than a line of them to `to`, whole(first, count) whole
    // lines to where they belong.
    template <class Part, class Whole>
    void add(char *out, std::int64_t n, std::int64_t size, const Part &part, const Whole &whole) {
        const std::int64_t past = past_line(out);
        if (out != next_) {
            end();
            begin_ = past;
        }
        std::int64_t k = 0;
        if (past) {
            k = std::min(n, (cache_line - past) / size);
            part(std::int64_t{0}, k, line_ + past);
            next_ = out + k * size;
            if (past_line(next_) == 0) put_to(cache_line);
        }
        if (const std::int64_t lines = (n - k) * size / cache_line; lines > 0) {
            const std::int64_t count = lines * cache_line / size;
            whole(k, count);
            k += count;
        }
        if (k < n) part(k, n - k, line_);
        next_ = out + n * size;
    }
    // Writes what waits.
    void end() { put_to(past_line(next_)); }

private:
    // The bytes [begin_, past) of the line, of which the last one is before next_.
    void put_to(std::int64_t past) {
        const std::int64_t bytes = past - begin_;
        if (bytes == cache_line)
            stream_lines<cache_line>(next_ - bytes, line_);
        else if (bytes > 0)
            std::memcpy(next_ - bytes, line_ + begin_, static_cast<std::size_t>(bytes));
        begin_ = past % cache_line; // nothing waits
    }

    char *next_ = nullptr;   // behind the last run
    std::int64_t begin_ = 0; // what is before it in the line does not wait
    alignas(cache_line) char line_[cache_line];
};

} // namespace Atoll::kernels
