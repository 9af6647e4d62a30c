// Range: names a part of the program for the tracer.
#pragma once

#include "atoll/range.h"

#include <string>

namespace Atoll {

// A range of this thread (atoll/range.h) from here to the end of the scope:
//
//     for (int i = 0; i < epochs; ++i) {
//         const Range range("epoch");
//         …
class [[nodiscard]] Range {
public:
    explicit Range(const char *name) noexcept { atoll_range_push(name); }
    explicit Range(const std::string &name) noexcept : Range(name.c_str()) {}
    ~Range() { atoll_range_pop(); }
    Range(const Range &) = delete;
    Range &operator=(const Range &) = delete;
};

} // namespace Atoll
