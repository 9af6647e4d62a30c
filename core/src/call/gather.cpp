// Moves elements by byte offsets.
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

} // namespace

Tensor expand_offsets(std::int64_t start, const Dims &strides, const Tensor &offsets,
                      const Dims &shape, DeviceRecord *device, const Context &context) {
    const bool varies =
        std::any_of(strides.begin(), strides.end(), [](std::int64_t s) { return s != 0; });
    if (!varies && start == 0 && offsets.is_defined() && offsets.shape() == shape) return offsets;
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

bool takes_in_place(const TensorImpl &tensor, int function) {
    const Chain &chain = *tensor.device()->type->chain(Registry::get().core_function(function),
                                                       static_cast<int>(tensor.dtype));
    return (chain.caps & ATOLL_CAP_UNALIGNED) || aligned(tensor);
}

Tensor gather_elements(const TensorImpl &in, const Tensor &offsets, const Dims &shape,
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
    Tensor full, base;
    if (!lay(space, route, function, shape, *result.impl(), in, *offsets.impl())) {
        full = expand_offsets(0, walked_strides(in), offsets, shape, in.device(),
                              parts.because(ATOLL_REASON_STRIDES));
        base = without_strides(in);
        lay(space, route, function, shape, *result.impl(), *base.impl(), *full.impl());
    }
    route.send(space);
    if (!in.swapped()) return result;
    return cast_elements(impl(result), in.dtype, in.device(),
                         parts.because(ATOLL_REASON_BYTE_ORDER));
}

void scatter_elements(const TensorImpl &out, const Tensor &offsets, const Dims &shape,
                      const TensorImpl &values, const TensorImpl &whole, const Context &context) {
    const ReadSection section;
    const FunctionRecord &function = Registry::get().core_function(ATOLL_FN_scatter);
    const Context parts = context.for_parts_of(function);
    const Route route(function, out, context);
    if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return;
    Space space;
    const bool strided = lay(space, route, function, shape, out, values, *offsets.impl());
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
    Tensor full, base;
    if (strided) {
        lay(space, route, function, shape, out, *from, *offsets.impl());
    } else {
        full = expand_offsets(0, walked_strides(out), offsets, shape, out.device(),
                              parts.because(ATOLL_REASON_STRIDES));
        base = without_strides(out);
        lay(space, route, function, shape, *base.impl(), *from, *full.impl());
    }
    route.send(space);
}

} // namespace Atoll::detail
