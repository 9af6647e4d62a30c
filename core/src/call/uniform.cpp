// Calls with operands that every plugin takes as they are.
//
// Note [Uniform operands]
// Most calls have tensors of one dtype, shape and device that are dense, native, aligned and
// disjoint, which every plugin takes. One test of each operand replaces those for conversion,
// broadcasting, overlap and merging, a third of the cost of a small call. The functions that may be
// called this way are determined when they are registered.
#include "call/uniform.hpp"

#include "call/route.hpp"
#include "call/temporary.hpp"

namespace Atoll::detail {

namespace {

bool uniform(const TensorImpl &t) { return t.dense_size >= 0 && !t.swapped(); }
// Whether t is uniform, as `first` is, and of its shape and device; dtypes may differ.
bool alike(const TensorImpl &t, const TensorImpl &first) {
    // Vectors of one size have one shape.
    return t.dense_size == first.dense_size && t.device() == first.device() && !t.swapped() &&
           t.shape.size() == first.shape.size() && (t.shape.size() == 1 || t.shape == first.shape);
}

} // namespace

bool run_uniform(const FunctionRecord &function, Inputs inputs, const TensorImpl *out,
                 Tensor *temporary, Tensor &result, const Context &context) {
    const auto tensor = [&](std::size_t i) {
        const Tensor *handle = inputs[i]->tensor();
        return handle ? handle->impl() : nullptr;
    };
    const TensorImpl *const leading = tensor(0);
    if (!leading || !uniform(*leading)) return false;
    const TensorImpl &first = *leading;
    const auto natural = static_cast<DType>(function.uniform[static_cast<int>(first.dtype)]);
    if (natural == DType::none) return false;
    const TensorImpl *tensors[max_operands] = {out, leading};
    std::size_t count = 2;
    for (std::size_t i = 1; i < inputs.size(); ++i) {
        const TensorImpl *const input = tensor(i);
        if (!input || input->dtype != first.dtype || !alike(*input, first)) return false;
        tensors[count++] = input;
    }
    if (out) {
        if (out->dtype != natural || out->read_only() || !alike(*out, first)) return false;
        for (std::size_t i = 1; i < count; ++i) {
            const TensorImpl &input = *tensors[i];
            const bool same = out->data() == input.data() && out->dtype == input.dtype;
            if (!same && !separate(*out, input)) return false;
        }
    }
    const Ref<StreamImpl> &stream = out ? out->storage->stream : first.storage->stream;
    const Route route(function, first.device(), first.dtype, stream, context);
    if (!out) {
        if (temporary)
            result = taken_over(*temporary, first.shape, natural, first.device(), stream);
        if (!result.impl()) result = make_tensor(first.shape, natural, first.device(), stream);
        tensors[0] = result.impl();
    }
    route.send_alike({tensors, count}, first.dense_size);
    return true;
}

bool run_uniform_core(const FunctionRecord &function, const Tensor &input,
                      std::span<const atoll_scalar> attributes, Tensor &result,
                      const Context &context) {
    if (!input.impl()) return false;
    const TensorImpl &in = *input.impl();
    const auto natural = static_cast<DType>(function.uniform_core[static_cast<int>(in.dtype)]);
    if (natural == DType::none || !uniform(in)) return false;
    const std::int64_t size = in.dense_size;
    const bool keeps = function.signature.operands[0].axis_count > 0;
    const Route route(function, in, context);
    if (!route.knows_all()) [[unlikely]]
        return false;
    result = make_tensor(keeps ? in.shape : Dims(), natural, in.device(), in.storage->stream);
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
    const Route route(function, a, context);
    result = make_tensor({m, n}, a.dtype, a.device(), a.storage->stream);
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
