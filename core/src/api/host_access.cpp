// Elements of tensors in the host's hands: one value, a span, a view.
#include "objects/layout.hpp"

#include <fmt/format.h>

namespace Atoll {

using namespace detail;

Scalar Tensor::item_as(DType dtype) const {
    const Scalar value = item();
    if (is_complex(value.dtype()) && !is_complex(dtype))
        throw Error(Status::invalid_argument, "tensor.item",
                    fmt::format("got {}, which a real number does not hold; use "
                                "item<std::complex<double>>(), or real() and imag() of the tensor",
                                name(value.dtype())),
                    device().name());
    return Scalar(value, dtype);
}

// `wanted_rank` < 0: any, but contiguous.
void *Tensor::host_address(DType dtype, bool writes, int wanted_rank, std::string_view op) const {
    const TensorImpl &t = self();
    const auto refuse = [&](const std::string &text, Status status = Status::invalid_argument) {
        throw Error(status, op, text, t.device()->name);
    };
    if (!t.device()->type->host_memory())
        refuse("the elements are not in host memory; copy them with to(device(\"cpu\"))");
    if (t.dtype != dtype)
        refuse(fmt::format("got a C++ type of {} for a tensor of {}; cast() the tensor",
                           name(dtype), name(t.dtype)));
    if (writes && t.read_only())
        refuse("the tensor is read-only; use a const type, or a clone()", Status::read_only);
    if (t.swapped()) refuse("the elements are byte-swapped; use byteswap() or replicate()");
    if (!aligned(t)) refuse("the elements are not aligned; use replicate()");
    if (wanted_rank < 0 && !dense(t, Order::F))
        refuse(fmt::format("the elements {} are not contiguous; use host_view, or replicate()",
                           shape_text(t.shape)));
    if (wanted_rank >= 0 && t.shape.size() != wanted_rank)
        refuse(fmt::format("got shape {}, need {} axes", shape_text(t.shape), wanted_rank));
    if (t.storage->pinned_for) // transfers are work of that device, both to and from here
        wait_for_readers_at_end(*t.storage);
    if (writes) wait_for_readers_of(*t.storage);
    const StreamOf home = home_of(*t.storage);
    synchronize_stream(*home.device, home.handle());
    return t.data();
}

} // namespace Atoll
