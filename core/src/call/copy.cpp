// Copies between any two tensors: within a device by its `copy`, across devices by transfers.
#include "call/copy.hpp"

#include "base/list.hpp"
#include "base/throw_error.hpp"
#include "call/route.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>

namespace Atoll::detail {

namespace {

// For calls that serve a copy.
Context parts_of_copy(const Context &context) {
    return context.for_parts_of(Registry::get().core_function(ATOLL_FN_copy));
}

// Fills host memory, which is not in use when this returns or throws.
void download(StreamOf on, void *destination, const void *source, std::int64_t bytes, Cause cause) {
    transfer(on, ATOLL_TRANSFER_DEVICE_TO_HOST, destination, source, bytes, 0, cause);
    try {
        synchronize_stream(*on.device, on.handle(), cause);
    } catch (...) { // it may have failed before the end
        wait_for_stream(*on.device, on.handle());
        throw;
    }
}

// Moves a dense block between two devices.
void transfer_block(const TensorImpl &to, const TensorImpl &from, std::int64_t bytes, Cause cause) {
    const DeviceRecord &to_device = *to.device(), &from_device = *from.device();
    const bool to_host = to_device.type->host_memory(), from_host = from_device.type->host_memory();
    const StreamOf there = home_of(*to.storage), here = home_of(*from.storage);
    const auto upload = [&](const void *source) {
        wait_for_readers_of(*to.storage, cause);
        transfer(there, ATOLL_TRANSFER_HOST_TO_DEVICE, to.data(), source, bytes, 0, cause);
    };
    if (from_host) {
        synchronize_stream(from_device, here.handle(), cause);
        if (to_host && to_device.type->is_inline())
            std::memcpy(to.data(), from.data(), bytes);
        else
            upload(from.data());
    } else if (to_host) {
        wait_for_readers_of(*to.storage, cause);
        synchronize_stream(to_device, there.handle(), cause);
        download(here, to.data(), from.data(), bytes, cause);
    } else if (to_device.type == from_device.type && (to_device.type->flags & ATOLL_DEVICE_PEER)) {
        wait_for_readers_of(*to.storage, cause);
        before_read(*from.storage, there, cause);
        transfer(there, ATOLL_TRANSFER_DEVICE_TO_DEVICE, to.data(), from.data(), bytes,
                 from_device.index, cause);
        after_read(*from.storage, there, cause);
    } else {
        const std::unique_ptr<char[]> buffer(
            new (std::nothrow) char[static_cast<std::size_t>(bytes)]);
        if (!buffer)
            throw_error(Status::out_of_memory, "core.copy",
                        "no {} bytes of host memory to stage a copy", bytes);
        download(here, buffer.get(), from.data(), bytes, cause);
        upload(buffer.get());
    }
}

// Copies elements on one device through its `copy`. Overlap must be harmless.
void copy_on_device(const TensorImpl &destination, const TensorImpl &source,
                    const Context &context) {
    const FunctionRecord &function = Registry::get().core_function(ATOLL_FN_copy);
    const Route route(function, destination.device(), source.dtype, destination.storage->stream,
                      context);
    Space space;
    space.begin(destination.shape);
    space.add(destination);
    space.add(source);
    merge(space, function.signature);
    // copy has nothing to fall back on: what the plugin does not take is an error.
    std::string lacking;
    const auto need = [&](bool needed, const char *what) {
        if (needed) add_to_list(lacking, what);
    };
    if (!route.takes(ATOLL_CAP_MIXED_INPUTS | ATOLL_CAP_SWAPPED | Route::any_strides))
        [[unlikely]] {
        need(destination.dtype != source.dtype && !route.takes(ATOLL_CAP_MIXED_INPUTS),
             "a change of dtype");
        need((destination.swapped() || source.swapped()) && !route.takes(ATOLL_CAP_SWAPPED),
             "byte-swapped data");
        Space part = space; // one of the calls that it gets
        part.rank = std::min(part.rank, route.max_rank());
        need(!route.takes_layout(part), "these strides");
    }
    if (!lacking.empty())
        throw Error(Status::not_supported, function.full_name,
                    fmt::format("the plugin's copy does not take {} ({} of shape {} to {}); move "
                                "the tensor to a host device first, or load a plugin whose copy "
                                "declares it",
                                lacking, name(source.dtype), shape_text(source.shape),
                                name(destination.dtype)),
                    destination.device()->name);
    route.send_parts(space, route.max_rank());
}

// Whether it can be transferred as it is: dense and native, of this dtype.
bool travels(const TensorImpl &t, DType dtype) {
    return t.dtype == dtype && !t.swapped() && dense(t, Order::F);
}
// The tensor, or a `copy` that travels.
const TensorImpl &packed(const TensorImpl &t, DType dtype, const Context &parts, Tensor &copy) {
    if (travels(t, dtype)) return t;
    copy = cast_elements(t, dtype, t.device(), parts);
    return *copy.impl();
}

// The narrower dtype travels.
void copy_across(const TensorImpl &destination, const TensorImpl &source, const Context &context) {
    const Context parts =
        parts_of_copy(context).because(context.cause.reasons | ATOLL_REASON_TRANSFER);
    const bool narrow_first = size_of(destination.dtype) < size_of(source.dtype);
    const DType travel = narrow_first ? destination.dtype : source.dtype;
    Tensor copied, landed;
    const TensorImpl &from = packed(source, travel, parts, copied), *to = &destination;
    if (!travels(destination, travel) || destination.size() != source.size()) {
        landed = make_tensor(source.shape, travel, destination.device(),
                             destination.storage->stream, Order::F, parts.cause);
        to = landed.impl();
    }
    transfer_block(*to, from, from.size() * size_of(travel), context.cause);
    if (landed.is_defined()) copy_on_device(destination, *to, parts);
}

} // namespace

void copy_elements(const TensorImpl &destination, const TensorImpl &source,
                   const Context &context) {
    const ReadSection section;
    if (destination.size() == 0) return;
    const TensorImpl *from = &source;
    Tensor untangled;
    if (hazardous_overlap(destination, source)) {
        untangled = cast_elements(source, source.dtype, source.device(),
                                  parts_of_copy(context).because(ATOLL_REASON_OVERLAP));
        from = untangled.impl();
    }
    if (from->device() == destination.device())
        copy_on_device(destination, *from, context);
    else
        copy_across(destination, *from, context);
}

Tensor cast_elements(const TensorImpl &t, DType dtype, DeviceRecord *device,
                     const Context &context) {
    const Ref<StreamImpl> stream = t.device() == device ? t.storage->stream : Ref<StreamImpl>();
    Tensor result = make_tensor(t.shape, dtype, device, stream, Order::F, context.cause);
    copy_elements(*result.impl(), t, context);
    return result;
}

void fill_elements(const TensorImpl &destination, const Scalar &value, const Context &context) {
    const ReadSection section;
    const FunctionRecord &function = Registry::get().core_function(ATOLL_FN_fill);
    if (destination.size() == 0) return;
    const Route route(function, destination, context);
    Space space;
    Tensor replacement;
    const auto lay = [&](const TensorImpl &target) {
        space.begin(target.shape);
        for (int i = 0; i < space.rank; ++i) // broadcast axes need only one write
            if (target.strides[i] == 0) space.shape[i] = 1;
        space.add(target);
        merge(space, function.signature);
    };
    lay(destination);
    const std::uint32_t needs =
        reason_if(destination.swapped() && !route.takes(ATOLL_CAP_SWAPPED),
                  ATOLL_REASON_BYTE_ORDER) |
        reason_if(!route.takes(ATOLL_CAP_UNALIGNED) && !aligned(destination),
                  ATOLL_REASON_ALIGNMENT) |
        reason_if(!route.takes_layout(space), ATOLL_REASON_STRIDES);
    const Context parts = context.for_parts_of(function).because(needs);
    if (needs) {
        replacement = make_tensor(destination.shape, destination.dtype, destination.device(),
                                  destination.storage->stream, Order::F, parts.cause);
        lay(*replacement.impl());
    }
    const atoll_scalar converted = value.cast(destination.dtype).raw();
    route.send(space, {&converted, 1});
    if (replacement.is_defined()) copy_elements(destination, *replacement.impl(), parts);
}

void enqueue_transfer(const TensorImpl &destination, const TensorImpl &source) {
    const ReadSection section;
    const auto refuse = [](const std::string &text) {
        throw Error(Status::invalid_argument, "enqueue_copy", text);
    };
    const auto pinned = [](const TensorImpl &host, const TensorImpl &other) {
        return host.storage->pinned_for && host.storage->pinned_for == other.device();
    };
    const bool upload = pinned(source, destination);
    if (!upload && !pinned(destination, source))
        refuse(fmt::format("got tensors on {} and {}, need one in host memory that is pinned for "
                           "the other's device: Storage::pinned",
                           destination.device()->name, source.device()->name));
    if (!(destination.shape == source.shape) || destination.dtype != source.dtype)
        refuse(fmt::format("got {} of shape {} for a destination of {} of shape {}; nothing is "
                           "converted here",
                           name(source.dtype), shape_text(source.shape), name(destination.dtype),
                           shape_text(destination.shape)));
    for (const TensorImpl *t : {&destination, &source})
        if (!travels(*t, t->dtype))
            refuse("needs dense tensors (first axis fastest) in native byte order");
    if (destination.read_only()) refuse("the destination is read-only");
    const std::int64_t bytes = source.size() * size_of(source.dtype);
    if (bytes == 0) return;
    const StreamOf on = home_of(upload ? *destination.storage : *source.storage);
    const StorageImpl &host = upload ? *source.storage : *destination.storage;
    before_transfer(host);
    if (upload) wait_for_readers_of(*destination.storage);
    transfer(on, upload ? ATOLL_TRANSFER_HOST_TO_DEVICE : ATOLL_TRANSFER_DEVICE_TO_HOST,
             destination.data(), source.data(), bytes, 0, {}, upload ? ATOLL_TRANSFER_KEPT : 0);
    after_transfer(host, on);
}

void read_elements(const TensorImpl &t, void *host, DType dtype, const Context &context) {
    const ReadSection section;
    const std::int64_t count = t.size();
    if (count == 0) return;
    const Context parts = parts_of_copy(context);
    Tensor converted;
    const TensorImpl &from = packed(t, dtype, parts, converted);
    const std::int64_t bytes = count * size_of(dtype);
    const StreamOf home = home_of(*from.storage);
    if (!t.device()->type->host_memory())
        return download(home, host, from.data(), bytes, parts.cause);
    synchronize_stream(*t.device(), home.handle(), parts.cause);
    std::memcpy(host, from.data(), static_cast<std::size_t>(bytes));
}

} // namespace Atoll::detail
