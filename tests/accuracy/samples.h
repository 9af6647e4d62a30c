// Arguments to measure at: spread over each dtype's whole range, and dense where functions are
// hard.
#pragma once

#include "formats.h"

#include <random>
#include <vector>

namespace accuracy {

struct Arguments {
    Number a, b;
};
using Samples = std::vector<Arguments>;
using Random = std::mt19937_64;

// Elements of `dtype`; about `count` of them.
Samples unary_samples(int function, int dtype, std::int64_t count, Random &random);
Samples binary_samples(int function, int dtype, std::int64_t count, Random &random);

// Every element of a 16-bit float; every `step`-th bit pattern of float32.
Samples all_patterns(int dtype, std::uint64_t step, Random &random);

} // namespace accuracy
