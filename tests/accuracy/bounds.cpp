// The bars: see bounds.h.
#include "bounds.h"

#include "atoll/abi/module.h"
#include "atoll/core_functions.hpp"
#include "formats.h"

namespace accuracy {
namespace {

constexpr std::uint32_t doubles =
    ATOLL_DTYPE_BIT(ATOLL_DTYPE_FLOAT64) | ATOLL_DTYPE_BIT(ATOLL_DTYPE_COMPLEX128);

struct Exception {
    int function;
    atoll_dtype_set dtypes;
    Bound bound;
};
constexpr Exception exceptions[] = {
    {ATOLL_FN_cumsum, doubles, {60, "adds in order: an error per element, 3001 here"}},
};

bool is_elementwise(int function) {
    for (const Atoll::sdk::FunctionLine &line : Atoll::sdk::core_functions)
        if (static_cast<int>(line.id) == function) return line.signature.elementwise();
    return false;
}

} // namespace

double usual_bar(int function, int dtype) {
    if (format_of(dtype).digits < 24) return 0.502;
    switch (function) {
    case ATOLL_FN_add:
    case ATOLL_FN_subtract: return 0.5;
    case ATOLL_FN_multiply:
    case ATOLL_FN_divide:
    case ATOLL_FN_sqrt: return is_complex(dtype) ? 4 : 0.5;
    case ATOLL_FN_square: return is_complex(dtype) ? 4 : 1.01;
    case ATOLL_FN_abs: return format_of(dtype).digits == 24 ? 0.502 : 1.01;
    default:
        if (!is_elementwise(function)) return 4;
        // Complex floats are computed in double.
        return !is_complex(dtype) ? 1.01 : format_of(dtype).digits == 24 ? 0.502 : 4;
    }
}

Bound bound_of(int function, int dtype) {
    for (const Exception &exception : exceptions)
        if (exception.function == function && (exception.dtypes >> dtype & 1))
            return exception.bound;
    return {usual_bar(function, dtype), nullptr};
}

} // namespace accuracy
