#!/usr/bin/env python3
"""Prints plugins/cpu/kernels/math_constants.h, which is committed: the polynomials and tables of the
cpu plugin's vector functions. Needs mpmath.

    make_math_constants.py > plugins/cpu/kernels/math_constants.h && tools/check_format.sh --fix

A polynomial interpolates at the Chebyshev nodes of its interval, which costs little against the
minimax one. Each is of a tail: of what a function differs by from its first terms, which the kernels
add themselves.
"""
from mpmath import atan, cos, exp, log, log1p, mp, mpf, pi, sin, sinh, tanh

mp.prec = 320
HEAD = """// Polynomials and tables of the vector functions, lowest terms first: written by
// tools/make_math_constants.py, which says how they are chosen.
#pragma once

namespace Atoll::kernels::vector_math {

// A sum.
template <class T> struct Split { T head, tail; };

template <class T> struct Constants;
"""
DIGITS = {"float": 24, "double": 53}
SHORT = {"float": 15, "double": 41}  # a number whose product with any exponent is to be exact
BASES = {"ln": mpf(1), "log2": log(2), "log10": log(10)}
members = {dtype: [] for dtype in DIGITS}


def rounded(x, digits):
    """The nearest number of so many binary digits."""
    x = mpf(x)
    if x == 0:
        return mpf(0)
    place = mp.frexp(x)[1] - digits
    return mp.ldexp(mp.nint(mp.ldexp(x, -place)), place)


def literal(x, dtype):
    mantissa, exponent = float(x).hex().split("p") if x != 0 else ("0x0", "+0")
    if "." in mantissa:
        mantissa = mantissa.rstrip("0").rstrip(".")
    return f"{mantissa}p{exponent}" + ("f" if dtype == "float" else "")


def emit(name, dtype, values, comment=""):
    values = [literal(rounded(v, DIGITS[dtype]), dtype) for v in values]
    if comment:
        members[dtype].append(f"    // {comment}")
    members[dtype].append(f"    static constexpr {dtype} {name}[] = {{{', '.join(values)}}};")


def interpolated(f, low, high, degree):
    """Coefficients from the constant one on."""
    n = degree + 1
    low, high = mpf(low), mpf(high)
    nodes = [(low + high) / 2 + (high - low) / 2 * mp.cos(pi * (2 * k + 1) / (2 * n)) for k in range(n)]
    matrix = mp.matrix(n, n)
    for i, x in enumerate(nodes):
        for j in range(n):
            matrix[i, j] = x**j
    return list(mp.lu_solve(matrix, mp.matrix([f(x) for x in nodes])))


def series(f, order, terms=60):
    """f without its first `order` Taylor terms, divided by x^order; safe near 0."""
    coefficients = mp.taylor(f, 0, order + terms)

    def tail(x):
        return sum(c * x**k for k, c in enumerate(coefficients[order:]))
    return tail


def odd(f, terms=80):
    """(f(x) - x) / x^3 as a function of x^2, for odd f."""
    coefficients = mp.taylor(f, 0, 2 * terms + 3)
    return lambda z: sum(coefficients[2 * k + 3] * z**k for k in range(terms))


def even(f, order, terms=80):
    """The even f without its terms below x^order, divided by x^order, as a function of x^2."""
    coefficients = mp.taylor(f, 0, 2 * terms + order)
    return lambda z: sum(coefficients[2 * k + order] * z**k for k in range(terms))


def polynomial(name, comment, f, low, high, **degrees):
    for dtype, degree in (("float", degrees.get("single")), ("double", degrees.get("double"))):
        if degree is not None:
            emit(name, dtype, interpolated(f, low, high, degree), comment)


def split(name, x, heads=DIGITS):
    """x as a sum of two, the first of so many digits."""
    for dtype, digits in DIGITS.items():
        head = rounded(x, heads[dtype])
        both = ", ".join(literal(rounded(part, digits), dtype) for part in (head, x - head))
        members[dtype].append(f"    static constexpr Split<{dtype}> {name} = {{{both}}};")


def is_exact(c, low, high):
    """Whether c m - 1 is a float for all floats m of an interval that lies on one side of 1."""
    last = mp.ldexp(1, -24 if low < 1 else -23)
    digits = next(d for d in range(10) if c * 2**d == int(c * 2**d))
    return max(abs(c * low - 1), abs(c * high - 1)) <= last * mp.ldexp(1, 24 - digits)


def logarithm_tables():
    """c, about 1 / m, and -log(c) for sixteen intervals of the significand's bits, the tenth around
    1, where c = 1. c has six digits, so that c m - 1 is exact (float) or nearly so. The logarithm is
    a sum of a multiple of 2^-16 or 2^-41, which can be added to the exponent's exactly, and of the
    rest."""
    whole, cubic, tail = (series(log1p, order, 40) for order in (1, 3, 2))
    for dtype, grid in (("float", 16), ("double", 41)):
        inverses, r = [], []
        for i in range(16):
            units = [mpf(2 * (i + k) - 19) / 32 for k in (0, 1)]
            low, high = [1 + (u if u >= 0 else u / 2) for u in units]
            candidates = [mpf(k) / 64 for k in range(32, 128)] if i != 9 else [mpf(1)]
            if dtype == "float" and i != 9:
                candidates = [c for c in candidates if is_exact(c, low, high)]
            # Next to 1 the result is small: r must be so, too, where it cancels.
            from_one = [low - mpf(2)**-6, high] if dtype == "double" and i == 10 else [low, high]
            c = min(candidates, key=lambda c: max(abs(c * m - 1) for m in from_one))
            inverses.append(c)
            r += [low * c - 1, high * c - 1]
        emit("inverses", dtype, inverses, "c, and -log(c) to three bases: multiples of a power of two, and the rest")
        for base, log_base in BASES.items():
            exact = [-log(c) / log_base for c in inverses]
            heads = [mp.nint(x * 2**grid) / mpf(2)**grid for x in exact]
            emit(f"{base}_heads", dtype, heads)
            emit(f"{base}_tails", dtype, [x - head for x, head in zip(exact, heads)])
        degree = {"single": 4} if dtype == "float" else {"double": 9}
        for base, log_base in BASES.items():
            polynomial(f"{base}_tail", f"(log(1 + r) - r) / r^2 to the base of {base}",
                       lambda r: tail(r) / log_base, min(r), max(r), **degree)
        if dtype == "float":
            polynomial("ln_rest", "-2 (log(1 + r) - r + r^2 / 2) / r^3", lambda r: -2 * cubic(r), min(r), max(r), single=3)
        else:
            emit("log2_wholes", dtype, [-log(c, 2) for c in inverses], "For powers of floats")
            polynomial("log2_short", "log2(1 + r) / r", lambda r: whole(r) / log(2), min(r), max(r), double=6)


def power_tables():
    """As logarithm_tables(), for 32 intervals of doubles, the nineteenth around 1. Near 1 it is r^3
    beside the result that counts."""
    inverses, r = [], []
    for i in range(32):
        units = [mpf(2 * (i + k) - 37) / 64 for k in (0, 1)]
        low, high = [1 + (u if u >= 0 else u / 2) for u in units]
        size = lambda c: max(abs(c * low - 1), abs(c * high - 1))
        candidates = [mpf(k) / 2**d for d in range(1, 9) for k in range(2**d // 2, 2 * 2**d)
                      if size(mpf(k) / 2**d) <= mpf(2)**((0 if low < 1 else 1) - d)]
        least = min(abs(log(low)), abs(log(high)))
        c = mpf(1) if low < 1 < high else min(candidates, key=lambda c: size(c)**3 / least)
        inverses.append(c)
        r += [low * c - 1, high * c - 1]
    logarithms = [-log(c, 2) for c in inverses]
    heads = [mp.nint(x * 2**41) / mpf(2)**41 for x in logarithms]
    emit("pow_inverses", "double", inverses, "For powers: c, and -log2(c) as a sum")
    emit("pow_heads", "double", heads)
    emit("pow_tails", "double", [x - head for x, head in zip(logarithms, heads)])
    cubic = series(log1p, 3, 40)
    polynomial("pow_rest", "-2 (log(1 + r) - r + r^2 / 2) / r^3", lambda r: -2 * cubic(r), min(r), max(r), double=7)


def exponential_tables():
    """2^(i / 16), and what rounding took from it, divided by it."""
    exact = [mpf(2)**(mpf(i) / 16) for i in range(16)]
    for dtype, digits in DIGITS.items():
        emit("sixteenths", dtype, exact, "2^(i / 16), and what it has lost, divided by it")
        emit("sixteenths_lost", dtype, [x / rounded(x, digits) - 1 for x in exact])
    power = series(lambda f: mpf(2)**f, 1)
    polynomial("sixteenth", "(2^f - 1) / f for |f| <= 1/32", power, -mpf(1) / 32, mpf(1) / 32, single=3, double=6)
    polynomial("exp_sixteenth", "(e^r - 1) / r for |r| <= ln(2) / 32", series(exp, 1), -log(2) / 32 * 1.001,
               log(2) / 32 * 1.001, single=3, double=6)
    polynomial("exp2_short", "2^f for |f| <= 1/2", lambda f: mpf(2)**f, -0.5, 0.5, double=6)


def piecewise(name, f, last):
    """f in sixteen intervals by the first three digits of x: below 5/8 as x + x p(x), then as
    f(c) + (x - c) p(x - c), where f(c) is nearly a float; in the last one up to `last`, from where
    on f rounds to 1. Each stands where the last four of the exponent's bits and the first two of the
    fraction's say; the first one is where 1/2 belongs."""
    starts = [mpf(0)] + [mpf(2)**e * (4 + m) / 4 for e in range(-1, 3) for m in range(4)][1:]
    starts = [x for x in starts if x < last]
    centers, values, rows = [], [], []
    for low, high in zip(starts, starts[1:] + [mpf(last)]):
        if low == 0:
            centers.append(mpf(0))
            values.append(mpf(0))
            rows.append(interpolated(lambda d: f(d) / d - 1, 0, high, 7))
            continue
        middle = int(mp.nint((low + high) / 2 * 2**20))
        candidates = [mpf(middle + k) / 2**20 for k in range(-400, 401)]
        c = min(candidates, key=lambda x: abs(f(x) - rounded(f(x), 24)))
        centers.append(c)
        values.append(f(c))
        rows.append(interpolated(lambda d: (f(c + d) - f(c)) / d if d else mp.diff(f, c), low - c, high - c, 7))
    def placed(numbers):
        numbers = numbers + (16 - len(numbers)) * [0]
        return numbers[8:] + numbers[:8]

    emit(f"{name}_centers", "float", placed(centers), name + " by intervals: c, f(c) and the coefficients of p")
    emit(f"{name}_values", "float", placed(values))
    coefficients = [placed([row[k] for row in rows]) for k in range(8)]
    text = ", ".join("{" + ", ".join(literal(rounded(x, 24), "float") for x in line) + "}" for line in coefficients)
    members["float"].append(f"    static constexpr float {name}_coefficients[8][16] = {{{text}}};")


def intervals(exponents, digits, shift):
    """Of x, by the last digits of the exponent of x + shift and the first ones of its fraction."""
    edges = [[mpf(2)**e * (1 + mpf(m) / 2**digits) - shift for m in range(2**digits + 1)] for e in exponents]
    return [interval for octave in edges for interval in zip(octave, octave[1:])]


def pieces(name, dtype, f, intervals, degree, from_zero=False):
    """f as f(c) + (x - c) p(x - c) with f(c) nearly a number of dtype. Of a function that is 0 at 0
    the first interval has x + x p(x)."""
    centers, values, rows = [], [], []
    for low, high in intervals:
        if low == 0 and from_zero:
            c, value, p = mpf(0), mpf(0), lambda d: f(d) / d - 1
        else:
            middle = int(mp.nint((low + high) / 2 * 2**20))
            candidates = [mpf(middle + k) / 2**20 for k in range(-400, 401)]
            c = min(candidates, key=lambda x: abs(f(x) / rounded(f(x), DIGITS[dtype]) - 1))
            value = rounded(f(c), DIGITS[dtype])
            p = lambda d: (f(c + d) - f(c)) / d
        centers.append(c)
        values.append(value)
        rows.append(interpolated(p, low - c, high - c, degree))
    emit(f"{name}_centers", dtype, centers, name + " by intervals: c, f(c) and the coefficients of p")
    emit(f"{name}_values", dtype, values)
    columns = [[row[k] for row in rows] for k in range(degree + 1)]
    text = ", ".join("{" + ", ".join(literal(rounded(x, DIGITS[dtype]), dtype) for x in line) + "}" for line in columns)
    members[dtype].append(f"    static constexpr {dtype} {name}_coefficients[{degree + 1}][16] = {{{text}}};")


def stirling_rest(z):
    if z == 0:
        return mpf(1) / 12
    x = 1 / mp.sqrt(z)
    return x * (mp.loggamma(x) - (x - 0.5) * log(x) + x - log(2 * pi) / 2)


def angles():
    """c and atan(c), nearly a number, for intervals by the first two digits of 0.992 x + 1/2; the first one
    has c = 0, the last one is without end. They are in the order of the last two digits of the
    exponent: from 0.992 x + 1/2 = 2 on, then those below."""
    edges = [(mpf(2)**e * (4 + m) / 4 - 0.5) / mpf("0.992") for e in (1, 2, -1, 0) for m in range(4)]
    first, far = 8, 7
    for dtype, digits in DIGITS.items():
        centers = []
        for i, low in enumerate(edges):
            if i in (first, far):
                centers.append(mpf(0))
                continue
            high = min(x for x in edges if x > low)
            middle = int(mp.nint((low + high) / 2 * 2**20))
            candidates = [mpf(middle + k) / 2**20 for k in range(-400, 401)]
            centers.append(min(candidates, key=lambda x: abs(mp.atan(x) / rounded(mp.atan(x), digits) - 1)))
        values = [mp.atan(c) for c in centers]
        values[far] = pi / 2
        emit("atan_centers", dtype, centers, "c and atan(c) by intervals of 0.992 x + 1/2")
        emit("atan_values", dtype, values)
    polynomial("atan_tail", "(atan(z) - z) / z^3 in z^2, |z| <= 0.153", odd(mp.atan), 0, (mpf("1.001") / edges[far])**2, single=3, double=8)


def double_words():
    """What double_word_math.h needs with twice the digits."""
    def splits(name, comment, numbers):
        both = [(rounded(x, 53), x - rounded(x, 53)) for x in numbers]
        text = ", ".join("{" + ", ".join(literal(rounded(part, 53), "double") for part in x) + "}" for x in both)
        members["double"].append(f"    // {comment}\n    static constexpr Split<double> {name}[] = {{{text}}};")
    splits("inverse_factorials", "1 / n!", [1 / mp.factorial(n) for n in range(25)])
    splits("inverse_odds", "1 / (2 n + 1)", [1 / mpf(2 * n + 1) for n in range(10)])
    for name, x in (("ln_2_words", log(2)), ("ln_10_words", log(10)), ("quarter_words", pi / 2)):
        words = []
        for _ in range(3):
            words.append(rounded(x - sum(words), 53))
        emit(name, "double", words, f"{name.split('_words')[0]} as a sum of three")
    angles = [mp.atan(mpf(i) / 16) for i in range(16)]
    heads = [rounded(x, 53) for x in angles]
    emit("sixteenth_angles", "double", heads, "atan(i / 16) as sums")
    emit("sixteenth_angles_lost", "double", [x - head for x, head in zip(angles, heads)])


def main():
    ln2, ln10 = log(2), log(10)
    for name, x in (("ln_2", ln2), ("ln_10", ln10), ("log2_e", 1 / ln2), ("log10_e", 1 / ln10), ("log2_10", ln10 / ln2)):
        split(name, x)
    split("ln_2_short", ln2, SHORT)
    split("log10_2_short", ln2 / ln10, SHORT)
    split("ln_2_shorter", ln2, {"float": 12, "double": 38})  # with any multiple of 1/16
    polynomial("exp_tail", "(e^r - 1 - r - r^2 / 2) / r^3 for |r| <= ln(2) / 2", series(exp, 3),
               -ln2 / 2 * 1.001, ln2 / 2 * 1.001, single=4, double=9)
    polynomial("expm1_tail", "The same for |r| <= 0.45", series(exp, 3), -0.451, 0.451, single=5, double=10)
    polynomial("sinh_tail", "(sinh(r) - r) / r^3 in r^2", odd(sinh), 0, (ln2 / 2)**2 * 1.001, single=2, double=4)
    polynomial("cosh_tail", "(cosh(r) - 1) / r^2 in r^2", even(mp.cosh, 2), 0, (ln2 / 2)**2 * 1.001, single=2, double=5)
    logarithm_tables()
    power_tables()
    exponential_tables()
    for dtype, digits in DIGITS.items():
        # The second one of float64 in few digits: see Note [Quarter turns].
        parts = []
        for part_digits in (digits, 28 if dtype == "double" else digits, digits):
            parts.append(rounded(pi / 2 - sum(parts), part_digits))
        emit("quarter", dtype, parts, "pi / 2")
        members[dtype].append(f"    static constexpr {dtype} quarters = {literal(rounded(2 / pi, digits), dtype)};")
    quarter = (pi / 4 * mpf("1.0001"))**2
    polynomial("sin_tail", "(sin(r) - r) / r^3 in r^2, |r| <= pi / 4", odd(sin), 0, quarter, single=3, double=5)
    polynomial("cos_tail", "(cos(r) - 1 + r^2 / 2) / r^4 in r^2", even(cos, 4), 0, quarter, single=2, double=5)
    split("eighth", pi / 4, SHORT)
    polynomial("half_atan_tail", "(atan(q) - q) / q^3 in q^2, |q| <= 1/2", odd(atan), 0, mpf("0.2501"), single=5, double=12)
    polynomial("inverse_cbrt", "((1 - e)^(-1/3) - 1) / e for |e| <= 0.103", series(lambda e: (1 - e)**(-mpf(1) / 3), 1),
               -0.103, 0.103, single=2, double=5)
    polynomial("tan_tail", "(tan(r) - r - r^3 / 3) / r^5 in r^2",
               lambda z: (mp.tan(mp.sqrt(z)) - mp.sqrt(z) * (1 + z / 3)) / mp.sqrt(z)**5, 0, quarter, single=6, double=13)
    polynomial("asin_tail", "(asin(x) - x) / x^3 in x^2, |x| <= 1/2", 
               lambda z: (mp.asin(mp.sqrt(z)) - mp.sqrt(z)) / mp.sqrt(z)**3, 0, mpf("0.25"), single=5, double=13)
    angles()
    double_words()
    piecewise("tanh", tanh, 9.25)
    piecewise("erf", mp.erf, 4)
    pieces("erf", "double", mp.erf, intervals((1, 2), 3, 2), 11, from_zero=True)
    for dtype, degree in (("float", 6), ("double", 13)):
        pieces("erfc", dtype, lambda x: exp(x * x) * mp.erfc(x), intervals((1, 2, 3, 4), 2, 2), degree)
    ratio = lambda x: mp.loggamma(x) / ((x - 1) * (x - 2))
    pieces("log_gamma", "double", ratio, intervals((1, 2, -1, 0), 2, 0), 13)
    polynomial("stirling", "The rest of Stirling's formula for log(gamma(x)) times x, in 1 / x^2, from x = 8 on",
               stirling_rest, 0, mpf(1) / 64, double=6)
    pieces("gamma_rest", "double", lambda x: stirling_rest(1 / x**2) / x / ln2, intervals((1, 2, 3, 0), 2, 0), 11)
    pieces("lgamma", "double", lambda x: mp.loggamma(x) / ((x - 1) * (x - 2)), intervals((1, 2, 3, 0), 2, 0), 5)
    print(HEAD)
    for dtype, lines in members.items():
        print(f"template <> struct Constants<{dtype}> {{")
        print("\n".join(lines))
        print("};")
    print("} // namespace Atoll::kernels::vector_math")


main()
