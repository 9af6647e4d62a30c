// Where a call goes: the implementation's slot, what it takes, and the stream.
#pragma once

#include "call/context.hpp"
#include "call/space.hpp"
#include "runtime/dispatch.hpp"

namespace Atoll::detail {

class Route {
public:
    // Loads the slot's chain: must be inside a ReadSection. Throws where nothing is implemented.
    Route(const FunctionRecord &function, DeviceRecord *device, DType T, void *stream,
          const Context &context);

    bool takes(std::uint32_t caps) const { return (caps_ & caps) == caps; }
    // Whether a tensor's elements can be taken as they are, where the function wants `natural`
    // (none: any dtype); `mixed` is the capability to take other dtypes there.
    bool takes_elements(const TensorImpl &tensor, DType natural, std::uint32_t mixed) const {
        if (tensor.dtype != natural && natural != DType::none && !takes(mixed)) return false;
        if (!takes(ATOLL_CAP_SWAPPED) && tensor.swapped()) return false;
        return takes(ATOLL_CAP_UNALIGNED) || aligned(tensor);
    }
    // Whether the layout of operand `o` of a merged space can be taken as it is.
    bool takes_layout(const Space &space, int o) const;
    bool takes_layout(const Space &space) const {
        if (takes(any_strides)) [[likely]]
            return true;
        for (int o = 0; o < space.count; ++o)
            if (!takes_layout(space, o)) return false;
        return true;
    }

    // Orders streams and calls the plugin; the space is used up.
    void send(Space &space, std::span<const atoll_scalar> attributes = {}) const;

    static constexpr std::uint32_t any_strides =
        ATOLL_CAP_STRIDED | ATOLL_CAP_NEGATIVE_STRIDES | ATOLL_CAP_ZERO_STRIDES;

private:
    const FunctionRecord &function_;
    DeviceRecord &device_;
    DType T_;
    void *stream_;
    const Context &context_;
    const Chain *chain_;
    std::uint32_t caps_;
};

} // namespace Atoll::detail
