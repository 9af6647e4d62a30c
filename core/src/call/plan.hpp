// Second stage of a call: decides why operands need copies. Plain data, shown by text(plan).
#pragma once

#include "call/check.hpp"

#include <string>

namespace Atoll::detail {

struct PlannedOperand {
    std::uint32_t needs; // why it is not passed as it is: ATOLL_REASON_*
    DType dtype;         // that the plugin gets
};
// Reasons that the copy is laid out for the implementation, not as the operand is.
inline constexpr std::uint32_t need_layout = ATOLL_REASON_STRIDES | ATOLL_REASON_NEGATIVE_STRIDES |
                                             ATOLL_REASON_BROADCAST | ATOLL_REASON_AXES;

struct Plan {
    const Checked *call;
    PlannedOperand operand[max_operands];
    bool copies; // an operand has needs
};

// Finds all needs except layouts, which depend on merged axes. Outputs that do not exist yet need
// nothing. `caps`: what the implementation takes (ATOLL_CAP_*). `exact`: numbers keep their dtype.
void make_plan(const Checked &call, std::uint64_t caps, bool exact, Plan &plan);

// The plugin gets a new tensor for the output, which is copied to its place.
void replace_output(Plan &plan, int output, std::uint32_t need);

// One line per operand, and the axes.
std::string text(const Plan &plan);

} // namespace Atoll::detail
