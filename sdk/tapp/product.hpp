// A product of operands with certain layouts, executed on any device.
#pragma once

#include "executor.hpp"

#include <atoll/contraction.hpp>
#include <atoll/create.hpp>
#include <memory>
#include <mutex>
#include <optional>

namespace Atoll::Tapp {

enum Role { A, B, C, D, roles };

// By role.
struct Addresses {
    void *at[roles];
};

// d = alpha a b + beta c. Immutable but for what it keeps for other devices; threads may share it.
class Product {
public:
    // No label stands twice in an operand. Throws Error.
    Product(std::vector<ContractionOperand> operands, const ContractOptions &options);

    const ContractionOperand &operand(Role role) const {
        return operands_[static_cast<std::size_t>(role)];
    }
    bool is_empty(Role role) const { return empty_[role]; }

    // Waits for the result. C may be NULL if beta is 0. Throws Error; D is unchanged then, unless
    // the device failed.
    void run(const Target &target, const Scalar &alpha, const Scalar &beta,
             const Addresses &addresses) const;

private:
    struct Range {
        std::int64_t begin = 0, end = 0; // bytes, from element (0, …)
    };

    Tensor wrap(Role role, void *address, Device device, const Dims &shape) const;
    Tensor upload(Role role, void *address, const Placement &where) const;
    void run_there(const Target &target, const Scalar &alpha, const Scalar &beta,
                   const Addresses &addresses) const;
    void run_with_copies(Place &place, const Scalar &alpha, const Scalar &beta,
                         const Addresses &addresses) const;
    Contraction copied_contraction(const Tensor *tensors) const;

    std::vector<ContractionOperand> operands_; // by role
    ContractOptions options_;
    Contraction contraction_;
    bool empty_[roles];
    Range ranges_[roles];
    Dims stored_[roles]; // the shape, but 1 where the stride is 0

    mutable std::mutex mutex_;
    mutable std::optional<Contraction> copied_; // of copies on a device, all of one layout
};

} // namespace Atoll::Tapp
