// Products of matrices that the caches hold, and stacks of them, straight from the operands.
#pragma once

#include "types.h"

namespace Atoll::kernels {

// Computes the call if it is one that it takes: T is float, double, complex of these, or an
// unsigned integer of their sizes, all operands are native, each group has at most one axis, d is
// dense along one of its axes. Otherwise false; so are, with only_smallest, all but the smallest.
template <class T> bool direct_product(const atoll_call &call, T alpha, T beta, bool conj_a,
                                       bool conj_b, bool only_smallest);

} // namespace Atoll::kernels
