// Errors of reductions and running sums against exact sums by MPFR.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace accuracy {

struct ReductionFinding {
    int function = 0, dtype = 0;
    std::int32_t status = 0;
    std::string name;
    double error = 0;  // largest
    std::string input; // where it occurred: the number and the distribution of the values
};

// sum, sum_abs, cumsum and mean in units of the last place of the same of the moduli, so that
// cancellation among the values does not count; the others in those of the result.
std::vector<ReductionFinding> measure_reductions(double scale);

} // namespace accuracy
