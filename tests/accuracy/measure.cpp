// Runs one kernel over many arguments and finds its largest errors.
#include "measure.h"

#include "atoll/core_functions.hpp"
#include "entries.h"
#include "reference.h"

#include <algorithm>
#include <cstdio>

namespace accuracy {
namespace {

using Atoll::sdk::core_functions;

bool is_sixteen_bit(int dtype) {
    return dtypes[dtype].part == ATOLL_DTYPE_FLOAT16 || dtypes[dtype].part == ATOLL_DTYPE_BFLOAT16;
}
bool is_finite(Number number) {
    return std::isfinite(number.real()) && std::isfinite(number.imag());
}
bool is_binary(int function) { return core_functions[function].signature.input_count() == 2; }

// Complex numbers only.
bool is_measured(int function, const Arguments &arguments) {
    // Infinities and NaN: tests/kernels/test_special_values.cpp.
    if (!is_finite(arguments.a) || !is_finite(arguments.b)) return false;
    switch (function) {
    // No matter of rounding.
    case ATOLL_FN_reciprocal:
    case ATOLL_FN_pow: return arguments.a != 0.0;
    // The angle is the imaginary part times the base's logarithm, of which 113 bits are known.
    case ATOLL_FN_exp2:
    case ATOLL_FN_exp10: return std::fabs(arguments.a.imag()) < 0x1p50;
    default: return true;
    }
}

Samples choose(int function, int dtype, double scale, Random &random) {
    const auto times = [&](int count) { return static_cast<std::int64_t>(count * scale) + 1; };
    if (is_complex(dtype)) {
        Samples samples = is_binary(function) ? binary_samples(function, dtype, times(3000), random)
                                              : unary_samples(function, dtype, times(3000), random);
        samples.erase(std::remove_if(samples.begin(), samples.end(),
                                     [=](const Arguments &arguments) {
                                         return !is_measured(function, arguments);
                                     }),
                      samples.end());
        return samples;
    }
    if (is_binary(function)) return binary_samples(function, dtype, times(20'000), random);
    if (is_sixteen_bit(dtype)) return all_patterns(dtype, 1, random);
    Samples samples = unary_samples(function, dtype, times(20'000), random);
    if (dtype == ATOLL_DTYPE_FLOAT32) {
        const double count = std::min(200e3 * scale, 0x1p32);
        const Samples stratified =
            all_patterns(dtype, static_cast<std::uint64_t>(0x1p32 / count), random);
        samples.insert(samples.end(), stratified.begin(), stratified.end());
    }
    return samples;
}

bool same(double a, double b) {
    return std::isnan(a) ? std::isnan(b) : a == b && std::signbit(a) == std::signbit(b);
}

bool same(Number a, Number b) { return same(a.real(), b.real()) && same(a.imag(), b.imag()); }

// Vectors of another alignment and the loop's last elements must give the same.
void compare_with_neighbours(Finding &finding, const Samples &samples,
                             const std::vector<Number> &results) {
    for (const std::size_t less : {1, 3}) {
        const auto first = samples.begin() + static_cast<std::ptrdiff_t>(less);
        const Samples rest(first, samples.end() - 4);
        std::vector<Number> again;
        run_kernel(finding.function, finding.dtype, rest, again);
        for (std::size_t k = 0; k < rest.size(); ++k)
            if (!same(again[k], results[k + less]) && finding.moved++ == 0)
                finding.first_moved = {INFINITY, rest[k], again[k], results[k + less]};
    }
}

// The 16-bit kernels promise the float32 result, rounded once.
void compare_with_wider(Finding &finding, const Samples &samples, int result_dtype,
                        const std::vector<Number> &results) {
    const int wider = is_complex(finding.dtype) ? ATOLL_DTYPE_COMPLEX64 : ATOLL_DTYPE_FLOAT32;
    std::vector<Number> wide;
    if (run_kernel(finding.function, wider, samples, wide) != ATOLL_STATUS_OK) return;
    for (std::size_t k = 0; k < samples.size(); ++k) {
        const int part = dtypes[result_dtype].part;
        const Number expected(rounded(part, wide[k].real()), rounded(part, wide[k].imag()));
        if (same(results[k], expected)) continue;
        if (finding.unlike++ == 0)
            finding.first_unlike = {INFINITY, samples[k], results[k], expected};
    }
}

} // namespace

const Worst &Finding::worst() const { return gives_complex(function, dtype) ? norm : part; }

std::string function_name(int function) { return core_functions[function].name; }
bool has_dtype(int function, int dtype) { return core_functions[function].domain >> dtype & 1; }
bool gives_complex(int function, int dtype) {
    return is_complex(dtype) &&
           core_functions[function].signature.operands[0].type == Atoll::sdk::TypeOf::T;
}

std::int32_t call_kernel(std::int32_t (*kernel)(const atoll_call *), int function, int dtype,
                         std::int64_t count, atoll_operand *operands,
                         std::vector<atoll_scalar> attributes) {
    atoll_call call{};
    call.function = static_cast<std::uint16_t>(function);
    call.dtype = static_cast<std::uint16_t>(dtype);
    call.rank = 1;
    call.core = core_functions[function].signature.slot_count;
    call.shape = &count;
    call.operands = operands;
    call.attributes = attributes.data();
    call.attribute_count = static_cast<std::uint16_t>(attributes.size());
    return kernel(&call);
}

std::int32_t run_kernel(int function, int dtype, const Samples &samples,
                        std::vector<Number> &results) {
    const int out_dtype = gives_complex(function, dtype) ? dtype : dtypes[dtype].part;
    const auto size = static_cast<std::size_t>(dtypes[dtype].size);
    const auto out_size = static_cast<std::size_t>(dtypes[out_dtype].size);
    std::vector<char> memory[3];
    memory[0].resize(samples.size() * out_size);
    for (int k = 1; k < 3; ++k) memory[k].resize(samples.size() * size);
    for (std::size_t k = 0; k < samples.size(); ++k) {
        store(dtype, memory[1].data() + k * size, samples[k].a);
        store(dtype, memory[2].data() + k * size, samples[k].b);
    }
    const std::int64_t strides[] = {dtypes[out_dtype].size, dtypes[dtype].size};
    atoll_operand operands[3] = {};
    for (int k = 0; k < 3; ++k) {
        operands[k].data = memory[k].data();
        operands[k].strides = strides + (k > 0);
        operands[k].dtype = static_cast<std::uint16_t>(k == 0 ? out_dtype : dtype);
    }
    const std::int32_t status =
        call_kernel(is_binary(function) ? atoll_kernels_binary : atoll_kernels_unary, function,
                    dtype, std::ssize(samples), operands);
    results.resize(samples.size());
    for (std::size_t k = 0; k < samples.size(); ++k)
        results[k] = load(out_dtype, memory[0].data() + k * out_size);
    return status;
}

Finding measure(int function, int dtype, double scale) {
    Finding finding;
    finding.function = function;
    finding.dtype = dtype;
    const Reference &reference = *find_reference(function);
    const auto truth = is_complex(dtype) ? reference.complex : reference.real;
    if (!truth) return finding; // exact with this dtype
    Random random(static_cast<std::uint64_t>(function * ATOLL_DTYPE_COUNT + dtype));
    const Samples samples = choose(function, dtype, scale, random);
    std::vector<Number> results;
    finding.status = run_kernel(function, dtype, samples, results);
    if (finding.status != ATOLL_STATUS_OK) return finding;
    finding.samples = std::ssize(samples);

    const bool complex = gives_complex(function, dtype);
    // Products and quotients of complex numbers have zeros of whatever sign the formula gives.
    const bool signed_zeros = !complex || (!is_binary(function) && function != ATOLL_FN_square &&
                                           function != ATOLL_FN_reciprocal);
    const int result_dtype = complex ? dtype : dtypes[dtype].part;
    const Format format = format_of(dtype);
    True a(53), b(53), want(format.digits > 24 && !is_complex(dtype) ? 120 : 64);
    mpc_set_ui(want.z(), 0, MPC_RNDNN);
    for (std::size_t k = 0; k < samples.size(); ++k) {
        const auto set = [](True &to, Number from) {
            mpc_set_d_d(to.z(), from.real(), from.imag(), MPC_RNDNN);
            // MPFR leaves it open for NaN.
            mpfr_setsign(to.re(), to.re(), std::signbit(from.real()), MPFR_RNDN);
        };
        set(a, samples[k].a);
        set(b, samples[k].b);
        truth(want, a, b);
        const double got[] = {results[k].real(), results[k].imag()};
        mpfr_srcptr wanted[] = {want.re(), want.im()};
        const long place[] = {last_place(format, wanted[0]), last_place(format, wanted[1])};
        const Number nearby(mpfr_get_d(wanted[0], MPFR_RNDN),
                            complex ? mpfr_get_d(wanted[1], MPFR_RNDN) : 0.0);
        bool wrong = false;
        for (int part = 0; part < (complex ? 2 : 1); ++part) {
            const double error = distance(format, got[part], wanted[part], place[part]);
            wrong = wrong || std::isinf(error) ||
                    (signed_zeros && !sign_agrees(got[part], wanted[part]));
            if (std::isinf(error)) continue;
            finding.part.take(error, samples[k], results[k], nearby);
            if (complex)
                finding.norm.take(
                    distance(format, got[part], wanted[part], std::max(place[0], place[1])),
                    samples[k], results[k], nearby);
        }
        if (wrong && finding.wrong++ == 0)
            finding.first_wrong = {INFINITY, samples[k], results[k], nearby};
    }
    compare_with_neighbours(finding, samples, results);
    if (is_sixteen_bit(dtype)) compare_with_wider(finding, samples, result_dtype, results);
    return finding;
}

std::string text(int dtype, Number number) {
    const int digits = dtypes[dtypes[dtype].part].size == 8   ? 17
                       : dtypes[dtypes[dtype].part].size == 4 ? 9
                                                              : 5;
    char buffer[80];
    if (is_complex(dtype))
        std::snprintf(buffer, sizeof buffer, "(%.*g, %.*g)", digits, number.real(), digits,
                      number.imag());
    else
        std::snprintf(buffer, sizeof buffer, "%.*g", digits, number.real());
    return buffer;
}
std::string text(int function, int dtype, const Arguments &arguments) {
    const std::string first = text(dtype, arguments.a);
    return is_binary(function) ? first + ", " + text(dtype, arguments.b) : first;
}

} // namespace accuracy
