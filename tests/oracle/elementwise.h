// What element-wise functions should give.
#pragma once

#include "values.h"

namespace oracle {

using Complex = std::complex<long double>;

// Bits of an element.
int width(int dtype);
__int128 wrapped_product(__int128 a, __int128 b);
bool finite(Complex z);

// By their true values: integers have up to 64 bits, and long double holds them.
bool is_comparison(int function);
bool compare(int function, const Value &a, const Value &b);

// Arguments of any dtype; `dtype` is the compute dtype.
Expected unary(int function, int dtype, const Value &a);
Expected binary(int function, int dtype, const Value &a, const Value &b);
Expected ternary(int function, int dtype, const Value &a, const Value &b, const Value &c);

// One result of a function of one or two inputs on values of the compute dtype, of the result
// dtype.
// `*approximate`: the last digits may differ.
Value apply(int function, int dtype, const Value &a, const Value &b, bool *approximate);

} // namespace oracle
