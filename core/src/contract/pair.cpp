// Contractions of two tensors: calls with what the analysis (pair_analysis.cpp) has found.
#include "contract/pair.hpp"

#include "base/enums.hpp"
#include "base/throw_error.hpp"
#include "call/factors.hpp"
#include "call/parts.hpp"
#include "call/pipeline.hpp"
#include "call/route.hpp"
#include "contract/label_text.hpp"
#include "contract/sum_axes.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>

namespace Atoll::detail {

namespace {

const FunctionRecord &matmul_function() { return Registry::get().core_function(ATOLL_FN_matmul); }

Tensor view_of(const Tensor &tensor, const Dims &shape, const Dims &strides) {
    const TensorImpl &t = *tensor.impl();
    return make_view(t, t.offset, shape, strides);
}

} // namespace

PairContraction::PairContraction(const Caller &caller, const ContractionOperand &a_,
                                 const ContractionOperand &b_, const ContractionOperand *c_,
                                 const ContractionOperand &d_, bool makes_d, DType dtype,
                                 const ContractOptions &options)
    : caller_(caller), T_(dtype), options_(options) {
    require_dtype(T_, caller_.op);
    operands_.reserve(roles);
    for (const ContractionOperand *operand : {&d_, &a_, &b_, c_})
        if (operand) operands_.push_back(*operand);
    analyse(makes_d);
}

void PairContraction::require_layout(Role role, const Tensor &tensor) const {
    const TensorImpl &t = impl(tensor);
    const ContractionOperand &planned = operand(role);
    if (t.dtype != planned.dtype() || t.shape != planned.shape() || t.strides != planned.strides())
        refuse_layout(role, t);
}

void PairContraction::refuse_layout(Role role, const TensorImpl &t) const {
    const ContractionOperand &planned = operand(role);
    throw_error(Status::invalid_argument, caller_.op,
                "{} is {} {} with strides {}, but {} {} with strides {} was planned; plan another "
                "contraction for it",
                role_name(role), name(t.dtype), shape_text(t.shape), shape_text(t.strides),
                name(planned.dtype()), shape_text(planned.shape()), shape_text(planned.strides()));
}

Tensor PairContraction::run(const Scalar &alpha, const Tensor &a_, const Tensor &b_,
                            const Scalar &beta, const Tensor *c_, const Tensor *out,
                            const Tensor *beside) const {
    if (c_ && is_zero(beta)) c_ = nullptr;
    require_factor("alpha", alpha, T_, caller_.op);
    if (c_) require_factor("beta", beta, T_, caller_.op);
    Tensor made;
    if (!out) {
        const TensorImpl &first = *(beside ? *beside : a_).impl();
        made = make_tensor(operand(d).shape(), operand(d).dtype(), first.device(),
                           first.storage->stream);
        out = &made;
    } else if (out->impl()->read_only()) {
        check_output(*out->impl(), role_name(d), caller_.op);
    }
    const Tensor *const tensors[roles] = {out, &a_, &b_, c_};
    // As in BLAS: with alpha == 0 the factors are not read.
    if (is_zero(alpha)) {
        scale(beta, tensors);
        return *out;
    }
    const bool conjugates = is_complex(T_) && (options_.conj_a || options_.conj_b);
    if (c_ || conjugates || alpha.to_complex() != std::complex<double>(1)) {
        const DType factor = accumulator(T_);
        multiply(tensors, {alpha.cast(factor).raw(), beta.cast(factor).raw(),
                           Scalar(options_.conj_a).raw(), Scalar(options_.conj_b).raw()});
    } else if (sums_ || !multiplies(*out->impl()->device(), views_dtype())) {
        multiply(tensors, plain_product(T_));
    } else {
        multiply_elements(tensors);
    }
    return *out;
}

// Throws where the user's settings forbid to convert what differs. Operands that are taken as they
// are need no check: nothing differs.
void PairContraction::check_settings(const Tensor *const *tensors) const {
    const TensorImpl &out = *tensors[d]->impl();
    const DeviceRecord *device = out.device();
    if (current_settings().auto_cast) {
        if (out.dtype == caller_.dtype) return;
    } else {
        std::optional<Operand> planned[roles], given[roles];
        const Operand *dtypes[roles - a] = {}, *inputs[roles - a] = {};
        for (int role = a; role < roles; ++role) {
            if (role != c || has_c())
                dtypes[role - a] = &planned[role].emplace(Scalar(0, operand(Role(role)).dtype()));
            if (tensors[role]) inputs[role - a] = &given[role].emplace(*tensors[role]);
        }
        if (options_.dtype == DType::none) decide_T(matmul_function(), dtypes, {});
        device = decide_device(matmul_function(), inputs, {});
    }
    require_output_dtype(out, caller_.result, caller_.dtype, device, caller_.op, {});
}

void PairContraction::multiply(const Tensor *const *tensors,
                               const ProductAttributes &attributes) const {
    if (!prepared_ || (tensors[c] && options_.conj_c) || !run_prepared(attributes, tensors))
        run_views(attributes, tensors);
}

bool PairContraction::run_prepared(const ProductAttributes &attributes,
                                   const Tensor *const *tensors) const {
    const TensorImpl &out = *tensors[d]->impl();
    const auto start = [](const TensorImpl &t) {
        return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(t.data()));
    };
    const std::int64_t to = start(out);
    for (int role = 0; role < roles; ++role) {
        if (!tensors[role]) continue;
        const TensorImpl &t = *tensors[role]->impl();
        const std::int64_t at = start(t);
        if (t.swapped() || t.device() != out.device() || at % info(T_).alignment != 0) return false;
        if (role == d) continue;
        const bool same = role == c && at == to && t.shape == out.shape && t.strides == out.strides;
        if (!same && at + range_[role].begin < to + range_[d].end &&
            to + range_[d].begin < at + range_[role].end)
            return false;
    }
    const FunctionRecord &function = matmul_function();
    const Context context;
    const Route route(function, out.device(), T_, out.storage->stream, context);
    if (!route.takes_layout(space_) || !route.knows_all() ||
        (space_.rank > space_.core &&
         (!route.takes(ATOLL_CAP_LOOPS) || route.max_rank() <= function.signature.slot_count)))
        return false;
    Space space;
    space.rank = space_.rank;
    space.core = space_.core;
    space.count = 0;
    std::copy_n(space_.slot_axes, 3, space.slot_axes);
    std::copy_n(space_.shape, space.rank, space.shape);
    for (int role = 0; role < roles; ++role) {
        if (!tensors[role]) {
            space.add_scalar(nullptr, DType::none);
            continue;
        }
        SpaceOperand &operand = space.add_operand(*tensors[role]->impl());
        std::copy_n(space_.operands[role].strides, space.rank, operand.strides);
        space.advance(role, start_[role]);
    }
    // Axes that c alone kept apart.
    if (has_c() && !tensors[c]) merge(space, function.signature);
    route.send(space, attributes);
    return true;
}

// What the views are computed in: sums of halves are not rounded before the product.
DType PairContraction::views_dtype() const {
    const bool plain = summed_[a].shape.empty() && summed_[b].shape.empty();
    return plain ? T_ : accumulator(T_);
}

// A factor as core.matmul takes it, after sums over the labels that only it has.
Tensor PairContraction::factor(Role role, const Tensor &of, const Context &parts) const {
    if (summed_[role].shape.empty()) return view_of(of, views_[role].shape, views_[role].strides);
    Context context = parts;
    if (is_floating(T_)) {
        const DType wide = accumulator(T_);
        context.dtype = is_complex(operand(role).dtype()) ? wide : info(wide).part;
    }
    return sum_axes(sum_function(T_), view_of(of, summed_[role].shape, summed_[role].strides),
                    views_[role].shape.size(), nullptr, context);
}

// c as core.matmul takes it.
Tensor PairContraction::summand(const Tensor &of, const Context &parts) const {
    const Tensor view = view_of(of, views_[c].shape, views_[c].strides);
    return options_.conj_c && is_complex(operand(c).dtype()) ? part(ATOLL_FN_conj, {view}, parts)
                                                             : view;
}

void PairContraction::run_views(const ProductAttributes &attributes,
                                const Tensor *const *tensors) const {
    check_settings(tensors);
    const FunctionRecord &matmul = matmul_function();
    const Context parts = Context{}.for_parts_of(matmul);
    const Tensor x = factor(a, *tensors[a], parts), y = factor(b, *tensors[b], parts);
    const Tensor z = tensors[c] ? summand(*tensors[c], parts) : Tensor();
    const Operand left(x), right(y);
    std::optional<Operand> third;
    if (tensors[c]) third.emplace(z);
    const Operand *const inputs[] = {&left, &right, third ? &*third : nullptr};
    const Tensor out = view_of(*tensors[d], views_[d].shape, views_[d].strides);
    const Tensor *const outputs[] = {&out};
    run_one(
        matmul,
        {.inputs = inputs, .outputs = outputs, .attributes = attributes, .group_axes = group_axes_},
        {.own_settings = Context::unrestricted(),
         .dtype = views_dtype(),
         .device = out.impl()->device()});
}

// Nothing is added up: the axes are those of d, where a lacks n and b lacks m.
void PairContraction::multiply_elements(const Tensor *const *tensors) const {
    check_settings(tensors);
    const FunctionRecord &function = Registry::get().core_function(ATOLL_FN_multiply);
    const Context parts = Context{}.for_parts_of(function);
    const auto with_ones = [&](Role role, int at, int count) {
        const bool summed = !summed_[role].shape.empty();
        const Tensor tensor = summed ? factor(role, *tensors[role], parts) : *tensors[role];
        Dims shape = views_[role].shape, strides = summed ? tensor.strides() : views_[role].strides;
        for (int i = 0; i < count; ++i) {
            shape.insert(at, 1);
            strides.insert(at, 0);
        }
        return view_of(tensor, shape, strides);
    };
    const int m = group_axes_[0], n = group_axes_[2];
    const Tensor x = with_ones(a, m, n), y = with_ones(b, 0, m);
    const Operand left(x), right(y);
    const Operand *const inputs[] = {&left, &right};
    const Tensor out = view_of(*tensors[d], views_[d].shape, views_[d].strides);
    const Tensor *const outputs[] = {&out};
    run_one(function, {.inputs = inputs, .outputs = outputs},
            {.own_settings = Context::unrestricted(),
             .dtype = views_dtype(),
             .device = out.impl()->device()});
}

// d = beta c, or zeros.
void PairContraction::scale(const Scalar &beta, const Tensor *const *tensors) const {
    check_settings(tensors);
    const Context parts = Context{}.for_parts_of(matmul_function());
    const Tensor out = view_of(*tensors[d], views_[d].shape, views_[d].strides);
    const Tensor from = tensors[c] ? summand(*tensors[c], parts) : Tensor();
    scale_into(out, tensors[c] ? &from : nullptr, beta, T_, parts);
}

} // namespace Atoll::detail
