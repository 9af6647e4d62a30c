// From the library's struct of a call to the one that kernels take, with all checks.
#pragma once

#include "atoll/core_functions.hpp"
#include "atoll/kernels.h"
#include "level.h"

namespace Atoll::kernels {

class Prepared {
public:
    // Throws sdk::Error. `level` converts values.
    Prepared(const atoll_kernel_call &given, const Level &level);
    Prepared(const Prepared &) = delete;
    Prepared &operator=(const Prepared &) = delete;

    std::int32_t run() const;

private:
    void take_axes(const atoll_kernel_call &given);
    void take_operands(const atoll_kernel_call &given);
    void take_attributes(const atoll_kernel_call &given);
    std::uint32_t dtype_of_attribute(std::size_t index) const;
    atoll_scalar converted(const atoll_scalar &value, std::uint32_t dtype) const;
    bool has_axis(std::size_t operand, int axis) const; // of the call's
    bool only_moves() const;
    void check_count_of_found() const;
    std::int32_t over_nothing() const;

    const sdk::FunctionLine &line_;
    const sdk::Signature &signature_;
    const Level &level_;
    const Pool pool_;
    atoll_call call_{};
    std::uint8_t slots_[ATOLL_MAX_RANK]; // the slot of each core axis
    atoll_operand operands_[ATOLL_MAX_OPERANDS];
    std::int64_t strides_[ATOLL_MAX_OPERANDS][ATOLL_MAX_RANK];
    atoll_scalar attributes_[8];
};

} // namespace Atoll::kernels
