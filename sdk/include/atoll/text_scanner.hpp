// Reads words, numbers and symbols from a line of text, also at compile time.
#pragma once

#include "atoll/plugin.hpp"

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <string_view>

namespace Atoll::sdk {

// An exact decimal number: digits / 10^places, where places is 0 for whole numbers.
struct Decimal {
    static constexpr int max_places = 18; // value() doubles numbers below 10^places
    std::uint64_t digits = 0;
    int places = 0;
    bool negative = false, infinite = false;

    constexpr bool is_whole() const { return places == 0 && !infinite; }
    constexpr bool is_int64() const { return is_whole() && digits <= (~0ull >> 1) + negative; }
    constexpr std::int64_t integer() const { // requires is_int64()
        return static_cast<std::int64_t>(negative ? 0 - digits : digits);
    }
    // The nearest double, the same as a literal with these digits. Dividing doubles would round
    // twice.
    constexpr double value() const {
        std::uint64_t divisor = 1;
        for (int i = 0; i < places; ++i) divisor *= 10;
        std::uint64_t quotient = digits / divisor, remainder = digits % divisor;
        double unit = 1;
        // Compute two bits more than a double has; the last one says whether the remainder is
        // non-zero.
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
    // The text read since a position, without trailing blanks.
    constexpr std::string_view since(std::size_t from) const {
        std::string_view text = whole_.substr(from, position() - from);
        while (text.ends_with(' ')) text.remove_suffix(1);
        return text;
    }
    // Accepts a token. A word matches only a whole word.
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
    // Reads a number without exponent, or inf.
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
    // Not constexpr: a constant expression that calls it does not compile.
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

// The index of a word in a list; the length of the list if it is not there.
constexpr std::uint8_t place_of(std::string_view word,
                                std::initializer_list<std::string_view> list) {
    return static_cast<std::uint8_t>(std::find(list.begin(), list.end(), word) - list.begin());
}
// The index of a word among words separated by |; -1 if it is not there.
constexpr int choice_of(std::string_view word, std::string_view words) {
    TextScanner in(words);
    for (int at = 0;; ++at) {
        if (in.name() == word) return at;
        if (!in.accept("|")) return -1;
    }
}
constexpr int choice_count(std::string_view words) {
    return static_cast<int>(1 + std::count(words.begin(), words.end(), '|'));
}

} // namespace Atoll::sdk
