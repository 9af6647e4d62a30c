// Joining tensors along an axis.
#include "atoll/create.hpp"
#include "base/throw_error.hpp"
#include "call/copy.hpp"
#include "call/promotion.hpp"

namespace Atoll {

using namespace detail;

Tensor concatenate(std::span<const Tensor> tensors, std::optional<int> axis_or_none) {
    const ReadSection section;
    if (tensors.empty()) throw Error(Status::invalid_argument, "concatenate", "got no tensors");
    const TensorImpl &first = detail::impl(tensors[0]);
    if (!axis_or_none && first.shape.size() > 1)
        throw_error(Status::invalid_argument, "concatenate",
                    "got no axis for tensors of rank {}, need one", first.shape.size());
    const int axis = checked_axis(axis_or_none.value_or(0), first.shape.size(), "concatenate");
    Dims shape = first.shape;
    DType dtype = first.dtype;
    for (const Tensor &tensor : tensors.subspan(1)) {
        const TensorImpl &t = detail::impl(tensor);
        bool fits = t.shape.size() == shape.size();
        for (int i = 0; fits && i < shape.size(); ++i) fits = i == axis || t.shape[i] == shape[i];
        if (!fits)
            throw_error(Status::invalid_argument, "concatenate",
                        "got shapes {} and {} along axis {}, need equal extents on "
                        "the others",
                        shape_text(first.shape), shape_text(t.shape), axis);
        if (__builtin_add_overflow(shape[axis], t.shape[axis], &shape[axis]))
            throw Error(Status::overflow, "concatenate", "more elements than fit 63 bits");
        require_auto_cast(first, "the first tensor", t.dtype, t.device(), "concatenate", {});
        dtype = promote(dtype, t.dtype);
    }
    const Tensor result = make_tensor(shape, dtype, first.device(), first.storage->stream);
    std::int64_t at = 0;
    for (const Tensor &tensor : tensors) {
        const std::int64_t extent = tensor.impl()->shape[axis];
        copy_elements(*result.slice(axis, at, at + extent).impl(), *tensor.impl(), {});
        at += extent;
    }
    return result;
}

Tensor stack(std::span<const Tensor> tensors, int axis) {
    if (tensors.empty()) throw Error(Status::invalid_argument, "stack", "got no tensors");
    const Dims &first = detail::impl(tensors[0]).shape;
    checked_axis(axis, first.size() + 1, "stack");
    for (const Tensor &tensor : tensors)
        if (!(detail::impl(tensor).shape == first))
            throw_error(Status::invalid_argument, "stack", "got shapes {} and {}, need equal ones",
                        shape_text(first), shape_text(tensor.impl()->shape));
    std::vector<Tensor> raised;
    for (const Tensor &tensor : tensors) raised.push_back(tensor.unsqueeze(axis));
    return concatenate(raised, axis);
}

} // namespace Atoll
