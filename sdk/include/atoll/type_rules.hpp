// The dtypes of a call's operands: how T follows from the inputs, and R, C and A from T. The only
// copy of these rules; see Note [Signatures] in abi/module.h.
#pragma once

#include "atoll/signature.hpp"

namespace Atoll::sdk {

// Both operands of a conditional need the same type.
namespace dtypes {
inline constexpr std::uint32_t int8 = ATOLL_DTYPE_INT8, int64 = ATOLL_DTYPE_INT64,
                               uint64 = ATOLL_DTYPE_UINT64, float32 = ATOLL_DTYPE_FLOAT32,
                               float64 = ATOLL_DTYPE_FLOAT64, complex64 = ATOLL_DTYPE_COMPLEX64,
                               complex128 = ATOLL_DTYPE_COMPLEX128;
}

constexpr bool is_float_kind(std::uint32_t dtype) {
    return dtype_facts[dtype].kind >= ATOLL_DTYPE_KIND_FLOAT;
}

// The dtype of the real part; a real dtype itself.
constexpr std::uint32_t real_of(std::uint32_t dtype) { return dtype_facts[dtype].part; }

// What elements of a dtype are accumulated in: floats of fewer than 4 bytes in float32.
constexpr std::uint32_t accumulator_of(std::uint32_t dtype) {
    if (!is_float_kind(dtype) || dtype_facts[real_of(dtype)].size >= 4) return dtype;
    return real_of(dtype) == dtype ? dtypes::float32 : dtypes::complex64;
}

// The smallest complex dtype that holds a dtype of floats.
constexpr std::uint32_t complex_of(std::uint32_t dtype) {
    for (std::uint32_t c = 1; c < ATOLL_DTYPE_COUNT; ++c)
        if (dtype_facts[c].kind == ATOLL_DTYPE_KIND_COMPLEX && real_of(c) == real_of(dtype))
            return c;
    const std::uint32_t wider = accumulator_of(dtype);
    return wider == dtype ? dtypes::complex128 : complex_of(wider);
}

// T, from the common dtype of the inputs without a type of their own.
constexpr std::uint32_t make_T(std::uint32_t rule, std::uint32_t common) {
    const bool floats = is_float_kind(common);
    switch (rule) {
    case ATOLL_RULE_FLOAT: return floats ? common : dtypes::float64;
    case ATOLL_RULE_COMPLEX: return complex_of(floats ? common : dtypes::float64);
    case ATOLL_RULE_NUMBER: return common == ATOLL_DTYPE_BOOL ? dtypes::int8 : common;
    case ATOLL_RULE_SUM:
        if (floats) return common;
        return dtype_facts[common].kind == ATOLL_DTYPE_KIND_UNSIGNED ? dtypes::uint64
                                                                     : dtypes::int64;
    default: return common;
    }
}

// The dtype of an operand in a call with this T; 0 if T does not determine it (U, any, object).
constexpr std::uint32_t dtype_of_operand(const OperandSpec &operand, std::uint32_t T) {
    switch (operand.type) {
    case TypeOf::T: return T;
    case TypeOf::R: return real_of(T);
    case TypeOf::C: return complex_of(T);
    case TypeOf::A: return accumulator_of(T);
    case TypeOf::dtype: return operand.dtype;
    default: return 0;
    }
}

} // namespace Atoll::sdk
