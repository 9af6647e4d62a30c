// Compute modes. The checks call the library's own functions, so they work on every device.
#include "call/domain.hpp"

#include "base/enums.hpp"
#include "base/throw_error.hpp"
#include "call/parts.hpp"
#include "runtime/log.hpp"

#include <cmath>

namespace Atoll::detail {

namespace {

class Domain {
public:
    Domain(const FunctionRecord &function, Inputs inputs, const Context &parts)
        : s_(function.signature), inputs_(inputs), parts_(parts) {}

    bool has_outside() const {
        const Operand *first = input(0), *last = input(s_.input_count() - 1);
        if (s_.domain == sdk::MathDomain::divisor) return last && has_zero(*last);
        for (const Operand *x : inputs_)
            if (x && is_complex(dtype_of(*x))) return false;
        if (s_.domain == sdk::MathDomain::power)
            return first && last && root_of_negative(*first, *last);
        return first && (extreme(ATOLL_FN_min, *first) < s_.low ||
                         (std::isfinite(s_.high) && extreme(ATOLL_FN_max, *first) > s_.high));
    }
    std::string sentence() const {
        const std::string_view first = s_.input(0).name, last = s_.input(s_.input_count() - 1).name;
        switch (s_.domain) {
        case sdk::MathDomain::divisor: return fmt::format("{} has an element that is zero", last);
        case sdk::MathDomain::power:
            return fmt::format("{} has a negative element where {} is not an integer", first, last);
        default:
            return std::isfinite(s_.high)
                       ? fmt::format("{} has an element outside [{}, {}]", first, s_.low, s_.high)
                       : fmt::format("{} has an element below {}", first, s_.low);
        }
    }

private:
    // Null: absent.
    const Operand *input(int i) const {
        const auto at = static_cast<std::size_t>(i);
        return at < inputs_.size() ? inputs_[at] : nullptr;
    }
    Scalar item(int function, const Tensor &x, bool skip_nan = false) const {
        return item_part(part(function, {x}, parts_, nullptr, skip_nan), parts_);
    }
    // Ignores NaN, which is NaN before the function too.
    double extreme(int function, const Operand &x) const {
        if (!x.tensor()) return x.scalar().to_double();
        return x.tensor()->size() == 0 ? 0 : item(function, *x.tensor(), true).to_double();
    }
    bool has_zero(const Operand &x) const {
        if (!x.tensor()) return x.scalar().to_complex() == std::complex<double>(0);
        return !item(ATOLL_FN_all, *x.tensor()).to_int();
    }
    // Whether a negative base meets an exponent that is not an integer.
    bool root_of_negative(const Operand &base, const Operand &exponent) const {
        if (!is_floating(dtype_of(exponent)) || !(extreme(ATOLL_FN_min, base) < 0)) return false;
        if (!exponent.tensor()) {
            const double y = exponent.scalar().to_double();
            return y != std::trunc(y); // and some base is negative
        }
        const Tensor &y = *exponent.tensor();
        const Tensor fraction =
            part(ATOLL_FN_not_equal, {part(ATOLL_FN_trunc, {y}, parts_), y}, parts_);
        const Tensor negative = part(ATOLL_FN_less, {base, Scalar(0)}, parts_);
        return item(ATOLL_FN_any, part(ATOLL_FN_logical_and, {negative, fraction}, parts_))
                   .to_int() != 0;
    }

    const sdk::Signature &s_;
    Inputs inputs_;
    const Context &parts_;
};

} // namespace

DType dtype_for_domain(const FunctionRecord &function, Inputs inputs, const Tensor *out,
                       ComputeMode mode, const Context &context) {
    if (mode == ComputeMode::standard) [[likely]]
        return context.dtype;
    require_compute_mode(mode, function.full_name);
    if (mode == ComputeMode::complex && function.signature.domain == sdk::MathDomain::divisor)
        return context.dtype;
    // Over no elements nothing is computed, whatever the other operands contain.
    for (const Operand *x : inputs)
        if (x && x->tensor() && x->tensor()->is_defined() && x->tensor()->size() == 0)
            return context.dtype;
    // Errors of the call itself come first.
    const DType T = decide_T(function, inputs, context);
    const Context parts = context.for_parts_of(function);
    const Domain domain(function, inputs, parts);
    if (!domain.has_outside()) return context.dtype;
    if (mode == ComputeMode::error)
        throw Error(Status::domain, function.full_name, domain.sentence());
    if (mode != ComputeMode::complex) {
        warn(function.full_name, domain.sentence());
        return context.dtype;
    }
    if (out && !is_complex(impl(*out).dtype))
        throw_error(Status::domain, function.full_name,
                    "{} is {}, needs a complex dtype for elements outside the domain",
                    function.signature.operands[0].name, name(impl(*out).dtype));
    return promote(T, complex32);
}

void require_counts(const FunctionRecord &function, Inputs inputs, DType T, const Context &parts) {
    const sdk::Signature &s = function.signature;
    const int which = s.counts - s.output_count;
    const auto at = static_cast<std::size_t>(which);
    const DType natural = natural_dtype(s.operand(s.counts), T);
    if ((natural != DType::none && info(natural).kind != Kind::signed_) || at >= inputs.size() ||
        !inputs[at])
        return;
    const Operand &counts = *inputs[at];
    std::int64_t least;
    if (counts.tensor()) {
        const TensorImpl &t = impl(*counts.tensor());
        if (t.size() == 0 || info(t.dtype).kind != Kind::signed_) return;
        least = item_part(part(ATOLL_FN_min, {counts}, parts), parts).to_int();
    } else {
        const Scalar &number = counts.scalar();
        least = (natural == DType::none ? number : number.cast(natural)).to_int();
    }
    if (least >= 0) return;
    const bool takes_floats = function.domain >> static_cast<int>(DType::float64) & 1;
    throw_error(Status::domain, function.full_name, "got {} = {}, need 0 or more{}",
                function.signature.input(which).name, least,
                takes_floats ? "; cast to a float dtype first" : "");
}

} // namespace Atoll::detail
