// Reading and writing the elements that an index picks.
#include "atoll/selection.hpp"

#include "atoll/detail/call.hpp"
#include "atoll/format.hpp"
#include "base/throw_error.hpp"
#include "call/broadcast.hpp"
#include "call/check.hpp"
#include "call/copy.hpp"
#include "call/gather.hpp"
#include "call/parts.hpp"
#include "index/index_range.hpp"
#include "index/index_state.hpp"
#include "objects/layout.hpp"
#include "objects/object.hpp"
#include "runtime/settings_access.hpp"

namespace Atoll::detail {

namespace {

void require_same_device(const IndexState &state, const TensorImpl &t) {
    if (current_settings().auto_cast) return;
    for (const Pick &pick : state.picks)
        if (pick.device().record() != t.device())
            refuse_index(fmt::format("got index tensors on {} for a tensor on {} with automatic "
                                     "casting off; move them with Index::to",
                                     pick.device().name(), t.device()->name));
}

// A selection with picks as the plugin's functions take it.
struct Located {
    Tensor whole; // the tensor, or a copy whose elements are aligned
    Tensor base;
    Offsets offsets;
};

Located locate(const IndexState &state, const Tensor &tensor,
               std::initializer_list<int> functions) {
    const Context parts = for_index();
    const TensorImpl &t = impl(tensor);
    Located at{tensor, {}, {}};
    for (int function : functions)
        if (!takes_in_place(*at.whole.impl(), function))
            at.whole = cast_elements(impl(tensor), t.dtype, t.device(), parts);
    const TensorImpl &whole = *at.whole.impl();
    at.base = base_view(state, whole);
    if (!state.has_offsets || &whole != &t)
        at.offsets = make_offsets(state, whole.strides, t.device());
    else
        at.offsets = {moved(state.offsets, t.device(), parts)};
    return at;
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

// What is to be written to elements of `t`, as a tensor that broadcasts to `shape`.
Tensor values_for(const TensorImpl &t, const Dims &shape, const Operand &source,
                  const FunctionRecord &function) {
    if (source.tensor()) {
        const TensorImpl &from = elements(*source.tensor(), "core.scatter");
        if (!broadcasts_to(from.shape, shape))
            throw_error(Status::invalid_argument, function.full_name,
                        "got {} for {}, need extents that are equal or 1, first axes "
                        "aligned",
                        shape_text("values", from.shape), shape_text("a selection", shape));
        if (!(from.shape == shape) && !current_settings().auto_broadcast)
            refuse_auto_broadcast({"values", from.shape}, {"a selection", shape},
                                  function.full_name);
        require_auto_cast(t, "a", from.dtype, from.device(), function.full_name, {});
        return *source.tensor();
    }
    const Scalar &value = source.scalar();
    if (value.overflows(t.dtype))
        throw_error(Status::out_of_range, function.full_name,
                    "{} does not fit {}; convert it with Scalar::cast", to_string(value),
                    Atoll::name(t.dtype));
    const Context parts = Context{}.for_parts_of(function);
    const Tensor one =
        make_tensor({}, t.dtype, t.device(), t.storage->stream, Order::F, parts.cause);
    fill_elements(*one.impl(), value, parts);
    return one;
}

// The mask, if the index is one that selects among all elements of `t`: no positions are needed.
const Tensor *only_mask(const IndexState &state, const TensorImpl &t) {
    if (state.bound || state.elements.size() != 1) return nullptr;
    const Element &element = state.elements[0];
    if (element.kind != IndexElement::Kind::tensor) return nullptr;
    const TensorImpl &mask = impl(element.tensor);
    return mask.dtype == bool_ && mask.shape == t.shape && mask.device() == t.device()
               ? &element.tensor
               : nullptr;
}

// Whether to write to the elements one by one: `where` goes over all of them, of which most are in
// lines of memory where none is selected.
bool selects_few(const TensorImpl &t, const Tensor &mask, const Context &parts) {
    if (t.size() < 16'384) return false;
    const std::int64_t count =
        item_part(part(ATOLL_FN_count_nonzero, {mask}, parts), parts).to_int();
    const std::int64_t apart = dense(t, Order::F) && !t.swapped() ? size_of(t.dtype) : 64;
    return count < t.size() / 128 * apart;
}

} // namespace

Tensor read_bound(const IndexState &state, const Tensor &tensor) {
    if (state.picks.empty()) return base_view(state, impl(tensor));
    const Located at = locate(state, tensor, {ATOLL_FN_gather});
    return gather_elements(*at.base.impl(), at.offsets, state.output, {});
}

} // namespace Atoll::detail

namespace Atoll {

using namespace detail;

Tensor Selection::get() const {
    const ReadSection section;
    if (const Tensor *mask = only_mask(*index_.state(), detail::impl(tensor_)))
        return part(ATOLL_FN_compress, {tensor_, *mask}, {});
    const State state = bound_for_call(index_.state(), detail::impl(tensor_));
    return read_bound(*state, tensor_);
}

Dims Selection::shape() const {
    const ReadSection section;
    return bound_for_call(index_.state(), detail::impl(tensor_))->output;
}

std::int64_t Selection::size() const {
    std::int64_t size = 1;
    for (const std::int64_t extent : shape()) size *= extent;
    return size;
}

Device Selection::device() const { return tensor_.device(); }

Selection &Selection::operator=(const Operand &source) {
    const TensorImpl &t = detail::impl(tensor_);
    const ReadSection section;
    const FunctionRecord &function = Registry::get().core_function(ATOLL_FN_scatter);
    if (const Tensor *mask = only_mask(*index_.state(), t); mask && !source.tensor()) {
        check_output(t, "a", function.full_name);
        Context parts = Context{}.for_parts_of(function);
        const Tensor value = values_for(t, {}, source, function);
        if (!selects_few(t, *mask, parts)) {
            parts.dtype = t.dtype;
            part(ATOLL_FN_where, {*mask, value, tensor_}, parts, &tensor_);
            return *this;
        }
    }
    const State state = bound_for_call(index_.state(), t);
    if (state->picks.empty()) {
        base_view(*state, t).assign(source);
        return *this;
    }
    check_output(t, "a", function.full_name);
    const Tensor values = values_for(t, state->output, source, function);
    scatter_to(locate(*state, tensor_, {ATOLL_FN_scatter}), tensor_, state->output, values);
    return *this;
}
Selection &Selection::operator=(const Selection &source) { return *this = Operand(source); }

Selection &Selection::apply(int function, const Operand &b) {
    const TensorImpl &t = detail::impl(tensor_);
    const ReadSection section;
    const State state = bound_for_call(index_.state(), t);
    if (state->picks.empty()) {
        const Tensor view = base_view(*state, t);
        call_into(function, {operand(view), &b}, view);
        return *this;
    }
    check_output(t, "a", Registry::get().core_function(ATOLL_FN_scatter).full_name);
    const Located at = locate(*state, tensor_, {ATOLL_FN_gather, ATOLL_FN_scatter});
    const Tensor picked = gather_elements(*at.base.impl(), at.offsets, state->output, {});
    call_into(function, {operand(picked), &b}, picked);
    scatter_to(at, tensor_, state->output, picked);
    return *this;
}

} // namespace Atoll
