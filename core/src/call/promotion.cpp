// Promotion of inputs and weak scalars, and the type rules of functions.
#include "call/promotion.hpp"

#include "atoll/device.hpp"
#include "atoll/format.hpp"
#include "base/throw_error.hpp"
#include "runtime/log.hpp"

namespace Atoll::detail {

namespace {

std::string dtype_list(atoll_dtype_set bits) {
    std::string text;
    for (int i = 1; i < ATOLL_DTYPE_COUNT; ++i)
        if (bits >> i & 1)
            text += fmt::format("{}{}", text.empty() ? "" : ", ", name(static_cast<DType>(i)));
    return text;
}

// Inputs behind those of the signature are factors, which promote too.
bool makes_T(const FunctionRecord &function, Inputs inputs, std::size_t i) {
    const sdk::Signature &signature = function.signature;
    return inputs[i] && (static_cast<int>(i) >= signature.input_count() ||
                         signature.input(static_cast<int>(i)).type == sdk::TypeOf::T);
}

std::string_view input_name(const FunctionRecord &function, std::size_t i) {
    const int at = static_cast<int>(i);
    return at < function.signature.input_count() ? function.signature.input(at).name
                                                 : "alpha or beta";
}

// " (a: int32, b: 1.5)": the inputs that make T; " (a, b)" where all are of dtype `same`.
std::string makers_of_T(const FunctionRecord &function, Inputs inputs, DType same = DType::none) {
    std::string list, names;
    bool alike = true;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        if (!makes_T(function, inputs, i)) continue;
        const Operand &x = *inputs[i];
        alike = alike && !is_weak(x) && dtype_of(x) == same;
        names += fmt::format("{}{}", names.empty() ? "" : ", ", input_name(function, i));
        list += fmt::format("{}{}: {}", list.empty() ? "" : ", ", input_name(function, i),
                            is_weak(x) ? to_string(x.scalar()) : std::string(name(dtype_of(x))));
    }
    return names.empty() ? "" : fmt::format(" ({})", alike ? names : list);
}

DType with_weak_scalar(DType common, const Scalar &scalar, std::string_view scalar_name,
                       const FunctionRecord &function) {
    const Kind kind = info(scalar.dtype()).kind;
    switch (kind) {
    case Kind::bool_: return common == DType::none ? bool_ : common;
    case Kind::signed_:
    case Kind::unsigned_:
        if (common == bool_ || common == DType::none) common = int64;
        if (function.rule == ATOLL_RULE_FLOAT || is_floating(common) || !scalar.overflows(common))
            return common;
        // True values are compared or tested, so the number need not fit.
        if (function.signature.operands[0].dtype == ATOLL_DTYPE_BOOL)
            return promote(common, scalar.dtype());
        throw_error(Status::out_of_range, function.full_name,
                    "{} = {} does not fit {}; cast the tensor, or give the number a "
                    "dtype with Scalar(value, dtype)",
                    scalar_name, to_string(scalar), name(common));
    case Kind::complex:
        if (is_complex(common)) return common;
        return is_real_float(common) ? promote(common, complex32) : complex128;
    default: return is_floating(common) ? common : float64;
    }
}

// What the inputs promote to, before the rule.
DType common_dtype(const FunctionRecord &function, Inputs inputs, const Context &context) {
    DType common = DType::none;
    bool mixed = false, weak = false;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        if (!makes_T(function, inputs, i)) continue;
        if (is_weak(*inputs[i])) {
            weak = true;
            continue;
        }
        const DType dtype = dtype_of(*inputs[i]);
        if (common == DType::none)
            common = dtype;
        else if (dtype != common) {
            mixed = true;
            common = promote(common, dtype);
        }
    }
    if (mixed && !context.settings().auto_cast)
        throw_error(Status::invalid_argument, function.full_name,
                    "got dtypes that differ{} with automatic casting off; cast one of "
                    "them, or set Settings::auto_cast",
                    makers_of_T(function, inputs));
    if (!weak) return common;
    const DType strong = common;
    // Integers last: whether one fits is known when all others have been seen.
    for (const bool integers : {false, true})
        for (std::size_t i = 0; i < inputs.size(); ++i)
            if (makes_T(function, inputs, i) && is_weak(*inputs[i]) &&
                is_integer(inputs[i]->scalar().dtype()) == integers)
                common = with_weak_scalar(common, inputs[i]->scalar(), input_name(function, i),
                                          function);
    if (common != strong && strong != DType::none && !context.settings().auto_cast)
        throw_error(Status::invalid_argument, function.full_name,
                    "got a number that makes {} of {}{} with automatic casting off; "
                    "cast the tensor, or set Settings::auto_cast",
                    name(common), name(strong), makers_of_T(function, inputs));
    return common;
}

// What values of one dtype lose in another, other than digits and range; empty: nothing.
std::string_view lost_kind(DType from, DType to) {
    if (is_complex(from)) return is_complex(to) ? "" : "imaginary parts";
    if (is_real_float(from)) return is_floating(to) ? "" : "fractions";
    if (from == bool_ || is_floating(to)) return "";
    if (to == bool_) return "values other than 0 and 1";
    return info(from).kind == Kind::signed_ && info(to).kind == Kind::unsigned_ ? "signs" : "";
}

} // namespace

DType decide_T(const FunctionRecord &function, Inputs inputs, const Context &context) {
    if (!function.typed()) return DType::none;
    const DType T = context.dtype != DType::none
                        ? context.dtype
                        : static_cast<DType>(sdk::make_T(
                              function.rule,
                              static_cast<std::uint32_t>(common_dtype(function, inputs, context))));
    if (function.domain >> static_cast<int>(T) & 1) [[likely]]
        return T;
    if (T == DType::none)
        throw Error(Status::invalid_argument, function.full_name,
                    "got nothing that makes the dtype; give one with CallOptions::dtype");
    throw_error(Status::invalid_argument, function.full_name, "got {}{}, need one of {}", name(T),
                context.dtype != DType::none ? "" : makers_of_T(function, inputs, T),
                dtype_list(function.domain));
}

DeviceRecord *decide_device(const FunctionRecord &function, Inputs inputs, const Context &context) {
    if (context.device) return context.device;
    DeviceRecord *device = nullptr;
    std::size_t first = 0;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        if (!inputs[i] || !inputs[i]->tensor()) continue;
        DeviceRecord *own = impl(*inputs[i]->tensor()).device();
        if (!device)
            device = own, first = i;
        else if (own != device && !context.settings().auto_cast)
            throw_error(Status::invalid_argument, function.full_name,
                        "got {} on {} and {} on {} with automatic casting off; move "
                        "one with Tensor::to, or set Settings::auto_cast",
                        input_name(function, first), device->name, input_name(function, i),
                        own->name);
    }
    return device ? device : default_device().record();
}

void require_auto_cast(const TensorImpl &to, std::string_view to_name, DType dtype,
                       const DeviceRecord *device, std::string_view op, const Context &context) {
    if ((to.dtype == dtype && to.device() == device) || context.settings().auto_cast) return;
    throw_error(Status::invalid_argument, op,
                "got {} on {} for {} ({} on {}) with automatic casting off; cast "
                "first, or set Settings::auto_cast",
                name(dtype), device->name, to_name, name(to.dtype), to.device()->name);
}

void require_output_dtype(const TensorImpl &out, std::string_view out_name, DType result,
                          const DeviceRecord *device, std::string_view op, const Context &context) {
    require_auto_cast(out, out_name, result, device, op, context);
    if (out.dtype == result || context.settings().lossy == Lossy::allow) return;
    const std::string_view lost = lost_kind(result, out.dtype);
    if (lost.empty()) return;
    if (context.settings().lossy == Lossy::warn)
        return warn(std::string(op), fmt::format("{} is {}, the result {}: {} are lost", out_name,
                                                 name(out.dtype), name(result), lost));
    throw_error(Status::invalid_argument, op,
                "{} is {}, the result {}, whose {} would be lost; assign the result to {} to "
                "convert it, or set Settings::lossy",
                out_name, name(out.dtype), name(result), lost, out_name);
}

} // namespace Atoll::detail
