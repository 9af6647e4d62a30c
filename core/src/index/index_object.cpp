// Index objects.
#include "call/copy.hpp"
#include "call/gather.hpp"
#include "call/parts.hpp"
#include "index/index_range.hpp"
#include "index/index_state.hpp"

namespace Atoll {

using namespace detail;

namespace {

void check_index_tensor(const TensorImpl &t) {
    const bool integers = is_integer(t.dtype) && t.shape.size() <= 2;
    if (!integers && t.dtype != bool_)
        refuse_index(fmt::format("got an index tensor of {} with shape {}, need bool, or integers "
                                 "of rank 0, 1 or 2",
                                 name(t.dtype), shape_text(t.shape)));
}

// A view of a view needs no positions.
void compose_views(const IndexState &a, const IndexState &b, IndexState &made) {
    made.base = a.base;
    for (std::size_t i = 0; i < a.axes.size(); ++i)
        if (a.axes[i].kind == Axis::Kind::walk)
            made.base[a.axes[i].source] += a.axes[i].step * b.base[i];
    for (Axis axis : b.axes) {
        if (axis.kind == Axis::Kind::walk) {
            const Axis &through = a.axes[static_cast<std::size_t>(axis.source)];
            axis = {through.kind, through.source, through.step * axis.step};
        }
        made.axes.push_back(axis);
    }
}

// Everything else goes by positions: those that a picks, picked by b.
void compose_positions(const IndexState &a, IndexState b, IndexState &made) {
    b.has_offsets = false; // they are for another tensor
    const Pick &first = a.picks.empty() ? b.picks.front() : a.picks.front();
    DeviceRecord *device = first.positions.front().impl()->device();
    const Context parts = for_index();
    // The offsets that a has in a tensor whose elements have the size 1.
    const Dims strides = dense_strides(a.input, 1, Order::F);
    std::int64_t start = 0;
    for (int i = 0; i < strides.size(); ++i) start += a.base[i] * strides[i];
    Dims steps;
    for (const Axis &axis : a.axes)
        steps.push_back(axis.kind == Axis::Kind::walk ? axis.step * strides[axis.source] : 0);
    const Tensor offsets = make_offsets(a, strides, device).in_bytes(parts);
    Tensor picked = read_bound(b, expand_offsets(start, steps, offsets, a.output, device, parts));
    if (b.picks.empty())
        picked =
            cast_elements(impl(picked), int64, device, parts); // not a view that keeps all alive
    made.base = Dims::filled(a.input.size(), 0);
    made.axes.assign(static_cast<std::size_t>(b.output.size()), {Axis::Kind::pick, 0, 0});
    made.picks.push_back({0, a.input.size(), {picked}});
}

const IndexState &require_bound(const State &state) {
    if (state->bound) return *state;
    throw Error(Status::invalid_argument, "index", "the index is not bound; bind it to a shape");
}

} // namespace

Index::Index() : Index(std::span<const IndexElement>()) {}

Index::Index(std::span<const IndexElement> elements) {
    // An index alone is itself, offsets included.
    if (elements.size() == 1 && elements[0].kind == IndexElement::Kind::index) {
        state_ = elements[0].index->state_;
        return;
    }
    auto state = std::make_shared<IndexState>();
    for (const IndexElement &e : elements) {
        if (e.index && !e.index->state_->bound) {
            const auto &inner = e.index->state_->elements;
            state->elements.insert(state->elements.end(), inner.begin(), inner.end());
            continue;
        }
        if (e.tensor) check_index_tensor(detail::impl(*e.tensor));
        state->elements.push_back({e.kind, e.integer, e.range, e.tensor ? *e.tensor : Tensor(),
                                   e.index ? e.index->state_ : nullptr});
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
    auto made = std::make_shared<IndexState>(*bound);
    if (!made->picks.empty())
        made->offsets = made->has_offsets
                            ? moved(made->offsets, t.device(), for_index())
                            : make_offsets(*made, t.strides, t.device()).in_bytes(for_index());
    made->has_offsets = true;
    made->strides = t.strides;
    return Index(State(std::move(made)));
}

Index Index::to(Device device) const {
    if (!device)
        throw Error(Status::invalid_argument, "index.to",
                    "the device is undefined (default-constructed)");
    auto made = std::make_shared<IndexState>(*state_);
    for (Element &e : made->elements) {
        if (e.tensor.is_defined()) e.tensor = e.tensor.to(device);
        if (e.bound) e.bound = Index(e.bound).to(device).state_;
    }
    for (Pick &pick : made->picks)
        for (Tensor &positions : pick.positions) positions = positions.to(device);
    if (made->offsets.is_defined()) made->offsets = made->offsets.to(device);
    return Index(State(std::move(made)));
}

Index Index::then(const Index &next) const {
    const IndexState &a = require_bound(state_);
    const State b = bound_to(next.state_, a.output, false);
    auto made = std::make_shared<IndexState>();
    made->bound = true;
    made->input = a.input;
    made->output = b->output;
    if (a.picks.empty() && b->picks.empty())
        compose_views(a, *b, *made);
    else
        compose_positions(a, *b, *made);
    return Index(State(std::move(made)));
}

} // namespace Atoll
