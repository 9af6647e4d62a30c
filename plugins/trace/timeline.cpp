// Creating and growing the file: Note [Recording].
#include "timeline.hpp"

#include "atoll/plugin.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <new>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace Atoll::tracing {

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

// Allocates blocks of the file and maps them. With holes instead, a store on a full disk would kill
// the process.
void *grow_and_map(int file, std::uint64_t offset, std::uint64_t bytes, int flags) {
    int code;
    do {
        code = ::posix_fallocate(file, static_cast<off_t>(offset), static_cast<off_t>(bytes));
    } while (code == EINTR);
    if (code != 0) {
        errno = code;
        return nullptr;
    }
    void *const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | flags, file,
                                static_cast<off_t>(offset));
    return memory == MAP_FAILED ? nullptr : memory;
}

} // namespace

Timeline::Timeline(std::string path, std::uint64_t segment_bytes, std::uint64_t limit_bytes,
                   const Clock &clock)
    : path_(std::move(path)),
      segment_bytes_(std::max<std::uint64_t>(
          (segment_bytes + page_bytes - 1) / page_bytes * page_bytes, page_bytes)),
      clock_(clock) {
    file_ = open_file(path_);
    if (file_ < 0) fail(path_, "open");
    void *const memory = grow_and_map(file_, 0, header_bytes, MAP_POPULATE);
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
    header_->first = header_->last = clock_.sample();
    std::memcpy(header_->magic, magic, sizeof magic); // last: the file is valid from here on
}

Timeline::~Timeline() {
    synchronise(true);
    ::munmap(header_, header_bytes);
    ::close(file_);
}

// Every record fits into an empty segment.
char *Timeline::reserve_in_next(Lane &lane, bool is_call) noexcept {
    if (!lane.full) {
        if (map_next(lane)) return lane.position;
        lane.full = 1;
        lane.end = lane.position;
    }
    if (is_call) std::atomic_ref(*lane.dropped).fetch_add(1, std::memory_order_relaxed);
    return nullptr;
}

// The offset of new slots at the end of the file, or 0 if the limit is reached.
std::uint64_t Timeline::take_slots(std::uint64_t count, bool limited) noexcept {
    const std::lock_guard lock(mutex_);
    header_->last = clock_.sample();
    const std::uint64_t records = header_->slots - counter_slots_;
    if (limited && header_bytes + (records + count) * segment_bytes_ > header_->limit_bytes) {
        header_->full = std::max(header_->full, 1u);
        return 0;
    }
    if (!limited) counter_slots_ += count;
    return header_bytes + std::exchange(header_->slots, header_->slots + count) * segment_bytes_;
}

void *Timeline::map_counters(Lane &lane, std::size_t bytes) noexcept {
    const std::uint64_t whole = sizeof(SegmentHeader) + bytes;
    const std::uint64_t offset = take_slots((whole + segment_bytes_ - 1) / segment_bytes_, false);
    void *const memory = grow_and_map(file_, offset, whole, 0);
    const std::lock_guard lock(mutex_);
    if (!memory) {
        header_->full = 2;
        lane.full = 1;
        lane.dropped = &header_->dropped;
        return nullptr;
    }
    lane.number = ++lanes_;
    auto *const header = new (memory) SegmentHeader{};
    header->used = whole;
    std::atomic_ref(header->lane).store(lane.number, std::memory_order_release);
    return header + 1;
}

void Timeline::unmap_counters(void *counters, std::size_t bytes) noexcept {
    ::munmap(static_cast<SegmentHeader *>(counters) - 1, sizeof(SegmentHeader) + bytes);
}

// Replaces the lane's segment by a new one. False: the file cannot grow, and the lane keeps the old
// one, which counts dropped calls.
bool Timeline::map_next(Lane &lane) noexcept {
    const std::uint64_t offset = take_slots(1, true);
    if (offset == 0) return false;
    void *const memory = grow_and_map(file_, offset, segment_bytes_, MAP_POPULATE);
    if (!memory) {
        const std::lock_guard lock(mutex_);
        header_->full = 2;
        return false;
    }
    if (lane.segment) ::munmap(lane.segment, segment_bytes_);
    lane.segment = new (memory) SegmentHeader{};
    lane.segment->sequence = ++lane.sequence;
    lane.segment->used = sizeof(SegmentHeader);
    // Last: a segment of lane 0 counts as empty.
    std::atomic_ref(lane.segment->lane).store(lane.number, std::memory_order_release);
    lane.position = reinterpret_cast<char *>(lane.segment + 1);
    lane.end = reinterpret_cast<char *>(lane.segment) + segment_bytes_;
    return true;
}

void Timeline::leave(Lane &lane) noexcept {
    if (lane.segment) ::munmap(lane.segment, segment_bytes_);
    lane = {};
}

void Timeline::synchronise(bool closed) noexcept {
    const std::lock_guard lock(mutex_);
    header_->last = clock_.sample();
    if (closed) header_->closed = 1;
}

void Timeline::set_libraries(std::string_view text) noexcept {
    const std::lock_guard lock(mutex_);
    text = text.substr(0, sizeof header_->libraries);
    header_->library_bytes = 0; // while they are written
    std::atomic_signal_fence(std::memory_order_seq_cst);
    std::memcpy(header_->libraries, text.data(), text.size());
    std::atomic_signal_fence(std::memory_order_seq_cst);
    header_->library_bytes = text.size();
}

} // namespace Atoll::tracing
