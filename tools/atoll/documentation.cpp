// Documentation of generated declarations: shapes, dtypes, errors.
#include "atoll/type_rules.hpp"
#include "declaration.hpp"
#include "identifiers.hpp"

#include <map>
#include <sstream>

#include <fmt/format.h>

namespace Atoll::tools {

namespace {

using sdk::AxisKind;
using sdk::OperandSpec;

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

class Documentation {
public:
    explicit Documentation(const ListedFunction &function) : f_(function), s_(function.signature) {}

    std::string comment(const std::string &example) const {
        std::string text;
        wrap(text, f_.doc + (f_.doc.ends_with('.') ? "" : "."));
        text += "//\n";
        wrap(text, fmt::format("Signature: {}. {} {}{}", f_.signature_text, shapes(), dtypes(),
                               s_.nonzero >= 0 ? " Blocks." : ""));
        wrap(text, errors());
        return text + "//   " + example + "\n";
    }

private:
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
        if (f_.reduces())
            return fmt::format("Reduces `axes`, by default all; {} has the other axes.", result);
        if (s_.nonzero >= 0)
            return fmt::format("Over all axes of {0}; {1} has shape ({2}), {2} the number of "
                               "non-zero elements of {0}.",
                               identifier(s_.operand(s_.nonzero).name), result,
                               s_.slot(s_.nonzero_axis).name);
        if (s_.axes == sdk::AxesOf::all) return "Over `axes`, by default all.";
        if (s_.axes == sdk::AxesOf::named)
            return fmt::format("Along `{}`, which may be left out for rank 1 and 0.",
                               f_.names_one_axis() ? "axis" : "axes");
        return "The named axes come first; all further axes broadcast.";
    }
    std::string errors() const {
        Words lines;
        bool group = false;
        for (int i = 0; i < s_.slot_count; ++i)
            group |= s_.slot(i).given && s_.slot(i).kind != AxisKind::fixed;
        if (group && !s_.has_identity && f_.reduces())
            lines.emplace_back("invalid_argument if there are no elements to reduce");
        if (s_.counts >= 0)
            lines.push_back(fmt::format("domain if an integer {} is negative",
                                        identifier(s_.operand(s_.counts).name)));
        if (s_.domain == sdk::MathDomain::divisor)
            lines.push_back(fmt::format("domain for zeros in {}, if the mode says so",
                                        identifier(s_.input(s_.input_count() - 1).name)));
        else if (s_.domain == sdk::MathDomain::power)
            lines.emplace_back("domain for roots of negative numbers, if the mode says so");
        else if (s_.domain == sdk::MathDomain::range)
            lines.push_back(fmt::format("domain for {} outside [{}, {}], if the mode says so",
                                        identifier(s_.input(0).name), s_.low, s_.high));
        return lines.empty() ? "" : fmt::format("Throws Error: {}.", joined(lines, "; "));
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

    const ListedFunction &f_;
    const sdk::Signature &s_;
};

} // namespace

std::string comment_of(const ListedFunction &function, const std::string &example) {
    return Documentation(function).comment(example);
}

} // namespace Atoll::tools
