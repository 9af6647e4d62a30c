"""The values that the golden cases are made of: those at which implementations go wrong."""
import itertools

import numpy as np

DTYPES = """bool int8 int16 int32 int64 uint8 uint16 uint32 uint64
            float16 float32 float64 complex64 complex128""".split()
REALS = [d for d in DTYPES if not d.startswith("complex")]


def kind(dtype):
    return np.dtype(dtype).kind  # one of b i u f c


def part(dtype):
    return {"complex64": np.dtype("float32"), "complex128": np.dtype("float64")}.get(
        np.dtype(dtype).name, np.dtype(dtype))


def _integers(dtype):
    info = np.iinfo(dtype)
    width = 8 * np.dtype(dtype).itemsize
    values = [0, 1, 2, 3, 5, 7, 8, 100, width - 1, width, info.max, info.max - 1, info.max // 2]
    if info.min < 0:
        values += [-1, -2, -3, -7, -100, info.min, info.min + 1]
    else:
        values += [info.max // 2 + 1]
    if width >= 32:
        values += [2**24 + 1, 2**31 - 1]
    if width == 64:
        values += [2**53 - 1, 2**53, 2**53 + 1, 2**62 + 1, 10**18 + 7]
        values += [-(2**53) - 1, -(2**62) - 1] if info.min < 0 else [2**63 - 1, 2**63 + 1]
    return np.array(sorted(set(values)), dtype)


def _floats(dtype):
    info = np.finfo(dtype)
    tiny = float(info.smallest_subnormal)
    normal, largest = float(info.smallest_normal), float(info.max)
    values = [0.0, -0.0, 1, -1, 0.5, -0.5, 1.5, -1.5, 2, -2, 2.5, -2.5, 3, -3, 7.25, 10, -100.75,
              np.pi, 0.1, -1e-3, tiny, -tiny, normal, normal - tiny, largest, -largest,
              1 + float(info.eps), 1 - float(info.eps) / 2, np.inf, -np.inf, np.nan]
    if np.dtype(dtype).itemsize == 8:
        values += [2.0**53, 2.0**53 + 2, 1e300, -1e-300]
    if np.dtype(dtype).itemsize >= 4:
        values += [2.0**24, 2.0**63, -(2.0**63), 2.0**64, 1e30]
    return np.array(values, dtype)


def join(re, im, dtype):
    """A complex array by its parts: 1j * im would turn an infinite im into NaN + inf j."""
    re, im = np.broadcast_arrays(re, im)
    z = np.empty(re.shape, dtype)
    z.real, z.imag = re, im
    return z


def _complexes(dtype):
    info = np.finfo(dtype)
    tiny, huge = float(info.smallest_subnormal), float(info.max)
    inf, nan = np.inf, np.nan
    pairs = [(0, 0.0), (-0.0, 0.0), (0, -0.0), (1, 0.0), (-1, 0.0), (-1, -0.0), (0, 1), (0, -1),
             (2, 0.0), (2, -0.0), (-2, 0.0), (-2, -0.0), (0.5, -0.0), (0.0, 2), (-0.0, 2), (0, -2),
             (1, 1), (-1.5, 2.5), (3, -4), (0.1, -0.7), (inf, 0.0), (-inf, 1), (1, inf),
             (inf, -inf), (nan, 0.0), (0.0, nan), (nan, inf), (huge, huge), (huge, 1),
             (tiny, tiny), (1, tiny), (huge / 4, -huge / 4)]
    return join(*np.array(pairs, part(dtype)).T, dtype)


def special(dtype):
    """A vector of some twenty to forty."""
    return {"b": lambda _: np.array([False, True]), "i": _integers, "u": _integers, "f": _floats,
            "c": _complexes}[kind(dtype)](dtype)


def dense(dtype):
    """Many more, for functions of one operand: every float16, a grid of complex numbers."""
    random = np.random.default_rng(7)
    if dtype == "float16":
        return np.arange(2**16, dtype=np.uint16).view(np.float16)
    if kind(dtype) == "f":
        ordinary = random.uniform(-4, 4, 200)
        spread = random.uniform(-1, 1, 200) * 10.0 ** random.integers(-12, 6, 200)
        return np.concatenate([special(dtype), ordinary.astype(dtype), spread.astype(dtype)])
    if kind(dtype) == "c":
        info = np.finfo(dtype)
        tiny, normal = float(info.smallest_subnormal), float(info.smallest_normal)
        largest, above = float(info.max), 1 + float(info.eps)
        parts = [0.0, -0.0, tiny, -normal, 1e-5, 0.5, -0.5, 1, -1, above, -above, 2, -3.25, 20,
                 float(np.log(largest)) + 0.5, -largest, largest / 4, np.inf, -np.inf, np.nan]
        grid = np.array(list(itertools.product(parts, parts)), part(dtype))
        ordinary = random.uniform(-4, 4, (200, 2)).astype(part(dtype))
        return join(*np.concatenate([grid, ordinary]).T, dtype)
    return special(dtype)


def tame(dtype, shape, seed=0):
    """Small dyadic numbers: their sums and products are exact in every dtype and any order."""
    random = np.random.default_rng(seed)
    if kind(dtype) == "b":
        return random.integers(0, 2, shape).astype(bool)
    if kind(dtype) in "iu":
        low = -9 if kind(dtype) == "i" else 0
        return random.integers(low, 10, shape).astype(dtype)
    numbers = random.integers(-40, 41, shape) / 4
    if kind(dtype) == "f":
        return numbers.astype(dtype)
    return join(numbers, random.integers(-40, 41, shape) / 4, dtype)


def factors(dtype, shape, seed=0):
    """Numbers whose product stays exact: powers of two, and Gaussian units."""
    random = np.random.default_rng(seed)
    if kind(dtype) in "biu":
        return tame(dtype, shape, seed) if kind(dtype) != "b" else np.ones(shape, bool)
    if kind(dtype) == "f":
        return random.choice([1, -1, 2, 0.5, -2], shape).astype(dtype)
    return random.choice([1, 1j, -1j, 2, 0.5, 1 + 1j, 1 - 1j], shape).astype(dtype)
