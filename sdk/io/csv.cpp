// Reading and writing CSV.
#include "atoll/csv.hpp"

#include "files.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <clocale>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <istream>
#include <limits>
#include <ostream>
#include <string_view>

#include <fmt/format.h>

namespace Atoll {

namespace {

using detail::in_quotes;

[[noreturn]] void refuse(Status status, std::string_view op, const std::string &text) {
    throw Error(status, op, text);
}

// At most 60 characters of a field, without control characters.
std::string shown(std::string_view field) {
    std::string text;
    for (const char c : field.substr(0, 60))
        text += static_cast<unsigned char>(c) < ' ' || c == '\x7f' ? '?' : c;
    return fmt::format("'{}{}'", text, field.size() > 60 ? "…" : "");
}

void require_separator(char separator, std::string_view op) {
    constexpr std::string_view unusable("\"\r\n+-.", 6);
    if (separator == '\0' || unusable.find(separator) != unusable.npos ||
        std::isalnum(static_cast<unsigned char>(separator)) != 0)
        refuse(Status::invalid_argument, op,
               fmt::format("got the separator {}, which numbers, quotes or lines consist of",
                           shown({&separator, 1})));
}

// The fields of one record after the other.
class Records {
public:
    Records(std::istream &stream, std::string name, const CsvReadOptions &options)
        : buffer_(stream.rdbuf()), name_(std::move(name)), options_(options) {
        if (!stream.good() || !buffer_)
            refuse(Status::refused, "read_csv", name_ + ": the stream cannot be read");
        for (const int byte : {0xEF, 0xBB, 0xBF}) { // byte order mark
            if (buffer_->sgetc() != byte) break;
            buffer_->sbumpc();
        }
        for (std::int64_t i = 0; i < options.skip_lines; ++i) skip_line();
    }

    // False at the end.
    bool next(std::vector<std::string> &fields) {
        fields.clear();
        for (;;) {
            const int c = buffer_->sgetc();
            if (c == end) return false;
            line_ = following_;
            if (options_.comment != '\0' && c == static_cast<unsigned char>(options_.comment))
                skip_line();
            else if (c == '\n' || c == '\r')
                end_of_line();
            else
                break;
        }
        do fields.push_back(field());
        while (took(options_.separator));
        if (buffer_->sgetc() != end && !end_of_line()) refuse_line("more follows a quoted field");
        return true;
    }

    [[noreturn]] void refuse_line(const std::string &why,
                                  Status status = Status::invalid_argument) const {
        refuse(status, "read_csv", fmt::format("{}: line {}: {}", name_, line_, why));
    }

private:
    static constexpr int end = std::char_traits<char>::eof();

    bool took(char wanted) {
        if (buffer_->sgetc() != static_cast<unsigned char>(wanted)) return false;
        buffer_->sbumpc();
        return true;
    }
    bool end_of_line() {
        const bool carriage_return = took('\r');
        const bool ended = took('\n') || carriage_return;
        following_ += ended;
        return ended;
    }
    void skip_line() {
        while (buffer_->sgetc() != end && !end_of_line()) buffer_->sbumpc();
    }
    std::string field() {
        std::string text;
        if (!took('"')) {
            for (int c; (c = buffer_->sgetc()) != end && c != '\n' && c != '\r' &&
                        c != static_cast<unsigned char>(options_.separator);
                 buffer_->sbumpc())
                text += static_cast<char>(c);
            return text;
        }
        for (;;) {
            const int c = buffer_->sbumpc();
            if (c == end) refuse_line("a quoted field does not end");
            if (c == '"' && !took('"')) return text;
            following_ += c == '\n';
            text += static_cast<char>(c);
        }
    }

    std::streambuf *buffer_;
    std::string name_;
    const CsvReadOptions &options_;
    std::int64_t line_ = 1, following_ = 1;
};

std::string_view trimmed(std::string_view text) {
    const std::size_t begin = text.find_first_not_of(" \t");
    if (begin == text.npos) return {};
    return text.substr(begin, text.find_last_not_of(" \t") + 1 - begin);
}

// from_chars does not tell numbers that are too small, which become 0, from those that are too
// large.
bool underflows(std::string_view text) {
    static const locale_t c_locale = ::newlocale(LC_ALL_MASK, "C", nullptr);
    return std::fabs(::strtod_l(std::string(text).c_str(), nullptr, c_locale)) < 1;
}

enum class Parsed { number, none, too_large };

template <class T> Parsed parse(std::string_view text, DType dtype, T &value) {
    if (text.starts_with('+') && text.size() > 1 && text[1] != '-') text.remove_prefix(1);
    if (dtype == bool_ && (text == "true" || text == "false")) {
        value = text == "true";
        return Parsed::number;
    }
    if (std::is_unsigned_v<T> && text.size() > 1 && text[0] == '-' && text[1] >= '0' &&
        text[1] <= '9') {
        const Parsed size = parse(text.substr(1), dtype, value);
        return size == Parsed::number && value != 0 ? Parsed::too_large : size;
    }
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (rest != text.data() + text.size() || error == std::errc::invalid_argument)
        return Parsed::none;
    if (error == std::errc::result_out_of_range) {
        if (!std::is_floating_point_v<T> || !underflows(text)) return Parsed::too_large;
        value = T(text.starts_with('-') ? -0.0 : 0.0);
    }
    const bool holds = dtype == bool_ ? value == 0 || value == 1 : !Scalar(value).overflows(dtype);
    return holds ? Parsed::number : Parsed::too_large;
}

// The elements of all records as T, from which the dtype is converted without loss.
template <class T>
Csv read_as(Records &records, const CsvReadOptions &options, const Placement &where, DType dtype) {
    Csv csv;
    std::vector<std::string> fields;
    if (options.header) records.next(csv.columns);
    std::size_t width = csv.columns.size();
    std::vector<T> values;
    std::int64_t count = 0;
    const auto at = [&](std::size_t i) {
        return csv.columns.empty() ? fmt::format("column {}", i + 1)
                                   : fmt::format("column {} ({})", i + 1, shown(csv.columns[i]));
    };
    for (; records.next(fields); ++count) {
        if (count == 0 && !options.header) width = fields.size();
        if (fields.size() != width)
            records.refuse_line(fmt::format("got {} fields, need {} as in the {}", fields.size(),
                                            width, options.header ? "header" : "first record"));
        for (std::size_t i = 0; i < width; ++i) {
            const std::string_view text = trimmed(fields[i]);
            T value{};
            if (std::find(options.missing.begin(), options.missing.end(), text) !=
                options.missing.end()) {
                if (!options.fill && !std::is_floating_point_v<T>)
                    records.refuse_line(
                        fmt::format("{} is missing, and {} has no NaN; give CsvReadOptions::fill",
                                    at(i), name(dtype)));
                if constexpr (std::is_floating_point_v<T>)
                    value = options.fill ? static_cast<T>(options.fill->to_double())
                                         : std::numeric_limits<T>::quiet_NaN();
                else
                    value = static_cast<T>(options.fill->to_int());
            } else {
                const Parsed parsed = parse(text, dtype, value);
                if (parsed == Parsed::none)
                    records.refuse_line(fmt::format("{} is {}, which is no {}", at(i), shown(text),
                                                    std::is_floating_point_v<T> ? "number"
                                                    : dtype == bool_            ? "bool"
                                                                                : "integer"));
                if (parsed == Parsed::too_large)
                    records.refuse_line(fmt::format("{} is {}, which {} does not hold", at(i),
                                                    shown(text), name(dtype)),
                                        Status::out_of_range);
            }
            values.push_back(value);
        }
    }
    const Placement native(dtype_of<T>(), where.device, where.stream);
    const Tensor rows = vector(values, native).reshape({static_cast<std::int64_t>(width), count});
    csv.values = rows.T().ensure(dtype);
    return csv;
}

Csv read_from(std::istream &stream, const std::string &name, const CsvReadOptions &options,
              const Placement &where) {
    require_separator(options.separator, "read_csv");
    const DType dtype = where.dtype == DType::none ? float64 : where.dtype;
    if (is_complex(dtype))
        refuse(Status::not_supported, "read_csv",
               fmt::format("got dtype {}, need a real one; read the parts as columns",
                           Atoll::name(dtype)));
    if (options.fill && options.fill->overflows(dtype))
        refuse(Status::out_of_range, "read_csv",
               fmt::format("the fill {} does not fit {}", to_string(*options.fill),
                           Atoll::name(dtype)));
    try {
        Records records(stream, name, options);
        switch (info(dtype).kind) {
        case Kind::signed_: return read_as<std::int64_t>(records, options, where, dtype);
        case Kind::bool_:
        case Kind::unsigned_: return read_as<std::uint64_t>(records, options, where, dtype);
        default:
            return dtype == float32 ? read_as<float>(records, options, where, dtype)
                                    : read_as<double>(records, options, where, dtype);
        }
    } catch (const std::ios_base::failure &) {
        throw Error(Status::refused, "read_csv",
                    fmt::format("{} cannot be read: {}", name, std::strerror(errno)), {}, {},
                    errno);
    }
}

std::string as_field(const std::string &text, char separator) {
    if (text.find_first_of(std::string("\"\r\n") + separator) == text.npos) return text;
    std::string field = "\"";
    for (const char c : text) field += c == '"' ? "\"\"" : std::string(1, c);
    return field + '"';
}

template <class T> std::string rows_of(const Tensor &table, char separator) {
    const std::int64_t rows = table.extent(0), columns = table.extent(1);
    const std::vector<T> values = table.T().to_vector<T>(); // a record after the other
    std::string text;
    for (std::int64_t i = 0; i < rows * columns; ++i) {
        fmt::format_to(std::back_inserter(text), "{}", values[static_cast<std::size_t>(i)]);
        text += (i + 1) % columns == 0 ? '\n' : separator;
    }
    return text;
}

std::string written(const Tensor &tensor, const CsvWriteOptions &options) {
    require_separator(options.separator, "write_csv");
    if (is_complex(tensor.dtype()))
        refuse(Status::not_supported, "write_csv",
               fmt::format("got dtype {}, need a real one; write real() and imag() as columns",
                           name(tensor.dtype())));
    if (tensor.rank() < 1 || tensor.rank() > 2)
        refuse(Status::invalid_argument, "write_csv",
               fmt::format("got rank {}, need a matrix or a vector", tensor.rank()));
    const Tensor table = tensor.rank() == 1 ? tensor.unsqueeze(1) : tensor;
    const auto names = static_cast<std::int64_t>(options.columns.size());
    if (names != 0 && names != table.extent(1))
        refuse(Status::invalid_argument, "write_csv",
               fmt::format("got {} names for {} columns", names, table.extent(1)));
    std::string text;
    for (const std::string &column : options.columns)
        text += as_field(column, options.separator) +
                (&column == &options.columns.back() ? '\n' : options.separator);
    switch (info(table.dtype()).kind) {
    case Kind::signed_: return text + rows_of<std::int64_t>(table, options.separator);
    case Kind::bool_:
    case Kind::unsigned_: return text + rows_of<std::uint64_t>(table, options.separator);
    default:
        return text + (table.dtype() == float64 ? rows_of<double>(table, options.separator)
                                                : rows_of<float>(table, options.separator));
    }
}

} // namespace

Csv read_csv(const std::filesystem::path &path, const CsvReadOptions &options,
             const Placement &where) {
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    if (!file) detail::refuse_file(path, "opened", errno, "read_csv");
    return read_from(file, in_quotes(path.native()), options, where);
}

Csv read_csv(std::istream &stream, const CsvReadOptions &options, const Placement &where) {
    return read_from(stream, "stream", options, where);
}

void write_csv(const std::filesystem::path &path, const Tensor &table,
               const CsvWriteOptions &options) {
    const std::string text = written(table, options);
    detail::NewFile file(path, "write_csv");
    file.write(text.data(), text.size());
    file.commit();
}

void write_csv(std::ostream &stream, const Tensor &table, const CsvWriteOptions &options) {
    const std::string text = written(table, options);
    if (!stream.write(text.data(), static_cast<std::streamsize>(text.size())))
        refuse(Status::refused, "write_csv", "the stream cannot be written");
}

} // namespace Atoll
