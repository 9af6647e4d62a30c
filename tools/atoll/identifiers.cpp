// Names in generated declarations.
#include "identifiers.hpp"

#include <cctype>

#include <fmt/ranges.h>

namespace Atoll::tools {

std::string joined(const Words &words, std::string_view between) {
    return fmt::format("{}", fmt::join(words, between));
}

std::string listed(const Words &words) {
    if (words.size() < 2) return joined(words);
    return joined({words.begin(), words.end() - 1}) + " and " + words.back();
}

std::string identifier(std::string_view name) {
    static constexpr std::string_view taken =
        " alignas alignof and asm auto bool break case catch char class compl concept const "
        "continue "
        "decltype default delete do double else enum explicit export extern false float for friend "
        "goto if inline int long mutable namespace new noexcept not nullptr operator or private "
        "protected public register requires return short signed sizeof static struct switch "
        "template this throw true try typedef typename union unsigned using virtual void volatile "
        "while xor keepdims ";
    const bool clashes = taken.find(fmt::format(" {} ", name)) != std::string_view::npos;
    return std::string(name) + (clashes ? "_" : "");
}

std::string parameter(std::string_view name) {
    for (const std::string_view taken :
         {"axes", "axis", "device", "dtype", "mode", "options", "out", "results", "function"})
        if (name == taken) return std::string(name) + "_";
    return identifier(name);
}

std::string camel(std::string_view name) {
    std::string result;
    bool upper = true;
    for (const char c : name) {
        if (c != '_') result += upper ? static_cast<char>(std::toupper(c)) : c;
        upper = c == '_';
    }
    return result;
}

} // namespace Atoll::tools
