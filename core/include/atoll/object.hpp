// Objects: state that a function keeps between calls and that is not a tensor, such as the state of
// a generator or a plan.
#pragma once

#include "atoll/tensor.hpp"

#include <string>

namespace Atoll {

class Function;
class Object;

namespace detail {
struct CallDetails;
Object call_object(const Function &function, std::initializer_list<const Operand *> inputs,
                   const CallDetails &details);
} // namespace detail

// A handle; copies share the object. Function::make creates it; other functions take it as an
// operand. It belongs to a device and to the plugin that created it, which cannot retire while it
// lives. Work with an object is ordered between streams like work with a tensor: work that updates
// it waits for all other work. Releasing the last handle waits for the work enqueued with it.
// Thread-safe.
class Object {
public:
    Object() noexcept = default;
    explicit operator bool() const noexcept { return tensor_.is_defined(); }
    std::string type() const; // "linalg.generator"
    Device device() const { return tensor_.device(); }
    operator Operand() const { return Operand(tensor_); }

private:
    friend class Function;
    friend Object detail::call_object(const Function &, std::initializer_list<const Operand *>,
                                      const detail::CallDetails &);
    explicit Object(Tensor tensor) : tensor_(std::move(tensor)) {}
    Tensor tensor_; // has no elements: Note [Objects as operands] in objects/object.hpp
};

} // namespace Atoll
