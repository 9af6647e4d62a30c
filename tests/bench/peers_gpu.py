#!/usr/bin/env python3
"""The rows x1, x2, … of `atoll bench` on a GPU beside PyTorch and CuPy, as far as they are installed.

    peers_gpu.py [--atoll PATH] [--device NAME] [--elements N] [--turns N] [--json] [ROW...]

Ours and the peers take turns, and the best of each counts. Each is timed alike: a number of calls,
then a synchronisation, on the host's clock. A ratio above 1 says that we are faster. Rows are names
or patterns ('x1*'); without any: all. A peer that has no such function, or too little memory, gets
no figure, and the reason is printed.
"""
import argparse
import fnmatch
import importlib
import json
import math
import subprocess
import sys
import time

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("rows", nargs="*", metavar="ROW")
parser.add_argument("--atoll", default="atoll", help="the command (default: the one on PATH)")
parser.add_argument("--device", default="cuda:0")
parser.add_argument("--elements", type=int, default=1 << 28, help="N of the rows (default: %(default)s)")
parser.add_argument("--turns", type=int, default=3, help="how often each is measured")
parser.add_argument("--json", action="store_true")
# For a rehearsal without a GPU: NumPy in CuPy's place.
parser.add_argument("--stand-in", action="store_true", help=argparse.SUPPRESS)
options = parser.parse_args()


class CuPy:
    """CuPy, or NumPy, which has the same functions."""

    def __init__(self, module):
        self.module, self.name = module, module.__name__
        self.generator = module.random.default_rng(1)

    def device(self):
        if self.name == "numpy":
            return "none: NumPy stands in for CuPy"
        return self.module.cuda.runtime.getDeviceProperties(0)["name"].decode()

    def random(self, shape, dtype, low=0.5, high=2.0):
        values = self.generator.random(shape, dtype="float32")
        values *= high - low
        values += low
        return values.astype(dtype)

    def integers(self, size, dtype, low, high):
        return self.generator.integers(low, high, size, dtype=dtype)

    def copy(self, to, source):
        self.module.copyto(to, source)

    def empty_like(self, shape, source):
        return self.module.empty(shape, source.dtype)

    def upload(self, host):
        return self.module.array(host)

    def download(self, source):
        return source.get() if hasattr(source, "get") else source.copy()

    def synchronize(self):
        if self.name == "cupy":
            self.module.cuda.runtime.deviceSynchronize()

    def release(self):
        if self.name == "cupy":
            self.module.get_default_memory_pool().free_all_blocks()


class PyTorch:
    name = "torch"

    def __init__(self, module):
        if not module.cuda.is_available():
            raise ImportError("PyTorch finds no GPU")
        module.backends.cuda.matmul.allow_tf32 = False  # as ours
        self.module, self.where = module, {"device": "cuda:0"}

    def device(self):
        return self.module.cuda.get_device_name(0)

    def random(self, shape, dtype, low=0.5, high=2.0):
        shape = shape if isinstance(shape, tuple) else (shape,)
        values = self.module.empty(shape, dtype=self.module.float32, **self.where).uniform_(low, high)
        return values.to(getattr(self.module, dtype))

    def integers(self, size, dtype, low, high):
        size = size if isinstance(size, tuple) else (size,)
        return self.module.randint(low, high, size, dtype=getattr(self.module, dtype), **self.where)

    def copy(self, to, source):
        to.copy_(source)

    def empty_like(self, shape, source):
        return self.module.empty(shape, dtype=source.dtype, **self.where)

    def upload(self, host):
        return self.module.from_numpy(host).to("cuda:0")

    def download(self, source):
        return source.cpu()

    def synchronize(self):
        self.module.cuda.synchronize()

    def release(self):
        self.module.cuda.empty_cache()


ROWS = {}


def row(*names):
    """Registers a function that makes a row's work ready on a peer and returns it."""
    return lambda prepare: [ROWS.setdefault(name, prepare) for name in names]


def add_row(name, dtype):
    @row(name)
    def _(peer, n):
        if dtype == "int8":
            a, b = peer.integers(n, dtype, -60, 60), peer.integers(n, dtype, -60, 60)
        else:
            a, b = peer.random(n, dtype), peer.random(n, dtype)
        return lambda: a + b


def unary_row(name, function, dtype, bound):
    @row(name)
    def _(peer, n):
        a, f = peer.random(n, dtype, -bound, bound), getattr(peer.module, function)
        return lambda: f(a)


def side_of(n):
    return math.isqrt(n)


def copy_row(name, dtype, transposed):
    @row(name)
    def _(peer, n):
        shape = (side_of(n), side_of(n)) if transposed else (n,)
        a = peer.random(shape, dtype)
        out, source = peer.empty_like(shape, a), a.T if transposed else a
        return lambda: peer.copy(out, source)


def sum_row(name, axis):  # a row-major matrix: the slow axis is the first
    @row(name)
    def _(peer, n):
        a, f = peer.random((side_of(n), side_of(n)), "float32"), peer.module.sum
        return lambda: f(a, axis)


def product_row(name, dtype):
    @row(name)
    def _(peer, n):
        shape = (side_of(n) // 2, side_of(n) // 2)
        if dtype == "int32":
            a, b = peer.integers(shape, dtype, 0, 9), peer.integers(shape, dtype, 0, 9)
        else:
            a, b = peer.random(shape, dtype), peer.random(shape, dtype)
        return lambda: a @ b


add_row("x1", "float32")
add_row("x2", "float16")
add_row("x3", "int8")
unary_row("x4", "exp", "float32", 5)
unary_row("x5", "sin", "float64", 9)
copy_row("x6", "float32", False)
sum_row("x8", 0)
sum_row("x9", 1)
copy_row("x10", "float32", True)
copy_row("x11", "float16", True)
product_row("x15", "float32")
product_row("x16", "float64")
product_row("x17", "float16")
product_row("x18", "bfloat16")
product_row("x19", "int32")


@row("x7")
def _(peer, n):
    a, f = peer.random(n, "float32"), peer.module.sum
    return lambda: f(a)


@row("x12")
def _(peer, n):
    a, f = peer.random(n, "float32"), peer.module.cumsum
    return lambda: f(a, 0)


@row("x13")
def _(peer, n):
    a, f = peer.integers(n, "int32", -2_000_000_000, 2_000_000_000), peer.module.sort
    return lambda: f(a)


@row("x14")
def _(peer, n):
    a, at = peer.random(n, "float32"), peer.integers(n, "int64", 0, n)
    return lambda: a[at]


@row("x20")
def _(peer, n):
    import numpy
    host = numpy.ones(n, "float32")
    return lambda: peer.upload(host)


@row("x21")
def _(peer, n):
    a = peer.random(n, "float32")
    return lambda: peer.download(a)


def seconds_of(peer, work):
    """Of one call, best of some rounds of 20 ms or more."""
    def run(repeats):
        peer.synchronize()
        start = time.perf_counter()
        for _ in range(repeats):
            work()
        peer.synchronize()
        return time.perf_counter() - start

    repeats = 1
    while (took := run(repeats)) < 0.02:
        repeats *= 2
    return min([took] + [run(repeats) for _ in range(4)]) / repeats


def ours(name):
    command = [options.atoll, "bench", name, "--device", options.device, "--elements", str(options.elements),
               "--json", "--rounds", "5"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        return {"what": name, "skipped": done.stderr.strip().splitlines()[-1:]}
    return json.loads(done.stdout)["rows"][0]


def peers():
    found = []
    for name, make in (("numpy", CuPy),) if options.stand_in else (("torch", PyTorch), ("cupy", CuPy)):
        try:
            peer = make(importlib.import_module(name))
            print(f"{name} {peer.module.__version__} on {peer.device()}", file=sys.stderr)
            found.append(peer)
        except Exception as error:  # each library fails in ways of its own where there is no GPU
            print(f"{name}: left out: {error}", file=sys.stderr)
    return found


def compare(name, others):
    result = {"id": name, "peers": {}, "reasons": {}}
    prepared = {}
    measured = ours(name)
    result["what"] = measured["what"]
    if "skipped" in measured:
        result["reasons"]["atoll"] = measured["skipped"]
        return result
    for peer in others:
        try:
            prepared[peer] = ROWS[name](peer, options.elements)
            result["peers"][peer.name] = seconds_of(peer, prepared[peer])
        except Exception as error:  # a dtype or function that it lacks, memory
            prepared.pop(peer, None)
            result["reasons"][peer.name] = (str(error) or type(error).__name__).splitlines()[0]
    result["seconds"] = measured["seconds"]
    for _ in range(options.turns - 1):
        result["seconds"] = min(result["seconds"], ours(name)["seconds"])
        for peer, work in prepared.items():
            result["peers"][peer.name] = min(result["peers"][peer.name], seconds_of(peer, work))
    for key in ("bytes", "operations"):
        if key in measured:
            result[key] = measured[key]
    prepared.clear()
    for peer in others:
        peer.release()
    return result


def line(result):
    text = f"{result['id']:4} {result['what']:45}"
    if "seconds" in result:
        text += f" {result['seconds'] * 1e6:12.2f} µs"
    for name, seconds in result["peers"].items():
        text += f"  {name} {seconds * 1e6:12.2f} µs, ratio {seconds / result['seconds']:6.2f}"
    for name, reason in result["reasons"].items():
        text += f"  {name}: {reason}"
    return text


def main():
    listed = subprocess.run([options.atoll, "bench", "x*", "--list", "--json"], capture_output=True, text=True)
    names = [r["id"] for r in json.loads(listed.stdout)]
    if set(ROWS) != set(names):
        sys.exit(f"peers_gpu: not the rows of `atoll bench`: {sorted(set(ROWS) ^ set(names))}")
    wanted = [n for n in names if not options.rows or any(fnmatch.fnmatch(n, p) for p in options.rows)]
    if not wanted:
        sys.exit(f"peers_gpu: no row matches {options.rows}; there are: {' '.join(names)}")
    others = peers()
    results = []
    for name in wanted:
        results.append(compare(name, others))
        if not options.json:
            print(line(results[-1]), flush=True)
    if options.json:
        print(json.dumps({"device": options.device, "elements": options.elements, "rows": results}, indent=2))
    sys.exit(0 if any("seconds" in r for r in results) else 1)


main()
