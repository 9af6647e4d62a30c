// Binding an index to a shape.
#include "atoll/functions.hpp"
#include "call/copy.hpp"
#include "call/parts.hpp"
#include "index/index_range.hpp"
#include "index/index_state.hpp"

namespace Atoll::detail {

namespace {

// Throws unless all positions are in [-extent, extent). Returns whether one is negative.
bool check_positions(const Tensor &given, int axis, const Dims &shape, const Context &parts) {
    const std::int64_t extent = shape[axis];
    const auto found = [&](int function, const Tensor &positions) {
        return item_part(part(function, {positions}, parts), parts);
    };
    const int bits = 8 * static_cast<int>(size_of(given.dtype()));
    const bool is_signed = info(given.dtype()).kind == Kind::signed_;
    // Nearly always one pass is enough: as unsigned numbers, the negative ones are the largest.
    const DType same_size = bits == 8 ? uint8 : bits == 16 ? uint16 : bits == 32 ? uint32 : uint64;
    const std::uint64_t largest =
        found(ATOLL_FN_max, given.view_as(same_size)).cast(uint64).raw().value.u64;
    const std::uint64_t first_negative = std::uint64_t{1} << (bits - 1);
    if (largest < static_cast<std::uint64_t>(extent) && (!is_signed || largest < first_negative))
        return false;
    if (!is_signed) index_out_of_range(fmt::to_string(largest), axis, shape);
    const std::int64_t low = found(ATOLL_FN_min, given).to_int();
    const std::int64_t high = found(ATOLL_FN_max, given).to_int();
    if (high >= extent) index_out_of_range(fmt::to_string(high), axis, shape);
    if (low < -extent) index_out_of_range(fmt::to_string(low), axis, shape);
    return low < 0;
}

class Binder {
public:
    Binder(const IndexState &unbound, const Dims &shape, bool once)
        : unbound_(unbound), shape_(shape) {
        made_->once = once;
    }

    State bind() {
        checked_bytes(shape_, 1, index_op);
        made_->bound = true;
        made_->input = shape_;
        made_->base = Dims::filled(shape_.size(), 0);
        take_axes(unbound_.elements, shape_, *this);
        check_result_rank(made_->output.size());
        // Picks that repeat elements can name more of them than can be counted.
        if (!made_->picks.empty()) checked_bytes(made_->output, size_of(int64), index_op);
        return made_;
    }

    // What take_axes() calls.
    void walk(int axis, std::int64_t start, std::int64_t step, std::int64_t count) {
        made_->base[axis] = start;
        push({Axis::Kind::walk, axis, step}, count);
    }
    void fix(int axis, std::int64_t position) { made_->base[axis] = position; }
    void add_axis() { push({Axis::Kind::added, -1, 0}, 1); }
    static int axes_of(const Element &e) {
        if (e.bound) return e.bound->input.size();
        const TensorImpl &t = impl(e.tensor);
        if (t.dtype == bool_) return t.shape.size();
        const std::int64_t most = 1 << 16; // more than any tensor has
        return t.shape.size() == 2 ? static_cast<int>(std::min(t.shape[0], most)) : 1;
    }
    void take(const Element &e, int axis) {
        axis_ = axis;
        if (e.bound)
            add_bound(*e.bound);
        else if (e.tensor.dtype() == bool_)
            add_mask(e.tensor);
        else
            add_tensor(e.tensor);
    }

private:
    void push(Axis axis, std::int64_t extent) {
        made_->axes.push_back(axis);
        made_->output.push_back(extent);
    }
    void pick(Pick pick) {
        pick.first = made_->output.size();
        const Dims extents = pick.shape();
        for (std::int64_t extent : extents)
            push({Axis::Kind::pick, static_cast<int>(made_->picks.size()), 0}, extent);
        made_->picks.push_back(std::move(pick));
    }

    void add_tensor(const Tensor &tensor) {
        const TensorImpl &t = impl(tensor);
        if (t.shape.empty()) {
            const Scalar value = item_part(tensor, parts_);
            if (value.dtype() == uint64 && value.raw().value.u64 > INT64_MAX)
                index_out_of_range(fmt::to_string(value.raw().value.u64), axis_, shape_);
            return fix(axis_, resolve_integer(value.to_int(), axis_, shape_));
        }
        const bool tuples = t.shape.size() == 2;
        Pick made{axis_, tuples ? static_cast<int>(t.shape[0]) : 1, {}};
        if (made.count == 0)
            refuse_index("got coordinate tuples of no axes (an index tensor of shape 0xn)");
        for (int i = 0; i < made.count; ++i)
            add_positions(made, tuples ? tensor(i, all_) : tensor, axis_ + i);
        pick(std::move(made));
    }

    // Positions along `axis`, checked, negatives resolved.
    void add_positions(Pick &pick, const Tensor &given, int axis) {
        const TensorImpl &t = impl(given);
        const bool negative = t.size() > 0 && check_positions(given, axis, shape_, parts_);
        if (!negative && made_->once && t.dtype == int64) {
            pick.borrowed = true;
            pick.positions.push_back(given);
            return;
        }
        const Tensor own = cast_elements(impl(given), int64, impl(given).device(), parts_);
        if (negative) { // the extent where the sign is set
            const Tensor shift = part(ATOLL_FN_right_shift, {own, 63}, parts_);
            part(ATOLL_FN_bitwise_and, {shift, shape_[axis]}, parts_, &shift);
            part(ATOLL_FN_add, {own, shift}, parts_, &own);
        }
        pick.positions.push_back(own);
    }

    // Throws unless the next axes of the input have these extents.
    void require_next(const Dims &extents, std::string_view what, std::string_view whose) const {
        if (!std::equal(extents.begin(), extents.end(), shape_.begin() + axis_))
            refuse_index(fmt::format("got {} shape {} for axes {} to {} of shape {}, need exactly "
                                     "{} extents",
                                     what, shape_text(extents), axis_, axis_ + extents.size() - 1,
                                     shape_text(shape_), whose));
    }

    void add_mask(const Tensor &mask) {
        const Dims &extents = impl(mask).shape;
        require_next(extents, "a mask of", "their");
        // One of rank 0 takes no axis and adds one of extent 0 or 1.
        pick({axis_, extents.size(), {part(ATOLL_FN_find, {mask}, parts_)}});
    }

    void add_bound(const IndexState &inner) {
        require_next(inner.input, "an index bound to", "those");
        const int shift = made_->output.size();
        const int picks = static_cast<int>(made_->picks.size());
        for (int i = 0; i < inner.output.size(); ++i) {
            Axis axis = inner.axes[static_cast<std::size_t>(i)];
            if (axis.kind == Axis::Kind::walk) axis.source += axis_;
            if (axis.kind == Axis::Kind::pick) axis.source += picks;
            push(axis, inner.output[i]);
        }
        for (Pick pick : inner.picks) {
            pick.first += shift;
            pick.source += axis_;
            pick.borrowed = true;
            made_->picks.push_back(std::move(pick));
        }
        std::copy(inner.base.begin(), inner.base.end(), made_->base.begin() + axis_);
    }

    const IndexState &unbound_;
    const Dims &shape_;
    const Context parts_ = for_index();
    std::shared_ptr<IndexState> made_ = std::make_shared<IndexState>();
    int axis_ = 0; // the next of the input, for what is taken
};

} // namespace

State bound_to(const State &state, const Dims &shape, bool once) {
    if (!state->bound) return Binder(*state, shape, once).bind();
    if (!(state->input == shape))
        refuse_index(fmt::format("got shape {} for an index bound to {}, need exactly that",
                                 shape_text(shape), shape_text(state->input)));
    return state;
}

} // namespace Atoll::detail
