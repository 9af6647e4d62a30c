// Loops of halves in one pass: what changes signs alone, and short functions, for which elements
// are converted, computed in float32 and rounded in registers.
#pragma once

#include "loops.h"

namespace Atoll::kernels {

// A loop whose operands are all of `dtype`, float16 or bfloat16, any strides. Null for other dtypes
// and functions; of float16 where the processor level does not convert it, only signs are there.
Loop half_loop(std::uint32_t function, std::uint32_t dtype);

} // namespace Atoll::kernels
