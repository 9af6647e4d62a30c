// Compute modes. The checks are calls of the library's own functions, so every device has them.
#include "call/domain.hpp"

#include "atoll/create.hpp"
#include "atoll/functions.hpp"
#include "call/families.hpp"
#include "runtime/settings_access.hpp"
#include "runtime/warnings.hpp"

#include <cmath>

#include <fmt/format.h>

namespace Atoll::detail {

namespace {

// NaN is nowhere outside: it has been so before the function.
double smallest(const Operand &x) {
    if (!x.tensor()) return x.scalar().to_double();
    const TensorImpl &t = impl(*x.tensor());
    return t.size() == 0 ? 0 : nan_min(*x.tensor()).item().to_double();
}
double largest(const Operand &x) {
    if (!x.tensor()) return x.scalar().to_double();
    return x.tensor()->size() == 0 ? 0 : nan_max(*x.tensor()).item().to_double();
}

bool complex_operand(const Operand &x) {
    return is_complex(x.tensor() ? impl(*x.tensor()).dtype : x.scalar().dtype());
}
bool integer_operand(const Operand &x) {
    return !is_floating(x.tensor() ? impl(*x.tensor()).dtype : x.scalar().dtype());
}

bool has_zero(const Operand &x) {
    if (!x.tensor()) return x.scalar().to_complex() == std::complex<double>(0);
    return !all(*x.tensor()).item().to_int();
}

// A negative base beside an exponent that is no integer.
bool root_of_negative(const Operand &base, const Operand &exponent) {
    if (integer_operand(exponent) || !(smallest(base) < 0)) return false;
    if (!base.tensor() && !exponent.tensor())
        return exponent.scalar().to_double() != std::trunc(exponent.scalar().to_double());
    const Tensor fraction =
        exponent.tensor()
            ? not_equal(trunc(exponent), exponent)
            : full({}, exponent.scalar().to_double() != std::trunc(exponent.scalar().to_double()),
                   {bool_, base.tensor()->device()});
    return any(logical_and(less(base, 0), fraction)).item().to_int() != 0;
}

bool outside(const sdk::Signature &s, std::span<const Operand *const> inputs) {
    const Operand &first = *inputs.front(), &last = *inputs.back();
    if (s.domain == sdk::MathDomain::divisor) return has_zero(last);
    for (const Operand *x : inputs)
        if (complex_operand(*x)) return false;
    if (s.domain == sdk::MathDomain::power) return root_of_negative(first, last);
    return smallest(first) < s.low || (std::isfinite(s.high) && largest(first) > s.high);
}

std::string sentence(const sdk::Signature &s) {
    switch (s.domain) {
    case sdk::MathDomain::divisor: return "got a divisor that is zero";
    case sdk::MathDomain::power: return "got a negative base with an exponent that is no integer";
    default:
        return std::isfinite(s.high) ? fmt::format("got an element outside [{}, {}]", s.low, s.high)
                                     : fmt::format("got an element below {}", s.low);
    }
}

Tensor compute_complex(const FunctionRecord &function, std::span<const Operand *const> inputs,
                       const Tensor *out) {
    if (out && !is_complex(impl(*out).dtype))
        throw Error(Status::domain, function.full_name,
                    fmt::format("needs complex numbers, got a destination of {}; give a complex "
                                "one",
                                name(impl(*out).dtype)));
    const DType real = apply_rule(function, common_dtype(function, inputs)).compute;
    const DType dtype = promote(is_floating(real) ? real : float64, complex32);
    Tensor converted[max_operands];
    for (std::size_t i = 0; i < inputs.size(); ++i)
        converted[i] = inputs[i]->tensor() ? inputs[i]->tensor()->ensure(dtype)
                                           : full({}, inputs[i]->scalar(),
                                                  {dtype, Device(common_device(function, inputs))});
    const Operand first(converted[0]), second(converted[1]);
    const Operand *const operands[] = {&first, &second};
    return run_elementwise(function, std::span(operands).first(inputs.size()), out);
}

} // namespace

bool check_domain(const FunctionRecord &function, std::span<const Operand *const> inputs,
                  const Tensor *out, Mode mode, Tensor &result) {
    const ComputeMode chosen = mode ? *mode : current_settings().compute_mode;
    const sdk::Signature &domain = function.signature;
    if (chosen == ComputeMode::standard) [[likely]]
        return false;
    if (chosen == ComputeMode::complex && domain.domain == sdk::MathDomain::divisor) return false;
    const ReadSection section;
    // Whatever is wrong with the call itself is said first.
    apply_rule(function, common_dtype(function, inputs));
    {
        const InsertedScope inserted(&function);
        const ScopedSettings plain([](Settings &s) {
            s.compute_mode = ComputeMode::standard;
            s.auto_cast = s.auto_broadcast = true;
        });
        if (!outside(domain, inputs)) return false;
    }
    switch (chosen) {
    case ComputeMode::error: throw Error(Status::domain, function.full_name, sentence(domain));
    case ComputeMode::warning: warn(function, sentence(domain)); return false;
    default: result = compute_complex(function, inputs, out); return true;
    }
}

void require_counts(const FunctionRecord &function, std::span<const Operand *const> inputs,
                    DType compute) {
    if (function.signature.counts < 0 || info(compute).kind != Kind::signed_) [[likely]]
        return;
    const int which = function.signature.counts - function.signature.output_count;
    const Operand &counts = *inputs[static_cast<std::size_t>(which)];
    std::int64_t least;
    if (counts.tensor()) {
        const TensorImpl &t = impl(*counts.tensor());
        if (t.size() == 0 || info(t.dtype).kind != Kind::signed_) return;
        const InsertedScope inserted(&function);
        least = min(*counts.tensor()).item().to_int();
    } else {
        least = counts.scalar().cast(compute).to_int();
    }
    if (least < 0)
        throw Error(Status::domain, function.full_name,
                    fmt::format("got {} in {}, need 0 or more where all are integers", least,
                                function.signature.input(which).name));
}

} // namespace Atoll::detail
