#include "call/temporary.hpp"

#include "objects/layout.hpp"

namespace Atoll::detail {

namespace {

bool has_one_owner(const RefCounted &object) {
    return object.references.load(std::memory_order_acquire) == 1;
}

} // namespace

Tensor taken_over(Tensor &temporary, const Dims &shape, DType dtype, const DeviceRecord *device,
                  const Ref<StreamImpl> &stream) {
    const TensorImpl *t = temporary.impl();
    if (!t || t->dtype != dtype || t->device() != device || !(t->shape == shape)) return {};
    const StorageImpl &storage = *t->storage;
    if (!has_one_owner(*t) || !has_one_owner(storage) || !storage.owned || storage.pinned_for ||
        t->swapped() || t->read_only() || storage.stream.get() != stream.get() || t->offset != 0 ||
        t->size() * size_of(dtype) != storage.bytes ||
        !(t->strides == dense_strides(shape, size_of(dtype), Order::F)))
        return {};
    return std::move(temporary);
}

} // namespace Atoll::detail
