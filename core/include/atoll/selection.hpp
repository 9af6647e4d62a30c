// The elements of a tensor that an index selects: converting reads them, assigning writes them.
#pragma once

#include "atoll/tensor.hpp"

namespace Atoll {

// The result of t(mask), t(positions, all_) …. It reads nothing until it is converted to a Tensor,
// which is a copy (a view if the index has no index tensors). Use it immediately: it keeps the
// tensor and the index alive, and `auto x = t(mask)` is not a tensor.
//
// Writing first checks all indices. If an index repeats, the last element in column-major order
// wins. Masks are counted, which blocks.
class Selection {
public:
    Selection(Tensor tensor, Index index) : tensor_(std::move(tensor)), index_(std::move(index)) {}
    Selection(const Selection &) = default;
    Tensor get() const;
    operator Tensor() const { return get(); }
    // Shape and dtype of the tensor that get() returns. Masks are counted for the shape, which
    // blocks; it throws Error (out_of_range, invalid_argument) as get() does.
    Dims shape() const;
    int rank() const { return shape().size(); }
    std::int64_t size() const;
    DType dtype() const { return tensor_.dtype(); }
    Device device() const;

    // Writes into the elements; broadcasts, converts dtype, device and byte order.
    Selection &operator=(const Operand &source);
    Selection &operator=(const Selection &source);
    // In-place arithmetic like that of Tensor: each element is read, computed and written once.
    Selection &operator+=(const Operand &b);
    Selection &operator-=(const Operand &b);
    Selection &operator*=(const Scalar &b);
    Selection &operator*=(const Tensor &) = delete; // multiply(t(mask), b), assigned to t(mask)
    Selection &operator/=(const Operand &b);
    Selection &operator%=(const Operand &b);
    Selection &operator&=(const Operand &b);
    Selection &operator|=(const Operand &b);
    Selection &operator^=(const Operand &b);
    Selection &operator<<=(const Operand &b);
    Selection &operator>>=(const Operand &b);

private:
    Selection &apply(int function, const Operand &b);
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
