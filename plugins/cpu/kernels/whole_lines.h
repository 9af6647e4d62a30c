// Columns of a large result that grow by a cache line at a time and go past the caches.
#pragma once

#include "streaming.h"

#include <cstring>

namespace Atoll::kernels {

// Lines that are not written whole cost the memory a read of each. So what is added to a column
// waits, up to where the next line of the memory begins.
class WholeLines {
public:
    static constexpr std::int64_t most_columns = 1024;

    // Column k is at out + k * stride.
    void begin(char *out, std::int64_t stride, std::int64_t columns) {
        end();
        out_ = out;
        stride_ = stride;
        columns_ = columns;
        all_aligned_ = past_line(out) == 0 && stride % cache_line == 0;
        is_first_ = true;
    }
    // The next bytes of `count` columns, those of one behind those of another: a cache line of
    // each, or less in the end.
    void add(std::int64_t first, std::int64_t count, const char *from, std::int64_t bytes) {
        if (all_aligned_ && bytes == cache_line) {
            for (std::int64_t k = 0; k < count; ++k)
                stream_lines<cache_line>(column(first + k), from + k * cache_line);
            return;
        }
        // All of them first: what was just stored in parts is read slowly as a whole.
        for (std::int64_t k = 0; k < count; ++k)
            std::memcpy(waiting_[first + k] + cache_line, from + k * bytes,
                        static_cast<std::size_t>(bytes));
        for (std::int64_t k = 0; k < count; ++k) {
            char *const to = column(first + k), *const waiting = waiting_[first + k];
            const std::int64_t before = past_line(to), waits = is_first_ ? 0 : before;
            const char *const begin = waiting + cache_line - waits;
            if (bytes < cache_line) {
                copy(to - waits, begin, waits + bytes);
                continue; // nothing waits
            }
            if (waits < before)
                copy(to, begin, cache_line - before);
            else
                stream_lines<cache_line>(to - waits, begin);
            copy(waiting, waiting + cache_line, cache_line);
        }
    }
    // After all columns have grown.
    void advance(std::int64_t bytes) {
        out_ += bytes;
        is_first_ = false;
        if (bytes < cache_line) columns_ = 0; // nothing waits
    }
    void end() {
        if (is_first_) return;
        for (std::int64_t k = 0; k < columns_; ++k) {
            char *const to = column(k);
            const std::int64_t before = past_line(to);
            copy(to - before, waiting_[k] + cache_line - before, before);
        }
        columns_ = 0;
    }

private:
    static void copy(char *to, const char *from, std::int64_t bytes) {
        std::memcpy(to, from, static_cast<std::size_t>(bytes));
    }
    char *column(std::int64_t k) const { return out_ + k * stride_; }

    char *out_ = nullptr; // where columns go on
    std::int64_t stride_ = 0, columns_ = 0;
    bool all_aligned_ = false;
    bool is_first_ = true;
    // Of each column: the line that was added before, of which the end waits, and room for another.
    alignas(cache_line) char waiting_[most_columns][2 * cache_line];
};

} // namespace Atoll::kernels
