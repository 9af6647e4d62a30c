// Arithmetic of float16 in one pass: converted, computed in float32 and rounded in registers.
#pragma once

#include "loops.h"

namespace Atoll::kernels {

// a + b, a - b, a · b, a / b of float16, where out is dense and each input dense or one value.
// Null for other functions, and where the processor level does not convert halves.
Loop half_loop(std::uint32_t function);

} // namespace Atoll::kernels
