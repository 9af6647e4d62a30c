#!/usr/bin/env python3
"""Functions made of others against NumPy's of the same names, on random tensors.

test_compositions.py COMPOSITIONS_TOOL    (needs python3-numpy)
"""
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

DEVICES = ["cpu", "dummy:0"]
ROUNDS = max(1, round(20 * float(os.environ.get("ATOLL_TEST_SCALE", "1"))))
REALS = ["int8", "uint8", "int32", "uint64", "int64", "float16", "float32", "float64"]
ALL = ["bool", *REALS, "complex64", "complex128"]
PAD_MODES = ["constant", "edge", "reflect", "symmetric", "wrap"]

random = np.random.default_rng(20)
cases = {}  # name: (operands, expected results, relative tolerance)


def case(function, expected, operands, tolerance=0, **values):
    words = [f"{key}={value}" if value is not True else key for key, value in values.items() if value is not None]
    name = "/".join([f"{len(cases):05}", function, *words])
    cases[name] = (operands, expected if isinstance(expected, (list, tuple)) else [expected], tolerance)


def shape(least=0, most=3, smallest=0):
    return tuple(int(n) for n in random.integers(smallest, 6, random.integers(least, most + 1)))


def values(dtype, extents, special=False):
    """Few different numbers, so that some are equal."""
    whole = random.integers(0 if np.dtype(dtype).kind in "ub" else -4, 5, extents)
    if dtype == "bool":
        return whole > 2
    result = np.array(whole).astype(dtype)
    if result.dtype.kind in "fc":
        result = np.array(result * np.array(1.25, dtype), order="F")
        if result.dtype.kind == "c":
            result = result + np.array(1j, dtype) * random.integers(-1, 2, extents)
            result = np.array(result.astype(dtype))
        if special and result.size:
            for number in (np.nan, np.inf, -np.inf, -0.0):
                result.flat[random.integers(result.size)] = number
    return np.array(result, order=random.choice(["C", "F"]))


def pick(dtypes):
    return str(random.choice(dtypes))


def axis_of(a):
    """An axis, and how the call names it: vectors may leave it out."""
    axis = int(random.integers(-a.ndim, a.ndim))
    return axis, None if a.ndim == 1 and random.integers(2) else axis


def flat(a):
    return a.flatten("F")


def list_of(numbers):
    return ",".join(str(int(n)) for n in numbers)


def compare_cases():
    dtype = pick(ALL[1:])
    special = np.dtype(dtype).kind != "c"  # NumPy 1.24 makes NaN of complex infinities on the way
    a = values(dtype, shape(), special)
    b = np.where(random.random(a.shape) < 0.5, a, values(dtype, a.shape, special)).astype(dtype)
    if a.dtype.kind in "fc":
        b = (b * np.array(random.choice([1, 1 + 1e-3, 1 + 1e-2]), dtype)).astype(dtype)
    rtol, atol = float(random.choice([1e-5, 0, 5e-3])), float(random.choice([1e-8, 0.3, 1]))
    wide = {"float16": "float32", "uint64": "float64", "uint8": "float64"}.get(dtype, dtype)
    equal_nan = bool(random.integers(2))
    expected = np.isclose(a.astype(wide), b.astype(wide), rtol, atol, equal_nan)
    case("isclose", expected, {"a": a, "b": b}, rtol=rtol, atol=atol, nan=equal_nan or None)
    nan, inf = int(random.integers(-3, 3)), random.choice([None, 7])
    case("nan_to_num", np.nan_to_num(a, nan=nan, posinf=inf, neginf=inf), {"a": a}, nan=nan, posinf=inf, neginf=inf)


def rearranging_cases():
    a = values(pick(ALL), shape(1))
    axis, named = axis_of(a)
    n = int(random.integers(0, 4))
    case("diff", np.diff(a, n, axis), {"a": a}, axis=named, n=n)
    shift = int(random.integers(-9, 10))
    case("roll", np.roll(a, shift, axis), {"a": a}, shift=shift, axis=named)
    count = int(random.integers(0, 4))
    case("repeat", np.repeat(a, count, axis), {"a": a}, count=count, axis=named)
    counts = random.integers(0, 4, a.shape[axis])
    case("repeat", np.repeat(a, counts, axis), {"a": a, "counts": counts}, axis=named)
    if a.shape[axis]:
        at = random.integers(-a.shape[axis], a.shape[axis], shape(0, 2))
        case("take", np.take(a, at, axis), {"a": a, "at": at}, axis=named)
    a = values(pick(ALL), shape())
    counts = random.integers(0, 3, random.integers(1, 5))
    rank = max(a.ndim, len(counts))
    expected = np.tile(a.reshape(a.shape + (1,) * (rank - a.ndim)), [*counts] + [1] * (rank - len(counts)))
    case("tile", expected, {"a": a}, counts=list_of(counts))
    b = values(pick(ALL), shape())
    if {a.dtype.name, b.dtype.name} != {"bool"}:
        case("outer", np.outer(flat(a), flat(b)), {"a": a, "b": b})
    a = values(pick(ALL), shape(1, 3, 1))
    mode = int(random.integers(5))
    # NumPy before 1.25 wraps and mirrors wrongly where widths exceed the extent.
    widths = random.integers(0, 9, (a.ndim, 2)) if mode < 2 else random.integers(0, np.array(a.shape) + 1, (2, a.ndim)).T
    value = int(random.integers(2))
    expected = np.pad(a, widths, PAD_MODES[mode], **({"constant_values": value} if mode == 0 else {}))
    case("pad", expected, {"a": a}, widths=list_of(widths.flat), mode=mode, value=value)
    vectors = [values(pick(ALL), shape(1, 1)) for _ in range(3)]
    case("meshgrid", np.meshgrid(*vectors, indexing="ij"), dict(zip("abc", vectors)))
    a = values(pick(ALL), shape(2))
    k = int(random.integers(-6, 7))
    for part in (np.triu, np.tril):  # of the last two axes
        matrices = np.moveaxis(a, (0, 1), (-2, -1))
        case(part.__name__, np.moveaxis(part(matrices, k), (-2, -1), (0, 1)), {"a": a}, k=k)
    extents = shape(1, 4, 1)
    at = random.integers(0, np.prod(extents), shape(0, 2))
    case("unravel_index", np.array(np.unravel_index(at, extents, order="F"), np.int64), {"at": at}, shape=list_of(extents))


def set_cases():
    a = values(pick(ALL), shape(), special=True)
    results = np.unique(flat(a), return_index=True, return_inverse=True, return_counts=True)
    results = [results[0], results[1], np.reshape(results[2], a.shape, "F"), results[3]]
    case("unique", results[:1], {"a": a})
    case("unique_all", results, {"a": a})
    a = np.abs(values(pick(["uint8", "int32", "int64", "uint64"]), shape()))
    length = int(random.integers(0, 8))
    if random.integers(4) == 0:  # up to the largest of the dtype, and more bins
        a, length = random.integers(0, 256, shape()).astype(np.uint8), int(random.integers(0, 600))
    elif random.integers(8) == 0:
        a = values("bool", shape())
    weights = values("float64", a.shape)
    case("bincount", np.bincount(flat(a).astype(np.int64), minlength=length), {"a": a}, length=length)
    sums = np.bincount(flat(a).astype(np.int64), flat(weights), length).astype(float)
    case("bincount", sums, {"a": a, "weights": weights}, length=length)
    a = values(pick(REALS), shape())
    density = True if random.integers(2) else None
    weights = np.abs(values("float64", a.shape)) + 1
    bins = int(random.integers(1, 12)) if random.integers(3) else int(random.integers(250, 260))
    ends = {} if random.integers(2) else {"low": -2.5, "high": 3.0}
    edges = np.sort(random.integers(-5, 6, random.integers(2, 6)).astype(float))
    wide = flat(a).astype(float)
    for w in (None, weights):
        operands = {"a": a} if w is None else {"a": a, "weights": w}
        with np.errstate(all="ignore"):
            counts, uniform = np.histogram(wide, bins, (ends["low"], ends["high"]) if ends else None, density,
                                           None if w is None else flat(w))
            # How an edge is rounded decides where an element beside it belongs.
            distance = np.abs(np.subtract.outer(wide, uniform))
            if not np.any((distance < 1e-9) & (distance > 0)):
                case("histogram", [counts, uniform], operands, 1e-13, bins=bins, density=density, **ends)
            counts = np.histogram(wide, edges, None, density, None if w is None else flat(w))[0]
            case("histogram", [counts, edges], {**operands, "edges": edges}, 1e-13, density=density)


def topk_cases(a, axis, named, k):
    order = np.argsort(a, axis, kind="stable")
    case("topk", [np.take_along_axis(a, order, axis).take(range(k), axis), order.take(range(k), axis)], {"a": a},
         axis=named, k=k, smallest=True)
    # Descending, with NaN last and the first of equal elements first.
    keys = -np.where(np.isnan(a), -np.inf, a.astype(float)) if a.dtype.kind == "f" else -a.astype(float)
    order = np.lexsort((keys, np.isnan(a) if a.dtype.kind == "f" else np.zeros(a.shape)), axis=axis)
    case("topk", [np.take_along_axis(a, order, axis).take(range(k), axis), order.take(range(k), axis)], {"a": a},
         axis=named, k=k)


def order_cases():
    a = values(pick(REALS), shape(1), special=True)
    axis, named = axis_of(a)
    topk_cases(a, axis, named, int(random.integers(0, a.shape[axis] + 1)))
    # Few of many: equal ones, different ones, hardly any number.
    n = int(random.integers(4000, 9000))
    a = [values(pick(REALS), n, special=True), random.standard_normal(n).astype(pick(["float16", "float32", "float64"])),
         np.where(random.integers(0, 300, n) == 0, random.standard_normal(n), np.nan)][random.integers(3)]
    topk_cases(a, 0, None, int(random.integers(0, n // 60)))
    a = values(pick(["bool"] + REALS), shape(1, 3, 1))
    if random.integers(4) == 0 and a.dtype.kind == "f":
        a.flat[0] = np.nan
    wide = a if a.dtype.kind == "f" else a.astype(float)
    chosen = sorted(int(x) for x in random.permutation(a.ndim)[:random.integers(1, a.ndim + 1)])
    axes, named = (None, None) if random.integers(3) == 0 else (tuple(chosen), list_of(chosen))
    keep = bool(random.integers(2))
    epsilon = {"float16": 2e-3, "float32": 1e-6}.get(a.dtype.name, 1e-14)
    case("median", np.median(wide, axes, keepdims=keep).astype(wide.dtype), {"a": a}, epsilon, axes=named, keepdims=keep or None)
    q = random.choice([0, 0.1, 0.25, 0.5, 0.75, 0.9, 1], 3)
    expected = np.quantile(wide.astype(float), q, axes, keepdims=keep).astype(wide.dtype)
    case("quantile", expected, {"a": a, "q": q}, epsilon, axes=named, keepdims=keep or None)


LETTERS = "ijkLMzab"
WHOLE = ["int8", "uint8", "int32", "int64", "float16", "float32", "float64", "complex64", "complex128"]


def whole(dtype, extents):
    """Small integers: sums of products are exact in all dtypes but float16."""
    numbers = random.integers(0 if np.dtype(dtype).kind in "ub" else -3, 4, extents)
    if np.dtype(dtype).kind == "c":
        numbers = numbers + 1j * random.integers(-3, 4, extents)
    return np.array(numbers > 1 if dtype == "bool" else numbers).astype(dtype, order=random.choice(["C", "F"]))


def einsum_case():
    """A random expression; `...` stands for axes whose first ones are aligned, here named by digits' letters."""
    count = int(random.integers(1, 6))
    extent = {letter: int(random.integers(0 if random.integers(12) == 0 else 1, 5)) for letter in LETTERS + "WXY"}
    dots = "WXY"[:random.integers(0, 3)] if random.integers(3) == 0 else ""
    dtype = pick(["bool"] + WHOLE)
    terms, texts, operands = [], [], {}
    for i in range(count):
        letters = list(random.choice(list(LETTERS), random.integers(0, 5)))
        own = dots[:random.integers(0, len(dots) + 1)]
        at = int(random.integers(0, len(letters) + 1))
        has_dots = own or (dots and random.integers(2))
        texts.append("".join(letters[:at]) + ("..." if has_dots else "") + "".join(letters[at:]))
        terms.append("".join(letters[:at]) + own + "".join(letters[at:]))
        stretched = [letter in dots and random.integers(4) == 0 for letter in terms[-1]]
        other = dtype if dtype == "bool" or random.integers(4) else pick([dtype, "int8" if np.dtype(dtype).kind != "u" else dtype])
        operands["abcde"[i]] = whole(other, [1 if s else extent[letter] for s, letter in zip(stretched, terms[-1])])
    present = "".join(terms)
    dots = "".join(letter for letter in dots if letter in present)
    if random.integers(4):
        names = [letter for letter in LETTERS if letter in present and random.integers(2)]
        random.shuffle(names)
        at = int(random.integers(0, len(names) + 1))
        result = "".join(names[:at]) + dots + "".join(names[at:])
        text = ",".join(texts) + "->" + "".join(names[:at]) + ("..." if dots else "") + "".join(names[at:])
    else:
        result = dots + "".join(sorted(letter for letter in LETTERS if present.count(letter) == 1))
        text = ",".join(texts)
    if len(present) > 14:
        return  # NumPy's loop over all of them takes too long
    T = np.result_type(*(a.dtype for a in operands.values()))
    expected = np.einsum(",".join(terms) + "->" + result, *(a.astype(T) for a in operands.values()))
    tolerance = 4e-3 if T == np.float16 else 0
    if np.all(np.isfinite(expected)) and (T != np.float16 or np.all(np.abs(expected) < 1000)):
        case("einsum", np.asarray(expected, T), operands, tolerance, text=text, out=bool(random.integers(2)) or None)


def product_cases():
    for _ in range(max(12, 2400 // ROUNDS)):
        einsum_case()
    dtype = pick(WHOLE[2:])
    tolerance = 4e-3 if dtype == "float16" else 0
    extents = shape(0, 4)
    count = int(random.integers(0, len(extents) + 1))
    a, b = whole(dtype, extents), whole(dtype, extents[len(extents) - count:] + shape(0, 2))
    case("tensordot", np.tensordot(a, b, count), {"a": a, "b": b}, tolerance, count=count)
    axes = [int(axis) for axis in random.permutation(len(extents))[:count]]
    b = whole(dtype, [extents[axis] for axis in axes] + list(shape(0, 2)))
    order = random.permutation(b.ndim)
    b = b.transpose(order)
    other = [int(np.flatnonzero(order == i)[0]) for i in range(count)]
    if count:
        case("tensordot", np.tensordot(a, b, (axes, other)), {"a": a, "b": b}, tolerance,
             axes_a=list_of(axes), axes_b=list_of(other))
    a, b = whole(dtype, shape(0, 2) + (3,)), whole(dtype, shape(0, 2) + (3,))
    case("inner", np.inner(a, b), {"a": a, "b": b}, tolerance)
    a, b = whole(dtype, extents), whole(dtype, extents)
    case("vdot", np.vdot(flat(a), flat(b)), {"a": a, "b": b}, tolerance)
    a, b = whole(dtype, shape(0, 3)), whole(dtype, shape(0, 3))
    rank = max(a.ndim, b.ndim)
    longer = [x.reshape(x.shape + (1,) * (rank - x.ndim)) for x in (a, b)]
    case("kron", np.kron(*longer), {"a": a, "b": b}, tolerance)
    a = whole(dtype, shape(2, 3, 1))
    k = int(random.integers(1 - a.shape[0], a.shape[1]))
    wide = a.astype(np.int64) if a.dtype.kind == "i" else a
    case("trace", np.asarray(np.trace(wide, k)), {"a": a}, tolerance, k=k)


def same(found, expected, tolerance):
    expected = np.asarray(expected)
    if found.dtype != expected.dtype or found.shape != expected.shape:
        return f"{found.dtype}{found.shape} instead of {expected.dtype}{expected.shape}"
    with np.errstate(all="ignore"):
        if tolerance:
            right = np.allclose(found, expected, tolerance, tolerance, equal_nan=True)
        else:
            right = np.array_equal(found, expected, equal_nan=expected.dtype.kind in "fc")
    return "" if right else f"{found.tolist()} instead of {expected.tolist()}"


def main():
    for _ in range(ROUNDS):
        for make in (compare_cases, rearranging_cases, set_cases, order_cases, product_cases):
            make()
    failures = checks = 0
    with tempfile.TemporaryDirectory() as folder:
        given, got = pathlib.Path(folder) / "cases.npz", pathlib.Path(folder) / "results.npz"
        np.savez(given, **{f"{name}/{key}": a for name, (operands, _, _) in cases.items() for key, a in operands.items()})
        for device in DEVICES:
            subprocess.run([sys.argv[1], given, got, device], check=True)
            with np.load(got) as results:
                for name, (operands, expected, tolerance) in cases.items():
                    checks += 1
                    wrong = [f"result {i}: " + (same(results[f"{name}/{i}"], e, tolerance) if f"{name}/{i}" in results else "missing")
                             for i, e in enumerate(expected)]
                    wrong = [text for text in wrong if not text.endswith(": ")]
                    if wrong:
                        failures += 1
                        if failures <= 20:
                            print(device, name, {k: v.tolist() for k, v in operands.items()}, *wrong, sep="\n  ")
    print(f"NumPy {np.__version__}: {checks} checks, {failures} failures")
    return 1 if failures or checks < 100 else 0


sys.exit(main())
