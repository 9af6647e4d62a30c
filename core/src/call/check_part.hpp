// The parts of check(), and what they share: the call at hand, and the words of its errors.
#pragma once

#include "call/broadcast.hpp"
#include "call/check.hpp"

#include <fmt/format.h>

namespace Atoll::detail {

class CheckPart {
public:
    CheckPart(const FunctionRecord &function, const Arguments &arguments, const Context &context,
              Checked &checked)
        : f_(function), s_(function.signature), given_(arguments), context_(context), c_(checked) {}

protected:
    const sdk::OperandSpec &spec(int o) const { return s_.operand(o); }
    const sdk::AxisSlot &slot(int s) const { return s_.slot(s); }
    const TensorImpl &tensor(int o) const { return *c_.tensor[o]; }

    [[noreturn]] void refuse(const std::string &text,
                             Status status = Status::invalid_argument) const {
        throw Error(status, f_.full_name, text);
    }
    NamedShape named(int o) const { return {spec(o).name, tensor(o).shape}; }
    // "b (5, 3)"
    std::string text(int o) const { return shape_text(spec(o).name, tensor(o).shape); }

    const FunctionRecord &f_;
    const sdk::Signature &s_;
    const Arguments &given_;
    const Context &context_;
    Checked &c_;
};

// For functions with core axes: which axes of the operands are core axes of the call, which are its
// loop, and their extents; those that only results have may come from the function's `infer`
// callback. Fills in rank, core, slot_axes, shape, axis, output_rank and empty; operands and T must
// be there. Throws Error that names operands and axes.
void place_axes(const CheckPart &part);

} // namespace Atoll::detail
