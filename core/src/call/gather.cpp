// Moves elements by offsets.
#include "call/gather.hpp"

#include "call/copy.hpp"
#include "call/parts.hpp"
#include "call/route.hpp"

#include <algorithm>

namespace Atoll::detail {

namespace {

// The strides along the axes that a tensor varies on.
Dims walked_strides(const TensorImpl &t) {
    Dims strides = t.strides;
    for (int i = 0; i < strides.size(); ++i)
        if (t.shape[i] == 1) strides[i] = 0;
    return strides;
}

// Lays output, input and offsets, merged; the first two have one byte order. Returns whether the
// implementation takes these strides.
bool lay(Space &space, const Route &route, const FunctionRecord &function, const Dims &shape,
         const TensorImpl &out, const TensorImpl &in, const TensorImpl &offsets) {
    space.begin(shape);
    space.slot_axes[0] = 0; // opaque
    space.add(out);
    space.add(in);
    space.add(offsets);
    space.described[0].flags = space.described[1].flags = 0;
    merge(space, function.signature);
    return route.takes(Route::any_strides) && space.rank <= route.max_rank();
}

// The same address without strides, which the offsets include.
Tensor without_strides(const TensorImpl &t) {
    return make_view(t.storage, t.offset, {}, {}, t.dtype, t.flags);
}

Tensor product(const Offsets &offsets, const Context &context) {
    return part(ATOLL_FN_multiply, {offsets.values, offsets.unit}, context);
}

// The offsets, or a copy in bytes if the implementation does not take them or would write to them.
Offsets taken_by(const Route &route, const Offsets &offsets, bool overwritten,
                 const Context &parts) {
    const TensorImpl &values = impl(offsets.values);
    const std::uint32_t needs =
        reason_if(offsets.unit != 1 && route.known_attributes() == 0, ATOLL_REASON_ARGUMENT) |
        reason_if(values.swapped(), ATOLL_REASON_BYTE_ORDER) |
        reason_if(!route.takes(ATOLL_CAP_UNALIGNED) && !aligned(values), ATOLL_REASON_ALIGNMENT) |
        reason_if(overwritten, ATOLL_REASON_OVERLAP);
    if (!needs) return offsets;
    return {product(offsets, parts.because(needs))};
}

} // namespace

Tensor expand_offsets(std::int64_t start, const Dims &strides, const Tensor &offsets,
                      const Dims &shape, DeviceRecord *device, const Context &context) {
    // Offsets vary along the axes that no stride serves: those of the whole shape are complete.
    if (start == 0 && offsets.is_defined() && offsets.shape() == shape &&
        dense(*offsets.impl(), Order::F))
        return offsets;
    const auto fresh = [&](const Dims &extents) {
        return make_tensor(extents, int64, device, {}, Order::F, context.cause);
    };
    const Tensor sum = fresh(shape);
    if (sum.size() == 0) return sum;
    if (offsets.is_defined())
        copy_elements(*sum.impl(), *offsets.impl(), context);
    else
        fill_elements(*sum.impl(), start, context);
    for (int i = 0; i < strides.size(); ++i) {
        if (strides[i] == 0 || shape[i] == 1) continue;
        Dims place = Dims::filled(shape.size(), 1);
        place[i] = shape[i];
        const Tensor along = fresh({shape[i]});
        steps_part(along, 0, strides[i], nullptr, context);
        part(ATOLL_FN_add, {sum, along.reshape(place)}, context, &sum);
    }
    if (start != 0 && offsets.is_defined()) part(ATOLL_FN_add, {sum, start}, context, &sum);
    return sum;
}

Tensor Offsets::in_bytes(const Context &context) const {
    return unit == 1 ? values : product(*this, context);
}

bool takes_in_place(const TensorImpl &tensor, int function) {
    const Chain &chain = *tensor.device()->type->chain(Registry::get().core_function(function),
                                                       static_cast<int>(tensor.dtype));
    return (chain.caps & ATOLL_CAP_UNALIGNED) || aligned(tensor);
}

Tensor gather_elements(const TensorImpl &in, const Offsets &offsets, const Dims &shape,
                       const Context &context) {
    const ReadSection section;
    const FunctionRecord &function = Registry::get().core_function(ATOLL_FN_gather);
    const Context parts = context.for_parts_of(function);
    const Route route(function, in, context);
    Tensor result =
        make_tensor(shape, in.dtype, in.device(), in.storage->stream, Order::F, context.cause);
    if (result.impl()->size() == 0) return result;
    if (in.swapped()) result.impl()->flags = tensor_swapped;
    Space space;
    Offsets at = taken_by(route, offsets, false, parts);
    Tensor base;
    if (!lay(space, route, function, shape, *result.impl(), in, *at.values.impl())) {
        const Context expanding = parts.because(ATOLL_REASON_STRIDES);
        at = {expand_offsets(0, walked_strides(in), at.in_bytes(expanding), shape, in.device(),
                             expanding)};
        base = without_strides(in);
        lay(space, route, function, shape, *result.impl(), *base.impl(), *at.values.impl());
    }
    route.send(space, {{Scalar(at.unit).raw()}});
    if (!in.swapped()) return result;
    return cast_elements(impl(result), in.dtype, in.device(),
                         parts.because(ATOLL_REASON_BYTE_ORDER));
}

void scatter_elements(const TensorImpl &out, const Offsets &offsets, const Dims &shape,
                      const TensorImpl &values, const TensorImpl &whole, const Context &context) {
    const ReadSection section;
    const FunctionRecord &function = Registry::get().core_function(ATOLL_FN_scatter);
    const Context parts = context.for_parts_of(function);
    const Route route(function, out, context);
    if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return;
    Space space;
    Offsets at = taken_by(route, offsets, overlapping(impl(offsets.values), whole), parts);
    const bool strided = lay(space, route, function, shape, out, values, *at.values.impl());
    const TensorImpl *from = &values;
    Tensor copy;
    const std::uint32_t needs =
        reason_if(values.dtype != out.dtype, ATOLL_REASON_DTYPE) |
        reason_if(values.device() != out.device(), ATOLL_REASON_DEVICE) |
        reason_if(values.swapped() != out.swapped(), ATOLL_REASON_BYTE_ORDER) |
        reason_if(values.device() == out.device() && overlapping(values, whole),
                  ATOLL_REASON_OVERLAP) |
        reason_if(!takes_in_place(values, ATOLL_FN_scatter), ATOLL_REASON_ALIGNMENT) |
        reason_if(!strided && !(values.shape == shape && dense(values, Order::F)),
                  ATOLL_REASON_STRIDES);
    if (needs) {
        const Context copying = parts.because(needs);
        copy = make_tensor(strided ? values.shape : shape, out.dtype, out.device(),
                           out.storage->stream, Order::F, copying.cause);
        if (out.swapped()) copy.impl()->flags = tensor_swapped;
        copy_elements(*copy.impl(), values, copying);
        from = copy.impl();
    }
    Tensor base;
    if (strided) {
        lay(space, route, function, shape, out, *from, *at.values.impl());
    } else {
        const Context expanding = parts.because(ATOLL_REASON_STRIDES);
        at = {expand_offsets(0, walked_strides(out), at.in_bytes(expanding), shape, out.device(),
                             expanding)};
        base = without_strides(out);
        lay(space, route, function, shape, *base.impl(), *from, *at.values.impl());
    }
    route.send(space, {{Scalar(at.unit).raw()}});
}

} // namespace Atoll::detail
