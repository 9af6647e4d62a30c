// Building blocks for the rows of `atoll bench`: calls on random data that is the same in every
// run.
#pragma once

#include "bench.hpp"

#include <memory>
#include <thread>

namespace Atoll::tools {

inline constexpr std::int64_t thousand = 1000, million = 1'000'000;

// Uniform in [low, high), converted.
Tensor random(const Dims &shape, DType dtype, Device device, double low = 0.5, double high = 2);

// Such numbers in any size, made on the device by its own functions: a hash of each position.
Tensor hashed(const Dims &shape, DType dtype, Device device, double low = 0.5, double high = 2);

inline double bytes_of(const Tensor &t) { return static_cast<double>(t.bytes()); }

using Unary = Tensor (*)(const Operand &, Out, Mode);
using Binary = Tensor (*)(const Operand &, const Operand &, Out, Mode);

// The loop contains the body itself, without a call through a pointer or reference counting, since
// the smallest rows take tens of nanoseconds.
template <class Body> Work work(Body body, double bytes, double operations = 0) {
    return {[body](std::int64_t repeats) mutable {
                for (; repeats > 0; --repeats) body();
            },
            [body]() mutable -> Tensor { return body(); }, bytes, operations};
}

// Each creates a new result, as an expression does.
Work unary(Unary function, const Tensor &a);
Work binary(Binary function, const Tensor &a, const Tensor &b);
Work add_into(const Tensor &a, const Tensor &b, const Tensor &out);
template <class Function> Work reduction(const Tensor &a, Function function) {
    return work([=] { return function(a); }, bytes_of(a));
}
Work copying(const Tensor &from);
Work product(const Tensor &a, const Tensor &b, double operations);
// einsum("bda,dc->abc") in float64 with the extents "a312 b312 …", into a result that exists.
Work contraction(const char *text, const char *extents, Device device);

unsigned processors(); // at least 1

// body(0), body(1), … at the same time, each on a thread of its own; the first on this one.
template <class Body> void on_threads(unsigned threads, const Body &body) {
    std::vector<std::jthread> others;
    for (unsigned i = 1; i < threads; ++i) others.emplace_back([&body, i] { body(i); });
    body(0);
}

// Pops an interposer when its last copy goes.
std::shared_ptr<const void> popped_later(InterposerHandle pushed);

// o2 under an interposer, which is popped with the work.
Work interposed(Device device, InterposerHandle pushed);

// Runs this program in a new process and discards its output.
Work process(const char *argument);

} // namespace Atoll::tools
