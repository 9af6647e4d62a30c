// What reductions should give for a list of elements.
#pragma once

#include "values.h"

#include <cstdint>
#include <vector>

namespace oracle {

bool is_nan(const Value &v);

// Whether the last attribute is `skip_nan`.
bool can_skip_nan(int function);
// Whether the other one is a number.
bool has_number(int function);

// Elements of any dtype, in the order of the reduced axes, first axis fastest; `dtype` is the
// compute dtype, `x` and `skip_nan` the attributes of those that have them. The result is of
// result_dtype(function, dtype).
Expected reduce(int function, int dtype, const std::vector<Value> &elements, Value x = {},
                bool skip_nan = false);

// The sum of `count` products x[k] * y[k], all of the dtype: floats not rounded, integers wrapped
// to the dtype; of bool, whether one of them is true.
Value dot(const Value *x, const Value *y, std::int64_t count, int dtype);

} // namespace oracle
