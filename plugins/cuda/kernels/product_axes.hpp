// The axes of a product, by the operands that vary along them.
#pragma once

#include "device.hpp"

#include <deque>

namespace Atoll::cuda {

enum ProductOperand { product_d, product_a, product_b, product_c, product_operands };

// Axes along which the same operands vary, the first the fastest.
struct ProductGroup {
    struct Axis {
        std::int64_t extent;
        std::int64_t stride[product_operands]; // bytes
    };
    int count = 0;
    Axis axis[ATOLL_MAX_RANK];

    std::int64_t size() const;
    void add(const Axis &more) { axis[count++] = more; }
    // Whether one stride serves the operand for all axes.
    bool folds(ProductOperand operand) const;
    // Makes one axis of all, for those operands whose axes fold; the others must not be used.
    void fold();
};

// d = alpha a b + beta c: m are the axes of a and d, n those of b and d, k those of a and b, loop
// those of all.
struct ProductAxes {
    explicit ProductAxes(const atoll_call &call);
    ProductGroup m, k, n, loop;
    char *data[product_operands];
};

// Operands that are copied, so that their axes fold.
class PackedOperands {
public:
    PackedOperands(const Target &target, ProductAxes &axes) : target_(target), axes_(axes) {}

    // Packs a or b; `first` is the group whose elements become neighbours.
    void pack(ProductOperand operand, const ProductGroup &first);
    // Packs d, with what it holds if that is `used`.
    void pack_result(bool used);
    // Copies a packed d to its place.
    void finish();

private:
    struct Layout {
        std::uint32_t rank = 0;
        std::int64_t shape[ATOLL_MAX_RANK], strides[ATOLL_MAX_RANK], packed[ATOLL_MAX_RANK];
        char *data, *packed_data;
    };
    Layout lay(ProductOperand operand, std::initializer_list<ProductGroup *> groups);
    atoll_operand operand(char *data, const std::int64_t *strides) const;

    const Target &target_;
    ProductAxes &axes_;
    std::deque<Temporary> memory_;
    Layout result_;
};

} // namespace Atoll::cuda
