// Products of which d has few rows or few columns.
#pragma once

#include "contraction.h"

namespace Atoll::kernels {

// Computes a product if it is one that this suits: T is float, double, complex of these, or an
// unsigned integer of their sizes, all operands are native, each group has at most one axis, one
// side of d is short, and d is dense along one of its axes. Otherwise false, also if it is to be
// ahead of BLAS and is not.
template <class T> bool thin_product(const Contraction &p, std::uint32_t dtype, T alpha, T beta,
                                     bool only_ahead_of_blas = false);

} // namespace Atoll::kernels
