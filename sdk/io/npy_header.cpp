// The header of a .npy file, read and written.
#include "npy_header.hpp"

#include "files.hpp"

#include <bit>
#include <set>

#include <fmt/ranges.h>

namespace Atoll::detail {

namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::size_t longest_header = 1 << 20; // of the dtypes taken, none needs 4 KiB
constexpr bool little = std::endian::native == std::endian::little;

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

// Nothing beyond 63 bits. Extents beside a 0 count, too: strides are made of them.
std::optional<std::int64_t> bytes_of(const Dims &shape, std::int64_t itemsize) {
    bool empty = false;
    for (const std::int64_t extent : shape)
        if (extent == 0)
            empty = true;
        else if (__builtin_mul_overflow(itemsize, extent, &itemsize))
            return std::nullopt;
    return empty ? 0 : itemsize;
}

// Reads the header's dictionary, a Python literal: {'descr': '<f8', 'fortran_order': False,
// 'shape': (3, 4), }. Nothing but what these three keys may hold is understood.
class HeaderParser {
public:
    // `python2`: extents may end in L.
    HeaderParser(std::string_view text, const NpySource &source, bool python2)
        : text_(text), source_(source), python2_(python2) {}

    NpyHeader parse() {
        NpyHeader header{};
        std::set<std::string_view> keys;
        expect('{', "'{'");
        for (bool more = !accept('}'); more; more = another('}')) {
            const std::string_view key = string();
            expect(':', "':'");
            if (!keys.insert(key).second) fail(fmt::format("the key {} twice", in_quotes(key)));
            if (key == "descr")
                parse_dtype(header);
            else if (key == "fortran_order")
                header.order = parse_bool() ? Order::F : Order::C;
            else if (key == "shape")
                parse_shape(header.shape);
            else
                fail(fmt::format("an unknown key {}", in_quotes(key)));
        }
        skip_space();
        if (at_ != text_.size()) fail("text after the dictionary");
        for (const std::string_view key : {"descr", "fortran_order", "shape"})
            if (!keys.count(key)) fail(fmt::format("no '{}'", key));
        const std::optional<std::int64_t> bytes = bytes_of(header.shape, size_of(header.dtype));
        if (!bytes)
            source_.refuse(Status::overflow,
                           fmt::format("shape {} of {} has more bytes than fit 63 bits",
                                       to_string(header.shape), name(header.dtype)));
        header.bytes = *bytes;
        return header;
    }

private:
    [[noreturn]] void fail(std::string_view what) const {
        source_.refuse(Status::invalid_argument,
                       fmt::format("malformed header: got {} near character {}", what, at_));
    }
    [[noreturn]] void unsupported(std::string_view what) const {
        source_.refuse(Status::not_supported, what);
    }

    char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
    void skip_space() {
        while (std::string_view(" \t\n\r").find(peek()) != text_.npos) ++at_;
    }
    bool accept(char c) {
        skip_space();
        if (peek() != c) return false;
        ++at_;
        return true;
    }
    void expect(char c, std::string_view what) {
        if (!accept(c)) fail(fmt::format("no {}", what));
    }
    // Behind an item of a list: whether one more comes before the list's end.
    bool another(char end) {
        if (accept(',')) return !accept(end);
        expect(end, fmt::format("',' or '{}'", end));
        return false;
    }
    // The text between quotes of either kind; escapes are not understood.
    std::string_view string() {
        skip_space();
        const char quote = peek();
        if (quote != '\'' && quote != '"') fail("no quoted text");
        const std::size_t begin = at_ + 1;
        const std::size_t end = text_.find_first_of(std::string{quote, '\\', '\n'}, begin);
        if (end == text_.npos) fail("text without an end");
        if (text_[end] != quote) fail("an escape or a line's end in text");
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
        for (; peek() >= '0' && peek() <= '9'; ++at_)
            if (__builtin_mul_overflow(extent, 10, &extent) ||
                __builtin_add_overflow(extent, peek() - '0', &extent))
                source_.refuse(Status::overflow, "an extent is beyond 63 bits");
        if (at_ == begin) fail("no extent");
        if (at_ - begin > 1 && text_[begin] == '0') fail("an extent that begins with 0");
        if (python2_ && peek() == 'L') ++at_;
        return extent;
    }
    // (), (3,), (3, 4), (3, 4,)
    void parse_shape(Dims &shape) {
        expect('(', "'('");
        for (bool more = !accept(')'); more; more = another(')')) {
            shape.push_back(parse_extent());
            if (shape.size() > ATOLL_MAX_RANK)
                unsupported(fmt::format("an array of more than {} axes", ATOLL_MAX_RANK));
            skip_space();
            if (shape.size() == 1 && peek() != ',')
                fail("one extent in parentheses without a comma");
        }
    }
    void parse_dtype(NpyHeader &header) {
        skip_space();
        if (peek() == '[' || peek() == '(')
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
        unsupported(fmt::format("there is no dtype for {}", in_quotes(given)));
    }
    std::string_view text_;
    std::size_t at_ = 0;
    const NpySource &source_;
    bool python2_;
};

} // namespace

NpyHeader read_header(NpySource &source) {
    const std::string start = source.take(8, "start");
    if (!start.starts_with(magic))
        source.refuse(Status::invalid_argument,
                      "this is no .npy file: it does not begin with \\x93NUMPY");
    const int major = static_cast<unsigned char>(start[6]),
              minor = static_cast<unsigned char>(start[7]);
    if (major < 1 || major > 3 || minor != 0)
        source.refuse(
            Status::not_supported,
            fmt::format("version {}.{} of the format, need 1.0, 2.0 or 3.0", major, minor));
    std::size_t bytes = 0, place = 0;
    for (const char c : source.take(major == 1 ? 2 : 4, "header's length"))
        bytes |= static_cast<std::size_t>(static_cast<unsigned char>(c)) << 8 * place++;
    source.require("header", bytes);
    if (bytes > longest_header)
        source.refuse(Status::not_supported,
                      fmt::format("a header of {} bytes, need at most {}", bytes, longest_header));
    return HeaderParser(source.take(bytes, "header"), source, major < 3).parse();
}

std::string header_of(const Tensor &t, Order order, std::string_view op) {
    const char letter = kind_letter(t.dtype());
    if (!letter)
        throw Error(Status::not_supported, op,
                    fmt::format("the format has no {}; cast to {} first", name(t.dtype()),
                                t.dtype() == complex32 ? "complex64" : "float32"),
                    t.device().name());
    const bool swapped = t.is_byteswapped() && info(t.dtype()).alignment > 1;
    std::string header =
        fmt::format("{{'descr': '{}{}{}', 'fortran_order': {}, 'shape': ({}{}), }}",
                    info(t.dtype()).alignment == 1 ? '|'
                    : swapped == little            ? '>'
                                                   : '<',
                    letter, size_of(t.dtype()), order == Order::C ? "False" : "True",
                    fmt::join(t.shape(), ", "), t.shape().size() == 1 ? "," : "");
    // NumPy maps files into memory: the data begin at a multiple of 64.
    const std::size_t start = magic.size() + 4;
    header.append(63 - (start + header.size()) % 64, ' ');
    header += '\n';
    const auto length = static_cast<std::uint16_t>(header.size()); // at most 64 axes: it fits
    return std::string(magic) + '\1' + '\0' + static_cast<char>(length & 0xff) +
           static_cast<char>(length >> 8) + header;
}

} // namespace Atoll::detail
