// The operands, attributes and properties of a function, as data. parse_signature
// (signature_parser.hpp) creates it from the function's line in a module's list. See
// Note [Signatures] in abi/module.h.
#pragma once

#include "atoll/abi/module.h"
#include "atoll/dtype_facts.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>

namespace Atoll::sdk {

enum class AxisKind : std::uint8_t { one, group, optional, fixed };
enum class AxesOf : std::uint8_t { first, all, named }; // which tensor axes are core axes
enum class TypeOf : std::uint8_t { T, R, C, A, U, any, object, dtype };
enum class MathDomain : std::uint8_t { all, range, divisor, power };

// One core axis of the call, or a group of axes. A name that occurs twice in one operand has two
// slots.
struct AxisSlot {
    std::string_view name;
    AxisKind kind = AxisKind::one;
    bool ordered = false, separate = false, opaque = false;
    bool given = true;        // false: occurs only in outputs
    std::int8_t twin = -1;    // the first slot of the same name: their extents are equal
    std::int64_t extent = -1; // for a fixed axis
};

struct OperandSpec {
    std::string_view name;
    TypeOf type = TypeOf::T;
    std::uint16_t dtype = 0; // with TypeOf::dtype
    bool optional = false;   // "?"
    bool updated = false;    // "&": an output or object that is also read
    bool in_place = false;   // outputs may be the same elements
    std::uint8_t axis_count = 0;
    std::array<std::uint8_t, 4> axes{}; // slots, in the order of the parentheses

    constexpr bool has_axis(int slot) const {
        const auto end = axes.begin() + axis_count;
        return std::find(axes.begin(), end, slot) != end;
    }
    constexpr bool is_object() const { return type == TypeOf::object; }
};

enum class AttributeType : std::uint8_t { boolean, int64, float64, T, A, number, choice, ints };

struct AttributeSpec {
    std::string_view name;
    AttributeType type = AttributeType::boolean;
    bool optional = false; // "?": may be absent; absent by default
    bool required = false; // no default
    double least = -std::numeric_limits<double>::infinity(); // a number is not below it
    std::string_view words;                                  // "reduced | complete", for choice
    std::string_view fallback;                               // the default as written
};

struct Signature {
    std::array<AxisSlot, ATOLL_MAX_SLOTS> slots{};
    std::array<OperandSpec, ATOLL_MAX_OPERANDS> operands{}; // outputs first, as in the call
    std::array<AttributeSpec, 8> attributes{};
    std::uint8_t slot_count = 0, output_count = 0, operand_count = 0, attribute_count = 0;
    AxesOf axes = AxesOf::first;
    MathDomain domain = MathDomain::all;
    double low = 0, high = 0; // MathDomain::range, of the first input
    bool has_identity = false;
    std::int64_t identity = 0; // the result over no elements
    bool loop_ordered = false, exact = false;
    std::int8_t status = -1;       // operand that reports failures
    std::int8_t counts = -1;       // input that must not be negative
    std::int8_t nonzero = -1;      // input whose non-zero elements the host counts
    std::int8_t nonzero_axis = -1; // slot, of outputs only, that is as long
    std::int64_t flop = 0;         // per point of the space
    bool takes_objects = false, makes_objects = false;

    constexpr int input_count() const { return operand_count - output_count; }
    constexpr const AxisSlot &slot(int i) const { return slots[static_cast<std::size_t>(i)]; }
    constexpr const OperandSpec &operand(int i) const {
        return operands[static_cast<std::size_t>(i)];
    }
    constexpr const OperandSpec &input(int i) const { return operand(output_count + i); }
    constexpr const AttributeSpec &attribute(int i) const {
        return attributes[static_cast<std::size_t>(i)];
    }
    // Whether the caller may give the extent of a slot, which no input has.
    constexpr bool is_free(int i) const {
        return !slot(i).given && slot(i).twin < 0 && i != nonzero_axis;
    }
    constexpr bool elementwise() const { return slot_count == 0; }
};

} // namespace Atoll::sdk
