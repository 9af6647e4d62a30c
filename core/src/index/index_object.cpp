// Index objects: expressions with index tensors, bound to shapes and to layouts.
//
// Note [Bound indices]
// Bound to a shape, an index is: per axis of the input a base position; per axis of the output
// either a walk along one input axis (step, count), a new axis, or an axis of a pick. A pick takes
// consecutive input axes at once and makes one output axis for each axis of its positions, which
// are int64 and either one tensor per input axis, or one tensor that counts the elements of these
// axes in column-major order. So integers, ranges and masks are checked and resolved once, and what
// is left for a layout is a sum of products of positions and strides.
#include "atoll/format.hpp"
#include "atoll/functions.hpp"
#include "call/broadcast.hpp"
#include "call/check.hpp"
#include "call/copy.hpp"
#include "call/gather.hpp"
#include "call/parts.hpp"
#include "index/index_range.hpp"
#include "objects/object.hpp"
#include "runtime/settings_access.hpp"

#include <vector>

namespace Atoll::detail {

namespace {

constexpr std::string_view op = "tensor.index";

struct Axis {
    enum class Kind : std::uint8_t { walk, added, pick } kind;
    int source = -1; // walk: the input's axis; pick: which pick
    std::int64_t step = 0;
};

struct Pick {
    int source, count;             // input axes [source, source + count)
    std::vector<Tensor> positions; // `count` or one, int64, all of one shape
    bool borrowed = false;         // one of them is the caller's own tensor
    int first = 0;                 // output axis of the positions' first axis
    const Dims &shape() const { return positions.front().impl()->shape; }
    Device device() const { return positions.front().device(); }
};

struct Element {
    IndexElement::Kind kind;
    std::int64_t integer = 0;
    Range range{};
    Tensor tensor{};
    std::shared_ptr<const IndexState> bound{};
};

} // namespace

struct IndexState {
    std::vector<Element> elements; // as given; empty once bound

    bool bound = false;
    bool once = false; // made for one call: may borrow positions, and write to those it owns
    Dims input, output;
    std::vector<std::int64_t> base;
    std::vector<Axis> axes;
    std::vector<Pick> picks;

    bool has_offsets = false;
    Dims strides; // of the tensor that the offsets are for, in bytes
    DeviceRecord *device = nullptr;
    Tensor offsets; // int64 bytes, broadcasting to `output`; undefined without picks
};

namespace {

using State = std::shared_ptr<const IndexState>;

// For what is computed for an index: ignores the user's settings, and counts as part of gather.
Context for_index() {
    return Context{}.for_parts_of(Registry::get().core_function(ATOLL_FN_gather));
}

// How many axes an element takes. An ellipsis is counted elsewhere.
int consumed(const Element &e) {
    switch (e.kind) {
    case IndexElement::Kind::newaxis:
    case IndexElement::Kind::ellipsis: return 0;
    case IndexElement::Kind::tensor: {
        const TensorImpl &t = impl(e.tensor);
        if (t.dtype == bool_) return t.shape.size();
        return t.shape.size() == 2 ? static_cast<int>(std::min<std::int64_t>(t.shape[0], 1 << 16))
                                   : 1;
    }
    case IndexElement::Kind::index: return e.bound->input.size();
    default: return 1;
    }
}

void check_index_tensor(const TensorImpl &t) {
    const bool integers = is_integer(t.dtype) && t.shape.size() <= 2;
    if (!integers && t.dtype != bool_)
        throw Error(Status::invalid_argument, op,
                    fmt::format("got an index tensor of {} with shape {}, need bool, or integers "
                                "of rank 0, 1 or 2",
                                name(t.dtype), shape_text(t.shape)));
}

// Throws unless all positions are in [-extent, extent). Returns whether one is negative.
bool check_positions(const Tensor &given, int axis, const Dims &shape, const Context &parts) {
    const std::int64_t extent = shape[axis];
    const auto unsigned_value = [](const Scalar &value) {
        return value.cast(uint64).raw().value.u64;
    };
    const auto found = [&](int function, const Tensor &positions) {
        return item_part(part(function, {positions}, parts), parts);
    };
    const DType dtype = given.dtype();
    const int bits = 8 * static_cast<int>(size_of(dtype));
    if (info(dtype).kind == Kind::unsigned_) {
        const std::uint64_t high = unsigned_value(found(ATOLL_FN_max, given));
        if (high >= static_cast<std::uint64_t>(extent))
            index_out_of_range(fmt::to_string(high), axis, shape);
        return false;
    }
    // Nearly always one pass is enough: as unsigned numbers, the negative ones are the largest.
    const DType same_size = bits == 8 ? uint8 : bits == 16 ? uint16 : bits == 32 ? uint32 : uint64;
    const std::uint64_t limit =
        std::min(static_cast<std::uint64_t>(extent), std::uint64_t{1} << (bits - 1));
    if (unsigned_value(found(ATOLL_FN_max, given.view_as(same_size))) < limit) return false;
    const std::int64_t low = found(ATOLL_FN_min, given).to_int();
    const std::int64_t high = found(ATOLL_FN_max, given).to_int();
    if (high >= extent) index_out_of_range(fmt::to_string(high), axis, shape);
    if (low < -extent) index_out_of_range(fmt::to_string(low), axis, shape);
    return low < 0;
}

// The tensor itself, or a copy on another device.
Tensor moved(const Tensor &tensor, DeviceRecord *device, const Context &parts) {
    const TensorImpl &t = impl(tensor);
    return t.device() == device ? tensor : cast_part(tensor, t.dtype, device, parts);
}

class Binder {
public:
    Binder(const IndexState &unbound, const Dims &shape, bool once)
        : unbound_(unbound), shape_(shape) {
        made_->once = once;
    }

    State bind() {
        checked_bytes(shape_, 1, op);
        const int rank = shape_.size();
        std::int64_t named = 0;
        int ellipses = 0;
        for (const Element &e : unbound_.elements) {
            named += consumed(e);
            ellipses += e.kind == IndexElement::Kind::ellipsis;
        }
        if (ellipses > 1) throw Error(Status::invalid_argument, op, "got more than one ellipsis");
        if (named > rank) too_many_indices(named, shape_);
        made_->bound = true;
        made_->input = shape_;
        made_->base.assign(static_cast<std::size_t>(rank), 0);
        for (const Element &e : unbound_.elements) {
            if (e.kind == IndexElement::Kind::ellipsis)
                for (std::int64_t skip = rank - named; skip > 0; --skip) walk(1, shape_[axis_]);
            else
                add(e);
        }
        while (axis_ < rank) walk(1, shape_[axis_]);
        if (made_->output.size() > ATOLL_MAX_RANK) too_many_axes(made_->output.size());
        // Picks that repeat elements can name more of them than can be counted.
        if (!made_->picks.empty()) checked_bytes(made_->output, size_of(int64), op);
        return made_;
    }

private:
    void push(Axis axis, std::int64_t extent) {
        made_->axes.push_back(axis);
        made_->output.push_back(extent);
    }
    void walk(std::int64_t step, std::int64_t count) {
        push({Axis::Kind::walk, axis_++, step}, count);
    }
    void fix(std::int64_t index) {
        made_->base[static_cast<std::size_t>(axis_)] = resolve_integer(index, axis_, shape_);
        ++axis_;
    }
    void pick(Pick pick) {
        axis_ += pick.count;
        pick.first = made_->output.size();
        const Dims extents = pick.shape();
        for (std::int64_t extent : extents)
            push({Axis::Kind::pick, static_cast<int>(made_->picks.size()), 0}, extent);
        made_->picks.push_back(std::move(pick));
    }

    void add(const Element &e) {
        switch (e.kind) {
        case IndexElement::Kind::integer: fix(e.integer); break;
        case IndexElement::Kind::range: {
            const ResolvedRange r = resolve_range(e.range, shape_[axis_]);
            made_->base[static_cast<std::size_t>(axis_)] = r.start;
            walk(r.step, r.count);
            break;
        }
        case IndexElement::Kind::all: walk(1, shape_[axis_]); break;
        case IndexElement::Kind::newaxis: push({Axis::Kind::added, -1, 0}, 1); break;
        case IndexElement::Kind::tensor: add_tensor(e.tensor); break;
        case IndexElement::Kind::index: add_bound(*e.bound); break;
        case IndexElement::Kind::ellipsis: break; // bind() knows how many axes it stands for
        }
    }

    void add_tensor(const Tensor &tensor) {
        const TensorImpl &t = impl(tensor);
        if (t.dtype == bool_) return add_mask(tensor);
        if (t.shape.empty()) {
            const Scalar value = item_part(tensor, parts_);
            if (value.dtype() == uint64 && value.raw().value.u64 > INT64_MAX)
                index_out_of_range(fmt::to_string(value.raw().value.u64), axis_, shape_);
            return fix(value.to_int());
        }
        const bool tuples = t.shape.size() == 2;
        Pick made{axis_, tuples ? static_cast<int>(t.shape[0]) : 1, {}};
        if (made.count == 0)
            throw Error(Status::invalid_argument, op,
                        "got coordinate tuples of no axes (an index tensor of shape 0xn)");
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
        const Tensor own = cast_part(given, int64, impl(given).device(), parts_);
        if (negative) { // the extent where the sign is set
            const Tensor shift = part(ATOLL_FN_right_shift, {own, 63}, parts_);
            part(ATOLL_FN_bitwise_and, {shift, shape_[axis]}, parts_, &shift);
            part(ATOLL_FN_add, {own, shift}, parts_, &own);
        }
        pick.positions.push_back(own);
    }

    void add_mask(const Tensor &mask) {
        const Dims &extents = impl(mask).shape;
        for (int i = 0; i < extents.size(); ++i)
            if (extents[i] != shape_[axis_ + i])
                throw Error(
                    Status::invalid_argument, op,
                    fmt::format("got a mask of shape {} for axes {} to {} of shape {}, need "
                                "exactly their extents",
                                shape_text(extents), axis_, axis_ + extents.size() - 1,
                                shape_text(shape_)));
        // One of rank 0 takes no axis and adds one of extent 0 or 1.
        pick({axis_, extents.size(), {find_part(mask, parts_)}});
    }

    void add_bound(const IndexState &inner) {
        for (int i = 0; i < inner.input.size(); ++i)
            if (inner.input[i] != shape_[axis_ + i])
                throw Error(Status::invalid_argument, op,
                            fmt::format("got an index bound to shape {} for axes {} to {} of shape "
                                        "{}, need exactly those extents",
                                        shape_text(inner.input), axis_,
                                        axis_ + inner.input.size() - 1, shape_text(shape_)));
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
        axis_ += inner.input.size();
    }

    const IndexState &unbound_;
    const Dims &shape_;
    const Context parts_ = for_index();
    std::shared_ptr<IndexState> made_ = std::make_shared<IndexState>();
    int axis_ = 0; // the next of the input
};

// `once`: for this call only.
State bound_to(const State &state, const Dims &shape, bool once) {
    if (!state->bound) return Binder(*state, shape, once).bind();
    if (!(state->input == shape))
        throw Error(Status::invalid_argument, op,
                    fmt::format("got shape {} for an index bound to {}, need exactly that",
                                shape_text(shape), shape_text(state->input)));
    return state;
}

// The sum of the pick's positions times strides; `own`: the positions may be overwritten.
Tensor pick_offsets(const Pick &pick, const Dims &input, const Dims &strides, DeviceRecord *device,
                    bool own, const Context &parts) {
    Tensor sum;
    const auto add_term = [&](const Tensor &positions, std::int64_t stride, bool overwrite) {
        const Tensor term =
            part(ATOLL_FN_multiply, {positions, stride}, parts, overwrite ? &positions : nullptr);
        sum = sum.is_defined() ? part(ATOLL_FN_add, {sum, term}, parts, &sum) : term;
    };
    if (pick.positions.size() == static_cast<std::size_t>(pick.count)) {
        for (int i = 0; i < pick.count; ++i) {
            const Tensor &positions = pick.positions[static_cast<std::size_t>(i)];
            const Tensor here = moved(positions, device, parts);
            add_term(here, strides[pick.source + i], own || here.impl() != positions.impl());
        }
        return sum;
    }
    Tensor rest = moved(pick.positions.front(), device, parts);
    own = own || rest.impl() != pick.positions.front().impl();
    if (rest.size() == 0) return rest;
    // Axes that lie in memory like one are taken as one.
    Dims extents, steps;
    for (int axis = pick.source; axis < pick.source + pick.count; ++axis) {
        if (input[axis] == 1) continue;
        if (!extents.empty() && strides[axis] == steps.back() * extents.back()) {
            extents[extents.size() - 1] *= input[axis];
        } else {
            extents.push_back(input[axis]);
            steps.push_back(strides[axis]);
        }
    }
    if (extents.empty()) return rest; // all are 0
    for (int i = 0; i + 1 < extents.size(); ++i) {
        add_term(part(ATOLL_FN_remainder, {rest, extents[i]}, parts), steps[i], true);
        rest = part(ATOLL_FN_floor_divide, {rest, extents[i]}, parts, own ? &rest : nullptr);
        own = true;
    }
    add_term(rest, steps.back(), own);
    return sum;
}

// The same over all picks, of extent 1 along all other output axes.
Tensor make_offsets(const IndexState &state, const Dims &strides, DeviceRecord *device) {
    const Context parts = for_index();
    Tensor sum;
    for (const Pick &pick : state.picks) {
        const bool own = state.once && !pick.borrowed;
        const Tensor offsets = pick_offsets(pick, state.input, strides, device, own, parts);
        const Dims extents = offsets.shape();
        Dims place = Dims::filled(pick.first + extents.size(), 1);
        std::copy(extents.begin(), extents.end(), place.begin() + pick.first);
        const Tensor placed = offsets.reshape(place);
        sum = sum.is_defined() ? part(ATOLL_FN_add, {sum, placed}, parts) : placed;
    }
    return sum;
}

// What of the tensor does not come from picks: of extent 1 along the axes of picks.
Tensor base_view(const IndexState &state, const TensorImpl &t) {
    // Strides of a tensor without elements are no numbers to calculate with.
    const bool none = std::find(state.output.begin(), state.output.end(), 0) != state.output.end();
    std::int64_t offset = t.offset;
    for (int i = 0; i < t.shape.size() && !none; ++i)
        offset += state.base[static_cast<std::size_t>(i)] * t.strides[i];
    Dims shape, strides;
    for (int i = 0; i < state.output.size(); ++i) {
        const Axis &axis = state.axes[static_cast<std::size_t>(i)];
        const bool walks = axis.kind == Axis::Kind::walk && !none;
        shape.push_back(axis.kind == Axis::Kind::pick ? 1 : state.output[i]);
        strides.push_back(walks ? t.strides[axis.source] * axis.step : size_of(t.dtype));
    }
    return make_view(t.storage, offset, std::move(shape), std::move(strides), t.dtype, t.flags);
}

// True iff offsets for one tensor of that shape are right for the other: along an axis of one
// element there is no step.
bool same_layout(const Dims &shape, const Dims &a, const Dims &b) {
    for (int i = 0; i < shape.size(); ++i)
        if (shape[i] > 1 && a[i] != b[i]) return false;
    return true;
}

void require_same_layout(const IndexState &state, const TensorImpl &t) {
    if (!state.has_offsets || same_layout(t.shape, state.strides, t.strides)) return;
    throw Error(Status::invalid_argument, op,
                fmt::format("got a tensor with strides {} for an index bound to strides {}; bind "
                            "it to the shape only, or to this tensor",
                            shape_text(t.strides), shape_text(state.strides)));
}

void require_same_device(const IndexState &state, const TensorImpl &t) {
    if (current_settings().auto_cast) return;
    for (const Pick &pick : state.picks)
        if (pick.device().record() != t.device())
            throw Error(Status::invalid_argument, op,
                        fmt::format("got index tensors on {} for a tensor on {} with automatic "
                                    "casting off; move them with Index::to",
                                    pick.device().name(), t.device()->name));
}

// A selection with picks as the plugin's functions take it.
struct Located {
    Tensor whole; // the tensor, or a copy whose elements are aligned
    Tensor base, offsets;
};

Located locate(const IndexState &state, const Tensor &tensor,
               std::initializer_list<int> functions) {
    const Context parts = for_index();
    const TensorImpl &t = impl(tensor);
    Located at{tensor, {}, {}};
    for (int function : functions)
        if (!takes_in_place(*at.whole.impl(), function))
            at.whole = cast_part(tensor, t.dtype, t.device(), parts);
    const TensorImpl &whole = *at.whole.impl();
    at.base = base_view(state, whole);
    if (!state.has_offsets || &whole != &t)
        at.offsets = make_offsets(state, whole.strides, t.device());
    else
        at.offsets = moved(state.offsets, t.device(), parts);
    return at;
}

Tensor gather_from(const Located &at, const Dims &shape) {
    return gather_elements(*at.base.impl(), at.offsets, shape, {});
}

void scatter_to(const Located &at, const Tensor &tensor, const Dims &shape, const Tensor &values) {
    scatter_elements(*at.base.impl(), at.offsets, shape, *values.impl(), *at.whole.impl(), {});
    if (at.whole.impl() == tensor.impl()) return;
    copy_elements(*tensor.impl(), *at.whole.impl(),
                  Context{}.for_parts_of(Registry::get().core_function(ATOLL_FN_scatter)));
}

// The index bound to the tensor's shape for one call, with the checks that all uses share.
State bound_for_call(const State &given, const TensorImpl &t) {
    const State state = bound_to(given, t.shape, true);
    require_same_layout(*state, t);
    require_same_device(*state, t);
    return state;
}

Tensor read_bound(const IndexState &state, const Tensor &tensor) {
    if (state.picks.empty()) return base_view(state, impl(tensor));
    return gather_from(locate(state, tensor, {ATOLL_FN_gather}), state.output);
}

// What is to be written to elements of `t`, as a tensor that broadcasts to `shape`.
Tensor values_for(const TensorImpl &t, const Dims &shape, const Operand &source,
                  const FunctionRecord &function) {
    if (source.tensor()) {
        const TensorImpl &from = elements(*source.tensor(), "core.scatter");
        if (!broadcasts_to(from.shape, shape))
            throw Error(Status::invalid_argument, function.full_name,
                        fmt::format("got {} for {}, need extents that are equal or 1, first axes "
                                    "aligned",
                                    shape_text("values", from.shape),
                                    shape_text("a selection", shape)));
        if (!(from.shape == shape) && !current_settings().auto_broadcast)
            refuse_auto_broadcast({"values", from.shape}, {"a selection", shape},
                                  function.full_name);
        require_auto_cast(t, "a", from.dtype, from.device(), function.full_name, {});
        return *source.tensor();
    }
    const Scalar &value = source.scalar();
    if (value.overflows(t.dtype))
        throw Error(Status::out_of_range, function.full_name,
                    fmt::format("{} does not fit {}; convert it with Scalar::cast",
                                to_string(value), Atoll::name(t.dtype)));
    const Context parts = Context{}.for_parts_of(function);
    const Tensor one =
        make_tensor({}, t.dtype, t.device(), t.storage->stream, Order::F, parts.parent);
    fill_elements(*one.impl(), value, parts);
    return one;
}

void write_selection(const State &given, const Tensor &tensor, const Operand &source) {
    const TensorImpl &t = impl(tensor);
    const ReadSection section;
    const FunctionRecord &function = Registry::get().core_function(ATOLL_FN_scatter);
    const State state = bound_for_call(given, t);
    if (state->picks.empty()) {
        base_view(*state, t).assign(source);
        return;
    }
    check_output(t, "a", function.full_name);
    const Tensor values = values_for(t, state->output, source, function);
    scatter_to(locate(*state, tensor, {ATOLL_FN_scatter}), tensor, state->output, values);
}

// A view of a view needs no positions.
State compose_views(const IndexState &a, const IndexState &b) {
    auto made = std::make_shared<IndexState>();
    made->bound = true;
    made->input = a.input;
    made->output = b.output;
    made->base = a.base;
    for (std::size_t i = 0; i < a.axes.size(); ++i)
        if (a.axes[i].kind == Axis::Kind::walk)
            made->base[static_cast<std::size_t>(a.axes[i].source)] += a.axes[i].step * b.base[i];
    for (const Axis &axis : b.axes) {
        if (axis.kind == Axis::Kind::added) {
            made->axes.push_back(axis);
            continue;
        }
        const Axis &through = a.axes[static_cast<std::size_t>(axis.source)];
        made->axes.push_back(through.kind == Axis::Kind::walk
                                 ? Axis{through.kind, through.source, through.step * axis.step}
                                 : Axis{Axis::Kind::added, -1, 0});
    }
    return made;
}

// Everything else goes by positions: those that a picks, picked by b.
State compose_positions(const IndexState &a, IndexState b) {
    b.has_offsets = false; // they are for another tensor
    const Pick &first = a.picks.empty() ? b.picks.front() : a.picks.front();
    DeviceRecord *device = first.positions.front().impl()->device();
    const Context parts = for_index();
    // The offsets that a has in a tensor whose elements have the size 1.
    const Dims strides = dense_strides(a.input, 1, Order::F);
    std::int64_t start = 0;
    for (int i = 0; i < strides.size(); ++i)
        start += a.base[static_cast<std::size_t>(i)] * strides[i];
    Dims steps;
    for (const Axis &axis : a.axes)
        steps.push_back(axis.kind == Axis::Kind::walk ? axis.step * strides[axis.source] : 0);
    const Tensor offsets = make_offsets(a, strides, device);
    Tensor picked = read_bound(b, expand_offsets(start, steps, offsets, a.output, device, parts));
    if (b.picks.empty())
        picked = cast_part(picked, int64, device, parts); // not a view that keeps all alive
    auto made = std::make_shared<IndexState>();
    made->bound = true;
    made->input = a.input;
    made->output = b.output;
    made->base.assign(static_cast<std::size_t>(a.input.size()), 0);
    made->axes.assign(static_cast<std::size_t>(b.output.size()), {Axis::Kind::pick, 0, 0});
    made->picks.push_back({0, a.input.size(), {picked}});
    return made;
}

const IndexState &require_bound(const State &state) {
    if (state->bound) return *state;
    throw Error(Status::invalid_argument, "index", "the index is not bound; bind it to a shape");
}

} // namespace

} // namespace Atoll::detail

namespace Atoll {

using namespace detail;

Index::Index() : Index(std::span<const IndexElement>()) {}

Index::Index(std::span<const IndexElement> elements) {
    // An index alone is itself, offsets included.
    if (elements.size() == 1 && elements[0].kind == IndexElement::Kind::index) {
        state_ = elements[0].index->state_;
        return;
    }
    auto state = std::make_shared<IndexState>();
    for (const IndexElement &e : elements) {
        if (e.kind == IndexElement::Kind::tensor) {
            check_index_tensor(detail::impl(*e.tensor));
            state->elements.push_back({e.kind, 0, {}, *e.tensor, {}});
        } else if (e.kind != IndexElement::Kind::index) {
            state->elements.push_back({e.kind, e.integer, e.range, {}, {}});
        } else if (e.index->state_->bound) {
            state->elements.push_back({e.kind, 0, {}, {}, e.index->state_});
        } else {
            const auto &inner = e.index->state_->elements;
            state->elements.insert(state->elements.end(), inner.begin(), inner.end());
        }
    }
    state_ = std::move(state);
}

bool Index::is_bound() const { return state_->bound; }
bool Index::is_bound_to_strides() const { return state_->has_offsets; }

bool Index::is_view() const {
    if (state_->bound) return state_->picks.empty();
    for (const Element &e : state_->elements) {
        if (e.kind == IndexElement::Kind::tensor) {
            const TensorImpl &t = detail::impl(e.tensor);
            if (t.dtype == bool_ || !t.shape.empty()) return false;
        }
        if (e.kind == IndexElement::Kind::index && !e.bound->picks.empty()) return false;
    }
    return true;
}

const Dims &Index::input_shape() const & { return require_bound(state_).input; }
const Dims &Index::output_shape() const & { return require_bound(state_).output; }

Index Index::bind(const Dims &shape) const { return Index(bound_to(state_, shape, false)); }

Index Index::bind(const Tensor &tensor) const {
    const TensorImpl &t = detail::impl(tensor);
    const State bound = bound_to(state_, t.shape, false);
    require_same_layout(*bound, t);
    if (bound->has_offsets && bound->device == t.device()) return Index(bound);
    auto made = std::make_shared<IndexState>(*bound);
    if (!made->picks.empty())
        made->offsets = made->has_offsets ? moved(made->offsets, t.device(), for_index())
                                          : make_offsets(*made, t.strides, t.device());
    made->has_offsets = true;
    made->strides = t.strides;
    made->device = t.device();
    return Index(State(std::move(made)));
}

Index Index::to(Device device) const {
    if (!device) throw Error(Status::invalid_argument, "index.to", "no device");
    auto made = std::make_shared<IndexState>(*state_);
    for (Element &e : made->elements) {
        if (e.tensor.is_defined()) e.tensor = e.tensor.to(device);
        if (e.bound) e.bound = Index(e.bound).to(device).state_;
    }
    for (Pick &pick : made->picks)
        for (Tensor &positions : pick.positions) positions = positions.to(device);
    if (made->offsets.is_defined()) made->offsets = made->offsets.to(device);
    if (made->has_offsets) made->device = device.record();
    return Index(State(std::move(made)));
}

Index Index::then(const Index &next) const {
    const IndexState &a = require_bound(state_);
    const State b = bound_to(next.state_, a.output, false);
    if (a.picks.empty() && b->picks.empty()) return Index(compose_views(a, *b));
    return Index(compose_positions(a, *b));
}

Tensor Selection::get() const {
    const ReadSection section;
    const State state = bound_for_call(index_.state(), detail::impl(tensor_));
    return read_bound(*state, tensor_);
}

const Selection &Selection::operator=(const Operand &source) const {
    write_selection(index_.state(), tensor_, source);
    return *this;
}
const Selection &Selection::operator=(const Selection &source) const {
    return *this = Operand(source);
}

const Selection &Selection::apply(int function, const Operand &b) const {
    const TensorImpl &t = detail::impl(tensor_);
    const ReadSection section;
    const State state = bound_for_call(index_.state(), t);
    if (state->picks.empty()) {
        const Tensor view = base_view(*state, t);
        call_binary(function, view, b, view);
        return *this;
    }
    check_output(t, "a", Registry::get().core_function(ATOLL_FN_scatter).full_name);
    const Located at = locate(*state, tensor_, {ATOLL_FN_gather, ATOLL_FN_scatter});
    const Tensor picked = gather_from(at, state->output);
    call_binary(function, picked, b, picked);
    scatter_to(at, tensor_, state->output, picked);
    return *this;
}

const Selection &Selection::operator+=(const Operand &b) const { return apply(ATOLL_FN_add, b); }
const Selection &Selection::operator-=(const Operand &b) const {
    return apply(ATOLL_FN_subtract, b);
}
const Selection &Selection::operator*=(const Operand &b) const {
    return apply(ATOLL_FN_multiply, b);
}
const Selection &Selection::operator/=(const Operand &b) const { return apply(ATOLL_FN_divide, b); }
const Selection &Selection::operator%=(const Operand &b) const {
    return apply(ATOLL_FN_remainder, b);
}
const Selection &Selection::operator&=(const Operand &b) const {
    return apply(ATOLL_FN_bitwise_and, b);
}
const Selection &Selection::operator|=(const Operand &b) const {
    return apply(ATOLL_FN_bitwise_or, b);
}
const Selection &Selection::operator^=(const Operand &b) const {
    return apply(ATOLL_FN_bitwise_xor, b);
}
const Selection &Selection::operator<<=(const Operand &b) const {
    return apply(ATOLL_FN_left_shift, b);
}
const Selection &Selection::operator>>=(const Operand &b) const {
    return apply(ATOLL_FN_right_shift, b);
}

} // namespace Atoll
