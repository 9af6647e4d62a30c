// Reductions over all, one or several axes: one path for every function of the family.
#include "families.hpp"

#include <cmath>

#include <fmt/format.h>

namespace Atoll::detail {

int checked_axis(int axis, int rank, std::string_view op) {
    if (axis < -rank || axis >= rank)
        throw Error(Status::out_of_range, op,
                    fmt::format("got axis {} of a tensor of rank {}, need {} to {}", axis, rank,
                                -rank, rank - 1));
    return axis < 0 ? axis + rank : axis;
}

namespace {

// What the reduction of nothing gives; throws where it gives nothing.
Scalar empty_value(const FunctionRecord &function) {
    if (function.module->id == ATOLL_MODULE_CORE) switch (function.id) {
        case ATOLL_FN_sum:
        case ATOLL_FN_norm2: return 0;
        case ATOLL_FN_prod: return 1;
        case ATOLL_FN_any: return false;
        case ATOLL_FN_all: return true;
        default: break;
        }
    throw Error(Status::invalid_argument, function.full_name,
                "got no elements to reduce, need at least one");
}

} // namespace

Tensor run_reduce(const FunctionRecord &function, const Tensor &a, const Axes &axes, bool keepdims,
                  const Tensor *out) {
    const ReadSection section;
    const TensorImpl &source = impl(a);
    const int rank = source.shape.size();
    bool reduced[ATOLL_MAX_RANK] = {};
    if (!axes.given) std::fill_n(reduced, rank, true);
    for (int axis : axes.list) {
        const int own = checked_axis(axis, rank, function.full_name);
        if (reduced[own])
            throw Error(Status::invalid_argument, function.full_name,
                        fmt::format("axis {} is named twice", axis));
        reduced[own] = true;
    }
    const Dtypes dtypes = apply_rule(function, source.dtype);
    Dims shape, full_kept; // of the result; of the result with the reduced axes as 1
    std::int64_t reduced_count = 1;
    for (int i = 0; i < rank; ++i) {
        full_kept.push_back(reduced[i] ? 1 : source.shape[i]);
        if (reduced[i]) reduced_count *= source.shape[i];
        if (!reduced[i] || keepdims) shape.push_back(full_kept[i]);
    }
    const TensorImpl *given = out ? &impl(*out) : nullptr;
    if (given) {
        check_output(*given, function.full_name);
        if (!(given->shape == shape))
            throw Error(Status::invalid_argument, function.full_name,
                        fmt::format("got a destination of shape {}, need {}",
                                    shape_text(given->shape), shape_text(shape)));
        require_auto_cast(*given, dtypes.result, source.device(), function.full_name);
    }
    const Ref<StreamImpl> &stream = source.storage->stream;
    Plan plan(function, source.device(), dtypes.compute, dtypes.result, stream);
    Tensor result = out ? *out : make_tensor(shape, dtypes.result, source.device(), stream);
    const TensorImpl &destination = *result.impl();
    if (destination.size() == 0) {
        if (reduced_count == 0) empty_value(function);
        return result;
    }
    if (reduced_count == 0) {
        fill_elements(destination, empty_value(function));
        return result;
    }
    const TensorImpl *target = &destination;
    if (given) {
        target = &plan.prepare_output(*given);
        if (target == given && overlapping(*given, source)) target = &plan.replace_output(*given);
    }
    const TensorImpl *input = &plan.prepare_input(source, nullptr);

    Iteration it;
    std::uint32_t kept = 0;
    const auto build = [&] {
        // The output seen with the reduced axes in place, as extents of 1.
        Dims strides;
        for (int i = 0, own = 0; i < rank; ++i) {
            const bool present = !reduced[i] || keepdims;
            strides.push_back(present ? target->strides[own] : 0);
            own += present;
        }
        const Tensor seen = make_view(target->storage, target->offset, full_kept, strides,
                                      target->dtype, target->flags);
        it.rank = rank;
        std::copy(source.shape.begin(), source.shape.end(), it.shape);
        it.count = 0;
        it.add(*seen.impl());
        it.operands[0].tensor = target;
        it.add(*input);
        // Kept axes first.
        int first = 0;
        bool moved[ATOLL_MAX_RANK];
        std::copy_n(reduced, rank, moved);
        for (int i = 0; i < rank; ++i) {
            if (moved[i]) continue;
            for (int j = i; j > first; --j) {
                std::swap(it.shape[j], it.shape[j - 1]);
                std::swap(moved[j], moved[j - 1]);
                for (int o = 0; o < it.count; ++o)
                    std::swap(it.operands[o].strides[j], it.operands[o].strides[j - 1]);
            }
            ++first;
        }
        coalesce(it, first, rank);
        kept = static_cast<std::uint32_t>(coalesce(it, 0, first));
        if (static_cast<std::uint32_t>(it.rank) == kept) it.insert_axis(it.rank, 1);
    };
    build();
    const bool takes = plan.takes(ATOLL_CAP_STRIDED) &&
                       (plan.takes(ATOLL_CAP_NEGATIVE_STRIDES | ATOLL_CAP_ZERO_STRIDES) ||
                        std::all_of(it.operands[1].strides, it.operands[1].strides + it.rank,
                                    [&](std::int64_t s) { return s > 0; }));
    if (!takes) {
        // (kept, reduced) with the reduced axis fastest.
        int order[ATOLL_MAX_RANK], at = 0;
        for (int i = 0; i < rank; ++i)
            if (reduced[i]) order[at++] = i;
        for (int i = 0; i < rank; ++i)
            if (!reduced[i]) order[at++] = i;
        input = &plan.expand(*input, source.shape, order);
        if (!dense(*target, Order::F)) target = &plan.replace_output(destination);
        const std::int64_t itemsize = size_of(input->dtype);
        it.rank = 2;
        it.count = 0;
        it.shape[0] = source.size() / reduced_count;
        it.shape[1] = reduced_count;
        it.add(*target);
        it.operands[0].strides[0] = size_of(target->dtype);
        it.operands[0].strides[1] = 0;
        it.add(*input);
        it.operands[1].strides[0] = itemsize * reduced_count;
        it.operands[1].strides[1] = itemsize;
        kept = 1;
    }
    const atoll_reduce_params params{sizeof params, kept};
    plan.run(it, 1, &params);
    return result;
}

Tensor call_reduce(int function, const Tensor &a, const Axes &axes, bool keepdims, Out out) {
    return run_reduce(Registry::get().core_function(function), a, axes, keepdims, out.get());
}

} // namespace Atoll::detail

namespace Atoll {

double norm(const Tensor &a) { return norm2(a).item().to_double(); }

} // namespace Atoll
