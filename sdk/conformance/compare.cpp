// Tolerances per function, and the comparison itself.
#include "compare.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace Atoll::conformance {

namespace {

struct Precision {
    double epsilon;           // the distance from 1 to the next number
    double smallest, largest; // positive numbers
};
Precision measure(DType dtype) {
    const auto rounded = [&](double x) { return Scalar(x).cast(dtype).to_double(); };
    Precision it{1, 1, 0};
    while (rounded(1 + it.epsilon / 2) != 1) it.epsilon /= 2;
    while (rounded(it.smallest / 2) != 0) it.smallest /= 2;
    for (it.largest = 2 - it.epsilon; std::isfinite(rounded(2 * it.largest));) it.largest *= 2;
    return it;
}
Precision precision_of(DType dtype) {
    static const auto table = [] {
        std::array<Precision, ATOLL_DTYPE_COUNT> all{};
        for (std::size_t d = 1; d < all.size(); ++d)
            if (is_real_float(static_cast<DType>(d))) all[d] = measure(static_cast<DType>(d));
        return all;
    }();
    const DType part = info(dtype).part;
    return table[static_cast<std::size_t>(is_floating(part) ? part : float64)];
}

bool near(double want, double got, double bound, const Precision &precision) {
    if (std::isnan(want) || std::isnan(got)) return std::isnan(want) && std::isnan(got);
    if (want == got) return true;
    if (std::isinf(got))
        return std::fabs(want) >= precision.largest * (1 - 16 * precision.epsilon) &&
               std::signbit(want) == std::signbit(got);
    if (std::isinf(want)) return false;
    return std::fabs(want - got) <= bound;
}

bool is_nan(std::complex<double> z) { return std::isnan(z.real()) || std::isnan(z.imag()); }

bool equal_exactly(const Scalar &want, const Scalar &got) {
    if (is_complex(want.dtype()) || is_complex(got.dtype())) {
        const auto a = want.cast(got.dtype()).to_complex(), b = got.to_complex();
        return is_nan(a) || is_nan(b) ? is_nan(a) && is_nan(b) : a == b;
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
    if (is_complex(dtype) && (is_nan(a) || is_nan(b))) return is_nan(a) && is_nan(b);
    const double size = std::fmax(std::fabs(a.real()), std::fabs(a.imag()));
    const Precision own = precision_of(dtype);
    const double rounding = 2 * own.epsilon; // where the result dtype is narrower
    const double bound =
        size * std::fmax(tolerance.relative, rounding) + tolerance.absolute + 2 * own.smallest;
    return near(a.real(), b.real(), bound, own) && near(a.imag(), b.imag(), bound, own);
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
    const sdk::OperandSpec &spec = s.operand(static_cast<int>(output));
    const DType dtype =
        spec.type == sdk::TypeOf::dtype ? static_cast<DType>(spec.dtype) : call.compute;
    if (!is_floating(dtype) || has(call.function, exact_values)) return {};
    const double unit = precision_of(dtype).epsilon, n = static_cast<double>(call.terms);
    if (s.elementwise())
        return {(is_complex(dtype) ? 64 : 16) * unit,
                has(call.function, steep_at_zeros) && dtype == float64 ? 16 * unit : 0};
    // Sums of elements, or of their products.
    const double largest = largest_input(call);
    int factors = 0;
    for (int i = 0; i < s.input_count(); ++i) factors += s.input(i).axis_count > 0;
    return {8 * unit * (factors > 1 ? 1 : n), 4 * unit * n * (factors > 1 ? largest : 1) * largest};
}

void require_equal(const Values &want, const Values &got, Tolerance tolerance,
                   const std::string &reference) {
    if (want.size() != got.size())
        fail("wrong result: {} elements, {} has {}", got.size(), reference, want.size());
    std::size_t wrong = 0, first = 0;
    for (std::size_t k = 0; k < got.size(); ++k) {
        const bool approximate =
            is_floating(got[k].dtype()) && (tolerance.relative > 0 || tolerance.absolute > 0);
        if (approximate ? equal_nearly(want[k], got[k], tolerance) : equal_exactly(want[k], got[k]))
            continue;
        if (wrong++ == 0) first = k;
    }
    if (wrong == 0) return;
    const bool read = is_nan(got[first].to_complex()) && !is_nan(want[first].to_complex());
    fail("wrong result: {} of {} elements; element {} is {}, {} gives {}{}{}", wrong, got.size(),
         first, text(got[first]), reference, text(want[first]),
         read ? "; results hold NaN before the call: they must not be read" : "",
         tolerance.relative > 0 ? fmt::format(" (tolerance {:.2g})", tolerance.relative)
                                : std::string(" (must be exact)"));
}

} // namespace Atoll::conformance
