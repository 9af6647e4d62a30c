// Writes a timeline file: see Note [Timeline file] for what is in it.
//
// Note [Recording]
// A thread appends to segments of its own, mapped from the file: plain stores, no lock, no system
// call, and nothing to flush when the thread or the process ends, by whatever cause. When a segment
// is full the thread goes on in its other one, and a background thread copies the full one to the
// end of the file. If that is late, the recording thread copies one itself: it is held up rather
// than a record lost. When the file has reached its limit, what comes later is dropped and counted.
// So memory is bounded by two segments per thread, and the file by the limit.
#pragma once

#include "clock.hpp"
#include "timeline_format.hpp"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace Atoll::trace {

// Zero is a valid beginning: it lives in zeroed memory. Its thread is the only one to use it, but
// for `state`.
struct Lane {
    char *position, *end; // where the next record goes; both null without a segment
    timeline::SegmentHeader *segment;
    std::uint32_t announced;  // the thread has said who it is
    std::uint32_t full;       // the file has no room any more
    std::uint64_t executions; // so far
    timeline::SegmentHeader *segments[2];
    std::uint32_t number, sequence;
    enum State : std::uint32_t { usable, waiting, being_saved };
    std::uint32_t state[2]; // under the timeline's mutex
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

    // Room for a record of `bytes`, a multiple of 8, or null if it has to be dropped, which is
    // counted for a call. Followed by commit(), on the same thread.
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
    // Unmaps its segments; nobody writes to the lane any more.
    void leave(Lane &lane) noexcept;

    // Notes what the clocks say now, so that ticks up to here can be told in nanoseconds; `closed`:
    // for the last time. From any thread.
    void synchronise(bool closed) noexcept;
    // Ends the background thread; lanes can be used on.
    void stop() noexcept;

private:
    char *reserve_in_next(Lane &lane, bool is_call) noexcept;
    bool begin(Lane &lane) noexcept;
    bool turn(Lane &lane) noexcept;
    bool save(Lane &lane, int which, std::unique_lock<std::mutex> &lock) noexcept;
    std::uint64_t take_slot() noexcept;
    void run() noexcept;

    std::string path_;
    const std::uint64_t segment_bytes_;
    const Clock &clock_;
    int file_ = -1;
    timeline::FileHeader *header_ = nullptr;
    std::mutex mutex_;
    std::condition_variable changed_; // a segment waits, or has been saved; stopping_
    std::vector<Lane *> lanes_;
    bool stopping_ = false;
    std::thread writer_; // last: starts when the rest exists
};

} // namespace Atoll::trace
