// Interposers of the kit.
#include "probe.hpp"

#include "atoll/abi/device.h"
#include "atoll/abi/module.h"

#include <algorithm>
#include <cstring>

namespace Atoll::conformance {

namespace {

// A call of rank 0 has no shape. A kernel that reads it anyway writes too many elements.
const std::int64_t no_shape[ATOLL_MAX_RANK] = {3, 3, 3, 3};

// A copy of the call with other reserved words.
struct Changed {
    atoll_call call;
    alignas(64) atoll_operand operands[ATOLL_MAX_OPERANDS];
    atoll_scalar attributes[8];

    Changed(const atoll_call &from, int byte) : call(from) {
        const auto change = [byte](auto &reserved) {
            std::memset(&reserved, byte, sizeof reserved);
        };
        std::copy_n(from.operands, from.operand_count, operands);
        for (atoll_operand &operand : operands) change(operand.reserved);
        std::copy_n(from.attributes, from.attribute_count, attributes);
        for (atoll_scalar &attribute : attributes) change(attribute.reserved);
        change(call.reserved);
        call.operands = operands;
        call.attributes = attributes;
    }
};

} // namespace

Probe::Probe(const std::string &target) : pushed_(target, &Probe::pass, this, -1000) {}

std::vector<Captured> Probe::take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(captured_, {});
}

void Probe::capture(const atoll_call &call) {
    Captured one;
    one.compute = static_cast<DType>(call.dtype);
    one.outputs = call.output_count;
    one.shape.assign(call.shape, call.shape + call.rank);
    one.core = call.core;
    std::copy_n(call.axes, ATOLL_MAX_SLOTS, one.axes);
    for (int o = 0; o < call.operand_count; ++o) {
        const atoll_operand &from = call.operands[o];
        one.operands.push_back({from.data,
                                {from.strides, from.strides + call.rank},
                                static_cast<DType>(from.dtype),
                                from.flags});
    }
    const std::lock_guard lock(mutex_);
    captured_.push_back(std::move(one));
}

std::int32_t Probe::pass(const atoll_link *self, atoll_call *call) {
    Probe &probe = *static_cast<Probe *>(self->ctx);
    if (!(call->flags & ATOLL_CALL_INSERTED)) probe.capture(*call);
    const std::int64_t *shape = call->shape;
    if (call->rank == 0) call->shape = no_shape;
    std::int32_t status;
    if (const Form form = probe.form_; form != Form::as_it_is) {
        Changed other(*call, form == Form::anything ? 0xa5 : 0);
        ++probe.changed_;
        status = self->next->fn(self->next, &other.call);
    } else {
        status = self->next->fn(self->next, call);
    }
    call->shape = shape;
    return status;
}

MemoryCount::MemoryCount(const std::string &device_type)
    : pushed_("device.*@" + device_type, &MemoryCount::pass, this, -1000) {}

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

Pushed push_no_op(const std::string &target) {
    const auto pass = [](const atoll_link *self, atoll_call *call) {
        return self->next->fn(self->next, call);
    };
    return Pushed(target, pass, nullptr, 0);
}

} // namespace Atoll::conformance
