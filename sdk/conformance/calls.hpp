// A call of any function, with arguments on which it makes sense, and what it should give.
#pragma once

#include "operands.hpp"
#include "target.hpp"

#include <string>
#include <vector>

namespace Atoll::conformance {

enum class Size { small, long_, large, one };

struct Call {
    FunctionFacts function;
    DType compute, result;
    struct Input {
        DType dtype;
        Shape shape;
        Values values; // of that dtype
    };
    std::vector<Input> inputs;
    Shape out_shape;
    bool whole = false;          // reductions: over all axes
    std::vector<Scalar> numbers; // REDUCE_ONE
    bool takes_out = true;       // the result can be given a place
    bool flipped = false;        // SORT: descending; SEARCH: behind equals
};

// The arguments of a function for a compute dtype. Values are exact in the dtype; `special`: NaN,
// infinities and zeros are among them; `damped`: no result leaves the range of float16.
Call make_call(const FunctionFacts &function, DType compute, Size size, bool special = false,
               bool damped = false);
// The same call with one input in a dtype that is promoted to the compute dtype; false where there
// is none.
bool mix_inputs(Call &call);

// Whether a call of this size makes sense for the family.
bool has_size(const FunctionFacts &function, Size size);
// COPY … FIND: those that this header can call. CUSTOM is the module's own.
bool callable(const FunctionFacts &function);
// Element by element: out and inputs have the same shape.
bool elementwise(const FunctionFacts &function);

// Calls it through the public interface, on `device` where there is no input. `scalar`: the last
// input as a plain number.
Tensor invoke(const Call &call, const std::vector<Tensor> &inputs, Device device, Out out = {},
              bool scalar = false);

// What it should give, and who says so.
struct Expected {
    Values values;
    std::string source;
};
// From the reference device, wide for floats; by definition of functions that only move or convert
// elements. No source where there is neither.
Expected expect(const Target &target, const Call &call, const std::string &device_type);

double largest_input(const Call &call);
std::int64_t terms_of(const Call &call);

} // namespace Atoll::conformance
