// Where an output of `atoll trace` goes: a file, plain or compressed.
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

struct z_stream_s;

namespace Atoll::tools {

// Both throw std::runtime_error when the file takes no more.
class Sink {
public:
    // Does not own the file. `compressed`: as gzip does.
    Sink(std::FILE *out, bool compressed);
    ~Sink();
    Sink(const Sink &) = delete;
    Sink &operator=(const Sink &) = delete;

    void write(std::string_view text) {
        buffer_ += text;
        if (buffer_.size() >= capacity) empty(false);
    }
    // After the last write.
    void finish() { empty(true); }

private:
    static constexpr std::size_t capacity = 1 << 18;
    void empty(bool last);
    void put(const char *bytes, std::size_t size);

    std::FILE *out_;
    std::string buffer_;
    std::unique_ptr<z_stream_s> zip_; // null: plain
};

} // namespace Atoll::tools
