// The true value of every inexact element-wise function, by MPFR and MPC.
#pragma once

#include "formats.h"

#include <functional>
#include <mpc.h>

namespace accuracy {

inline constexpr mpfr_rnd_t nearest = MPFR_RNDN;

// Owns what mpc_t needs. Precise enough that its own error is below 2^-40 of a float's last place
// and 2^-60 of a double's.
class True {
public:
    explicit True(mpfr_prec_t precision) { mpc_init2(value, precision); }
    ~True() { mpc_clear(value); }
    True(const True &) = delete;
    True &operator=(const True &) = delete;

    mpc_ptr z() { return value; }
    mpfr_ptr re() { return mpc_realref(value); }
    mpfr_ptr im() { return mpc_imagref(value); }
    mpfr_prec_t precision() const { return mpfr_get_prec(mpc_realref(value)); }

private:
    mpc_t value;
};

// b is +0 for unary functions. The precision of the results is that of `out`; functions to reals
// write the real part only.
using Truth = std::function<void(True &out, True &a, True &b)>;

struct Reference {
    int function;
    Truth real, complex; // empty where the function has no such dtypes
};

// NULL for the others, which are exact.
const Reference *find_reference(int function);

} // namespace accuracy
