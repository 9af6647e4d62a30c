// The tables of types.h.
#include "types.h"

#include "atoll/core_functions.hpp"

namespace Atoll::kernels {

constinit const ResultDtypes result_dtypes = [] {
    ResultDtypes table{};
    for (const sdk::FunctionLine &line : sdk::core_functions)
        for (std::uint32_t dtype = 1; dtype < ATOLL_DTYPE_COUNT; ++dtype)
            table[line.id][dtype] = static_cast<std::uint8_t>(line.result_dtype(dtype));
    return table;
}();

} // namespace Atoll::kernels
