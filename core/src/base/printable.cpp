// Escapes unprintable characters: see printable.hpp.
#include "base/printable.hpp"

#include <boost/nowide/utf/utf.hpp>
#include <fmt/core.h>

namespace Atoll::detail {
namespace {

namespace utf = boost::nowide::utf;

// False for invalid UTF-8; for C0 except line feed and tab, delete, and C1 (U+0080 to U+009F); and
// for U+FFFE and U+FFFF, which are not characters and must not be in XML.
bool is_shown(utf::code_point point) {
    if (point < 0x20) return point == '\n' || point == '\t';
    return (point < 0x7f || point > 0x9f) && point != 0xfffe && point != 0xffff &&
           utf::is_valid_codepoint(point);
}

} // namespace

std::string printable(std::string_view text) {
    std::string shown;
    for (auto at = text.begin(); at != text.end();) {
        const auto begin = at;
        const utf::code_point point = utf::utf_traits<char>::decode(at, text.end());
        if (!utf::is_valid_codepoint(point)) at = begin + 1; // what follows may be good
        if (is_shown(point))
            shown.append(begin, at);
        else
            for (const char c : std::string_view(begin, at))
                shown += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
    return shown;
}

} // namespace Atoll::detail
