// Element-wise functions on vectors of many lengths: loops over whole vectors, or over threads'
// shares, have remainders.
#include "calls.hpp"
#include "compare.hpp"
#include "suites.hpp"

#include <algorithm>

namespace Atoll::conformance {

namespace {

constexpr std::int64_t longest_vector = 35; // every remainder of 32, beyond one whole vector
constexpr std::int64_t large = 20'011;      // no multiple of anything that work is divided by
constexpr std::int64_t gap = 128;           // elements between two results

// The call with operands of one axis.
Call flattened(Call call, std::int64_t length) {
    for (Call::Argument &input : call.inputs) {
        const std::size_t known = input.values.size();
        input.shape = {length};
        if (known == 0) continue; // absent
        input.values.resize(static_cast<std::size_t>(length), Scalar(0).cast(input.dtype));
        for (std::size_t k = known; k < input.values.size(); ++k)
            input.values[k] = input.values[k % known];
    }
    for (Call::Argument &output : call.outputs) output.shape = {length};
    return call;
}

// A view of `length` elements from element `from` on.
Tensor part(const Tensor &whole, std::int64_t from, std::int64_t length) {
    const std::int64_t size = size_of(whole.dtype());
    return Tensor(whole.storage(), whole.offset() + from * size, {length}, {size}, whole.dtype());
}

// The results, one behind the other with gaps, and the gaps.
void require_lengths(const Guarded &output, const Expected &expected, Tolerance tolerance,
                     std::size_t which, std::int64_t first, std::int64_t last) {
    const std::vector<char> bytes = output.read();
    require_guards(output, bytes, fmt::format("output {}", which).c_str());
    const Values got = decode(output.tensor, bytes), &want = expected.values[which];
    std::int64_t from = 0;
    for (std::int64_t n = first; n <= last; from += n + gap, ++n) {
        try {
            const auto at = got.begin() + from;
            require_equal(Values(want.begin(), want.begin() + n), Values(at, at + n), tolerance,
                          expected.source);
        } catch (const Failed &failed) {
            fail("vectors of {} elements: {}; look at the remainder that whole vectors or shares "
                 "of threads leave",
                 n, failed.what());
        }
        const auto size = static_cast<std::size_t>(size_of(output.tensor.dtype()));
        const auto end = static_cast<std::size_t>(output.tensor.offset()) +
                         static_cast<std::size_t>(from + n) * size;
        for (std::size_t i = end; i < end + static_cast<std::size_t>(gap) * size; ++i)
            if (bytes[i] != output.image[i])
                fail("vectors of {} elements: wrote outside the destination: byte {} behind its "
                     "last element; write only the elements that call->shape names",
                     n, i - end + 1);
    }
}

// One call per length, each into a place of its own with a gap behind it, and read back once.
void of_lengths(const Target &target, const Declared &declared, DType dtype, std::int64_t first,
                std::int64_t last) {
    const Device device = declared.device();
    const Call whole = flattened(make_call(declared.function, dtype, {.size = Size::long_}), last);
    const Expected expected = expect(target, whole, declared.device_type);
    expected.require();
    std::vector<Tensor> inputs;
    for (const Call::Argument &input : whole.inputs)
        inputs.push_back(lay_out(input, device).tensor);
    std::int64_t total = 0;
    for (std::int64_t n = first; n <= last; ++n) total += n + gap;
    std::vector<Guarded> outputs;
    for (const Call::Argument &output : whole.outputs)
        outputs.push_back(lay_out({}, {total}, output.dtype, device));
    std::int64_t from = 0;
    try {
        for (std::int64_t n = first; n <= last; from += n + gap, ++n) {
            std::vector<Tensor> in, out;
            for (const Tensor &input : inputs)
                in.push_back(input.is_defined() ? part(input, 0, n) : input);
            for (const Guarded &output : outputs) out.push_back(part(output.tensor, from, n));
            invoke(flattened(whole, n), in, device, out);
        }
        for (const Guarded &output : outputs) output.tensor.stream().synchronize();
    } catch (const Error &error) {
        fail("the call failed for vectors of {} to {} elements: {}", first, last, error.what());
    }
    for (std::size_t o = 0; o < outputs.size(); ++o)
        require_lengths(outputs[o], expected, tolerance_of(whole, o), o, first, last);
}

} // namespace

void add_length_checks(Checks &checks, const Target &target) {
    for (const Declared &declared : target.functions) {
        const sdk::Signature &s = declared.function.signature;
        if (!callable(declared.function) || !declared.function.repeats() || !s.elementwise() ||
            std::any_of(s.operands.begin(), s.operands.begin() + s.output_count,
                        [](const sdk::OperandSpec &output) { return output.updated; }))
            continue;
        const DType usual = usual_dtype(declared);
        for (const DType dtype : declared.all_dtypes()) {
            const auto add = [&](std::string variant, std::int64_t first, std::int64_t last) {
                checks.push_back({"functions", declared.subject(), word(dtype), std::move(variant),
                                  [&target, &declared, dtype, first, last] {
                                      of_lengths(target, declared, dtype, first, last);
                                  }});
            };
            add(fmt::format("2 to {} elements", longest_vector), 2, longest_vector);
            if (dtype == usual) add(fmt::format("{} elements", large), large, large);
        }
    }
}

} // namespace Atoll::conformance
