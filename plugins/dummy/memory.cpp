// The memory of one simulated device: see memory.hpp.
#include "memory.hpp"

#include "atoll/plugin.hpp"

#include <cerrno>
#include <sys/mman.h>
#include <unistd.h>

namespace Dummy {

namespace sdk = Atoll::sdk;

namespace {

// From this size on, free gives pages back; below, fresh memory is filled with garbage.
constexpr std::uint64_t large = 64 << 10;

std::uint64_t round_up(std::uint64_t bytes, std::uint64_t unit) {
    return (bytes + unit - 1) / unit * unit;
}

char *map(std::uint64_t bytes, int rights) {
    void *memory = mmap(nullptr, bytes, rights, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        throw sdk::Error(ATOLL_STATUS_OUT_OF_MEMORY,
                         "cannot reserve " + std::to_string(bytes) + " bytes of address space",
                         errno);
    return static_cast<char *>(memory);
}

} // namespace

Memory::Memory(std::string device, std::uint64_t bytes)
    : device_(std::move(device)), bytes_(bytes / alignment * alignment), available_(bytes_) {
    if (bytes_ == 0) return;
    addresses_ = map(bytes_, PROT_NONE);
    try {
        distance_ = map(bytes_, PROT_READ | PROT_WRITE) - addresses_;
    } catch (...) {
        munmap(addresses_, bytes_);
        throw;
    }
    gaps_.emplace(0, bytes_);
}

Memory::~Memory() {
    if (bytes_ == 0) return;
    munmap(addresses_ + distance_, bytes_);
    munmap(addresses_, bytes_);
}

void *Memory::allocate(std::uint64_t bytes) {
    if (bytes == 0)
        throw sdk::Error(ATOLL_STATUS_INVALID_ARGUMENT, "[device.allocate] 0 bytes on " + device_);
    std::unique_lock lock(mutex_);
    if (bytes <= bytes_) {
        const std::uint64_t rounded = round_up(bytes, alignment);
        void *data = take(rounded, bytes);
        while (!data && retired_ > 0) {
            released_.wait(lock);
            data = take(rounded, bytes);
        }
        if (data) {
            ++allocations_;
            // Whoever takes fresh memory for zeros shall see it early: floats are NaN, integers -1.
            std::memset(worker_address(data), 0xff, std::min(rounded, large));
            return data;
        }
    }
    throw sdk::Error(ATOLL_STATUS_OUT_OF_MEMORY,
                     "[device.allocate] out of memory on " + device_ + ": asked for " +
                         std::to_string(bytes) + " bytes, " + std::to_string(available_) + " of " +
                         std::to_string(bytes_) + " bytes are free");
}

void *Memory::take(std::uint64_t bytes, std::uint64_t asked) {
    for (auto gap = gaps_.begin(); gap != gaps_.end(); ++gap) {
        const auto [offset, room] = *gap;
        if (room < bytes) continue;
        Gaps spare;
        spare.emplace(0, 0);
        blocks_.emplace(offset, Block{bytes, asked, false, spare.extract(spare.begin())});
        auto rest = gaps_.extract(gap);
        if (room > bytes) {
            rest.key() = offset + bytes;
            rest.mapped() = room - bytes;
            gaps_.insert(std::move(rest));
        }
        available_ -= bytes;
        return addresses_ + offset;
    }
    return nullptr;
}

void Memory::retire(void *data, std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    const auto block = blocks_.find(static_cast<Offset>(static_cast<char *>(data) - addresses_));
    if (block == blocks_.end() || block->second.asked != bytes || block->second.retired)
        throw sdk::Error(ATOLL_STATUS_INVALID_ARGUMENT,
                         "[device.free] " + device_ + " has no block of " + std::to_string(bytes) +
                             " bytes at this address, or it is freed already");
    block->second.retired = true;
    ++retired_;
}

void Memory::release(void *data) {
    const std::lock_guard lock(mutex_);
    const auto block = blocks_.find(static_cast<Offset>(static_cast<char *>(data) - addresses_));
    Offset begin = block->first, end = begin + block->second.bytes;
    if (end - begin >= large) {
        const std::uint64_t page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
        const Offset first = round_up(begin, page), last = end / page * page;
        madvise(worker_address(addresses_ + first), last - first, MADV_DONTNEED);
    }
    available_ += end - begin;
    Gaps::node_type gap = std::move(block->second.gap);
    blocks_.erase(block);
    --retired_;

    auto next = gaps_.upper_bound(begin);
    if (next != gaps_.end() && next->first == end) {
        end += next->second;
        next = gaps_.erase(next);
    }
    if (next != gaps_.begin()) {
        const auto previous = std::prev(next);
        if (previous->first + previous->second == begin) {
            begin = previous->first;
            gaps_.erase(previous);
        }
    }
    gap.key() = begin;
    gap.mapped() = end - begin;
    gaps_.insert(std::move(gap));
    released_.notify_all();
}

Memory::Range Memory::check(const std::string &what, const void *data, Range range) const {
    const __int128 start = reinterpret_cast<std::intptr_t>(data) -
                           static_cast<__int128>(reinterpret_cast<std::intptr_t>(addresses_));
    const char *problem = " is not memory of ";
    const std::lock_guard lock(mutex_);
    if (start + range.low >= 0 && start + range.high <= static_cast<__int128>(bytes_)) {
        auto block = blocks_.upper_bound(static_cast<Offset>(start + range.low));
        problem = " is not allocated on ";
        if (block != blocks_.begin()) {
            const Offset begin = (--block)->first, end = begin + block->second.bytes;
            if (end >= static_cast<Offset>(start + range.high)) {
                if (!block->second.retired)
                    return {static_cast<std::int64_t>(begin - start),
                            static_cast<std::int64_t>(end - start)};
                problem = " is freed already on ";
            }
        }
    }
    throw sdk::Error(ATOLL_STATUS_INVALID_ARGUMENT, what + problem + device_);
}

std::uint64_t Memory::available() const {
    const std::lock_guard lock(mutex_);
    return available_;
}

} // namespace Dummy
