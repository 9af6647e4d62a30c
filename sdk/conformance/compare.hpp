// When two results count as equal.
#pragma once

#include "operands.hpp"
#include "target.hpp"

namespace Atoll::conformance {

// How far a result may be from the reference: relative to its modulus, and absolutely.
struct Tolerance {
    double relative = 0, absolute = 0;
};

// Of a function computed in `compute`. `largest`: the largest modulus among its inputs; `terms`:
// how many elements one result is made of. Zero for everything that must be exact: integers,
// copies, comparisons, selections, sorting, rounding.
Tolerance tolerance_of(const FunctionFacts &function, DType compute, double largest,
                       std::int64_t terms);

// Throws Failed where an element of `got` (in its own dtype) is not the one of `want` (in a dtype
// that is at least as wide). NaN equals NaN; of infinities the sign counts, of zeros it does not.
void require_equal(const Values &want, const Values &got, Tolerance tolerance,
                   const std::string &reference);

} // namespace Atoll::conformance
