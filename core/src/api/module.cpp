// Modules, and functions called by name.
#include "atoll/module.hpp"

#include "base/enums.hpp"
#include "base/nearest.hpp"
#include "base/throw_error.hpp"
#include "call/attributes.hpp"
#include "call/pipeline.hpp"

#include <boost/container/small_vector.hpp>
#include <fmt/format.h>

namespace Atoll {

using namespace detail;

namespace {

std::string module_names() {
    std::string names;
    for (const Module &module : modules()) names += (names.empty() ? "" : ", ") + module.name();
    return names;
}

std::string result_names(const sdk::Signature &signature) {
    std::string names;
    for (int o = 0; o < signature.output_count; ++o)
        names += fmt::format("{}{}", o ? ", " : "", signature.operand(o).name);
    return names;
}
// The axes whose extents a caller may give.
std::string free_extents(const sdk::Signature &signature) {
    std::string names;
    for (int s = 0; s < signature.slot_count; ++s)
        if (signature.is_free(s))
            names += fmt::format("{}{}", names.empty() ? "" : ", ", signature.slot(s).name);
    return names.empty() ? "none" : names;
}

// No more inputs than the function takes, and those that must be there.
void require_inputs(const FunctionRecord &function, Inputs inputs) {
    const sdk::Signature &s = function.signature;
    const auto names = [&] {
        std::string list;
        for (int i = 0; i < s.input_count(); ++i)
            list += fmt::format("{}{}{}", i ? ", " : "", s.input(i).name,
                                s.input(i).optional ? "?" : "");
        return list.empty() ? "none" : list;
    };
    const int given = static_cast<int>(inputs.size());
    if (given > s.input_count())
        throw_error(Status::invalid_argument, function.full_name, "got {} input{}, takes {}", given,
                    given == 1 ? "" : "s", names());
    for (int i = 0; i < s.input_count(); ++i)
        if (!s.input(i).optional && (i >= given || !inputs[static_cast<std::size_t>(i)]))
            throw_error(Status::invalid_argument, function.full_name, "got no {}, takes {}",
                        s.input(i).name, names());
}

[[noreturn]] void refuse_call(const FunctionRecord &function, const std::string &text) {
    throw Error(Status::invalid_argument, function.full_name, text);
}

// What a caller may ask of this function at all.
void require_callable(const FunctionRecord &function, bool axes, bool extents) {
    const sdk::Signature &s = function.signature;
    if (!function.module->live)
        throw_error(Status::not_found, function.full_name,
                    "module {} has been retired; load its plugin again", function.module->name);
    const bool opaque = std::any_of(s.slots.begin(), s.slots.begin() + s.slot_count,
                                    [](const sdk::AxisSlot &slot) { return slot.opaque; });
    if (function.texts[0].empty() || opaque) refuse_call(function, "is called by the host alone");
    if (s.axes == sdk::AxesOf::first && axes)
        refuse_call(function, "takes no axes: its core axes are the first ones of each operand");
    if (function.infer && extents)
        refuse_call(function, "takes no extents: it infers those that only results have");
}

void require_extent(const FunctionRecord &function, std::string_view name, std::int64_t extent) {
    if (extent < 0) refuse_call(function, fmt::format("got {} = {}, need 0 or more", name, extent));
}

// Decides T, for attributes of type T, and runs the call.
template <class Attributes> void run_typed(const FunctionRecord &f, Arguments &arguments,
                                           const Attributes &attributes, Context context,
                                           Tensor *results) {
    // A function without tensors would find out too late, or not at all.
    if (context.device) require_live(*context.device, f.full_name);
    require_kinds(f, arguments.inputs);
    require_dtype_or_none(context.dtype, f.full_name);
    context.dtype = decide_T(f, arguments.inputs, context);
    const AttributeValues values = attribute_values(f, attributes, context.dtype);
    arguments.attributes = {values.data(), f.signature.attribute_count};
    run(f, arguments, results, context);
}

} // namespace

Function::Function(std::string_view name) : record_(Registry::get().find_function(name)) {
    if (record_) return;
    std::vector<std::string> names;
    for (const Module &module : modules())
        for (const Function &function : module.functions()) names.emplace_back(function.name());
    throw_error(Status::not_found, "function", "there is no function '{}'; modules now: {}{}", name,
                module_names(), suggestion(name, names));
}

std::string_view Function::name() const { return record_->full_name; }
std::string_view Function::doc() const { return record_->doc; }

std::vector<FunctionSupport> Function::support() const {
    const ReadSection section;
    std::vector<FunctionSupport> list;
    for (int t = 0; const DeviceTypeRecord *type = Registry::get().device_type(t); ++t) {
        if (!type->live) continue;
        FunctionSupport support{type->name, "", {}};
        const int last = record_->typed() ? ATOLL_DTYPE_COUNT - 1 : 1;
        for (int dtype = 1; dtype <= last; ++dtype) {
            const Chain &chain = *type->chain(*record_, dtype);
            if (!chain.implemented) continue;
            if (support.plugin.empty()) support.plugin = chain.plugin->name;
            if (record_->typed()) support.dtypes.push_back(static_cast<DType>(dtype));
        }
        // Asked again: a type that has gone meanwhile may have been seen half-way.
        if (!support.plugin.empty() && type->live) list.push_back(std::move(support));
    }
    return list;
}

std::string_view Function::signature() const { return record_->texts[0]; }

std::vector<Tensor> Function::operator()(std::initializer_list<Operand> inputs,
                                         const CallOptions &options) const {
    if (record_->signature.makes_objects)
        throw Error(Status::invalid_argument, record_->full_name,
                    "its result is an object: call Function::make");
    return call(inputs, options);
}

Object Function::make(std::initializer_list<Operand> inputs, const CallOptions &options) const {
    if (!record_->signature.makes_objects || record_->signature.output_count != 1)
        throw Error(Status::invalid_argument, record_->full_name,
                    "its result is no object: call Function::operator()");
    return Object(call(inputs, options)[0]);
}

std::vector<Tensor> Function::call(std::initializer_list<Operand> inputs,
                                   const CallOptions &options) const {
    const ReadSection section;
    const FunctionRecord &f = *record_;
    const sdk::Signature &s = f.signature;
    require_callable(f, options.axes.given || options.keepdims, !options.extents.empty());
    boost::container::small_vector<const Operand *, ATOLL_MAX_OPERANDS> list;
    for (const Operand &input : inputs) {
        const bool absent = input.tensor() && !input.tensor()->is_defined();
        list.push_back(absent ? nullptr : &input);
    }
    const Inputs given(list.data(), list.size());
    require_inputs(f, given);
    Arguments arguments{.inputs = given,
                        .axes = options.axes.list,
                        .axes_given = options.axes.given,
                        .keepdims = options.keepdims};
    if (options.out.size() > s.output_count)
        refuse_call(f, fmt::format("got {} tensors to write to, makes {}: {}", options.out.size(),
                                   s.output_count, result_names(s)));
    const Tensor *outputs[ATOLL_MAX_OPERANDS] = {};
    for (std::size_t i = 0; i < options.out.size(); ++i)
        if (options.out[i].is_defined()) outputs[i] = &options.out[i];
    arguments.outputs = {outputs, s.output_count};
    for (const std::string &name : options.without) {
        int at = 0;
        while (at < s.output_count && s.operand(at).name != name) ++at;
        if (at == s.output_count)
            refuse_call(f, fmt::format("has no result {}, makes {}", name, result_names(s)));
        if (!s.operand(at).optional)
            refuse_call(f, fmt::format("{} is always made, cannot be left out", name));
        arguments.unwanted |= 1u << at;
    }
    std::int64_t extents[ATOLL_MAX_SLOTS];
    std::fill_n(extents, ATOLL_MAX_SLOTS, -1);
    for (const auto &[name, extent] : options.extents) {
        bool known = false;
        for (int i = 0; i < s.slot_count; ++i)
            if (s.slot(i).name == name && s.is_free(i)) extents[i] = extent, known = true;
        if (!known)
            refuse_call(f,
                        fmt::format("got an extent of {}, takes those that only results have: {}",
                                    name, free_extents(s)));
        require_extent(f, name, extent);
    }
    arguments.extents = extents;
    std::vector<Tensor> results(s.output_count);
    run_typed(f, arguments, options.attributes,
              {.dtype = options.dtype, .device = options.device.record()}, results.data());
    for (std::size_t i = 0; i < results.size(); ++i)
        if (outputs[i]) results[i] = options.out[i];
    return results;
}

void detail::call_function(const Function &function, std::initializer_list<const Operand *> inputs,
                           const CallDetails &details, std::span<Tensor> results) {
    const ReadSection section;
    const FunctionRecord &f = *function.record_;
    const sdk::Signature &s = f.signature;
    require_callable(f, details.axes.given || details.keepdims, details.extents.size() != 0);
    std::size_t free = 0;
    for (int i = 0; i < s.slot_count; ++i) free += s.is_free(i);
    if (results.size() != s.output_count || details.out.size() > results.size() ||
        details.extents.size() > free)
        refuse_call(f,
                    fmt::format("the declaration is of another version of module {}: generate its "
                                "header anew",
                                f.module->name));
    boost::container::small_vector<const Operand *, ATOLL_MAX_OPERANDS> list;
    for (const Operand *input : inputs)
        list.push_back(input->tensor() && !input->tensor()->is_defined() ? nullptr : input);
    const Inputs given(list.data(), list.size());
    require_inputs(f, given);
    const Tensor *outputs[ATOLL_MAX_OPERANDS] = {};
    std::transform(details.out.begin(), details.out.end(), outputs, [](Out out) {
        return out.get() && out.get()->is_defined() ? out.get() : nullptr;
    });
    std::int64_t extents[ATOLL_MAX_SLOTS];
    std::fill_n(extents, ATOLL_MAX_SLOTS, -1);
    auto next = details.extents.begin();
    for (int i = 0; i < s.slot_count && next != details.extents.end(); ++i)
        if (s.is_free(i)) {
            require_extent(f, s.slot(i).name, *next);
            extents[i] = *next++;
        }
    Arguments arguments{.inputs = given,
                        .outputs = {outputs, s.output_count},
                        .axes = details.axes.list,
                        .axes_given = details.axes.given,
                        .keepdims = details.keepdims,
                        .extents = extents,
                        .unwanted = details.without};
    run_typed(f, arguments, details.attributes,
              {.dtype = details.dtype, .device = details.device.record()}, results.data());
    for (std::size_t i = 0; i < results.size(); ++i)
        if (outputs[i]) results[i] = *outputs[i];
}

Object detail::call_object(const Function &function, std::initializer_list<const Operand *> inputs,
                           const CallDetails &details) {
    Tensor object;
    call_function(function, inputs, details, {&object, 1});
    return Object(std::move(object));
}

Module::Module(std::string_view name) : record_(Registry::get().find_module(name)) {
    if (record_) return;
    std::vector<std::string> names;
    for (const Module &module : modules()) names.push_back(module.name());
    throw_error(Status::not_found, "module",
                "there is no module '{}'; load the plugin that defines it; modules now: {}{}", name,
                module_names(), suggestion(name, names));
}

const std::string &Module::name() const { return record_->name; }
std::uint32_t Module::version() const { return record_->version; }

std::string Module::plugin() const {
    const PluginRecord *owner = record_->owner;
    return owner ? owner->name : "";
}

std::vector<Function> Module::functions() const {
    std::vector<Function> list;
    for (const FunctionRecord &function : record_->functions) list.push_back(Function(&function));
    return list;
}

Function Module::function(std::string_view name) const {
    if (const FunctionRecord *function = record_->find(name)) return Function(function);
    std::vector<std::string> names;
    for (const FunctionRecord &function : record_->functions) names.push_back(function.name);
    throw_error(Status::not_found, "module", "module {} has no function '{}'{}", record_->name,
                name, suggestion(name, names));
}

std::vector<Module> modules() {
    std::vector<Module> list;
    for (int m = 0; ModuleRecord *record = Registry::get().module(m); ++m)
        if (record->live) list.push_back(Module(record));
    return list;
}

} // namespace Atoll
