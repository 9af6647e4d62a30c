// .npy files: their data, and the places that they come from and go to.
#include "atoll/convert.hpp"
#include "files.hpp"
#include "npy_header.hpp"

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

// Makes what the file says into what a tensor holds: native elements; bools of 0 and 1, since any
// other value would be undefined behaviour in every kernel.
void mend(char *data, std::size_t bytes, const NpyHeader &header) {
    if (!header.swapped && header.dtype != bool_) return;
    sdk::with_type<ATOLL_DOMAIN_ALL>(
        static_cast<std::uint32_t>(header.dtype), [&]<class T>(std::type_identity<T>) {
            for (std::size_t at = 0; at < bytes; at += sizeof(T))
                sdk::detail::store(data + at, sdk::detail::load<T>(data + at, header.swapped),
                                   false);
        });
}

NpySource stream_source(std::istream &stream, std::string name, std::optional<std::uint64_t> size) {
    return {name, size, "read_npy", [&stream, name](char *to, std::size_t count) -> std::size_t {
                if (!stream.good()) return 0;
                try {
                    stream.read(to, static_cast<std::streamsize>(count));
                } catch (const std::ios_base::failure &) { // said below, in our words
                }
                if (stream.bad())
                    throw Error(Status::refused, "read_npy",
                                fmt::format("{}: cannot be read: {}", name, std::strerror(errno)),
                                {}, {}, errno);
                return static_cast<std::size_t>(stream.gcount());
            }};
}

NpySource memory_source(std::span<const std::byte> bytes) {
    return {"memory", bytes.size(), "read_npy", [bytes](char *to, std::size_t count) mutable {
                count = std::min(count, bytes.size());
                if (count > 0) std::memcpy(to, bytes.data(), count);
                bytes = bytes.subspan(count);
                return count;
            }};
}

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

// The bytes of a dense tensor, which have no order.
Tensor bytes_of(const Tensor &tensor) {
    Tensor bytes(tensor.storage(), tensor.offset(), {tensor.bytes()}, {1}, uint8);
    bytes.set_byteswapped(false);
    return bytes;
}

void read_data(NpySource &source, const NpyHeader &header, const Tensor &tensor) {
    const Device device = tensor.device();
    const bool direct = device.is_host_memory() && device.is_inline();
    const auto total = static_cast<std::size_t>(header.bytes);
    const Tensor bytes = bytes_of(tensor);
    std::vector<char> staged(direct ? 0 : std::min(total, piece));
    for (std::size_t at = 0; at < total;) {
        const std::size_t count = std::min(total - at, piece);
        char *to = direct ? static_cast<char *>(tensor.data()) + at : staged.data();
        source.read_all(to, count, "data", at, total);
        mend(to, count, header);
        if (!direct) {
            const auto begin = static_cast<std::int64_t>(at),
                       size = static_cast<std::int64_t>(count);
            bytes.slice(0, begin, begin + size) =
                from_values(to, uint8, size, {uint8, device, tensor.stream()});
        }
        at += count;
    }
    tensor.stream().synchronize();
}

} // namespace

std::size_t NpySource::read(char *to, std::size_t count) {
    std::size_t got = 0;
    while (got < count) {
        const std::size_t more = read_(to + got, count - got);
        if (more == 0) break;
        got += more;
    }
    if (left) *left -= std::min<std::uint64_t>(*left, got);
    return got;
}

void NpySource::read_all(char *to, std::size_t count, std::string_view part, std::uint64_t before,
                         std::uint64_t total) {
    const std::size_t got = read(to, count);
    if (got < count) truncated(part, total, before + got);
}

std::string NpySource::take(std::size_t count, std::string_view part) {
    std::string text(count, '\0');
    read_all(text.data(), count, part, 0, count);
    return text;
}

void NpySource::refuse(Status status, std::string_view why) const {
    throw Error(status, op, fmt::format("{}: {}", name, why));
}

void NpySource::require(std::string_view part, std::uint64_t need) const {
    if (left && need > *left) truncated(part, need, *left);
}

void NpySource::truncated(std::string_view part, std::uint64_t need, std::uint64_t got) const {
    refuse(Status::invalid_argument,
           fmt::format("truncated: the {} needs {} bytes, {} are there", part, need, got));
}

Tensor read_array(NpySource &source, const Placement &where) {
    const NpyHeader header = read_header(source);
    const auto bytes = static_cast<std::uint64_t>(header.bytes);
    source.require("data", bytes);
    // Where nobody knows what comes, the header may lie: take memory for what has really come.
    std::vector<char> data;
    while (!source.left && bytes > piece && data.size() < bytes) {
        const std::size_t had = data.size();
        data.resize(
            static_cast<std::size_t>(std::min<std::uint64_t>(bytes, std::max(2 * had, piece))));
        source.read_all(data.data() + had, data.size() - had, "data", had, bytes);
    }
    NpySource memory = memory_source(std::as_bytes(std::span(data)));
    Placement place = where;
    place.dtype = header.dtype;
    const Tensor tensor = empty(header.shape, place, header.order);
    read_data(data.empty() ? source : memory, header, tensor);
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

NpyEncoder::NpyEncoder(const Tensor &tensor, std::string_view op)
    : tensor_(tensor.shallow_copy()), // what happens to the caller's handle now does not matter
      bytes_(tensor.bytes()) {
    // As NumPy: row-major where both are true.
    header_ = header_of(
        tensor_, tensor_.is_contiguous(Order::C) || tensor_.rank() < 2 ? Order::C : Order::F, op);
}

std::span<const char> NpyEncoder::next() {
    if (!flat_.is_defined()) {
        if (!tensor_.is_contiguous(Order::C) && !tensor_.is_contiguous(Order::F)) {
            const bool swapped = tensor_.is_byteswapped();
            tensor_ = tensor_.replicate();
            if (swapped) tensor_.byteswap();
        }
        flat_ = bytes_of(tensor_);
        return header_;
    }
    const char *data = static_cast<const char *>(flat_.data()) + at_;
    std::int64_t count = bytes_ - at_;
    if (flat_.device().is_host_memory()) {
        flat_.stream().synchronize();
    } else {
        count = std::min(count, static_cast<std::int64_t>(piece));
        staged_.resize(static_cast<std::size_t>(count));
        flat_.slice(0, at_, at_ + count).read(staged_.data(), uint8);
        data = staged_.data();
    }
    at_ += count;
    return {data, static_cast<std::size_t>(count)};
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
    NpySource source = stream_source(stream, in_quotes(path.native()), size);
    return read_whole(source, where);
}

Tensor read_npy(std::istream &stream, const Placement &where) {
    NpySource source = stream_source(stream, "stream", bytes_left(stream));
    return read_array(source, where);
}

Tensor read_npy(std::span<const std::byte> bytes, const Placement &where) {
    NpySource source = memory_source(bytes);
    return read_whole(source, where);
}

void write_npy(const std::filesystem::path &path, const Tensor &tensor) {
    NpyEncoder encoder(tensor, "write_npy");
    NewFile file(path, "write_npy");
    for (auto bytes = encoder.next(); !bytes.empty(); bytes = encoder.next())
        file.write(bytes.data(), bytes.size());
    file.commit();
}

void write_npy(std::ostream &stream, const Tensor &tensor) {
    NpyEncoder encoder(tensor, "write_npy");
    for (auto bytes = encoder.next(); !bytes.empty(); bytes = encoder.next()) {
        try {
            stream.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
        } catch (const std::ios_base::failure &) { // said below
        }
        if (!stream) throw Error(Status::refused, "write_npy", "the stream cannot be written");
    }
}

} // namespace Atoll
