// Compute modes: which elements are outside a function's domain, and what is done about them.
#pragma once

#include "call/plan.hpp"

#include <limits>

namespace Atoll::detail {

// The real numbers on which a function is defined.
struct Domain {
    enum class Kind : std::uint8_t {
        none,    // everything is inside
        range,   // the first operand within [low, high]
        divisor, // the last operand is not zero
        power    // the first operand is not negative, or the exponent is an integer
    };
    Kind kind = Kind::none;
    double low = 0, high = 0;
};

constexpr Domain domain_of(int function) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    switch (function) {
    case ATOLL_FN_sqrt:
    case ATOLL_FN_log:
    case ATOLL_FN_log2:
    case ATOLL_FN_log10: return {Domain::Kind::range, 0, infinity};
    case ATOLL_FN_log1p: return {Domain::Kind::range, -1, infinity};
    case ATOLL_FN_asin:
    case ATOLL_FN_acos:
    case ATOLL_FN_atanh: return {Domain::Kind::range, -1, 1};
    case ATOLL_FN_acosh: return {Domain::Kind::range, 1, infinity};
    case ATOLL_FN_pow: return {Domain::Kind::power, 0, 0};
    case ATOLL_FN_divide:
    case ATOLL_FN_floor_divide:
    case ATOLL_FN_trunc_divide:
    case ATOLL_FN_remainder:
    case ATOLL_FN_fmod:
    case ATOLL_FN_reciprocal: return {Domain::Kind::divisor, 0, 0};
    default: return {};
    }
}

// Does what the compute mode asks for a function of the module core that has a domain: raises a
// warning, throws Error (domain), or computes `result` in complex numbers. False: compute as ever.
bool check_domain(const FunctionRecord &function, std::span<const Operand *const> inputs,
                  const Tensor *out, Mode mode, Tensor &result);

// Throws where an integer exponent or a shift count is negative: neither has a result.
void require_counts(const FunctionRecord &function, std::span<const Operand *const> inputs,
                    DType compute);

} // namespace Atoll::detail
