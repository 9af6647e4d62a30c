// Styles and tables.
#include "terminal.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <sys/ioctl.h>
#include <unistd.h>

#include <fmt/format.h>

namespace Atoll::tools {

namespace {

constexpr std::size_t gap = 2; // characters between columns

bool has_colour(std::FILE *stream) {
    if (!isatty(fileno(stream))) return false;
    const char *refused = std::getenv("NO_COLOR"); // see no-color.org
    const char *terminal = std::getenv("TERM");
    return !(refused && *refused) && terminal && std::string_view(terminal) != "dumb";
}

// The bytes of the character or escape sequence that text begins with; `wide`: it takes room.
std::size_t first_of(std::string_view text, bool &wide) {
    std::size_t size = 1;
    wide = text[0] != '\033';
    if (wide)
        while (size < text.size() && (static_cast<unsigned char>(text[size]) & 0xc0) == 0x80)
            ++size;
    else
        while (size < text.size() && text[size - 1] != 'm') ++size;
    return size;
}

std::size_t width_of(std::string_view text) {
    std::size_t width = 0;
    for (bool wide; !text.empty(); width += wide) text.remove_prefix(first_of(text, wide));
    return width;
}

// Where there are colours, what styled() makes is kept; other control characters, which could forge
// rows or more, are shown as \xNN.
std::string without_controls(const std::string &cell) {
    static const bool colours = has_colour(stdout) || has_colour(stderr);
    std::string text;
    for (std::size_t i = 0; i < cell.size(); ++i) {
        const auto c = static_cast<unsigned char>(cell[i]);
        const std::size_t end = cell.find_first_not_of("[0123456789;", i + 1);
        if (colours && c == '\033' && i + 1 < cell.size() && cell[i + 1] == '[' &&
            end != cell.npos && cell[end] == 'm') {
            text.append(cell, i, end + 1 - i);
            i = end;
        } else {
            text += c < ' ' || c == 0x7f ? fmt::format("\\x{:02x}", c) : std::string(1, cell[i]);
        }
    }
    return text;
}

// Splits a cell into lines of that width, at blanks and after commas and slashes if possible; a
// style goes on in the next line.
std::vector<std::string> lines_of(std::string_view cell, std::size_t width) {
    std::vector<std::string> lines;
    std::string style;
    while (width_of(cell) > width) {
        std::size_t end = 0, taken = 0, good = 0;
        std::string at_end = style, at_good = style;
        for (bool wide; taken < width; taken += wide) {
            const std::size_t size = first_of(cell.substr(end), wide);
            if (!wide) at_end = cell.substr(end, size);
            end += size;
            if (wide && std::string_view(" ,/").find(cell[end - 1]) != std::string_view::npos) {
                good = end;
                at_good = at_end;
            }
        }
        if (good > 0) {
            end = good;
            at_end = at_good;
        }
        lines.push_back(style + std::string(cell.substr(0, end)) +
                        (at_end.empty() ? "" : "\033[0m"));
        style = at_end == "\033[0m" ? "" : at_end;
        cell.remove_prefix(end);
    }
    lines.push_back(style + std::string(cell));
    return lines;
}

} // namespace

std::size_t terminal_width(std::FILE *stream) {
    winsize size{};
    if (!isatty(fileno(stream)) || ioctl(fileno(stream), TIOCGWINSZ, &size) != 0 ||
        size.ws_col == 0)
        return std::string::npos;
    return size.ws_col;
}

std::string styled(std::string_view text, Style style, std::FILE *stream) {
    static constexpr const char *codes[] = {"0", "1", "2", "32", "33", "31"};
    if (style == Style::plain || !has_colour(stream)) return std::string(text);
    return fmt::format("\033[{}m{}\033[0m", codes[static_cast<int>(style)], text);
}

void say(const std::string &text) { (void)std::fwrite(text.data(), 1, text.size(), stderr); }
void say_error(std::string_view text) {
    say(fmt::format("{} {}\n", styled("atoll:", Style::bad, stderr), text));
}

Table::Table(std::vector<std::string> header, std::size_t repeated)
    : header_(std::move(header)), repeated_(repeated) {
    for (std::string &cell : header_) {
        right_.push_back(cell.starts_with('>'));
        if (right_.back()) cell.erase(0, 1);
        cell = styled(cell, Style::bold);
    }
}

void Table::add(std::vector<std::string> row) {
    row.resize(header_.size());
    for (std::string &cell : row) cell = without_controls(cell);
    rows_.push_back(std::move(row));
}

std::string Table::text(std::FILE *stream) const {
    std::vector<std::size_t> natural(header_.size());
    const auto widen = [&](const std::vector<std::string> &row) {
        for (std::size_t i = 0; i < row.size(); ++i)
            natural[i] = std::max(natural[i], width_of(row[i]));
    };
    widen(header_);
    for (const auto &row : rows_) widen(row);
    // Where the terminal is too narrow, the widest columns of text are broken into lines.
    constexpr std::size_t least = 8;
    const std::size_t room = terminal_width(stream);
    std::vector<std::size_t> widths = natural;
    std::size_t total = std::accumulate(widths.begin(), widths.end(), gap * (widths.size() - 1));
    while (total > room) {
        std::size_t widest = widths.size();
        for (std::size_t i = 0; i < widths.size(); ++i)
            if (!right_[i] && (widest == widths.size() || widths[i] > widths[widest])) widest = i;
        if (widest == widths.size() || widths[widest] <= least) break;
        --widths[widest];
        --total;
    }
    if (total <= room) {
        std::vector<std::size_t> all(widths.size());
        std::iota(all.begin(), all.end(), std::size_t{0});
        return columns_text(all, widths);
    }
    // If that is not enough, the columns are printed in several tables.
    for (std::size_t i = 0; i < natural.size(); ++i)
        if (!right_[i]) natural[i] = std::min(natural[i], std::max(least, room / 2));
    std::string text;
    for (std::size_t next = 0; next < natural.size();) {
        std::vector<std::size_t> columns;
        std::size_t used = 0;
        const auto take = [&](std::size_t column) {
            used += natural[column] + (columns.empty() ? 0 : gap);
            columns.push_back(column);
        };
        for (std::size_t i = 0; i < std::min(repeated_, next); ++i) take(i);
        const std::size_t begin = next;
        while (next < natural.size() &&
               (next == begin || next < repeated_ || used + gap + natural[next] <= room))
            take(next++);
        text += (text.empty() ? "" : "\n") + columns_text(columns, natural);
    }
    return text;
}

std::string Table::columns_text(const std::vector<std::size_t> &columns,
                                const std::vector<std::size_t> &widths) const {
    std::string text;
    const auto print = [&](const std::vector<std::string> &row) {
        std::vector<std::vector<std::string>> cells;
        std::size_t height = 1;
        for (const std::size_t i : columns) {
            cells.push_back(lines_of(row[i], widths[i]));
            height = std::max(height, cells.back().size());
        }
        for (std::size_t line = 0; line < height; ++line) {
            for (std::size_t k = 0; k < columns.size(); ++k) {
                const std::size_t i = columns[k];
                const std::string cell = line < cells[k].size() ? cells[k][line] : "";
                const std::string padding(widths[i] - std::min(widths[i], width_of(cell)), ' ');
                text += k == 0 ? std::string() : std::string(gap, ' ');
                if (right_[i]) text += padding;
                text += cell;
                if (!right_[i] && k + 1 < columns.size()) text += padding;
            }
            while (text.ends_with(' ')) text.pop_back();
            text += '\n';
        }
    };
    print(header_);
    for (const auto &row : rows_) print(row);
    return text;
}

std::string wrapped(std::string_view text, std::size_t width) {
    if (width < 20) return std::string(text); // nothing would be left beside the first column
    std::string result;
    for (bool more = true; more;) {
        const std::size_t end = text.find('\n');
        std::string line(text.substr(0, end));
        more = end != text.npos;
        if (more) text.remove_prefix(end + 1);
        const std::size_t gap_end = line.rfind("  ");
        const std::size_t column = gap_end == line.npos ? 0 : gap_end + 2;
        const std::string indent(column < width * 2 / 3 ? column : 2, ' ');
        while (line.size() > width) {
            std::size_t at = line.rfind(' ', width);
            if (at == line.npos || line.find_first_not_of(' ') > at || at < column) at = width;
            result += line.substr(0, at) + "\n";
            line = indent + line.substr(std::min(line.find_first_not_of(' ', at), line.size()));
        }
        result += line + (more ? "\n" : "");
    }
    return result;
}

std::string bytes_text(double bytes) {
    static constexpr const char *units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    int unit = 0;
    for (; bytes >= 1024 && unit < 4; bytes /= 1024) ++unit;
    return unit == 0 ? fmt::format("{:.0f} B", bytes)
                     : fmt::format("{:.1f} {}", bytes, units[unit]);
}

std::string seconds_text(double seconds) {
    if (seconds < 1e-6) return fmt::format("{:.1f} ns", seconds * 1e9);
    if (seconds < 1e-3) return fmt::format("{:.1f} us", seconds * 1e6);
    if (seconds < 1) return fmt::format("{:.1f} ms", seconds * 1e3);
    return fmt::format("{:.2f} s", seconds);
}

} // namespace Atoll::tools
