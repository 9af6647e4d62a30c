// Element-wise functions on vectors of many lengths: loops over whole vectors, or over threads'
// shares, have remainders.
#include "calls.hpp"
#include "compare.hpp"
#include "suites.hpp"

#include <fmt/format.h>

namespace Atoll::conformance {

namespace {

constexpr std::int64_t longest_vector = 35; // every remainder of 32, beyond one whole vector
constexpr std::int64_t large = 20'011;      // no multiple of anything that work is divided by

// The call with operands of one axis.
Call flattened(Call call, std::int64_t length) {
    for (Call::Input &input : call.inputs) {
        const std::size_t known = input.values.size();
        input.shape = {length};
        input.values.resize(static_cast<std::size_t>(length), Scalar(0).cast(input.dtype));
        for (std::size_t k = known; k < input.values.size(); ++k)
            input.values[k] = input.values[k % known];
    }
    call.out_shape = {length};
    return call;
}

// A view of `length` elements from element `from` on.
Tensor part(const Tensor &whole, std::int64_t from, std::int64_t length) {
    const std::int64_t size = size_of(whole.dtype());
    return Tensor(whole.storage(), whole.offset() + from * size, {length}, {size}, whole.dtype());
}

// One call per length, each into a place of its own with a gap behind it, and read back once.
void of_lengths(const Target &target, const Declared &declared, DType dtype, std::int64_t first,
                std::int64_t last) {
    const Device device = Target::device_of(declared.device_type);
    const Call whole = flattened(make_call(declared.function, dtype, Size::long_), last);
    const Expected expected = expect(target, whole, declared.device_type);
    if (expected.source.empty())
        throw Skipped("there is nothing to compare the result with: load another device that has "
                      "the function (--with PLUGIN)");
    std::vector<Tensor> inputs;
    for (const Call::Input &input : whole.inputs)
        inputs.push_back(lay_out(input.values, input.shape, input.dtype, device).tensor);
    const std::int64_t gap = 128 / size_of(whole.result);
    std::int64_t total = 0;
    for (std::int64_t n = first; n <= last; ++n) total += n + gap;
    const Guarded output = lay_out_blank({total}, whole.result, device);
    std::int64_t from = 0;
    try {
        for (std::int64_t n = first; n <= last; from += n + gap, ++n) {
            std::vector<Tensor> of_this_length;
            for (const Tensor &input : inputs) of_this_length.push_back(part(input, 0, n));
            const Call call = flattened(whole, n);
            const Tensor result = part(output.tensor, from, n);
            invoke(call, of_this_length, device, Out(result));
        }
        output.tensor.stream().synchronize();
    } catch (const Error &error) {
        throw Failed(fmt::format("the call failed for vectors of {} to {} elements: {}", first,
                                 last, error.what()));
    }
    const std::vector<char> bytes = output.read();
    require_guards(output, bytes, "output 0");
    const Values got = decode(output.tensor, bytes);
    from = 0;
    for (std::int64_t n = first; n <= last; from += n + gap, ++n) {
        try {
            const auto at = got.begin() + from;
            require_equal(Values(expected.values.begin(), expected.values.begin() + n),
                          Values(at, at + n), tolerance_of(declared.function, dtype, 0, 1),
                          expected.source);
        } catch (const Failed &failed) {
            throw Failed(fmt::format("vectors of {} elements: {}; look at the remainder that "
                                     "whole vectors or shares of threads leave",
                                     n, failed.what()));
        }
        const auto size = static_cast<std::size_t>(size_of(whole.result));
        const auto end = static_cast<std::size_t>(output.tensor.offset()) +
                         static_cast<std::size_t>(from + n) * size;
        for (std::size_t i = end; i < end + static_cast<std::size_t>(gap) * size; ++i)
            if (bytes[i] != output.image[i])
                throw Failed(fmt::format("vectors of {} elements: wrote outside the destination: "
                                         "byte {} behind its last element; write only the "
                                         "elements that call->shape names",
                                         n, i - end + 1));
    }
}

} // namespace

void add_length_checks(Checks &checks, const Target &target) {
    for (const Declared &declared : target.functions) {
        const FunctionFacts &f = declared.function;
        if (!callable(f) || !(elementwise(f) || f.family == ATOLL_FAMILY_FILL)) continue;
        const DType usual = usual_dtype(declared);
        for (int d = 1; d < ATOLL_DTYPE_COUNT; ++d) {
            const auto dtype = static_cast<DType>(d);
            if (!declared.has(dtype)) continue;
            const auto add = [&](std::string variant, std::int64_t first, std::int64_t last) {
                checks.push_back({"functions", declared.subject(), std::string(Atoll::name(dtype)),
                                  std::move(variant), [&target, &declared, dtype, first, last] {
                                      of_lengths(target, declared, dtype, first, last);
                                  }});
            };
            add(fmt::format("2 to {} elements", longest_vector), 2, longest_vector);
            if (dtype == usual) add(fmt::format("{} elements", large), large, large);
        }
    }
}

} // namespace Atoll::conformance
