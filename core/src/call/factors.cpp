// Factors of products.
#include "call/factors.hpp"

#include "base/throw_error.hpp"
#include "call/copy.hpp"
#include "call/parts.hpp"
#include "call/pipeline.hpp"
#include "call/taken_apart.hpp"

#include <algorithm>

namespace Atoll::detail {

bool is_flag(const Scalar &factor) {
    return !is_floating(factor.dtype()) && (factor.to_int() == 0 || factor.to_int() == 1);
}
bool is_zero(const Scalar &factor) { return factor.to_complex() == std::complex<double>(0); }

DType decide_product_T(const Operand &a, const Operand &b, const Operand *c, const Operand &alpha,
                       const Operand &beta) {
    const Operand *inputs[5] = {&a, &b, c};
    const bool bools = std::all_of(inputs, inputs + 3, [](const Operand *input) {
        return !input || dtype_of(*input) == bool_;
    });
    std::size_t count = 3;
    for (const Operand *factor : {&alpha, &beta})
        if (!bools || !is_flag(factor->scalar())) inputs[count++] = factor;
    return decide_T(Registry::get().core_function(ATOLL_FN_matmul), {inputs, count}, {});
}

Tensor scaled(const Tensor &tensor, const Scalar &factor, const Context &context,
              const Tensor *out) {
    const TensorImpl &t = *tensor.impl();
    Context own = context;
    if (!own.device) own.device = t.device();
    if (own.dtype == DType::none) own.dtype = promote(t.dtype, factor.dtype());
    if (multiplies(*own.device, own.dtype))
        return part(ATOLL_FN_multiply, {tensor, factor}, own, out);
    const Operand left(tensor), right(factor);
    const Operand *const inputs[] = {&left, &right};
    const std::uint8_t groups[] = {static_cast<std::uint8_t>(t.shape.size()), 0, 0};
    return run_one(Registry::get().core_function(ATOLL_FN_matmul),
                   {.inputs = inputs,
                    .outputs = {&out, 1},
                    .attributes = plain_product(own.dtype),
                    .group_axes = groups},
                   own);
}

void scale_into(const Tensor &d, const Tensor *c, const Scalar &beta, DType T,
                const Context &parts) {
    const TensorImpl &out = *d.impl();
    if (!c) return fill_elements(out, 0, parts);
    if (T == bool_) { // c or nothing
        if (c != &d) copy_elements(out, *c->impl(), parts);
        return;
    }
    // As beside a product: c becomes one of T, and what is rounded to T one of d.
    Context own = parts;
    if (!own.device) own.device = out.device();
    own.dtype = accumulator(T);
    const Tensor from = c->dtype() == T ? *c : cast_elements(*c->impl(), T, own.device, parts);
    const Scalar factor = beta.cast(own.dtype);
    if (own.dtype == T || out.dtype == T) {
        scaled(from, factor, own, &d);
        return;
    }
    const Tensor rounded = make_tensor(out.shape, T, out.device(), out.storage->stream);
    scaled(from, factor, own, &rounded);
    copy_elements(out, *rounded.impl(), parts);
}

void require_factor(std::string_view name, const Scalar &factor, DType T, std::string_view op) {
    const std::complex<double> value = factor.to_complex();
    const bool fits = T == bool_         ? is_flag(factor)
                      : is_complex(T)    ? true
                      : is_real_float(T) ? value.imag() == 0
                                         : value == factor.cast(T).to_complex();
    if (!fits)
        throw_error(Status::invalid_argument, op,
                    "{} = {} does not fit {}, in which it is computed; give another "
                    "ContractOptions::dtype",
                    name, to_string(factor), Atoll::name(T));
}

} // namespace Atoll::detail
