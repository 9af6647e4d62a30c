// Errors of reductions: see reductions.h.
#include "reductions.h"

#include "atoll/core_functions.hpp"
#include "entries.h"
#include "measure.h"
#include "reference.h"
#include "samples.h"

#include <algorithm>
#include <iterator>

namespace accuracy {
namespace {

using Atoll::sdk::core_functions;

constexpr mpfr_prec_t exact = 400; // for the spread of exponents below

struct Reduction {
    int function;
    double x; // the attribute of those that have one
    const char *name;
    bool skip_nan = false;
};
constexpr Reduction reductions[] = {
    {ATOLL_FN_sum, 0, "sum"},
    {ATOLL_FN_sum, 0, "nan_sum", true},
    {ATOLL_FN_sum_abs, 0, "sum_abs"},
    {ATOLL_FN_sum_abs, 0, "nan_sum_abs", true},
    {ATOLL_FN_mean, 0, "mean"},
    {ATOLL_FN_mean, 0, "nan_mean", true},
    {ATOLL_FN_cumsum, 0, "cumsum"},
    {ATOLL_FN_var, 1, "var"},
    {ATOLL_FN_stddev, 1, "stddev"},
    {ATOLL_FN_norm, 2, "norm2"},
    {ATOLL_FN_norm, 0.5, "norm, x = 0.5"},
    {ATOLL_FN_norm, 1, "norm, x = 1"},
    {ATOLL_FN_norm, 3, "norm, x = 3"},
    {ATOLL_FN_norm, 2, "nan_norm, 2", true},
    {ATOLL_FN_norm, 2.5, "nan_norm, 2.5", true},
};

struct Input {
    const char *name;
    double (*draw)(Random &);
    bool for_variances = false;
};
double positive(Random &random) { return std::uniform_real_distribution<double>(0, 1)(random); }
const Input inputs[] = {
    {"uniform in [0, 1)", positive},
    {"normal", [](Random &random) { return std::normal_distribution<double>()(random); }},
    {"2^-8 … 2^8, both signs",
     [](Random &random) {
         const double size = std::exp2(16 * positive(random) - 8);
         return random() % 2 ? size : -size;
     }},
    {"100 + uniform", [](Random &random) { return 100 + positive(random); }},
    {"10^8 + normal",
     [](Random &random) { return 1e8 + std::normal_distribution<double>()(random); }, true},
};

bool gives_part(int function) {
    return function != ATOLL_FN_sum && function != ATOLL_FN_mean && function != ATOLL_FN_cumsum;
}

// Of the elements so far.
struct Sums {
    True sum{exact}, moduli{exact}; // part by part; moduli.re: of complex moduli for sum_abs
    std::int64_t count = 0;

    Sums() {
        mpc_set_ui(sum.z(), 0, MPC_RNDNN);
        mpc_set_ui(moduli.z(), 0, MPC_RNDNN);
    }
    void take(Number number, bool complex_modulus) {
        mpfr_add_d(sum.re(), sum.re(), number.real(), nearest);
        mpfr_add_d(sum.im(), sum.im(), number.imag(), nearest);
        if (complex_modulus) {
            True modulus(exact), size(120);
            mpc_set_d_d(modulus.z(), number.real(), number.imag(), MPC_RNDNN);
            mpc_abs(size.re(), modulus.z(), nearest);
            mpfr_add(moduli.re(), moduli.re(), size.re(), nearest);
        } else {
            mpfr_add_d(moduli.re(), moduli.re(), std::fabs(number.real()), nearest);
            mpfr_add_d(moduli.im(), moduli.im(), std::fabs(number.imag()), nearest);
        }
        ++count;
    }
};

// sum |a - center|^power
void power_sum(mpfr_ptr out, const std::vector<Number> &values, True &center, double power) {
    mpfr_set_zero(out, 1);
    True difference(200), term(120);
    for (const Number value : values) {
        mpfr_d_sub(difference.re(), value.real(), center.re(), nearest);
        mpfr_d_sub(difference.im(), value.imag(), center.im(), nearest);
        mpc_norm(term.re(), difference.z(), nearest);
        if (power != 2 && mpfr_regular_p(term.re())) {
            mpfr_set_d(term.im(), power / 2, nearest);
            mpfr_pow(term.re(), term.re(), term.im(), nearest);
        }
        mpfr_add(out, out, term.re(), nearest);
    }
}

// What the reduction is; `unit`: what its error is measured by.
void truth(const Reduction &reduction, const std::vector<Number> &values, Sums &sums, True &out,
           True &unit) {
    True &sum = sums.sum, &moduli = sums.moduli;
    True center(exact), power(exact);
    mpc_set_ui(center.z(), 0, MPC_RNDNN);
    const auto count = static_cast<unsigned long>(sums.count);
    switch (reduction.function) {
    case ATOLL_FN_sum:
    case ATOLL_FN_cumsum:
        mpc_set(out.z(), sum.z(), MPC_RNDNN);
        mpc_set(unit.z(), moduli.z(), MPC_RNDNN);
        return;
    case ATOLL_FN_sum_abs: mpfr_set(out.re(), moduli.re(), nearest); break;
    case ATOLL_FN_mean:
        mpc_div_ui(out.z(), sum.z(), count, MPC_RNDNN);
        mpc_div_ui(unit.z(), moduli.z(), count, MPC_RNDNN);
        return;
    case ATOLL_FN_var:
    case ATOLL_FN_stddev:
        mpc_div_ui(center.z(), sum.z(), count, MPC_RNDNN);
        power_sum(out.re(), values, center, 2);
        mpfr_div_ui(out.re(), out.re(), count - static_cast<unsigned long>(reduction.x), nearest);
        if (reduction.function == ATOLL_FN_stddev) mpfr_sqrt(out.re(), out.re(), nearest);
        break;
    default:
        power_sum(out.re(), values, center, reduction.x);
        mpfr_set_d(power.re(), reduction.x, nearest);
        mpfr_ui_div(power.re(), 1, power.re(), nearest);
        mpfr_pow(out.re(), out.re(), power.re(), nearest);
    }
    mpfr_set(unit.re(), out.re(), nearest);
}

struct Run {
    std::int32_t status;
    std::vector<Number> results;
};
Run run(const Reduction &reduction, int dtype, const std::vector<Number> &values) {
    const int out_dtype = gives_part(reduction.function) ? dtypes[dtype].part : dtype;
    const bool scan = reduction.function == ATOLL_FN_cumsum;
    const auto size = static_cast<std::size_t>(dtypes[dtype].size);
    const auto out_size = static_cast<std::size_t>(dtypes[out_dtype].size);
    const std::size_t out_count = scan ? values.size() : 1;
    std::vector<char> in(values.size() * size), out(out_count * out_size);
    for (std::size_t k = 0; k < values.size(); ++k) store(dtype, in.data() + k * size, values[k]);
    const std::int64_t count = std::ssize(values), in_stride = dtypes[dtype].size,
                       out_stride = scan ? dtypes[out_dtype].size : 0;
    atoll_operand operands[2] = {};
    operands[0].data = out.data();
    operands[0].strides = &out_stride;
    operands[0].dtype = static_cast<std::uint16_t>(out_dtype);
    operands[1].data = in.data();
    operands[1].strides = &in_stride;
    operands[1].dtype = static_cast<std::uint16_t>(dtype);
    const auto &signature = core_functions[reduction.function].signature;
    std::vector<atoll_scalar> attributes(signature.attribute_count);
    for (std::size_t i = 0; i < attributes.size(); ++i)
        if (signature.attributes[i].type == Atoll::sdk::AttributeType::boolean) {
            attributes[i].dtype = ATOLL_DTYPE_BOOL;
            attributes[i].value.bytes[0] = reduction.skip_nan;
        } else {
            attributes[i].dtype = ATOLL_DTYPE_FLOAT64;
            attributes[i].value.f64[0] = reduction.x;
        }
    Run result;
    result.status = call_kernel(scan ? atoll_kernels_scan : atoll_kernels_reduce,
                                reduction.function, dtype, count, operands, attributes);
    for (std::size_t k = 0; k < out_count; ++k)
        result.results.push_back(load(out_dtype, out.data() + k * out_size));
    return result;
}

void measure_input(const Reduction &reduction, const Input &input, std::int64_t count,
                   Random &random, ReductionFinding &finding) {
    const int dtype = finding.dtype, part = dtypes[dtype].part;
    const bool scan = reduction.function == ATOLL_FN_cumsum;
    const bool modulus = is_complex(dtype) && gives_part(reduction.function);
    // What a 16-bit float holds: sums up to 2^16.
    if (part == ATOLL_DTYPE_FLOAT16) count = std::min<std::int64_t>(count, 300);
    std::vector<Number> values, counted;
    Sums sums;
    for (std::int64_t k = 0; k < count; ++k) {
        Number value(rounded(part, input.draw(random)),
                     is_complex(dtype) ? rounded(part, input.draw(random)) : 0.0);
        if (reduction.skip_nan && random() % 10 == 0) value = {NAN, 0};
        values.push_back(value);
        if (std::isnan(value.real())) continue;
        counted.push_back(value);
        if (!scan) sums.take(value, modulus);
    }
    const Run run = accuracy::run(reduction, dtype, values);
    finding.status = run.status;
    if (run.status != ATOLL_STATUS_OK) return;
    const Format format = format_of(dtype);
    True want(120), unit(120);
    for (std::size_t k = 0; k < run.results.size(); ++k) {
        if (scan) sums.take(values[k], false);
        truth(reduction, counted, sums, want, unit);
        double error =
            distance(format, run.results[k].real(), want.re(), last_place(format, unit.re()));
        if (is_complex(dtype) && !gives_part(reduction.function))
            error = std::max(error, distance(format, run.results[k].imag(), want.im(),
                                             last_place(format, unit.im())));
        if (error <= finding.error) continue;
        finding.error = error;
        finding.input = std::to_string(count) + " values, " + input.name;
    }
}

} // namespace

std::vector<ReductionFinding> measure_reductions(double scale) {
    std::vector<ReductionFinding> findings;
    for (const Reduction &reduction : reductions)
        for (int dtype = ATOLL_DTYPE_FLOAT16; dtype <= ATOLL_DTYPE_COMPLEX128; ++dtype) {
            ReductionFinding finding;
            finding.function = reduction.function;
            finding.dtype = dtype;
            finding.name = reduction.name;
            Random random(static_cast<std::uint64_t>(findings.size()));
            // Long enough for a variance that many runs are joined.
            const bool variance =
                reduction.function == ATOLL_FN_var || reduction.function == ATOLL_FN_stddev;
            for (const Input &input : inputs) {
                if (input.for_variances && !variance) continue;
                for (const std::int64_t count : {2, 9, 100, variance ? 20000 : 3001})
                    for (int time = 0; time < std::max(1.0, 2 * scale); ++time)
                        measure_input(reduction, input, count, random, finding);
            }
            findings.push_back(finding);
        }
    return findings;
}

} // namespace accuracy
