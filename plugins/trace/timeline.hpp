// Writes a timeline file, whose contents Note [Timeline file] describes.
//
// Note [Recording]
// Each thread appends to a segment of its own, which is mapped from the file: plain stores, without
// a lock or a system call, and nothing to flush when the thread or the process ends, by whatever
// cause. When the segment is full, the thread maps a new one at the end of the file. When the
// segments have reached the limit, later calls are dropped and counted. So memory is bounded by one
// segment per thread, and the file by the limit and a table of counters per thread.
#pragma once

#include "clock.hpp"
#include "timeline_format.hpp"

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

namespace Atoll::tracing {

// Used by its thread alone. Begun by map_counters().
struct Lane {
    char *position, *end; // where the next record goes; null without a segment
    timeline::SegmentHeader *segment;
    std::uint64_t *dropped;   // counts calls without a record
    std::uint32_t announced;  // a record says which thread this is
    std::uint32_t full;       // the file cannot grow
    std::uint64_t executions; // so far
    std::uint32_t number, sequence;
};

class Timeline {
public:
    // Throws sdk::Error. An existing file is overwritten; a "%p" in the path becomes the process
    // id, and then an existing file is left alone and "-2", "-3" … is added.
    Timeline(std::string path, std::uint64_t segment_bytes, std::uint64_t limit_bytes,
             const Clock &clock);
    ~Timeline();
    Timeline(const Timeline &) = delete;
    Timeline &operator=(const Timeline &) = delete;

    // Begins a lane with zeroed memory for its counters, which the file keeps. Null if the file
    // cannot grow; then the lane drops all records, since the counters name their functions.
    void *map_counters(Lane &lane, std::size_t bytes) noexcept;
    static void unmap_counters(void *counters, std::size_t bytes) noexcept;

    // Room for a record of `bytes`, a multiple of 8; null if it must be dropped, which is counted
    // for a call. Followed by commit(), on the same thread.
    char *reserve(Lane &lane, std::size_t bytes, bool is_call) noexcept {
        if (static_cast<std::size_t>(lane.end - lane.position) < bytes) [[unlikely]]
            return reserve_in_next(lane, is_call);
        return lane.position;
    }
    static void commit(Lane &lane, std::size_t bytes) noexcept {
        lane.position += bytes;
        std::atomic_ref(lane.segment->used)
            .store(
                static_cast<std::uint64_t>(lane.position - reinterpret_cast<char *>(lane.segment)),
                std::memory_order_release);
    }
    // Unmaps the segment of a lane that nobody writes to any more.
    void leave(Lane &lane) noexcept;

    // Records the present time of both clocks, so that ticks up to here can be converted to
    // nanoseconds; `closed`: for the last time. From any thread.
    void synchronise(bool closed) noexcept;

    // What is kept of libraries::packed() in the file. From any thread.
    void set_libraries(std::string_view text) noexcept;

private:
    char *reserve_in_next(Lane &lane, bool is_call) noexcept;
    bool map_next(Lane &lane) noexcept;
    std::uint64_t take_slots(std::uint64_t count, bool limited) noexcept;

    std::string path_;
    const std::uint64_t segment_bytes_;
    const Clock &clock_;
    int file_ = -1;
    std::mutex mutex_; // guards everything except `magic` and `dropped` in the header
    timeline::FileHeader *header_ = nullptr;
    std::uint32_t lanes_ = 0;         // so far
    std::uint64_t counter_slots_ = 0; // of header_->slots
};

} // namespace Atoll::tracing
