// The address space of this process, for tests of what happens where there is no more.
#pragma once

#include <cstdint>
#include <cstdio>
#include <sys/resource.h>
#include <unistd.h>

// Only so many bytes more than now. Whether that was done.
inline bool limit_address_space(std::uint64_t more) {
    long pages = 0;
    std::FILE *const file = std::fopen("/proc/self/statm", "r");
    const bool is_known = file && std::fscanf(file, "%ld", &pages) == 1;
    if (file) std::fclose(file);
    const auto now = static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(getpagesize());
    const rlimit limit = {now + more, now + more};
    return is_known && setrlimit(RLIMIT_AS, &limit) == 0;
}
