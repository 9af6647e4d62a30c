// Dtypes by name.
#include "atoll/dtype.hpp"

#include "base/nearest.hpp"
#include "base/throw_error.hpp"

namespace Atoll {

DType dtype_from_name(std::string_view text) {
    std::string known;
    std::vector<std::string> names;
    for (int i = 1; i < ATOLL_DTYPE_COUNT; ++i) {
        const DTypeInfo &facts = detail::dtype_infos[i];
        if (text == facts.name || (!facts.alias.empty() && text == facts.alias))
            return static_cast<DType>(i);
        known += fmt::format("{}{}", i > 1 ? ", " : "", names.emplace_back(facts.name));
    }
    detail::throw_error(Status::not_found, "dtype", "there is no dtype '{}'; there are {}{}", text,
                        known, detail::suggestion(text, names));
}

} // namespace Atoll
