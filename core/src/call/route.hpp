// The route of a call: the implementation's slot, what it takes, and the stream.
#pragma once

#include "call/context.hpp"
#include "call/space.hpp"
#include "runtime/dispatch.hpp"

namespace Atoll::detail {

class Route {
public:
    // Loads the slot's chain, inside a ReadSection. Throws Error if nothing is implemented.
    Route(const FunctionRecord &function, DeviceRecord *device, DType T,
          const Ref<StreamImpl> &stream, const Context &context)
        : function_(function), device_(*device), T_(T), stream_(stream), context_(context),
          chain_(device->type->chain(function, static_cast<int>(T))) {
        if (!chain_->implemented) [[unlikely]]
            refuse_missing();
    }

    // On a tensor's device and stream, with its dtype as T.
    Route(const FunctionRecord &function, const TensorImpl &tensor, const Context &context)
        : Route(function, tensor.device(), tensor.dtype, tensor.storage->stream, context) {}

    std::uint64_t caps() const { return chain_->caps; }
    bool takes(std::uint64_t caps) const { return (chain_->caps & caps) == caps; }
    // Whether it takes more than dense operands.
    bool takes_strides() const { return caps() & (ATOLL_CAP_STRIDED | ATOLL_CAP_INNER_DENSE); }
    // How many of the first attributes and inputs the implementation knows. Later ones it knows
    // only if they are required.
    int known_attributes() const { return static_cast<int>(chain_->attributes); }
    int known_inputs() const { return static_cast<int>(chain_->inputs); }
    bool knows_all() const {
        return known_attributes() >= function_.signature.attribute_count &&
               known_inputs() >= function_.signature.input_count();
    }
    const std::string &plugin() const { return chain_->plugin->name; }
    int max_rank() const { return static_cast<int>(chain_->max_rank); }
    // Why it does not take the layout of operand `o` (ATOLL_REASON_*), or 0; whether it takes all
    // layouts. For merged spaces, where each group has at least one axis.
    std::uint32_t refused_layout(const Space &space, int o) const;
    bool takes_layout(const Space &space) const;
    // Whether it takes as many axes per group.
    bool takes_groups(const Space &space) const {
        return takes(ATOLL_CAP_GROUPS) || !has_groups(space);
    }
    // Whether operand `o` must be dense so that axes merge: there are too many of them, or several
    // in a group, and the implementation does not take that.
    bool has_to_merge(const Space &space, int o) const;

    // Orders streams and calls the plugin. `objects` receives results that are objects; null: none.
    void send(Space &space, std::span<const atoll_scalar> attributes = {},
              Tensor *objects = nullptr) const;
    // The same with at most `most` axes per call, looping over the others.
    void send_parts(Space &space, int most, std::span<const atoll_scalar> attributes = {}) const;
    // The same for an element-wise function of dense tensors of one shape and `size` elements,
    // outputs first.
    void send_alike(std::span<const TensorImpl *const> tensors, std::int64_t size) const;

    static constexpr std::uint64_t any_strides =
        ATOLL_CAP_STRIDED | ATOLL_CAP_NEGATIVE_STRIDES | ATOLL_CAP_ZERO_STRIDES;

private:
    [[noreturn]] void refuse_missing() const;
    template <class TensorOf> void enqueue(PreparedCall &prepared, const TensorOf &tensor_of) const;
    bool has_groups(const Space &space) const { // of several axes
        return space.core > function_.signature.slot_count;
    }
    bool writes(int operand) const {
        return operand < function_.signature.output_count ||
               function_.signature.operand(operand).updated;
    }

    const FunctionRecord &function_;
    DeviceRecord &device_;
    DType T_;
    const Ref<StreamImpl> &stream_;
    const Context &context_;
    const Chain *chain_;
};

} // namespace Atoll::detail
