// Descriptions of tensors.
#pragma once

#include "objects.hpp"

#include <atoll/dtype.hpp>
#include <vector>

namespace Atoll::Tapp {

struct TensorInfo {
    DType dtype;
    std::vector<std::int64_t> extents, strides; // strides in elements
};

// The description as it is now. Throws Failure.
TensorInfo tensor_info(TAPP_tensor_info info, const char *name);

} // namespace Atoll::Tapp
