// Products of a large matrix and a vector, which reading the matrix bounds.
#pragma once

#include "contraction.h"

namespace Atoll::kernels {

// Computes a product if it is one that this suits: T is float, double, complex, or an unsigned
// integer of the sizes of float and double, all operands are native, there is one matrix, dense
// along one of its axes, and the other factor is a vector. Otherwise false.
template <class T> bool matrix_vector(const Contraction &p, std::uint32_t dtype, T alpha, T beta);

} // namespace Atoll::kernels
