#!/usr/bin/env python3
"""Every function by dtype and layout beside NumPy and, where it is installed, PyTorch.

    sweep.py [--side SIDE] [--few EXTENT] [--threads N] [--below RATIO] [--sweep PATH] [PART OF A NAME]

Prints the cases in which the better of both takes less than RATIO of our time (default 0.8), the worst
first, and the geometric mean of all. SIDE squared elements each (default 1,000 squared); the layouts are
those of sweep.cpp, in which the first axis is the dense one, as the last one is here. EXTENT is that of
the short axes (default 3). One turn: ratios near 1 mean little.
"""
import argparse
import math
import os
import subprocess
import time
import warnings

OPTIONS = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
OPTIONS.add_argument("part", nargs="?", default="", help="of a name: 'exp', 'float32,strided'")
OPTIONS.add_argument("--sweep", default="build/tests/bench/sweep", help="the program")
OPTIONS.add_argument("--below", type=float, default=0.8)
OPTIONS.add_argument("--side", type=int, default=1000)
OPTIONS.add_argument("--few", type=int, default=3)
OPTIONS.add_argument("--threads", type=int, default=1)
options = OPTIONS.parse_args()
os.environ["OPENBLAS_NUM_THREADS"] = os.environ["ATOLL_CPU_THREADS"] = str(options.threads)
import numpy as np

try:
    import torch
    torch.set_num_threads(options.threads)
except ImportError:
    torch = None
warnings.filterwarnings("ignore")
np.seterr(all="ignore")

SIDE, N, FEW = options.side, options.side**2, options.few
COLUMNS, EDGE = N // FEW, math.floor(N ** (1 / 3) + 1e-6)
BINARY = set("add subtract multiply divide pow minimum maximum floor_divide remainder fmod hypot copysign atan2 "
             "bitwise_and left_shift less equal logical_and".split())
REDUCTIONS = set("sum prod mean var norm max argmax any all count_nonzero".split())
ALONG = {"cumsum", "sort", "argsort"}
NUMPY = {"abs": "absolute", "asin": "arcsin", "acos": "arccos", "atan": "arctan", "asinh": "arcsinh", "acosh": "arccosh",
         "atanh": "arctanh", "atan2": "arctan2", "pow": "power", "round": "rint"}
TORCH = {"divide": "div", "less": "lt", "equal": "eq", "left_shift": "bitwise_left_shift"}


CALLS = max(1, 100_000 // N)


def best_of(run):
    try:
        run()
        best = total = 0.0
        for turn in range(9):
            start = time.perf_counter()
            for _ in range(CALLS):
                run()
            seconds = time.perf_counter() - start
            best = min(best or seconds / CALLS, seconds / CALLS)
            total += seconds
            if turn >= 2 and total > 0.02:
                break
        return best * 1e6
    except Exception:  # not for this dtype
        return None


class Peer:
    """NumPy or PyTorch: its operands by dtype and layout, and its functions."""

    def __init__(self, library, names):
        self.library, self.names, self.is_torch = library, names, library is torch
        self.pools = {}

    def pool(self, dtype):
        if dtype not in self.pools:
            drawn = np.random.default_rng(1).random(4 * N)
            if dtype == "bool":
                values = drawn < 0.5
            elif "int" in dtype:
                values = np.floor(drawn * 100 + 1).astype(dtype)
            elif dtype == "bfloat16":
                if not self.is_torch:
                    return None
                values = drawn * 0.9 + 0.05
            else:
                values = (drawn * 0.9 + 0.05).astype(dtype)
            if self.is_torch:
                values = torch.from_numpy(values).to(getattr(torch, dtype))
            self.pools = {dtype: values}
        return self.pools[dtype]

    def case(self, name, dtype, layout):
        """What computes this case, or None."""
        pool, library = self.pool(dtype), self.library
        if pool is None:
            return None
        copied = (lambda x: x.clone()) if self.is_torch else (lambda x: x.copy())
        dense = copied(pool[:N])
        square, columns = dense.reshape(SIDE, SIDE), copied(pool[:FEW * COLUMNS]).reshape(COLUMNS, FEW)
        if name in REDUCTIONS or name in ALONG:
            x, axis = {"all": (dense, None), "fast": (square, -1), "slow": (square, -2), "short": (columns, -1),
                       "few": (columns, -2), "middle": (dense[:EDGE**3].reshape(EDGE, EDGE, EDGE), -2),
                       "apart": (pool[:2 * N:2], None)}[layout]
            return self.reduction(name, x, -1 if axis is None and name in ALONG else axis)
        a, b = {"dense": lambda: (dense, copied(pool[N:2 * N])), "strided": lambda: (pool[:2 * N:2], pool[2 * N::2]),
                "transposed": lambda: (square.T, copied(pool[N:2 * N]).reshape(SIDE, SIDE)),
                "thin": lambda: (columns, copied(pool[:FEW]).reshape(1, FEW))}[layout]()
        if name.startswith("cast_"):
            to = name[5:]
            if self.is_torch:
                out = torch.empty(a.shape, dtype=getattr(torch, to))
                return lambda: out.copy_(a)
            out = np.empty(a.shape, to)
            return lambda: np.copyto(out, a, casting="unsafe")
        if name == "where":
            mask = abs(a) < 0.5
            return lambda: library.where(mask, a, b)
        function = getattr(library, self.names.get(name, name), None)
        if function is None:
            return None
        inputs = (a, b) if name in BINARY else (a,)
        try:
            like = function(*inputs)
            out = torch.empty(like.shape, dtype=like.dtype) if self.is_torch else np.empty(like.shape, like.dtype)
            function(*inputs, out=out)
        except Exception:
            return lambda: function(*inputs)
        return lambda: function(*inputs, out=out)

    def reduction(self, name, x, axis):
        if not self.is_torch:
            if name == "norm":
                return lambda: np.linalg.norm(x, axis=axis)
            if name == "argsort":
                return lambda: np.argsort(x, axis, kind="stable")
            function = getattr(np, name)
            return lambda: function(x, axis)
        if name == "argsort":
            return lambda: torch.argsort(x, axis, stable=True)
        function = {"norm": torch.linalg.vector_norm, "max": torch.amax}.get(name) or getattr(torch, name)
        named = {} if axis is None else {"dim": axis}
        return lambda: function(x, **named)


peers = [Peer(np, NUMPY)] + ([Peer(torch, TORCH)] if torch else [])
printed = subprocess.run([options.sweep, str(SIDE), options.part, str(FEW)], check=True,
                         stdout=subprocess.PIPE, text=True).stdout
ratios = []
for line in printed.splitlines():
    name, dtype, layout, ours = line.split(",")
    cases = [peer.case(name, dtype, layout) for peer in peers]
    times = [best_of(case) if case else None for case in cases]
    if any(times):
        ratios.append((min(t for t in times if t) / float(ours), name, dtype, layout, float(ours), times))
ratios.sort()
for ratio, name, dtype, layout, ours, times in ratios:
    if ratio < options.below:
        theirs = ", ".join(f"{peer.library.__name__} {t:.4g}" for peer, t in zip(peers, times) if t)
        print(f"{ratio:.2f} {name} {dtype} {layout}: {ours:.4g} us, {theirs}")
mean = math.exp(sum(math.log(r[0]) for r in ratios) / len(ratios)) if ratios else 0
print(f"{len(ratios)} cases, {sum(r[0] < options.below for r in ratios)} below {options.below}; geometric mean {mean:.2f}")
