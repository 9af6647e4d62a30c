// The labels of a contraction of two tensors: checks them, sorts them into groups, and describes
// the operands as core.matmul takes them.
#include "base/throw_error.hpp"
#include "call/pipeline.hpp"
#include "contract/label_text.hpp"
#include "contract/pair.hpp"

#include <algorithm>
#include <cstdlib>

namespace Atoll::detail {

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
                   ? fmt::format("{} labelled {}", plan_.role_name(d), labels_text(of.labels()))
                   : fmt::format("{} labelled {}", shape_text(plan_.role_name(role), of.shape()),
                                 labels_text(of.labels()));
    }
    std::string label(std::int64_t of) const {
        return label_text(of, operand(a).labels().are_letters());
    }
    template <class... Args>
    [[noreturn]] void refuse(fmt::format_string<Args...> words, Args &&...args) const {
        throw_error(Status::invalid_argument, plan_.caller_.op, words, std::forward<Args>(args)...);
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
            refuse("{} needs {} {}, got {}", shape_text(plan_.role_name(role), of.shape()), rank,
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
        checked_bytes(result.shape_, size_of(result.dtype_), plan_.caller_.op);
        result.strides_ = dense_strides(result.shape_, size_of(result.dtype_), Order::F);
        for (int axis = 0; axis < result.labels_.size(); ++axis)
            index_of(result.labels_[axis]).stride[d] = result.strides_[axis];
    }

    void check_result() const {
        if (makes_d_) return;
        const ContractionOperand &result = operand(d);
        const Overlap overlap =
            self_overlap_of(result.shape(), result.strides(), size_of(result.dtype()));
        if (overlap != Overlap::no)
            refuse("{} with strides {} {}; results need memory of their own", text(d),
                   shape_text(result.strides()), self_overlap_text(overlap));
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
            throw_error(Status::not_supported, plan_.caller_.op,
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
        merge(space, Registry::get().core_function(ATOLL_FN_matmul).signature);
        for (int role = 0; role < count(); ++role)
            plan_.start_[role] = static_cast<char *>(space.described[role].data) - origin;
        plan_.prepared_ = true;
    }

    PairContraction &plan_;
    const bool makes_d_;
    std::vector<Index> indices_;
};

void PairContraction::analyse(bool makes_d) { Analysis(*this, makes_d).run(); }

std::string_view PairContraction::role_name(int role) const {
    static constexpr std::string_view factors[] = {"a", "b", "c"};
    return role == d ? caller_.result : factors[role - a];
}

} // namespace Atoll::detail
