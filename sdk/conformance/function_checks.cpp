// Every function × dtype × layout: capabilities, results, guard zones, inputs.
#include "calls.hpp"
#include "compare.hpp"
#include "probe.hpp"
#include "suites.hpp"
#include "variants.hpp"

#include <algorithm>
#include <memory>

namespace Atoll::conformance {

namespace {

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
            if (!setting.is_refused_by(error)) throw;
            skip("refused before reaching the plugin: {}", error.what());
        }
    };
    const auto [one, same] =
        variant.kind == How::one_tensor ? equal_inputs(made) : std::pair(-1, -1);
    if (one >= 0) share_values(made, {one, same});
    Prepared prepared = without_refusals([&] {
        return Prepared(std::move(made), {dtype, device}, variant.form);
    });
    const Call &call = prepared.call;
    if (one >= 0)
        prepared.inputs[static_cast<std::size_t>(same)] =
            prepared.inputs[static_cast<std::size_t>(one)];
    const bool overwrites = variant.kind == How::in_place || variant.kind == How::in_place_last;
    const int in_place = !overwrites                     ? -1
                         : variant.kind == How::in_place ? in_place_inputs(call).front()
                                                         : in_place_inputs(call).back();
    if (in_place >= 0) prepared.outputs[0] = prepared.inputs[static_cast<std::size_t>(in_place)];
    const Expected expected = without_refusals([&] {
        if (!f.repeats()) return Expected();
        Expected other = expect(target, call, declared.device_type);
        // Without a reference, results must at least not depend on the form of the operands.
        const bool other_form = !(variant.form == Prepared::Form()) || scalar || overwrites ||
                                one >= 0 || variant.kind == How::mixed_output;
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
    std::string name =
        &variant == &all_variants().front() && !setting.name.empty() ? setting.name : variant.name;
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
                for (const Variant &variant : all_variants())
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
