"""What every function should give, by NumPy: its function of the same name, or the entry here.

Where NumPy 1.24 and Atoll part ways, Atoll's rule is what stands here:
 - comparisons go by true values: NumPy compares int64 with uint64 and with floats in float64. Done
   with Python's numbers, which compare exactly.
 - ceil, floor, trunc, round keep the dtype of bool and integers: NumPy 1 makes floats of them.
 - sign of a complex number is z / |z|, as in NumPy 2; NumPy 1 gives the real part's sign.
 - minimum … fmax: which of -0 and +0 comes back is defined; NumPy's vector loops differ there.
 - sort, searchsorted: a complex number with a NaN part is simply NaN; equals keep their order.
 - 0 to a complex power with a positive real part is 0; NumPy 1 wants the imaginary part 0.
 - isposinf, isneginf, bool and integers included; exp10, trunc_divide, erf, erfc, tgamma, lgamma and
   stable descending sorts:
   NumPy has none.
 - floor_divide of floats: the whole number below the exact quotient; NumPy rounds three times.
 - complex quotients: Smith's method with divisions throughout; NumPy multiplies by a reciprocal.
 - NumPy's own complex functions lose digits, and overflow early: all functions that round are
   computed in long double and rounded once.
"""
import ctypes
import ctypes.util
import re
from fractions import Fraction

import numpy as np

from special_values import join, kind, part

# Bits of an element's mask: what is not compared there.
SIGNS = 1  # signs of zeros and infinities (C99 leaves them open, or nobody defines them)
ANYTHING = 2  # the whole element
LONG, CLONG = np.longdouble, np.clongdouble


class Expected:
    """A result, its error bound in units of the last place (0: bit by bit), and a mask.

    by_modulus: the unit is that of the larger part of a complex number."""

    def __init__(self, value, ulps=0.0, mask=None, by_modulus=False):
        self.value, self.ulps, self.mask, self.by_modulus = value, ulps, mask, by_modulus


def wide(x):
    return x.astype(CLONG if kind(x.dtype) == "c" else LONG)


def working(x):
    """Halves are computed in float32 and rounded at the end."""
    return x.astype(np.float32) if x.dtype == np.float16 else x


def nonfinite(x):
    return ~np.isfinite(x)


# --- one operand ------------------------------------------------------------------------------


def exactly(function):
    return lambda x: Expected(function(working(x)).astype(x.dtype))


def is_integral(x):
    return kind(x.dtype) in "biu"


def to_integer(function):
    """ceil and its brothers."""
    def apply(x):
        if is_integral(x):
            return Expected(x)
        if kind(x.dtype) == "c":
            return Expected(join(function(x.real), function(x.imag), x.dtype))
        return exactly(function)(x)
    return apply


def sign(x):
    if kind(x.dtype) != "c":
        return exactly(np.sign)(x)
    w = wide(x)
    with np.errstate(all="ignore"):
        modulus = np.hypot(w.real, w.imag)
        re, im = w.real / modulus, w.imag / modulus
    zero = x == 0
    re, im = np.where(zero, 0, re), np.where(zero, 0, im)
    inf_re, inf_im = np.isinf(x.real), np.isinf(x.imag)
    nan = np.isnan(x.real) | np.isnan(x.imag) | (inf_re & inf_im)
    one = inf_re ^ inf_im
    re = np.where(one, np.copysign(np.where(inf_re, 1, 0), x.real), re)
    im = np.where(one, np.copysign(np.where(inf_im, 1, 0), x.imag), im)
    re, im = np.where(nan, np.nan, re), np.where(nan, np.nan, im)
    return Expected(join(re, im, x.dtype), 3, np.where(zero, SIGNS, 0))


def angle(x):
    if kind(x.dtype) == "c":
        w = wide(x)
        return Expected(np.arctan2(w.imag, w.real).astype(part(x.dtype)), 2)
    value = np.where(np.isnan(x), x, np.where(np.signbit(x), LONG("3.14159265358979323846"), 0))
    return Expected(value.astype(x.dtype), 1)


def plain_multiply(a, b):
    if kind(a.dtype) != "c":
        return (working(a) * working(b)).astype(a.dtype)
    return join(a.real * b.real - a.imag * b.imag, a.real * b.imag + a.imag * b.real, a.dtype)


def smith(a, b):
    ar, ai, br, bi = a.real, a.imag, b.real, b.imag
    real_larger = abs(br) >= abs(bi)
    ratio = np.where(real_larger, bi / br, br / bi)
    scale = np.where(real_larger, br + bi * ratio, br * ratio + bi)
    re = np.where(real_larger, ar + ai * ratio, ar * ratio + ai) / scale
    im = np.where(real_larger, ai - ar * ratio, ai * ratio - ar) / scale
    zero = b == 0
    re, im = np.where(zero, ar / abs(br), re), np.where(zero, ai / abs(br), im)
    return join(re, im, np.result_type(a, b))


def same_specials(x, y):
    """Equal, or NaN in the same parts."""
    def parts(p, q):
        return (p == q) | (np.isnan(p) & np.isnan(q))
    return parts(x.real, y.real) & parts(x.imag, y.imag)


def divide(a, b):
    if kind(a.dtype) != "c":
        return Expected((working(a) / working(b)).astype(a.dtype))
    precise = smith(wide(a), wide(b))
    plain, exact = smith(a, b), precise.astype(a.dtype)
    specials = nonfinite(a) | nonfinite(b) | (b == 0)
    size = np.maximum(abs(exact.real), abs(exact.imag))
    info = np.finfo(a.dtype)
    error = np.maximum(abs(plain.real - exact.real), abs(plain.imag - exact.imag))
    close = error <= 4 * np.maximum(size * float(info.eps), float(info.smallest_subnormal))
    # Where the method overflows or underflows on the way in the dtype itself, any answer goes.
    close = np.where(specials, same_specials(plain, exact), close & np.isfinite(exact))
    mask = np.where(close, np.where(specials, SIGNS, 0), ANYTHING)
    # A term that underflows takes its sign along.
    for p, e, w in ((plain.real, exact.real, precise.real), (plain.imag, exact.imag, precise.imag)):
        mask |= np.where((np.signbit(p) != np.signbit(e)) | ((e == 0) & (w != 0)), SIGNS, 0)
    return Expected(np.where(specials, plain, exact), 4, mask, by_modulus=True)


def too_far(turn, dtype):
    """Whether an angle is so large that long double no longer knows it well."""
    return np.isfinite(turn) & (abs(turn) > (2**24 if dtype == np.complex64 else 2**11))


def complex_exp(base_log, real_power):
    """base ** z for a real base."""
    def apply(z):
        turn = z.imag * base_log
        size = real_power(z.real)
        finite = join(size * np.cos(turn), size * np.sin(turn), CLONG)
        finite.imag[z.imag == 0] = z.imag[z.imag == 0]
        # e^710 overflows where sin of the turn is tiny: never in long double's range.
        return np.where(np.isfinite(z), finite, np.exp(join(z.real * base_log, turn, CLONG)))
    return apply


def complex_expm1(z):
    half = np.sin(z.imag / 2)
    re = np.expm1(z.real) * np.cos(z.imag) - 2 * half * half
    im = np.where(z.imag == 0, z.imag, np.exp(z.real) * np.sin(z.imag))
    e = np.exp(z)
    return np.where(np.isfinite(z), join(re, im, CLONG), join(e.real - 1, e.imag, CLONG))


def complex_log1p(z):
    near = np.log1p(z.real * (2 + z.real) + z.imag * z.imag) / 2
    log = np.log(join(1 + z.real, z.imag, CLONG))
    small = (abs(z.real) < 0.5) & (abs(z.imag) < 0.5)
    return join(np.where(small, near, log.real), log.imag, CLONG)


def scaled_log(base_log):
    def apply(z):
        log = np.log(z)
        return join(log.real / base_log, log.imag / base_log, CLONG)
    return apply


LN2, LN10 = np.log(LONG(2)), np.log(LONG(10))
COMPLEX_FORMS = {
    "exp2": complex_exp(LN2, np.exp2),
    "exp10": complex_exp(LN10, lambda x: np.power(LONG(10), x)),
    "expm1": complex_expm1,
    "log2": scaled_log(LN2),
    "log10": scaled_log(LN10),
    "log1p": complex_log1p,
}
# Functions that take a sine of this part, and so know no sign where it is infinite.
TURNS_BY_IMAG = {"exp", "exp2", "exp10", "expm1", "sinh", "cosh", "tanh"}
TURNS_BY_REAL = {"sin", "cos", "tan"}


def rounded(name, function):
    """Computed in long double; C99 Annex G for complex numbers."""
    def apply(x, *more):
        if kind(x.dtype) != "c":
            return Expected(function(wide(x), *map(wide, more)).astype(x.dtype),
                            1 if x.dtype == np.float16 else 2)
        value = COMPLEX_FORMS.get(name, function)(wide(x)).astype(x.dtype)
        free = np.isnan(x.real) | np.isnan(x.imag)
        if name in TURNS_BY_IMAG:
            free |= np.isinf(x.imag)
        if name in TURNS_BY_REAL:
            free |= np.isinf(x.real)
        if name in ("log1p", "expm1"):  # 1 + z, e^z - 1: a zero there has any sign
            free |= (x == 0) | (value.real == 0)
        mask = np.where(free, SIGNS, 0)
        if name in ("exp2", "exp10"):
            turn = wide(x).imag * (LN2 if name == "exp2" else LN10)
            mask = np.where(too_far(turn, x.dtype), ANYTHING, mask)
        return Expected(value, 4, mask)
    return apply


def by_c(name):
    """The C library's in long double; MPFR judges it in tests/accuracy."""
    function = getattr(ctypes.CDLL(ctypes.util.find_library("m")), name)
    function.argtypes, function.restype = [ctypes.c_longdouble], ctypes.c_longdouble
    return lambda x: Expected(np.vectorize(function, otypes=[float])(x.astype(float)).astype(x.dtype),
                              1 if x.dtype == np.float16 else 2)


def part_test(function, join_parts=np.logical_or):
    def apply(x):
        if is_integral(x):
            return Expected(np.full(x.shape, function(np.float64(0))))
        if kind(x.dtype) == "c":
            return Expected(join_parts(function(x.real), function(x.imag)))
        return Expected(function(x))
    return apply


def absolute(x):
    if kind(x.dtype) != "c":
        return Expected(np.abs(x))
    w = wide(x)
    return Expected(np.hypot(w.real, w.imag).astype(part(x.dtype)), 1)


def conj(x):
    return Expected(join(x.real, -x.imag, x.dtype) if kind(x.dtype) == "c" else x)


def negative(x):
    return Expected(join(-x.real, -x.imag, x.dtype) if kind(x.dtype) == "c" else -x)


def square(x):
    return Expected(x if x.dtype == bool else plain_multiply(x, x))


def sqrt(x):
    if kind(x.dtype) != "c":
        return exactly(np.sqrt)(x)
    free = np.isnan(x.real) | np.isnan(x.imag)
    return Expected(np.sqrt(wide(x)).astype(x.dtype), 3, np.where(free, SIGNS, 0))


UNARY = {
    "negative": negative,
    "abs": absolute,
    "sqrt": sqrt,
    "square": square,
    "conj": conj,
    "sign": sign,
    "angle": angle,
    "reciprocal": lambda x: divide(np.ones_like(x), x),
    "exp10": rounded("exp10", lambda x: np.power(LONG(10), x)),
    "erf": by_c("erfl"),
    "erfc": by_c("erfcl"),
    "tgamma": by_c("tgammal"),
    "lgamma": by_c("lgammal"),
    "ceil": to_integer(np.ceil),
    "floor": to_integer(np.floor),
    "trunc": to_integer(np.trunc),
    "round": to_integer(np.rint),
    "isnan": part_test(np.isnan),
    "isinf": part_test(np.isinf),
    "isfinite": part_test(np.isfinite, np.logical_and),
    "isposinf": part_test(lambda x: x == np.inf),
    "isneginf": part_test(lambda x: x == -np.inf),
    "bitwise_not": lambda x: Expected(np.invert(x)),
    "logical_not": lambda x: Expected(x == 0),
}

# --- two operands, of the compute dtype --------------------------------------------------------


def in_working(function):
    return lambda a, b: Expected(function(working(a), working(b)).astype(a.dtype))


def by_python(function):
    """Integers of any size, then wrapped."""
    def apply(a, b):
        bits = 8 * a.dtype.itemsize
        values = [function(x, y) & (1 << bits) - 1 for x, y in zip(a.ravel().tolist(),
                                                                  b.ravel().tolist())]
        return np.array(values, f"uint{bits}").view(a.dtype).reshape(a.shape)
    return apply


def quotient_towards_zero(x, y):
    if y == 0:
        return 0
    return abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)


def fmod(a, b):
    if is_integral(a):
        return Expected(by_python(
            lambda x, y: 0 if y == 0 else x - y * quotient_towards_zero(x, y))(a, b))
    return in_working(np.fmod)(a, b)


def trunc_divide(a, b):
    if is_integral(a):
        return Expected(by_python(quotient_towards_zero)(a, b))
    return in_working(lambda x, y: np.trunc(x / y))(a, b)


def floor_divide(a, b):
    if is_integral(a):
        return Expected(by_python(lambda x, y: 0 if y == 0 else x // y)(a, b))

    def exact(x, y):
        x, y = np.broadcast_arrays(x, y)
        result = np.floor_divide(x, y)
        known = np.isfinite(x) & np.isfinite(y) & (y != 0) & np.isfinite(result) & (result != 0)
        pairs = zip(x[known].tolist(), y[known].tolist())
        result[known] = [Fraction(p) // Fraction(q) for p, q in pairs]
        return result
    return in_working(exact)(a, b)


def remainder(a, b):
    if is_integral(a):
        return Expected(by_python(lambda x, y: 0 if y == 0 else x % y)(a, b))
    return in_working(np.remainder)(a, b)


def power(a, b):
    if is_integral(a):
        bits = 8 * a.dtype.itemsize
        return Expected(by_python(lambda x, y: pow(x, y, 1 << bits))(a, b))
    if kind(a.dtype) == "f":
        value = np.power(wide(a), wide(b))
        # powl of -inf to the power -2^63 is wrong in glibc; infinities and zeros need no digits.
        exact = nonfinite(a) | nonfinite(b) | (a == 0)
        value = np.where(exact, np.power(a.astype(float), b.astype(float)), value)
        return Expected(value.astype(a.dtype), 1 if a.dtype == np.float16 else 2)
    value = np.power(wide(a), wide(b))
    value = np.where((a == 0) & (b.real > 0), CLONG(0), value)
    value = np.where(b == 0, CLONG(1), value).astype(a.dtype)
    # Nobody defines infinities here, nor 0 to a power that is not positive (but 0 is).
    logarithm, exponent = np.log(wide(a)), wide(b)
    turn = exponent.real * logarithm.imag + exponent.imag * logarithm.real
    undefined = nonfinite(a) | nonfinite(b) | nonfinite(value) | ((a == 0) & (b.real <= 0))
    undefined |= too_far(turn, a.dtype)
    size = np.maximum(abs(value.real), abs(value.imag))
    info = np.finfo(a.dtype)
    undefined |= (size > float(info.max) / 16) | (size < float(info.smallest_normal) * 16)
    undefined = undefined & (b != 0) & ~((a == 0) & (b.real > 0) & np.isfinite(b))
    # The error of exp grows with its argument.
    return Expected(value, 8, np.where(undefined, ANYTHING, SIGNS), by_modulus=True)


def select(test):
    """minimum … fmax: a where test(a, b), else b."""
    return lambda a, b: Expected(np.where(test(a, b), a, b))


def compared(test):
    """By true value; operands of their own dtypes."""
    def apply(a, b):
        values = [test(x, y) for x, y in zip(a.ravel().tolist(), b.ravel().tolist())]
        return Expected(np.array(values, bool).reshape(a.shape))
    return apply


def same_number(x, y):
    x_re, x_im = (x.real, x.imag) if isinstance(x, complex) else (x, 0)
    y_re, y_im = (y.real, y.imag) if isinstance(y, complex) else (y, 0)
    return x_re == y_re and x_im == y_im


COMPARISONS = {
    "equal": compared(same_number),
    "not_equal": compared(lambda x, y: not same_number(x, y)),
    "less": compared(lambda x, y: x < y),
    "less_equal": compared(lambda x, y: x <= y),
    "greater": compared(lambda x, y: x > y),
    "greater_equal": compared(lambda x, y: x >= y),
    "logical_and": lambda a, b: Expected((a != 0) & (b != 0)),
    "logical_or": lambda a, b: Expected((a != 0) | (b != 0)),
    "logical_xor": lambda a, b: Expected((a != 0) ^ (b != 0)),
}


def add(a, b):
    if kind(a.dtype) == "c":
        return Expected(join(a.real + b.real, a.imag + b.imag, a.dtype))
    return in_working(np.add)(a, b)


def subtract(a, b):
    if kind(a.dtype) == "c":
        return Expected(join(a.real - b.real, a.imag - b.imag, a.dtype))
    return in_working(np.subtract)(a, b)


BINARY = {
    "add": add,
    "subtract": subtract,
    "multiply": lambda a, b: Expected(plain_multiply(a, b)),
    "divide": divide,
    "floor_divide": floor_divide,
    "remainder": remainder,
    "fmod": fmod,
    "trunc_divide": trunc_divide,
    "pow": power,
    "bitwise_and": lambda a, b: Expected(a & b),
    "bitwise_or": lambda a, b: Expected(a | b),
    "bitwise_xor": lambda a, b: Expected(a ^ b),
    "left_shift": lambda a, b: Expected(np.left_shift(a, b)),
    "right_shift": lambda a, b: Expected(np.right_shift(a, b)),
    "minimum": select(lambda a, b: (a <= b) | (a != a)),
    "maximum": select(lambda a, b: (a >= b) | (a != a)),
    "fmin": select(lambda a, b: (a <= b) | (b != b)),
    "fmax": select(lambda a, b: (a >= b) | (b != b)),
}

# --- along an axis -----------------------------------------------------------------------------


def order_key(x):
    """Sorts as Atoll does: NaN (of either part) last, -0 beside +0."""
    if isinstance(x, complex):
        return (x.real != x.real or x.imag != x.imag, x.real, x.imag) if x == x else (True, 0, 0)
    return (x != x, x if x == x else 0)


def argsort_vector(v, descending):
    values = v.tolist()
    keys = [order_key(x) for x in values]
    numbers = [i for i in range(len(values)) if not keys[i][0]]
    nans = [i for i in range(len(values)) if keys[i][0]]
    return np.array(sorted(numbers, key=keys.__getitem__, reverse=descending) + nans, np.int64)


def searchsorted(values, ordered, right):
    keys = [order_key(x) for x in ordered.tolist()]
    def position(x):
        k = order_key(x)
        return sum(y < k or (right and y == k) for y in keys)
    return np.array([position(x) for x in values.ravel(order="F").tolist()],
                    np.int64).reshape(values.shape, order="F")


def cumulated(x, function):
    """Along the last axis. Halves and float32 in the next wider dtype, rounded at each element."""
    wider = {"float16": "float32", "float32": "float64", "complex64": "complex128"}
    return function.accumulate(x.astype(wider.get(x.dtype.name, x.dtype)), axis=-1).astype(x.dtype)


# --- reductions: of a matrix (kept, reduced), along axis 1, in the compute dtype -----------------


def modulus(x):
    if kind(x.dtype) == "c":
        w = wide(x)
        return np.hypot(w.real, w.imag).astype(part(x.dtype))
    return np.abs(x)


def is_nan(x):
    return np.isnan(x) if kind(x.dtype) in "fc" else np.zeros(x.shape, bool)


def total(x, function=np.add):
    wider = wide(x) if kind(x.dtype) in "fc" else x
    return Expected(function.reduce(wider, axis=1, dtype=wider.dtype).astype(x.dtype), 1)


def extreme(function, largest):
    """NaN wins; of equal zeros any may come."""
    def apply(x):
        value = function(x, axis=1)
        mask = np.where(value == 0, SIGNS, 0) if kind(x.dtype) == "f" else None
        return Expected(value, 0, mask)
    return apply


def nan_extreme(function, neutral):
    def apply(x):
        if kind(x.dtype) != "f":
            return Expected(function(x, axis=1))
        nan = np.isnan(x)
        value = function(np.where(nan, x.dtype.type(neutral), x), axis=1)
        value = np.where(nan.all(axis=1), x.dtype.type(np.nan), value)
        return Expected(value, 0, np.where(value == 0, SIGNS, 0))
    return apply


def mean(x, keep=None):
    w = wide(x)
    keep = np.ones(x.shape, bool) if keep is None else keep
    value = np.where(keep, w, 0).sum(axis=1) / keep.sum(axis=1).astype(LONG)
    if kind(x.dtype) == "c":
        total_ = np.where(keep, w, 0).sum(axis=1)
        count = keep.sum(axis=1).astype(LONG)
        value = join(total_.real / count, total_.imag / count, CLONG)
    return Expected(value.astype(x.dtype), 2, by_modulus=True)


def variance(x, ddof, root=False):
    w = wide(x)
    middle = w.mean(axis=1, keepdims=True)
    d = w - middle
    squares = d.real**2 + d.imag**2 if kind(x.dtype) == "c" else d * d
    count = LONG(x.shape[1]) - LONG(ddof)
    value = squares.sum(axis=1) / count if count > 0 else np.full(x.shape[0], LONG(np.nan))
    return Expected((np.sqrt(value) if root else value).astype(part(x.dtype)), 16)


def norm(x, p, keep=None):
    w = wide(x)
    size = np.hypot(w.real, w.imag) if kind(x.dtype) == "c" else abs(w)
    if keep is not None:
        size = np.where(keep, size, 0)
    if size.shape[1] == 0:
        value = np.zeros(size.shape[0], LONG)
    elif p == 0:
        value = (size != 0).sum(axis=1).astype(LONG)
    elif np.isinf(p):
        value = np.where(np.isnan(size).any(axis=1), LONG(np.nan), size.max(axis=1))
    else:
        value = (size ** LONG(p)).sum(axis=1) ** (1 / LONG(p))
    wide_part = part(x.dtype) == np.float64
    # Elsewhere there are digits to spare. The error of the sum is multiplied by 1 / p.
    return Expected(value.astype(part(x.dtype)), (64 if p < 1 else 16) if wide_part else 2)


def without_nan(x, replacement):
    return np.where(is_nan(x), x.dtype.type(replacement), x)


# nan_…: with skip_nan.
REDUCE = {
    "sum": total,
    "prod": lambda x: total(x, np.multiply),
    "min": extreme(np.min, False),
    "max": extreme(np.max, True),
    "all_finite": lambda x: Expected((np.isfinite(x)).all(axis=1)),
    "any_inf": lambda x: Expected((np.isinf(x)).any(axis=1)),
    "any_nan": lambda x: Expected((np.isnan(x)).any(axis=1)),
    "mean": mean,
    "sum_abs": lambda x: total(modulus(x)),
    "min_abs": lambda x: extreme(np.min, False)(modulus(x)),
    "max_abs": lambda x: extreme(np.max, True)(modulus(x)),
    "nan_count_nonzero": lambda x: Expected(((x != 0) & ~is_nan(x)).sum(axis=1).astype(np.int64)),
    "nan_sum": lambda x: total(without_nan(x, 0)),
    "nan_prod": lambda x: total(without_nan(x, 1), np.multiply),
    "nan_sum_abs": lambda x: total(modulus(without_nan(x, 0))),
    "nan_min": nan_extreme(np.min, np.inf),
    "nan_max": nan_extreme(np.max, -np.inf),
    "nan_mean": lambda x: mean(x, ~is_nan(x)),
    "var": variance,
    "stddev": lambda x, ddof: variance(x, ddof, True),
    "norm": norm,
    "nan_norm": lambda x, p: norm(x, p, ~is_nan(x)),
}

# --- by name -------------------------------------------------------------------------------------


def elementwise(name):
    """Of operands of the compute dtype; of comparisons: of any dtypes."""
    for table in (UNARY, BINARY, COMPARISONS):
        if name in table:
            return table[name]
    # NumPy 1 has arcsin for asin.
    return rounded(name, getattr(np, re.sub("^a(?=sin|cos|tan)", "arc", name)))


def reduction(name, skip_nan=False):
    if skip_nan:
        return REDUCE["nan_" + name]
    return REDUCE.get(name) or (lambda x: Expected(getattr(np, name)(x, axis=1)))
