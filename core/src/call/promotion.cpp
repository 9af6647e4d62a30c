// Promotion of inputs, weak scalars, the rules of functions.
#include "call/promotion.hpp"

#include "atoll/device.hpp"

#include <fmt/format.h>

namespace Atoll::detail {

namespace {

std::string dtype_list(atoll_dtype_set bits) {
    std::string text;
    for (int i = 1; i < ATOLL_DTYPE_COUNT; ++i)
        if (bits >> i & 1)
            text += fmt::format("{}{}", text.empty() ? "" : ", ", name(static_cast<DType>(i)));
    return text;
}

DType with_weak_scalar(DType common, const Scalar &scalar, const FunctionRecord &function) {
    const Kind kind = info(scalar.dtype()).kind;
    if (common == DType::none) {
        if (kind == Kind::bool_) return bool_;
        if (kind == Kind::signed_ || kind == Kind::unsigned_) return int64;
        return kind == Kind::complex ? complex128 : float64;
    }
    switch (kind) {
    case Kind::bool_: return common;
    case Kind::signed_:
    case Kind::unsigned_:
        if (common == bool_) common = int64;
        if (function.rule == ATOLL_RULE_FLOAT || !scalar.overflows(common)) return common;
        // True values are compared or tested, so the number need not fit.
        if (function.signature.operands[0].dtype == ATOLL_DTYPE_BOOL)
            return promote(common, scalar.dtype());
        throw Error(Status::out_of_range, function.full_name,
                    fmt::format("the number {} does not fit {}; cast the tensor, or give the "
                                "number a dtype with Scalar(value, dtype)",
                                kind == Kind::signed_ ? fmt::to_string(scalar.raw().value.i64)
                                                      : fmt::to_string(scalar.raw().value.u64),
                                name(common)));
    case Kind::complex:
        if (is_complex(common)) return common;
        return is_real_float(common) ? promote(common, complex32) : complex128;
    default: return is_floating(common) ? common : float64;
    }
}

} // namespace

namespace {

DType in_domain(const FunctionRecord &function, DType T) {
    if (!(function.domain >> static_cast<int>(T) & 1)) [[unlikely]]
        throw Error(Status::invalid_argument, function.full_name,
                    fmt::format("got {}, need one of {}", name(T), dtype_list(function.domain)));
    return T;
}

} // namespace

DType T_from_common(const FunctionRecord &function, DType common) {
    return in_domain(function, static_cast<DType>(
                                   sdk::make_T(function.rule, static_cast<std::uint32_t>(common))));
}

DType decide_T(const FunctionRecord &function, Inputs inputs, const Context &context) {
    if (!function.typed()) return DType::none;
    if (context.dtype != DType::none) return in_domain(function, context.dtype);
    return T_from_common(function, common_dtype(function, inputs, context));
}

DType common_dtype(const FunctionRecord &function, Inputs inputs, const Context &context) {
    DType common = DType::none;
    bool mixed = false;
    // Inputs behind those of the signature are factors, which promote too.
    const auto makes_T = [&](std::size_t i) {
        return inputs[i] && (static_cast<int>(i) >= function.signature.input_count() ||
                             function.signature.input(static_cast<int>(i)).type == sdk::TypeOf::T);
    };
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        if (!makes_T(i)) continue;
        const Operand *operand = inputs[i];
        DType dtype;
        if (operand->tensor())
            dtype = impl(*operand->tensor()).dtype;
        else if (!operand->scalar().is_weak())
            dtype = operand->scalar().dtype();
        else
            continue;
        if (common == DType::none)
            common = dtype;
        else if (dtype != common) {
            mixed = true;
            common = promote(common, dtype);
        }
    }
    if (mixed && !context.settings().auto_cast) {
        std::string list;
        for (const Operand *operand : inputs)
            if (operand && operand->tensor())
                list += fmt::format("{}{}", list.empty() ? "" : " and ",
                                    name(impl(*operand->tensor()).dtype));
        throw Error(Status::invalid_argument, function.full_name,
                    fmt::format("got dtypes {} with automatic casting off; cast one of them, or "
                                "set Settings::auto_cast",
                                list));
    }
    const DType strong = common;
    for (std::size_t i = 0; i < inputs.size(); ++i)
        if (makes_T(i) && !inputs[i]->tensor() && inputs[i]->scalar().is_weak())
            common = with_weak_scalar(common, inputs[i]->scalar(), function);
    if (common != strong && strong != DType::none && !context.settings().auto_cast)
        throw Error(Status::invalid_argument, function.full_name,
                    fmt::format("got a number that makes {} of {} with automatic casting off; "
                                "cast the tensor, or set Settings::auto_cast",
                                name(common), name(strong)));
    return common;
}

DeviceRecord *decide_device(const FunctionRecord &function, Inputs inputs, const Context &context) {
    if (context.device) return context.device;
    DeviceRecord *device = nullptr;
    for (const Operand *operand : inputs) {
        if (!operand || !operand->tensor()) continue;
        DeviceRecord *own = impl(*operand->tensor()).device();
        if (!device)
            device = own;
        else if (own != device && !context.settings().auto_cast)
            throw Error(Status::invalid_argument, function.full_name,
                        fmt::format("got operands on {} and {} with automatic casting off; move "
                                    "one with Tensor::to, or set Settings::auto_cast",
                                    device->name, own->name));
    }
    return device ? device : default_device().record();
}

void require_auto_cast(const TensorImpl &to, DType dtype, const DeviceRecord *device,
                       std::string_view op, const Context &context) {
    if ((to.dtype == dtype && to.device() == device) || context.settings().auto_cast) return;
    throw Error(Status::invalid_argument, op,
                fmt::format("got {} on {} for a destination of {} on {} with automatic casting "
                            "off; cast first, or set Settings::auto_cast",
                            name(dtype), device->name, name(to.dtype), to.device()->name));
}

void require_auto_broadcast(const Dims &a, const Dims &b, std::string_view op,
                            const Context &context) {
    if (a == b || context.settings().auto_broadcast) return;
    throw Error(Status::invalid_argument, op,
                fmt::format("got shapes {} and {} with automatic broadcasting off; use "
                            "Tensor::broadcast_to, or set Settings::auto_broadcast",
                            shape_text(a), shape_text(b)));
}

} // namespace Atoll::detail
