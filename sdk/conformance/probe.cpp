// The kit's interposers.
#include "probe.hpp"

#include "atoll/abi/device.h"
#include "atoll/abi/module.h"

#include <algorithm>
#include <cstring>

namespace Atoll::conformance {

namespace {

// A call of rank 0 has no shape to read; who reads it all the same writes too many elements.
const std::int64_t no_shape[ATOLL_MAX_RANK] = {3, 3, 3, 3};

constexpr std::size_t tail = 64; // bytes that a newer host would have

std::uint32_t size_of_params(const void *params) {
    return params ? *static_cast<const std::uint32_t *>(params) : 0;
}

// Bytes of a family's params without the members that a call of it does not need; 0: needs all.
std::uint32_t needed_params(const atoll_call &call) {
    if (call.family == ATOLL_FAMILY_REDUCE || call.family == ATOLL_FAMILY_ARG_REDUCE)
        return offsetof(atoll_reduce_params, number);
    if (call.family == ATOLL_FAMILY_STEPS &&
        !static_cast<const atoll_steps_params *>(call.params)->has_last)
        return offsetof(atoll_steps_params, last);
    return 0;
}

// The call with other struct sizes, on the stack of whoever passes it on.
struct Changed {
    alignas(16) unsigned char call[sizeof(atoll_call) + tail] = {};
    alignas(16) unsigned char params[512] = {};
    bool changed = false;

    Changed(const atoll_call &from, Probe::Form form) {
        std::memcpy(call, &from, sizeof from);
        auto &own = *reinterpret_cast<atoll_call *>(call);
        const std::uint32_t size = size_of_params(from.params);
        if (from.family == ATOLL_FAMILY_CUSTOM) return;
        if (form == Probe::Form::zero_tail || form == Probe::Form::unknown_tail) {
            const int byte = form == Probe::Form::unknown_tail ? 0xa5 : 0;
            std::memset(call + sizeof from, byte, tail);
            own.struct_size = sizeof from + tail;
            changed = true;
            if (size == 0 || size + tail > sizeof params) return;
            std::memcpy(params, from.params, size);
            std::memset(params + size, byte, tail);
            *reinterpret_cast<std::uint32_t *>(params) = size + static_cast<std::uint32_t>(tail);
            own.params = params;
        } else if (form == Probe::Form::short_params) {
            const std::uint32_t needed = needed_params(from);
            if (needed == 0 || needed > sizeof params) return;
            std::memset(params, 0xaa, sizeof params); // not the sender's: to be taken as zero
            std::memcpy(params, from.params, needed);
            *reinterpret_cast<std::uint32_t *>(params) = needed;
            own.params = params;
            changed = true;
        }
    }
};

} // namespace

Probe::Probe(const std::string &target)
    : handle_(push_interposer(target, &Probe::pass, this, -1000, "conformance")) {}

Probe::~Probe() { pop_interposer(handle_); }

std::vector<Captured> Probe::take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(captured_, {});
}

void Probe::capture(const atoll_call &call) {
    Captured one;
    one.compute = static_cast<DType>(call.dtype);
    one.outputs = call.output_count;
    if (call.family != ATOLL_FAMILY_CUSTOM) {
        one.shape.assign(call.shape, call.shape + call.rank);
        for (int o = 0; o < call.operand_count; ++o) {
            const atoll_operand &from = call.operands[o];
            const bool vector = call.family == ATOLL_FAMILY_FIND && o == 0;
            one.operands.push_back({from.data,
                                    {from.strides, from.strides + (vector ? 1 : call.rank)},
                                    static_cast<DType>(from.dtype),
                                    from.flags});
        }
    }
    const std::lock_guard lock(mutex_);
    captured_.push_back(std::move(one));
}

std::int32_t Probe::pass(const atoll_link *self, atoll_call *call) {
    Probe &probe = *static_cast<Probe *>(self->ctx);
    if (!(call->flags & ATOLL_CALL_INSERTED)) probe.capture(*call);
    const std::int64_t *shape = call->shape;
    if (call->rank == 0 && call->family != ATOLL_FAMILY_CUSTOM) call->shape = no_shape;
    std::int32_t status;
    if (const Form form = probe.form_; form != Form::as_it_is) {
        Changed other(*call, form);
        probe.changed_ += other.changed;
        status = self->next->fn(self->next, reinterpret_cast<atoll_call *>(other.call));
    } else {
        status = self->next->fn(self->next, call);
    }
    call->shape = shape;
    return status;
}

MemoryCount::MemoryCount(const std::string &device_type)
    : handle_(push_interposer(std::string("device.*@").append(device_type), &MemoryCount::pass,
                              this, -1000, "conformance")) {}

MemoryCount::~MemoryCount() { pop_interposer(handle_); }

std::int32_t MemoryCount::pass(const atoll_link *self, atoll_call *call) {
    MemoryCount &count = *static_cast<MemoryCount *>(self->ctx);
    const std::int32_t status = self->next->fn(self->next, call);
    if (status == ATOLL_STATUS_OK &&
        (call->function == ATOLL_DEVICE_FN_allocate || call->function == ATOLL_DEVICE_FN_free)) {
        const int sign = call->function == ATOLL_DEVICE_FN_allocate ? 1 : -1;
        count.blocks_ += sign;
        count.bytes_ += sign * static_cast<std::int64_t>(
                                   static_cast<const atoll_memory_params *>(call->params)->bytes);
    }
    return status;
}

NoOp::NoOp(const std::string &target)
    : handle_(push_interposer(
          target,
          [](const atoll_link *self, atoll_call *call) { return self->next->fn(self->next, call); },
          nullptr, 0, "conformance")) {}

} // namespace Atoll::conformance
