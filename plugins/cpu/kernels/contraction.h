// A product as a contraction: its axes by the operands that vary along them, ordered and fused.
#pragma once

#include "matrix.h"

#include <algorithm>

namespace Atoll::kernels {

// The operands of a product: d = alpha a b + beta c.
enum ProductOperand { product_d, product_a, product_b, product_c, product_operands };

// Some of the axes: extents in elements, strides in bytes per operand.
struct AxisList {
    struct Axis {
        std::int64_t extent;
        std::int64_t stride[product_operands];
    };
    int count = 0;
    Axis axis[ATOLL_MAX_RANK];

    std::int64_t size() const {
        std::int64_t n = 1;
        for (int i = 0; i < count; ++i) n *= axis[i].extent;
        return n;
    }
    std::int64_t extent(int i) const { return i < count ? axis[i].extent : 1; }
    std::int64_t stride(int i, int operand) const {
        return i < count ? axis[i].stride[operand] : 0;
    }
};

// Note [Contractions]
// Four kinds of axes: m of a and d, n of b and d, k of a and b, batch of all three. A loop axis
// along which b does not vary is an axis of m, and likewise for a and n. Where d is denser along n,
// a and b change places, so that d's densest axis is the first of m. m and n are ordered by d's
// strides, k by a's, or by b's if only b is dense along k; neighbours that all operands step
// through alike are fused. Then the axis along which an operand is dense moves to the second place,
// unless it is the first: packing transposes from one to the other. So a's (or b's) dense axis of m
// (n), and b's dense axis of k.
struct Contraction {
    // With !adds, c is not read and does not keep axes apart.
    Contraction(const atoll_call &call, bool adds, bool conj_a, bool conj_b);

    AxisList m, n, k, batch;
    char *data[product_operands];
    Side side[product_operands];
    bool conj_a, conj_b;

    // At most one axis of m, of n and of k.
    bool is_plain() const { return m.count <= 1 && n.count <= 1 && k.count <= 1; }
    std::int64_t work() const { return m.size() * n.size() * k.size(); } // of one product
    // Whether there are enough products of the batch to keep threads busy, each of which takes one,
    // and of a size for which that is as fast as all threads on one after the other.
    bool suits_side_by_side() const {
        return batch.size() >= 8 && std::min({m.size(), n.size(), k.size()}) >= 32 &&
               work() <= 256 * 256 * 256;
    }
    // Byte offset of an operand at an element of the batch.
    std::int64_t batch_offset(int operand, std::int64_t index) const;
    // The operands of a plain product.
    Matrix matrix(ProductOperand operand) const;
};

} // namespace Atoll::kernels
