// What element-wise functions should give.
#pragma once

#include "values.h"

#include <complex>

namespace oracle {

using Complex = std::complex<long double>;

__int128 wrapped_product(__int128 a, __int128 b);
bool finite(Complex z);

bool is_comparison(int function);

// Arguments of any dtype; `dtype` is the compute dtype.
Expected unary(int function, int dtype, const Value &a);
Expected binary(int function, int dtype, const Value &a, const Value &b);
Expected ternary(int function, int dtype, const Value &a, const Value &b, const Value &c);

// One result of a function of one or two inputs on values of the compute dtype, of the result
// dtype.
// `*approximate`: the last digits may differ.
Value apply(int function, int dtype, const Value &a, const Value &b, bool *approximate);

} // namespace oracle
