// What the functions of compositions.hpp share.
#pragma once

#include "atoll/compositions.hpp"
#include "atoll/create.hpp"
#include "base/throw_error.hpp"
#include "objects/layout.hpp"

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

namespace Atoll::detail {

// What a composition calls is not subject to what the user has switched off for calls of their own.
class OwnCalls {
    ScopedSettings scope_{[](Settings &s) {
        s.auto_cast = s.auto_broadcast = true;
        s.compute_mode = ComputeMode::standard;
        s.lossy = Lossy::allow;
    }};
};

// The axis that a call names; may be missing for vectors.
inline int named_axis(std::optional<int> axis, const Tensor &a, std::string_view op) {
    if (!axis && a.rank() != 1)
        throw_error(Status::invalid_argument, op, "got no axis for a tensor of rank {}, need one",
                    a.rank());
    return checked_axis(axis.value_or(0), a.rank(), op);
}

// Where makers place tensors that are combined with `a`.
inline Placement beside(const Tensor &a, DType dtype) { return {dtype, a.device(), a.stream()}; }

inline Tensor counting(std::int64_t count, const Tensor &like) {
    return arange(0, count, 1, beside(like, int64));
}

// The elements of an axis at the positions.
inline Tensor at_positions(const Tensor &a, int axis, const Tensor &positions) {
    std::vector<IndexElement> elements(static_cast<std::size_t>(axis), IndexElement(all_));
    elements.emplace_back(positions);
    elements.emplace_back(ellipsis);
    return Selection(a, Index(elements)).get();
}

// The shape with one axis replaced by others.
inline Dims replaced(const Dims &shape, int axis, const Dims &by) {
    Dims result;
    for (int i = 0; i < axis; ++i) result.push_back(shape[i]);
    for (const std::int64_t extent : by) result.push_back(extent);
    for (int i = axis + 1; i < shape.size(); ++i) result.push_back(shape[i]);
    return result;
}

// The elements in column-major order, in host memory: where they lie, or copied.
template <class T> class HostElements {
public:
    explicit HostElements(const Tensor &a) {
        if (!a.device().is_host_memory()) {
            copied_ = a.to_vector<T>();
            all_ = copied_;
            return;
        }
        here_ = a.flatten().ensure(Atoll::dtype_of<T>());
        const TensorImpl &t = *here_.impl();
        if (t.swapped() || !aligned(t) || !dense(t, Order::F)) here_ = here_.replicate();
        all_ = here_.host_span<const T>();
    }
    std::int64_t size() const { return static_cast<std::int64_t>(all_.size()); }
    T operator[](std::int64_t i) const { return all_[static_cast<std::size_t>(i)]; }
    std::span<const T> all() const { return all_; }

private:
    Tensor here_;
    std::vector<T> copied_;
    std::span<const T> all_;
};

} // namespace Atoll::detail
