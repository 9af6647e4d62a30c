// Products of matrices that the caches hold, and stacks of them, straight from the operands.
#pragma once

#include "types.h"

#include <algorithm>

namespace Atoll::kernels {

// Whether each group of a product has one axis, of at most so many elements.
inline bool is_of_matrices(const atoll_call &call, std::int64_t longest) {
    return call.core == 3 && call.axes[0] == 1 && call.axes[1] == 1 &&
           std::max({call.shape[0], call.shape[1], call.shape[2]}) <= longest;
}

// Computes the call if it is one that it takes: T is float, double, complex of these, or an
// unsigned integer of their sizes, all operands are native, each group has at most one axis, d is
// dense along one of its axes. Otherwise false; so are, with only_smallest, all but the smallest.
template <class T> bool direct_product(const atoll_call &call, T alpha, T beta, bool conj_a,
                                       bool conj_b, bool only_smallest);

} // namespace Atoll::kernels
