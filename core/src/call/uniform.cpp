// Calls with operands that every plugin takes as they are.
//
// Note [Uniform operands]
// Most calls have tensors of one dtype, shape and device that lie dense, native and aligned in
// memory of their own, which every plugin takes. One look at each finds that out, and nothing has
// to be tested for conversion, broadcasting, overlap or merging: a third of the cost of a small
// call. Which functions may be called so is decided when they are registered.
#include "call/uniform.hpp"

#include "call/route.hpp"

namespace Atoll::detail {

namespace {

bool uniform(const TensorImpl &t) {
    return !t.swapped() && dense(t, Order::F) &&
           reinterpret_cast<std::uintptr_t>(t.data()) % info(t.dtype).alignment == 0;
}
bool uniform(const TensorImpl &t, const TensorImpl &with) {
    return t.device() == with.device() && t.shape == with.shape && uniform(t);
}

} // namespace

bool run_uniform(const FunctionRecord &function, Inputs inputs, const TensorImpl *out,
                 Tensor &result, const Context &context) {
    const Tensor *handle = inputs[0]->tensor();
    if (!handle || !handle->impl() || !uniform(*handle->impl())) return false;
    const TensorImpl &first = *handle->impl();
    for (const Operand *operand : inputs.subspan(1)) {
        const Tensor *other = operand->tensor();
        if (!other || !other->impl() || other->impl()->dtype != first.dtype ||
            !uniform(*other->impl(), first))
            return false;
    }
    const DType T = T_from_common(function, first.dtype);
    if (T != first.dtype) return false;
    const DType natural = natural_dtype(function.signature.operands[0], T);
    if (out) {
        if (out->dtype != natural || out->read_only() || !uniform(*out, first)) return false;
        for (const Operand *operand : inputs) {
            const TensorImpl &input = *operand->tensor()->impl();
            const bool same = out->data() == input.data() && out->dtype == input.dtype;
            if (!same && !separate(*out, input)) return false;
        }
    }
    const Ref<StreamImpl> &stream = out ? out->storage->stream : first.storage->stream;
    const Route route(function, first.device(), T, stream ? stream->handle : nullptr, context);
    if (!out) {
        result = make_tensor(first.shape, natural, first.device(), stream);
        out = result.impl();
    }
    const std::int64_t size = first.size();
    if (size == 0) return true;
    Space space;
    space.rank = size == 1 ? 0 : 1;
    space.shape[0] = size;
    space.count = space.core = 0;
    space.add_dense(*out);
    for (const Operand *operand : inputs) space.add_dense(*operand->tensor()->impl());
    route.send(space);
    return true;
}

} // namespace Atoll::detail
