// What the parts of check() share: the call, and the texts of its errors.
#pragma once

#include "call/broadcast.hpp"
#include "call/check.hpp"

#include <fmt/core.h>

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

    template <class... Args>
    [[noreturn]] void refuse(fmt::format_string<Args...> text, Args &&...args) const {
        throw_error(Status::invalid_argument, f_.full_name, text, std::forward<Args>(args)...);
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

// For functions with core axes: decides which axes of the operands are core axes of the call and
// which its loop, and their extents; the function's `infer` callback may give those that only
// outputs have. Fills in rank, core, slot_axes, shape, axis, output_rank and empty, from operands
// and T. Throws Error that names operands and axes.
void place_axes(const CheckPart &part);

} // namespace Atoll::detail
