// Parses a function's line. At compile time, a syntax error does not compile; at run time, it
// throws Error with the column and what is needed there. Allocates nothing; names are views into
// the text.
#pragma once

#include "atoll/attribute_parser.hpp"

#include <algorithm>

namespace Atoll::sdk {
namespace detail {

struct SignatureParser {
    TextScanner in;
    Signature &s;

    // Slots are numbered in text order, but outputs come first in the call.
    constexpr void operands() {
        for (; !in.accept("->"); operand(true))
            if (s.operand_count > 0 && !in.accept(",")) in.fail("',' or '->'");
        for (operand(false); in.accept(",");) operand(false);
        if (!in.done()) in.fail("the end");
        const auto first = s.operands.begin();
        std::rotate(first, first + s.input_count(), first + s.operand_count);
    }
    constexpr void each(void (SignatureParser::*item)()) {
        for (bool first = true; !in.done(); first = false) {
            if (!first) in.expect(",");
            (this->*item)();
        }
    }
    constexpr void attribute() {
        if (s.attribute_count == s.attributes.size()) in.fail("fewer attributes");
        AttributeSpec &spec = s.attributes[s.attribute_count++];
        spec.name = in.name();
        if (std::ranges::find(s.attributes, spec.name, &AttributeSpec::name) != &spec)
            in.fail("different names");
        parse_attribute(in, spec);
    }
    constexpr void property() {
        if (in.accept("exact")) return void(s.exact = true);
        if (in.accept("loop ordered")) return void(s.loop_ordered = true);
        if (in.accept("axes all")) return void(s.axes = AxesOf::all);
        if (in.accept("axes named")) return void(s.axes = AxesOf::named);
        if (in.accept("status")) return void(s.status = output());
        if (in.accept("counts")) return void(s.counts = input());
        if (in.accept("flop")) return void(s.flop = in.integer());
        if (in.accept("identity")) return s.has_identity = true, void(s.identity = in.integer());
        if (in.accept("domain")) return domain();
        if (!in.accept("in place")) return axis_property(in.name());
        do s.operands[std::size_t(input())].in_place = true;
        while (in.at_name());
    }
    constexpr void domain() {
        s.domain = in.accept("divisor") ? MathDomain::divisor
                   : in.accept("power") ? MathDomain::power
                                        : MathDomain::range;
        if (s.domain == MathDomain::range) s.low = in.number(), s.high = in.number();
        if (s.input_count() == 0) in.fail("a function with inputs, before that");
    }
    constexpr void axis_property(std::string_view axis) {
        if (in.accept("nonzero")) return nonzero(axis);
        const auto property = in.accept("ordered")    ? &AxisSlot::ordered
                              : in.accept("separate") ? &AxisSlot::separate
                              : in.accept("opaque")   ? &AxisSlot::opaque
                                                      : nullptr;
        if (!property) in.fail("a property, before that");
        bool found = false; // a name may have several slots
        for (AxisSlot &slot : s.slots)
            if (slot.name == axis) slot.*property = found = true;
        if (!found) in.fail("the name of an axis, before that");
    }
    constexpr void nonzero(std::string_view axis) {
        if (s.nonzero_axis >= 0) in.fail("only one axis whose extent is counted, before that");
        for (std::uint8_t i = 0; i < s.slot_count; ++i)
            if (s.slots[i].name == axis && s.slots[i].kind == AxisKind::one && s.is_free(i))
                s.nonzero_axis = static_cast<std::int8_t>(i);
        if (s.nonzero_axis < 0) in.fail("the name of an axis that only outputs have, before that");
        s.nonzero = input();
    }
    constexpr void operand(bool input) {
        if (s.operand_count == s.operands.size()) in.fail("fewer operands");
        OperandSpec &spec = s.operands[s.operand_count++];
        s.output_count += !input;
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
        if (spec.is_object()) (input ? s.takes_objects : s.makes_objects) = true;
        spec.updated = in.accept("&");
        if (std::ranges::find(s.operands, spec.name, &OperandSpec::name) != &spec)
            in.fail("different names");
    }
    constexpr std::uint8_t axis(const OperandSpec &spec, bool input) {
        AxisSlot slot;
        const std::size_t from = in.position();
        const bool fixed = in.at_digit();
        if (fixed) slot.extent = in.integer();
        slot.name = fixed ? in.since(from) : in.name();
        slot.kind = fixed            ? AxisKind::fixed
                    : in.accept("*") ? AxisKind::group
                    : in.accept("?") ? AxisKind::optional
                                     : AxisKind::one;
        if (slot.kind == AxisKind::optional && !in.at(')')) in.fail("')' behind an optional axis");
        slot.given = input || fixed;
        // The axis denotes the first slot of its name that the operand does not have yet.
        for (std::uint8_t i = 0; i < s.slot_count; ++i) {
            if (s.slots[i].name != slot.name) continue;
            if (slot.twin < 0) slot.twin = static_cast<std::int8_t>(i);
            if (spec.has_axis(i)) continue;
            if (s.slots[i].kind != slot.kind) in.fail("the axis marked as before");
            return i;
        }
        if (slot.kind == AxisKind::optional && !input) in.fail("an input that has the axis too");
        if (s.slot_count == s.slots.size()) in.fail("fewer core axes");
        s.slots[s.slot_count] = slot;
        return s.slot_count++;
    }
    constexpr void type(OperandSpec &spec, std::string_view word) {
        spec.type = TypeOf{place_of(word, {"T", "R", "C", "A", "U", "any", "object"})};
        if (spec.type != TypeOf::dtype) return;
        for (spec.dtype = 1; word != dtype_facts[spec.dtype].name;)
            if (++spec.dtype == ATOLL_DTYPE_COUNT)
                in.fail("a dtype, T, R, C, A, U, any or object, before that");
    }
    constexpr std::int8_t output() {
        return one_of(0, s.output_count, "the name of an output, before that");
    }
    constexpr std::int8_t input() {
        return one_of(s.output_count, s.operand_count, "the name of an input, before that");
    }
    constexpr std::int8_t one_of(int at, int end, const char *needed) {
        for (const std::string_view name = in.name(); at < end; ++at)
            if (s.operand(at).name == name) return static_cast<std::int8_t>(at);
        in.fail(needed);
    }
};

} // namespace detail

// Parses the three texts of a function, which must outlive the result.
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
