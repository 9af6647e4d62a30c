// Escaping what cannot be shown: see printable.hpp.
#include "base/printable.hpp"

#include <fmt/format.h>

namespace Atoll::detail {
namespace {

// Bytes of the UTF-8 sequence that the text begins with; 0 if it begins with none (Unicode 15,
// table 3-7).
std::size_t sequence(std::string_view text) {
    const auto byte = [&](std::size_t i) -> unsigned {
        return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
    };
    const unsigned first = byte(0);
    if (first < 0x80) return 1;
    const std::size_t count = first >= 0xc2 && first < 0xe0   ? 2
                              : first >= 0xe0 && first < 0xf0 ? 3
                              : first >= 0xf0 && first < 0xf5 ? 4
                                                              : 0;
    for (std::size_t i = 1; i < count; ++i)
        if (byte(i) < 0x80 || byte(i) > 0xbf) return 0;
    const bool overlong = (first == 0xe0 && byte(1) < 0xa0) || (first == 0xf0 && byte(1) < 0x90);
    const bool beyond = (first == 0xed && byte(1) > 0x9f) || (first == 0xf4 && byte(1) > 0x8f);
    return overlong || beyond ? 0 : count;
}

// C0 but line feed and tab, delete, C1 (U+0080 to U+009F); U+FFFE and U+FFFF, which are no
// characters, and which XML must not hold.
bool is_control(std::string_view sequence) {
    if (sequence == "\xef\xbf\xbe" || sequence == "\xef\xbf\xbf") return true;
    const unsigned char first = static_cast<unsigned char>(sequence[0]);
    return (first < 0x20 && first != '\n' && first != '\t') || first == 0x7f ||
           (first == 0xc2 && static_cast<unsigned char>(sequence[1]) < 0xa0);
}

} // namespace

std::string printable(std::string_view text) {
    std::string shown;
    while (!text.empty()) {
        const std::size_t count = sequence(text);
        const std::string_view part = text.substr(0, count ? count : 1);
        if (count && !is_control(part))
            shown += part;
        else
            for (const char c : part)
                shown += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
        text.remove_prefix(part.size());
    }
    return shown;
}

} // namespace Atoll::detail
