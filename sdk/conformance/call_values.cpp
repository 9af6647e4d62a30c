// Values of operands.
#include "call_parts.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace Atoll::conformance {

namespace {

// Element k of input o, exact in the dtype.
Scalar value_of(const FunctionFacts &f, DType dtype, std::size_t o, std::size_t k,
                const Recipe &recipe) {
    const std::size_t mixed = (k * 7919 + o * 104729 + k * k * 31 + 13) % 1031;
    const auto spread = static_cast<std::int64_t>(mixed % 129) - 64;
    const auto other = static_cast<std::int64_t>((mixed * 53 + 7) % 127) - 63;
    if (dtype == bool_) return Scalar(mixed % 2 == 1).cast(dtype);
    if (is_integer(dtype)) {
        const bool has_sign = info(dtype).kind == Kind::signed_;
        if (f.signature.counts == f.signature.output_count + static_cast<int>(o))
            return Scalar(static_cast<std::int64_t>(mixed % 6)).cast(dtype);
        if (recipe.special && k % 4 < 2) {
            const int bits = 8 * info(dtype).size;
            if (!has_sign)
                return Scalar(k % 4 ? std::uint64_t{0} : ~std::uint64_t{0} >> (64 - bits))
                    .cast(dtype);
            const std::int64_t high = std::numeric_limits<std::int64_t>::max() >> (64 - bits);
            return Scalar(k % 4 ? high : -high - 1).cast(dtype);
        }
        const std::int64_t small = spread / 6;
        return Scalar(has_sign ? small : std::abs(small)).cast(dtype);
    }
    static constexpr double specials[] = {0.0, -0.0, 1.0, NAN, INFINITY, -INFINITY, -1.0, 2.0};
    if (recipe.special && k % 2 == 0 && is_real_float(dtype)) {
        const double x = specials[(k / 2 + 3 * o) % 8];
        return Scalar(x).cast(dtype);
    }
    double re = static_cast<double>(spread) / (recipe.damped ? 32 : 8);
    double im = static_cast<double>(other == 0 ? 1 : other) / (recipe.damped ? 32 : 16);
    if (has(f, multiplies_up)) {
        const double size = mixed % 8 == 0 ? 2 : mixed % 8 == 1 ? 0.5 : 1;
        re = mixed % 3 ? size : -size;
        im = 0;
        if (is_complex(dtype) && mixed % 2) std::swap(re, im);
    }
    return is_complex(dtype) ? Scalar(std::complex<double>(re, im)).cast(dtype)
                             : Scalar(re).cast(dtype);
}

Values values_for(const FunctionFacts &f, const Call::Argument &argument, std::size_t o,
                  const Recipe &recipe) {
    Values values;
    for (std::int64_t k = 0; k < count_of(argument.shape); ++k)
        values.push_back(
            value_of(f, argument.dtype, o, static_cast<std::size_t>(k) + recipe.seed, recipe));
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
    for (std::size_t o = 0; o < call.inputs.size() && recipe.broadcast; ++o)
        if (Call::Argument &input = call.inputs[o];
            layout_of(Layout::broadcast, o, input) != Layout::dense)
            input.values = broadcast_values(input.values, input.shape, o == 0);
    if (has(f, counts_non_zero)) {
        const auto count = static_cast<std::int64_t>(found(call.inputs[0].values).size());
        call.options.extents[0].second = count;
        call.outputs[0].shape = {count};
    }
}

bool mix_inputs(Call &call) {
    const sdk::Signature &s = call.function.signature;
    int last = -1, count = 0;
    for (int i = 0; i < static_cast<int>(call.inputs.size()); ++i)
        if (s.input(i).type == sdk::TypeOf::T && !call.inputs[static_cast<std::size_t>(i)].absent)
            last = i, ++count;
    if (last < 0) return false;
    Call::Argument &input = call.inputs[static_cast<std::size_t>(last)];
    for (const DType other : {int8, uint8, int16, float16, int32, float32, float64, bool_}) {
        const DType common = count == 1 ? other : promote(call.compute, other);
        if (other == call.compute ||
            static_cast<DType>(sdk::make_T(call.function.rule,
                                           static_cast<std::uint32_t>(common))) != call.compute)
            continue;
        input.dtype = other;
        for (Scalar &value : input.values) value = value.cast(other);
        if (has(call.function, needs_sorted) && !input.values.empty()) sort_columns(input);
        return true;
    }
    return false;
}

} // namespace Atoll::conformance
