// Functions that work along one axis: cumulative ones, sorting, searching.
#include "call/families.hpp"

#include <fmt/format.h>

namespace Atoll::detail {

namespace {

// `axis`, then the others in order.
void axis_first(int rank, int axis, int *order) {
    int at = 0;
    order[at++] = axis;
    for (int i = 0; i < rank; ++i)
        if (i != axis) order[at++] = i;
}

// True iff the axes in this order, fastest first, are dense in memory.
bool dense_in_order(const TensorImpl &t, const int *order) {
    std::int64_t expected = size_of(t.dtype);
    for (int i = 0; i < t.shape.size(); ++i) {
        if (t.shape[order[i]] != 1 && t.strides[order[i]] != expected) return false;
        expected *= t.shape[order[i]];
    }
    return true;
}

void check_given(const FunctionRecord &function, const TensorImpl &given, const Dims &shape,
                 DType dtype, const DeviceRecord *device) {
    check_output(given, function.full_name);
    if (!(given.shape == shape))
        throw Error(Status::invalid_argument, function.full_name,
                    fmt::format("got a destination of shape {}, need {}", shape_text(given.shape),
                                shape_text(shape)));
    require_auto_cast(given, dtype, device, function.full_name);
}

// Moves an axis of the space to its end.
void axis_last(Iteration &it, int axis) {
    for (int i = axis; i + 1 < it.rank; ++i) {
        std::swap(it.shape[i], it.shape[i + 1]);
        for (int o = 0; o < it.count; ++o)
            std::swap(it.operands[o].strides[i], it.operands[o].strides[i + 1]);
    }
}

// SCAN and SORT: out has a's shape.
Tensor run_along(const FunctionRecord &function, const Tensor &a, int axis, const Tensor *out,
                 const void *params) {
    const ReadSection section;
    const TensorImpl &source = impl(a);
    const int rank = source.shape.size();
    const Dtypes dtypes = apply_rule(function, source.dtype);
    const TensorImpl *given = out ? &impl(*out) : nullptr;
    if (given) check_given(function, *given, source.shape, dtypes.result, source.device());
    const Ref<StreamImpl> &stream = source.storage->stream;
    Plan plan(function, source.device(), dtypes.compute, dtypes.result, stream);
    Tensor result = out ? *out : make_tensor(source.shape, dtypes.result, source.device(), stream);
    if (source.size() == 0) return result;
    const TensorImpl &destination = *result.impl();
    const TensorImpl *target = given ? &plan.prepare_output(*given) : &destination;
    // In place only as the very same elements of one dtype.
    if (target == given && target->dtype != source.dtype && overlapping(*given, source))
        target = &plan.replace_output(*given);
    const TensorImpl *input = &plan.prepare_input(source, target == given ? given : nullptr);

    Iteration it;
    const auto build = [&] {
        it.rank = rank;
        std::copy(source.shape.begin(), source.shape.end(), it.shape);
        it.count = 0;
        it.add(*target);
        it.add(*input);
        if (rank == 0)
            it.insert_axis(0, 1);
        else
            axis_last(it, axis);
        coalesce(it, 0, it.rank - 1);
    };
    build();
    const auto steps_forward = [&] {
        for (int o = 0; o < 2; ++o)
            for (int i = 0; i < it.rank; ++i)
                if (it.operands[o].strides[i] <= 0 && it.shape[i] > 1) return false;
        return true;
    };
    const bool takes =
        plan.takes(ATOLL_CAP_STRIDED) &&
        (plan.takes(ATOLL_CAP_NEGATIVE_STRIDES | ATOLL_CAP_ZERO_STRIDES) || steps_forward());
    if (!takes) {
        int order[ATOLL_MAX_RANK] = {};
        axis_first(rank, axis, order);
        if (!dense_in_order(*input, order))
            input = &plan.expand(*input, source.shape, rank > 0 ? order : nullptr);
        if (!dense_in_order(*target, order)) target = &plan.replace_output(destination, order);
        const std::int64_t n = rank > 0 ? source.shape[axis] : 1;
        it.rank = 2;
        it.shape[0] = source.size() / n;
        it.shape[1] = n;
        it.count = 0;
        for (const TensorImpl *operand : {target, input}) {
            it.add(*operand);
            std::int64_t *strides = it.operands[it.count - 1].strides;
            strides[1] = size_of(operand->dtype);
            strides[0] = strides[1] * n;
        }
    }
    plan.run(it, 1, params);
    return result;
}

} // namespace

Tensor run_scan(const FunctionRecord &function, const Tensor &a, std::optional<int> axis,
                const Tensor *out) {
    const int rank = impl(a).shape.size();
    if (!axis && rank > 1)
        throw Error(Status::invalid_argument, function.full_name,
                    fmt::format("got no axis for shape {}, need one (or flatten() first)",
                                shape_text(impl(a).shape)));
    const int own = axis ? checked_axis(*axis, rank, function.full_name) : 0;
    return run_along(function, a, own, out, nullptr);
}

Tensor run_sort(const FunctionRecord &function, const Tensor &a, int axis, bool descending,
                const Tensor *out) {
    const int own = checked_axis(axis, impl(a).shape.size(), function.full_name);
    const atoll_sort_params params{sizeof params, descending ? 1u : 0u};
    return run_along(function, a, own, out, &params);
}

Tensor run_search(const FunctionRecord &function, const Operand &a, const Tensor &b, bool right,
                  const Tensor *out) {
    const ReadSection section;
    const TensorImpl &sorted = impl(b);
    if (sorted.shape.size() != 1)
        throw Error(Status::invalid_argument, function.full_name,
                    fmt::format("got a table of shape {}, need rank 1", shape_text(sorted.shape)));
    const Operand table(b);
    const Operand *const inputs[] = {&a, &table};
    DeviceRecord *device = common_device(function, inputs);
    const Dtypes dtypes = apply_rule(function, common_dtype(function, inputs));
    const Dims shape = a.tensor() ? impl(*a.tensor()).shape : Dims{};
    const TensorImpl *given = out ? &impl(*out) : nullptr;
    if (given) check_given(function, *given, shape, dtypes.result, device);
    const TensorImpl &first = a.tensor() ? impl(*a.tensor()) : sorted;
    const Ref<StreamImpl> stream =
        first.device() == device ? first.storage->stream : Ref<StreamImpl>();
    Plan plan(function, device, dtypes.compute, dtypes.result, stream);
    Tensor result = given ? *out : make_tensor(shape, dtypes.result, device, stream);
    const TensorImpl &destination = *result.impl();
    if (destination.size() == 0) return result;
    const std::int64_t n = sorted.shape[0];
    if (n == 0) {
        fill_elements(destination, 0);
        return result;
    }
    const TensorImpl *target = given ? &plan.prepare_output(*given) : &destination;
    if (target == given &&
        ((a.tensor() && overlapping(*given, impl(*a.tensor()))) || overlapping(*given, sorted)))
        target = &plan.replace_output(*given);
    const TensorImpl *values = a.tensor() ? &plan.prepare_input(impl(*a.tensor()), nullptr)
                                          : &plan.scalar_tensor(a.scalar(), dtypes.compute);
    const TensorImpl *order = &plan.prepare_input(sorted, nullptr);
    Iteration it;
    const auto build = [&] {
        it.rank = shape.size();
        std::copy(shape.begin(), shape.end(), it.shape);
        it.count = 0;
        it.add(*target);
        it.add(*values);
        IterationOperand &last = it.operands[it.count++];
        last.data = order->data();
        last.tensor = order;
        last.dtype = order->dtype;
        last.swapped = order->swapped();
        std::fill_n(last.strides, it.rank, 0);
        it.insert_axis(it.rank, n);
        last.strides[it.rank - 1] = order->strides[0];
        coalesce(it, 0, it.rank - 1);
    };
    build();
    if (!plan.takes(ATOLL_CAP_STRIDED | ATOLL_CAP_NEGATIVE_STRIDES | ATOLL_CAP_ZERO_STRIDES)) {
        if (!dense(*target, Order::F)) target = &plan.replace_output(destination);
        if (!dense(*values, Order::F)) values = &plan.expand(*values, shape);
        if (!dense(*order, Order::F)) order = &plan.expand(*order, sorted.shape);
        build();
        if (it.rank == 1) it.insert_axis(0, 1);
    }
    const atoll_search_params params{sizeof params, right ? 1u : 0u};
    plan.run(it, 1, &params);
    return result;
}

Tensor call_scan(int function, const Tensor &a, std::optional<int> axis, Out out) {
    return run_scan(Registry::get().core_function(function), a, axis, out.get());
}
Tensor call_sort(int function, const Tensor &a, int axis, bool descending, Out out) {
    return run_sort(Registry::get().core_function(function), a, axis, descending, out.get());
}
Tensor call_search(int function, const Operand &a, const Tensor &b, bool right, Out out) {
    return run_search(Registry::get().core_function(function), a, b, right, out.get());
}

} // namespace Atoll::detail
