// Results in the memory of temporary operands.
//
// Note [Temporaries]
// In (a + b) * 2 nobody sees a + b, so the result of the multiplication is written over it: an
// expression of n operations on large tensors writes to memory that is in the cache, instead of n
// new results. Operators pass the temporary on; it is taken over if it is just what the result
// would be. Every implementation of an element-wise function works in place.
#pragma once

#include "objects/objects.hpp"

namespace Atoll::detail {

// The temporary, which is undefined then, if no other tensor has its memory and it has the
// properties of the result; else an undefined tensor.
Tensor taken_over(Tensor &temporary, const Dims &shape, DType dtype, const DeviceRecord *device,
                  const Ref<StreamImpl> &stream);

} // namespace Atoll::detail
