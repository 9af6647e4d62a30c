// .npy files: their data, and the places that they come from and go to.
#include "io/files.hpp"
#include "io/npy_header.hpp"
#include "objects/layout.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <istream>
#include <ostream>

#include <fmt/format.h>

namespace Atoll {

namespace detail {

namespace {

constexpr std::size_t piece = 1 << 20; // bytes that are read, turned or moved at a time

template <class Word> void reverse_words(char *data, std::size_t bytes) {
    for (std::size_t at = 0; at < bytes; at += sizeof(Word)) {
        Word word;
        std::memcpy(&word, data + at, sizeof word);
        if constexpr (sizeof word == 2)
            word = __builtin_bswap16(word);
        else if constexpr (sizeof word == 4)
            word = __builtin_bswap32(word);
        else
            word = __builtin_bswap64(word);
        std::memcpy(data + at, &word, sizeof word);
    }
}

// Makes what the file says into what a tensor holds.
void mend(char *data, std::size_t bytes, const NpyHeader &header) {
    // A bool of any other value than 0 and 1 would be undefined behaviour in every kernel.
    if (header.dtype == bool_)
        for (std::size_t i = 0; i < bytes; ++i) data[i] = data[i] != 0;
    if (!header.swapped) return;
    switch (info(header.dtype).alignment) { // parts of complex numbers are turned one by one
    case 2: return reverse_words<std::uint16_t>(data, bytes);
    case 4: return reverse_words<std::uint32_t>(data, bytes);
    case 8: return reverse_words<std::uint64_t>(data, bytes);
    }
}

class StreamSource : public NpySource {
public:
    StreamSource(std::istream &stream, std::string source_name, std::optional<std::uint64_t> size)
        : NpySource(std::move(source_name), size, "read_npy"), stream_(stream) {}

protected:
    std::size_t read_some(void *to, std::size_t count) override {
        if (!stream_.good()) return 0;
        try {
            stream_.read(static_cast<char *>(to), static_cast<std::streamsize>(count));
        } catch (const std::ios_base::failure &) { // the stream is set to throw: we say it in words
        }
        if (stream_.bad())
            throw Error(Status::refused, op,
                        fmt::format("{}: cannot be read: {}", name, std::strerror(errno)), {}, {},
                        errno);
        return static_cast<std::size_t>(stream_.gcount());
    }

private:
    std::istream &stream_;
};

class MemorySource : public NpySource {
public:
    explicit MemorySource(std::span<const std::byte> bytes)
        : NpySource("memory", bytes.size(), "read_npy"), bytes_(bytes) {}

protected:
    std::size_t read_some(void *to, std::size_t count) override {
        count = std::min(count, bytes_.size());
        if (count > 0) std::memcpy(to, bytes_.data(), count);
        bytes_ = bytes_.subspan(count);
        return count;
    }

private:
    std::span<const std::byte> bytes_;
};

// Bytes from here to the end, where the stream can seek.
std::optional<std::uint64_t> bytes_left(std::istream &stream) {
    std::streambuf *buffer = stream.rdbuf();
    if (!buffer || !stream.good()) return std::nullopt;
    const std::streamoff here = buffer->pubseekoff(0, std::ios::cur, std::ios::in);
    if (here < 0) return std::nullopt;
    const std::streamoff end = buffer->pubseekoff(0, std::ios::end, std::ios::in);
    if (buffer->pubseekpos(here, std::ios::in) != std::streampos(here) || end < here)
        return std::nullopt;
    return static_cast<std::uint64_t>(end - here);
}

void read_data(NpySource &source, const NpyHeader &header, const Tensor &tensor) {
    const TensorImpl &t = *tensor.impl();
    const DeviceRecord &device = *t.device();
    const bool direct = device.type->host_memory() && device.type->is_inline();
    const auto total = static_cast<std::size_t>(header.bytes);
    std::vector<char> staged(direct ? 0 : std::min(total, piece));
    for (std::size_t at = 0; at < total;) {
        const std::size_t count = std::min(total - at, piece);
        char *to = direct ? t.data() + at : staged.data();
        const std::size_t got = source.read(to, count);
        if (got != count) source.truncated("data", total, at + got);
        mend(to, count, header);
        if (!direct)
            transfer(home_of(*t.storage), ATOLL_TRANSFER_HOST_TO_DEVICE, t.data() + at, to,
                     static_cast<std::int64_t>(count));
        at += count;
    }
    synchronize_stream(device, t.storage->stream_handle());
}

// Hands all bytes to `write`, piece by piece.
template <class Write> void encode(NpyEncoder &encoder, Write write) {
    std::vector<char> buffer(
        static_cast<std::size_t>(std::min<std::uint64_t>(encoder.size(), piece)));
    while (const std::size_t count = encoder.read(buffer.data(), buffer.size()))
        write(buffer.data(), count);
}

} // namespace

std::size_t NpySource::read(void *to, std::size_t count) {
    std::size_t got = 0;
    while (got < count) {
        const std::size_t more = read_some(static_cast<char *>(to) + got, count - got);
        if (more == 0) break;
        got += more;
    }
    if (left) *left -= std::min<std::uint64_t>(*left, got);
    return got;
}

void NpySource::refuse(Status status, std::string_view why) const {
    throw Error(status, op, fmt::format("{}: {}", name, why));
}

void NpySource::truncated(std::string_view part, std::uint64_t need, std::uint64_t got) const {
    refuse(Status::invalid_argument,
           fmt::format("truncated: the {} needs {} bytes, {} are there", part, need, got));
}

Tensor read_array(NpySource &source, const Placement &where) {
    const NpyHeader header = read_header(source);
    const auto bytes = static_cast<std::uint64_t>(header.bytes);
    if (source.left && bytes > *source.left) source.truncated("data", bytes, *source.left);
    Placement place = where;
    place.dtype = header.dtype;
    const auto make = [&] { return empty(header.shape, place, header.order); };
    Tensor tensor;
    if (source.left || bytes <= piece) {
        tensor = make();
        read_data(source, header, tensor);
    } else {
        // The header may lie: take memory for what has really come.
        std::vector<std::byte> data;
        while (data.size() < bytes) {
            const std::size_t had = data.size();
            data.resize(
                static_cast<std::size_t>(std::min<std::uint64_t>(bytes, std::max(2 * had, piece))));
            const std::size_t got = source.read(data.data() + had, data.size() - had);
            if (had + got < data.size()) source.truncated("data", bytes, had + got);
        }
        MemorySource memory(data);
        tensor = make();
        read_data(memory, header, tensor);
    }
    return where.dtype == DType::none ? tensor : tensor.ensure(where.dtype);
}

Tensor read_whole(NpySource &source, const Placement &where) {
    const Tensor tensor = read_array(source, where);
    char byte;
    const std::uint64_t more = source.left.value_or(0);
    if (source.read(&byte, 1) != 0)
        source.refuse(
            Status::invalid_argument,
            fmt::format("{} byte(s) follow the array; a file of several arrays is read through "
                        "a stream",
                        more > 0 ? std::to_string(more) : "more"));
    return tensor;
}

// --- writing -------------------------------------------------------------------------------------

NpyEncoder::NpyEncoder(const Tensor &tensor, std::string_view op) : bytes_(0) {
    const TensorImpl &t = detail::impl(tensor);
    tensor_ = tensor.shallow_copy(); // what happens to the caller's handle now does not matter
    const bool row_major = tensor_.is_contiguous(Order::C);
    dense_ = row_major || tensor_.is_contiguous(Order::F);
    bytes_ = tensor_.bytes();
    // As NumPy: row-major where both are true.
    header_ = header_of(t, row_major || t.shape.size() < 2 ? Order::C : Order::F, op);
}

void NpyEncoder::start_data() {
    Tensor dense = tensor_;
    if (!dense_) {
        const TensorImpl &t = *tensor_.impl();
        dense = make_tensor(t.shape, t.dtype, t.device(), t.storage->stream);
        dense.set_byteswapped(t.swapped());
        dense.assign(tensor_);
    }
    const TensorImpl &t = *dense.impl();
    const DeviceRecord &device = *t.device();
    if (device.type->host_memory()) {
        synchronize_stream(device, t.storage->stream_handle());
        host_ = t.data();
    }
    flat_ = make_view(t.storage, t.offset, {bytes_}, {1}, uint8,
                      t.storage->swapped ? tensor_swapped : 0); // bytes: the order means nothing
}

std::size_t NpyEncoder::read_data(char *to, std::size_t count) {
    const auto at = static_cast<std::int64_t>(at_ - header_.size());
    if (at == 0 && !flat_.impl()) start_data();
    if (host_) {
        std::memcpy(to, host_ + at, count);
        return count;
    }
    const auto staged_end = staged_begin_ + static_cast<std::int64_t>(staged_.size());
    if (at >= staged_end) {
        staged_begin_ = at;
        staged_.resize(
            static_cast<std::size_t>(std::min(bytes_ - at, static_cast<std::int64_t>(piece))));
        flat_.slice(0, at, at + static_cast<std::int64_t>(staged_.size()))
            .read(staged_.data(), uint8);
    }
    const auto skip = static_cast<std::size_t>(at - staged_begin_);
    count = std::min(count, staged_.size() - skip);
    std::memcpy(to, staged_.data() + skip, count);
    return count;
}

std::size_t NpyEncoder::read(void *to, std::size_t count) {
    std::size_t got = 0;
    count = static_cast<std::size_t>(std::min<std::uint64_t>(count, size() - at_));
    while (got < count) {
        char *next = static_cast<char *>(to) + got;
        std::size_t more = count - got;
        if (at_ < header_.size()) {
            more = std::min(more, header_.size() - static_cast<std::size_t>(at_));
            std::memcpy(next, header_.data() + at_, more);
        } else {
            more = read_data(next, more);
        }
        got += more;
        at_ += more;
    }
    return got;
}

} // namespace detail

using namespace detail;

Tensor read_npy(const std::filesystem::path &path, const Placement &where) {
    std::error_code error;
    const std::filesystem::file_status status = std::filesystem::status(path, error);
    std::ifstream stream;
    if (std::filesystem::is_directory(status))
        errno = EISDIR;
    else
        stream.open(path, std::ios::binary);
    if (!stream.is_open()) refuse_file(path, "opened", errno, "read_npy");
    std::optional<std::uint64_t> size;
    if (std::filesystem::is_regular_file(status)) size = bytes_left(stream);
    StreamSource source(stream, quoted(path), size);
    return read_whole(source, where);
}

Tensor read_npy(std::istream &stream, const Placement &where) {
    StreamSource source(stream, "stream", bytes_left(stream));
    return read_array(source, where);
}

Tensor read_npy(std::span<const std::byte> bytes, const Placement &where) {
    MemorySource source(bytes);
    return read_whole(source, where);
}

void write_npy(const std::filesystem::path &path, const Tensor &tensor) {
    NpyEncoder encoder(tensor, "write_npy");
    NewFile file(path, "write_npy");
    encode(encoder, [&](const char *data, std::size_t count) { file.write(data, count); });
    file.commit();
}

void write_npy(std::ostream &stream, const Tensor &tensor) {
    NpyEncoder encoder(tensor, "write_npy");
    encode(encoder, [&](const char *data, std::size_t count) {
        try {
            stream.write(data, static_cast<std::streamsize>(count));
        } catch (const std::ios_base::failure &) { // said below
        }
        if (!stream) throw Error(Status::refused, "write_npy", "the stream cannot be written");
    });
}

} // namespace Atoll
