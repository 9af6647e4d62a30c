// Moving elements by byte offsets, and finding them.
#include "call/gather.hpp"

#include "atoll/create.hpp"
#include "atoll/functions.hpp"
#include "call/families.hpp"

namespace Atoll::detail {

namespace {

constexpr std::uint32_t any_strides =
    ATOLL_CAP_STRIDED | ATOLL_CAP_NEGATIVE_STRIDES | ATOLL_CAP_ZERO_STRIDES;

// The strides along the axes that a tensor varies on.
Dims walked_strides(const TensorImpl &t) {
    Dims strides = t.strides;
    for (int i = 0; i < strides.size(); ++i)
        if (t.shape[i] == 1) strides[i] = 0;
    return strides;
}

// out, then in or values, then offsets; the byte orders of the first two agree.
void add_operands(Iteration &it, const Dims &shape, const TensorImpl &out, const TensorImpl &in,
                  const TensorImpl &offsets) {
    it.rank = shape.size();
    std::copy(shape.begin(), shape.end(), it.shape);
    it.count = 0;
    it.add(out);
    it.add(in);
    it.add(offsets);
    it.operands[0].swapped = it.operands[1].swapped = false;
}

// The same address without strides: all is in the offsets.
Tensor without_strides(const TensorImpl &t) {
    return make_view(t.storage, t.offset, {}, {}, t.dtype, t.flags);
}

} // namespace

Tensor expand_offsets(std::int64_t start, const Dims &strides, const Tensor &offsets,
                      const Dims &shape, Device device) {
    const bool varies =
        std::any_of(strides.begin(), strides.end(), [](std::int64_t s) { return s != 0; });
    if (!varies && start == 0 && offsets.is_defined() && offsets.shape() == shape) return offsets;
    const Tensor sum = empty(shape, {int64, device});
    if (sum.size() == 0) return sum;
    if (offsets.is_defined())
        copy_elements(*sum.impl(), *offsets.impl());
    else
        fill_elements(*sum.impl(), start);
    for (int i = 0; i < strides.size(); ++i) {
        if (strides[i] == 0 || shape[i] == 1) continue;
        const Tensor along = arange(0, shape[i], 1, {int64, device});
        multiply(along, strides[i], along);
        Dims place = Dims::filled(shape.size(), 1);
        place[i] = shape[i];
        add(sum, along.reshape(place).broadcast_to(shape), sum);
    }
    if (start != 0 && offsets.is_defined()) add(sum, start, sum);
    return sum;
}

bool takes_in_place(const TensorImpl &tensor, int function) {
    const Chain &chain =
        *tensor.device()->type->chain(ATOLL_MODULE_CORE, function, static_cast<int>(tensor.dtype));
    return (chain.caps & ATOLL_CAP_UNALIGNED) || aligned(tensor);
}

Tensor gather_elements(const TensorImpl &in, const Tensor &offsets, const Dims &shape) {
    const ReadSection section;
    const FunctionRecord &function = Registry::get().core_function(ATOLL_FN_gather);
    const Ref<StreamImpl> &stream = in.storage->stream;
    Plan plan(function, in.device(), in.dtype, in.dtype, stream);
    Tensor result = make_tensor(shape, in.dtype, in.device(), stream);
    if (result.impl()->size() == 0) return result;
    if (in.swapped()) result.impl()->flags = tensor_swapped;
    Iteration it;
    if (plan.takes(any_strides)) {
        add_operands(it, shape, *result.impl(), in, *offsets.impl());
    } else {
        const InsertedScope inserted(&function);
        const TensorImpl &full =
            plan.keep(expand_offsets(0, walked_strides(in), offsets, shape, Device(in.device())));
        const TensorImpl &base = plan.keep(without_strides(in));
        add_operands(it, shape, *result.impl(), base, full);
    }
    coalesce(it, 0, it.rank);
    plan.run(it, 1, nullptr);
    if (!in.swapped()) return result;
    const InsertedScope inserted(&function);
    return result.replicate();
}

void scatter_elements(const TensorImpl &out, const Tensor &offsets, const Dims &shape,
                      const TensorImpl &values, const TensorImpl &whole) {
    const ReadSection section;
    const FunctionRecord &function = Registry::get().core_function(ATOLL_FN_scatter);
    const Ref<StreamImpl> &stream = out.storage->stream;
    Plan plan(function, out.device(), out.dtype, out.dtype, stream);
    for (std::int64_t extent : shape)
        if (extent == 0) return;
    const bool strided = plan.takes(any_strides);
    const TensorImpl *from = &values;
    if (values.dtype != out.dtype || values.device() != out.device() ||
        values.swapped() != out.swapped() || overlapping(values, whole) ||
        !takes_in_place(values, ATOLL_FN_scatter) ||
        (!strided && !(values.shape == shape && dense(values, Order::F)))) {
        const InsertedScope inserted(&function);
        Tensor copy = make_tensor(strided ? values.shape : shape, out.dtype, out.device(), stream);
        if (out.swapped()) copy.impl()->flags = tensor_swapped;
        copy_elements(*copy.impl(), values);
        from = &plan.keep(copy);
    }
    Iteration it;
    if (strided) {
        add_operands(it, shape, out, *from, *offsets.impl());
    } else {
        const InsertedScope inserted(&function);
        const TensorImpl &full =
            plan.keep(expand_offsets(0, walked_strides(out), offsets, shape, Device(out.device())));
        const TensorImpl &base = plan.keep(without_strides(out));
        add_operands(it, shape, base, *from, full);
    }
    coalesce_in_order(it, 0, it.rank);
    plan.run(it, 1, nullptr);
}

Tensor call_find(int function, const Tensor &a) {
    const ReadSection section;
    const FunctionRecord &record = Registry::get().core_function(function);
    const TensorImpl &source = impl(a);
    const Dtypes dtypes = apply_rule(record, source.dtype);
    const Ref<StreamImpl> &stream = source.storage->stream;
    Plan plan(record, source.device(), dtypes.compute, dtypes.result, stream);
    std::int64_t count = 0;
    if (source.size() > 0) {
        const InsertedScope inserted(&record);
        count = nnz(a).item().to_int();
    }
    Tensor result = make_tensor({count}, int64, source.device(), stream);
    if (count == 0) return result;
    const TensorImpl *input = &plan.prepare_input(source, nullptr);
    if (!plan.takes(any_strides) && !dense(*input, Order::F))
        input = &plan.expand(*input, source.shape);
    Iteration it;
    it.rank = source.shape.size();
    std::copy(source.shape.begin(), source.shape.end(), it.shape);
    it.count = 0;
    it.add(*result.impl());
    std::fill_n(it.operands[0].strides, it.rank, 0);
    it.add(*input);
    coalesce_in_order(it, 0, it.rank);
    if (it.rank == 0) it.insert_axis(0, 1);
    it.operands[0].strides[0] = size_of(int64);
    plan.run(it, 1, nullptr);
    return result;
}

} // namespace Atoll::detail

namespace Atoll {

Tensor nonzero(const Tensor &a) {
    const Tensor positions = find(a);
    const std::int64_t count = positions.size();
    const int rank = a.rank();
    const Tensor result = empty({rank, count}, {int64, a.device()});
    if (count == 0) return result;
    Tensor rest = positions;
    for (int axis = 0; axis < rank; ++axis) {
        const std::int64_t extent = a.shape()[axis];
        remainder(rest, extent, result(axis, all_));
        if (axis + 1 < rank) rest = floor_divide(rest, extent);
    }
    return result;
}

} // namespace Atoll
