#!/usr/bin/env python3
"""The rows of `atoll bench` beside NumPy, bare calls of OpenBLAS and, where it is installed, PyTorch,
on the same machine.

    peers.py [--atoll PATH] [--threads N] [--turns N] [--json | --markdown] [ROW...]

Ours and the peers take turns, and the best of each counts. A ratio above 1 says that we are faster.
Some rows are also compared with what limits them, measured in the same run: those bound by memory
with a plain loop (ours as a part of its rate), small ones with a call straight to the kernel (its time
as a part of ours). --markdown prints the table of RESULTS.md, with the machine and the versions.
Rows are names or patterns ('e*'); without any: all that have a peer but the contractions t1 to t48,
which take minutes. NumPy computes with one thread (its products with --threads), OpenBLAS and PyTorch
with --threads (default 1). Variables that choose OpenBLAS's kernels are not passed on: it
chooses for the machine, as it does within the plugin.
"""
import argparse
import ctypes
import fnmatch
import json
import math
import os
import pathlib
import re
import statistics
import subprocess
import sys
import time

for variable in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):
    os.environ.pop(variable, None)
OPTIONS = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
OPTIONS.add_argument("rows", nargs="*", metavar="ROW")
OPTIONS.add_argument("--atoll", default="atoll", help="the command (default: the one on PATH)")
OPTIONS.add_argument("--threads", type=int, default=1)
OPTIONS.add_argument("--turns", type=int, default=3, help="how often each is measured")
OPTIONS.add_argument("--json", action="store_true")
OPTIONS.add_argument("--markdown", action="store_true")
options = OPTIONS.parse_args()
# Before NumPy opens OpenBLAS.
os.environ["OPENBLAS_NUM_THREADS"] = str(options.threads)
import numpy as np

try:
    import torch
    torch.set_num_threads(options.threads)
except ImportError:
    torch = None

M = 1_000_000
ROWS = {}
generator = np.random.default_rng(1)


def row(name, peer="numpy"):
    """Registers a function that makes the row's work ready and returns it: the peer's part of a row."""
    return lambda prepare: ROWS.setdefault(name, {}).setdefault(peer, prepare)


def random(shape, dtype, low=0.5, high=2.0):
    # Column-major, as ours.
    return np.asfortranarray(generator.uniform(low, high, shape).astype(dtype))


def binary(function, size, dtype, low=0.5, high=2.0):
    a, b = random(size, dtype, low, high), random(size, dtype, low, high)
    return lambda: function(a, b)


def unary(function, dtype, low=0.5, high=2.0, size=M):
    a = random(size, dtype, low, high)
    return lambda: function(a)


def into(size):
    a, b = random(size, "f4"), random(size, "f4")
    out = np.empty_like(a)
    return lambda: np.add(a, b, out=out)


def rows_of_elements():
    row("o1")(lambda: binary(np.add, 1, "f4"))
    row("o2")(lambda: into(1))
    row("o4")(lambda: binary(np.add, 1000, "f4"))
    row("e1")(lambda: binary(np.add, 10 * M, "f4"))
    row("e2")(lambda: into(10 * M))
    row("e8")(lambda: unary(np.sqrt, "f8"))
    row("e9")(lambda: unary(np.exp, "f4", -5, 5))
    row("e10")(lambda: unary(np.sin, "f8", -9, 9))
    row("e11")(lambda: unary(np.tanh, "f4", -3, 3))
    row("e12")(lambda: unary(np.log, "f8"))
    row("e14")(lambda: binary(np.less, 10 * M, "f4"))
    row("e15")(lambda: binary(np.add, 10 * M, "i1", -60, 60))
    row("e16")(lambda: binary(np.add, M, "f2"))
    row("e17")(lambda: binary(np.multiply, M, "c8"))


@row("o3")
def _():
    a = random((20, 30), "f4")
    return lambda: a[2:10, 3]


def rows_of_small_calls():
    row("g1")(lambda: unary(np.sum, "f4", size=4))
    row("g4")(lambda: unary(np.sort, "f4", size=4))


@row("g2")
def _():
    a, b = random((3, 4), "f4"), random((1, 4), "f4")
    return lambda: a + b


@row("g3")
def _():
    a, b = random((2, 2), "f4"), random((2, 2), "f4")
    return lambda: a @ b


@row("g5")
def _():
    a, b = random(4, "i4", 0, 100), random(4, "f8")
    return lambda: a + b


@row("e3")
def _():
    a, b = random(M, "i4", 0, 100), random(M, "f4")
    return lambda: a + b


@row("e4")
def _():  # ours aligns the first axes: a column
    a, b = random((3000, 3000), "f4"), random((3000, 1), "f4")
    return lambda: a + b


@row("e5")
def _():
    a, b = random((3000, 3000), "f4"), random((1, 3000), "f4")
    return lambda: a + b


@row("e6")
def _():
    a, b = random(10 * M, "f4")[::2], random(10 * M, "f4")[::2]
    return lambda: a + b


@row("e7")
def _():
    a, b = random((2000, 2000), "f8"), random((2000, 2000), "f8").T
    return lambda: a + b


@row("e13")
def _():
    a, b = random(M, "f4"), random(M, "f4", -2, 2)
    return lambda: np.power(a, b)


@row("e18")
def _():
    a, b = random(M, "i4", -1e6, 1e6), random(M, "i4", 1, 1000)
    return lambda: np.floor_divide(a, b)


@row("e19")
def _():
    a = random(M, "f8")
    out = np.empty(M, "f4")
    return lambda: np.copyto(out, a, casting="same_kind")


@row("e20")
def _():
    a, b = random(M, "f8"), random(M, ">f8")
    return lambda: a + b


def reduction(name, shape, dtype, function):
    @row(name)
    def _():
        a = random(shape, dtype)
        return lambda: function(a)


def rows_of_reductions():
    reduction("r1", 10 * M, "f4", np.sum)
    reduction("r2", (4000, 4000), "f4", lambda a: np.sum(a, 1))
    reduction("r3", (4000, 4000), "f4", lambda a: np.sum(a, 0))
    reduction("r4", 10 * M, "f4", np.max)
    reduction("r5", M, "f8", np.linalg.norm)
    reduction("r6", (100, 200, 300), "f4", lambda a: np.sum(a, 1))


@row("r7")
def _():
    a = np.zeros(10 * M, "?")
    return lambda: np.any(a)


def rows_of_short_axes():
    of_3, of_16, of_32 = (3, 333_333), (16, 62_500), (32, 31_250)
    reduction("s2", of_16, "f8", lambda a: np.sum(a, 0))
    reduction("s3", of_16, "f4", lambda a: np.argmax(a, 0))
    reduction("s4", of_3, "f4", lambda a: np.sum(a, 1))
    reduction("s5", of_16, "f8", lambda a: np.cumsum(a, 0))
    reduction("s6", of_32, "f4", lambda a: np.sort(a, 0))
    reduction("s7", of_32, "f4", lambda a: np.argsort(a, 0, kind="stable"))


@row("s1")
def _():
    a, b = random((3, 333_333), "f4"), random((1, 333_333), "f4")
    return lambda: a - b


@row("s8")
def _():
    a, b = random((3, 3), "f4"), random((3, 333_333), "f4")
    return lambda: a @ b


def copying(name, make):
    @row(name)
    def _():
        a = make()
        out = np.empty(a.shape, a.dtype, order="F")
        return lambda: np.copyto(out, a)


def rows_of_copies():
    copying("c1", lambda: random((4000, 4000), "f8").T)
    copying("c2", lambda: random((200, 220, 240), "f4").transpose(2, 0, 1))
    copying("c3", lambda: random(10 * M, "f4"))


@row("i1")
def _():
    a, at = random(10 * M, "f4"), random(M, "i8", 0, 10 * M)
    return lambda: a[at]


@row("i2")
def _():
    a = random(10 * M, "f4")
    mask = a < 1.25
    return lambda: a[mask]


@row("i3")
def _():
    a, values, at = np.zeros(10 * M, "f4"), random(M, "f4"), random(M, "i8", 0, 10 * M)

    def scatter():
        a[at] = values

    return scatter


def openblas():
    return ctypes.CDLL("libopenblas.so.0")


def gemm(name, function, size, dtype, complex_scalars=False):
    @row(name, "openblas")
    def _():
        a, b, c = (random((size, size), dtype) for _ in range(3))
        call = getattr(openblas(), function)
        if complex_scalars:
            one, zero = (ctypes.c_float * 2)(1, 0), (ctypes.c_float * 2)(0, 0)
        else:
            number = ctypes.c_double if dtype == "f8" else ctypes.c_float
            one, zero = number(1), number(0)
        address = [ctypes.c_void_p(t.ctypes.data) for t in (a, b, c)]
        # 102: column-major; 111: not transposed.
        return lambda: (call(102, 111, 111, size, size, size, one, address[0], size, address[1], size,
                             zero, address[2], size), a, b, c)


def rows_of_products():
    gemm("m1", "cblas_dgemm", 1000, "f8")
    gemm("m2", "cblas_sgemm", 2000, "f4")
    gemm("m7", "cblas_cgemm", 500, "c8", complex_scalars=True)


def stacks(name, count, dtype):
    # Stacks come first there.
    def factors():
        return [np.ascontiguousarray(random((count, 16, 16), dtype)) for _ in range(2)]

    @row(name)
    def _():
        a, b = factors()
        return lambda: a @ b

    if torch:
        @row(name, "torch")
        def _():
            a, b = map(torch.from_numpy, factors())
            return lambda: torch.bmm(a, b)


def rows_of_stacks():
    stacks("m3", 1000, "f8")
    stacks("m8", 1000, "f4")
    stacks("m9", 100, "f8")
    stacks("m10", 100, "f4")


def contraction(name, text, extents):
    inputs = text.split("->")[0].split(",")

    def factors():
        return [random([extents[label] for label in term], "f8") for term in inputs]

    @row(name)
    def _():
        a, b = factors()
        return lambda: np.einsum(text, a, b, optimize=True)

    if torch:
        @row(name, "torch")
        def _():
            a, b = map(torch.from_numpy, factors())
            return lambda: torch.einsum(text, a, b)


# ---- small programs ----

@row("p1")
def _():
    x = random((1000, 1000), "f4", -5, 5)

    def softmax():
        e = np.exp(x - x.max(0, keepdims=True))
        return e / e.sum(0, keepdims=True)

    return softmax


@row("p2")
def _():
    x = random((1000, 1000), "f4", -5, 5)
    return lambda: (x - x.mean(0, keepdims=True)) / np.sqrt(x.var(0, keepdims=True) + np.float32(1e-5))


@row("p3")
def _():
    x = random(M, "f8")
    return lambda: (x[:-2] + x[1:-1] + x[2:]) * (1 / 3)


@row("p4")
def _():
    x, edges = random(M, "f8"), np.linspace(0.5, 2, 256)
    return lambda: np.searchsorted(edges, x)


def rows_of_programs():
    row("p5")(lambda: unary(np.sort, "f4"))
    row("p6")(lambda: unary(lambda x: np.argsort(x, kind="stable"), "f4"))
    row("p7")(lambda: unary(np.cumsum, "f4", size=10 * M))


@row("p8")
def _():
    a, b = random(10 * M, "f4"), random(10 * M, "f4")
    mask = a < 1.25
    return lambda: np.where(mask, a, b)


@row("p9")
def _():
    x, factors = random((1024, 1024), "c8"), random((1, 1024), "c8")
    return lambda: x * factors


@row("p10")
def _():
    a = random((300, 300), "f4")
    return lambda: a @ a @ a @ a


@row("p11")
def _():
    x = random(M, "f4")
    return lambda: np.clip(x, 0.8, 1.6)


@row("p12")
def _():
    x = random(M, "f8")
    return lambda: np.histogram(x, 100, (0.5, 2))


@row("p13")
def _():
    x = random(M, "f4")

    def largest():
        at = np.argpartition(x, -100)[-100:]
        return at[np.argsort(-x[at])]

    return largest


@row("p14")
def _():
    a = random(10 * M, "f4")
    mask = a < 1.25

    def write():
        a[mask] = 1

    return write


@row("p15")
def _():
    bins, weights = random(M, "i8", 0, 1000), random(M, "f8")
    return lambda: np.bincount(bins, weights)


@row("p16")
def _():
    x, counts = random(M, "f4"), random(M, "i8", 0, 3)
    return lambda: np.repeat(x, counts)


# ---- PyTorch's parts of the rows above ----

def torch_row(name, function, *arrays):
    """`arrays` make NumPy's operands, whose memory PyTorch's share."""
    @row(name, "torch")
    def _():
        operands = [torch.from_numpy(make()) for make in arrays]
        return lambda: function(*operands)


def numbers(shape, dtype="f4", low=0.5, high=2.0):
    return lambda: random(shape, dtype, low, high)


def torch_rows():
    n, big, square = numbers(1), numbers(10 * M), numbers((4000, 4000))
    torch_row("o1", torch.add, n, n)
    torch_row("o2", lambda a, b, out: torch.add(a, b, out=out), n, n, n)
    torch_row("o3", lambda a: a[2:10, 3], numbers((20, 30)))
    torch_row("o4", torch.add, numbers(1000), numbers(1000))
    torch_row("g1", torch.sum, numbers(4))
    torch_row("g2", torch.add, numbers((3, 4)), numbers((1, 4)))
    torch_row("g3", torch.matmul, numbers((2, 2)), numbers((2, 2)))
    torch_row("g4", torch.sort, numbers(4))
    torch_row("g5", torch.add, numbers(4, "i4", 0, 100), numbers(4, "f8"))
    torch_row("e1", torch.add, big, big)
    torch_row("e2", lambda a, b, out: torch.add(a, b, out=out), big, big, big)
    torch_row("e4", torch.add, numbers((3000, 3000)), numbers((3000, 1)))
    torch_row("e5", torch.add, numbers((3000, 3000)), numbers((1, 3000)))
    torch_row("e6", lambda a, b: a[::2] + b[::2], big, big)
    torch_row("e7", lambda a, b: a + b.T, numbers((2000, 2000), "f8"), numbers((2000, 2000), "f8"))
    torch_row("e8", torch.sqrt, numbers(M, "f8"))
    torch_row("e9", torch.exp, numbers(M, "f4", -5, 5))
    torch_row("e10", torch.sin, numbers(M, "f8", -9, 9))
    torch_row("e11", torch.tanh, numbers(M, "f4", -3, 3))
    torch_row("e12", torch.log, numbers(M, "f8"))
    torch_row("e13", torch.pow, numbers(M), numbers(M, "f4", -2, 2))
    torch_row("e14", torch.lt, big, big)
    torch_row("e15", torch.add, numbers(10 * M, "i1", -60, 60), numbers(10 * M, "i1", -60, 60))
    torch_row("e16", torch.add, numbers(M, "f2"), numbers(M, "f2"))
    torch_row("e17", torch.mul, numbers(M, "c8"), numbers(M, "c8"))
    torch_row("e18", torch.floor_divide, numbers(M, "i4", -1e6, 1e6), numbers(M, "i4", 1, 1000))
    torch_row("e19", lambda a, out: out.copy_(a), numbers(M, "f8"), numbers(M))
    of_3, of_16, of_32 = numbers((3, 333_333)), numbers((16, 62_500)), numbers((32, 31_250))
    torch_row("s1", torch.sub, of_3, numbers((1, 333_333)))
    torch_row("s2", lambda a: torch.sum(a, 0), numbers((16, 62_500), "f8"))
    torch_row("s3", lambda a: torch.argmax(a, 0), of_16)
    torch_row("s4", lambda a: torch.sum(a, 1), of_3)
    torch_row("s5", lambda a: torch.cumsum(a, 0), numbers((16, 62_500), "f8"))
    torch_row("s6", lambda a: torch.sort(a, 0), of_32)
    torch_row("s7", lambda a: torch.argsort(a, dim=0, stable=True), of_32)
    torch_row("s8", torch.matmul, numbers((3, 3)), of_3)
    torch_row("r1", torch.sum, big)
    torch_row("r2", lambda a: torch.sum(a, 1), square)
    torch_row("r3", lambda a: torch.sum(a, 0), square)
    torch_row("r4", torch.max, big)
    torch_row("r5", torch.linalg.vector_norm, numbers(M, "f8"))
    torch_row("r6", lambda a: torch.sum(a, 1), numbers((100, 200, 300)))
    torch_row("r7", torch.any, lambda: np.zeros(10 * M, "?"))
    torch_row("c1", lambda a, out: out.T.copy_(a), numbers((4000, 4000), "f8"), numbers((4000, 4000), "f8"))
    torch_row("c2", lambda a, out: out.copy_(a.permute(2, 0, 1)), numbers((200, 220, 240)), numbers((240, 200, 220)))
    torch_row("c3", lambda a, out: out.copy_(a), big, big)
    index = numbers(M, "i8", 0, 10 * M)
    torch_row("i1", lambda a, at: a[at], big, index)
    torch_row("i2", lambda a, mask: a[mask], big, lambda: random(10 * M, "f4") < 1.25)

    def scatter(a, values, at):
        a[at] = values

    torch_row("i3", scatter, big, numbers(M), index)
    torch_row("m5", torch.matmul, numbers((300, 300), "i4", 0, 9), numbers((300, 300), "i4", 0, 9))
    torch_row("m1", torch.matmul, numbers((1000, 1000), "f8"), numbers((1000, 1000), "f8"))
    torch_row("m2", torch.matmul, numbers((2000, 2000)), numbers((2000, 2000)))
    torch_row("m4", torch.mv, numbers((3000, 3000), "f8"), numbers(3000, "f8"))
    torch_row("m6", torch.matmul, numbers((300, 300), "f2"), numbers((300, 300), "f2"))
    torch_row("m7", torch.matmul, numbers((500, 500), "c8"), numbers((500, 500), "c8"))

    @row("m11", "torch")
    def _():
        a, b = (torch.from_numpy(random((1000, 1000), "f4")).bfloat16() for _ in range(2))
        return lambda: a @ b

    torch_row("m12", torch._int_mm, numbers((1000, 1000), "i1", -9, 9), numbers((1000, 1000), "i1", -9, 9))
    torch_row("p1", lambda x: torch.softmax(x, 0), numbers((1000, 1000), "f4", -5, 5))
    torch_row("p2", lambda x: (x - x.mean(0, keepdim=True)) / torch.sqrt(x.var(0, correction=0, keepdim=True) + 1e-5),
              numbers((1000, 1000), "f4", -5, 5))
    torch_row("p3", lambda x: (x[:-2] + x[1:-1] + x[2:]) * (1 / 3), numbers(M, "f8"))
    torch_row("p4", torch.searchsorted, lambda: np.linspace(0.5, 2, 256), numbers(M, "f8"))
    torch_row("p5", torch.sort, numbers(M))
    torch_row("p6", lambda x: torch.argsort(x, stable=True), numbers(M))
    torch_row("p7", lambda x: torch.cumsum(x, 0), big)
    torch_row("p8", torch.where, lambda: random(10 * M, "f4") < 1.25, big, big)
    torch_row("p9", torch.mul, numbers((1024, 1024), "c8"), numbers((1, 1024), "c8"))
    torch_row("p10", lambda a: a @ a @ a @ a, numbers((300, 300)))
    torch_row("p11", lambda x: torch.clamp(x, 0.8, 1.6), numbers(M))
    torch_row("p12", lambda x: torch.histc(x, 100, 0.5, 2), numbers(M, "f8"))
    torch_row("p13", lambda x: torch.topk(x, 100), numbers(M))
    torch_row("p14", lambda a, mask: a.masked_fill_(mask, 1), big, lambda: random(10 * M, "f4") < 1.25)
    torch_row("p15", torch.bincount, numbers(M, "i8", 0, 1000), numbers(M, "f8"))
    torch_row("p16", torch.repeat_interleave, numbers(M), numbers(M, "i8", 0, 3))


def rows_of_contractions():
    cases = pathlib.Path(__file__).parents[2] / "tools" / "atoll" / "tccg.inc"
    found = re.findall(r'^ATOLL_TCCG\("(.*)", "(.*)"\)', cases.read_text(), re.M)
    for number, (text, extents) in enumerate(found, 1):
        contraction(f"t{number}", text, {e[0]: int(e[1:]) for e in extents.split()})


@row("m4", "openblas")
def _():
    n = 3000
    a, x, y = random((n, n), "f8"), random(n, "f8"), np.zeros(n)
    call = openblas().cblas_dgemv
    one, zero = ctypes.c_double(1), ctypes.c_double(0)
    address = [ctypes.c_void_p(t.ctypes.data) for t in (a, x, y)]
    return lambda: (call(102, 111, n, n, one, address[0], n, address[1], 1, zero, address[2], 1), a, x, y)


@row("m5")
def _():
    a, b = random((300, 300), "i4", 0, 9), random((300, 300), "i4", 0, 9)
    return lambda: a @ b


@row("m6")
def _():
    a, b = random((300, 300), "f2"), random((300, 300), "f2")
    return lambda: a @ b


@row("q1")
def _():
    a = random((200, 200), "f8", -1, 1)

    def factorise():
        q, r = a.copy(order="F"), np.zeros((200, 200))
        for i in range(200):
            r[i, i] = np.linalg.norm(q[:, i])
            q[:, i] /= r[i, i]
            r[i, i + 1:] = q[:, i] @ q[:, i + 1:]
            q[:, i + 1:] -= np.outer(q[:, i], r[i, i + 1:])

    return factorise


def seconds_of(work):
    """Of one run, best of some rounds of 20 ms or more; two of what takes seconds."""
    repeats, took = 1, 0.0
    while took < 0.02:
        start = time.perf_counter()
        for _ in range(repeats):
            work()
        took = time.perf_counter() - start
        repeats = repeats if took >= 0.02 else repeats * 2
    best = took / repeats
    for _ in range(4 if took < 1 else 1):
        start = time.perf_counter()
        for _ in range(repeats):
            work()
        best = min(best, (time.perf_counter() - start) / repeats)
    return best


def ours(name):
    rounds = "2" if name.startswith("t") else "5"
    command = [options.atoll, "bench", name, "--json", "--rounds", rounds, "--threads", str(options.threads)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"peers: {' '.join(command)} failed: {done.stderr.strip()}")
    return json.loads(done.stdout)["rows"][0]


# Rows of the bench that show what a row is limited by, on one thread and on all: plain loops for rows
# whose operands exceed the caches of a core and that compute little with each element, as many bytes
# per second as the loop; calls straight to the kernel, in the time that they take.
LIMITS = {("b1", "b2"): "e1 e2 e4 e5 e6 e7 e14 e15 c1 c2 c3 p7 p8 p14".split(), ("b3", "b4"): "r1 r2 r3 r4 r6".split(),
          ("b5", "b5"): ["o1", "o2"], ("b6", "b6"): ["o4"]}


def limiting_row(name):
    return next((row[options.threads > 1] for row, limited in LIMITS.items() if name in limited), None)


def part_of_limit(measured, seconds, limit):
    """How near a row comes to what limits it."""
    if limit["id"] in ("b5", "b6"):
        return limit["seconds"] / seconds
    return measured["bytes"] / seconds / (limit["bytes"] / limit["seconds"])


def measured_row(name, limits):
    """Ours, every peer and the limit, in turns. `limits`: the best of this run so far, by row."""
    peers = {peer: prepare() for peer, prepare in ROWS[name].items()}
    seconds = dict.fromkeys(peers, math.inf)
    mine = math.inf
    limit = limiting_row(name)
    for _ in range(options.turns):
        measured = ours(name)
        mine = min(mine, measured["seconds"])
        for peer, work in peers.items():
            seconds[peer] = min(seconds[peer], seconds_of(work))
        if limit:
            limits[limit] = min(ours(limit), limits.get(limit, {"seconds": math.inf}), key=lambda row: row["seconds"])
    return {"id": name, "what": measured["what"], "seconds": mine, "peers": seconds,
            "limit": part_of_limit(measured, mine, limits[limit]) if limit else None,
            "ratios": {peer: other / mine for peer, other in seconds.items()}}


def text_of(result):
    peers = "  ".join(f"{peer} {other * 1e6:.2f} µs, ratio {result['ratios'][peer]:.2f}"
                      for peer, other in result["peers"].items())
    limit = f"  of the limit {result['limit']:.2f}" if result["limit"] else ""
    return f"{result['id']:4} {result['what']:60} {result['seconds'] * 1e6:12.2f} µs  {peers}{limit}"


def markdown_of(result):
    ratio = lambda peer: f"{result['ratios'][peer]:.2f}" if peer in result["ratios"] else ""
    of_numpy = ratio("numpy") or (ratio("openblas") and ratio("openblas") + " (OpenBLAS)")
    limit = f"{result['limit']:.2f}" if result["limit"] else ""
    return f"| {result['id']} | {result['what']} | {result['seconds'] * 1e6:,.2f} | {of_numpy} | {ratio('torch')} | {limit} |"


def machine():
    """The processor, its caches as the system reports them, and the versions."""
    facts = dict(line.split(":", 1) for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines() if ":" in line)
    facts = {key.strip(): value.strip() for key, value in facts.items()}
    caches = []
    for cache in sorted(pathlib.Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        read = lambda what: (cache / what).read_text().strip()
        if read("type") != "Instruction":
            caches.append(f"L{read('level')} {read('size')}")
    versions = [f"NumPy {np.__version__}"] + ([f"PyTorch {torch.__version__}"] if torch else [])
    return (f"{facts.get('model name', 'processor')}, family {facts.get('cpu family')}, model {facts.get('model')}, "
            f"{len(os.sched_getaffinity(0))} processors, {', '.join(caches)}; {', '.join(versions)}; "
            f"{options.threads} thread{'s' * (options.threads != 1)}, best of {options.turns} turns")


def sum_up(results):
    """Geometric means, and the rows on which the better peer of each is ahead."""
    for peer in sorted({peer for r in results for peer in r["ratios"]}):
        ratios = [r["ratios"][peer] for r in results if peer in r["ratios"]]
        print(f"geometric mean beside {peer}: {statistics.geometric_mean(ratios):.2f} ({len(ratios)} rows)")
    better = {r["id"]: min(r["ratios"].values()) for r in results}
    print(f"beside the better of them: {statistics.geometric_mean(better.values()):.2f} ({len(better)} rows)")
    listed = lambda rows: ", ".join(f"{name} {value:.2f}" for name, value in rows.items()) or "none"
    print("behind: " + listed({name: ratio for name, ratio in better.items() if ratio < 1}))
    print("below 0.9 of the limit: " + listed({r["id"]: r["limit"] for r in results if r["limit"] and r["limit"] < 0.9}))


def main():
    rows_of_elements()
    rows_of_small_calls()
    rows_of_short_axes()
    rows_of_reductions()
    rows_of_copies()
    rows_of_products()
    rows_of_stacks()
    rows_of_programs()
    rows_of_contractions()
    if torch:
        torch_rows()
    ROWS["i4"] = dict(ROWS["i1"])
    listed = subprocess.run([options.atoll, "bench", "--list", "--json"], capture_output=True, text=True)
    names = [r["id"] for r in json.loads(listed.stdout)]
    if not set(ROWS) <= set(names):
        sys.exit(f"peers: `atoll bench` has no rows {sorted(set(ROWS) - set(names))}")
    wanted = [n for n in names if n in ROWS and
              any(fnmatch.fnmatch(n, p) for p in options.rows or ["[!t]*"])]
    if not wanted:
        sys.exit(f"peers: no row with a peer matches {options.rows}; there are: {' '.join(ROWS)}")
    results, limits = [], {}
    if options.markdown:
        print(f"{machine()}.\n\n| row | | ours, µs | NumPy | PyTorch | of the limit |\n|---|---|---|---|---|---|")
    for name in wanted:
        result = measured_row(name, limits)
        results.append(result)
        if not options.json:
            print((markdown_of if options.markdown else text_of)(result), flush=True)
    if options.json:
        print(json.dumps(results, indent=2))
    else:
        print()
        sum_up(results)


main()
