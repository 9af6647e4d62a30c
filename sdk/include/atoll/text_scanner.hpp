// Reads words, numbers and signs off a line of text, at compile time too.
#pragma once

#include "atoll/plugin.hpp"

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <string_view>

namespace Atoll::sdk {

// A number as written, without loss: digits / 10^places, places being 0 for whole numbers.
struct Decimal {
    static constexpr int max_places = 18; // value() doubles what is less than 10^places
    std::uint64_t digits = 0;
    int places = 0;
    bool negative = false, infinite = false;

    constexpr bool is_whole() const { return places == 0 && !infinite; }
    constexpr bool is_int64() const { return is_whole() && digits <= (~0ull >> 1) + negative; }
    constexpr std::int64_t integer() const { // of one that is_int64()
        return static_cast<std::int64_t>(negative ? 0 - digits : digits);
    }
    // The nearest double, as a literal of these digits is. Divided as doubles they would be rounded
    // twice.
    constexpr double value() const {
        std::uint64_t divisor = 1;
        for (int i = 0; i < places; ++i) divisor *= 10;
        std::uint64_t quotient = digits / divisor, remainder = digits % divisor;
        double unit = 1;
        // Two bits more than a double has; the last one then says whether anything is behind it.
        for (; remainder > 0 && quotient >> 54 == 0; unit /= 2) {
            remainder *= 2;
            quotient = quotient * 2 + (remainder >= divisor);
            remainder %= divisor;
        }
        quotient |= remainder > 0;
        const double size = infinite ? std::numeric_limits<double>::infinity()
                                     : static_cast<double>(quotient) * unit;
        return negative ? -size : size;
    }
};

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
    // A number without exponent, or inf.
    constexpr Decimal decimal() {
        Decimal d{.negative = accept("-")};
        if ((d.infinite = accept("inf"))) return d;
        if (!at_digit()) fail("a number");
        for (; at_digit(); rest_.remove_prefix(1)) append_digit(d);
        if (at('.') && rest_.size() > 1 && rest_[1] >= '0' && rest_[1] <= '9')
            for (rest_.remove_prefix(1); at_digit(); rest_.remove_prefix(1)) {
                append_digit(d);
                if (++d.places > Decimal::max_places) fail("fewer digits");
            }
        for (; d.places > 0 && d.digits % 10 == 0; --d.places) d.digits /= 10;
        skip(0);
        return d;
    }
    constexpr double number() { return decimal().value(); }
    constexpr std::int64_t integer() {
        const Decimal d = decimal();
        if (!d.is_int64()) fail("an integer of 64 bits, before that");
        return d.integer();
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
    constexpr void append_digit(Decimal &d) const {
        const auto digit = static_cast<std::uint64_t>(rest_[0] - '0');
        if (d.digits > (~std::uint64_t{0} - digit) / 10) fail("fewer digits");
        d.digits = d.digits * 10 + digit;
    }
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
// The place of a word among words with | between them; -1 where it is not there.
constexpr int choice_of(std::string_view word, std::string_view words) {
    TextScanner in(words);
    for (int at = 0;; ++at) {
        if (in.name() == word) return at;
        if (!in.accept("|")) return -1;
    }
}

} // namespace Atoll::sdk
