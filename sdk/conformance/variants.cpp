#include "variants.hpp"

#include <algorithm>

namespace Atoll::conformance {

namespace {

constexpr std::uint64_t strided = ATOLL_CAP_STRIDED;
using Swapped = Prepared::Swapped;
const Variant variants[] = {
    {.name = "contiguous", .caps = ATOLL_CAP_LOOPS},
    {.name = "long", .size = Size::long_},
    {.name = "rank 0", .size = Size::one},
    {.name = "special values", .kind = How::special},
    {.name = "long special values", .size = Size::long_, .kind = How::special},
    {.name = "single special values", .size = Size::any, .kind = How::special},
    {.name = "no loop", .size = Size::bare},
    {.name = "no loop in one input", .size = Size::shared},
    {.name = "first core axis of extent 1", .size = Size::first_single},
    {.name = "second core axis of extent 1", .size = Size::second_single},
    {.name = "third core axis of extent 1", .size = Size::third_single},
    {.name = "axes apart", .size = Size::apart, .caps = strided | ATOLL_CAP_GROUPS},
    {"axes apart, strided", {Layout::strided, Layout::strided}, Size::apart},
    {"any axes", {Layout::scattered, Layout::scattered}, Size::any},
    {"any axes, broadcast", {Layout::scattered_broadcast, Layout::scattered}, Size::any},
    {.name = "many axes",
     .form = {Layout::scattered, Layout::scattered},
     .size = Size::many,
     .default_setting = true},
    {.name = "in place", .kind = How::in_place},
    {.name = "in place of the last input", .kind = How::in_place_last},
    {.name = "both inputs are one", .size = Size::square, .kind = How::one_tensor},
    {.name = "strided", .form = {Layout::strided, Layout::strided}, .caps = strided},
    {.name = "transposed", .form = {Layout::transposed}, .caps = strided},
    {.name = "reversed", .form = {Layout::reversed}, .caps = strided | ATOLL_CAP_NEGATIVE_STRIDES},
    {.name = "broadcast", .form = {Layout::broadcast}, .caps = strided | ATOLL_CAP_ZERO_STRIDES},
    {.name = "unaligned",
     .form = {Layout::unaligned, Layout::unaligned},
     .caps = ATOLL_CAP_UNALIGNED},
    {.name = "swapped", .form = {.swapped = Swapped::all}, .caps = ATOLL_CAP_SWAPPED},
    {.name = "first input swapped",
     .form = {.swapped = Swapped::first_input},
     .caps = ATOLL_CAP_SWAPPED,
     .default_setting = true},
    {.name = "outputs swapped",
     .form = {.swapped = Swapped::outputs},
     .caps = ATOLL_CAP_SWAPPED,
     .default_setting = true},
    {.name = "mixed inputs", .kind = How::mixed_inputs, .caps = ATOLL_CAP_MIXED_INPUTS},
    {.name = "mixed output", .kind = How::mixed_output, .caps = ATOLL_CAP_MIXED_OUTPUTS},
    {.name = "scalar", .kind = How::scalar, .caps = ATOLL_CAP_SCALARS},
};

// Whether the host lets results of this dtype be stored in that one: nothing but digits and range
// is lost.
bool holds(DType other, DType result) {
    if (is_complex(result)) return is_complex(other);
    if (is_real_float(result)) return is_floating(other);
    if (info(result).kind == Kind::signed_)
        return is_floating(other) || info(other).kind == Kind::signed_;
    return other != bool_;
}

// Whether operand `o` needs the capability; 0: STRIDED alone.
bool arrived(const Captured &call, const FunctionFacts &f, std::size_t o, std::uint64_t cap) {
    const Captured::Operand &operand = call.operands[o];
    const auto &strides = operand.strides;
    const bool input = static_cast<int>(o) >= call.outputs;
    switch (cap) {
    case 0:
        return strides.size() > 1 || (strides.size() == 1 && strides[0] != size_of(operand.dtype));
    case ATOLL_CAP_NEGATIVE_STRIDES:
        return std::any_of(strides.begin(), strides.end(),
                           [](std::int64_t stride) { return stride < 0; });
    case ATOLL_CAP_ZERO_STRIDES: return input && std::count(strides.begin(), strides.end(), 0) > 0;
    case ATOLL_CAP_UNALIGNED:
        return reinterpret_cast<std::uintptr_t>(operand.data) % info(operand.dtype).alignment;
    case ATOLL_CAP_SWAPPED: return operand.flags & ATOLL_OPERAND_SWAPPED;
    case ATOLL_CAP_SCALARS: return operand.flags & ATOLL_OPERAND_SCALAR;
    case ATOLL_CAP_MIXED_INPUTS:
        return input && f.signature.operand(static_cast<int>(o)).type == sdk::TypeOf::T &&
               operand.dtype != call.compute;
    default: return false;
    }
}

// Whether the captured call has what the variant is about.
bool arrived(const Captured &call, const FunctionFacts &f, const Variant &variant) {
    if (variant.caps & ATOLL_CAP_LOOPS) return call.core > 0 && call.shape.size() > call.core;
    if (variant.caps & ATOLL_CAP_GROUPS)
        return std::any_of(call.axes, call.axes + f.signature.slot_count,
                           [](int count) { return count > 1; });
    for (std::size_t o = 0; o < call.operands.size(); ++o)
        if (arrived(call, f, o, variant.caps & ~strided)) return true;
    return false;
}

} // namespace

std::span<const Variant> all_variants() { return variants; }

std::string names_of(std::uint64_t caps) {
    std::string names;
    for (const auto &[cap, name] : {std::pair{strided, "STRIDED"},
                                    {ATOLL_CAP_NEGATIVE_STRIDES, "NEGATIVE_STRIDES"},
                                    {ATOLL_CAP_ZERO_STRIDES, "ZERO_STRIDES"},
                                    {ATOLL_CAP_UNALIGNED, "UNALIGNED"},
                                    {ATOLL_CAP_SWAPPED, "SWAPPED"},
                                    {ATOLL_CAP_MIXED_INPUTS, "MIXED_INPUTS"},
                                    {ATOLL_CAP_MIXED_OUTPUTS, "MIXED_OUTPUTS"},
                                    {ATOLL_CAP_SCALARS, "SCALARS"},
                                    {ATOLL_CAP_LOOPS, "LOOPS"},
                                    {ATOLL_CAP_GROUPS, "GROUPS"}})
        if (caps & cap) names += fmt::format("{}ATOLL_CAP_{}", names.empty() ? "" : " and ", name);
    return names;
}

DType other_output(DType result) {
    if (is_complex(result)) return result == complex128 ? complex64 : complex128;
    if (result == bool_) return uint8;
    return result == float64 ? float32 : float64;
}

std::vector<Mix> mixes_of(const Declared &declared, DType dtype, const Setting &setting,
                          const Variant &variant) {
    if (variant.kind != How::mixed_inputs && variant.kind != How::mixed_output) return {{}};
    const bool all = declared.takes(variant.caps);
    const Call call = make_call(declared.function, dtype, {.setting = setting}, false);
    if (variant.kind == How::mixed_inputs) return mixed_inputs(call, all);
    if (!call.takes_out || declared.function.signature.operand(0).type == sdk::TypeOf::any)
        return {};
    const DType result = call.outputs[0].dtype;
    if (!all) return {{0, other_output(result)}};
    std::vector<Mix> mixes;
    for (int d = 1; d < ATOLL_DTYPE_COUNT; ++d)
        if (const auto other = static_cast<DType>(d);
            other != result && (declared.function.name == "core.copy" || holds(other, result)))
            mixes.push_back({0, other});
    return mixes;
}

bool applies(const Variant &variant, const Setting &setting, const FunctionFacts &f, DType dtype) {
    if (!has_size(f, variant.size) || (variant.default_setting && !setting.name.empty()))
        return false;
    Call call = make_call(f, dtype, {.size = variant.size, .setting = setting}, false);
    const Layout layout = variant.form.inputs;
    if (layout != variant.form.outputs && call.inputs.empty()) return false;
    const auto any_wider = [](const std::vector<Call::Argument> &list, auto &&size) {
        return std::any_of(list.begin(), list.end(),
                           [&](const Call::Argument &a) { return !a.absent && size(a.dtype) > 1; });
    };
    const auto outputs_wider = [&](auto &&size) {
        return call.takes_out && any_wider(call.outputs, size);
    };
    const auto wider_than_byte = [&](auto &&size) {
        return outputs_wider(size) || any_wider(call.inputs, size);
    };
    const auto bytes = [](DType d) { return size_of(d); };
    switch (variant.kind) {
    // In other functions, the result of infinities is unspecified.
    case How::special:
        if (variant.size == Size::any && f.signature.elementwise()) return false;
        return (is_real_float(dtype) || is_integer(dtype)) &&
               (f.is_core() || f.signature.slot_count <= 1);
    case How::in_place: return !in_place_inputs(call).empty();
    case How::in_place_last: return in_place_inputs(call).size() > 1;
    case How::one_tensor: return equal_inputs(call).first >= 0;
    case How::scalar: return scalar_input(call) >= 0;
    default: break;
    }
    switch (variant.form.swapped) {
    case Swapped::all: return wider_than_byte(bytes);
    case Swapped::outputs: return outputs_wider(bytes);
    case Swapped::first_input: return !call.inputs.empty() && any_wider({call.inputs[0]}, bytes);
    case Swapped::none: break;
    }
    if (layout == Layout::unaligned)
        return wider_than_byte([](DType d) { return std::int64_t{info(d).alignment}; });
    if (layout == Layout::broadcast || layout == Layout::scattered_broadcast ||
        layout == Layout::transposed)
        return std::any_of(call.inputs.begin(), call.inputs.end(),
                           [](const Call::Argument &input) { return input.shape.size() > 1; });
    return true;
}

// The iteration spaces of functions with core axes have zero strides and
// additional axes, so only the number of axes is checked for them.
void require_honoured(const std::vector<Captured> &calls, const Declared &declared,
                      const Variant &variant) {
    const sdk::Signature &s = declared.function.signature;
    const bool axes = variant.caps & (ATOLL_CAP_LOOPS | ATOLL_CAP_GROUPS);
    const bool group = s.axes == sdk::AxesOf::all && s.slots[0].kind == sdk::AxisKind::group;
    const bool looked_at = axes ? has_size(declared.function, Size::bare) &&
                                      (group || !(variant.caps & ATOLL_CAP_GROUPS))
                                : s.elementwise();
    if (variant.caps == 0 || !looked_at || declared.function.name == "core.copy" ||
        variant.kind == How::mixed_output || declared.takes(ATOLL_CAP_FORWARDS))
        return;
    const bool seen = std::any_of(calls.begin(), calls.end(), [&](const Captured &call) {
        return arrived(call, declared.function, variant);
    });
    if (seen && !declared.takes(variant.caps))
        fail("the host passed operands that need {}, which is not declared; this is a defect "
             "of the host: report it",
             names_of(variant.caps));
    if (!seen && declared.takes(variant.caps))
        fail("declares {}, but the host converted the operands, so nothing is "
             "tested; this is a defect of the host, or another implementation in the chain "
             "declares less",
             names_of(variant.caps));
}

} // namespace Atoll::conformance
