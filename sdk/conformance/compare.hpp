// Comparison of results.
#pragma once

#include "calls.hpp"

namespace Atoll::conformance {

// How far a result may be from the reference: relative to its modulus, and absolutely.
struct Tolerance {
    double relative = 0, absolute = 0;
};

// Of an output of a call. Zero for everything that must be exact: integers, copies, comparisons,
// selections, sorting, rounding.
Tolerance tolerance_of(const Call &call, std::size_t output = 0);

// Throws Failed where an element of `got` (in its own dtype) is not the one of `want` (in a dtype
// that is at least as wide). NaN equals NaN; of infinities the sign counts, of zeros it does not.
void require_equal(const Values &want, const Values &got, Tolerance tolerance,
                   const std::string &reference);

} // namespace Atoll::conformance
