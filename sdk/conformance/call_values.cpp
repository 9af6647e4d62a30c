// Values of operands.
#include "call_parts.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace Atoll::conformance {

namespace {

// SplitMix64 (Steele et al., 2014).
std::uint64_t scrambled(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

// Element k of input o, exact in the dtype. `factor`: the function multiplies many.
Scalar value_of(const FunctionFacts &f, DType dtype, std::size_t o, std::size_t k,
                const Recipe &recipe, bool factor) {
    const std::size_t mixed = (k * 7919 + o * 104729 + k * k * 31 + 13) % 1031;
    // Half of the values need all bits of the dtype; the others are equal now and then.
    const bool full = mixed % 2 == 0 && !recipe.damped;
    const std::uint64_t bits = scrambled(k * 64 + o);
    const auto spread = static_cast<std::int64_t>(mixed % 129) - 64;
    const auto other = static_cast<std::int64_t>((mixed * 53 + 7) % 127) - 63;
    if (dtype == bool_) return Scalar(mixed % 2 == 1).cast(dtype);
    if (is_integer(dtype)) {
        const bool has_sign = info(dtype).kind == Kind::signed_;
        if (f.signature.counts == f.signature.output_count + static_cast<int>(o))
            return Scalar(static_cast<std::int64_t>(mixed % (k % 8 == 3 ? 80 : 6))).cast(dtype);
        if (recipe.special && o == 1 && k % 4 < 2 && k / 4 % 3 < 2) // beside the ends of input 0
            return Scalar(k / 4 % 3 ? 0 : has_sign ? -1 : 1).cast(dtype);
        if (recipe.special && k % 4 < 2) {
            const int bits = 8 * info(dtype).size;
            if (!has_sign)
                return Scalar(k % 4 ? std::uint64_t{0} : ~std::uint64_t{0} >> (64 - bits))
                    .cast(dtype);
            const std::int64_t high = std::numeric_limits<std::int64_t>::max() >> (64 - bits);
            return Scalar(k % 4 ? high : -high - 1).cast(dtype);
        }
        if (full) {
            const int unused = 64 - 8 * info(dtype).size;
            return has_sign ? Scalar(static_cast<std::int64_t>(bits) >> unused).cast(dtype)
                            : Scalar(bits >> unused).cast(dtype);
        }
        const std::int64_t small = spread / 6;
        return Scalar(has_sign ? small : std::abs(small)).cast(dtype);
    }
    static constexpr double specials[] = {0.0, -0.0, 1.0, NAN, INFINITY, -INFINITY, -1.0, 2.0};
    // Many, or about one in a reduced part.
    const std::size_t distance = recipe.size == Size::any ? 23 : 2;
    if (recipe.special && k % distance == 0 && is_real_float(dtype)) {
        const double x = specials[(k / distance + 3 * o) % 8];
        return Scalar(x).cast(dtype);
    }
    double re = static_cast<double>(spread) / (recipe.damped ? 32 : 8);
    double im = static_cast<double>(other == 0 ? 1 : other) / (recipe.damped ? 32 : 16);
    if (factor) {
        const double size = mixed % 8 == 0 ? 2 : mixed % 8 == 1 ? 0.5 : 1;
        re = mixed % 3 ? size : -size;
        im = 0;
        if (is_complex(dtype) && mixed % 2) std::swap(re, im);
    }
    if (full) {
        const auto fraction = [](std::uint64_t b) { // below 1/16
            return std::ldexp(static_cast<double>(b >> 11), -57);
        };
        // Just beyond the middle of two halves: rounding twice gives another one.
        if (info(dtype).part == float64 && k % 3 == 0 && !factor)
            re = 1 +
                 (k % 2 ? std::ldexp(static_cast<double>(bits >> 54), -10) + std::ldexp(1, -11)
                        : std::ldexp(static_cast<double>(bits >> 57), -7) + std::ldexp(1, -8)) +
                 std::ldexp(1, -40);
        else
            re *= 1 + fraction(bits);
        im *= 1 + fraction(scrambled(bits));
    }
    return is_complex(dtype) ? Scalar(std::complex<double>(re, im)).cast(dtype)
                             : Scalar(re).cast(dtype);
}

Values values_for(const FunctionFacts &f, const Call::Argument &argument, std::size_t o,
                  const Recipe &recipe) {
    Values values;
    values.reserve(static_cast<std::size_t>(count_of(argument.shape)));
    const DType dtype = argument.dtype;
    const bool factor = has(f, multiplies_up);
    for (std::int64_t i = 0; i < count_of(argument.shape); ++i) {
        const std::size_t k = static_cast<std::size_t>(i) + recipe.seed;
        // Some elements are equal to those of the first input, or their real parts are.
        const bool equal = k % 5 == 4 && f.signature.counts < 0;
        Scalar value = value_of(f, dtype, equal ? 0 : o, k, recipe, factor);
        if (equal && k % 2 == 0 && is_complex(dtype))
            value = Scalar(std::complex<double>(
                               value.to_complex().real(),
                               value_of(f, dtype, o, k, recipe, factor).to_complex().imag()))
                        .cast(dtype);
        values.push_back(value);
    }
    return values;
}

// NaN last, complex numbers by real, then imaginary part; along the first axis.
void sort_columns(Call::Argument &argument) {
    const auto n = argument.shape[0];
    for (auto from = argument.values.begin(); from != argument.values.end(); from += n)
        std::stable_sort(from, from + n, [](const Scalar &a, const Scalar &b) {
            const auto x = a.to_complex(), y = b.to_complex();
            if (std::isnan(x.real()) || std::isnan(y.real()))
                return !std::isnan(x.real()) && std::isnan(y.real());
            return x.real() != y.real() ? x.real() < y.real() : x.imag() < y.imag();
        });
}

// A square matrix gets a heavy diagonal, so that it has an inverse.
void strengthen_diagonal(const sdk::Signature &s, const sdk::OperandSpec &spec,
                         Call::Argument &argument) {
    if (spec.axis_count < 2 || s.slots[spec.axes[1]].twin != spec.axes[0]) return;
    const auto n = static_cast<std::size_t>(argument.shape[0]);
    for (std::size_t k = 0; k < argument.values.size(); ++k)
        if (Scalar &value = argument.values[k]; k % n == k / n % n && argument.dtype != bool_)
            value = Scalar(value.to_complex() + 32.0).cast(argument.dtype);
}

} // namespace

Values found(const Values &values) {
    Values positions;
    for (std::size_t k = 0; k < values.size(); ++k)
        if (values[k].cast(bool_).to_int() != 0)
            positions.push_back(Scalar(static_cast<std::int64_t>(k)));
    return positions;
}

Layout layout_of(Layout wanted, std::size_t o, const Call::Argument &input) {
    if (wanted == Layout::scattered_broadcast && o == 1) return Layout::scattered;
    if (wanted != Layout::broadcast) return wanted;
    if (o > 1 || input.shape.size() < 2) return Layout::dense;
    return o == 1 ? Layout::broadcast_first : wanted;
}

void set_values(Call &call, const Recipe &recipe) {
    const FunctionFacts &f = call.function;
    const sdk::Signature &s = f.signature;
    for (std::size_t o = 0; o < call.inputs.size(); ++o) {
        Call::Argument &input = call.inputs[o];
        if (input.absent) continue;
        input.values = values_for(f, input, o, recipe);
        strengthen_diagonal(s, s.input(static_cast<int>(o)), input);
    }
    for (std::size_t o = 0; o < call.outputs.size(); ++o)
        if (s.operands[o].updated && !has(f, moves_elements))
            call.outputs[o].values = values_for(f, call.outputs[o], s.operand_count + o, recipe);
    if (has(f, needs_sorted)) {
        sort_columns(call.inputs[1]);
        // Some of the searched values occur in the table.
        const Values &table = call.inputs[1].values;
        const auto n = static_cast<std::size_t>(call.inputs[1].shape[0]);
        for (std::size_t k = 0; k < call.inputs[0].values.size(); k += 2)
            call.inputs[0].values[k] = table[(k * n + k % n) % table.size()];
    }
    // With beta == 0, a product does not read c.
    const auto &given = call.options.attributes;
    const auto is_beta = [](const NamedAttribute &a) { return a.name == "beta"; };
    if (is(f, ATOLL_FN_matmul) && is_floating(call.compute) &&
        std::none_of(given.begin(), given.end(), is_beta))
        std::fill(call.inputs[2].values.begin(), call.inputs[2].values.end(),
                  Scalar(NAN).cast(call.compute));
    for (std::size_t o = 0; o < call.inputs.size(); ++o) {
        Call::Argument &input = call.inputs[o];
        input.values = broadcast_values(
            std::move(input.values), input.shape,
            broadcast_axis(layout_of(recipe.layout, o, input), input.shape.size()));
    }
    if (s.nonzero >= 0) {
        const auto input = static_cast<std::size_t>(s.nonzero - s.output_count);
        const auto count = static_cast<std::int64_t>(found(call.inputs[input].values).size());
        for (Call::Argument &output : call.outputs)
            std::replace(output.shape.begin(), output.shape.end(), std::int64_t{-1}, count);
    }
}

void share_values(Call &call, std::pair<int, int> inputs) {
    Call::Argument &a = call.inputs[static_cast<std::size_t>(inputs.first)],
                   &b = call.inputs[static_cast<std::size_t>(inputs.second)];
    // Those of a count or a table, which come after what they are for, are restricted.
    const sdk::Signature &s = call.function.signature;
    strengthen_diagonal(s, s.input(inputs.first), b);
    a.values = b.values;
}

std::vector<Mix> mixed_inputs(const Call &call, bool all) {
    const sdk::Signature &s = call.function.signature;
    std::vector<std::size_t> inputs;
    for (std::size_t i = 0; i < call.inputs.size(); ++i)
        if (s.input(static_cast<int>(i)).type == sdk::TypeOf::T && !call.inputs[i].absent)
            inputs.push_back(i);
    std::vector<Mix> mixes;
    for (const std::size_t input : inputs)
        for (const DType other :
             {int8, uint8, int16, float16, int32, float32, float64, bool_, uint16, uint32, uint64,
              int64, bfloat16, complex32, complex64, complex128}) {
            const DType common = inputs.size() == 1 ? other : promote(call.compute, other);
            if (other == call.compute ||
                static_cast<DType>(sdk::make_T(call.function.rule,
                                               static_cast<std::uint32_t>(common))) != call.compute)
                continue;
            mixes.push_back({input, other});
            if (!all) break;
        }
    return mixes;
}

void mix_input(Call &call, const Mix &mix) {
    Call::Argument &input = call.inputs[mix.input];
    input.dtype = mix.dtype;
    for (Scalar &value : input.values) value = value.cast(mix.dtype);
    if (has(call.function, needs_sorted) && mix.input == 1) sort_columns(input);
    // Integers beside the nearest floats, which only an exact comparison tells apart.
    const bool has_sign = info(mix.dtype).kind == Kind::signed_;
    if (!call.function.signature.exact || !is_integer(mix.dtype) || !is_real_float(call.compute))
        return;
    const int unused = 64 - 8 * info(mix.dtype).size;
    for (std::size_t k = 0; k < input.values.size(); k += 2) {
        const std::uint64_t bits = scrambled(k);
        const Scalar value =
            has_sign ? Scalar(static_cast<std::int64_t>(bits) >> unused) : Scalar(bits >> unused);
        for (std::size_t o = 0; o < call.inputs.size(); ++o)
            call.inputs[o].values[k] = value.cast(call.inputs[o].dtype);
    }
}

} // namespace Atoll::conformance
