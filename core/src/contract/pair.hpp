// The contraction of two tensors: its analysis, and calls with it.
//
// Note [Contraction]
// Each label belongs to a group by the operands that have it:
//
//   a, b, d   loop      a, d   m      b, d   n      a, b   k      a or b alone   summed first
//
// Sorted by group, the operands are views that core.matmul takes, with several axes per group. A
// label that stands several times in one operand is its diagonal: one axis whose stride is the sum.
// Axes of extent 1 play no part. Without k nothing is added up, and core.multiply does where the
// device has it.
#pragma once

#include "atoll/contraction.hpp"
#include "call/space.hpp"
#include "call/taken_apart.hpp"

namespace Atoll::detail {

class PairContraction {
public:
    enum Role { d, a, b, c, roles }; // as in the call

    // What the user calls.
    struct Caller {
        std::string_view op, result; // its name, and its name for d; literals
        DType dtype;                 // of its result, before the conversion to that of d
    };

    // `c` may be null. `makes_d`: d has only dtype and labels, run() makes it. `dtype`: what to
    // compute in.
    PairContraction(const Caller &caller, const ContractionOperand &a, const ContractionOperand &b,
                    const ContractionOperand *c, const ContractionOperand &d, bool makes_d,
                    DType dtype, const ContractOptions &options);

    DType dtype() const { return T_; }
    const ContractionOperand &operand(Role role) const {
        return operands_[static_cast<std::size_t>(role)];
    }
    bool has_c() const { return operands_.size() > c; }
    // Throws Error unless the tensor has the layout that was planned.
    void require_layout(Role role, const Tensor &tensor) const;

    // d = alpha a b + beta c with tensors of the planned layouts, in a ReadSection. c may be null,
    // then beta is not used. Makes d unless `out` is given, where `beside` is, or a.
    Tensor run(const Scalar &alpha, const Tensor &a, const Tensor &b, const Scalar &beta,
               const Tensor *c, const Tensor *out, const Tensor *beside = nullptr) const;

private:
    // The axes of an operand in a call.
    struct View {
        Dims shape, strides;
    };
    class Analysis;
    void analyse(bool makes_d);
    std::string_view role_name(int role) const;
    [[noreturn]] void refuse_layout(Role role, const TensorImpl &t) const;

    void check_settings(const Tensor *const *tensors) const;
    void multiply(const Tensor *const *tensors, const ProductAttributes &attributes) const;
    bool run_prepared(const ProductAttributes &attributes, const Tensor *const *tensors) const;
    void run_views(const ProductAttributes &attributes, const Tensor *const *tensors) const;
    void multiply_elements(const Tensor *const *tensors) const;
    void scale(const Scalar &beta, const Tensor *const *tensors) const;
    Tensor factor(Role role, const Tensor &of, const Context &parts) const;
    Tensor summand(const Tensor &of, const Context &parts) const;
    DType views_dtype() const;

    Caller caller_;
    DType T_;
    ContractOptions options_;
    std::vector<ContractionOperand> operands_; // by role; c only if there is one
    View views_[roles];                        // for core.matmul
    View summed_[roles];                       // for core.sum: the view's axes, then those summed
    std::uint8_t group_axes_[3] = {};          // m, k, n
    bool sums_ = false;                        // over k
    bool prepared_ = false;                    // space_ holds a call that needs no copies
    Space space_;
    std::int64_t start_[roles] = {}; // bytes from element (0, …) to where space_ starts
    ByteRange range_[roles] = {};    // of an operand's elements, from element (0, …)
};

} // namespace Atoll::detail
