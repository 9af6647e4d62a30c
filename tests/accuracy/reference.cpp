// The true value of every inexact element-wise function: see reference.h.
#include "reference.h"

#include "atoll/core_functions.hpp"

#include <algorithm>

// Beside the functions of MPFR and MPC, so that every name of the list can be asked for.
struct NoSuchFunction {};
#define ATOLL_FUNCTION(id, name, ...)                                                              \
    inline void(mpfr_##name)(NoSuchFunction) {}                                                    \
    inline void(mpc_##name)(NoSuchFunction) {}
#include "atoll/lists/functions.inc"

namespace accuracy {
namespace {

// A function of MPFR or MPC.
Truth by(int (*f)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t), int = 0) {
    return [f](True &out, True &a, True &) { f(out.re(), a.re(), nearest); };
}
Truth by(int (*f)(mpfr_ptr, mpfr_srcptr, mpfr_srcptr, mpfr_rnd_t), int = 0) {
    return [f](True &out, True &a, True &b) { f(out.re(), a.re(), b.re(), nearest); };
}
Truth by(int (*f)(mpc_ptr, mpc_srcptr, mpc_rnd_t), int = 0) {
    return [f](True &out, True &a, True &) { f(out.z(), a.z(), MPC_RNDNN); };
}
Truth by(int (*f)(mpc_ptr, mpc_srcptr, mpc_srcptr, mpc_rnd_t), int = 0) {
    return [f](True &out, True &a, True &b) { f(out.z(), a.z(), b.z(), MPC_RNDNN); };
}
// Where none of them has the name.
Truth by(void (*)(NoSuchFunction), long) { return nullptr; }

// Enough for the exact sum, difference or product of a part with a number near 1.
constexpr mpfr_prec_t exact_sum = 2200;

void abs_real(True &out, True &a, True &) { mpfr_abs(out.re(), a.re(), nearest); }
void abs_complex(True &out, True &a, True &) { mpc_abs(out.re(), a.z(), nearest); }

void lgamma_real(True &out, True &a, True &) {
    int sign;
    mpfr_lgamma(out.re(), &sign, a.re(), nearest);
}
void reciprocal_real(True &out, True &a, True &) { mpfr_ui_div(out.re(), 1, a.re(), nearest); }
void reciprocal_complex(True &out, True &a, True &) { mpc_ui_div(out.z(), 1, a.z(), MPC_RNDNN); }

void angle_real(True &out, True &a, True &) {
    True zero(2);
    mpfr_set_zero(zero.re(), 1);
    mpfr_atan2(out.re(), zero.re(), a.re(), nearest);
}
void angle_complex(True &out, True &a, True &) { mpfr_atan2(out.re(), a.im(), a.re(), nearest); }

void sign_complex(True &out, True &a, True &) {
    True modulus(out.precision() + 32);
    mpc_abs(modulus.re(), a.z(), nearest);
    if (mpfr_zero_p(modulus.re()))
        mpc_set_ui(out.z(), 0, MPC_RNDNN);
    else
        mpc_div_fr(out.z(), a.z(), modulus.re(), MPC_RNDNN);
}

// As NumPy defines them where b is 0 or infinite.
void floor_divide_real(True &out, True &a, True &b) {
    if (mpfr_zero_p(b.re()) || !mpfr_number_p(a.re()) || mpfr_nan_p(b.re())) {
        if (mpfr_zero_p(b.re()))
            mpfr_div(out.re(), a.re(), b.re(), nearest);
        else
            mpfr_set_nan(out.re());
        return;
    }
    // Rounded down, the quotient cannot cross the integer below it, if that is representable.
    True quotient(exact_sum);
    mpfr_div(quotient.re(), a.re(), b.re(), MPFR_RNDD);
    if (mpfr_inf_p(b.re()) && !mpfr_zero_p(a.re()) &&
        (mpfr_signbit(a.re()) != 0) != (mpfr_signbit(b.re()) != 0))
        mpfr_set_si(out.re(), -1, nearest);
    else
        mpfr_rint_floor(out.re(), quotient.re(), nearest);
}
void remainder_real(True &out, True &a, True &b) {
    mpfr_fmod(out.re(), a.re(), b.re(), nearest);
    if (mpfr_nan_p(out.re())) return;
    if (mpfr_zero_p(out.re()))
        mpfr_setsign(out.re(), out.re(), mpfr_signbit(b.re()), nearest);
    else if ((mpfr_signbit(out.re()) != 0) != (mpfr_signbit(b.re()) != 0))
        mpfr_add(out.re(), out.re(), b.re(), nearest);
}
// The integer part of the ROUNDED quotient, which needs the dtype's precision.
template <int digits> void trunc_quotient(True &out, True &a, True &b) {
    True quotient(digits);
    mpfr_div(quotient.re(), a.re(), b.re(), nearest);
    mpfr_rint_trunc(out.re(), quotient.re(), nearest);
}
void trunc_divide_real(True &out, True &a, True &b) {
    if (out.precision() > 64)
        trunc_quotient<53>(out, a, b);
    else
        trunc_quotient<24>(out, a, b);
}

// base^z for a base whose logarithm `constant` computes.
template <auto Constant> void power_of(True &out, True &a, True &) {
    const mpfr_exp_t exponent =
        mpfr_regular_p(a.im()) ? std::max<mpfr_exp_t>(0, mpfr_get_exp(a.im())) : 0;
    True log(out.precision() + 64 + exponent), scaled(out.precision() + 64 + exponent);
    Constant(log.re());
    mpc_mul_fr(scaled.z(), a.z(), log.re(), MPC_RNDNN);
    mpc_exp(out.z(), scaled.z(), MPC_RNDNN);
}
void log_of_2(mpfr_ptr out) { mpfr_const_log2(out, nearest); }
void log_of_10(mpfr_ptr out) {
    mpfr_set_ui(out, 10, nearest);
    mpfr_log(out, out, nearest);
}
void log2_complex(True &out, True &a, True &) {
    True log(out.precision() + 32), base(out.precision() + 32);
    mpc_log(log.z(), a.z(), MPC_RNDNN);
    log_of_2(base.re());
    mpc_div_fr(out.z(), log.z(), base.re(), MPC_RNDNN);
}
// log(|1 + z|^2) / 2 with |1 + z|^2 - 1 = x (2 + x) + y^2 exactly: MPC's log misjudges its error
// where |1 + z| is very near 1.
void log1p_complex(True &out, True &a, True &) {
    True sum(exact_sum), squares(2 * exact_sum);
    mpfr_add_ui(sum.re(), a.re(), 2, nearest);
    mpfr_mul(squares.re(), a.re(), sum.re(), nearest);
    mpfr_sqr(squares.im(), a.im(), nearest);
    mpfr_add(squares.re(), squares.re(), squares.im(), nearest);
    mpfr_sub_ui(sum.re(), sum.re(), 1, nearest);
    mpfr_log1p(out.re(), squares.re(), nearest);
    mpfr_div_ui(out.re(), out.re(), 2, nearest);
    mpfr_atan2(out.im(), a.im(), sum.re(), nearest);
}
// tan(x + iy) = (sin x cos x + i sinh y cosh y) / (cos(x)^2 + sinh(y)^2), where nothing cancels;
// MPC needs too long where y is large.
void tangent(mpfr_ptr out_re, mpfr_ptr out_im, mpfr_srcptr x, mpfr_srcptr y) {
    const mpfr_prec_t precision = mpfr_get_prec(out_re) + 32;
    True circular(precision), hyperbolic(precision), squares(precision);
    // Beyond, the parts are 0 and 1 in every dtype.
    if (mpfr_cmpabs_ui(y, 100'000) > 0)
        mpfr_set_si(squares.im(), mpfr_signbit(y) ? -100'000 : 100'000, nearest);
    else
        mpfr_set(squares.im(), y, nearest);
    mpfr_sin_cos(circular.im(), circular.re(), x, nearest);
    mpfr_sinh_cosh(hyperbolic.im(), hyperbolic.re(), squares.im(), nearest);
    mpfr_sqr(squares.re(), circular.re(), nearest);
    mpfr_sqr(squares.im(), hyperbolic.im(), nearest);
    mpfr_add(squares.re(), squares.re(), squares.im(), nearest);
    mpfr_mul(circular.re(), circular.re(), circular.im(), nearest);
    mpfr_mul(hyperbolic.re(), hyperbolic.re(), hyperbolic.im(), nearest);
    mpfr_div(out_re, circular.re(), squares.re(), nearest);
    mpfr_div(out_im, hyperbolic.re(), squares.re(), nearest);
}
void tan_complex(True &out, True &a, True &) { tangent(out.re(), out.im(), a.re(), a.im()); }
void tanh_complex(True &out, True &a, True &) { tangent(out.im(), out.re(), a.im(), a.re()); }

// expm1(x) cos(y) - 2 sin(y/2)^2 + i exp(x) sin(y), with more digits until nothing cancels.
void expm1_complex(True &out, True &a, True &) {
    for (mpfr_prec_t precision = 2 * out.precision();; precision *= 2) {
        True exp(precision), trigonometric(precision), half(precision), result(precision);
        mpfr_sin_cos(trigonometric.im(), trigonometric.re(), a.im(), nearest);
        mpfr_expm1(exp.re(), a.re(), nearest);
        mpfr_exp(exp.im(), a.re(), nearest);
        mpfr_div_ui(half.re(), a.im(), 2, nearest);
        mpfr_sin(half.re(), half.re(), nearest);
        mpfr_sqr(half.re(), half.re(), nearest);
        mpfr_mul_ui(half.re(), half.re(), 2, nearest);
        mpfr_mul(result.re(), exp.re(), trigonometric.re(), nearest);
        const mpfr_exp_t before =
            mpfr_regular_p(half.re()) ? mpfr_get_exp(half.re()) : mpfr_get_emin();
        mpfr_sub(result.re(), result.re(), half.re(), nearest);
        if (mpfr_zero_p(a.im())) // e^x may be infinite
            mpfr_set(result.im(), a.im(), nearest);
        else
            mpfr_mul(result.im(), exp.im(), trigonometric.im(), nearest);
        mpc_set(out.z(), result.z(), MPC_RNDNN);
        const bool cancelled =
            mpfr_regular_p(result.re())
                ? before - mpfr_get_exp(result.re()) > precision - out.precision() - 16
                : mpfr_zero_p(result.re()) && mpfr_regular_p(half.re());
        if (!cancelled) return;
    }
}

// What MPFR and MPC lack or have under another name, and what does not follow rule FLOAT. A null
// beside another entry: by name.
const Reference own[] = {
    {ATOLL_FN_add, by(mpfr_add), by(mpc_add)},
    {ATOLL_FN_subtract, by(mpfr_sub), by(mpc_sub)},
    {ATOLL_FN_multiply, by(mpfr_mul), by(mpc_mul)},
    {ATOLL_FN_divide, by(mpfr_div), by(mpc_div)},
    {ATOLL_FN_floor_divide, floor_divide_real, nullptr},
    {ATOLL_FN_remainder, remainder_real, nullptr},
    {ATOLL_FN_fmod, by(mpfr_fmod), nullptr},
    {ATOLL_FN_trunc_divide, trunc_divide_real, nullptr},
    {ATOLL_FN_pow, by(mpfr_pow), by(mpc_pow)},
    {ATOLL_FN_abs, abs_real, abs_complex},
    {ATOLL_FN_square, by(mpfr_sqr), by(mpc_sqr)},
    {ATOLL_FN_sign, nullptr, sign_complex},
    {ATOLL_FN_angle, angle_real, angle_complex},
    {ATOLL_FN_reciprocal, reciprocal_real, reciprocal_complex},
    {ATOLL_FN_exp2, nullptr, power_of<log_of_2>},
    {ATOLL_FN_exp10, nullptr, power_of<log_of_10>},
    {ATOLL_FN_expm1, nullptr, expm1_complex},
    {ATOLL_FN_log2, nullptr, log2_complex},
    {ATOLL_FN_log1p, nullptr, log1p_complex},
    {ATOLL_FN_tan, nullptr, tan_complex},
    {ATOLL_FN_tanh, nullptr, tanh_complex},
    {ATOLL_FN_tgamma, by(mpfr_gamma), nullptr},
    {ATOLL_FN_lgamma, lgamma_real, nullptr},
};

// Every function that rounds (rule FLOAT), by name or by its entry; the others that have an entry.
std::vector<Reference> all_references() {
    std::vector<Reference> all = {
#define ATOLL_FUNCTION(id, name, ...) {id, by(&mpfr_##name, 0), by(&mpc_##name, 0)},
#include "atoll/lists/functions.inc"
    };
    for (Reference &reference : all) {
        const auto &line = Atoll::sdk::core_functions[reference.function];
        if (!line.signature.elementwise() || line.rule != ATOLL_RULE_FLOAT)
            reference.real = reference.complex = nullptr;
    }
    for (const Reference &entry : own) {
        Reference &reference = all[static_cast<std::size_t>(entry.function)];
        if (entry.real) reference.real = entry.real;
        if (entry.complex) reference.complex = entry.complex;
    }
    return all;
}

} // namespace

const Reference *find_reference(int function) {
    static const std::vector<Reference> references = all_references();
    const Reference &reference = references[static_cast<std::size_t>(function)];
    return reference.real || reference.complex ? &reference : nullptr;
}

} // namespace accuracy
