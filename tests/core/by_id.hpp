// Calls of functions of the module `core` by id, as the declarations of functions.hpp make them.
#pragma once

#include "atoll/atoll.hpp"
#include "function_facts.hpp"

#include <optional>
#include <span>

namespace by_id {

using Atoll::Operand, Atoll::Out, Atoll::Tensor, Atoll::Scalar;
using Atoll::detail::operand;

inline Tensor unary(int function, const Operand &a, Out out = {}) {
    return Atoll::detail::call_elementwise(function, {&a}, out);
}
inline Tensor binary(int function, const Operand &a, const Operand &b, Out out = {}) {
    return Atoll::detail::call_elementwise(function, {&a, &b}, out);
}
inline Tensor ternary(int function, const Operand &a, const Operand &b, const Operand &c,
                      Out out = {}) {
    return Atoll::detail::call_elementwise(function, {&a, &b, &c}, out);
}
// The first attributes of the function; flags may be numbers.
inline Tensor reduce(int function, const Tensor &a, const Atoll::Axes &axes, bool keepdims,
                     Out out = {}, std::span<const Scalar> attributes = {}) {
    using Atoll::detail::Attribute;
    const auto &specs = Atoll::sdk::core_functions[function].signature.attributes;
    const auto attribute = [&](std::size_t i) {
        return specs[i].type == Atoll::sdk::AttributeType::boolean
                   ? Attribute(attributes[i].to_int() != 0)
                   : Attribute(attributes[i]);
    };
    if (attributes.empty())
        return Atoll::detail::call_core(function, {operand(a)},
                                        {.axes = axes, .keepdims = keepdims, .out = {out}});
    if (attributes.size() == 1)
        return Atoll::detail::call_core(
            function, {operand(a)},
            {.attributes = {attribute(0)}, .axes = axes, .keepdims = keepdims, .out = {out}});
    return Atoll::detail::call_core(function, {operand(a)},
                                    {.attributes = {attribute(0), attribute(1)},
                                     .axes = axes,
                                     .keepdims = keepdims,
                                     .out = {out}});
}
inline Tensor scan(int function, const Tensor &a, std::optional<int> axis, Out out = {}) {
    return Atoll::detail::call_core(function, {operand(a)}, {.axes = axis, .out = {out}});
}
inline Tensor sort(int function, const Tensor &a, std::optional<int> axis, bool descending,
                   Out out = {}) {
    return Atoll::detail::call_core(function, {operand(a)},
                                    {.attributes = {descending}, .axes = axis, .out = {out}});
}
inline Tensor search(int function, const Operand &a, const Tensor &sorted, bool right,
                     Out out = {}) {
    return Atoll::detail::call_core(function, {&a, operand(sorted)},
                                    {.attributes = {right}, .out = {out}});
}

} // namespace by_id
