// The buffer that a plugin writes its words into.
#pragma once

#include "atoll/abi/base.h"
#include "base/printable.hpp"

#include <cstdint>
#include <string>

namespace Atoll::detail {

struct ErrorText {
    static constexpr std::uint32_t capacity = 512;
    char bytes[capacity];

    void clear() { bytes[0] = '\0'; }
    // Fit to be shown, terminated or not.
    std::string text() {
        bytes[capacity - 1] = '\0';
        return printable(bytes);
    }
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
        return words.empty() ? "no details given" : words;
    }
    std::int64_t native_code() const { return error_.native_code; }

private:
    ErrorText text_;
    atoll_error error_{sizeof(atoll_error), 0, 0, ErrorText::capacity, 0, text_.bytes, {}};
};

} // namespace Atoll::detail
