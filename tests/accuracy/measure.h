// Runs one kernel over many arguments and finds its largest errors.
#pragma once

#include "atoll/abi/call.h"
#include "samples.h"

#include <cstdint>
#include <string>
#include <vector>

namespace accuracy {

// An error with the arguments where it occurs, in units of the last place.
struct Worst {
    double error = 0;
    Arguments at{};
    Number got{}, want{};

    void take(double candidate, const Arguments &arguments, Number result, Number truth) {
        if (candidate > error) *this = {candidate, arguments, result, truth};
    }
};

// What was found out about one function with one compute dtype.
struct Finding {
    int function = 0, dtype = 0;
    std::int32_t status = 0; // of the kernel call
    std::int64_t samples = 0;
    // Of the worse part, in units of its own last place.
    Worst part;
    // Complex results: of the worse part, in units of the larger part's last place.
    Worst norm;
    // NaN, an infinity or the sign of a zero is wrong.
    std::int64_t wrong = 0;
    Worst first_wrong;
    // Depends on where the element lies: differs when it has other neighbours.
    std::int64_t moved = 0;
    Worst first_moved;
    // 16-bit floats: differs from the result of the next larger dtype, rounded.
    std::int64_t unlike = 0;
    Worst first_unlike;

    // The one with a bar.
    const Worst &worst() const;
};

std::string function_name(int function);
bool has_dtype(int function, int dtype); // is in the function's domain
bool gives_complex(int function, int dtype);

// A kernel's status for vectors of `count` elements; their operands say where.
std::int32_t call_kernel(std::int32_t (*kernel)(const atoll_call *), int function, int dtype,
                         std::int64_t count, atoll_operand *operands,
                         std::vector<atoll_scalar> attributes = {});

// The kernel's results for `samples` of the dtype.
std::int32_t run_kernel(int function, int dtype, const Samples &samples,
                        std::vector<Number> &results);

// Measures against the function's Reference; `scale` 1 is the usual number of samples.
Finding measure(int function, int dtype, double scale);

std::string text(int dtype, Number number);
std::string text(int function, int dtype, const Arguments &arguments);

} // namespace accuracy
