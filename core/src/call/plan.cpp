// Decides which operands of a call need copies.
#include "call/plan.hpp"

#include "call/overlap_policy.hpp"

#include <fmt/core.h>

namespace Atoll::detail {

void make_plan(const Checked &call, std::uint64_t caps, bool exact, Plan &plan) {
    const sdk::Signature &signature = call.function->signature;
    plan.call = &call;
    plan.copies = false;
    // Needs of the elements, before overlap: a replaced output overlaps nothing.
    for (int o = 0; o < signature.operand_count; ++o) {
        const bool output = o < signature.output_count;
        const sdk::OperandSpec &spec = signature.operand(o);
        const DType natural = natural_dtype(spec, call.T);
        PlannedOperand &operand = plan.operand[o];
        operand = {0, natural};
        if (spec.is_object()) continue;
        if (const TensorImpl *tensor = call.tensor[o]) {
            const bool mixed = caps & (output ? ATOLL_CAP_MIXED_OUTPUTS : ATOLL_CAP_MIXED_INPUTS);
            if (natural != DType::none && tensor->dtype != natural && !mixed)

                operand.needs |= output ? ATOLL_REASON_OUTPUT_DTYPE : ATOLL_REASON_DTYPE;
            if (tensor->swapped() && !(caps & ATOLL_CAP_SWAPPED))
                operand.needs |= ATOLL_REASON_BYTE_ORDER;
            if (!(caps & ATOLL_CAP_UNALIGNED) && !aligned(*tensor))
                operand.needs |= ATOLL_REASON_ALIGNMENT;
            if (tensor->device() != call.device) operand.needs |= ATOLL_REASON_DEVICE;
            if (natural == DType::none || (!output && mixed) || !operand.needs)
                operand.dtype = tensor->dtype;
        } else if (call.scalar[o]) {
            if (!(caps & ATOLL_CAP_SCALARS)) operand.needs = ATOLL_REASON_NUMBER;
            if (exact) operand.dtype = call.scalar[o]->dtype();
        }
        plan.copies |= operand.needs != 0;
    }
    for (int o = 0; o < signature.output_count; ++o) {
        if (!call.tensor[o] || plan.operand[o].needs) continue;
        const int copied = operand_to_copy(call, o);
        if (copied < 0) continue;
        plan.copies = true;
        if (copied == o)
            replace_output(plan, o, ATOLL_REASON_OVERLAP);
        else
            plan.operand[copied].needs |= ATOLL_REASON_OVERLAP;
    }
}

void replace_output(Plan &plan, int output, std::uint32_t need) {
    const sdk::OperandSpec &spec = plan.call->function->signature.operand(output);
    plan.operand[output].needs |= need;
    if (const DType natural = natural_dtype(spec, plan.call->T); natural != DType::none)
        plan.operand[output].dtype = natural;
}

std::string text(const Plan &plan) {
    static constexpr std::pair<std::uint32_t, const char *> words[] = {
#define ATOLL_CALL_REASON(bit, ENUM, name, capability, text) {1u << (bit), name},
#include "atoll/lists/call_reasons.inc"
    };
    const Checked &call = *plan.call;
    std::string axes;
    for (int i = 0; i < call.rank; ++i)
        axes += fmt::format("{}{}", i == 0 ? "" : i == call.core ? " | " : " ", call.shape[i]);
    std::string result = fmt::format("{} {} on {}, axes ({})", call.function->full_name,
                                     name(call.T), call.device->name, axes);
    const sdk::Signature &signature = call.function->signature;
    for (int o = 0; o < signature.operand_count; ++o) {
        const bool there = call.tensor[o] || call.scalar[o] || o < signature.output_count;
        result += fmt::format("\n  {}: {}", signature.operand(o).name,
                              there ? name(plan.operand[o].dtype) : "absent");
        const char *before = ", copied for ";
        for (const auto &[need, word] : words) {
            if (!(plan.operand[o].needs & need)) continue;
            result += std::string(before) + word;
            before = ", ";
        }
    }
    return result;
}

} // namespace Atoll::detail
