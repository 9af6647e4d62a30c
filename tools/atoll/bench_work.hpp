// What the rows of `atoll bench` are made of: a call or a few, on data that is random but the same
// in every run.
#pragma once

#include "bench.hpp"

namespace Atoll::tools {

// Uniform in [low, high), converted.
Tensor random(const Dims &shape, DType dtype, Device device, double low = 0.5, double high = 2);

inline double bytes_of(const Tensor &t) { return static_cast<double>(t.bytes()); }

using Unary = Tensor (*)(const Operand &, Out, Mode);
using Binary = Tensor (*)(const Operand &, const Operand &, Out, Mode);

// The loop stands around the body itself, since the smallest rows take tens of nanoseconds: no call
// through a pointer, no counting of handles comes in between.
template <class Body> Work work(Body body, double bytes, double operations = 0) {
    return {[body](std::int64_t repeats) {
                for (; repeats > 0; --repeats) body();
            },
            [body]() -> Tensor { return body(); }, bytes, operations};
}

// Into a new tensor each time, as an expression does.
Work unary(Unary function, const Tensor &a);
Work binary(Binary function, const Tensor &a, const Tensor &b);
Work add_into(const Tensor &a, const Tensor &b, const Tensor &out);
template <class Function> Work reduction(const Tensor &a, Function function) {
    return work([=] { return function(a); }, bytes_of(a));
}
Work copying(const Tensor &from);
Work product(const Tensor &a, const Tensor &b, double operations);

// o2 under an interposer, which is there as long as the work is.
Work interposed(Device device, InterposerHandle pushed);

// This program in a process of its own; what it prints goes nowhere.
Work process(const char *argument);

} // namespace Atoll::tools
