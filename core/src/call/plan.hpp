// Second stage of a call: what has to be done to each operand. Data without handles; text(plan)
// shows it.
#pragma once

#include "call/check.hpp"

#include <string>

namespace Atoll::detail {

// Why an operand is not passed as it is.
enum Need : std::uint16_t {
    need_device = 1,     // it lies on another one
    need_dtype = 2,      // a conversion
    need_byte_order = 4, // it is byte-swapped
    need_alignment = 8,
    need_overlap = 16, // an output and an input share memory
    need_layout = 32,  // these strides are not taken
    need_tensor = 64,  // a number, where tensors only are taken
};

struct PlannedOperand {
    std::uint16_t needs; // Need
    DType dtype;         // that the plugin gets
};

struct Plan {
    const Checked *call;
    PlannedOperand operand[max_operands];
    bool copies; // an operand has needs
};

// What the elements of the operands need, and overlap. Layouts are looked at once the axes are
// merged. Outputs that are yet to be made need nothing.
// `caps`: what the implementation takes (ATOLL_CAP_*). `exact`: numbers keep their own dtype.
void make_plan(const Checked &call, std::uint64_t caps, bool exact, Plan &plan);

// The plugin gets a new tensor for the output, which is copied to its place.
void replace_output(Plan &plan, int output);

// One line per operand, and the axes.
std::string text(const Plan &plan);

} // namespace Atoll::detail
