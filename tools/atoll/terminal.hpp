// Text for terminals: colours and aligned tables.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace Atoll::tools {

enum class Style { plain, bold, dim, good, warn, bad };

// `text` in a style if `stream` is a terminal that has colours and neither NO_COLOR is set nor TERM
// is "dumb"; else as it is.
std::string styled(std::string_view text, Style style, std::FILE *stream = stdout);

// Characters per line; npos where `stream` is no terminal.
std::size_t terminal_width(std::FILE *stream);

// Prints to standard error and ignores failures, such as a closed pipe.
void say(const std::string &text);
void say_error(std::string_view text); // "atoll: …" and a line end

// Columns as wide as their widest cell; the last is not padded. On a terminal that is too narrow
// for them, cells continue on further lines, or columns in further tables. Cells may be styled;
// escape sequences and bytes that continue a UTF-8 character take no room. Other control characters
// are shown as \xNN.
class Table {
public:
    // A header cell that starts with '>' aligns its column to the right (the '>' is not printed).
    // The first `repeated` columns are in each table.
    explicit Table(std::vector<std::string> header, std::size_t repeated = 1);
    void add(std::vector<std::string> row);
    bool empty() const { return rows_.empty(); }
    // Ends with a line break. For `stream`; the header is bold on a terminal.
    std::string text(std::FILE *stream = stdout) const;

private:
    std::string columns_text(const std::vector<std::size_t> &columns,
                             const std::vector<std::size_t> &widths) const;

    std::vector<std::string> header_;
    std::size_t repeated_;
    std::vector<bool> right_;
    std::vector<std::vector<std::string>> rows_;
};

// The text with lines of at most `width` characters, broken at blanks where there are any. A line
// goes on below its last column, which begins behind two blanks or more.
std::string wrapped(std::string_view text, std::size_t width);

// 1536 → "1.5 KiB".
std::string bytes_text(double bytes);
// 0.0000015 → "1.5 us".
std::string seconds_text(double seconds);

} // namespace Atoll::tools
