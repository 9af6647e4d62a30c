// Planned products: the analysis of four described tensors with indices.
#pragma once

#include "product.hpp"
#include "tensor_info.hpp"

#include <span>

namespace Atoll::Tapp {

// A tensor of a product as the program gave it.
struct Term {
    TensorInfo info;
    std::vector<std::int64_t> indices;
    bool conjugate;
};

class Plan {
public:
    // A product that cannot be.
    explicit Plan(Failure failure) : failure_(std::move(failure)) {}
    // Throws Failure, Error.
    Plan(const Term (&terms)[roles], TAPP_prectype precision);

    // Throws the failure of a product that cannot be.
    const Product &product() const {
        if (!product_) throw failure_;
        return *product_;
    }
    // alpha or beta as product() needs it.
    Scalar factor(const Scalar &given) const;
    // Of one execution.
    std::int64_t operations() const { return operations_; }

    // As one product, `count` products whose operands are `spacing` bytes apart. Null if they
    // cannot be one.
    std::shared_ptr<const Product> batch(std::int64_t count,
                                         const std::int64_t (&spacing)[roles]) const;

private:
    struct Batch {
        std::int64_t count, spacing[roles];
        std::shared_ptr<const Product> product;
    };
    std::shared_ptr<const Product> make_batch(std::int64_t count,
                                              const std::int64_t (&spacing)[roles]) const;

    Failure failure_;
    std::optional<Product> product_;
    ContractOptions options_;
    int index_count_ = 0;
    bool conjugates_factors_ = false;
    std::int64_t operations_ = 0;

    mutable std::mutex mutex_;
    mutable std::vector<Batch> batches_; // the latest
};

Table<Plan> &plans();

} // namespace Atoll::Tapp
