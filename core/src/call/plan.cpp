// What has to be done to the operands of a call.
#include "call/plan.hpp"

#include "call/overlap_policy.hpp"

#include <fmt/format.h>

namespace Atoll::detail {

namespace {

std::uint16_t element_needs(const TensorImpl &tensor, Capabilities can, DType natural,
                            std::uint64_t mixed) {
    std::uint16_t needs = 0;
    if (natural != DType::none && tensor.dtype != natural && !can.take(mixed)) needs |= need_dtype;
    if (tensor.swapped() && !can.take(ATOLL_CAP_SWAPPED)) needs |= need_byte_order;
    if (!can.take(ATOLL_CAP_UNALIGNED) && !aligned(tensor)) needs |= need_alignment;
    return needs;
}

} // namespace

void make_plan(const Checked &call, Capabilities can, bool exact, Plan &plan) {
    const sdk::Signature &signature = call.function->signature;
    plan.call = &call;
    plan.copies = false;
    // What the elements need. Outputs first: one that is replaced is in nobody's way.
    for (int o = 0; o < signature.operand_count; ++o) {
        PlannedOperand &operand = plan.operand[o];
        const bool output = o < signature.output_count;
        const sdk::OperandSpec &spec = signature.operand(o);
        const DType natural = natural_dtype(spec, call.T);
        operand = {0, natural};
        const TensorImpl *tensor = call.tensor[o];
        if (spec.is_object()) continue;
        if (!tensor) {
            if (call.scalar[o] && !can.take(ATOLL_CAP_SCALARS)) operand.needs = need_tensor;
            if (call.scalar[o] && exact) operand.dtype = call.scalar[o]->dtype();
        } else {
            const std::uint64_t mixed = output ? ATOLL_CAP_MIXED_OUTPUTS : ATOLL_CAP_MIXED_INPUTS;
            operand.needs = element_needs(*tensor, can, natural, mixed);
            if (tensor->device() != call.device) operand.needs |= need_device;
            if (natural == DType::none || (!output && can.take(mixed)) || !operand.needs)
                operand.dtype = tensor->dtype;
        }
        plan.copies |= operand.needs != 0;
    }
    for (int o = 0; o < signature.output_count; ++o) {
        if (!call.tensor[o] || plan.operand[o].needs) continue;
        int input = 0;
        const Hazard hazard = overlap_policy(call, o, input);
        if (hazard == Hazard::none) continue;
        plan.copies = true;
        if (hazard == Hazard::copy_input) {
            plan.operand[input].needs |= need_overlap;
        } else {
            replace_output(plan, o);
        }
    }
}

void replace_output(Plan &plan, int output) {
    const sdk::OperandSpec &spec = plan.call->function->signature.operand(output);
    plan.operand[output].needs |= need_overlap;
    if (const DType natural = natural_dtype(spec, plan.call->T); natural != DType::none)
        plan.operand[output].dtype = natural;
}

std::string text(const Plan &plan) {
    static constexpr std::pair<Need, const char *> words[] = {
        {need_device, "another device"}, {need_dtype, "dtype"},     {need_byte_order, "byte order"},
        {need_alignment, "alignment"},   {need_overlap, "overlap"}, {need_layout, "layout"},
        {need_tensor, "a tensor"}};
    const Checked &call = *plan.call;
    std::string axes;
    for (int i = 0; i < call.rank; ++i)
        axes += fmt::format("{}{}", i == 0 ? "" : i == call.core ? " | " : " ", call.shape[i]);
    std::string result = fmt::format("{} {} on {}, axes ({})", call.function->full_name,
                                     name(call.T), call.device->name, axes);
    for (int o = 0; o < call.function->signature.operand_count; ++o) {
        result += fmt::format("\n  {}: {}", call.function->signature.operand(o).name,
                              call.tensor[o] || call.scalar[o] ||
                                      o < call.function->signature.output_count
                                  ? name(plan.operand[o].dtype)
                                  : "absent");
        std::string needs;
        for (const auto &[need, word] : words)
            if (plan.operand[o].needs & need)
                needs += std::string(needs.empty() ? "" : ", ") + word;
        if (!needs.empty()) result += ", copied for " + needs;
    }
    return result;
}

} // namespace Atoll::detail
