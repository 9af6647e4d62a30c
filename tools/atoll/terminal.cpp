// Styles and tables.
#include "terminal.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <unistd.h>

#include <fmt/format.h>

namespace Atoll::tools {

namespace {

bool has_colour(std::FILE *stream) {
    if (!isatty(fileno(stream))) return false;
    const char *refused = std::getenv("NO_COLOR"); // see no-color.org
    const char *terminal = std::getenv("TERM");
    return !(refused && *refused) && terminal && std::string_view(terminal) != "dumb";
}

std::size_t width_of(std::string_view text) {
    std::size_t width = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\033') {
            while (i < text.size() && text[i] != 'm') ++i;
        } else if ((static_cast<unsigned char>(text[i]) & 0xc0) != 0x80) {
            ++width;
        }
    }
    return width;
}

} // namespace

std::string styled(std::string_view text, Style style, std::FILE *stream) {
    static constexpr const char *codes[] = {"0", "1", "2", "32", "33", "31"};
    if (style == Style::plain || !has_colour(stream)) return std::string(text);
    return fmt::format("\033[{}m{}\033[0m", codes[static_cast<int>(style)], text);
}

void say(const std::string &text) { (void)std::fwrite(text.data(), 1, text.size(), stderr); }
void say_error(std::string_view text) {
    say(fmt::format("{} {}\n", styled("atoll:", Style::bad, stderr), text));
}

Table::Table(std::vector<std::string> header) : header_(std::move(header)) {
    for (std::string &cell : header_) {
        right_.push_back(cell.starts_with('>'));
        if (right_.back()) cell.erase(0, 1);
        cell = styled(cell, Style::bold);
    }
}

void Table::add(std::vector<std::string> row) {
    row.resize(header_.size());
    rows_.push_back(std::move(row));
}

std::string Table::text() const {
    std::vector<std::size_t> widths(header_.size());
    const auto widen = [&](const std::vector<std::string> &row) {
        for (std::size_t i = 0; i < row.size(); ++i)
            widths[i] = std::max(widths[i], width_of(row[i]));
    };
    widen(header_);
    for (const auto &row : rows_) widen(row);
    std::string text;
    const auto print = [&](const std::vector<std::string> &row) {
        for (std::size_t i = 0; i < row.size(); ++i) {
            const std::string padding(widths[i] - width_of(row[i]), ' ');
            text += i == 0 ? "" : "  ";
            if (right_[i]) text += padding;
            text += row[i];
            if (!right_[i] && i + 1 < row.size()) text += padding;
        }
        while (text.ends_with(' ')) text.pop_back();
        text += '\n';
    };
    print(header_);
    for (const auto &row : rows_) print(row);
    return text;
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
