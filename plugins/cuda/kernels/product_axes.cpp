// Sorts and packs the axes of products: see product_axes.hpp.
#include "product_axes.hpp"

#include "atoll/dtype_facts.hpp"
#include "kernels.hpp"

namespace Atoll::cuda {

std::int64_t ProductGroup::size() const {
    std::int64_t product = 1;
    for (int i = 0; i < count; ++i) product *= axis[i].extent;
    return product;
}

bool ProductGroup::folds(ProductOperand operand) const {
    for (int i = 1; i < count; ++i)
        if (axis[i].stride[operand] != axis[i - 1].stride[operand] * axis[i - 1].extent)
            return false;
    return true;
}

void ProductGroup::fold() {
    axis[0].extent = size();
    count = 1;
}

// Axes are m…, k…, n…, loop….
ProductAxes::ProductAxes(const atoll_call &call) {
    for (int o = 0; o < product_operands; ++o) data[o] = static_cast<char *>(call.operands[o].data);
    ProductGroup *const groups[] = {&m, &k, &n};
    std::uint32_t axis = 0;
    const auto add_to = [&](ProductGroup &group) {
        ProductGroup::Axis next{call.shape[axis], {}};
        for (int o = 0; o < product_operands; ++o) next.stride[o] = call.operands[o].strides[axis];
        group.add(next);
        ++axis;
    };
    for (int slot = 0; slot < 3; ++slot)
        for (int i = 0; i < call.axes[slot]; ++i) add_to(*groups[slot]);
    while (axis < call.rank) add_to(loop);
}

// Gives the operand the strides of its copy, whose memory is taken. Loop axes that are broadcast
// stay so; neighbours that fold on both sides are one axis of the copy.
PackedOperands::Layout PackedOperands::lay(ProductOperand operand,
                                           std::initializer_list<ProductGroup *> groups) {
    Layout layout;
    layout.data = axes_.data[operand];
    std::int64_t bytes = sdk::dtype_size(target_.call.dtype);
    for (ProductGroup *const group : groups)
        for (int i = 0; i < group->count; ++i) {
            const std::int64_t extent = group->axis[i].extent;
            std::int64_t &stride = group->axis[i].stride[operand];
            if (group == &axes_.loop && stride == 0) continue;
            const std::uint32_t last = layout.rank - 1;
            if (layout.rank > 0 && stride == layout.strides[last] * layout.shape[last]) {
                layout.shape[last] *= extent;
            } else {
                layout.shape[layout.rank] = extent;
                layout.strides[layout.rank] = stride;
                layout.packed[layout.rank++] = bytes;
            }
            stride = bytes;
            bytes *= extent;
        }
    memory_.emplace_back(target_, static_cast<std::uint64_t>(bytes));
    layout.packed_data = axes_.data[operand] = memory_.back().data();
    return layout;
}

atoll_operand PackedOperands::operand(char *data, const std::int64_t *strides) const {
    return {data, strides, target_.call.dtype, 0, target_.call.device, 0, data, {}};
}

void PackedOperands::pack(ProductOperand which, const ProductGroup &first) {
    ProductGroup *groups[] = {which == product_a ? &axes_.m : &axes_.k,
                              which == product_a ? &axes_.k : &axes_.n};
    if (groups[0] != &first) std::swap(groups[0], groups[1]);
    const Layout layout = lay(which, {groups[0], groups[1], &axes_.loop});
    copy_elements(target_, layout.rank, layout.shape, operand(layout.packed_data, layout.packed),
                  operand(layout.data, layout.strides));
}

void PackedOperands::pack_result(bool used) {
    result_ = lay(product_d, {&axes_.m, &axes_.n, &axes_.loop});
    if (used)
        copy_elements(target_, result_.rank, result_.shape,
                      operand(result_.packed_data, result_.packed),
                      operand(result_.data, result_.strides));
}

void PackedOperands::finish() {
    if (result_.rank == 0) return;
    copy_elements(target_, result_.rank, result_.shape, operand(result_.data, result_.strides),
                  operand(result_.packed_data, result_.packed));
}

} // namespace Atoll::cuda
