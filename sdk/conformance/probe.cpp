// Interposers of the kit.
#include "probe.hpp"

#include "atoll/plugin.hpp"
#include "check.hpp"
#include "passing_call.hpp"

#include <algorithm>
#include <cstring>

namespace Atoll::conformance {

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
    std::optional<unsigned char> reserved;
    if (const Form form = probe.form_; form != Form::as_it_is) {
        reserved = form == Form::anything ? 0xa5 : 0;
        ++probe.changed_;
    }
    std::int32_t status = ATOLL_STATUS_OK;
    const std::int32_t trouble = sdk::guarded(call->error, [&] {
        PassingCall passing(*call, reserved);
        const bool watched = probe.is_done_ && !probe.is_done_();
        status = passing.pass(*self->next);
        probe.begun_ += watched;
        probe.returned_ += watched && !probe.is_done_();
        if (passing.changed().empty()) return;
        const std::lock_guard lock(probe.mutex_);
        probe.misdeed_ = passing.changed();
    });
    return trouble ? trouble : status;
}

void Probe::require_read_only() {
    const std::lock_guard lock(mutex_);
    if (!misdeed_.empty()) throw Failed(std::exchange(misdeed_, {}));
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
