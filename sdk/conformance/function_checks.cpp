// Every function × dtype × layout: declared is actual, results, guard zones, inputs.
//
// Note [Handed through]
// A capability that a plugin declares makes the host hand operands through as they are; the kit
// builds operands that need the capability and looks, through an interposer, at what really
// arrived. So a wrong result under "strided" is the plugin's own handling of strides, and not the
// host's copy. What is not declared must not arrive: then the host would be wrong.
#include "calls.hpp"
#include "compare.hpp"
#include "probe.hpp"
#include "suites.hpp"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

namespace Atoll::conformance {

namespace {

enum class How { plain, in_place, mixed_inputs, mixed_output, scalar, special, whole, flipped };

// One way to call a function.
struct Variant {
    const char *name;
    Layout inputs = Layout::dense, output = Layout::dense;
    Size size = Size::small;
    bool swapped = false;
    How kind = How::plain;
    std::uint32_t caps = 0;    // that hand it through
    const char *declared = ""; // their names
};

constexpr std::uint32_t strided = ATOLL_CAP_STRIDED;
const Variant variants[] = {
    {"contiguous"},
    {"long", Layout::dense, Layout::dense, Size::long_},
    {"rank 0", Layout::dense, Layout::dense, Size::one},
    {"special values", Layout::dense, Layout::dense, Size::small, false, How::special},
    {"all axes", Layout::dense, Layout::dense, Size::small, false, How::whole},
    {"descending or right", Layout::dense, Layout::dense, Size::small, false, How::flipped},
    {"in place", Layout::dense, Layout::dense, Size::small, false, How::in_place},
    {"strided", Layout::strided, Layout::strided, Size::small, false, How::plain, strided,
     "ATOLL_CAP_STRIDED"},
    {"transposed", Layout::transposed, Layout::dense, Size::small, false, How::plain, strided,
     "ATOLL_CAP_STRIDED"},
    {"reversed", Layout::reversed, Layout::dense, Size::small, false, How::plain,
     strided | ATOLL_CAP_NEGATIVE_STRIDES, "ATOLL_CAP_STRIDED and ATOLL_CAP_NEGATIVE_STRIDES"},
    {"broadcast", Layout::broadcast, Layout::dense, Size::small, false, How::plain,
     strided | ATOLL_CAP_ZERO_STRIDES, "ATOLL_CAP_STRIDED and ATOLL_CAP_ZERO_STRIDES"},
    {"unaligned", Layout::unaligned, Layout::unaligned, Size::small, false, How::plain,
     ATOLL_CAP_UNALIGNED, "ATOLL_CAP_UNALIGNED"},
    {"swapped", Layout::dense, Layout::dense, Size::small, true, How::plain, ATOLL_CAP_SWAPPED,
     "ATOLL_CAP_SWAPPED"},
    {"mixed inputs", Layout::dense, Layout::dense, Size::small, false, How::mixed_inputs,
     ATOLL_CAP_MIXED_INPUTS, "ATOLL_CAP_MIXED_INPUTS"},
    {"mixed output", Layout::dense, Layout::dense, Size::small, false, How::mixed_output,
     ATOLL_CAP_MIXED_OUTPUTS, "ATOLL_CAP_MIXED_OUTPUTS"},
    {"scalar", Layout::dense, Layout::dense, Size::small, false, How::scalar, ATOLL_CAP_SCALARS,
     "ATOLL_CAP_SCALARS"},
};

bool reduces(const FunctionFacts &f) {
    return f.family == ATOLL_FAMILY_REDUCE || f.family == ATOLL_FAMILY_REDUCE_ONE ||
           f.family == ATOLL_FAMILY_ARG_REDUCE;
}

// A dtype other than the result's in which every result can be written without a doubt.
DType other_output(DType result) {
    if (is_complex(result)) return result == complex128 ? complex64 : complex128;
    if (result == bool_) return uint8;
    return result == float64 ? float32 : float64;
}

bool applies(const Variant &variant, const FunctionFacts &f, DType dtype) {
    if (!has_size(f, variant.size)) return false;
    const Call call = make_call(f, dtype, variant.size);
    if (variant.inputs != Layout::dense && call.inputs.empty() && !call.takes_out) return false;
    const auto wider_than_byte = [&](auto &&size) {
        return (call.takes_out && size(call.result) > 1) ||
               std::any_of(call.inputs.begin(), call.inputs.end(),
                           [&](const Call::Input &i) { return size(i.dtype) > 1; });
    };
    switch (variant.kind) {
    case How::special: return is_real_float(dtype) || is_integer(dtype);
    case How::whole: return reduces(f);
    case How::flipped: return f.family == ATOLL_FAMILY_SORT || f.family == ATOLL_FAMILY_SEARCH;
    case How::in_place:
        return call.takes_out && !call.inputs.empty() && f.family != ATOLL_FAMILY_COPY &&
               (elementwise(f) || f.family == ATOLL_FAMILY_SCAN || f.family == ATOLL_FAMILY_SORT) &&
               call.result == call.inputs[0].dtype;
    case How::mixed_inputs: {
        Call mixed = call;
        return mix_inputs(mixed);
    }
    case How::mixed_output:
        return call.takes_out && f.family != ATOLL_FAMILY_SCATTER && f.family != ATOLL_FAMILY_FILL;
    case How::scalar: return elementwise(f) && call.inputs.size() > 1;
    default: break;
    }
    if (variant.swapped) return wider_than_byte([](DType d) { return size_of(d); });
    if (variant.inputs == Layout::unaligned)
        return wider_than_byte([](DType d) { return std::int64_t{info(d).alignment}; });
    if (variant.inputs == Layout::broadcast || variant.inputs == Layout::transposed)
        return !call.inputs.empty() && call.inputs[0].shape.size() > 1;
    return true;
}

// Whether an operand of the captured call is what the variant is about.
bool arrived(const Captured &call, const Variant &variant) {
    for (std::size_t o = 0; o < call.operands.size(); ++o) {
        const Captured::Operand &operand = call.operands[o];
        const bool input = static_cast<int>(o) >= call.outputs;
        switch (variant.caps & ~strided) {
        case 0:
            if (operand.strides.size() > 1 ||
                (operand.strides.size() == 1 && operand.strides[0] != size_of(operand.dtype)))
                return true;
            break;
        case ATOLL_CAP_NEGATIVE_STRIDES:
            for (const auto stride : operand.strides)
                if (stride < 0) return true;
            break;
        case ATOLL_CAP_ZERO_STRIDES:
            for (const auto stride : operand.strides)
                if (input && stride == 0) return true;
            break;
        case ATOLL_CAP_UNALIGNED:
            if (reinterpret_cast<std::uintptr_t>(operand.data) % info(operand.dtype).alignment)
                return true;
            break;
        case ATOLL_CAP_SWAPPED:
            if (operand.flags & ATOLL_OPERAND_SWAPPED) return true;
            break;
        case ATOLL_CAP_SCALARS:
            if (operand.flags & ATOLL_OPERAND_SCALAR) return true;
            break;
        case ATOLL_CAP_MIXED_INPUTS:
            if (input && operand.dtype != call.compute) return true;
            break;
        default: break;
        }
    }
    return false;
}

// See Note [Handed through]. Element-wise functions only: the others' iteration spaces have zero
// strides and axes of their own.
void require_honoured(const std::vector<Captured> &calls, const Declared &declared,
                      const Variant &variant) {
    const FunctionFacts &f = declared.function;
    if (variant.caps == 0 || !elementwise(f) || f.family == ATOLL_FAMILY_COPY ||
        f.name == "core.where" || variant.kind == How::mixed_output || declared.forwards)
        return;
    const bool seen = std::any_of(calls.begin(), calls.end(),
                                  [&](const Captured &c) { return arrived(c, variant); });
    if (seen && !declared.takes(variant.caps))
        throw Failed(fmt::format("the host handed over operands that need {}, which is not "
                                 "declared; this is a defect of the host, report it",
                                 variant.declared));
    if (!seen && declared.takes(variant.caps))
        throw Failed(fmt::format("declares {}, but the host converted the operands all the same, "
                                 "so that nothing is proved; this is a defect of the host, or "
                                 "another implementation in the chain declares less",
                                 variant.declared));
}

// The interposer over the function under check, kept while the function stays the same.
std::unique_ptr<Probe> kept_probe;
std::string probed;

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
        throw Skipped(fmt::format("the host would have to convert operands, for which the device "
                                  "has no {}",
                                  error.function()));
    if (error.status() == Status::not_supported)
        throw Failed(fmt::format("declares {} for {}, but does not do it: {}; take the dtype out "
                                 "of the declaration, or implement it",
                                 declared.subject(), Atoll::name(dtype), error.what()));
    throw Failed(fmt::format("the call failed ({}): {}",
                             declared.takes(variant.caps) && variant.caps
                                 ? fmt::format("which it declares to take: {}", variant.declared)
                                 : "with operands that every implementation takes",
                             error.what()));
}

// What the check found, with what the plugin was really handed.
std::string handed(const std::vector<Captured> &calls) {
    if (calls.empty()) return "";
    const Captured &call = calls.back();
    std::string text = fmt::format("; it was handed the shape ({})", fmt::join(call.shape, ", "));
    for (const Captured::Operand &o : call.operands)
        text += fmt::format(", {}{}{} with byte strides ({})", Atoll::name(o.dtype),
                            o.flags & ATOLL_OPERAND_SWAPPED ? " swapped" : "",
                            o.flags & ATOLL_OPERAND_SCALAR ? " scalar" : "",
                            fmt::join(o.strides, ", "));
    return text;
}

// Where nobody else has the function: what it gives for contiguous operands.
Expected expect_of_itself(const Call &call, Device device) {
    std::vector<Tensor> in;
    for (const Call::Input &input : call.inputs)
        in.push_back(lay_out(input.values, input.shape, input.dtype, device).tensor);
    const Guarded out = lay_out_blank(call.out_shape, call.result, device);
    const Tensor result = invoke(call, in, device, call.takes_out ? Out(out.tensor) : Out());
    return {values_of(result), "the same call with contiguous operands"};
}

void run_variant(const Target &target, const Declared &declared, DType dtype,
                 const Variant &variant) {
    const Device device = Target::device_of(declared.device_type);
    const FunctionFacts &f = declared.function;
    Probe &probe = probe_of(declared.subject());
    Call call = make_call(f, dtype, variant.size, variant.kind == How::special,
                          variant.kind == How::mixed_output);
    if (variant.kind == How::mixed_inputs) mix_inputs(call);
    if (variant.kind == How::whole) {
        call.whole = true;
        call.out_shape = {};
    }
    call.flipped = variant.kind == How::flipped;
    if (call.flipped && f.family == ATOLL_FAMILY_SEARCH) // values that are in the table
        for (std::size_t k = 0; k < call.inputs[0].values.size(); ++k)
            call.inputs[0].values[k] = call.inputs[1].values[k % call.inputs[1].values.size()];
    const bool scalar = variant.kind == How::scalar;
    if (scalar) {
        Call::Input &last = call.inputs.back();
        Scalar value = last.values[0];
        if (!is_floating(last.dtype) && last.dtype != bool_) value = Scalar(3).cast(last.dtype);
        last.values.assign(last.values.size(), value);
    }
    std::vector<Guarded> inputs;
    std::vector<Tensor> tensors;
    for (std::size_t o = 0; o < call.inputs.size(); ++o) {
        Call::Input &input = call.inputs[o];
        Layout layout = variant.inputs;
        if (layout == Layout::broadcast) {
            if (o == 1) layout = Layout::broadcast_first;
            if (o > 1 || input.shape.size() < 2) layout = Layout::dense;
            if (layout != Layout::dense)
                input.values = broadcast_values(input.values, input.shape, o == 0);
        }
        inputs.push_back(
            lay_out(input.values, input.shape, input.dtype, device, layout, variant.swapped));
        tensors.push_back(inputs.back().tensor);
    }
    const DType out_dtype =
        variant.kind == How::mixed_output ? other_output(call.result) : call.result;
    const bool in_place = variant.kind == How::in_place;
    Guarded output;
    if (in_place)
        output = inputs[0];
    else if (call.takes_out)
        output = lay_out_blank(call.out_shape, out_dtype, device, variant.output, variant.swapped);
    Expected expected = expect(target, call, declared.device_type);
    if (expected.source.empty() && (variant.inputs != Layout::dense || variant.swapped))
        expected = expect_of_itself(call, device);

    probe.take();
    Tensor result;
    try {
        result = invoke(call, tensors, device, call.takes_out ? Out(output.tensor) : Out(), scalar);
        result.stream().synchronize();
    } catch (const Error &error) {
        explain(error, declared, dtype, variant);
    }
    const std::vector<Captured> calls = probe.take();
    // A view would do where nothing has to move; of others the plugin must have been asked.
    if (calls.empty() && f.family != ATOLL_FAMILY_GATHER && f.family != ATOLL_FAMILY_SCATTER)
        throw Skipped("the host answered without a call of this function");

    try {
        const std::vector<char> bytes = call.takes_out ? output.read() : storage_bytes(result);
        const Values got = decode(call.takes_out ? output.tensor : result, bytes);
        if (call.takes_out) require_guards(output, bytes, "output 0");
        for (std::size_t o = in_place ? 1 : 0; o < inputs.size(); ++o)
            if (!(scalar && o + 1 == inputs.size()))
                require_unchanged(inputs[o], fmt::format("input {}", o).c_str());
        if (call.takes_out && !in_place && bytes == output.image)
            throw Failed("returned OK, but the destination is as it was before the call: nothing "
                         "was written");
        if (expected.source.empty())
            throw Skipped("there is nothing to compare the result with: load another device that "
                          "has the function (--with PLUGIN)");
        require_equal(expected.values, got,
                      tolerance_of(f, call.compute, largest_input(call), terms_of(call)),
                      expected.source);
    } catch (const Failed &failed) {
        throw Failed(fmt::format("{}{}", failed.what(), handed(calls)));
    }
    require_honoured(calls, declared, variant);
}

// Otherwise every other check would judge somebody else's function.
void is_reached(const Target &target, const Declared &declared, DType dtype) {
    const std::vector<std::string> links =
        chain(declared.function.name, declared.device_type,
              dtype == DType::none ? std::string_view() : Atoll::name(dtype));
    for (const std::string &link : links) {
        if (link.starts_with("interposer")) continue;
        if (link == fmt::format("implementation of plugin {}", target.name)) return;
        throw Failed(fmt::format("is declared, but calls go to another one: {}; raise the "
                                 "priority of the implementation above that one's",
                                 fmt::join(links, ", ")));
    }
}

} // namespace

void end_group() {
    kept_probe.reset();
    probed.clear();
}

void add_function_checks(Checks &checks, const Target &target) {
    for (const Declared &declared : target.functions) {
        const bool one_slot = declared.function.domain == 0;
        for (int d = one_slot ? 0 : 1; d < (one_slot ? 1 : ATOLL_DTYPE_COUNT); ++d)
            if (const auto dtype = static_cast<DType>(d); one_slot || declared.has(dtype))
                checks.push_back(
                    {"reached", declared.subject(), one_slot ? "" : std::string(Atoll::name(dtype)),
                     "", [&target, &declared, dtype] { is_reached(target, declared, dtype); }});
    }
    for (const Declared &declared : target.functions) {
        if (!callable(declared.function)) continue;
        for (int d = 1; d < ATOLL_DTYPE_COUNT; ++d) {
            const auto dtype = static_cast<DType>(d);
            if (!declared.has(dtype)) continue;
            for (const Variant &variant : variants)
                if (applies(variant, declared.function, dtype))
                    checks.push_back({"functions", declared.subject(),
                                      std::string(Atoll::name(dtype)), variant.name,
                                      [&target, &declared, dtype, &variant] {
                                          run_variant(target, declared, dtype, variant);
                                      }});
        }
    }
}

void add_undeclared_checks(Checks &checks, const Target &target) {
    for (const std::string &type : target.device_types) {
        if (std::any_of(target.absent.begin(), target.absent.end(),
                        [&](const std::string &t) { return t.starts_with(type + ":"); }))
            continue;
        for (const FunctionFacts &f : core_functions()) {
            std::uint32_t has = 0;
            for (const Declared &declared : target.functions)
                if (declared.function.name == f.name && declared.device_type == type)
                    has |= declared.dtypes;
            for (int d = 1; d < ATOLL_DTYPE_COUNT; ++d) {
                const auto dtype = static_cast<DType>(d);
                if (!(f.domain >> d & 1) || (has >> d & 1)) continue;
                checks.push_back(
                    {"undeclared", f.name + "@" + type, std::string(Atoll::name(dtype)), "",
                     [f, type, dtype] {
                         const Device device = Target::device_of(type);
                         const Call call = make_call(f, dtype, Size::small);
                         std::vector<Tensor> in;
                         for (const Call::Input &i : call.inputs)
                             in.push_back(lay_out(i.values, i.shape, i.dtype, device).tensor);
                         const Guarded out = lay_out_blank(call.out_shape, call.result, device);
                         try {
                             invoke(call, in, device, call.takes_out ? Out(out.tensor) : Out());
                         } catch (const Error &e) {
                             // Moving elements needs offsets, which other functions compute.
                             const bool moves = f.family == ATOLL_FAMILY_GATHER ||
                                                f.family == ATOLL_FAMILY_SCATTER;
                             if (e.status() == Status::not_supported &&
                                 (moves || e.function() == f.name))
                                 return;
                             throw Failed(fmt::format("need an error 'not supported' that names "
                                                      "{}, got {}: {}",
                                                      f.name, Atoll::name(e.status()), e.what()));
                         }
                         throw Failed("not declared, but the call succeeded all the same");
                     }});
            }
        }
    }
}

} // namespace Atoll::conformance
