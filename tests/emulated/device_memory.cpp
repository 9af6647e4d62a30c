#include "device_memory.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>

namespace Emulated {
namespace {

constexpr std::size_t page = 4096, range = std::size_t{1} << 38;

} // namespace

Memory::Memory() {
    void *const memory =
        ::mmap(nullptr, range, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        std::perror("emulated: addresses of a device");
        std::abort();
    }
    begin_ = next_ = static_cast<char *>(memory);
    key_ = ::pkey_alloc(0, PKEY_DISABLE_ACCESS);
    const char *const wanted = std::getenv("ATOLL_EMULATED_MEMORY");
    total_ = wanted ? std::strtoull(wanted, nullptr, 10) : std::size_t{4} << 30;
}

char *Memory::allocate(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
    const std::size_t pages = (rounded + page - 1) / page * page;
    if (bytes == 0 || used_ + bytes > total_ || used_ + bytes < bytes) return nullptr;
    if (next_ + pages + page > begin_ + range) next_ = begin_;
    // Once around, what is in use is in the way.
    while (true) {
        const auto after = blocks_.lower_bound(next_);
        const Block *obstacle = nullptr;
        if (after != blocks_.end() && after->second.pages < next_ + pages + page)
            obstacle = &after->second;
        if (!obstacle) break;
        next_ = obstacle->pages + obstacle->page_bytes + page;
        if (next_ + pages + page > begin_ + range) return nullptr;
    }
    char *const address = next_ + (pages - rounded);
    blocks_[address] = {next_, pages, bytes};
    next_ += pages + page;
    used_ += bytes;
    return address;
}

void Memory::protect(const Block &block, bool access) const {
    const int rights = access ? PROT_READ | PROT_WRITE : PROT_NONE;
    // What is freed has no key, as what was never used: only so do both become one mapping, of
    // which a process may have some 65,000.
    const int key = access ? key_ : 0;
    const int failed = key_ >= 0 ? ::pkey_mprotect(block.pages, block.page_bytes, rights, key)
                                 : ::mprotect(block.pages, block.page_bytes, rights);
    if (failed) {
        std::perror("emulated: access to device memory");
        std::abort();
    }
}

void Memory::activate(char *address) {
    const std::lock_guard lock(mutex_);
    const Block &block = blocks_.at(address);
    protect(block, true);
    // What was never written is not zero.
    std::memset(address, 0xa5, block.bytes);
}

bool Memory::mark_freed(char *address) {
    const std::lock_guard lock(mutex_);
    const auto found = blocks_.find(address);
    if (found == blocks_.end() || found->second.freed) return false;
    return found->second.freed = true;
}

void Memory::release(char *address) {
    const std::lock_guard lock(mutex_);
    const auto found = blocks_.find(address);
    const Block &block = found->second;
    ::madvise(block.pages, block.page_bytes, MADV_DONTNEED);
    protect(block, false);
    used_ -= block.bytes;
    blocks_.erase(found);
}

bool Memory::contains(const void *address, std::size_t bytes) const {
    const std::lock_guard lock(mutex_);
    const char *const first = static_cast<const char *>(address);
    auto found = blocks_.upper_bound(first);
    if (found == blocks_.begin()) return false;
    --found;
    return first + bytes <= found->first + found->second.bytes;
}

void Memory::admit(bool access) const {
    if (key_ >= 0) ::pkey_set(key_, access ? 0 : PKEY_DISABLE_ACCESS);
}

std::size_t Memory::used() const {
    const std::lock_guard lock(mutex_);
    return used_;
}
std::size_t Memory::live() const {
    const std::lock_guard lock(mutex_);
    return blocks_.size();
}

} // namespace Emulated
