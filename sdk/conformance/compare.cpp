// Tolerances per function, and the comparison itself.
#include "compare.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace Atoll::conformance {

namespace {

// The distance from 1 to the next number.
double epsilon(DType dtype) {
    switch (info(dtype).part) {
    case DType::float16: return 0x1p-10;
    case DType::bfloat16: return 0x1p-7;
    case DType::float32: return 0x1p-23;
    default: return 0x1p-52;
    }
}
// The smallest positive number, and the largest.
double smallest(DType dtype) {
    switch (info(dtype).part) {
    case DType::float16: return 0x1p-24;
    case DType::bfloat16: return 0x1p-133;
    case DType::float32: return 0x1p-149;
    default: return 0x1p-1074;
    }
}
double largest_number(DType dtype) {
    switch (info(dtype).part) {
    case DType::float16: return 65504;
    case DType::bfloat16: return 0x1.fep127;
    case DType::float32: return 0x1.fffffep127;
    default: return 0x1.fffffffffffffp1023;
    }
}

bool near(double want, double got, double bound, DType dtype) {
    if (std::isnan(want) || std::isnan(got)) return std::isnan(want) && std::isnan(got);
    if (want == got) return true;
    if (std::isinf(got))
        return std::fabs(want) >= largest_number(dtype) * (1 - 16 * epsilon(dtype)) &&
               std::signbit(want) == std::signbit(got);
    if (std::isinf(want)) return false;
    return std::fabs(want - got) <= bound;
}

bool equal_exactly(const Scalar &want, const Scalar &got) {
    if (is_complex(want.dtype()) || is_complex(got.dtype())) {
        const auto a = want.cast(got.dtype()).to_complex(), b = got.to_complex();
        const bool nan_a = std::isnan(a.real()) || std::isnan(a.imag());
        const bool nan_b = std::isnan(b.real()) || std::isnan(b.imag());
        return nan_a || nan_b ? nan_a == nan_b : a == b;
    }
    const Scalar as = want.cast(got.dtype());
    if (got.dtype() == uint64) return as.raw().value.u64 == got.raw().value.u64;
    if (!is_floating(got.dtype())) return as.to_int() == got.to_int();
    const double a = as.to_double(), b = got.to_double();
    return std::isnan(a) ? std::isnan(b) : a == b;
}

bool equal_nearly(const Scalar &want, const Scalar &got, Tolerance tolerance) {
    const DType dtype = got.dtype();
    const auto a = want.to_complex(), b = got.to_complex();
    if (is_complex(dtype)) {
        const bool nan_a = std::isnan(a.real()) || std::isnan(a.imag());
        const bool nan_b = std::isnan(b.real()) || std::isnan(b.imag());
        if (nan_a || nan_b) return nan_a == nan_b;
    }
    const double size = std::fmax(std::fabs(a.real()), std::fabs(a.imag()));
    const double rounding = 2 * epsilon(dtype); // where the result dtype is narrower
    const double bound =
        size * std::fmax(tolerance.relative, rounding) + tolerance.absolute + 2 * smallest(dtype);
    return near(a.real(), b.real(), bound, dtype) && near(a.imag(), b.imag(), bound, dtype);
}

double largest_input(const Call &call) {
    double largest = 1;
    for (const Call::Argument &input : call.inputs)
        for (const Scalar &value : input.values) {
            const double size = std::abs(value.to_complex());
            if (std::isfinite(size)) largest = std::max(largest, size);
        }
    return largest;
}

} // namespace

Tolerance tolerance_of(const Call &call, std::size_t output) {
    const sdk::Signature &s = call.function.signature;
    const sdk::OperandSpec &spec = s.operands[output];
    const DType dtype =
        spec.type == sdk::TypeOf::dtype ? static_cast<DType>(spec.dtype) : call.compute;
    if (!is_floating(dtype) || has(call.function, exact_values)) return {};
    const double unit = epsilon(dtype), n = static_cast<double>(call.terms);
    if (s.elementwise()) return {(is_complex(dtype) ? 64 : 16) * unit, 0};
    // Sums of elements, or of their products.
    const double largest = largest_input(call);
    int factors = 0;
    for (int i = 0; i < s.input_count(); ++i) factors += s.input(i).axis_count > 0;
    return {8 * unit * (factors > 1 ? 1 : n), 4 * unit * n * (factors > 1 ? largest : 1) * largest};
}

void require_equal(const Values &want, const Values &got, Tolerance tolerance,
                   const std::string &reference) {
    if (want.size() != got.size())
        throw Failed(fmt::format("wrong result: {} elements, {} has {}", got.size(), reference,
                                 want.size()));
    std::size_t wrong = 0, first = 0;
    for (std::size_t k = 0; k < got.size(); ++k) {
        const bool approximate =
            is_floating(got[k].dtype()) && (tolerance.relative > 0 || tolerance.absolute > 0);
        if (approximate ? equal_nearly(want[k], got[k], tolerance) : equal_exactly(want[k], got[k]))
            continue;
        if (wrong++ == 0) first = k;
    }
    if (wrong == 0) return;
    throw Failed(fmt::format(
        "wrong result: {} of {} elements; element {} is {}, {} gives {}{}", wrong, got.size(),
        first, text(got[first]), reference, text(want[first]),
        tolerance.relative > 0 ? fmt::format(" (within {:.2g} of it would do)", tolerance.relative)
                               : std::string(" (must be exact)")));
}

} // namespace Atoll::conformance
