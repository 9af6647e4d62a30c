// Text of declarations, from signatures.
#include "declaration.hpp"

#include "atoll/text_scanner.hpp"
#include "atoll/type_rules.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <sstream>

#include <fmt/format.h>

namespace Atoll::tools {

namespace {

using sdk::AttributeSpec;
using sdk::AttributeType;
using sdk::AxisKind;
using sdk::OperandSpec;

using Words = std::vector<std::string>;

std::string joined(const Words &words, std::string_view between = ", ") {
    return fmt::format("{}", fmt::join(words, between));
}
// "a, b and c"
std::string listed(const Words &words) {
    if (words.size() < 2) return joined(words);
    return joined({words.begin(), words.end() - 1}) + " and " + words.back();
}

// Words that C++ takes get an underscore.
std::string identifier(std::string_view name) {
    static constexpr std::string_view taken =
        " alignas alignof and asm auto bool break case catch char class compl concept const "
        "continue "
        "decltype default delete do double else enum explicit export extern false float for friend "
        "goto if inline int long mutable namespace new noexcept not nullptr operator or private "
        "protected public register requires return short signed sizeof static struct switch "
        "template this throw true try typedef typename union unsigned using virtual void volatile "
        "while xor keepdims ";
    const bool clashes = taken.find(fmt::format(" {} ", name)) != std::string_view::npos;
    return std::string(name) + (clashes ? "_" : "");
}
// The same for words that declarations take.
std::string parameter(std::string_view name) {
    for (const std::string_view taken :
         {"axes", "axis", "device", "dtype", "mode", "options", "out", "results", "function"})
        if (name == taken) return std::string(name) + "_";
    return identifier(name);
}
// "count_nonzero" → "CountNonzero"
std::string camel(std::string_view name) {
    std::string result;
    bool upper = true;
    for (const char c : name) {
        if (c != '_') result += upper ? static_cast<char>(std::toupper(c)) : c;
        upper = c == '_';
    }
    return result;
}

// One name for each set that occurs in core; others are listed.
std::string dtypes_text(atoll_dtype_set set) {
    static const std::map<atoll_dtype_set, const char *> known = {
        {ATOLL_DOMAIN_ALL, "any dtype"},
        {ATOLL_DOMAIN_NUMERIC, "any dtype but bool"},
        {ATOLL_DOMAIN_FLOATING, "real or complex floats"},
        {ATOLL_DOMAIN_REAL_FLOATS, "real floats"},
        {ATOLL_DOMAIN_ORDERED, "any dtype but complex ones"},
        {ATOLL_DOMAIN_REALS, "integers or real floats"},
        {ATOLL_DOMAIN_BITS, "bool or integers"},
        {ATOLL_DOMAIN_INTEGERS, "integers"},
        {ATOLL_DOMAIN_SUMMED, "64-bit integers, real or complex floats"}};
    if (const auto found = known.find(set); found != known.end()) return found->second;
    Words names;
    for (std::uint32_t d = 1; d < ATOLL_DTYPE_COUNT; ++d)
        if (set >> d & 1) names.emplace_back(sdk::dtype_facts[d].name);
    return joined(names, " or ");
}

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
                    !slot.given && slot.twin < 0 && slot.kind == AxisKind::one) {
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
            return comment() + head("inline Tensor", parameters) +
                   fmt::format("    return detail::call_elementwise({}, {{&{}}}, out, mode);\n}}\n",
                               callee(), inputs) +
                   head("template <detail::TensorHandle Handle> Handle &", into) +
                   fmt::format("    detail::call_into({}, {{&{}}}, out);\n    return out;\n}}\n",
                               callee(), inputs);
        }
        return results() + comment() + head("inline " + result_type(), parameters) + body() + "}\n";
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
        if (s_.axes == sdk::AxesOf::first) return;
        const OperandSpec &first = s_.input(0);
        const bool one = s_.axes == sdk::AxesOf::named && first.axis_count == 1 &&
                         s_.slot(first.axes[0]).kind == AxisKind::one;
        parameters_.emplace_back(one ? "std::optional<int> axis = {}" : "const Axes &axes = {}");
        axes_ = one ? "axis" : "axes";
        example_.emplace_back("0");
    }
    // Reduced axes, which the results lack.
    bool reduces() const { return s_.axes == sdk::AxesOf::all && s_.operand(0).axis_count == 0; }
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
        if (reduces())
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
        return reduces() ? ".keepdims = true" : "";
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
        if (reduces()) fields.emplace_back(".keepdims = options.keepdims");
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
        if (s_.output_count == 1) return text + "    return results[0];\n";
        Words moved;
        for (int o = 0; o < s_.output_count; ++o) moved.push_back(fmt::format("results[{}]", o));
        return text + fmt::format("    return {{{}}};\n", joined(moved));
    }
    // --- documentation ---------------------------------------------------------------------------

    std::string type_text(const OperandSpec &spec) const {
        switch (spec.type) {
        case sdk::TypeOf::T: return "T";
        case sdk::TypeOf::R: return "real T";
        case sdk::TypeOf::C: return "complex T";
        case sdk::TypeOf::A: return "that T is accumulated in";
        case sdk::TypeOf::dtype: return std::string(sdk::dtype_facts[spec.dtype].name);
        default: return "its own dtype";
        }
    }
    std::string dtypes() const {
        if (f_.domain == 0) return "";
        Words from;
        for (int i = 0; i < s_.input_count(); ++i)
            if (const OperandSpec &spec = s_.input(i); spec.type != sdk::TypeOf::dtype &&
                                                       spec.type != sdk::TypeOf::object &&
                                                       spec.type != sdk::TypeOf::any)
                from.push_back(identifier(spec.name));
        static constexpr const char *conversions[] = {
            "",
            "",
            ", float64 for bool and integers",
            ", int64 for bool and signed integers, uint64 for unsigned ones",
            ", int8 for bool",
            ", made complex"};
        std::string text = "T is ";
        text += f_.rule == ATOLL_RULE_GIVEN || from.empty() ? "given as `dtype`"
                : from.size() == 1 ? fmt::format("the dtype of {}", from[0])
                                   : fmt::format("the common dtype of {}", listed(from));
        text += fmt::format("{} ({}); ", conversions[f_.rule], dtypes_text(f_.domain));
        Words results;
        for (int o = 0; o < s_.output_count; ++o)
            if (!s_.operand(o).is_object())
                results.push_back(fmt::format("{} has dtype {}", identifier(s_.operand(o).name),
                                              type_text(s_.operand(o))));
        return text + listed(results) + ".";
    }
    std::string shapes() const {
        if (s_.elementwise() && s_.input_count() < 2) return "";
        if (s_.elementwise()) return "Shapes broadcast, first axes aligned.";
        const std::string result = identifier(s_.operand(0).name);
        if (reduces())
            return fmt::format("Reduces `axes`, by default all; {} has the other axes.", result);
        if (s_.axes == sdk::AxesOf::all) return "Over `axes`, by default all.";
        if (s_.axes == sdk::AxesOf::named)
            return fmt::format("Along `{}`, which may be left out for rank 1 and 0.", axes_);
        return "The named axes come first; all further axes broadcast.";
    }
    std::string errors() const {
        Words lines;
        bool group = false;
        for (int i = 0; i < s_.slot_count; ++i)
            group |= s_.slot(i).given && s_.slot(i).kind != AxisKind::fixed;
        if (group && !s_.has_identity && reduces())
            lines.emplace_back("invalid_argument if there are no elements to reduce");
        if (s_.counts >= 0)
            lines.push_back(fmt::format("domain if an integer {} is negative",
                                        identifier(s_.operand(s_.counts).name)));
        if (s_.domain == sdk::MathDomain::divisor)
            lines.push_back(
                fmt::format("domain for zeros in {}, if the mode says so", names_.back()));
        else if (s_.domain == sdk::MathDomain::power)
            lines.emplace_back("domain for roots of negative numbers, if the mode says so");
        else if (s_.domain == sdk::MathDomain::range)
            lines.push_back(fmt::format("domain for {} outside [{}, {}], if the mode says so",
                                        names_[0], s_.low, s_.high));
        return lines.empty() ? "" : fmt::format("Throws Error: {}.", joined(lines, "; "));
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
    static void wrap(std::string &text, const std::string &paragraph) {
        if (paragraph.empty()) return;
        std::istringstream words(paragraph);
        std::string line = "//";
        for (std::string word; words >> word; line += " " + word)
            if (line.size() + 1 + word.size() > 100) {
                text += line + "\n";
                line = "//";
            }
        text += line + "\n";
    }
    std::string comment() const {
        std::string text;
        wrap(text, f_.doc + (f_.doc.ends_with('.') ? "" : "."));
        text += "//\n";
        wrap(text, fmt::format("Signature: {}. {} {}{}", f_.signature_text, shapes(), dtypes(),
                               s_.waits ? " Blocks." : ""));
        wrap(text, errors());
        return text + "//   " + example() + "\n";
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
