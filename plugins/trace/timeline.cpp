// The file's growth: see timeline.hpp.
#include "timeline.hpp"

#include "atoll/plugin.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <new>
#include <pthread.h>
#include <sys/mman.h>
#include <system_error>
#include <unistd.h>

namespace Atoll::trace {

using namespace timeline;

namespace {

[[noreturn]] void fail(const std::string &path, const char *what) {
    throw sdk::Error(ATOLL_STATUS_INVALID_ARGUMENT,
                     "setting timeline: cannot " + std::string(what) + " '" + path +
                         "': " + std::strerror(errno),
                     errno);
}

int open_file(std::string &path) {
    constexpr int flags = O_RDWR | O_CREAT | O_CLOEXEC;
    const std::size_t at = path.find("%p");
    if (at == std::string::npos) return ::open(path.c_str(), flags | O_TRUNC, 0600);
    path.replace(at, 2, std::to_string(::getpid()));
    const std::string first = path;
    int file = -1;
    for (int i = 2; (file = ::open(path.c_str(), flags | O_EXCL, 0600)) < 0 && errno == EEXIST; ++i)
        path = first + "-" + std::to_string(i);
    return file;
}

// Grows the file by real blocks and maps them. Holes would do until the disk is full: then a store
// to one kills the process.
void *grow_and_map(int file, std::uint64_t offset, std::uint64_t bytes) {
    int code;
    do {
        code = ::posix_fallocate(file, static_cast<off_t>(offset), static_cast<off_t>(bytes));
    } while (code == EINTR);
    if (code != 0) {
        errno = code;
        return nullptr;
    }
    void *const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
                                file, static_cast<off_t>(offset));
    return memory == MAP_FAILED ? nullptr : memory;
}

} // namespace

Timeline::Timeline(std::string path, std::uint64_t segment_bytes, std::uint64_t limit_bytes,
                   const Clock &clock)
    : path_(std::move(path)),
      segment_bytes_(std::max<std::uint64_t>(
          (segment_bytes + header_bytes - 1) / header_bytes * header_bytes, header_bytes)),
      clock_(clock) {
    file_ = open_file(path_);
    if (file_ < 0) fail(path_, "open");
    void *const memory = grow_and_map(file_, 0, header_bytes);
    if (!memory) {
        const int code = errno;
        ::close(file_);
        errno = code;
        fail(path_, "map");
    }
    header_ = new (memory) FileHeader{};
    header_->version = version;
    header_->process = static_cast<std::uint32_t>(::getpid());
    header_->segment_bytes = segment_bytes_;
    header_->limit_bytes = limit_bytes;
    const Clock::Sample now = clock_.sample();
    header_->first = header_->last = {now.ticks, now.ns};
    std::memcpy(header_->magic, magic, sizeof magic); // last: the file is valid from here on
    // The program's signals are not for this thread.
    sigset_t all, before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
        writer_ = std::thread([this] { run(); });
    } catch (const std::system_error &) { // without it, threads save their segments themselves
    }
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Timeline::~Timeline() {
    stop();
    synchronise(true);
    ::munmap(header_, header_bytes);
    ::close(file_);
}

void Timeline::stop() noexcept {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    changed_.notify_all();
    if (writer_.joinable()) writer_.join();
}

// Every record fits into an empty segment.
char *Timeline::reserve_in_next(Lane &lane, bool is_call) noexcept {
    if (!lane.full) {
        if (lane.segment ? turn(lane) : begin(lane)) return lane.position;
        lane.full = 1;
        lane.end = lane.position;
    }
    if (is_call)
        std::atomic_ref(lane.segment ? lane.segment->dropped : header_->dropped)
            .fetch_add(1, std::memory_order_relaxed);
    return nullptr;
}

// Room for one more segment at the end of the file: its offset, or 0. Holds the mutex.
std::uint64_t Timeline::take_slot() noexcept {
    const std::uint64_t offset = header_bytes + header_->segments * segment_bytes_;
    if (offset + segment_bytes_ > header_->limit_bytes) {
        header_->full = std::max(header_->full, 1u);
        return 0;
    }
    ++header_->segments;
    return offset;
}

namespace {
void use(Lane &lane, SegmentHeader *segment, std::uint64_t segment_bytes) {
    lane.segment = segment;
    segment->dropped = 0;
    segment->sequence = ++lane.sequence;
    std::atomic_ref(segment->used).store(sizeof(SegmentHeader), std::memory_order_release);
    lane.position = reinterpret_cast<char *>(segment + 1);
    lane.end = reinterpret_cast<char *>(segment) + segment_bytes;
}
} // namespace

// The thread's two segments.
bool Timeline::begin(Lane &lane) noexcept {
    const std::lock_guard lock(mutex_);
    for (SegmentHeader *&segment : lane.segments) {
        const std::uint64_t offset = take_slot();
        if (offset == 0) break;
        void *const memory = grow_and_map(file_, offset, segment_bytes_);
        if (!memory) {
            header_->full = 2;
            break;
        }
        segment = new (memory) SegmentHeader{};
    }
    if (!lane.segments[0]) return false;
    try {
        lanes_.push_back(&lane);
    } catch (const std::bad_alloc &) {
        return false;
    }
    lane.number = static_cast<std::uint32_t>(lanes_.size());
    for (SegmentHeader *segment : lane.segments)
        if (segment) segment->lane = lane.number;
    use(lane, lane.segments[0], segment_bytes_);
    return true;
}

// Goes on in the other segment.
bool Timeline::turn(Lane &lane) noexcept {
    const int full = lane.segment == lane.segments[0] ? 0 : 1, other = 1 - full;
    std::unique_lock lock(mutex_);
    if (!lane.segments[other]) return false;
    const Clock::Sample now = clock_.sample();
    header_->last = {now.ticks, now.ns};
    while (lane.state[other] != Lane::usable) {
        if (lane.state[other] == Lane::waiting) {
            if (!save(lane, other, lock)) return false;
        } else {
            changed_.wait(lock);
        }
    }
    lane.state[full] = Lane::waiting;
    changed_.notify_all();
    use(lane, lane.segments[other], segment_bytes_);
    return true;
}

namespace {
bool write_all(int file, const char *data, std::size_t bytes, std::uint64_t offset) {
    while (bytes > 0) {
        const ssize_t written = ::pwrite(file, data, bytes, static_cast<off_t>(offset));
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return false;
        data += written;
        offset += static_cast<std::uint64_t>(written);
        bytes -= static_cast<std::size_t>(written);
    }
    return true;
}
} // namespace

// Copies a waiting segment to the end of the file. Lets go of the lock meanwhile.
bool Timeline::save(Lane &lane, int which, std::unique_lock<std::mutex> &lock) noexcept {
    const std::uint64_t offset = take_slot();
    if (offset == 0) return false;
    lane.state[which] = Lane::being_saved;
    lock.unlock();
    const SegmentHeader *const segment = lane.segments[which];
    const char *const data = reinterpret_cast<const char *>(segment);
    const bool saved = write_all(file_, data + sizeof *segment, segment->used - sizeof *segment,
                                 offset + sizeof *segment) &&
                       write_all(file_, data, sizeof *segment, offset);
    lock.lock();
    if (!saved) header_->full = 2;
    lane.state[which] = saved ? Lane::usable : Lane::waiting;
    changed_.notify_all();
    return saved;
}

void Timeline::run() noexcept {
    static_cast<void>(::pthread_setname_np(::pthread_self(), "atoll-trace"));
    std::unique_lock lock(mutex_);
    while (!stopping_) {
        bool saved = false;
        for (std::size_t i = 0; i < lanes_.size() && !header_->full; ++i)
            for (int which = 0; which < 2; ++which)
                if (lanes_[i]->state[which] == Lane::waiting)
                    saved |= save(*lanes_[i], which, lock);
        if (!saved) changed_.wait(lock);
    }
}

void Timeline::leave(Lane &lane) noexcept {
    const std::lock_guard lock(mutex_);
    for (SegmentHeader *segment : lane.segments)
        if (segment) ::munmap(segment, segment_bytes_);
    std::erase(lanes_, &lane);
    lane = {};
}

void Timeline::synchronise(bool closed) noexcept {
    const std::lock_guard lock(mutex_);
    const Clock::Sample now = clock_.sample();
    header_->last = {now.ticks, now.ns};
    if (closed) header_->closed = 1;
}

} // namespace Atoll::trace
