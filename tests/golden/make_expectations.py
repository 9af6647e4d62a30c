#!/usr/bin/env python3
"""Writes the golden cases: calls of every function, and what NumPy says they give.

    make_expectations.py <lists folder> <output file>

functions.inc and dtypes.inc say what there is to test; expected.py, or NumPy's function of the same
name, says what should come out. A function that neither has stops the script. The file is
little-endian and packed:

    "ATGOLDEN"  u32 arrays  u32 cases
    array:  u32 dtype  u32 rank  i64 extents[rank]  u64 bytes  data (column-major)
    case:   u32 length  name  u32 n  u32 inputs[n]
            i32 axis count, or -1 for none given  i32 axes[]
            u32 flag (keepdims, descending or right)
            u32 n  numbers[n]: u32 dtype  u8 value[16]
            u32 fails (1: an error is expected, nothing follows)
            u32 result  u32 mask (array of uint8, or 0xffffffff)  f64 ulps  u32 by_modulus
"""
import csv
import itertools
import re
import struct
import sys
from pathlib import Path

import numpy as np

import expected as by_name
from expected import (ANYTHING, BINARY, COMPARISONS, SIGNS, Expected, argsort_vector, cumulated,
                      searchsorted)
from special_values import DTYPES, REALS, dense, factors, kind, part, special, tame

# --- the lists -----------------------------------------------------------------------------------

INTEGERS = {d for d in DTYPES if kind(d) in "iu"}
REAL_FLOATS = {d for d in DTYPES if kind(d) == "f"}
FLOATING = REAL_FLOATS | {d for d in DTYPES if kind(d) == "c"}
DOMAINS = {
    "ALL": set(DTYPES), "INTEGERS": INTEGERS, "REAL_FLOATS": REAL_FLOATS, "FLOATING": FLOATING,
    "NUMERIC": INTEGERS | FLOATING, "BITS": INTEGERS | {"bool"}, "REALS": INTEGERS | REAL_FLOATS,
    "ORDERED": INTEGERS | REAL_FLOATS | {"bool"}, "SUMMED": FLOATING | {"int64", "uint64"},
    "STEPPED": INTEGERS | FLOATING,
}


def read_list(path, macro):
    """The fields of each line; texts lose their quotes."""
    rows = re.findall(rf"^{macro}\((.*?)\)$", path.read_text(), re.M | re.S)
    return [next(csv.reader([" ".join(row.split())], skipinitialspace=True)) for row in rows]


def cases_of(name, signature, attributes):
    """The function below that makes the cases."""
    own = {"copy": copy_cases, "fill": fill_cases, "steps": steps_cases, "matmul": matmul_cases,
           "searchsorted": search_cases, "find": find_cases, "compress": compress_cases,
           "gather": index_cases, "scatter": index_cases}
    if name in own:
        return own[name]
    inputs = signature.split("->")[0]
    if "(n*)" in inputs:
        return parameter_cases if "float64" in attributes else reduce_cases
    if "(n)" in inputs:
        return sort_cases if attributes else scan_cases
    return (unary_cases, binary_cases, ternary_cases)[inputs.count("(") - 1]


class Function:
    def __init__(self, name, signature, rule, domain, attributes, properties):
        self.name, self.rule, self.domain = name, rule, DOMAINS[domain]
        self.cases = cases_of(name, signature, attributes)
        self.of_nothing = "identity" in properties  # has a result
        self.flags = (False, True) if "skip_nan" in attributes else (False,)
        # The type of the first result, behind its colon.
        self.type = signature.split("->")[1].split(",")[0].partition(":")[2].strip(" &")

    def compute(self, common):
        """The compute dtype, by the rule; None outside the domain."""
        common = np.dtype(common).name
        if self.rule == "FLOAT" and common not in FLOATING:
            common = "float64"
        elif self.rule == "SUM" and common not in FLOATING:
            common = "uint64" if kind(common) == "u" else "int64"
        elif self.rule == "NUMBER" and common == "bool":
            common = "int8"
        return common if common in self.domain else None

    def result(self, compute):
        if self.type == "R":
            return part(compute).name
        return self.type if self.type in ("bool", "int64") else compute


# --- the file --------------------------------------------------------------------------------


class Writer:
    def __init__(self, ids):
        self.ids, self.arrays, self.index, self.cases, self.named = ids, [], {}, [], set()

    def array(self, x):
        x = np.asarray(x)
        data = x.tobytes(order="F")
        key = (x.dtype.name, x.shape, data)
        if key not in self.index:
            self.index[key] = len(self.arrays)
            self.arrays.append(
                struct.pack(f"<II{x.ndim}qQ", self.ids[x.dtype.name], x.ndim, *x.shape,
                            len(data)) + data)
        return self.index[key]

    def case(self, name, inputs, expected, axes=None, flag=False, numbers=()):
        """`expected` None: an error."""
        self.named.add(name)
        text = name.encode()
        record = struct.pack("<I", len(text)) + text
        record += struct.pack(f"<I{len(inputs)}I", len(inputs), *[self.array(x) for x in inputs])
        axes_given = [] if axes is None else axes
        record += struct.pack(f"<i{len(axes_given)}i", -1 if axes is None else len(axes),
                              *axes_given)
        record += struct.pack("<II", flag, len(numbers))
        for number in numbers:
            number = np.asarray(number)
            record += struct.pack("<I16s", self.ids[number.dtype.name], number.tobytes())
        record += struct.pack("<I", expected is None)
        if expected is not None:
            if expected.mask is not None and not np.any(expected.mask):
                expected.mask = None
            mask = 0xFFFFFFFF if expected.mask is None else self.array(
                np.asarray(expected.mask, np.uint8))
            record += struct.pack("<IIdI", self.array(expected.value), mask, expected.ulps,
                                  expected.by_modulus)
        self.cases.append(record)

    def write(self, path):
        with open(path, "wb") as file:
            file.write(b"ATGOLDEN" + struct.pack("<II", len(self.arrays), len(self.cases)))
            file.writelines(self.arrays)
            file.writelines(self.cases)


# --- the cases, by the form of a call -----------------------------------------------------------------


def unary_cases(f, out):
    for dtype in DTYPES:
        values = special(dtype) if f.compute(dtype) is None else dense(dtype)
        expected = None
        if f.compute(dtype) is not None:
            expected = by_name.elementwise(f.name)(values.astype(f.compute(dtype)))
            expected.value = expected.value.astype(f.result(f.compute(dtype)))
        out.case(f.name, [values], expected)


def non_negative(values):
    return values[values >= 0] if kind(values.dtype) in "i" else values


def binary_cases(f, out):
    """Every pair of dtypes; every value of one with every value of the other."""
    for da in DTYPES:
        for db in DTYPES:
            compute = f.compute(np.promote_types(da, db))
            a, b = special(da), special(db)
            whole = compute is not None and kind(compute) in "iu"
            if f.name in ("pow", "left_shift", "right_shift") and whole:
                if np.any(b.astype(compute) < 0) and kind(db) == "i":
                    out.case(f.name, [a[:3, None].reshape(-1), b[:1]], None)
                b = non_negative(b)
            a, b = a[:, None], b[None, :]
            if compute is None:
                out.case(f.name, [a[:, 0], b], None)
                continue
            x, y = np.broadcast_arrays(a, b)
            if f.name not in COMPARISONS:
                x, y = x.astype(compute), y.astype(compute)
            expected = by_name.elementwise(f.name)(x, y)
            expected.value = expected.value.astype(f.result(compute))
            # The first axes are aligned: (n) with (1, m).
            out.case(f.name, [a[:, 0], b], expected)
    scalar_cases(f, out)


def weak(dtype, number):
    """The dtype that a tensor and a plain number meet in: only the number's kind counts."""
    if isinstance(number, float) and kind(dtype) in "biu":
        return "float64"
    return "int64" if dtype == "bool" and not isinstance(number, bool) else dtype


def scalar_cases(f, out):
    """A plain number on the right (flag: on the left) of a tensor."""
    for dtype in DTYPES:
        for number in (True, 3, 2.5):
            for left in (False, True):
                x, compute = special(dtype), f.compute(weak(dtype, number))
                if left and f.name in ("pow", "left_shift", "right_shift"):
                    x = x[x.real >= 0] if kind(dtype) != "b" else x
                if compute is None:
                    out.case(f.name, [x], None, flag=left, numbers=[number])
                    continue
                y = np.full(x.shape, number)
                x_, y_ = x, y
                if f.name not in COMPARISONS:
                    x_, y_ = x.astype(compute), y.astype(compute)
                expected = by_name.elementwise(f.name)(*((y_, x_) if left else (x_, y_)))
                expected.value = expected.value.astype(f.result(compute))
                out.case(f.name, [x], expected, flag=left, numbers=[number])


def ternary_cases(f, out):
    random = np.random.default_rng(3)
    pairs = [(a, b) for a in DTYPES for b in DTYPES]
    for i, (db, dc) in enumerate(pairs):
        if f.name == "where":
            # The condition is taken as bool, whatever its dtype.
            da = "bool" if i % 4 else DTYPES[i // 4 % len(DTYPES)]
            compute = np.promote_types(db, dc)
        else:
            da = db if i % 3 else DTYPES[random.integers(len(DTYPES))]
            compute = f.compute(np.promote_types(np.promote_types(da, db), dc))
        a, b, c = special(da), special(db)[:12], special(dc)[-12:]
        if compute is None:
            out.case(f.name, [a, b[None, :], c[None, None, :]], None)
            continue
        x, y, z = np.broadcast_arrays(a[:, None, None], b[None, :, None], c[None, None, :])
        y, z = y.astype(compute), z.astype(compute)
        if f.name == "where":
            value = np.where(x != 0, y, z)
        else:
            value = BINARY["minimum"](BINARY["maximum"](x.astype(compute), y).value, z).value
        out.case(f.name, [a, b[None, :], c[None, None, :]], Expected(value))


def moved(x, axis):
    return np.moveaxis(x, axis, -1)


def scan_cases(f, out):
    function = {"cumsum": np.add, "cumprod": np.multiply}[f.name]
    make = {"cumsum": tame, "cumprod": factors}[f.name]
    for dtype in DTYPES:
        compute = f.compute(dtype)
        for shape, axis in [((9,), 0), ((1,), 0), ((4, 5), 0), ((4, 5), -1), ((3, 4, 2), 1),
                            ((0,), 0), ((3, 0), 0), ((700,), None)]:
            x = make(dtype, shape, 5)
            if axis is None and f.name == "cumprod" and kind(dtype) in "fc":
                x = np.where(np.arange(700) % 2, 2, 0.5).astype(dtype)
            value = np.moveaxis(cumulated(moved(x.astype(compute), axis or 0), function), -1,
                                axis or 0)
            out.case(f.name, [x], Expected(value), axes=None if axis is None else [axis])
        if kind(dtype) == "f":
            x = np.array([1, np.inf, 2, -np.inf, 3, np.nan, 0], dtype)
            out.case(f.name, [x], Expected(cumulated(x, function)))
            x = np.random.default_rng(6).uniform(0.9, 1.1, 500).astype(dtype)
            # Whether float32 products are kept in more digits is left open.
            ulps = {"float64": 0, "float32": 1 if f.name == "cumsum" else 250, "float16": 1}[dtype]
            out.case(f.name, [x], Expected(cumulated(x, function), ulps))


def sort_values(dtype):
    """Repeated and shuffled, so that stability shows."""
    random = np.random.default_rng(11)
    values = special(dtype)
    return np.concatenate([random.permutation(values), random.permutation(values)[:9]])


def sort_cases(f, out):
    for dtype in DTYPES:
        vector = sort_values(dtype)
        random = np.random.default_rng(12)
        matrix = random.choice(vector, (5, 6))
        long = tame(dtype, 1000, 3) if kind(dtype) != "b" else random.integers(0, 2, 1000) != 0
        for x, axis in [(vector, 0), (vector, -1), (matrix, 0), (matrix, 1), (vector[:1], 0),
                        (vector[:0], 0), (long, 0), (random.choice(vector, (3, 2, 4)), 1)]:
            for descending in (False, True):
                rows = moved(x, axis)
                order = np.empty(rows.shape, np.int64)
                for index in np.ndindex(rows.shape[:-1]):
                    order[index] = argsort_vector(rows[index], descending)
                value = order if f.name == "argsort" else np.take_along_axis(rows, order, -1)
                out.case(f.name, [x], Expected(np.moveaxis(value, -1, axis)), [axis], descending)


def search_cases(f, out):
    for da in DTYPES:
        for db in DTYPES:
            common = np.promote_types(da, db)
            # The order is that of the common dtype; ascending stays ascending there.
            ordered = special(db)
            ordered = ordered[argsort_vector(ordered, False)]
            values = special(da)
            for right in (False, True):
                value = searchsorted(values.astype(common), ordered.astype(common), right)
                out.case(f.name, [values, ordered], Expected(value), flag=right)
        grid = special(da)[:6].reshape(2, -1, order="F")
        out.case(f.name, [grid, ordered[:0]], Expected(np.zeros(grid.shape, np.int64)))


def reduced(x, axes):
    """(kept…, reduced): the reduced axes in the tensor's order, the first fastest."""
    kept = [i for i in range(x.ndim) if i not in axes]
    y = x.transpose(kept + sorted(axes, reverse=True))
    return y.reshape([x.shape[i] for i in kept] + [-1] if y.size else
                     [x.shape[i] for i in kept] + [int(np.prod([x.shape[i] for i in axes]))])


def reduction(f, x, axes, keepdims, compute, numbers=(), skip_nan=False):
    normal = list(range(x.ndim)) if axes is None else [a % x.ndim for a in axes]
    y = reduced(x.astype(compute), normal)
    kept = y.shape[:-1]
    if y.shape[-1] == 0 and np.prod(kept) > 0 and not f.of_nothing:
        return None
    apply = by_name.reduction(f.name, skip_nan)
    expected = apply(y.reshape(int(np.prod(kept)), y.shape[-1]), *numbers)
    shape = [1 if i in normal else n for i, n in enumerate(x.shape)] if keepdims else kept
    expected.value = expected.value.astype(f.result(compute)).reshape(shape)
    if expected.mask is not None:
        expected.mask = np.asarray(expected.mask).reshape(shape)
    return expected


SHAPES = [((7,), None), ((7,), [0]), ((1,), None), ((), None), ((3, 4), None), ((3, 4), [0]),
          ((3, 4), [-1]), ((3, 4), [1, 0]), ((2, 3, 4), [1]), ((2, 3, 4), [0, 2]),
          ((2, 3, 4), [2, 0]), ((2, 3, 4), [-1, -2]), ((0,), None), ((3, 0), [1]), ((0, 2), [1])]


def with_specials(dtype, shape, seed):
    """NaN and infinities among tame values, in some rows only."""
    x = tame(dtype, shape, seed)
    flat = x.reshape(-1)
    if kind(dtype) in "fc" and flat.size > 2:
        flat[1], flat[-1] = np.nan, np.inf
        if flat.size > 11:
            flat[5], flat[7] = -np.inf, np.nan
    return x


def reduce_inputs(f, dtype):
    make = factors if f.name == "prod" else tame
    for seed, (shape, axes) in enumerate(SHAPES):
        yield make(dtype, shape, seed), axes
    for shape, axes in [((7,), None), ((4, 4), [0]), ((4, 4), [1])]:
        yield with_specials(dtype, shape, 9), axes
    yield np.zeros(5, dtype), None
    yield np.ones(5, dtype), None
    if kind(dtype) in "fc":
        yield np.full((2, 3), np.nan, dtype), [1]
    if f.name != "prod":
        yield tame(dtype, (300, 5), 2), [0]
        yield tame(dtype, (5, 300), 2), [1]
    if kind(dtype) in "iu" and f.rule != "FLOAT":
        info = np.iinfo(dtype)
        yield np.array([info.min, info.max, info.max, info.min, 3], dtype), None
    if f.rule == "COMMON":  # nothing is added up
        yield special(dtype), None


def reduce_cases(f, out):
    for dtype in DTYPES:
        compute = f.compute(dtype)
        if compute is None:
            out.case(f.name, [tame(dtype, 3)], None)
            continue
        for x, axes in reduce_inputs(f, dtype):
            for keepdims, skip_nan in itertools.product((False, True), f.flags):
                expected = reduction(f, x, axes, keepdims, compute, skip_nan=skip_nan)
                if expected is not None:
                    exact_where_tame(f, x, expected)
                out.case(f.name, [x], expected, axes, keepdims, [True] * skip_nan)


def exact_where_tame(f, x, expected):
    """Sums and products of tame values are exact: no error bound."""
    if f.name in ("sum", "prod") or (f.name == "sum_abs" and kind(x.dtype) != "c"):
        expected.ulps = 0
        # The sign of a zero sum or product depends on the order and on the neutral element.
        if kind(expected.value.dtype) in "fc":
            expected.mask = np.where((expected.value.real == 0) | (expected.value.imag == 0)
                                     | ~np.isfinite(expected.value), SIGNS, 0)
        if kind(expected.value.dtype) == "c":
            # Products with infinite parts: nobody defines the other part.
            expected.mask = np.where(np.isfinite(expected.value), expected.mask, ANYTHING)
    if f.name == "sum_abs" and kind(x.dtype) == "c":
        expected.ulps = 4


def sum_of_many(f, out):
    """Naive summation of these would be wrong in the third digit or so."""
    random = np.random.default_rng(21)
    for dtype, count, bound in [("float16", 40000, 2), ("float32", 100000, 16),
                                ("float64", 100000, 16), ("complex64", 100000, 16)]:
        x = random.uniform(0, 1, count)
        x = (x + 1j * random.uniform(0, 1, count) if kind(dtype) == "c" else x).astype(dtype)
        expected = reduction(f, x, None, False, dtype)
        expected.ulps = bound
        out.case(f.name, [x], expected)


def parameter_cases(f, out):
    """Reductions with a number."""
    for dtype in DTYPES:
        compute = f.compute(dtype)
        if f.name in ("var", "stddev"):
            numbers = [(0.0,), (1.0,), (3.0,)]
        else:
            numbers = [(0.0,), (1.0,), (2.0,), (np.inf,), (3.0,), (0.5,)]
        if compute is None:
            out.case(f.name, [tame(dtype, 3)], None, numbers=numbers[0])
            continue
        for x, axes in reduce_inputs(f, dtype):
            for skip_nan, (i, parameters) in itertools.product(f.flags, enumerate(numbers)):
                expected = reduction(f, x, axes, i % 2, compute, parameters, skip_nan)
                out.case(f.name, [x], expected, axes, i % 2, [*parameters, *[True] * skip_nan])


def find_cases(f, out):
    for dtype in DTYPES:
        for x in [special(dtype), tame(dtype, (4, 5)), tame(dtype, (2, 3, 4)), np.zeros(4, dtype),
                  np.ones((2, 2), dtype), np.zeros((0, 3), dtype)]:
            out.case(f.name, [x], Expected(np.flatnonzero(x.ravel(order="F") != 0)
                                           .astype(np.int64)))


def compress_cases(f, out):
    random = np.random.default_rng(31)
    for dtype in DTYPES:
        for x in [special(dtype), tame(dtype, (4, 5)), tame(dtype, (2, 3, 4)), tame(dtype, 3000),
                  np.zeros((0, 3), dtype)]:
            for mask in [random.uniform(size=x.shape) < share for share in (0.01, 0.5, 1)]:
                expected = x.ravel(order="F")[mask.ravel(order="F")]
                out.case(f.name, [x, mask], Expected(expected))
        x, mask = tame(dtype, (4, 5)), random.uniform(size=(4, 5)) < 0.5
        out.case(f.name, [x, mask[:, :4]], None)
        out.case(f.name, [x, mask[:, 0]], None)


def by_matrices(a, b):
    """Axes 0 and 1 are the matrix, the rest a stack; a vector is a column."""
    def stack(x):
        return np.moveaxis(x, (0, 1), (-2, -1))
    return np.moveaxis(np.matmul(stack(a), stack(b)), (-2, -1), (0, 1))


def padded(x, rank):
    return x.reshape(x.shape + (1,) * (rank - x.ndim))


def product(a, b):
    """The product of values of one dtype whose sums and products are exact in it or in float32."""
    scale = [x.size == 1 or (x.ndim >= 3 and x.shape[:2] == (1, 1)) for x in (a, b)]
    half = a.dtype == np.float16
    x, y = (a.astype(np.float32), b.astype(np.float32)) if half else (a, b)
    rank = max(x.ndim, y.ndim)
    if any(scale):
        value = padded(x, rank) * padded(y, rank)
    else:
        rank = max(rank, 2)
        value = by_matrices(padded(x, rank), padded(y, rank))
        if b.ndim == 1:
            value = value[:, 0]
    return value.astype(a.dtype)


MATMUL_SHAPES = [((2, 3), (3, 4)), ((2, 3), (3,)), ((3,), (1, 4)), ((1, 3), (3,)),
                 ((2, 3, 5), (3, 4)), ((2, 3), (3, 4, 5)), ((2, 3, 5), (3, 4, 5)),
                 ((2, 3, 5), (3,)), ((2, 3), (1, 1, 5)), ((2, 3), ()), ((), (4,)),
                 ((2, 0), (0, 3)), ((2, 3, 1, 2), (3, 2, 4)), ((17, 33), (33, 9)), ((1, 1), (3, 4)),
                 ((0, 3), (3, 2)), ((2, 3, 0), (3, 4))]


def matmul_cases(f, out):
    for da in DTYPES:
        for db in DTYPES:
            common = np.promote_types(da, db)
            shapes = MATMUL_SHAPES if da == db else MATMUL_SHAPES[:3]
            for i, (sa, sb) in enumerate(shapes):
                a, b = tame(da, sa, i), tame(db, sb, i + 50)
                if kind(common) in "iu" and da == db and i < 2:
                    random = np.random.default_rng(i)
                    a = random.integers(np.iinfo(da).min, np.iinfo(da).max, sa, da)
                out.case("matmul", [a, b], Expected(product(a.astype(common), b.astype(common)),
                                                    mask=np.full((1,), SIGNS)))
    for dtype in DTYPES:
        if kind(dtype) not in "fc":
            continue
        random = np.random.default_rng(8)
        a, b = random.uniform(0.5, 1, (37, 70)), random.uniform(0.5, 1, (70, 41))
        if kind(dtype) == "c":
            a, b = a + 0.25j, b - 0.25j
        a, b = a.astype(dtype), b.astype(dtype)
        wide = np.clongdouble if kind(dtype) == "c" else np.longdouble
        out.case("matmul", [a, b], Expected((a.astype(wide) @ b.astype(wide)).astype(dtype),
                                            2 if dtype == "float16" else 16, by_modulus=True))


def converted(x, dtype):
    """As cast: to integers truncating and saturating, NaN to 0; to bool `!= 0`."""
    target = np.dtype(dtype)
    if target == bool:
        return x != 0
    if kind(x.dtype) == "c" and kind(dtype) != "c":
        x = x.real
    if kind(x.dtype) == "f" and kind(dtype) in "iu":
        info = np.iinfo(dtype)
        values = [0 if v != v else info.max if v >= info.max else info.min if v <= info.min
                  else int(v) for v in x.tolist()]
        return np.array(values, dtype)
    return x.astype(dtype)


def copy_cases(f, out):
    for source in DTYPES:
        for target in DTYPES:
            x = dense(source) if kind(source) != "c" else special(source)
            out.case("copy", [x], Expected(converted(x, target)))


def join_cases(out):
    """concatenate: no function of the list; copies with promotion."""
    for da in DTYPES:
        for db in DTYPES:
            common = np.promote_types(da, db)
            a, b = tame(da, (2, 3)), tame(db, (2, 2), 1)
            value = np.concatenate([converted(a.ravel(), common).reshape(a.shape),
                                    converted(b.ravel(), common).reshape(b.shape)], 1)
            out.case("concatenate", [a, b], Expected(value), [1])
    for dtype in DTYPES:
        a, b = tame(dtype, (2, 3)), tame(dtype, (5, 3), 1)
        out.case("concatenate", [a, b, a], Expected(np.concatenate([a, b, a])), [0])
        out.case("stack", [a, a, a], Expected(np.stack([a, a, a], 1)), [1])
        out.case("concatenate", [a, b], None, [1])


def steps_cases(f, out):
    for dtype in DTYPES:
        if dtype not in f.domain:
            continue
        small = (3, 40, 4) if kind(dtype) == "u" else (-20, 21, 7)
        for numbers in [small, small[:1] + (small[0] + 1, 3), (5, 5, 1), (20, 2, -3)]:
            value = np.arange(*numbers).astype(dtype)
            out.case("arange", [np.zeros(0, dtype)], Expected(value), numbers=numbers)
        if kind(dtype) in "fc":
            for numbers in [(-1.0, 2.0, 0.25), (0.0, 1.0, 0.3), (2.0, -1.0, -0.5)]:
                value = numbers[0] + np.arange(np.ceil((numbers[1] - numbers[0]) / numbers[2])
                                               ) * numbers[2]
                out.case("arange", [np.zeros(0, dtype)], Expected(value.astype(dtype), 1),
                         numbers=numbers)
            for count in (1, 2, 7, 50):
                for endpoint in (True, False):
                    value = np.linspace(-1.5, 2.25, count, endpoint).astype(dtype)
                    out.case("linspace", [np.zeros(0, dtype)], Expected(value, 2), flag=endpoint,
                             numbers=(-1.5, 2.25, count))


def fill_cases(f, out):
    for dtype in DTYPES:
        for number in [True, 3] + ([-2.5] if kind(dtype) in "fc" else []):
            for shape in [(5,), (3, 4), (), (0, 2)]:
                out.case("fill", [tame(dtype, shape)], Expected(np.full(shape, number, dtype)),
                         numbers=[number])


def index_cases(f, out):
    """Index tensors: one per axis (an outer product), a mask, or coordinates as columns."""
    random = np.random.default_rng(31)
    for dtype in DTYPES:
        vector, matrix = special(dtype), random.choice(special(dtype), (5, 4))
        cube = random.choice(special(dtype), (3, 4, 2))
        for x, index in [
            (vector, [np.array([1, 0, -1, 0, 1])]), (vector, [np.zeros(0, np.int64)]),
            (vector, [random.integers(0, 2, vector.shape) != 0]),
            (matrix, [np.array([4, -5, 4], np.int16)]),
            (matrix, [np.array([3, 1]), np.array([0, 3, 0], np.uint8)]),
            (matrix, [random.integers(0, 2, matrix.shape) != 0]),
            (matrix, [np.array([[0, 4, 2, 0], [3, -1, 1, 3]])]),
            (cube, [np.array([2, 0])]), (cube, [random.integers(0, 2, (3, 4)) != 0]),
            (cube, [np.array([[0, 2], [3, 1]]), np.array([1, 0, 1])])]:
            # Every index as one array of coordinates per axis it takes, on an axis of its own.
            where = []
            for i in index:
                if i.dtype == bool:
                    where.append(np.array(i.T.nonzero())[::-1])
                else:
                    where.append(np.atleast_2d(i))
            grid = []
            for axis, coordinates in enumerate(where):
                shape = [-1 if k == axis else 1 for k in range(len(where))]
                grid += [c.reshape(shape) for c in coordinates]
            if f.name == "gather":
                out.case("gather", [x, *index], Expected(x[tuple(grid)]))
                continue
            # Repeated positions: the last one in column-major order stays.
            after = x.copy()
            values = random.choice(special(dtype), x[tuple(grid)].shape)
            grid = np.broadcast_arrays(*grid)
            for at in np.ndindex(grid[0].shape[::-1]):
                after[tuple(g[at[::-1]] for g in grid)] = values[at[::-1]]
            out.case("scatter", [x, values, *index], Expected(after))
        out.case(f.name, [vector] + [vector[:1]] * (f.name == "scatter") + [np.array([99])], None)


def main(lists, path):
    ids = {row[3]: int(row[0])
           for row in read_list(Path(lists) / "dtypes.inc", "ATOLL_DTYPE")}
    functions = [Function(*row[1:7])
                 for row in read_list(Path(lists) / "functions.inc", "ATOLL_FUNCTION")]
    assert len(functions) > 100 and set(DTYPES) < set(ids)
    out = Writer(ids)
    with np.errstate(all="ignore"):
        for f in functions:
            f.cases(f, out)
            if f.name in ("sum", "mean"):
                sum_of_many(f, out)
        join_cases(out)
    out.write(path)


if __name__ == "__main__":
    main(*sys.argv[1:])
