// Parses a function's line. At compile time a wrong line does not compile; at run time it throws
// Error with the column and what is needed there. Allocates nothing; names are views of the text.
#pragma once

#include "atoll/signature.hpp"
#include "atoll/text_scanner.hpp"

namespace Atoll::sdk {
namespace detail {

struct SignatureParser {
    TextScanner in;
    Signature &s;

    // Outputs come first in the call; names and slots count from the left.
    constexpr void operands() {
        OperandSpec inputs[ATOLL_MAX_OPERANDS];
        int count = 0;
        for (; !in.accept("->"); inputs[count++] = operand(true)) {
            if (count > 0 && !in.accept(",")) in.fail("',' or '->'");
            if (count == ATOLL_MAX_OPERANDS - 1) in.fail("fewer operands");
        }
        do {
            if (count++ == ATOLL_MAX_OPERANDS) in.fail("fewer operands");
            s.operands[s.output_count++] = operand(false);
        } while (in.accept(","));
        if (!in.done()) in.fail("the end");
        s.operand_count = s.output_count;
        for (int i = 0; s.operand_count < count; ++i) s.operands[s.operand_count++] = inputs[i];
        for (int i = 0; i < count; ++i) {
            if (operand_named(at(i).name) != i) in.fail("different names");
            if (at(i).is_object()) (i < s.output_count ? s.makes_objects : s.takes_objects) = true;
        }
    }
    constexpr void each(void (SignatureParser::*item)()) {
        if (in.done()) return;
        for (;; in.expect(",")) {
            (this->*item)();
            if (in.done()) return;
        }
    }
    constexpr void attribute() {
        if (s.attribute_count == s.attributes.size()) in.fail("fewer attributes");
        AttributeSpec &spec = s.attributes[s.attribute_count++];
        spec.name = in.name();
        in.expect(":");
        const std::size_t from = in.position();
        spec.type = attribute_type(in.name());
        while (spec.type == AttributeType::choice && in.accept("|")) in.name();
        spec.words = in.since(from);
        spec.optional = in.accept("?");
        spec.required = !spec.optional && !in.accept("=");
        if (spec.optional || spec.required) return;
        const std::size_t value = in.position();
        in.at_name() ? void(in.name()) : void(in.number());
        spec.fallback = in.since(value);
    }
    constexpr void property() {
        if (in.accept("exact")) return void(s.exact = true);
        if (in.accept("waits")) return void(s.waits = true);
        if (in.accept("loop ordered")) return void(s.loop_ordered = true);
        if (in.accept("axes all")) return void(s.axes = AxesOf::all);
        if (in.accept("axes named")) return void(s.axes = AxesOf::named);
        if (in.accept("status")) return void(s.status = operand_named(in.name()));
        if (in.accept("counts")) return void(s.counts = operand_named(in.name()));
        if (in.accept("flop")) return void(s.flop = static_cast<std::int64_t>(in.number()));
        if (in.accept("identity")) {
            s.has_identity = true;
            s.identity = static_cast<std::int64_t>(in.number());
        } else if (in.accept("in place")) {
            while (in.at_name()) at(operand_named(in.name())).in_place = true;
        } else if (in.accept("domain")) {
            s.domain = in.accept("divisor") ? MathDomain::divisor
                       : in.accept("power") ? MathDomain::power
                                            : MathDomain::range;
            if (s.domain == MathDomain::range) s.low = in.number(), s.high = in.number();
        } else
            axis_property(in.name());
    }

private:
    constexpr void axis_property(std::string_view axis) {
        const bool ordered = in.accept("ordered"), separate = !ordered && in.accept("separate");
        if (!ordered && !separate && !in.accept("opaque")) in.fail("a property, before that");
        for (AxisSlot &slot : s.slots)
            if (slot.name == axis)
                (ordered ? slot.ordered : separate ? slot.separate : slot.opaque) = true, axis = "";
        if (!axis.empty()) in.fail("the name of an axis, before that");
    }
    constexpr OperandSpec operand(bool input) {
        OperandSpec spec;
        spec.name = in.name();
        if (in.accept("(")) {
            for (; !in.accept(")"); spec.axis_count++) {
                if (spec.axis_count > 0 && !in.accept(",")) in.fail("',' or ')'");
                if (spec.axis_count == spec.axes.size()) in.fail("fewer axes");
                spec.axes[spec.axis_count] = axis(spec, input);
            }
            spec.optional = in.accept("?");
        } else if (!in.at(':'))
            in.fail("'('");
        if (in.accept(":")) type(spec, in.name());
        spec.updated = in.accept("&");
        return spec;
    }
    constexpr std::uint8_t axis(const OperandSpec &spec, bool input) {
        AxisSlot slot;
        const std::size_t from = in.position();
        if (in.at_digit()) slot.extent = static_cast<std::int64_t>(in.number());
        slot.name = slot.extent >= 0 ? in.since(from) : in.name();
        slot.kind = slot.extent >= 0 ? AxisKind::fixed
                    : in.accept("*") ? AxisKind::group
                    : in.accept("?") ? AxisKind::optional
                                     : AxisKind::one;
        if (slot.kind == AxisKind::optional && !in.at(')')) in.fail("')' behind an optional axis");
        slot.given = input || slot.kind == AxisKind::fixed;
        // Where a name stands in one operand for the n-th time it means the n-th slot of that name.
        int before = 0;
        for (int i = 0; i < spec.axis_count; ++i) before += s.slots[spec.axes[i]].name == slot.name;
        for (std::uint8_t i = 0; i < s.slot_count; ++i) {
            if (s.slots[i].name != slot.name) continue;
            if (slot.twin < 0) slot.twin = static_cast<std::int8_t>(i);
            if (before-- > 0) continue;
            if (s.slots[i].kind != slot.kind) in.fail("the axis marked as before");
            return i;
        }
        if (s.slot_count == s.slots.size()) in.fail("fewer core axes");
        s.slots[s.slot_count] = slot;
        return s.slot_count++;
    }
    constexpr void type(OperandSpec &spec, std::string_view word) {
        constexpr std::string_view words[] = {"T", "R", "C", "A", "U", "any", "object"};
        for (std::uint8_t i = 0; i < std::size(words); ++i)
            if (word == words[i]) return void(spec.type = TypeOf{i});
        spec.type = TypeOf::dtype;
        for (std::uint16_t i = 1; i < ATOLL_DTYPE_COUNT; ++i)
            if (word == dtype_facts[i].name) return void(spec.dtype = i);
        in.fail("a dtype, T, R, C, A, U, any or object, before that");
    }
    constexpr AttributeType attribute_type(std::string_view word) {
        constexpr std::string_view words[] = {"bool", "int64", "float64", "T", "A", "number"};
        for (std::uint8_t i = 0; i < std::size(words); ++i)
            if (word == words[i]) return in.accept("[]") ? AttributeType::ints : AttributeType{i};
        if (!in.at('|')) in.fail("a type, or words with | between them");
        return AttributeType::choice;
    }
    constexpr std::int8_t operand_named(std::string_view name) const {
        for (std::int8_t i = 0; i < s.operand_count; ++i)
            if (s.operand(i).name == name) return i;
        in.fail("the name of an operand, before that");
    }
    constexpr OperandSpec &at(int i) { return s.operands[static_cast<std::size_t>(i)]; }
};

} // namespace detail

// From a function's three texts, which must outlive the result.
constexpr Signature parse_signature(std::string_view signature, std::string_view attributes = {},
                                    std::string_view properties = {}) {
    using detail::SignatureParser;
    Signature result;
    SignatureParser{TextScanner(signature), result}.operands();
    SignatureParser{TextScanner(attributes), result}.each(&SignatureParser::attribute);
    SignatureParser{TextScanner(properties), result}.each(&SignatureParser::property);
    return result;
}

} // namespace Atoll::sdk
