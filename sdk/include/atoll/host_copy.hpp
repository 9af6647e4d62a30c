// What a call has written on any device, for interposers.
//
//   std::int32_t watch(State &state, const atoll_link &self, atoll_call &call) {
//       const std::int32_t status = sdk::forward(self, call);
//       if (status == ATOLL_STATUS_OK && !(call.flags & ATOLL_CALL_INSERTED) && …) {
//           const sdk::HostCopy result(state.host, self, call, 0);
//           sdk::for_each<const float>(result.call(), [&](float x) { … });
//       }
//       return status;
//   }
#pragma once

#include "atoll/dtype_facts.hpp"
#include "atoll/plugin.hpp"

#include <cstdint>
#include <cstring>
#include <vector>

namespace Atoll::sdk {

// One operand of a call in host memory, with the call's shape. The constructor waits for the work
// on the call's stream. It makes calls of the module `device`, which interposers over `*` see, with
// ATOLL_CALL_INSERTED: pass those on without a copy.
class HostCopy {
public:
    HostCopy(const atoll_host &host, const atoll_link &self, const atoll_call &call,
             std::size_t operand)
        : operand_(call.operands[operand]), call_(call) {
        const char *device_type = host.device_type_of(&self);
        const std::uint32_t flags = host.device_flags_of(&self);
        std::int64_t low = 0, high = dtype_size(operand_.dtype); // bytes around element (0, 0, …)
        for (std::uint32_t axis = 0; axis < call.rank; ++axis) {
            if (call.shape[axis] == 0) low = high = 0;
            (operand_.strides[axis] < 0 ? low : high) +=
                (call.shape[axis] - 1) * operand_.strides[axis];
        }
        if (high > low && operand_.data) {
            bytes_.resize(static_cast<std::size_t>(high - low));
            const char *source = static_cast<const char *>(operand_.data) + low;
            if ((flags & ATOLL_DEVICE_HOST_MEMORY) == 0) {
                atoll_transfer_params moved{sizeof moved,
                                            ATOLL_TRANSFER_DEVICE_TO_HOST,
                                            bytes_.data(),
                                            source,
                                            bytes_.size(),
                                            0,
                                            0};
                dispatch_device(host, device_type, call, ATOLL_DEVICE_FN_transfer, moved);
            }
            if ((flags & ATOLL_DEVICE_INLINE) == 0) {
                atoll_stream_params stream{sizeof stream, 0, nullptr};
                dispatch_device(host, device_type, call, ATOLL_DEVICE_FN_stream_synchronize,
                                stream);
            }
            if (flags & ATOLL_DEVICE_HOST_MEMORY) std::memcpy(bytes_.data(), source, bytes_.size());
            operand_.data = bytes_.data() - low;
        }
        call_.operands = &operand_;
        call_.operand_count = call_.output_count = 1;
    }
    HostCopy(const HostCopy &) = delete;
    HostCopy &operator=(const HostCopy &) = delete;

    // Operand 0 is the copy. Valid during the call.
    const atoll_call &call() const { return call_; }

private:
    std::vector<char> bytes_;
    atoll_operand operand_;
    atoll_call call_;
};

} // namespace Atoll::sdk
