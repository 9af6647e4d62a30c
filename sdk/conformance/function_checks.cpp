// Every function × dtype × layout: capabilities, results, guard zones, inputs.
//
// Note [Handed through]
// If a plugin declares a capability, the host passes such operands unchanged. The kit creates
// operands that need the capability and verifies, with an interposer, that they arrived. So a wrong
// result under "strided" is caused by the plugin and not by a copy of the host. Operands that need
// an undeclared capability must not arrive; if they do, the host is wrong.
#include "calls.hpp"
#include "compare.hpp"
#include "probe.hpp"
#include "suites.hpp"

#include <algorithm>
#include <memory>

namespace Atoll::conformance {

namespace {

enum class How { plain, in_place, mixed_inputs, mixed_output, scalar, special };

// One way to call a function.
struct Variant {
    const char *name;
    Prepared::Form form = {};
    Size size = Size::small;
    How kind = How::plain;
    std::uint64_t caps = 0; // with which operands arrive unchanged
};

constexpr std::uint64_t strided = ATOLL_CAP_STRIDED;
constexpr Layout dense = Layout::dense;
const Variant variants[] = {
    {.name = "contiguous", .caps = ATOLL_CAP_LOOPS},
    {.name = "long", .size = Size::long_},
    {.name = "rank 0", .size = Size::one},
    {.name = "special values", .kind = How::special},
    {.name = "single special values", .size = Size::any, .kind = How::special},
    {.name = "no loop", .size = Size::bare},
    {.name = "no loop in one input", .size = Size::shared},
    {.name = "axes apart", .size = Size::apart, .caps = strided | ATOLL_CAP_GROUPS},
    {"axes apart, strided", {Layout::strided, Layout::strided}, Size::apart},
    {"any axes", {Layout::scattered, Layout::scattered}, Size::any},
    {"any axes, broadcast", {Layout::scattered_broadcast, Layout::scattered}, Size::any},
    {.name = "in place", .kind = How::in_place},
    {.name = "strided", .form = {Layout::strided, Layout::strided}, .caps = strided},
    {.name = "transposed", .form = {Layout::transposed}, .caps = strided},
    {.name = "reversed", .form = {Layout::reversed}, .caps = strided | ATOLL_CAP_NEGATIVE_STRIDES},
    {.name = "broadcast", .form = {Layout::broadcast}, .caps = strided | ATOLL_CAP_ZERO_STRIDES},
    {.name = "unaligned",
     .form = {Layout::unaligned, Layout::unaligned},
     .caps = ATOLL_CAP_UNALIGNED},
    {.name = "swapped", .form = {.swapped = true}, .caps = ATOLL_CAP_SWAPPED},
    {.name = "mixed inputs", .kind = How::mixed_inputs, .caps = ATOLL_CAP_MIXED_INPUTS},
    {.name = "mixed output", .kind = How::mixed_output, .caps = ATOLL_CAP_MIXED_OUTPUTS},
    {.name = "scalar", .kind = How::scalar, .caps = ATOLL_CAP_SCALARS},
};

// "ATOLL_CAP_STRIDED and ATOLL_CAP_GROUPS"
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

// A dtype other than the result's that the results can be converted to.
DType other_output(DType result) {
    if (is_complex(result)) return result == complex128 ? complex64 : complex128;
    if (result == bool_) return uint8;
    return result == float64 ? float32 : float64;
}

// Whether the host lets results of this dtype be stored in that one: nothing but digits and range
// is lost.
bool holds(DType other, DType result) {
    if (is_complex(result)) return is_complex(other);
    if (is_real_float(result)) return is_floating(other);
    if (info(result).kind == Kind::signed_)
        return is_floating(other) || info(other).kind == Kind::signed_;
    return other != bool_;
}

// The mixed dtypes for a variant: of each input, or of the results. All that the implementation
// takes; the host converts others, all alike.
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
    if (!has_size(f, variant.size)) return false;
    Call call = make_call(f, dtype, {.size = variant.size, .setting = setting}, false);
    const Layout layout = variant.form.inputs;
    if (layout != variant.form.outputs && call.inputs.empty()) return false;
    const auto wider_than_byte = [&](auto &&size) {
        const auto wide = [&](const Call::Argument &a) { return !a.absent && size(a.dtype) > 1; };
        return (call.takes_out && std::any_of(call.outputs.begin(), call.outputs.end(), wide)) ||
               std::any_of(call.inputs.begin(), call.inputs.end(), wide);
    };
    switch (variant.kind) {
    // In other functions, the result of infinities is unspecified.
    case How::special:
        if (variant.size == Size::any && f.signature.elementwise()) return false;
        return (is_real_float(dtype) || is_integer(dtype)) &&
               (f.is_core() || f.signature.slot_count <= 1);
    case How::in_place: return in_place_input(call) >= 0;
    case How::scalar: return scalar_input(call) >= 0;
    default: break;
    }
    if (variant.form.swapped) return wider_than_byte([](DType d) { return size_of(d); });
    if (layout == Layout::unaligned)
        return wider_than_byte([](DType d) { return std::int64_t{info(d).alignment}; });
    if (layout == Layout::broadcast || layout == Layout::scattered_broadcast ||
        layout == Layout::transposed)
        return std::any_of(call.inputs.begin(), call.inputs.end(),
                           [](const Call::Argument &input) { return input.shape.size() > 1; });
    return true;
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

// See Note [Handed through]. The iteration spaces of functions with core axes have zero strides and
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

// The interposer over the function under test, kept until another function is tested. Not destroyed
// at exit, which a plugin may call within a call.
auto &kept_probe = *new std::unique_ptr<Probe>;
auto &probed = *new std::string;

Probe &probe_of(const std::string &subject) {
    if (probed != subject || !kept_probe) {
        kept_probe.reset();
        kept_probe = std::make_unique<Probe>(subject);
        probed = subject;
    }
    return *kept_probe;
}

[[noreturn]] void explain(const Error &error, const Declared &declared, DType dtype,
                          const Variant &variant) {
    if (error.status() == Status::not_supported && error.function() != declared.function.name &&
        (!variant.caps || !declared.takes(variant.caps)))
        skip("the host would have to convert operands, for which the device has no {}",
             error.function());
    if (error.status() == Status::not_supported)
        fail("declares {} for {}, but does not do it: {}; remove the dtype from the declaration, "
             "or implement it",
             declared.subject(), Atoll::name(dtype), error.what());
    fail("the call failed ({}): {}",
         declared.takes(variant.caps) && variant.caps
             ? fmt::format("which it declares to accept: {}", names_of(variant.caps))
             : "with operands that every implementation accepts",
         error.what());
}

// The operands that the plugin received, for messages.
std::string handed(const std::vector<Captured> &calls) {
    if (calls.empty()) return "";
    const Captured &call = calls.back();
    std::string text = fmt::format("; it received the shape ({})", fmt::join(call.shape, ", "));
    for (const Captured::Operand &o : call.operands)
        text += fmt::format(", {}{}{}{} with byte strides ({})", Atoll::name(o.dtype),
                            o.flags & ATOLL_OPERAND_SWAPPED ? " swapped" : "",
                            o.flags & ATOLL_OPERAND_SCALAR ? " scalar" : "",
                            o.flags & ATOLL_OPERAND_ABSENT ? " absent" : "",
                            fmt::join(o.strides, ", "));
    return text;
}

void run_variant(const Target &target, const Declared &declared, DType dtype,
                 const Variant &variant, const Setting &setting, const Mix &mix) {
    const Device device = declared.device();
    const FunctionFacts &f = declared.function;
    const bool is_copy = f.name == "core.copy";
    Probe &probe = probe_of(declared.subject());
    Call made = make_call(
        f, dtype,
        {.size = variant.size,
         .setting = setting,
         .special = variant.kind == How::special || (is_copy && variant.kind == How::mixed_output),
         .layout = variant.form.inputs,
         .damped = !is_copy && variant.kind == How::mixed_output});
    if (variant.kind == How::mixed_inputs) mix_input(made, mix);
    if (variant.kind == How::mixed_output)
        for (Call::Argument &output : made.outputs)
            output.dtype = output.dtype == made.outputs[0].dtype && mix.dtype != DType::none
                               ? mix.dtype
                               : other_output(output.dtype);
    const bool scalar = variant.kind == How::scalar;
    const int number = scalar ? scalar_input(made) : -1;
    if (scalar) {
        Call::Argument &input = made.inputs[static_cast<std::size_t>(number)];
        Scalar value = input.values[0];
        if (!is_floating(input.dtype) && input.dtype != bool_) value = Scalar(3).cast(input.dtype);
        input.values.assign(input.values.size(), value);
    }
    const auto without_refusals = [&](const auto &body) {
        try {
            return body();
        } catch (const Error &error) {
            // Not every value of an attribute is valid.
            if (setting.attributes.empty() || error.status() != Status::invalid_argument) throw;
            skip("refused before reaching the plugin: {}", error.what());
        }
    };
    Prepared prepared = without_refusals([&] {
        return Prepared(std::move(made), {dtype, device}, variant.form);
    });
    const Call &call = prepared.call;
    const int in_place = variant.kind == How::in_place ? in_place_input(call) : -1;
    if (in_place >= 0) prepared.outputs[0] = prepared.inputs[static_cast<std::size_t>(in_place)];
    const Expected expected = without_refusals([&] {
        if (!f.repeats()) return Expected();
        Expected other = expect(target, call, declared.device_type);
        // Without a reference, results must at least not depend on the form of the operands.
        const bool other_form = !(variant.form == Prepared::Form()) || scalar ||
                                variant.kind == How::in_place || variant.kind == How::mixed_output;
        return other.source.empty() && other_form ? expect_of_itself(call, device) : other;
    });

    probe.take();
    std::vector<Tensor> results;
    try {
        results = prepared.run(scalar);
        for (const Tensor &result : results)
            if (result.is_defined()) result.stream().synchronize();
    } catch (const Error &error) {
        explain(error, declared, dtype, variant);
    }
    const std::vector<Captured> calls = probe.take();
    probe.require_read_only();
    // A view may suffice if nothing has to move; other calls must reach the plugin.
    if (calls.empty() && !has(f, moves_elements)) skip("the host did not call this function");

    try {
        for (std::size_t o = 0; o < results.size(); ++o) {
            if (!results[o].is_defined()) continue;
            const std::string which = fmt::format("output {}", o);
            const std::vector<char> bytes =
                call.takes_out ? prepared.outputs[o].read() : storage_bytes(results[o]);
            if (call.takes_out) require_guards(prepared.outputs[o], bytes, which.c_str());
            const bool blank = call.takes_out && call.outputs[o].values.empty() &&
                               (o > 0 || in_place < 0) && results[o].size() > 0;
            if (blank && bytes == prepared.outputs[o].image)
                fail("returned OK, but {} is unchanged: nothing was written",
                     results.size() > 1 ? which : "the destination");
            if (expected.source.empty()) continue;
            const bool strict = !is_copy; // which keeps the bytes of bool
            require_equal(expected.values[o], decode(results[o], bytes, strict),
                          tolerance_of(call, o), expected.source);
        }
        for (std::size_t o = 0; o < prepared.inputs.size(); ++o)
            if (prepared.inputs[o].tensor.is_defined() && static_cast<int>(o) != in_place &&
                static_cast<int>(o) != number)
                require_unchanged(prepared.inputs[o], fmt::format("input {}", o).c_str());
    } catch (const Failed &failed) {
        fail("{}{}", failed.what(), handed(calls));
    }
    if (!f.repeats()) skip("its result does not depend on any input");
    expected.require();
    require_honoured(calls, declared, variant);
}

// Otherwise all other checks would test another plugin's function.
void is_reached(const Target &target, const Declared &declared, DType dtype) {
    const std::vector<std::string> links =
        chain(declared.function.name, declared.device_type,
              dtype == DType::none ? std::string_view() : Atoll::name(dtype));
    for (const std::string &link : links) {
        if (link.starts_with("interposer")) continue;
        if (link == fmt::format("implementation of plugin {}", target.name)) return;
        fail("is declared, but calls go to another one: {}; raise the priority of the "
             "implementation above that one's",
             fmt::join(links, ", "));
    }
}

// For a million elements: of much precision, so that a few elements matter.
DType precise_dtype(const Declared &declared) {
    for (const DType dtype : {int64, float64, int32})
        if (declared.has(dtype)) return dtype;
    return usual_dtype(declared);
}

void add_variant(Checks &checks, const Target &target, const Declared &declared, DType dtype,
                 const Setting &setting, const Variant &variant, const Mix &mix) {
    if (!applies(variant, setting, declared.function, dtype)) return;
    const FunctionFacts &f = declared.function;
    std::string name = &variant == variants && !setting.name.empty() ? setting.name : variant.name;
    if (variant.kind == How::mixed_inputs)
        name += fmt::format(", {} {}", f.signature.input(static_cast<int>(mix.input)).name,
                            word(mix.dtype));
    if (variant.kind == How::mixed_output) name += " " + word(mix.dtype);
    if (name != setting.name && !setting.name.empty()) name += ", " + setting.name;
    checks.push_back({"functions", declared.subject(), word(dtype), std::move(name),
                      [&target, &declared, dtype, &variant, setting, mix] {
                          run_variant(target, declared, dtype, variant, setting, mix);
                      }});
}

const Variant million{.name = "very long", .size = Size::huge};

} // namespace

void end_group() {
    kept_probe.reset();
    probed.clear();
}

void add_function_checks(Checks &checks, const Target &target) {
    for (const Declared &declared : target.functions)
        for (const DType dtype : declared.all_dtypes())
            checks.push_back(
                {"reached", declared.subject(), word(dtype), "",
                 [&target, &declared, dtype] { is_reached(target, declared, dtype); }});
    for (const Declared &declared : target.functions) {
        if (!callable(declared.function)) continue;
        for (const DType dtype : declared.all_dtypes())
            for (const Setting &setting : settings_of(declared))
                for (const Variant &variant : variants)
                    for (const Mix &mix : mixes_of(declared, dtype, setting, variant))
                        add_variant(checks, target, declared, dtype, setting, variant, mix);
        if (has_size(declared.function, million.size))
            add_variant(checks, target, declared, precise_dtype(declared), {}, million, {});
    }
}

void add_undeclared_checks(Checks &checks, const Target &target) {
    for (const std::string &type : target.device_types) {
        if (devices_of(type).empty()) continue;
        for (const FunctionFacts &f : core_functions()) {
            atoll_dtype_set declared_here = 0;
            for (const Declared &declared : target.functions)
                if (declared.function.name == f.name && declared.device_type == type)
                    declared_here |= declared.dtypes;
            for (int d = 1; d < ATOLL_DTYPE_COUNT; ++d) {
                const auto dtype = static_cast<DType>(d);
                if (!((f.domain & ~declared_here) >> d & 1)) continue;
                checks.push_back(
                    {"undeclared", f.name + "@" + type, word(dtype), "",
                     [&f, type, dtype] { require_refused(f, dtype, Target::device_of(type)); }});
            }
        }
    }
}

} // namespace Atoll::conformance
