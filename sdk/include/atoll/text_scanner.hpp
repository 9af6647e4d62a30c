// Reads words, numbers and signs off a line of text, at compile time too.
#pragma once

#include "atoll/plugin.hpp"

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <string_view>

namespace Atoll::sdk {

class TextScanner {
public:
    constexpr explicit TextScanner(std::string_view text) : whole_(text), rest_(text) { skip(0); }

    constexpr bool done() const { return rest_.empty(); }
    constexpr std::size_t position() const { return whole_.size() - rest_.size(); }
    constexpr bool at(char c) const { return !done() && rest_[0] == c; }
    constexpr bool at_digit() const { return !done() && rest_[0] >= '0' && rest_[0] <= '9'; }
    constexpr bool at_name() const { return !done() && is_word(rest_[0]) && !at_digit(); }
    // What was read since a position, without the blanks behind it.
    constexpr std::string_view since(std::size_t from) const {
        std::string_view text = whole_.substr(from, position() - from);
        while (text.ends_with(' ')) text.remove_suffix(1);
        return text;
    }
    // Words only as whole words.
    constexpr bool accept(std::string_view token) {
        if (!rest_.starts_with(token)) return false;
        if (is_word(token.back()) && token.size() < rest_.size() && is_word(rest_[token.size()]))
            return false;
        skip(token.size());
        return true;
    }
    constexpr void expect(const char *token) {
        if (!accept(token)) fail(token);
    }
    constexpr std::string_view name() {
        if (!at_name()) fail("a name");
        const std::size_t from = position();
        std::size_t size = 1;
        while (size < rest_.size() && is_word(rest_[size])) ++size;
        skip(size);
        return since(from);
    }
    // A decimal number without exponent, or inf.
    constexpr double number() {
        if (accept("-")) return -number();
        if (accept("inf")) return std::numeric_limits<double>::infinity();
        if (!at_digit()) fail("a number");
        double value = 0;
        for (; at_digit(); rest_.remove_prefix(1)) value = value * 10 + (rest_[0] - '0');
        double unit = 1;
        if (at('.') && rest_.size() > 1 && rest_[1] >= '0' && rest_[1] <= '9')
            for (rest_.remove_prefix(1); at_digit(); rest_.remove_prefix(1))
                value += (unit /= 10) * (rest_[0] - '0');
        skip(0);
        return value;
    }
    constexpr std::int64_t integer() { return static_cast<std::int64_t>(number()); }
    // As written.
    constexpr std::string_view name_or_number() {
        const std::size_t from = position();
        if (at_name()) return name();
        number();
        return since(from);
    }
    // Not constexpr: a constant expression that gets here does not compile.
    [[noreturn]] void fail(const char *needed) const {
        std::string text = "column ";
        text += std::to_string(position() + 1);
        text += " of '";
        text += whole_;
        text += "': need ";
        text += needed;
        throw Error(ATOLL_STATUS_INVALID_ARGUMENT, std::move(text));
    }

private:
    static constexpr bool is_word(char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_';
    }
    constexpr void skip(std::size_t size) {
        for (rest_.remove_prefix(size); rest_.starts_with(' ');) rest_.remove_prefix(1);
    }
    std::string_view whole_, rest_;
};

// The place of a word in a list; the length of the list where it is not there.
constexpr std::uint8_t place_of(std::string_view word,
                                std::initializer_list<std::string_view> list) {
    return static_cast<std::uint8_t>(std::find(list.begin(), list.end(), word) - list.begin());
}

} // namespace Atoll::sdk
