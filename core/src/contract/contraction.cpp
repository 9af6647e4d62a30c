// Contractions of two tensors by labels, at once and planned.
#include "atoll/contraction.hpp"

#include "base/enums.hpp"
#include "base/printable.hpp"
#include "base/throw_error.hpp"
#include "call/factors.hpp"
#include "contract/pair.hpp"

#include <array>

namespace Atoll {

using namespace detail;

Labels::Labels(std::string_view letters) : letters_(true) {
    for (const char letter : letters) {
        if ((letter < 'a' || letter > 'z') && (letter < 'A' || letter > 'Z'))
            throw_error(Status::invalid_argument, "labels",
                        "got \"{}\", need letters a to z and A to Z, or numbers in braces",
                        printable(letters));
        values_.push_back(letter);
    }
}

ContractionOperand::ContractionOperand(const Tensor &like, Labels labels)
    : dtype_(impl(like).dtype), shape_(like.shape()), strides_(like.strides()),
      labels_(std::move(labels)) {}

ContractionOperand::ContractionOperand(DType dtype, Dims shape, Dims strides, Labels labels)
    : dtype_(dtype), shape_(std::move(shape)), strides_(std::move(strides)),
      labels_(std::move(labels)) {
    require_dtype(dtype_, "contraction");
    checked_range(shape_, strides_, size_of(dtype_), "contraction");
    bound_unused_strides(shape_, strides_, size_of(dtype_));
}

namespace {

std::shared_ptr<const PairContraction>
planned(const ContractionOperand &a, const ContractionOperand &b, const ContractionOperand *c,
        const ContractionOperand &d, DType common, const ContractOptions &options) {
    const DType T = options.dtype == DType::none ? common : options.dtype;
    return std::make_shared<PairContraction>(PairContraction::Caller{"contraction", "d", T}, a, b,
                                             c, d, false, T, options);
}

} // namespace

Contraction::Contraction(const ContractionOperand &a, const ContractionOperand &b,
                         const ContractionOperand &d, const ContractOptions &options)
    : plan_(planned(a, b, nullptr, d, promote(a.dtype(), b.dtype()), options)) {}

Contraction::Contraction(const ContractionOperand &a, const ContractionOperand &b,
                         const ContractionOperand &c, const ContractionOperand &d,
                         const ContractOptions &options)
    : plan_(planned(a, b, &c, d, promote(promote(a.dtype(), b.dtype()), c.dtype()), options)) {}

DType Contraction::dtype() const { return plan_->dtype(); }

void Contraction::run(const Tensor &a, const Tensor &b, const Tensor &d) const {
    run(1, a, b, 0, {}, d);
}

void Contraction::run(const Scalar &alpha, const Tensor &a, const Tensor &b, const Scalar &beta,
                      const Tensor &c, const Tensor &d) const {
    using Plan = PairContraction;
    plan_->require_layout(Plan::a, a);
    plan_->require_layout(Plan::b, b);
    plan_->require_layout(Plan::d, d);
    const bool adds = !is_zero(beta);
    if (adds) {
        if (!plan_->has_c())
            throw_error(Status::invalid_argument, "contraction",
                        "got beta = {}, but no c was planned", to_string(beta));
        plan_->require_layout(Plan::c, c);
    }
    const ReadSection section;
    plan_->run(alpha, a, b, beta, adds ? &c : nullptr, &d);
}

const Tensor &contract(Scalar alpha, const Tensor &a, const Labels &labels_a, const Tensor &b,
                       const Labels &labels_b, Scalar beta, const Tensor &c, const Labels &labels_c,
                       const ContractOptions &options) {
    const ReadSection section;
    const bool adds = !is_zero(beta);
    const ContractionOperand left(a, labels_a), right(b, labels_b), result(c, labels_c);
    const Operand third(c);
    const DType T = options.dtype == DType::none
                        ? decide_product_T(a, b, adds ? &third : nullptr, alpha, beta)
                        : options.dtype;
    const PairContraction plan({"contract", "c", T}, left, right, adds ? &result : nullptr, result,
                               false, T, options);
    plan.run(alpha, a, b, beta, adds ? &c : nullptr, &c);
    return c;
}

Tensor contract(const Tensor &a, const Labels &labels_a, const Tensor &b, const Labels &labels_b,
                const Labels &labels, Out out, const ContractOptions &options) {
    const ReadSection section;
    const Operand operands[] = {a, b};
    const Operand *const inputs[] = {&operands[0], &operands[1]};
    const DType T = options.dtype == DType::none
                        ? decide_T(Registry::get().core_function(ATOLL_FN_matmul), inputs, {})
                        : options.dtype;
    const ContractionOperand result =
        out.get() ? ContractionOperand(*out.get(), labels) : ContractionOperand(T, {}, {}, labels);
    const PairContraction plan({"contract", "out", T}, {a, labels_a}, {b, labels_b}, nullptr,
                               result, !out.get(), T, options);
    return plan.run(1, a, b, 0, nullptr, out.get());
}

} // namespace Atoll
