// Complex functions in double, one element at a time. Complex floats go through them too: rounding
// the double result leaves next to no error.
#pragma once

#include "types.h"

namespace Atoll::kernels::complex_math {

using Z = Complex<double>;

Z sign(Z z);
double angle(Z z);
Z pow(Z a, Z b);

Z sqrt(Z z);
Z exp(Z z);
Z exp2(Z z);
Z exp10(Z z);
Z expm1(Z z);
Z log(Z z);
Z log2(Z z);
Z log10(Z z);
Z log1p(Z z);
Z sin(Z z);
Z cos(Z z);
Z tan(Z z);
Z asin(Z z);
Z acos(Z z);
Z atan(Z z);
Z sinh(Z z);
Z cosh(Z z);
Z tanh(Z z);
Z asinh(Z z);
Z acosh(Z z);
Z atanh(Z z);

} // namespace Atoll::kernels::complex_math
