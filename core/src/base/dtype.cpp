// Dtypes by name.
#include "atoll/dtype.hpp"

#include "atoll/error.hpp"

#include <fmt/format.h>

namespace Atoll {

DType dtype_from_name(std::string_view text) {
    std::string known;
    for (int i = 1; i < ATOLL_DTYPE_COUNT; ++i) {
        const DTypeInfo &facts = detail::dtype_infos[i];
        if (text == facts.name || (!facts.alias.empty() && text == facts.alias))
            return static_cast<DType>(i);
        known += fmt::format("{}{}", i > 1 ? ", " : "", facts.name);
    }
    throw Error(Status::not_found, "dtype",
                fmt::format("there is no dtype '{}'; there are {}", text, known));
}

} // namespace Atoll
