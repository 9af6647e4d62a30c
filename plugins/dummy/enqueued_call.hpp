// A call that waits on a stream until its kernel runs.
#pragma once

#include "atoll/owned_call.hpp"
#include "kernels.hpp"
#include "memory.hpp"

#include <array>
#include <string>

namespace Dummy {

namespace sdk = Atoll::sdk;

// A call lives until it returns; this copy of it lives until its kernel has run.
class EnqueuedCall {
public:
    explicit EnqueuedCall(const atoll_call &original) : copy_(original) {}

    // Checks that all elements lie in the device's memory; then makes the addresses the worker's.
    void translate(const std::string &function, const Memory &memory) {
        for (std::size_t o = 0; o < copy_.operands().size(); ++o) {
            if (copy_.operands()[o].flags & ATOLL_OPERAND_ABSENT) continue;
            blocks_[o] = memory.check("[" + function + "] operand " + std::to_string(o),
                                      copy_.operands()[o].data, range(o));
            copy_.operands()[o].data = memory.worker_address(copy_.operands()[o].data);
        }
    }

    // Offsets are in the device's memory, so only the worker can check that they stay within the
    // block. A real device does not: the host has checked them against the tensor.
    void check_offsets() const {
        if (call().module != ATOLL_MODULE_CORE) return;
        if (call().function != ATOLL_FN_gather && call().function != ATOLL_FN_scatter) return;
        const std::size_t o = call().function == ATOLL_FN_gather ? 1 : 0;
        const char *data = static_cast<const char *>(call().operands[o].data);
        const __int128 unit = sdk::integer(call(), 0, 1);
        for_each(call(), [&](Pointers at) {
            std::int64_t offset;
            std::memcpy(&offset, at[2], sizeof offset);
            const __int128 place = at[o] - data + offset * unit;
            if (place < blocks_[o].low ||
                place + sdk::dtype_size(call().operands[o].dtype) > blocks_[o].high)
                throw sdk::Error(ATOLL_STATUS_OUT_OF_RANGE,
                                 "offset " + std::to_string(offset) + " leaves the memory block");
        });
    }

    const atoll_call &call() const { return copy_.call(); }

private:
    // The bytes of an operand's elements, relative to element (0, 0, …); strides may be negative.
    Memory::Range range(std::size_t o) const {
        const atoll_operand &operand = call().operands[o];
        Memory::Range bytes{0, sdk::dtype_size(operand.dtype)};
        for (std::uint32_t axis = 0; axis < call().rank; ++axis)
            (operand.strides[axis] < 0 ? bytes.low : bytes.high) +=
                (call().shape[axis] - 1) * operand.strides[axis];
        return bytes;
    }

    sdk::OwnedCall copy_;
    std::array<Memory::Range, std::tuple_size_v<Pointers>> blocks_{};
};

} // namespace Dummy
