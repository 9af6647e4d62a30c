// Functions of halves in one pass: what changes signs alone, and arithmetic of float16, converted,
// computed in float32 and rounded in registers.
#pragma once

#include "loops.h"

namespace Atoll::kernels {

// a + b, a - b, a · b, a / b of float16, where out is dense and each input dense or one value.
// Null for other functions, and where the processor level does not convert halves.
Loop half_loop(std::uint32_t function);

// -a, |a| and copysign(a, b) of float16 or bfloat16, any strides. Null for others.
Loop sign_loop(std::uint32_t function, std::uint32_t dtype);

} // namespace Atoll::kernels
