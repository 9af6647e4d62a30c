// The memory of one simulated device: addresses that the host cannot dereference, and an allocator.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

namespace Dummy {

// Note [Two mappings]
// The addresses handed out lie in a reservation without access rights: whoever dereferences them
// on the host dies with SIGSEGV, as with a real accelerator's memory. The bytes themselves are in a
// second mapping of the same size, which only the workers use, at `address + distance`.
//
// Note [Freeing]
// free is stream-ordered: retire() at the time of the call, release() on the worker after the work
// before it. Between the two the block still belongs to that work, but new work may not name it:
// check() tells the caller of such a mistake. An allocation that finds no room waits for retired
// blocks, so a program that frees as much as it allocates never runs out because of timing. What
// the worker needs for that is there since the allocation: release() allocates nothing.

// All functions may be called from any thread.
class Memory {
public:
    static constexpr std::uint64_t alignment = 64; // bytes

    // `device` is for messages, e.g. "dummy:0".
    Memory(std::string device, std::uint64_t bytes);
    ~Memory();
    Memory(const Memory &) = delete;
    Memory &operator=(const Memory &) = delete;

    // Throws OUT_OF_MEMORY; blocks only where retired blocks could make room.
    void *allocate(std::uint64_t bytes);
    // Throws INVALID_ARGUMENT unless `data` is what allocate returned for `bytes`.
    void retire(void *data, std::uint64_t bytes);
    void release(void *data);

    // Bytes around an address, relative to it.
    struct Range {
        std::int64_t low, high;
    };
    // Throws INVALID_ARGUMENT, naming `what`, unless [data + low, data + high) lies in one block.
    // Returns the range of that block.
    Range check(const std::string &what, const void *data, Range range) const;

    // Where a worker finds the bytes behind a device address.
    char *worker_address(const void *device_address) const {
        return static_cast<char *>(const_cast<void *>(device_address)) + distance_;
    }

    std::uint64_t total() const { return bytes_; }
    std::uint64_t available() const;
    std::uint64_t allocations() const { return allocations_; } // so far

private:
    using Offset = std::uint64_t; // from the start of the arena, in bytes
    using Gaps = std::map<Offset, std::uint64_t>;
    struct Block {
        std::uint64_t bytes;
        std::uint64_t asked;
        bool retired;
        Gaps::node_type gap; // for the time after
    };

    void *take(std::uint64_t bytes, std::uint64_t asked); // with the lock held; null: no room

    const std::string device_;
    const std::uint64_t bytes_;
    char *addresses_ = nullptr;   // no access rights
    std::ptrdiff_t distance_ = 0; // to the accessible mapping
    mutable std::mutex mutex_;
    std::condition_variable released_;
    std::map<Offset, Block> blocks_; // in use or retired
    Gaps gaps_;                      // free; neighbours are always merged
    std::uint64_t available_;
    std::size_t retired_ = 0; // blocks
    std::atomic<std::uint64_t> allocations_{0};
};

} // namespace Dummy
