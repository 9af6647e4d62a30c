// A call with all that it points to, for implementations that run after the call has returned.
//
//   const auto *queue = sdk::native_handle<…>(state.host, "dummy", call, ATOLL_DUMMY_QUEUE);
//   auto work = std::make_shared<sdk::OwnedCall>(call);
//   … enqueue work that calls kernel(work->call()) …
#pragma once

#include "atoll/dtype_facts.hpp"
#include "atoll/plugin.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace Atoll::sdk {

// Owns shape, strides, operands, the values of scalars and attributes, including lists. Tensors and
// objects are not copied: the host keeps them until the stream has done the work. There is no error
// buffer: `error` is null.
class OwnedCall {
public:
    explicit OwnedCall(const atoll_call &original)
        : call_(original), operands_(original.operands, original.operands + original.operand_count),
          attributes_(original.attributes, original.attributes + original.attribute_count) {
        call_.shape = keep(original.shape, original.rank);
        scalars_.reserve(operands_.size()); // so that they stay where they are
        for (atoll_operand &operand : operands_) {
            operand.strides = keep(operand.strides, original.rank);
            if (operand.flags & ATOLL_OPERAND_SCALAR)
                operand.data = std::memcpy(scalars_.emplace_back().bytes, operand.data,
                                           static_cast<std::size_t>(dtype_size(operand.dtype)));
        }
        for (atoll_scalar &attribute : attributes_)
            if (attribute.dtype == ATOLL_VALUE_INTS)
                attribute.value.ints = keep(attribute.value.ints, attribute.count);
        call_.operands = operands_.data();
        call_.attributes = attributes_.data();
        call_.error = nullptr;
    }
    OwnedCall(const OwnedCall &) = delete;
    OwnedCall &operator=(const OwnedCall &) = delete;

    const atoll_call &call() const { return call_; }
    std::span<atoll_operand> operands() { return operands_; } // to replace addresses

private:
    const std::int64_t *keep(const std::int64_t *numbers, std::size_t count) {
        return numbers_.emplace_back(numbers, numbers + count).data();
    }

    atoll_call call_;
    std::vector<atoll_operand> operands_;
    std::vector<atoll_scalar> attributes_;
    struct alignas(16) Scalar {
        char bytes[16];
    };
    std::vector<Scalar> scalars_;
    std::vector<std::vector<std::int64_t>> numbers_; // the lists that the members above point to
};

} // namespace Atoll::sdk
