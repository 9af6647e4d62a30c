// Memory whose last byte is the last one of a page, behind which nothing can be read.
#pragma once

#include <algorithm>
#include <cstdint>
#include <sys/mman.h>
#include <unistd.h>

#include <doctest/doctest.h>

namespace oracle {

class AtEndOfPage {
public:
    AtEndOfPage(std::int64_t bytes, char value) {
        const std::int64_t page = sysconf(_SC_PAGESIZE);
        const std::int64_t readable = (bytes + page - 1) / page * page;
        mapped_ = static_cast<std::size_t>(readable + 64 * page);
        memory_ = mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        REQUIRE(memory_ != MAP_FAILED);
        REQUIRE(mprotect(memory_, static_cast<std::size_t>(readable), PROT_READ | PROT_WRITE) == 0);
        data = static_cast<char *>(memory_) + readable - bytes;
        std::fill_n(data, bytes, value);
    }
    ~AtEndOfPage() { munmap(memory_, mapped_); }
    AtEndOfPage(const AtEndOfPage &) = delete;
    AtEndOfPage &operator=(const AtEndOfPage &) = delete;

    char *data;

private:
    void *memory_;
    std::size_t mapped_;
};

} // namespace oracle
