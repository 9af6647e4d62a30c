// What scans, sorts, searches and find should give for a list of elements, in order along the axis
// (find: in column-major order), of any dtype; `dtype` is the compute dtype.
#pragma once

#include "values.h"

#include <cstdint>
#include <vector>

namespace oracle {

std::vector<Expected> scan(int function, int dtype, std::vector<Value> elements);

// Ascending: NaN (a complex number with a NaN part) after all others and equal among themselves,
// -0 equal to 0, complex numbers by the real, then the imaginary part.
bool before(const Value &a, const Value &b);
// The positions that sort, stable; NaN last also when descending.
std::vector<std::int64_t> sorting(const std::vector<Value> &elements, bool descending);
// Exact, of the result dtype.
std::vector<Value> sort(int function, int dtype, std::vector<Value> elements, bool descending);

// `sorted` is ascending in the compute dtype.
std::int64_t search(int function, int dtype, const Value &value, std::vector<Value> sorted,
                    bool right);

std::vector<std::int64_t> find(int function, int dtype, const std::vector<Value> &elements);

} // namespace oracle
