// Lists in sentences: "cpu, dummy".
#pragma once

#include <string>
#include <string_view>

namespace Atoll::detail {

inline void add_to_list(std::string &list, std::string_view item,
                        std::string_view separator = ", ") {
    if (!list.empty()) list += separator;
    list += item;
}

template <class Range> std::string listed(const Range &items, std::string_view separator = ", ") {
    std::string list;
    for (const std::string_view item : items) add_to_list(list, item, separator);
    return list;
}

} // namespace Atoll::detail
