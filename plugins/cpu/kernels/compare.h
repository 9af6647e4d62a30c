// Comparisons whose operands the compute dtype cannot hold: Note [Exact comparisons] in
// atoll/abi/module.h.
#pragma once

#include "loops.h"

namespace Atoll::kernels {

// What an operand of `dtype` is brought to without loss: int64, uint64, float64 or complex128.
std::uint32_t exact_dtype(std::uint32_t dtype);

// The loop over operands of the dtypes exact_dtype(a) and exact_dtype(b), where `function` compares
// and must not go through compute dtype `dtype`; null elsewhere.
Loop exact_loop(std::uint32_t function, std::uint32_t dtype, std::uint32_t a, std::uint32_t b);

} // namespace Atoll::kernels
