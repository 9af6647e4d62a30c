// Text of declarations, from signatures.
#include "declaration.hpp"

#include "atoll/text_scanner.hpp"
#include "identifiers.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

namespace Atoll::tools {

namespace {

using sdk::AttributeSpec;
using sdk::AttributeType;
using sdk::AxisKind;
using sdk::OperandSpec;

class Declaration {
public:
    Declaration(const HeaderOf &header, const ListedFunction &function)
        : header_(header), f_(function), s_(function.signature) {
        for (int i = 0; i < s_.input_count(); ++i)
            if (!s_.input(i).optional) add_input(s_.input(i));
        for (int i = 0; i < s_.attribute_count; ++i)
            if (s_.attribute(i).required) {
                parameters_.push_back(fmt::format("{} {}", attribute_type(s_.attribute(i)),
                                                  parameter(s_.attribute(i).name)));
                example_.emplace_back("1");
            }
        if (!f_.infers)
            for (int i = 0; i < s_.slot_count; ++i)
                if (const sdk::AxisSlot &slot = s_.slot(i);
                    s_.is_free(i) && slot.kind == AxisKind::one) {
                    parameters_.push_back("std::int64_t " + parameter(slot.name));
                    extents_.push_back(parameter(slot.name));
                    example_.emplace_back("4");
                }
        if (f_.rule == ATOLL_RULE_GIVEN && f_.domain != 0) {
            parameters_.emplace_back("DType dtype");
            example_.emplace_back("Atoll::float64");
        }
        if (s_.input_count() == 0) {
            parameters_.emplace_back("const Device &device");
            example_.emplace_back("device");
        }
        add_axes();
        add_options();
    }

    bool elementwise() const {
        return header_.is_core() && s_.elementwise() && s_.attribute_count == 0;
    }
    // The fields of the options; empty: there are none.
    const std::string &options() const { return fields_; }
    std::string options_name() const { return camel(f_.name) + "Options"; }

    std::string words() const { // the enumerations of attributes
        std::string text;
        for (int i = 0; i < s_.attribute_count; ++i)
            if (const AttributeSpec &spec = s_.attribute(i); spec.type == AttributeType::choice)
                text += fmt::format("enum class {} {{ {} }};\n", word_type(spec),
                                    joined(choices(spec)));
        return text;
    }

    std::string text() const {
        const std::string out = s_.output_count > 1
                                    ? fmt::format("const {} &out = {{}}", result_type())
                                    : "Out out = {}";
        Words parameters = parameters_;
        if (!s_.makes_objects) parameters.push_back(out);
        if (elementwise()) {
            const std::string inputs = joined(names_, ", &");
            parameters.emplace_back("Mode mode = {}");
            Words into = parameters_;
            into.emplace_back("Handle &out");
            return comment_of(f_, example()) + head("inline Tensor", parameters) +
                   fmt::format("    return detail::call_elementwise({}, {{&{}}}, out, mode);\n}}\n",
                               callee(), inputs) +
                   head("template <detail::TensorHandle Handle> Handle &", into) +
                   fmt::format("    detail::call_into({}, {{&{}}}, out);\n    return out;\n}}\n",
                               callee(), inputs);
        }
        return results() + comment_of(f_, example()) + head("inline " + result_type(), parameters) +
               body() + "}\n";
    }

private:
    void add_input(const OperandSpec &spec) {
        const std::string name = parameter(spec.name);
        const char *const type = spec.is_object()      ? "const Object &"
                                 : spec.axis_count > 0 ? "const Tensor &"
                                                       : "const Operand &";
        parameters_.push_back(type + name);
        names_.push_back(name);
        example_.push_back(name);
    }
    void add_axes() {
        if (s_.axes == sdk::AxesOf::first || s_.nonzero >= 0) return;
        const bool one = f_.names_one_axis();
        parameters_.emplace_back(one ? "std::optional<int> axis = {}" : "const Axes &axes = {}");
        axes_ = one ? "axis" : "axes";
        example_.emplace_back("0");
    }
    void add_options() {
        const auto field = [&](const std::string &line, const std::string &meaning) {
            fields_ += fmt::format("    {};{}\n", line, meaning.empty() ? "" : " // " + meaning);
        };
        for (int i = 0; i < s_.input_count(); ++i)
            if (s_.input(i).optional)
                field(fmt::format("Tensor {} = {{}}", identifier(s_.input(i).name)),
                      "may be absent");
        for (int i = 0; i < s_.attribute_count; ++i) {
            const AttributeSpec &spec = s_.attribute(i);
            if (spec.required) continue;
            const std::string least =
                std::isinf(spec.least) ? "" : fmt::format("{} or more", spec.least);
            field(fmt::format("{} {} = {}", attribute_type(spec), identifier(spec.name),
                              fallback(spec)),
                  least);
        }
        if (f_.reduces())
            field("bool keepdims = false", "reduced axes stay in the result with extent 1");
        for (int o = 0; o < s_.output_count; ++o)
            if (s_.operand(o).optional)
                field(fmt::format("bool {} = true", identifier(s_.operand(o).name)),
                      "false: it is not computed");
        if (fields_.empty()) return;
        parameters_.push_back(fmt::format("const {} &options = {{}}", options_name()));
        if (const std::string value = example_option(); !value.empty())
            example_.push_back(fmt::format("{{{}}}", value));
    }
    // One option that differs from its default.
    std::string example_option() const {
        for (int i = 0; i < s_.attribute_count; ++i) {
            const AttributeSpec &spec = s_.attribute(i);
            if (spec.required || spec.type == AttributeType::ints) continue;
            const std::string value = spec.type == AttributeType::boolean
                                          ? (spec.fallback == "true" ? "false" : "true")
                                      : spec.type == AttributeType::choice
                                          ? scope() + word_type(spec) + "::" + choices(spec).back()
                                          : "1";
            return fmt::format(".{} = {}", identifier(spec.name), value);
        }
        return f_.reduces() ? ".keepdims = true" : "";
    }

    std::string scope() const { return header_.is_core() ? "" : name_space(header_) + "::"; }

    // --- attributes ------------------------------------------------------------------------------

    std::string word_type(const AttributeSpec &spec) const {
        return camel(f_.name) + camel(spec.name);
    }
    static Words choices(const AttributeSpec &spec) {
        Words words;
        sdk::TextScanner in(spec.words);
        do words.push_back(identifier(in.name()));
        while (in.accept("|"));
        return words;
    }
    std::string attribute_type(const AttributeSpec &spec) const {
        const std::string type = spec.type == AttributeType::boolean  ? "bool"
                                 : spec.type == AttributeType::int64  ? "std::int64_t"
                                 : spec.type == AttributeType::ints   ? "std::vector<std::int64_t>"
                                 : spec.type == AttributeType::choice ? word_type(spec)
                                                                      : "Scalar";
        return spec.optional ? fmt::format("std::optional<{}>", type) : type;
    }
    std::string fallback(const AttributeSpec &spec) const {
        if (spec.optional) return "{}";
        if (spec.type == AttributeType::choice)
            return word_type(spec) + "::" + identifier(spec.fallback);
        const bool infinite = spec.fallback.ends_with("inf");
        return infinite ? fmt::format("{}std::numeric_limits<double>::infinity()",
                                      spec.fallback.starts_with('-') ? "-" : "")
                        : std::string(spec.fallback);
    }

    // --- the declaration -------------------------------------------------------------------------

    std::string callee() const {
        return header_.is_core() ? "ATOLL_FN_" + f_.name : fmt::format("function");
    }
    std::string result_type() const {
        if (s_.makes_objects) return "Object";
        return s_.output_count == 1 ? "Tensor" : camel(f_.name) + "Result";
    }
    std::string head(const std::string &type, const Words &parameters) const {
        const std::string space = type.ends_with('&') ? "" : " ";
        return fmt::format("{}{}{}({}) {{\n", type, space, identifier(f_.name), joined(parameters));
    }
    std::string results() const {
        if (s_.output_count < 2) return "";
        std::string fields;
        for (int o = 0; o < s_.output_count; ++o)
            fields += fmt::format("    Tensor {} = {{}};\n", identifier(s_.operand(o).name));
        return fmt::format("struct {} {{\n{}}};\n", result_type(), fields);
    }
    std::string details() const {
        Words fields;
        const auto list = [&](const char *name, const Words &values) {
            if (!values.empty())
                fields.push_back(fmt::format(".{} = {{{}}}", name, joined(values)));
        };
        Words attributes, out, without;
        for (int i = 0; i < s_.attribute_count; ++i)
            attributes.push_back(s_.attribute(i).required
                                     ? parameter(s_.attribute(i).name)
                                     : "options." + identifier(s_.attribute(i).name));
        for (int o = 0; o < s_.output_count; ++o) {
            const std::string name = identifier(s_.operand(o).name);
            out.push_back(s_.output_count > 1 ? "out." + name : "out");
            if (s_.operand(o).optional)
                without.push_back(fmt::format("(options.{} ? 0u : {}u)", name, 1u << o));
        }
        list("attributes", attributes);
        if (!axes_.empty()) fields.push_back(".axes = " + axes_);
        if (f_.reduces()) fields.emplace_back(".keepdims = options.keepdims");
        if (!s_.makes_objects) list("out", out);
        list("extents", extents_);
        if (!without.empty()) fields.push_back(".without = " + joined(without, " | "));
        if (f_.rule == ATOLL_RULE_GIVEN && f_.domain != 0) fields.emplace_back(".dtype = dtype");
        if (s_.input_count() == 0) fields.emplace_back(".device = device");
        return fmt::format("{{{}}}", joined(fields, ",\n         "));
    }
    std::string body() const {
        Words inputs;
        for (int i = 0; i < s_.input_count(); ++i) {
            const OperandSpec &spec = s_.input(i);
            inputs.push_back(fmt::format("detail::operand({})",
                                         spec.optional ? "options." + identifier(spec.name)
                                                       : parameter(spec.name)));
        }
        const std::string arguments =
            fmt::format("{}, {{{}}},\n        {}", callee(), joined(inputs), details());
        if (header_.is_core()) return fmt::format("    return detail::call_core({});\n", arguments);
        std::string text = fmt::format("    static const Atoll::Function function(\"{}.{}\");\n",
                                       header_.module, f_.name);
        if (s_.makes_objects)
            return text + fmt::format("    return detail::call_object({});\n", arguments);
        text += fmt::format("    Tensor results[{}];\n    detail::call_function({}, results);\n",
                            s_.output_count, arguments);
        if (s_.output_count == 1) return text + "    return std::move(results[0]);\n";
        Words moved;
        for (int o = 0; o < s_.output_count; ++o)
            moved.push_back(fmt::format("std::move(results[{}])", o));
        return text + fmt::format("    return {{{}}};\n", joined(moved));
    }
    std::string example() const {
        Words results;
        for (int o = 0; o < s_.output_count; ++o) results.push_back(identifier(s_.operand(o).name));
        std::string target = s_.output_count > 1 ? fmt::format("auto [{}]", joined(results))
                                                 : fmt::format("{} {}", result_type(), results[0]);
        if (s_.output_count == 1 && std::count(names_.begin(), names_.end(), results[0]))
            target += "_"; // in place
        return fmt::format("{} = {}{}({});", target, scope(), identifier(f_.name),
                           joined(example_));
    }

public:
    static std::string name_space(const HeaderOf &header) {
        return header.is_core()            ? "Atoll"
               : header.name_space.empty() ? header.module
                                           : header.name_space;
    }

private:
    const HeaderOf &header_;
    const ListedFunction &f_;
    const sdk::Signature &s_;
    Words parameters_, names_, extents_, example_;
    std::string axes_, fields_;
};

bool opaque(const ListedFunction &f) {
    return std::any_of(f.signature.slots.begin(), f.signature.slots.end(),
                       [](const sdk::AxisSlot &slot) { return slot.opaque; });
}

constexpr const char *core_introduction =
    R"(// The functions of the module core, generated from its list by `atoll header core`.
//
// Every function checks its arguments, moves operands to the device of the first one, promotes
// dtypes, broadcasts (aligning the first axes) and resolves overlap. With `out`, it writes the
// result there (converted to the dtype of `out`, which must have the shape of the result) and
// returns `out`: a named tensor by reference, without reference counting. On asynchronous devices a
// call returns when the work is enqueued. Throws Atoll::Error; the operands are then unchanged.
// Thread-safe, as long as no tensor is written while others use it.
//
// Above each declaration: the signature (see Note [Signatures] in abi/module.h), what the function
// computes, shapes, dtypes, errors of its own, and an example.
#pragma once

#include "atoll/abi/module.h"
#include "atoll/detail/call.hpp"
)";
constexpr const char *module_introduction =
    R"(// The functions of the module {0}, generated from its plugin by `atoll header`.
//
// The plugin has to be loaded before the first call: Atoll::load_plugin. Calls check arguments,
// convert dtypes, broadcast and resolve overlap as those of atoll/functions.hpp do, and throw
// Atoll::Error.
#pragma once

#include <atoll/atoll.hpp>
)";

} // namespace

std::string header_text(const HeaderOf &header) {
    std::string text = "// clang-format off\n";
    text += header.is_core() ? core_introduction
                             : fmt::format(fmt::runtime(module_introduction), header.module);
    text += fmt::format("\nnamespace {} {{\n", Declaration::name_space(header));
    if (!header.is_core())
        text += "\nnamespace detail = Atoll::detail;\nusing Atoll::Axes, Atoll::Device, "
                "Atoll::DType, Atoll::Object, Atoll::Operand, "
                "Atoll::Out,\n    Atoll::Scalar, Atoll::Tensor;\n";
    std::map<std::string, std::string> options; // fields → the first name that has them
    for (const ListedFunction &f : header.functions) {
        if (opaque(f)) continue;
        const Declaration declaration(header, f);
        text += "\n" + declaration.words();
        if (!declaration.options().empty()) {
            const auto [known, fresh] =
                options.emplace(declaration.options(), declaration.options_name());
            text +=
                fresh ? fmt::format("struct {} {{\n{}}};\n", known->second, known->first)
                      : fmt::format("using {} = {};\n", declaration.options_name(), known->second);
        }
        text += declaration.text();
    }
    return text + fmt::format("\n}} // namespace {}\n", Declaration::name_space(header));
}

} // namespace Atoll::tools
