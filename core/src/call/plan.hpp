// Second stage of a call: decides why operands need copies. Plain data, shown by text(plan).
#pragma once

#include "call/check.hpp"

#include <string>

namespace Atoll::detail {

// Why an operand is not passed as it is.
enum Need : std::uint16_t {
    need_device = 1,     // it is on another one
    need_dtype = 2,      // a conversion
    need_byte_order = 4, // it is byte-swapped
    need_alignment = 8,
    need_overlap = 16, // an output and an input share memory
    need_layout = 32,  // the implementation does not take its strides
    need_tensor = 64,  // a number, but the implementation takes tensors only
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

// Finds all needs except layouts, which depend on merged axes. Outputs that do not exist yet need
// nothing. `caps`: what the implementation takes (ATOLL_CAP_*). `exact`: numbers keep their dtype.
void make_plan(const Checked &call, std::uint64_t caps, bool exact, Plan &plan);

// The plugin gets a new tensor for the output, which is copied to its place.
void replace_output(Plan &plan, int output);

// One line per operand, and the axes.
std::string text(const Plan &plan);

} // namespace Atoll::detail
