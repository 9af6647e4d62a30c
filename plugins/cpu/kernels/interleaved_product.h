// Stacks of small products whose elements lie side by side: vectors along the stack.
#pragma once

#include "contraction.h"

namespace Atoll::kernels {

// Computes a product if it is one that this suits: T is float, double, or an unsigned integer of
// their sizes, all operands are native and dense along the first axis of the batch, and matrices
// small enough that a vector of them stays in the cache; stacks of dot products of any length.
// Otherwise false.
template <class T>
bool interleaved_product(const Contraction &p, std::uint32_t dtype, T alpha, T beta);

} // namespace Atoll::kernels
