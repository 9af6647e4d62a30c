// Objects: what a function keeps between calls and is no tensor, the state of a generator or a
// plan.
#pragma once

#include "atoll/tensor.hpp"

#include <string>

namespace Atoll {

// A handle; copies share. Made by a function whose result is an object (Function::make) and given
// to others as an operand. It belongs to a device and to the plugin that made it, which cannot
// retire while it lives. Work with an object is ordered between streams as work with a tensor is:
// who updates it waits for all others. Letting go of the last handle waits for the work enqueued
// with it. Thread-safe.
class Object {
public:
    Object() noexcept = default;
    explicit operator bool() const noexcept { return tensor_.is_defined(); }
    std::string type() const; // "linalg.generator"
    Device device() const { return tensor_.device(); }
    operator Operand() const { return Operand(tensor_); }

private:
    friend class Function;
    explicit Object(Tensor tensor) : tensor_(std::move(tensor)) {}
    Tensor tensor_; // without elements: Note [Objects as operands] in objects/object.hpp
};

} // namespace Atoll
