// Buffers and compresses outputs.
#include "trace_sink.hpp"

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <zlib.h>

#include <fmt/format.h>

namespace Atoll::tools {

Sink::Sink(std::FILE *out, bool compressed) : out_(out) {
    buffer_.reserve(capacity + (capacity >> 2));
    if (!compressed) return;
    zip_ = std::make_unique<z_stream>();
    constexpr int gzip = 16 + MAX_WBITS;
    if (::deflateInit2(zip_.get(), Z_BEST_SPEED, Z_DEFLATED, gzip, 9, Z_DEFAULT_STRATEGY) != Z_OK)
        throw std::runtime_error("cannot begin to compress: no memory");
}

Sink::~Sink() {
    if (zip_) ::deflateEnd(zip_.get());
}

void Sink::put(const char *bytes, std::size_t size) {
    if (std::fwrite(bytes, 1, size, out_) != size)
        throw std::runtime_error(fmt::format("cannot write: {}", std::strerror(errno)));
}

void Sink::empty(bool last) {
    if (!zip_) {
        put(buffer_.data(), buffer_.size());
        buffer_.clear();
        return;
    }
    zip_->next_in = reinterpret_cast<Bytef *>(buffer_.data());
    zip_->avail_in = static_cast<uInt>(buffer_.size());
    char out[1 << 16];
    do {
        zip_->next_out = reinterpret_cast<Bytef *>(out);
        zip_->avail_out = sizeof out;
        ::deflate(zip_.get(), last ? Z_FINISH : Z_NO_FLUSH);
        put(out, sizeof out - zip_->avail_out);
    } while (zip_->avail_out == 0);
    buffer_.clear();
}

} // namespace Atoll::tools
