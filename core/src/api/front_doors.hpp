// What the C++ declarations of functions.hpp and module.hpp come down to, for functions of any
// module.
#pragma once

#include "call/pipeline.hpp"

namespace Atoll::detail {

inline atoll_scalar bool_attribute(bool value) {
    atoll_scalar raw{};
    raw.dtype = ATOLL_DTYPE_BOOL;
    raw.value.bytes[0] = value;
    return raw;
}

// Element by element.
Tensor call_elementwise(const FunctionRecord &function, Inputs inputs, const Tensor *out,
                        Mode mode);
Tensor call_reduction(const FunctionRecord &function, const Tensor &a, const Axes &axes,
                      bool keepdims, const Tensor *out, std::span<const Scalar> attributes);
// Along one axis; no axis: only where the rank is 1 or 0.
Tensor call_along(const FunctionRecord &function, const Tensor &a, std::optional<int> axis,
                  const Tensor *out, std::span<const atoll_scalar> attributes);
Tensor call_searching(const FunctionRecord &function, const Operand &a, const Tensor &b, bool right,
                      const Tensor *out);

} // namespace Atoll::detail
