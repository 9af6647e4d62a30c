// A copy of a call, for implementations that run after the call has returned.
//
//   const auto *queue = sdk::native_handle<…>(state.host, "dummy", call, ATOLL_DUMMY_QUEUE);
//   auto work = std::make_shared<sdk::CallCopy>(call);
//   … enqueue work that calls kernel(work->call()) …
#pragma once

#include "atoll/plugin.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace Atoll::sdk {

// Owns shape, strides, operands and attributes, including lists. The memory that operands point to
// is not copied: a scalar in host memory (ATOLL_OPERAND_SCALAR) is invalid after the call. There is
// no error buffer: `error` is null.
class CallCopy {
public:
    explicit CallCopy(const atoll_call &original)
        : call_(original), operands_(original.operands, original.operands + original.operand_count),
          attributes_(original.attributes, original.attributes + original.attribute_count) {
        call_.shape = keep(original.shape, original.rank);
        for (atoll_operand &operand : operands_)
            operand.strides = keep(operand.strides, original.rank);
        for (atoll_scalar &attribute : attributes_)
            if (attribute.dtype == ATOLL_VALUE_INTS)
                attribute.value.ints = keep(attribute.value.ints, attribute.count);
        call_.operands = operands_.data();
        call_.attributes = attributes_.data();
        call_.error = nullptr;
    }
    CallCopy(const CallCopy &) = delete;
    CallCopy &operator=(const CallCopy &) = delete;

    const atoll_call &call() const { return call_; }
    std::span<atoll_operand> operands() { return operands_; } // to replace addresses

private:
    const std::int64_t *keep(const std::int64_t *numbers, std::size_t count) {
        return numbers_.emplace_back(numbers, numbers + count).data();
    }

    atoll_call call_;
    std::vector<atoll_operand> operands_;
    std::vector<atoll_scalar> attributes_;
    std::vector<std::vector<std::int64_t>> numbers_; // the lists that the members above point to
};

} // namespace Atoll::sdk
