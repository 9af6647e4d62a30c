// The elements of a tensor that an index picks: read by converting, written by assigning.
#pragma once

#include "atoll/tensor.hpp"

namespace Atoll {

// What t(mask), t(positions, all_) … give: nothing is read until it is converted to a Tensor, which
// then is a copy (a view where the index has no index tensors). Meant to be used at once: it keeps
// the tensor and the index alive, and `auto x = t(mask)` is not a tensor yet.
//
// Writing checks all indices first; where one repeats, the last in column-major order stays.
class Selection {
public:
    Selection(Tensor tensor, Index index) : tensor_(std::move(tensor)), index_(std::move(index)) {}
    Selection(const Selection &) = default;
    Tensor get() const;
    operator Tensor() const { return get(); }
    // Those of the tensor that get() makes. The shape blocks where the index has a mask, whose
    // elements are counted; it throws Error (out_of_range, invalid_argument) as get() does.
    Dims shape() const;
    int rank() const { return shape().size(); }
    std::int64_t size() const;
    DType dtype() const { return tensor_.dtype(); }
    Device device() const;

    // Into the elements: broadcasts, converts dtype, device and byte order.
    const Selection &operator=(const Operand &source) const;
    const Selection &operator=(const Selection &source) const;
    // In place, as those of Tensor: read, computed, written once per element.
    const Selection &operator+=(const Operand &b) const;
    const Selection &operator-=(const Operand &b) const;
    const Selection &operator*=(const Operand &b) const;
    const Selection &operator/=(const Operand &b) const;
    const Selection &operator%=(const Operand &b) const;
    const Selection &operator&=(const Operand &b) const;
    const Selection &operator|=(const Operand &b) const;
    const Selection &operator^=(const Operand &b) const;
    const Selection &operator<<=(const Operand &b) const;
    const Selection &operator>>=(const Operand &b) const;

private:
    const Selection &apply(int function, const Operand &b) const;
    Tensor tensor_;
    Index index_;
};

inline Operand::Operand(const Selection &selection) : owned_(selection.get()), tensor_(&owned_) {}

template <class... Elements>
requires(!(BasicIndexElement<Elements> &&
           ...)) Selection Tensor::operator()(const Elements &...elements) const {
    return Selection(*this, make_index(elements...));
}

} // namespace Atoll
