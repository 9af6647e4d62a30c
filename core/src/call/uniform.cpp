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
    const auto natural = static_cast<DType>(function.uniform[static_cast<int>(first.dtype)]);
    if (natural == DType::none) return false;
    if (out) {
        if (out->dtype != natural || out->read_only() || !uniform(*out, first)) return false;
        for (const Operand *operand : inputs) {
            const TensorImpl &input = *operand->tensor()->impl();
            const bool same = out->data() == input.data() && out->dtype == input.dtype;
            if (!same && !separate(*out, input)) return false;
        }
    }
    const Ref<StreamImpl> &stream = out ? out->storage->stream : first.storage->stream;
    const Route route(function, first.device(), first.dtype, stream, context);
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

bool run_uniform_core(const FunctionRecord &function, const Tensor &input,
                      std::span<const atoll_scalar> attributes, Tensor &result,
                      const Context &context) {
    if (!input.impl()) return false;
    const TensorImpl &in = *input.impl();
    const auto natural = static_cast<DType>(function.uniform_core[static_cast<int>(in.dtype)]);
    if (natural == DType::none || !uniform(in)) return false;
    const std::int64_t size = in.size();
    if (size == 0) return false;
    const bool keeps = function.signature.operands[0].axis_count > 0;
    const Ref<StreamImpl> &stream = in.storage->stream;
    const Route route(function, in.device(), in.dtype, in.storage->stream, context);
    if (!route.knows_all()) [[unlikely]]
        return false;
    result = make_tensor(keeps ? in.shape : Dims(), natural, in.device(), stream);
    Space space;
    space.rank = space.core = 1;
    space.slot_axes[0] = 1;
    space.shape[0] = size;
    space.count = 0;
    space.add_operand(*result.impl()).strides[0] = keeps ? size_of(natural) : 0;
    space.add_operand(in).strides[0] = size_of(in.dtype);
    route.send(space, attributes);
    return true;
}

bool run_uniform_product(const FunctionRecord &function, const TensorImpl &a, const TensorImpl &b,
                         std::span<const atoll_scalar> attributes, Tensor &result,
                         const Context &context) {
    if (a.shape.size() != 2 || b.shape.size() != 2 || a.dtype != b.dtype ||
        a.device() != b.device() || !uniform(a) || !uniform(b))
        return false;
    const std::int64_t m = a.shape[0], k = a.shape[1], n = b.shape[1], size = size_of(a.dtype);
    if (m * n * k == 0) return false;
    const Ref<StreamImpl> &stream = a.storage->stream;
    const Route route(function, a.device(), a.dtype, a.storage->stream, context);
    result = make_tensor({m, n}, a.dtype, a.device(), stream);
    Space space;
    space.rank = space.core = 3;
    std::fill_n(space.slot_axes, 3, std::uint8_t{1});
    space.count = 0;
    const auto set = [](std::int64_t *to, std::int64_t x, std::int64_t y, std::int64_t z) {
        to[0] = x, to[1] = y, to[2] = z;
    };
    set(space.shape, m, k, n);
    set(space.add_operand(*result.impl()).strides, size, 0, size * m);
    set(space.add_operand(a).strides, size, size * m, 0);
    set(space.add_operand(b).strides, 0, size, size * k);
    space.add_scalar(nullptr, DType::none); // c
    route.send(space, attributes);
    return true;
}

} // namespace Atoll::detail
