// Arguments that functions take besides their operands.
#pragma once

#include "atoll/settings.hpp"
#include "atoll/tensor.hpp"

#include <concepts>
#include <initializer_list>
#include <utility>
#include <vector>

namespace Atoll {

// The destination of a result: nothing (a new tensor) or an existing tensor.
class Out {
public:
    Out() = default;
    Out(const Tensor &tensor) : tensor_(&tensor) {}
    const Tensor *get() const noexcept { return tensor_; }

private:
    const Tensor *tensor_ = nullptr;
};

// The axes of a reduction; all axes by default.
struct Axes {
    Axes() = default;
    Axes(int axis) : list{axis}, given(true) {}
    Axes(std::initializer_list<int> axes) : list(axes), given(true) {}
    Axes(bool) = delete;                                         // a flag in the wrong place
    template <std::floating_point Number> Axes(Number) = delete; // write maximum(a, 0.5)
    Axes(std::initializer_list<bool>) = delete;
    Axes(std::vector<int> axes) : list(std::move(axes)), given(true) {}
    std::vector<int> list;
    bool given = false;
};

// How this call treats elements outside the function's mathematical domain; without a value it uses
// Settings::compute_mode. See settings.hpp. Not a std::optional, which would make
// argument-dependent lookup find std::equal and the like.
class Mode {
public:
    Mode() = default;
    Mode(ComputeMode mode) : mode_(mode), given_(true) {}
    ComputeMode value_or(ComputeMode other) const { return given_ ? mode_ : other; }

private:
    ComputeMode mode_ = ComputeMode::standard;
    bool given_ = false;
};

} // namespace Atoll
