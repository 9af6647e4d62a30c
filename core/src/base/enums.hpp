// Checks values of public enumerations: any number can be cast to one.
#pragma once

#include "atoll/dtype.hpp"
#include "atoll/settings.hpp"
#include "base/throw_error.hpp"

#include <algorithm>
#include <initializer_list>

namespace Atoll::detail {

[[noreturn, gnu::cold]] inline void refuse_dtype(DType dtype, std::string_view op) {
    throw Error(Status::invalid_argument, op,
                dtype == DType::none
                    ? "got no dtype, need one"
                    : fmt::format("got dtype {}, which does not exist", static_cast<int>(dtype)));
}
// Throws Error unless the dtype exists and is not `none`.
inline void require_dtype(DType dtype, std::string_view op) {
    if (static_cast<unsigned>(dtype) - 1 >= ATOLL_DTYPE_COUNT - 1) [[unlikely]]
        refuse_dtype(dtype, op);
}

inline void require_dtype_or_none(DType dtype, std::string_view op) {
    if (dtype != DType::none) require_dtype(dtype, op);
}

// Throws Error unless `value` is one of `known`, which `words` lists.
template <class Enum> void require_one_of(Enum value, std::initializer_list<Enum> known,
                                          std::string_view name, std::string_view words,
                                          std::string_view op) {
    if (std::find(known.begin(), known.end(), value) != known.end()) [[likely]]
        return;
    const int number = static_cast<int>(value);
    const bool letter = number > ' ' && number < 0x7f;
    throw_error(Status::invalid_argument, op, "got {} {}, need {}", name,
                letter ? fmt::format("'{}'", static_cast<char>(number)) : std::to_string(number),
                words);
}

inline void require_compute_mode(ComputeMode mode, std::string_view op) {
    require_one_of(
        mode,
        {ComputeMode::standard, ComputeMode::warning, ComputeMode::error, ComputeMode::complex},
        "compute mode", "standard, warning, error or complex", op);
}

} // namespace Atoll::detail
