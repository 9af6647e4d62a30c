// Products of small real matrices, and stacks of them, without packing.
#pragma once

#include "types.h"

namespace Atoll::kernels {

// Computes the call if it is one that it takes: T is float or double, all operands are native, each
// group has at most one axis of few elements, d is dense along one of its axes. Otherwise false.
template <class T> bool small_product(const atoll_call &call, T alpha, T beta);

} // namespace Atoll::kernels
