// The one place that decides how to resolve overlap.
#include "call/overlap_policy.hpp"

namespace Atoll::detail {

int operand_to_copy(const Checked &call, int output) {
    const sdk::Signature &signature = call.function->signature;
    const TensorImpl &out = *call.tensor[output];
    int hazards = 0, input = -1;
    for (int o = signature.output_count; o < signature.operand_count; ++o) {
        const TensorImpl *in = call.tensor[o];
        if (!in || in->dtype == DType::none || separate(out, *in)) continue;
        const sdk::OperandSpec &spec = signature.operand(o);
        // Element by element, or declared: then identical elements do no harm.
        const bool in_place = signature.elementwise() || (spec.in_place && in->dtype == out.dtype);
        if (!(in_place ? hazardous_overlap(out, *in) : overlapping(out, *in))) continue;
        ++hazards;
        input = o;
    }
    return hazards > 1 || (hazards == 1 && call.tensor[input]->size() > out.size()) ? output
                                                                                    : input;
}

} // namespace Atoll::detail
