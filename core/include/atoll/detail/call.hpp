// What generated declarations of functions call: functions.hpp, and what `atoll header` writes for
// other modules. Operands and attributes are in the order of the function's lists.
#pragma once

#include "atoll/arguments.hpp"
#include "atoll/device.hpp"

#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace Atoll {

class Function;

namespace detail {

// An attribute: a number, the index of a word, a list, or nothing. Lists are not copied.
class Attribute {
public:
    Attribute(const Scalar &number) : raw_(number.raw()) {}
    template <class Number>
    requires std::constructible_from<Scalar, Number> &&
        (!std::same_as<Number, Scalar>)Attribute(Number number)
        : Attribute(Scalar(number)) {}
    template <class Word>
    requires std::is_enum_v<Word> Attribute(Word word)
        : raw_{ATOLL_VALUE_CHOICE, 0, 0, {.i64 = static_cast<std::int64_t>(word)}} {}
    Attribute(const std::vector<std::int64_t> &list)
        : raw_{ATOLL_VALUE_INTS,
               static_cast<std::uint32_t>(list.size()),
               0,
               {.ints = list.data()}} {}
    template <class T> Attribute(const std::optional<T> &value)
        : raw_(value ? Attribute(*value).raw() : atoll_scalar{}) {}
    const atoll_scalar &raw() const { return raw_; }

private:
    atoll_scalar raw_{};
};

// The axes that the caller names: a view of Axes, or of the only axis.
struct AxisList {
    AxisList() = default;
    AxisList(const Axes &axes) : list(axes.list), given(axes.given) {}
    AxisList(const std::optional<int> &axis) : given(axis.has_value()) {
        if (axis) list = {&*axis, 1};
    }
    std::span<const int> list;
    bool given = false;
};

// The address of an operand, or of a temporary one that lives as long as the call.
inline const Operand *operand(const Operand &given) { return &given; }

// The rest of a call.
struct CallDetails {
    std::initializer_list<Attribute> attributes = {};
    AxisList axes = {};
    bool keepdims = false;
    std::initializer_list<Out> out = {};
    std::initializer_list<std::int64_t> extents = {}; // of the axes that only results have
    std::uint32_t without = 0;                        // optional results to omit, as bits
    DType dtype = DType::none;                        // T, where inputs do not determine it
    Device device = {};                               // likewise
};

// Functions without core axes and attributes: element by element. `temporary`: the tensor of one of
// the inputs, whose memory the result may take over; it is undefined then.
Tensor call_elementwise(int core_function, std::initializer_list<const Operand *> inputs,
                        Out out = {}, Mode mode = {}, Tensor *temporary = nullptr);
// Writes into `out` without counting another reference.
void call_into(int core_function, std::initializer_list<const Operand *> inputs, const Tensor &out);
// A named tensor. Temporaries are passed as Out, so that no reference to one is returned.
template <class T>
concept TensorHandle = std::same_as<std::remove_const_t<T>, Tensor>;

// Any function with one result. An undefined tensor stands for an absent optional input.
Tensor call_core(int core_function, std::initializer_list<const Operand *> inputs,
                 const CallDetails &details);
// Any function of any module, with one handle per result. Throws Error if the module has retired,
// or is another version with other operands or attributes than the declaration.
void call_function(const Function &function, std::initializer_list<const Operand *> inputs,
                   const CallDetails &details, std::span<Tensor> results);
// The same for a function whose only result is an object: call_object(), see object.hpp.

} // namespace detail
} // namespace Atoll
