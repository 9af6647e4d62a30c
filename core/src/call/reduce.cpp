// Reductions over all, one or several axes: one path for every function of the family.
#include "call/families.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

namespace Atoll::detail {

namespace {

// What the reduction of nothing gives; throws where it gives nothing.
Scalar empty_value(const FunctionRecord &function) {
    if (function.signature.has_identity) return function.signature.identity;
    throw Error(Status::invalid_argument, function.full_name,
                "got no elements to reduce, need at least one");
}

// The numbers of a call, as the plugin gets them.
struct Numbers {
    atoll_scalar raw[2] = {};
    std::optional<bool> settled; // the tests' answer, whatever the elements
};

enum class Test { lt, le, gt, ge };

// The bound of a test of integers: the integer that gives the same answers, for any bound.
void set_integer_bound(Numbers &numbers, int i, const Scalar &bound, DType dtype, Test test) {
    const bool is_signed = info(dtype).kind == Kind::signed_;
    const int bits = 8 * info(dtype).size;
    const __int128 highest = (__int128{1} << (is_signed ? bits - 1 : bits)) - 1;
    const __int128 lowest = is_signed ? -highest - 1 : 0;
    __int128 value;
    if (is_floating(bound.dtype())) {
        const double x = bound.to_double();
        if (x != x) {
            numbers.settled = false;
            return;
        }
        const double whole = test == Test::lt || test == Test::ge ? std::ceil(x) : std::floor(x);
        value = static_cast<__int128>(std::clamp(whole, -0x1p70, 0x1p70));
    } else if (bound.dtype() == uint64) {
        value = bound.raw().value.u64;
    } else {
        value = bound.to_int();
    }
    // What a bound inside the dtype's range cannot say.
    if (test == Test::lt && value > highest) numbers.settled = numbers.settled.value_or(true);
    if (test == Test::gt && value < lowest) numbers.settled = numbers.settled.value_or(true);
    if (test == Test::le && value < lowest) numbers.settled = false;
    if (test == Test::ge && value > highest) numbers.settled = false;
    value = std::clamp(value, lowest, highest);
    const Scalar whole = is_signed ? Scalar(static_cast<std::int64_t>(value))
                                   : Scalar(static_cast<std::uint64_t>(value));
    numbers.raw[i] = whole.cast(dtype).raw();
}

bool has_bounds(const FunctionRecord &function) {
    return function.signature.operands[0].dtype == ATOLL_BOOL &&
           function.family != ATOLL_FAMILY_REDUCE;
}

// The dtype in which elements meet the bounds of a range test.
DType bounded_dtype(DType own, std::span<const Scalar> bounds) {
    if (own == bool_) own = uint8;
    for (const Scalar &bound : bounds)
        if (!bound.is_weak()) own = promote(own, bound.dtype());
    return own;
}

Numbers convert_numbers(const FunctionRecord &function, std::span<const Scalar> given,
                        DType compute) {
    Numbers numbers;
    for (std::size_t i = 0; i < given.size(); ++i) {
        const Scalar &number = given[i];
        if (is_complex(number.dtype()))
            throw Error(Status::invalid_argument, function.full_name,
                        "got a complex number, need a real one");
        if (!has_bounds(function)) {
            numbers.raw[i] = number.cast(float64).raw();
            const bool p = function.module->id == ATOLL_MODULE_CORE &&
                           (function.id == ATOLL_FN_norm || function.id == ATOLL_FN_nan_norm);
            if (p && !(number.to_double() >= 0))
                throw Error(
                    Status::invalid_argument, function.full_name,
                    fmt::format("got {}, need a norm of order 0 or more", number.to_double()));
        } else if (is_floating(compute)) {
            const Scalar bound = number.cast(compute);
            numbers.raw[i] = size_of(compute) == 2 ? bound.cast(float32).raw() : bound.raw();
        } else {
            static constexpr Test tests[] = {Test::lt, Test::le, Test::gt, Test::ge};
            const Test test = given.size() == 2 ? (i == 0 ? Test::ge : Test::le)
                              : function.id >= ATOLL_FN_all_lt && function.id <= ATOLL_FN_all_ge
                                  ? tests[function.id - ATOLL_FN_all_lt]
                                  : Test::le;
            set_integer_bound(numbers, static_cast<int>(i), number, compute, test);
        }
    }
    return numbers;
}

} // namespace

Tensor run_reduce(const FunctionRecord &function, const Tensor &a, const Axes &axes, bool keepdims,
                  const Tensor *out, std::span<const Scalar> given_numbers) {
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
    const Dtypes dtypes = apply_rule(
        function, has_bounds(function) ? bounded_dtype(source.dtype, given_numbers) : source.dtype);
    const Numbers numbers = convert_numbers(function, given_numbers, dtypes.compute);
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
    if (numbers.settled) {
        fill_elements(destination, *numbers.settled);
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
        if (function.family == ATOLL_FAMILY_ARG_REDUCE)
            coalesce_in_order(it, first, rank);
        else
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
    const atoll_reduce_params params{sizeof params, kept, {numbers.raw[0], numbers.raw[1]}};
    plan.run(it, 1, &params);
    return result;
}

Tensor call_reduce(int function, const Tensor &a, const Axes &axes, bool keepdims, Out out,
                   std::span<const Scalar> numbers) {
    return run_reduce(Registry::get().core_function(function), a, axes, keepdims, out.get(),
                      numbers);
}

} // namespace Atoll::detail

namespace Atoll {

double norm(const Tensor &a) { return norm2(a).item().to_double(); }

} // namespace Atoll
