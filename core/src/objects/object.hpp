// Objects as operands.
//
// Note [Objects as operands]
// A handle is a tensor of rank 0 without a dtype, whose storage is no memory: it holds the object
// and knows the streams that work with it, so that objects are ordered between streams as tensors
// are.
#pragma once

#include "objects/objects.hpp"
#include "runtime/counted_objects.hpp"

namespace Atoll::detail {

inline bool is_object(const TensorImpl &tensor) { return tensor.dtype == DType::none; }
inline atoll_object *object_of(const TensorImpl &tensor) {
    return reinterpret_cast<atoll_object *>(tensor.storage->data);
}

// A tensor whose elements `function` wants; throws Error where it is an object.
inline const TensorImpl &elements(const Tensor &tensor, std::string_view function) {
    const TensorImpl &found = impl(tensor);
    if (is_object(found)) [[unlikely]]
        throw Error(Status::invalid_argument, function,
                    "the source is an object, needs a tensor or a number");
    return found;
}

// A handle that takes over the count with which `function` has given an object back. Throws Error
// (plugin_fault) where it is none, or one of another device.
Tensor take_object(atoll_object *object, DeviceRecord *device, const Ref<StreamImpl> &stream,
                   const FunctionRecord &function);

} // namespace Atoll::detail
