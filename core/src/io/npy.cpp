// .npy files: header, data, and the places they come from and go to.
#include "io/npy_io.hpp"
#include "objects/layout.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <istream>
#include <ostream>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

namespace Atoll {

namespace detail {

namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::size_t longest_header = 1 << 20; // of the dtypes taken, none needs 4 KiB
constexpr std::size_t piece = 1 << 20;          // bytes that are read, turned or moved at a time
constexpr bool little = std::endian::native == std::endian::little;

struct NpyHeader {
    DType dtype;
    bool swapped; // the data are in the other byte order
    Order order;  // F or C
    Dims shape;
    std::int64_t bytes;
};

// The kind letters of the format.
char kind_letter(DType dtype) {
    switch (info(dtype).kind) {
    case Kind::bool_: return 'b';
    case Kind::signed_: return 'i';
    case Kind::unsigned_: return 'u';
    case Kind::float_: return 'f';
    case Kind::complex: return dtype == complex32 ? '\0' : 'c'; // no NumPy knows 'c4'
    default: return '\0';
    }
}

// Reads the header's dictionary, a Python literal: {'descr': '<f8', 'fortran_order': False,
// 'shape': (3, 4), }. Nothing but what these three keys may hold is understood.
class HeaderParser {
public:
    // `python2`: extents may end in L.
    HeaderParser(std::string_view text, const std::string &source, std::string_view op,
                 bool python2)
        : text_(text), source_(source), op_(op), python2_(python2) {}

    NpyHeader parse() {
        NpyHeader header{};
        bool descr = false, order = false, shape = false;
        expect('{', "'{'");
        while (!accept('}')) {
            const std::string_view key = string();
            expect(':', "':'");
            const auto once = [&](bool &seen) {
                if (seen) fail(fmt::format("the key '{}' twice", key));
                seen = true;
            };
            if (key == "descr") {
                once(descr);
                parse_dtype(header);
            } else if (key == "fortran_order") {
                once(order);
                header.order = parse_bool() ? Order::F : Order::C;
            } else if (key == "shape") {
                once(shape);
                parse_shape(header.shape);
            } else {
                fail(fmt::format("an unknown key '{}'", printable(key)));
            }
            if (!accept(',')) {
                expect('}', "',' or '}'");
                break;
            }
        }
        skip_space();
        if (at_ != text_.size()) fail("text after the dictionary");
        if (!descr || !order || !shape)
            fail(fmt::format("no '{}'", !descr ? "descr" : !order ? "fortran_order" : "shape"));
        header.bytes = bytes_of(header);
        return header;
    }

private:
    [[noreturn]] void fail(std::string_view what) const {
        throw Error(
            Status::invalid_argument, op_,
            fmt::format("{}: malformed header: got {} near character {}", source_, what, at_));
    }
    [[noreturn]] void unsupported(std::string_view what) const {
        throw Error(Status::not_supported, op_, fmt::format("{}: {}", source_, what));
    }
    static std::string printable(std::string_view text) {
        std::string shown(text.substr(0, 40));
        for (char &c : shown)
            if (c < ' ' || c > '~') c = '?';
        return shown;
    }

    void skip_space() {
        while (at_ < text_.size() && std::string_view(" \t\n\r").find(text_[at_]) != text_.npos)
            ++at_;
    }
    bool accept(char c) {
        skip_space();
        if (at_ == text_.size() || text_[at_] != c) return false;
        ++at_;
        return true;
    }
    void expect(char c, std::string_view what) {
        if (!accept(c)) fail(fmt::format("no {}", what));
    }
    // The text between quotes of either kind; escapes are not understood.
    std::string_view string() {
        skip_space();
        const char quote = at_ < text_.size() ? text_[at_] : '\0';
        if (quote != '\'' && quote != '"') fail("no quoted text");
        const std::size_t begin = at_ + 1;
        std::size_t end = begin;
        while (end < text_.size() && text_[end] != quote) {
            if (text_[end] == '\\' || text_[end] == '\n') fail("an escape or a line's end in text");
            ++end;
        }
        if (end == text_.size()) fail("text without an end");
        at_ = end + 1;
        return text_.substr(begin, end - begin);
    }
    bool parse_bool() {
        skip_space();
        for (const std::string_view word : {"True", "False"})
            if (text_.substr(at_, word.size()) == word) {
                at_ += word.size();
                return word == "True";
            }
        fail("neither True nor False");
    }
    std::int64_t parse_extent() {
        skip_space();
        const std::size_t begin = at_;
        std::int64_t extent = 0;
        for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_)
            if (__builtin_mul_overflow(extent, 10, &extent) ||
                __builtin_add_overflow(extent, text_[at_] - '0', &extent))
                throw Error(Status::overflow, op_,
                            fmt::format("{}: an extent is beyond 63 bits", source_));
        if (at_ == begin) fail("no extent");
        if (at_ - begin > 1 && text_[begin] == '0') fail("an extent that begins with 0");
        if (python2_ && at_ < text_.size() && text_[at_] == 'L') ++at_;
        return extent;
    }
    // (), (3,), (3, 4), (3, 4,)
    void parse_shape(Dims &shape) {
        expect('(', "'('");
        bool comma = false;
        while (!accept(')')) {
            shape.push_back(parse_extent());
            if (shape.size() > ATOLL_MAX_RANK)
                unsupported(fmt::format("an array of more than {} axes", ATOLL_MAX_RANK));
            if (accept(',')) {
                comma = true;
                continue;
            }
            if (!comma) fail("one extent in parentheses without a comma");
            expect(')', "',' or ')'");
            break;
        }
    }
    void parse_dtype(NpyHeader &header) {
        skip_space();
        if (at_ < text_.size() && (text_[at_] == '[' || text_[at_] == '('))
            unsupported("a structured dtype; save each field as an array of its own");
        const std::string_view given = string();
        std::string_view descr = given;
        const char order = descr.empty() ? '\0' : descr[0];
        if (order == '<' || order == '>' || order == '=' || order == '|') descr.remove_prefix(1);
        const auto is = [&](char c) { return !descr.empty() && descr[0] == c; };
        if (is('O')) unsupported("an array of Python objects, which are pickled; save numbers");
        if (is('S') || is('U') || is('a')) unsupported("an array of strings; save numbers");
        if (is('M') || is('m')) unsupported("an array of times; save .astype('int64')");
        if (is('V'))
            unsupported("an array of raw bytes (dtype V, as which foreign dtypes such as bfloat16 "
                        "are saved); save .astype('float32')");
        for (int d = 1; d < ATOLL_DTYPE_COUNT; ++d) {
            const auto dtype = static_cast<DType>(d);
            const char letter = kind_letter(dtype);
            if (letter && descr == fmt::format("{}{}", letter, size_of(dtype))) {
                header.dtype = dtype;
                header.swapped = info(dtype).alignment > 1 && order == (little ? '>' : '<');
                return;
            }
        }
        unsupported(fmt::format("there is no dtype for '{}'", printable(given)));
    }
    std::int64_t bytes_of(const NpyHeader &header) const {
        std::int64_t bytes = size_of(header.dtype);
        bool empty = false, overflow = false;
        for (std::int64_t extent : header.shape) {
            empty = empty || extent == 0;
            if (extent > 0) overflow |= __builtin_mul_overflow(bytes, extent, &bytes);
        }
        if (overflow)
            throw Error(Status::overflow, op_,
                        fmt::format("{}: shape {} of {} has more bytes than fit 63 bits", source_,
                                    shape_text(header.shape), Atoll::name(header.dtype)));
        return empty ? 0 : bytes;
    }

    std::string_view text_;
    std::size_t at_ = 0;
    const std::string &source_;
    std::string_view op_;
    bool python2_;
};

[[noreturn]] void truncated(const NpySource &source, std::string_view op, std::string_view part,
                            std::uint64_t need, std::uint64_t got) {
    throw Error(Status::invalid_argument, op,
                fmt::format("{}: truncated: the {} needs {} bytes, {} are there", source.name, part,
                            need, got));
}

void read_all(NpySource &source, void *to, std::size_t count, std::string_view op,
              std::string_view part) {
    const std::size_t got = source.read(to, count);
    if (got != count) truncated(source, op, part, count, got);
}

NpyHeader read_header(NpySource &source, std::string_view op) {
    unsigned char start[8], length[4] = {};
    read_all(source, start, sizeof start, op, "start");
    if (std::memcmp(start, magic.data(), magic.size()) != 0)
        throw Error(Status::invalid_argument, op,
                    fmt::format("{}: this is no .npy file: it does not begin with \\x93NUMPY",
                                source.name));
    const int major = start[6], minor = start[7];
    if (major < 1 || major > 3 || minor != 0)
        throw Error(Status::not_supported, op,
                    fmt::format("{}: version {}.{} of the format, need 1.0, 2.0 or 3.0",
                                source.name, major, minor));
    read_all(source, length, major == 1 ? 2 : 4, op, "header's length");
    const std::size_t bytes =
        length[0] | length[1] << 8 | length[2] << 16 | static_cast<std::size_t>(length[3]) << 24;
    if (source.left && bytes > *source.left) truncated(source, op, "header", bytes, *source.left);
    if (bytes > longest_header)
        throw Error(Status::not_supported, op,
                    fmt::format("{}: a header of {} bytes, need at most {}", source.name, bytes,
                                longest_header));
    std::string text(bytes, '\0');
    read_all(source, text.data(), bytes, op, "header");
    return HeaderParser(text, source.name, op, major < 3).parse();
}

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
        : NpySource(std::move(source_name), size), stream_(stream) {}

protected:
    std::size_t read_some(void *to, std::size_t count) override {
        if (!stream_.good()) return 0;
        try {
            stream_.read(static_cast<char *>(to), static_cast<std::streamsize>(count));
        } catch (const std::ios_base::failure &) { // the stream is set to throw: we say it in words
        }
        if (stream_.bad())
            throw Error(Status::refused, "read_npy",
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
        : NpySource("memory", bytes.size()), bytes_(bytes) {}

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

void read_data(NpySource &source, const NpyHeader &header, const Tensor &tensor,
               std::string_view op) {
    const TensorImpl &t = *tensor.impl();
    const DeviceRecord &device = *t.device();
    const bool direct = device.type->host_memory() && device.type->is_inline();
    const auto total = static_cast<std::size_t>(header.bytes);
    std::vector<char> staged(direct ? 0 : std::min(total, piece));
    for (std::size_t at = 0; at < total;) {
        const std::size_t count = std::min(total - at, piece);
        char *to = direct ? t.data() + at : staged.data();
        const std::size_t got = source.read(to, count);
        if (got != count) truncated(source, op, "data", total, at + got);
        mend(to, count, header);
        if (!direct) {
            transfer(home_of(*t.storage), ATOLL_TRANSFER_HOST_TO_DEVICE, t.data() + at, to,
                     static_cast<std::int64_t>(count));
        }
        at += count;
    }
    synchronize_stream(device, t.storage->stream_handle());
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

void NpySource::require_end(std::string_view op) {
    char byte;
    const std::uint64_t more = left.value_or(0);
    if (read(&byte, 1) != 0)
        throw Error(Status::invalid_argument, op,
                    fmt::format("{}: {} byte(s) follow the array; a file of several arrays is read "
                                "through a stream",
                                name, more > 0 ? std::to_string(more) : "more"));
}

Tensor read_array(NpySource &source, const Placement &where, std::string_view op) {
    const NpyHeader header = read_header(source, op);
    const auto bytes = static_cast<std::uint64_t>(header.bytes);
    if (source.left && bytes > *source.left) truncated(source, op, "data", bytes, *source.left);
    Placement place = where;
    place.dtype = header.dtype;
    const auto make = [&] { return empty(header.shape, place, header.order); };
    Tensor tensor;
    if (source.left || bytes <= piece) {
        tensor = make();
        read_data(source, header, tensor, op);
    } else {
        // The header may lie: take memory for what has really come.
        std::vector<std::byte> data;
        while (data.size() < bytes) {
            const std::size_t had = data.size();
            data.resize(
                static_cast<std::size_t>(std::min<std::uint64_t>(bytes, std::max(2 * had, piece))));
            const std::size_t got = source.read(data.data() + had, data.size() - had);
            if (had + got < data.size()) truncated(source, op, "data", bytes, had + got);
        }
        MemorySource memory(data);
        tensor = make();
        read_data(memory, header, tensor, op);
    }
    return where.dtype == DType::none ? tensor : tensor.ensure(where.dtype);
}

// --- writing -------------------------------------------------------------------------------------

NpyEncoder::NpyEncoder(const Tensor &tensor, std::string_view op) : bytes_(0) {
    const TensorImpl &t = detail::impl(tensor);
    const char letter = kind_letter(t.dtype);
    if (!letter)
        throw Error(Status::not_supported, op,
                    fmt::format("the format has no {}; cast to {} first", Atoll::name(t.dtype),
                                t.dtype == complex32 ? "complex64" : "float32"),
                    t.device()->name);
    tensor_ = tensor.shallow_copy(); // what happens to the caller's handle now does not matter
    dense_ = tensor_.is_contiguous(Order::C) || tensor_.is_contiguous(Order::F);
    // As NumPy: row-major where both are true.
    const bool row_major = tensor_.is_contiguous(Order::C) || t.shape.size() < 2;
    bytes_ = tensor_.bytes();
    const bool swapped = t.swapped() && info(t.dtype).alignment > 1;
    std::string shape;
    for (std::int64_t extent : t.shape)
        shape += fmt::format("{}{}", shape.empty() ? "" : " ", extent) + ',';
    if (t.shape.size() > 1) shape.pop_back();
    header_ = fmt::format("{{'descr': '{}{}{}', 'fortran_order': {}, 'shape': ({}), }}",
                          info(t.dtype).alignment == 1 ? '|'
                          : swapped == little          ? '>'
                                                       : '<',
                          letter, size_of(t.dtype), row_major ? "False" : "True", shape);
    // NumPy maps files into memory: the data begin at a multiple of 64.
    const std::size_t start = magic.size() + 4;
    header_.append(63 - (start + header_.size()) % 64, ' ');
    header_ += '\n';
    const auto length = static_cast<std::uint16_t>(header_.size()); // at most 64 axes: it fits
    header_ = std::string(magic) + '\1' + '\0' + static_cast<char>(length & 0xff) +
              static_cast<char>(length >> 8) + header_;
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

// --- files ---------------------------------------------------------------------------------------

std::string quoted(const std::filesystem::path &path) { return fmt::format("'{}'", path.string()); }

std::filesystem::path writable_target(const std::filesystem::path &path, std::string_view op) {
    namespace fs = std::filesystem;
    std::error_code error;
    fs::path target = path;
    // A link may point to what is not there yet; 40 as in the kernel.
    for (int i = 0; i < 40 && fs::is_symlink(fs::symlink_status(target, error)); ++i) {
        const fs::path next = fs::read_symlink(target, error);
        if (error) break;
        target = next.is_absolute() ? next : target.parent_path() / next;
    }
    const fs::file_status status = fs::symlink_status(target, error);
    if (status.type() != fs::file_type::not_found && status.type() != fs::file_type::regular)
        throw Error(Status::refused, op,
                    fmt::format("{} cannot be written: {}", quoted(path),
                                error ? error.message()
                                      : "it is there and no regular file; write to a stream"),
                    {}, {}, error.value());
    return target;
}

NewFile::NewFile(const std::filesystem::path &path, std::string_view op)
    : target_(writable_target(path, op)), op_(op) {
    static std::atomic<unsigned> counter{0};
    for (int tries = 0; file_ < 0; ++tries) {
        // In the same folder, so that rename() is one step; short, whatever the name.
        temporary_ = target_.parent_path() / fmt::format(".atoll-{}-{}.tmp", ::getpid(), counter++);
        file_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (file_ < 0 && (errno != EEXIST || tries > 100)) fail("created", errno);
    }
    struct stat old;
    if (::stat(target_.c_str(), &old) == 0) (void)!::fchmod(file_, old.st_mode & 07777);
}

NewFile::~NewFile() {
    if (file_ >= 0) ::close(file_);
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void NewFile::fail(const char *doing, int code) const {
    throw Error(code == ENOENT ? Status::not_found : Status::refused, op_,
                fmt::format("{} cannot be {}: {}", quoted(target_), doing, std::strerror(code)), {},
                {}, code);
}

void NewFile::write(const void *data, std::size_t bytes) {
    const char *from = static_cast<const char *>(data);
    while (bytes > 0) {
        const ssize_t done = ::write(file_, from, bytes);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) fail("written", errno);
        from += done;
        bytes -= static_cast<std::size_t>(done);
    }
}

void NewFile::commit() {
    const int file = std::exchange(file_, -1);
    if (::close(file) != 0)
        fail("written", errno); // file systems may say only now that they are full
    if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail("renamed into place", errno);
    temporary_.clear();
}

} // namespace detail

using namespace detail;

Tensor read_npy(const std::filesystem::path &path, const Placement &where) {
    const std::string_view op = "read_npy";
    std::error_code error;
    const std::filesystem::file_status status = std::filesystem::status(path, error);
    std::ifstream stream;
    if (std::filesystem::is_directory(status))
        errno = EISDIR;
    else
        stream.open(path, std::ios::binary);
    if (!stream.is_open()) {
        const int code = errno;
        throw Error(code == ENOENT ? Status::not_found : Status::refused, op,
                    fmt::format("{} cannot be opened: {}", quoted(path), std::strerror(code)), {},
                    {}, code);
    }
    std::optional<std::uint64_t> size;
    if (std::filesystem::is_regular_file(status)) size = bytes_left(stream);
    StreamSource source(stream, quoted(path), size);
    const Tensor tensor = read_array(source, where, op);
    source.require_end(op);
    return tensor;
}

Tensor read_npy(std::istream &stream, const Placement &where) {
    StreamSource source(stream, "stream", bytes_left(stream));
    return read_array(source, where, "read_npy");
}

Tensor read_npy(std::span<const std::byte> bytes, const Placement &where) {
    MemorySource source(bytes);
    const Tensor tensor = read_array(source, where, "read_npy");
    source.require_end("read_npy");
    return tensor;
}

void write_npy(const std::filesystem::path &path, const Tensor &tensor) {
    NpyEncoder encoder(tensor, "write_npy");
    NewFile file(path, "write_npy");
    std::vector<char> buffer(
        static_cast<std::size_t>(std::min<std::uint64_t>(encoder.size(), piece)));
    while (const std::size_t count = encoder.read(buffer.data(), buffer.size()))
        file.write(buffer.data(), count);
    file.commit();
}

void write_npy(std::ostream &stream, const Tensor &tensor) {
    NpyEncoder encoder(tensor, "write_npy");
    std::vector<char> buffer(
        static_cast<std::size_t>(std::min<std::uint64_t>(encoder.size(), piece)));
    while (const std::size_t count = encoder.read(buffer.data(), buffer.size())) {
        try {
            stream.write(buffer.data(), static_cast<std::streamsize>(count));
        } catch (const std::ios_base::failure &) { // said below
        }
        if (!stream) throw Error(Status::refused, "write_npy", "the stream cannot be written");
    }
}

} // namespace Atoll
