// The attributes of a call: the caller's, and the defaults of the function's list.
#pragma once

#include "atoll/module.hpp"
#include "runtime/registry.hpp"

#include <array>

namespace Atoll::detail {

// All attributes of a function in the order of its list, as plugins get them. Lists point into
// `given`.
using AttributeValues = std::array<atoll_scalar, 8>;

// Throws Error that names an attribute that is unknown, of the wrong kind, or missing. `T`: the
// dtype of attributes of type T; those of type A have its accumulator.
AttributeValues attribute_values(const FunctionRecord &function,
                                 std::span<const NamedAttribute> given, DType T);
// The same by position; missing ones have their defaults.
AttributeValues attribute_values(const FunctionRecord &function, std::span<const Attribute> given,
                                 DType T);
// Whether attribute `i` of the function's list has its default for this T.
bool is_default(const FunctionRecord &function, int i, const atoll_scalar &value, DType T);

} // namespace Atoll::detail
