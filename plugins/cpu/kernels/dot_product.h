// Stacks of dot products of dense vectors.
#pragma once

#include "contraction.h"

namespace Atoll::kernels {

// Computes a product if it is one that this suits: T is float, double, or an unsigned integer of
// their sizes, all operands are native, m and n have no axis, and k has a short one along which a
// and b are dense. Otherwise false.
template <class T> bool dot_products(const Contraction &p, std::uint32_t dtype, T alpha, T beta);

} // namespace Atoll::kernels
