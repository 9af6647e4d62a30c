// Copies of tensors: assignment, clones, casts, byte order, values read by the host.
#include "atoll/format.hpp"
#include "atoll/functions.hpp"
#include "base/enums.hpp"
#include "base/throw_error.hpp"
#include "call/broadcast.hpp"
#include "call/check.hpp"
#include "call/copy.hpp"
#include "call/parts.hpp"
#include "objects/layout.hpp"
#include "objects/object.hpp"

#include <algorithm>
#include <cstring>

namespace Atoll {

using namespace detail;

Tensor &Tensor::assign(const Operand &source) {
    const TensorImpl &to = impl_ ? *impl_ : detail::impl(*this);
    const ReadSection section;
    const std::string &op = Registry::get().core_function(ATOLL_FN_copy).full_name;
    check_output(to, "out", op);
    if (!source.tensor()) return fill(source.scalar());
    const TensorImpl &from = detail::elements(*source.tensor(), "core.copy");
    if (!broadcasts_to(from.shape, to.shape))
        throw_error(Status::invalid_argument, op,
                    "got {} for {}, need extents that are equal or 1, first axes "
                    "aligned",
                    shape_text("a", from.shape), shape_text("out", to.shape));
    if (!(from.shape == to.shape) && !current_settings().auto_broadcast)
        refuse_auto_broadcast({"out", to.shape}, {"a", from.shape}, op);
    require_auto_cast(to, "out", from.dtype, from.device(), op, {});
    copy_elements(to, from, {});
    return *this;
}

Tensor &Tensor::fill(const Scalar &value) {
    const TensorImpl &to = detail::impl(*this);
    const ReadSection section;
    const std::string &op = Registry::get().core_function(ATOLL_FN_fill).full_name;
    if (to.read_only()) check_output(to, "out", op);
    if (value.overflows(to.dtype))
        throw_error(Status::out_of_range, op, "{} does not fit {}; convert it with Scalar::cast",
                    to_string(value), name(to.dtype));
    fill_elements(to, value, {});
    return *this;
}

void copy(Tensor destination, const Operand &source) { destination.assign(source); }

Tensor &Tensor::byteswap() {
    const TensorImpl &t = detail::impl(*this);
    const ReadSection section;
    const std::string op = "tensor.byteswap";
    check_output(t, "the tensor", op);
    if (info(t.dtype).alignment == 1) return *this;
    // The same elements read in one byte order and written in the other.
    const Tensor turned = shallow_copy();
    turned.impl()->flags ^= tensor_swapped;
    copy_elements(*turned.impl(), t, {});
    impl_->flags ^= tensor_swapped;
    return *this;
}

void Tensor::read(void *host, DType dtype) const {
    read_elements(detail::impl(*this), host, dtype, {});
}

Tensor Tensor::H() const { return is_complex(dtype()) ? conj(T()) : T(); }

Tensor Tensor::clone() const { return clone(device()); }

Tensor Tensor::clone(Device device) const {
    const ReadSection section;
    const TensorImpl &t = self();
    if (!device)
        throw Error(Status::invalid_argument, "tensor.clone",
                    "the device is undefined (default-constructed)");
    // The strides are kept where the elements fill the memory that they span, in whatever order;
    // gaps are not copied.
    Dims strides = t.strides, held = t.shape;
    std::int64_t stride = size_of(t.dtype), start = 0;
    for (int axis : axes_by_stride(t)) {
        if (t.strides[axis] == 0 && t.shape[axis] > 1) {
            held[axis] = 1;
            continue;
        }
        strides[axis] = t.strides[axis] < 0 ? -stride : stride;
        if (t.strides[axis] < 0 && t.shape[axis] > 0) start += stride * (t.shape[axis] - 1);
        stride *= std::max<std::int64_t>(t.shape[axis], 1);
    }
    const std::int64_t bytes = checked_bytes(held, size_of(t.dtype), "tensor.clone");
    if (bytes == 0) start = 0; // an empty view must not point outside the storage
    const bool same_device = device.record() == t.device();
    const bool keep_order = t.swapped() && device.record()->type == t.device()->type;
    Ref<StorageImpl> storage = make_storage(bytes, device.record(), t.dtype,
                                            same_device ? t.storage->stream : Ref<StreamImpl>());
    const std::uint8_t flags = keep_order ? tensor_swapped : 0;
    const Tensor written = make_view(storage, start, held, strides, t.dtype, flags);
    const Tensor read = make_view(t, t.offset, held, t.strides);
    copy_elements(*written.impl(), *read.impl(), {});
    return make_view(storage, start, t.shape, strides, t.dtype, flags);
}

Tensor Tensor::replicate() const { return cast(dtype()); }

Tensor Tensor::as_contiguous(Order order) const {
    require_one_of(order, {Order::F, Order::C}, "order", "F or C", "tensor.as_contiguous");
    const ReadSection section;
    const TensorImpl &t = self();
    if (dense(t, order)) return shallow_copy();
    Tensor result = make_tensor(t.shape, t.dtype, t.device(), t.storage->stream, order);
    copy_elements(*result.impl(), t, {});
    return result;
}

Tensor Tensor::cast(DType dtype) const { return cast(dtype, device()); }

Tensor Tensor::cast(DType dtype, Device device) const {
    const ReadSection section;
    if (!device)
        throw Error(Status::invalid_argument, "tensor.cast",
                    "the device is undefined (default-constructed)");
    return cast_elements(self(), dtype, device.record(), {});
}

Tensor Tensor::ensure(DType dtype) const { return ensure(dtype, device()); }
Tensor Tensor::to(Device device) const { return ensure(dtype(), device); }
Tensor Tensor::ensure(DType dtype, Device device) const {
    return dtype == this->dtype() && device == this->device() ? shallow_copy()
                                                              : cast(dtype, device);
}

void Tensor::detach() {
    TensorImpl &t = self();
    const Tensor own = clone();
    t.offset = own.impl()->offset;
    t.strides = own.impl()->strides;
    t.flags = static_cast<std::uint8_t>(own.impl()->flags | (t.flags & tensor_read_only));
    t.storage = own.impl()->storage;
    find_dense_size(t);
}

void Tensor::dealloc() {
    TensorImpl &t = self();
    Ref<StorageImpl> nothing = make_storage(0, t.device(), t.dtype);
    t.offset = 0;
    t.shape = Dims{0};
    t.strides = Dims{size_of(t.dtype)};
    t.flags = 0;
    t.storage = std::move(nothing);
    find_dense_size(t);
}

Tensor::operator bool() const {
    if (size() != 1)
        throw_error(Status::invalid_argument, "tensor.bool",
                    "got shape {}, need one element; use all() or any(), or logical_and, "
                    "logical_or, logical_not for each element",
                    shape_text(shape()));
    const Scalar value = item();
    return value.to_complex() != std::complex<double>(0);
}

Scalar Tensor::item() const {
    if (size() != 1)
        throw_error(Status::invalid_argument, "tensor.item", "got shape {}, need one element",
                    shape_text(shape()));
    return item_part(*this, {});
}

std::vector<double> Tensor::to_doubles() const {
    std::vector<double> values(static_cast<std::size_t>(size()));
    read(values.data(), float64);
    return values;
}

} // namespace Atoll
