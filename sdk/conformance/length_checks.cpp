// Element-wise functions on vectors of many lengths: loops over whole vectors, or over shares of
// threads, leave remainders.
#include "calls.hpp"
#include "compare.hpp"
#include "suites.hpp"

#include <algorithm>

namespace Atoll::conformance {

namespace {

constexpr std::int64_t longest_vector = 35; // every remainder of 32, beyond one whole vector
constexpr std::int64_t large = 20'011;      // a prime number

// The call with operands of one axis; values repeat, or are cut off.
Call flattened(Call call, std::int64_t length) {
    for (Call::Argument &input : call.inputs) {
        input.shape = {length};
        if (input.absent) continue;
        const std::size_t known = input.values.size();
        input.values.resize(static_cast<std::size_t>(length), Scalar(0).cast(input.dtype));
        for (std::size_t k = known; k < input.values.size(); ++k)
            input.values[k] = input.values[k % known];
    }
    for (Call::Argument &output : call.outputs) output.shape = {length};
    return call;
}

// The results of each length are the beginnings of those of the longest.
void of_lengths(const Target &target, const Declared &declared, DType dtype, std::int64_t first,
                std::int64_t last) {
    const Call longest =
        flattened(make_call(declared.function, dtype, {.size = Size::long_}), last);
    const Expected expected = expect(target, longest, declared.device_type);
    expected.require();
    for (std::int64_t n = first; n <= last; ++n) try {
            const Prepared prepared(flattened(longest, n), {dtype, declared.device()});
            prepared.run();
            for (std::size_t o = 0; o < prepared.outputs.size(); ++o) {
                const Guarded &output = prepared.outputs[o];
                const std::vector<char> bytes = output.read();
                require_guards(output, bytes, fmt::format("output {}", o).c_str());
                const auto want = expected.values[o].begin();
                require_equal(Values(want, want + n), decode(output.tensor, bytes),
                              tolerance_of(longest, o), expected.source);
            }
        } catch (const Failed &failed) {
            fail("vectors of {} elements: {}; check the remainder that whole vectors or shares of "
                 "threads leave",
                 n, failed.what());
        } catch (const Error &error) {
            fail("vectors of {} elements: the call failed: {}", n, error.what());
        }
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
