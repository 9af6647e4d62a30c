// Memory of emulated devices.
//
// Note [Device memory]
// Addresses of a device are a range of this process's addresses. Only threads that have entered the
// device may touch them, by a protection key, where the processor has such keys; elsewhere a host
// that reads device memory goes unnoticed. An allocation ends at the end of a page, as far as its
// alignment allows, with an inaccessible page behind it. It can be accessed from its turn in the
// stream that made it until the turn of its free, and its addresses are not soon used again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

namespace Emulated {

class Memory {
public:
    Memory();

    // Null if there is not so much. Not accessible before activate().
    char *allocate(std::size_t bytes);
    void activate(char *address);
    // Whether `address` is an allocation that nobody has freed; from now on somebody has.
    bool mark_freed(char *address);
    void release(char *address);
    // Whether all of it lies within one allocation that has not been released.
    bool contains(const void *address, std::size_t bytes) const;

    // Lets the calling thread access this device's memory, or not.
    void admit(bool access) const;
    std::size_t total() const { return total_; }
    std::size_t used() const;
    std::size_t live() const; // allocations

    static constexpr std::size_t alignment = 256;

private:
    struct Block {
        char *pages;
        std::size_t page_bytes, bytes;
        bool freed = false;
    };
    void protect(const Block &block, bool access) const;

    mutable std::mutex mutex_;
    char *begin_, *next_;
    int key_;
    std::size_t total_, used_ = 0;
    std::map<const char *, Block> blocks_; // by address
};

} // namespace Emulated
