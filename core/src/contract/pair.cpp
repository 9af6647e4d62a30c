// Contractions of two tensors.
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

std::string_view role_name(int role) {
    static constexpr std::string_view names[] = {"d", "a", "b", "c"};
    return names[role];
}

Tensor view_of(const Tensor &tensor, const Dims &shape, const Dims &strides) {
    const TensorImpl &t = *tensor.impl();
    return make_view(t, t.offset, shape, strides);
}

} // namespace

// Sorts the labels into groups.
class PairContraction::Analysis {
public:
    Analysis(PairContraction &plan, bool makes_d) : plan_(plan), makes_d_(makes_d) {}

    void run() {
        for (int role = 0; role < count(); ++role)
            if (role != d) read(role);
        read(d);
        check_sets();
        if (makes_d_) lay_result();
        check_result();
        sort();
        for (int role = 0; role < count(); ++role) lay(role);
        if (plan_.summed_[a].shape.empty() && plan_.summed_[b].shape.empty()) prepare();
    }

private:
    struct Index {
        std::int64_t label;
        std::int64_t extent = -1;
        int from = -1;       // the operand that the extent was read from
        bool in[roles] = {}; // which operands have it
        std::int64_t stride[roles] = {};
    };
    // Where a label falls; see Note [Contraction].
    enum Group { m, k, n, loop, summed_a, summed_b };

    int count() const { return static_cast<int>(plan_.operands_.size()); }
    const ContractionOperand &operand(int role) const {
        return plan_.operands_[static_cast<std::size_t>(role)];
    }
    // "b (3, 4) labelled ij"
    std::string text(int role) const {
        const ContractionOperand &of = operand(role);
        return role == d && makes_d_
                   ? fmt::format("d labelled {}", labels_text(of.labels()))
                   : fmt::format("{} labelled {}", shape_text(role_name(role), of.shape()),
                                 labels_text(of.labels()));
    }
    std::string label(std::int64_t of) const {
        return label_text(of, operand(a).labels().are_letters());
    }
    template <class... Args>
    [[noreturn]] void refuse(fmt::format_string<Args...> words, Args &&...args) const {
        throw_error(Status::invalid_argument, plan_.op_, words, std::forward<Args>(args)...);
    }

    Index &index_of(std::int64_t label) {
        for (Index &index : indices_)
            if (index.label == label) return index;
        indices_.push_back({.label = label});
        return indices_.back();
    }

    void read(int role) {
        const ContractionOperand &of = operand(role);
        const bool made = role == d && makes_d_;
        const int rank = made ? of.labels().size() : of.shape().size();
        if (of.labels().size() != rank)
            refuse("{} needs {} {}, got {}", shape_text(role_name(role), of.shape()), rank,
                   rank == 1 ? "label" : "labels", labels_text(of.labels()));
        for (int axis = 0; axis < rank; ++axis) {
            Index &index = index_of(of.labels()[axis]);
            if (!made) {
                if (index.extent >= 0 && index.extent != of.shape()[axis])
                    refuse("{} needs {} = {} on axis {}, as {} has", text(role), label(index.label),
                           index.extent, axis,
                           index.from == role ? "another of its axes" : text(index.from));
                index.extent = of.shape()[axis];
                if (index.from < 0) index.from = role;
                index.stride[role] += of.strides()[axis];
            } else if (index.in[d]) {
                refuse("{} has {} twice; give a result to write its diagonal", text(d),
                       label(index.label));
            }
            index.in[role] = true;
        }
    }

    void check_sets() const {
        for (const Index &index : indices_) {
            if (plan_.has_c() && index.in[c] != index.in[d])
                refuse("{} needs the labels of {}; {} is only in one of them", text(c), text(d),
                       label(index.label));
            if (index.in[d] && !index.in[a] && !index.in[b])
                refuse("{} needs labels of the factors; {} is in neither {} nor {}", text(d),
                       label(index.label), text(a), text(b));
        }
    }

    void lay_result() {
        ContractionOperand &result = plan_.operands_[d];
        for (int axis = 0; axis < result.labels_.size(); ++axis)
            result.shape_.push_back(index_of(result.labels_[axis]).extent);
        checked_bytes(result.shape_, size_of(result.dtype_), plan_.op_);
        result.strides_ = dense_strides(result.shape_, size_of(result.dtype_), Order::F);
        for (int axis = 0; axis < result.labels_.size(); ++axis)
            index_of(result.labels_[axis]).stride[d] = result.strides_[axis];
    }

    void check_result() const {
        const ContractionOperand &result = operand(d);
        const std::int64_t item = size_of(result.dtype());
        const StridedExtent extent{nullptr, result.shape().size(), result.shape().data(),
                                   result.strides().data(), item};
        constexpr std::int64_t work = 100'000;
        if (!makes_d_ && self_overlap(extent, work) != Overlap::no)
            refuse("{} with strides {} overlaps itself; results need memory of their own", text(d),
                   shape_text(result.strides()));
    }

    Group group(const Index &index) const {
        if (index.in[a] && index.in[b]) return index.in[d] ? loop : k;
        if (index.in[d]) return index.in[a] ? m : n;
        return index.in[a] ? summed_a : summed_b;
    }

    // By group, and in each by the strides of the first operand that has it: copies, where any are
    // needed, are read in the order of memory.
    void sort() {
        std::erase_if(indices_, [](const Index &index) { return index.extent == 1; });
        std::stable_sort(indices_.begin(), indices_.end(), [&](const Index &x, const Index &y) {
            const Group of = group(x);
            if (of != group(y)) return of < group(y);
            const int by = of == k || of == summed_a ? a : of == summed_b ? b : d;
            return std::abs(x.stride[by]) < std::abs(y.stride[by]);
        });
        int axes[3] = {};
        for (const Index &index : indices_)
            if (group(index) <= n) ++axes[group(index)];
        if (static_cast<int>(indices_.size()) > ATOLL_MAX_RANK)
            throw_error(Status::not_supported, plan_.op_,
                        "needs {} axes at once, more than {}; merge some with Tensor::reshape",
                        indices_.size(), ATOLL_MAX_RANK);
        std::copy(axes, axes + 3, plan_.group_axes_);
        plan_.sums_ = axes[k] > 0;
    }

    static void append(const Index &index, int role, View &to) {
        to.shape.push_back(index.extent);
        to.strides.push_back(index.stride[role]);
    }
    void append_group(Group wanted, int role, View &to) const {
        for (const Index &index : indices_)
            if (group(index) == wanted) append(index, role, to);
    }

    void lay(int role) {
        View &view = plan_.views_[role];
        append_group(role == b ? k : m, role, view);
        append_group(role == a ? k : n, role, view);
        append_group(loop, role, view);
        View sums;
        append_group(role == b ? summed_b : summed_a, role, sums);
        if ((role == a || role == b) && !sums.shape.empty()) {
            // The sum is dense, whatever the operand's layout.
            View &whole = plan_.summed_[role];
            whole = view;
            for (int i = 0; i < sums.shape.size(); ++i) {
                whole.shape.push_back(sums.shape[i]);
                whole.strides.push_back(sums.strides[i]);
            }
            view.strides = {};
        }
    }

    // The call for operands that any implementation takes as they are, if it takes their layout.
    void prepare() {
        // Any address: merging moves the start of operands that step backward.
        char *const origin = reinterpret_cast<char *>(std::uintptr_t{1} << 62);
        Space &space = plan_.space_;
        space.rank = static_cast<int>(indices_.size());
        space.core = 0;
        space.count = roles;
        for (int s = 0; s < 3; ++s) {
            space.slot_axes[s] = plan_.group_axes_[s];
            space.core += space.slot_axes[s];
        }
        for (int i = 0; i < space.rank; ++i) {
            const Index &index = indices_[static_cast<std::size_t>(i)];
            if (index.extent == 0) return;
            space.shape[i] = index.extent;
            for (int role = 0; role < roles; ++role)
                space.operands[role].strides[i] = index.stride[role];
        }
        for (int role = 0; role < roles; ++role) {
            space.operands[role].lies = role < count();
            space.described[role].data = origin;
            space.described[role].dtype = static_cast<std::uint16_t>(plan_.T_);
            if (role >= count()) continue;
            const ContractionOperand &of = operand(role);
            const std::int64_t item = size_of(of.dtype()), alignment = info(of.dtype()).alignment;
            if (of.dtype() != plan_.T_ ||
                !byte_range(of.shape(), of.strides(), item, plan_.range_[role]))
                return;
            for (int i = 0; i < space.rank; ++i)
                if (space.operands[role].strides[i] % alignment != 0) return;
        }
        merge(space, matmul_function().signature);
        for (int role = 0; role < count(); ++role)
            plan_.start_[role] = static_cast<char *>(space.described[role].data) - origin;
        plan_.prepared_ = true;
    }

    PairContraction &plan_;
    const bool makes_d_;
    std::vector<Index> indices_;
};

PairContraction::PairContraction(std::string_view op, const ContractionOperand &a_,
                                 const ContractionOperand &b_, const ContractionOperand *c_,
                                 const ContractionOperand &d_, bool makes_d, DType dtype,
                                 const ContractOptions &options)
    : op_(op), T_(dtype), options_(options) {
    require_dtype(T_, op_);
    operands_.reserve(roles);
    for (const ContractionOperand *operand : {&d_, &a_, &b_, c_})
        if (operand) operands_.push_back(*operand);
    Analysis(*this, makes_d).run();
}

void PairContraction::require_layout(Role role, const Tensor &tensor) const {
    const TensorImpl &t = impl(tensor);
    const ContractionOperand &planned = operand(role);
    if (t.dtype == planned.dtype() && t.shape == planned.shape() && t.strides == planned.strides())
        return;
    throw_error(Status::invalid_argument, op_,
                "{} is {} {} with strides {}, but {} {} with strides {} was planned; plan another "
                "contraction for it",
                role_name(role), name(t.dtype), shape_text(t.shape), shape_text(t.strides),
                name(planned.dtype()), shape_text(planned.shape()), shape_text(planned.strides()));
}

Tensor PairContraction::run(const Scalar &alpha, const Tensor &a_, const Tensor &b_,
                            const Scalar &beta, const Tensor *c_, const Tensor *out) const {
    if (c_ && is_zero(beta)) c_ = nullptr;
    require_factor("alpha", alpha, T_, op_);
    if (c_) require_factor("beta", beta, T_, op_);
    Tensor made;
    if (!out) {
        const TensorImpl &first = *a_.impl();
        made = make_tensor(operand(d).shape(), operand(d).dtype(), first.device(),
                           first.storage->stream);
        out = &made;
    } else if (out->impl()->read_only()) {
        check_output(*out->impl(), role_name(d), op_);
    }
    const Tensor *const tensors[roles] = {out, &a_, &b_, c_};
    // As in BLAS: with alpha == 0 the factors are not read.
    if (is_zero(alpha)) {
        scale(beta, c_, *out);
        return *out;
    }
    const bool conjugates = is_complex(T_) && (options_.conj_a || options_.conj_b);
    if (c_ || conjugates || alpha.to_complex() != std::complex<double>(1)) {
        const DType factor = accumulator(T_);
        multiply(tensors, {alpha.cast(factor).raw(), beta.cast(factor).raw(),
                           Scalar(options_.conj_a).raw(), Scalar(options_.conj_b).raw()});
    } else if (sums_ || !current_settings().auto_broadcast) {
        multiply(tensors, plain_product(T_));
    } else {
        multiply_elements(tensors);
    }
    return *out;
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
        {.dtype = views_dtype(), .device = out.impl()->device()});
}

// Nothing is added up: the axes are those of d, where a lacks n and b lacks m.
void PairContraction::multiply_elements(const Tensor *const *tensors) const {
    const FunctionRecord &function = Registry::get().core_function(ATOLL_FN_multiply);
    const Context parts = Context{}.for_parts_of(function);
    const auto with_ones = [&](Role role, int at, int count) {
        const Tensor tensor = factor(role, *tensors[role], parts);
        Dims shape = tensor.shape(), strides = tensor.strides();
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
            {.dtype = views_dtype(), .device = out.impl()->device()});
}

// d = beta c, or zeros.
void PairContraction::scale(const Scalar &beta, const Tensor *c_, const Tensor &d_) const {
    const TensorImpl &t = *d_.impl();
    const FunctionRecord &matmul = matmul_function();
    require_output_dtype(t, role_name(d), T_, t.device(), op_, {});
    const Context parts = Context{}.for_parts_of(matmul);
    const Tensor out = view_of(d_, views_[d].shape, views_[d].strides);
    const Tensor from = c_ ? summand(*c_, parts) : Tensor();
    scale_into(out, c_ ? &from : nullptr, beta, T_, parts);
}

} // namespace Atoll::detail
