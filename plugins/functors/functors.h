// All functors, and the names of all functions: functor::name is a type for each of them, defined
// for those that compute elements of one type from elements of that type.
#pragma once

#include "atoll/core_functions.hpp"
#include "functors/comparison.h"
#include "functors/elementary.h"
#include "functors/integer.h"

namespace Atoll::kernels {

namespace functor {
#define ATOLL_FUNCTION(id, name, ...) struct name;
#include "atoll/lists/functions.inc"
} // namespace functor

// Whether functor::`name` is defined. Not for functions that give any dtype (copy), nor for those
// with inputs of a dtype of their own (where).
constexpr bool has_functor(const sdk::Signature &signature, int inputs) {
    if (!signature.elementwise() || signature.input_count() != inputs) return false;
    for (int i = 0; i < inputs; ++i)
        if (signature.input(i).type != sdk::TypeOf::T) return false;
    return signature.operands[0].type != sdk::TypeOf::U;
}

} // namespace Atoll::kernels
