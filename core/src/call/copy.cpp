// Copies between any two tensors: within a device by its `copy`, across devices by transfers.
#include "call/plan.hpp"

#include <cstdlib>
#include <cstring>
#include <memory>

#include <fmt/format.h>

namespace Atoll::detail {

namespace {

struct FreeMemory {
    void operator()(void *memory) const { std::free(memory); }
};
using HostBuffer = std::unique_ptr<char, FreeMemory>;

HostBuffer host_buffer(std::int64_t bytes) {
    HostBuffer buffer(static_cast<char *>(std::malloc(static_cast<std::size_t>(bytes))));
    if (!buffer)
        throw Error(Status::out_of_memory, "core.copy",
                    fmt::format("no {} bytes of host memory to stage a copy", bytes));
    return buffer;
}

// Moves a dense block between two devices.
void transfer_block(const TensorImpl &to, const TensorImpl &from, std::int64_t bytes) {
    const DeviceRecord &to_device = *to.device(), &from_device = *from.device();
    const bool to_host = to_device.type->host_memory(), from_host = from_device.type->host_memory();
    void *to_stream = to.storage->stream_handle(), *from_stream = from.storage->stream_handle();
    if (from_host) {
        synchronize_stream(from_device, from_stream);
        if (to_host && to_device.type->is_inline())
            std::memcpy(to.data(), from.data(), bytes);
        else
            transfer(to_device, ATOLL_TRANSFER_HOST_TO_DEVICE, to.data(), from.data(), bytes,
                     to_stream);
    } else if (to_host) {
        synchronize_stream(to_device, to_stream);
        transfer(from_device, ATOLL_TRANSFER_DEVICE_TO_HOST, to.data(), from.data(), bytes,
                 from_stream);
        synchronize_stream(from_device, from_stream);
    } else if (to_device.type == from_device.type && (to_device.type->flags & ATOLL_DEVICE_PEER)) {
        order_streams(to_device, to_stream, from_device, from_stream);
        transfer(to_device, ATOLL_TRANSFER_DEVICE_TO_DEVICE, to.data(), from.data(), bytes,
                 to_stream, from_device.index);
        order_streams_after(from_device, from_stream, to_device, to_stream);
    } else {
        const HostBuffer buffer = host_buffer(bytes);
        transfer(from_device, ATOLL_TRANSFER_DEVICE_TO_HOST, buffer.get(), from.data(), bytes,
                 from_stream);
        synchronize_stream(from_device, from_stream);
        transfer(to_device, ATOLL_TRANSFER_HOST_TO_DEVICE, to.data(), buffer.get(), bytes,
                 to_stream);
    }
}

// Data travel dense and native. The narrower dtype travels.
void copy_across(const TensorImpl &destination, const TensorImpl &source) {
    const FunctionRecord &copy = Registry::get().core_function(ATOLL_FN_copy);
    const bool narrow_first = size_of(destination.dtype) < size_of(source.dtype);
    const DType travel = narrow_first ? destination.dtype : source.dtype;
    Tensor packed, landed;
    const TensorImpl *from = &source, *to = &destination;
    if (source.dtype != travel || source.swapped() || !dense(source, Order::F)) {
        const InsertedScope inserted(&copy);
        packed = make_tensor(source.shape, travel, source.device(), source.storage->stream);
        copy_on_device(*packed.impl(), source);
        from = packed.impl();
    }
    if (destination.dtype != travel || destination.swapped() || !dense(destination, Order::F) ||
        destination.size() != source.size()) {
        const InsertedScope inserted(&copy);
        landed =
            make_tensor(source.shape, travel, destination.device(), destination.storage->stream);
        to = landed.impl();
    }
    transfer_block(*to, *from, from->size() * size_of(travel));
    if (landed.is_defined()) {
        const InsertedScope inserted(&copy);
        copy_on_device(destination, *to);
    }
}

} // namespace

void copy_on_device(const TensorImpl &destination, const TensorImpl &source) {
    const ReadSection section;
    const FunctionRecord &function = Registry::get().core_function(ATOLL_FN_copy);
    Plan plan(function, destination.device(), source.dtype, destination.dtype,
              destination.storage->stream);
    Iteration it;
    it.rank = destination.shape.size();
    std::copy(destination.shape.begin(), destination.shape.end(), it.shape);
    it.count = 0;
    it.add(destination);
    it.add(source);
    coalesce(it, 0, it.rank);
    // The one function that has nothing to fall back on: what it does not take is an error.
    std::string lacking;
    const auto need = [&](bool needed, std::uint32_t cap, const char *what) {
        if (needed && !plan.takes(cap))
            lacking += (lacking.empty() ? "" : ", ") + std::string(what);
    };
    need(destination.dtype != source.dtype, ATOLL_CAP_MIXED_INPUTS, "a change of dtype");
    need(destination.swapped() || source.swapped(), ATOLL_CAP_SWAPPED, "byte-swapped data");
    need(!plan.takes_layout(it),
         ATOLL_CAP_STRIDED | ATOLL_CAP_NEGATIVE_STRIDES | ATOLL_CAP_ZERO_STRIDES, "these strides");
    if (!lacking.empty())
        throw Error(Status::not_supported, function.full_name,
                    fmt::format("the plugin's copy does not take {} ({} of shape {} to {}); move "
                                "the tensor to a host device first, or load a plugin whose copy "
                                "declares it",
                                lacking, name(source.dtype), shape_text(source.shape),
                                name(destination.dtype)),
                    destination.device()->name);
    plan.run(it, 1, nullptr);
}

void copy_elements(const TensorImpl &destination, const TensorImpl &source) {
    const ReadSection section;
    if (destination.size() == 0) return;
    const TensorImpl *from = &source;
    Tensor untangled;
    if (hazardous_overlap(destination, source)) {
        const InsertedScope inserted(&Registry::get().core_function(ATOLL_FN_copy));
        untangled =
            make_tensor(source.shape, source.dtype, source.device(), source.storage->stream);
        copy_elements(*untangled.impl(), source);
        from = untangled.impl();
    }
    if (from->device() == destination.device())
        copy_on_device(destination, *from);
    else
        copy_across(destination, *from);
}

void fill_elements(const TensorImpl &destination, const Scalar &value) {
    const ReadSection section;
    const FunctionRecord &function = Registry::get().core_function(ATOLL_FN_fill);
    if (destination.size() == 0) return;
    Plan plan(function, destination.device(), destination.dtype, destination.dtype,
              destination.storage->stream);
    const TensorImpl *target = &plan.prepare_output(destination);
    Iteration it;
    const auto build = [&] {
        it.rank = target->shape.size();
        for (int i = 0; i < it.rank; ++i) // one value everywhere: broadcast axes need one write
            it.shape[i] = target->strides[i] == 0 ? 1 : target->shape[i];
        it.count = 0;
        it.add(*target);
        coalesce(it, 0, it.rank);
    };
    build();
    if (!plan.takes_layout(it)) {
        target = &plan.replace_output(destination);
        build();
    }
    atoll_fill_params params{sizeof params, 0, value.cast(destination.dtype).raw()};
    plan.run(it, 1, &params);
}

} // namespace Atoll::detail
