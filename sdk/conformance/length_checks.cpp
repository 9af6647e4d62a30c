// Functions on vectors of many lengths: loops over whole vectors, or over shares of threads, leave
// remainders.
#include "calls.hpp"
#include "compare.hpp"
#include "suites.hpp"

#include <algorithm>
#include <cstring>

namespace Atoll::conformance {

namespace {

constexpr std::int64_t long_length = 1'000'003; // a prime number, as is the period of its values
constexpr std::int64_t period = 10'007;

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

// Every remainder of 32, beyond one whole vector; then those around the sizes of unrolled loops and
// of blocks.
constexpr std::int64_t longest_vector = 35, longest = 4097;
std::vector<std::int64_t> lengths() {
    std::vector<std::int64_t> all;
    for (std::int64_t n = 2; n <= longest_vector; ++n) all.push_back(n);
    for (const std::int64_t n : {48, 96, 100, 1000, 2048, 4096, 4097}) all.push_back(n);
    for (const std::int64_t block : {64, 128, 256, 512, 1024})
        for (const std::int64_t n : {block - 1, block, block + 1}) all.push_back(n);
    std::sort(all.begin(), all.end());
    return all;
}

// check(n) for each.
template <class Check> void each_length(const Check &check) {
    for (const std::int64_t n : lengths()) try {
            check(n);
        } catch (const Failed &failed) {
            fail("vectors of {} elements: {}; check the remainder that whole vectors or shares of "
                 "threads leave",
                 n, failed.what());
        } catch (const Error &error) {
            fail("vectors of {} elements: the call failed: {}", n, error.what());
        }
}

// The results are as many of the expected elements as there are, from the first on.
void require_results(const Prepared &prepared, const Expected &expected) {
    prepared.run();
    for (std::size_t o = 0; o < prepared.outputs.size(); ++o) {
        const Guarded &output = prepared.outputs[o];
        if (!output.tensor.is_defined()) continue;
        const std::vector<char> bytes = output.read();
        require_guards(output, bytes, fmt::format("output {}", o).c_str());
        const Values got = decode(output.tensor, bytes);
        Values want = expected.values[o];
        want.resize(std::min(want.size(), got.size()));
        require_equal(want, got, tolerance_of(prepared.call, o), expected.source);
    }
}

// The results of each length are the beginnings of those of the longest.
void of_lengths(const Target &target, const Declared &declared, DType dtype) {
    const Call whole =
        flattened(make_call(declared.function, dtype, {.size = Size::long_}), longest);
    const Expected expected = expect(target, whole, declared.device_type);
    expected.require();
    each_length([&](std::int64_t n) {
        require_results(Prepared(flattened(whole, n), {dtype, declared.device()}), expected);
    });
}

// Along the only core axis.
void of_extents(const Target &target, const Declared &declared, DType dtype) {
    each_length([&](std::int64_t n) {
        const Prepared prepared(
            make_call(declared.function, dtype, {.size = Size::bare, .extent = n}),
            {dtype, declared.device()});
        const Expected expected = expect(target, prepared.call, declared.device_type);
        expected.require();
        require_results(prepared, expected);
    });
}

// `values` again and again.
std::vector<char> repeated(const Values &values, DType dtype) {
    const auto size = static_cast<std::size_t>(size_of(dtype));
    std::vector<char> bytes(size * long_length);
    for (std::size_t k = 0; k < values.size(); ++k)
        std::memcpy(bytes.data() + k * size, values[k].raw().value.bytes, size);
    for (std::size_t done = values.size() * size; done < bytes.size(); done *= 2)
        std::memcpy(bytes.data() + done, bytes.data(), std::min(done, bytes.size() - done));
    return bytes;
}

// The results repeat as the operands do. Those that differ, as those of the remainder of a vector
// may, are compared as all are.
void of_million(const Target &target, const Declared &declared, DType dtype) {
    const Call call = flattened(make_call(declared.function, dtype, {.size = Size::large}), period);
    const Expected expected = expect(target, call, declared.device_type);
    expected.require();
    const Placement where(dtype, declared.device());
    const auto whole = [&](const std::vector<char> &bytes, DType own) {
        const Tensor storage = from_values(
            bytes.data(), uint8, static_cast<std::int64_t>(bytes.size()), {uint8, where.device});
        return Tensor(storage.storage(), 0, {long_length}, {size_of(own)}, own);
    };
    std::vector<Tensor> inputs, outputs;
    for (const Call::Argument &input : call.inputs)
        inputs.push_back(input.absent ? Tensor()
                                      : whole(repeated(input.values, input.dtype), input.dtype));
    for (const Call::Argument &output : call.outputs) {
        const auto size = static_cast<std::size_t>(size_of(output.dtype));
        outputs.push_back(whole(std::vector<char>(long_length * size + 64, 0x5b), output.dtype));
    }
    invoke(call, inputs, where.device, outputs);
    for (std::size_t o = 0; o < outputs.size(); ++o) {
        const std::vector<char> bytes = storage_bytes(outputs[o]);
        const auto size = size_of(outputs[o].dtype());
        if (std::any_of(bytes.begin() + long_length * size, bytes.end(),
                        [](char byte) { return byte != 0x5b; }))
            fail("{} elements: wrote behind the last one", long_length);
        for (std::int64_t begin = 0; begin < long_length; begin += period) {
            const std::int64_t count = std::min(period, long_length - begin);
            if (begin > 0 && std::equal(bytes.begin() + begin * size,
                                        bytes.begin() + (begin + count) * size, bytes.begin()))
                continue;
            const Tensor part(outputs[o].storage(), begin * size, {count}, {size},
                              outputs[o].dtype());
            const auto want = expected.values[o].begin();
            try {
                require_equal(Values(want, want + count), decode(part, bytes),
                              tolerance_of(call, o), expected.source);
            } catch (const Failed &failed) {
                fail("{} elements, from element {} on: {}", long_length, begin, failed.what());
            }
        }
    }
}

} // namespace

void add_length_checks(Checks &checks, const Target &target) {
    for (const Declared &declared : target.functions) {
        const sdk::Signature &s = declared.function.signature;
        if (!callable(declared.function) || !declared.function.repeats() ||
            std::any_of(s.operands.begin(), s.operands.begin() + s.output_count,
                        [](const sdk::OperandSpec &output) { return output.updated; }))
            continue;
        const sdk::AxisSlot &slot = s.slots[0];
        const bool along = s.slot_count == 1 && slot.given && slot.kind != sdk::AxisKind::fixed &&
                           slot.kind != sdk::AxisKind::optional &&
                           has_size(declared.function, Size::bare);
        if (!s.elementwise() && !along) continue;
        for (const DType dtype : declared.all_dtypes())
            checks.push_back({"functions", declared.subject(), word(dtype),
                              fmt::format("2 to {} elements", longest),
                              [&target, &declared, dtype, along] {
                                  (along ? of_extents : of_lengths)(target, declared, dtype);
                              }});
        if (along) continue;
        const DType usual = usual_dtype(declared);
        checks.push_back({"functions", declared.subject(), word(usual),
                          fmt::format("{} elements", long_length),
                          [&target, &declared, usual] { of_million(target, declared, usual); }});
    }
}

} // namespace Atoll::conformance
