// One element on the host, of any dtype: for scalars, printing and item(). Not for kernels.
#pragma once

#include "atoll/dtype.hpp"

#include <complex>

namespace Atoll::detail {

// Wide enough for every dtype: `kind` says which member holds the value.
struct Wide {
    Kind kind = Kind::signed_; // signed_, unsigned_ (bool too), float_ or complex
    std::int64_t i = 0;
    std::uint64_t u = 0;
    std::complex<double> z{}; // float_ uses the real part
};

// Reads the element at `address` (any alignment).
Wide load_element(const void *address, DType dtype, bool swapped);
// Converts by the rules of cast (integers wrap; float to integer truncates and saturates, NaN gives
// 0; anything to bool tests for non-zero; complex to real drops the imaginary part) and writes
// natively.
void store_element(void *address, DType dtype, const Wide &value);

} // namespace Atoll::detail
