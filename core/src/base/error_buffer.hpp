// The buffer for a plugin's error text.
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
    // Safe to show, even if the plugin has not terminated it.
    std::string text() {
        bytes[capacity - 1] = '\0';
        return printable(bytes);
    }
};

// For load, unload, open_device, create and infer.
class ErrorBuffer {
public:
    ErrorBuffer() { text_.clear(); }
    ErrorBuffer(const ErrorBuffer &) = delete;
    ErrorBuffer &operator=(const ErrorBuffer &) = delete;
    atoll_error *get() { return &error_; }
    // The plugin's text, or that there is none.
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
