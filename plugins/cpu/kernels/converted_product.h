// Products of few elements that are not the numbers in which they are multiplied.
#pragma once

#include "types.h"

namespace Atoll::kernels {

// Computes the call if each matrix is one of the smallest, by way of native copies of all operands,
// which then are multiplied where they lie. Otherwise false. `alpha` and `beta` are of the numbers
// of dtype `wide`: T.
template <class T> bool converted_product(const atoll_call &call, std::uint32_t wide, T alpha,
                                          T beta, bool conj_a, bool conj_b);

} // namespace Atoll::kernels
