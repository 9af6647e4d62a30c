// The buffer that a plugin writes its words into, with room behind it.
//
// Note [Error buffers]
// A plugin is told a capacity and may ignore it. So each buffer is larger than the plugin is told:
// what runs over by less than the room behind damages nothing, and is found out by a sentinel where
// the failure is reported. No buffer can be large enough for everything.
#pragma once

#include "atoll/abi/base.h"
#include "base/printable.hpp"

#include <cstdint>
#include <cstring>
#include <string>

namespace Atoll::detail {

inline constexpr std::uint32_t error_capacity = 512; // what a plugin is told

struct ErrorText {
    char bytes[2 * error_capacity];

    void clear() {
        bytes[0] = '\0';
        std::memcpy(bytes + error_capacity, &sentinel, sizeof sentinel);
    }
    bool overrun() const {
        return std::memcmp(bytes + error_capacity, &sentinel, sizeof sentinel) != 0;
    }
    // Cut to what the plugin was told, and fit to be shown.
    std::string text() {
        bytes[error_capacity - 1] = '\0';
        return printable(bytes);
    }

private:
    static constexpr std::uint64_t sentinel = 0xa7011a7011a7011a;
};

// For the calls of a plugin's life: load, unload, open_device, create.
class ErrorBuffer {
public:
    ErrorBuffer() { text_.clear(); }
    ErrorBuffer(const ErrorBuffer &) = delete;
    ErrorBuffer &operator=(const ErrorBuffer &) = delete;
    atoll_error *get() { return &error_; }
    // What the plugin said, or that it said nothing.
    std::string words() {
        std::string words = text_.text();
        if (words.empty()) words = "no details given";
        if (text_.overrun())
            words += " (the plugin wrote past the end of the error buffer: report it to its "
                     "vendor)";
        return words;
    }
    bool overrun() const { return text_.overrun(); }
    std::int64_t native_code() const { return error_.native_code; }

private:
    ErrorText text_;
    atoll_error error_{sizeof(atoll_error), 0, 0, error_capacity, 0, text_.bytes, {}};
    char behind_[192] = {}; // error_.function may be overrun too
};

} // namespace Atoll::detail
