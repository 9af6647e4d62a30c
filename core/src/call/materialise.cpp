// Copies of operands.
//
// Note [Materialisation]
// A copy is made once, in the dtype, byte order and layout that the plugin takes, on the call's
// stream, flagged as inserted for the function that needs it. Its storage is freed in stream order,
// so nothing waits. Axes on which the operand does not vary have stride 0 in the copy too, unless
// the layout needs them.
#include "call/materialise.hpp"

#include "call/copy.hpp"

#include <algorithm>
#include <cstdlib>

#include <fmt/core.h>

namespace Atoll::detail {

// The axes of an operand's copy, fastest first. Unless a layout is needed: only those on which the
// operand varies, in its own order, so that the copy is sequential.
int Materialiser::copy_axes(int operand, int *axes) const {
    const int count = axes_of(space_, call_.function->signature, operand, axes);
    if (plan_.operand[operand].needs & need_layout) return count;
    const std::int64_t *strides = space_.operands[operand].strides;
    int *const end = std::remove_if(axes, axes + count, [&](int i) { return strides[i] == 0; });
    std::stable_sort(axes, end,
                     [&](int a, int b) { return std::abs(strides[a]) < std::abs(strides[b]); });
    return static_cast<int>(end - axes);
}

// Gives the operand the strides of its future copy.
void Materialiser::lay_dense(int operand) {
    int axes[max_axes];
    const int count = copy_axes(operand, axes);
    std::int64_t strides[max_axes] = {}, stride = size_of(plan_.operand[operand].dtype);
    for (int i = 0; i < count; ++i) {
        strides[axes[i]] = space_.shape[axes[i]] == 1 ? 0 : stride;
        stride *= space_.shape[axes[i]];
    }
    std::copy_n(strides, space_.rank, space_.operands[operand].strides);
}

void Materialiser::plan_layouts() {
    for (int o = 0; o < space_.count; ++o)
        if (plan_.operand[o].needs) lay_dense(o);
    // Repeats: the layout of one operand may keep the axes of others from being merged.
    for (int round = 0;; ++round) {
        Space merged = space_;
        merge(merged, call_.function->signature);
        if (route_.takes_layout(merged)) return;
        if (round == 2) {
            if (route_.takes_groups(merged)) return;
            throw Error(Status::not_supported, call_.function->full_name,
                        fmt::format("the implementation of plugin {} takes one axis at a time "
                                    "where these operands have several that cannot be merged; "
                                    "merge them first with Tensor::reshape",
                                    route_.plugin()),
                        call_.device->name);
        }
        for (int o = 0; o < space_.count; ++o) {
            if (!space_.operands[o].lies || (plan_.operand[o].needs & need_layout)) continue;
            std::uint32_t refused = 0;
            if (route_.takes_strides() && round == 0 && !route_.has_to_merge(merged, o))
                refused = route_.refused_layout(merged, o);
            else if (!lies_dense(space_, call_.function->signature, o,
                                 size_of(plan_.operand[o].dtype)))
                refused = route_.takes_strides() ? ATOLL_REASON_AXES : ATOLL_REASON_STRIDES;
            if (!refused) continue;
            plan_.operand[o].needs |= refused;
            lay_dense(o);
        }
    }
}

// Whether each element of the loop has its own elements in the operand's copy, which it may
// overwrite.
bool Materialiser::serves_one_element(int operand) const {
    const std::int64_t *strides = space_.operands[operand].strides;
    for (int i = space_.core; i < space_.rank; ++i)
        if (strides[i] == 0 && space_.shape[i] > 1) return false;
    return true;
}

// A view of the operand over some axes of the space.
Tensor Materialiser::view_of(int operand, const int *axes, const Dims &shape) const {
    const TensorImpl &tensor = *call_.tensor[operand];
    Space own;
    own.rank = space_.rank;
    own.count = 0;
    call_.lay(operand, own);
    Dims strides;
    for (int i = 0; i < shape.size(); ++i) strides.push_back(own.operands[0].strides[axes[i]]);
    return make_view(tensor.storage, tensor.offset, shape, std::move(strides), tensor.dtype,
                     tensor.flags);
}

void Materialiser::copy_operand(int operand) {
    // The strides are already those of the copy.
    int axes[max_axes];
    const int count = copy_axes(operand, axes);
    Dims shape;
    for (int i = 0; i < count; ++i) shape.push_back(space_.shape[axes[i]]);
    const Context parts = context_.because(plan_.operand[operand].needs);
    const Tensor &copy = kept_.emplace_back(make_tensor(
        shape, plan_.operand[operand].dtype, call_.device, stream_, Order::F, parts.cause));
    space_.refer_to(*copy.impl(), operand);
    if (const Scalar *number = call_.scalar[operand])
        return fill_elements(*copy.impl(), *number, parts);
    const Tensor whole = view_of(operand, axes, shape);
    const sdk::Signature &signature = call_.function->signature;
    const bool output = operand < signature.output_count;
    if (!output || signature.operand(operand).updated)
        copy_elements(*copy.impl(), *whole.impl(), parts);
    if (output)
        replaced_.push_back({whole, copy, parts});
    else if (serves_one_element(operand))
        space_.described[operand].flags |= ATOLL_OPERAND_DISPOSABLE;
}

void Materialiser::copy() {
    for (int o = 0; o < space_.count; ++o)
        if (plan_.operand[o].needs) copy_operand(o);
}

void Materialiser::finish() {
    for (const Replaced &output : replaced_)
        copy_elements(*output.place.impl(), *output.copy.impl(), output.context);
}

} // namespace Atoll::detail
