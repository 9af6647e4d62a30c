#!/usr/bin/env python3
"""Files and memory exchanged with NumPy itself.

test_numpy.py NPY_TOOL DLPACK_BRIDGE    (needs python3-numpy)
"""
import ctypes
import gc
import itertools
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

DTYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16",
          "float32", "float64", "complex64", "complex128"]
SHAPES = [(), (1,), (7,), (0,), (2, 3), (3, 0, 2), (2, 3, 4), (1, 5, 1), (2, 1, 3, 2, 2)]
DEVICES = ["cpu", "dummy:0"]

# A capsule keeps the address of its name, not the name.
USED = b"used_dltensor"

failures = []
checks = 0


def check(right, *what):
    global checks
    checks += 1
    if not right:
        failures.append(" ".join(str(w) for w in what))


class Tool:
    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __call__(self, *words):
        self.process.stdin.write(" ".join(str(w) for w in words) + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().rstrip("\n")


def values(dtype, shape, random):
    """Numbers of every size, with the special ones."""
    count = int(np.prod(shape))
    dtype = np.dtype(dtype)
    flat = np.frombuffer(random.bytes(count * dtype.itemsize), dtype=dtype).copy()
    if dtype == bool:
        flat = random.integers(0, 2, count).astype(bool)
    special = {"f": [np.nan, np.inf, -0.0, 1.5], "c": [complex(np.nan, 1), complex(-0.0, np.inf), 1 - 2j]}
    for i, value in enumerate(special.get(dtype.kind, [])):
        if i < count:
            flat[i] = value
    return flat.reshape(shape)


def facts(array):
    return " ".join([array.dtype.newbyteorder("=").name, *map(str, array.shape)])


def native_bytes(array):
    """Column-major, native."""
    return array.astype(array.dtype.newbyteorder("=")).tobytes("F")


def reads_what_numpy_wrote(tool, folder, random):
    for device in DEVICES:
        tool("device", device)
        for dtype, shape, order, swap in itertools.product(DTYPES, SHAPES, "CF", (False, True)):
            array = np.array(values(dtype, shape, random), order=order)
            if swap:
                array = array.astype(array.dtype.newbyteorder(">"), order=order)
            what = (device, dtype, shape, order, swap)
            np.save(folder / "in.npy", array)
            check(tool("dump", folder / "in.npy", folder / "raw") == facts(array), "facts of", *what)
            check((folder / "raw").read_bytes() == native_bytes(array), "values of", *what)
    tool("device", "cpu")
    for version in [(1, 0), (2, 0), (3, 0)]:
        with open(folder / "in.npy", "wb") as file:
            np.lib.format.write_array(file, np.arange(10.0), version=version)
        check(tool("dump", folder / "in.npy", folder / "raw") == "float64 10", "version", version)


def refuses_other_dtypes(tool, folder):
    others = [np.array(["text"]), np.array([b"bytes"]), np.array([1], dtype="M8[s]"), np.zeros(2, "i4,f4"),
              np.zeros(2, "longdouble"), np.zeros(2, "V2"), np.array([None, 1], dtype=object)]
    for array in others:
        np.save(folder / "in.npy", array)
        answer = tool("dump", folder / "in.npy", folder / "raw")
        check(answer.startswith("error [read_npy]") and "in.npy" in answer, array.dtype, "gave", answer)


def numpy_view(array, layout):
    if layout == "plain" or array.ndim == 0:
        return array
    if layout == "transposed":
        return array.T
    if layout == "reversed":
        return array[::-1]
    if layout == "every_other":
        return array[::2]
    return np.broadcast_to(array[..., None], array.shape + (3,))


def writes_what_numpy_reads(tool, folder, random):
    layouts = ["plain", "transposed", "reversed", "every_other", "broadcast"]
    for device in DEVICES:
        tool("device", device)
        for dtype, shape, order, layout, swap in itertools.product(DTYPES, SHAPES, "CF", layouts, (0, 1)):
            array = np.array(values(dtype, shape, random), order=order)
            what = (device, dtype, shape, order, layout, swap)
            np.save(folder / "in.npy", array)
            answer = tool("rewrite", folder / "in.npy", folder / "out.npy", layout, swap)
            check(answer == "ok", *what, answer)
            got, expected = np.load(folder / "out.npy"), numpy_view(array, layout)
            check(got.shape == expected.shape and native_bytes(got) == native_bytes(expected), "values of", *what)
            wanted = array.dtype.newbyteorder(">") if swap else array.dtype
            check(got.dtype == wanted, *what, "dtype", got.dtype)
            if layout == "plain":  # what is dense already is written as it is
                check(got.flags.c_contiguous == array.flags.c_contiguous and
                      got.flags.f_contiguous == array.flags.f_contiguous, *what, "order")
            elif got.ndim > 1 and not array.flags.c_contiguous and not array.flags.f_contiguous:
                check(got.flags.f_contiguous, *what, "order of a copy")
    mapped = np.load(folder / "out.npy", mmap_mode="r")
    check(mapped.tobytes() == got.tobytes(), "mapped into memory")


def exchanges_archives(tool, folder, random):
    arrays = {f"{dtype}_{i}": np.array(values(dtype, shape, random), order="CF"[i % 2])
              for dtype in DTYPES for i, shape in enumerate(SHAPES)}
    arrays["with/slash"] = np.arange(3)
    arrays["größe"] = np.zeros((500, 500))
    arrays["swapped"] = np.arange(5, dtype=">i4")
    for device, save, kind in itertools.product(DEVICES, (np.savez, np.savez_compressed), ("stored", "deflate")):
        tool("device", device)
        what = (device, save.__name__, kind)
        save(folder / "in.npz", **arrays)
        (folder / "raws").mkdir(exist_ok=True)
        names = sorted(arrays, key=lambda name: name.encode())
        expected = "".join(f"{name}: {facts(arrays[name])}; " for name in names)
        check(tool("dump_npz", folder / "in.npz", folder / "raws") == expected, "facts", *what)
        for number, name in enumerate(names):
            raw = (folder / "raws" / str(number)).read_bytes()
            check(raw == native_bytes(arrays[name]), "values of", name, *what)
        answer = tool("rewrite_npz", folder / "in.npz", folder / "out.npz", kind)
        check(answer == "ok", *what, answer)
        with np.load(folder / "out.npz") as back:
            check(sorted(back.files) == sorted(arrays), *what, "names", back.files)
            for name in back.files:
                got = back[name]
                check(got.shape == arrays[name].shape and
                      native_bytes(got) == native_bytes(arrays[name]), name, *what)
    np.savez(folder / "in.npz")
    check(tool("rewrite_npz", folder / "in.npz", folder / "out.npz", "stored") == "ok", "an empty archive")
    check(np.load(folder / "out.npz").files == [], "an empty archive comes back")


class Capsule:
    """What numpy.from_dlpack wants: a producer."""

    def __init__(self, managed):
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        self.capsule = new(managed, b"dltensor", None)

    def __dlpack__(self, stream=None):
        return self.capsule

    def __dlpack_device__(self):
        return (1, 0)


def exchanges_memory(path):
    bridge = ctypes.CDLL(path)
    bridge.bridge_error.restype = bridge.bridge_dtype.restype = ctypes.c_char_p
    bridge.bridge_export.restype = bridge.bridge_data.restype = ctypes.c_void_p
    bridge.bridge_extent.restype = bridge.bridge_stride.restype = ctypes.c_longlong
    check(bridge.bridge_load(), "load:", bridge.bridge_error())
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    rename = ctypes.pythonapi.PyCapsule_SetName
    rename.argtypes = [ctypes.py_object, ctypes.c_char_p]
    expected = np.arange(24).reshape((2, 3, 4), order="F")
    for dtype in DTYPES:
        if dtype == "bool":  # the NumPy of today's Debian knows no DLPack bool
            continue
        for flipped in (-1, 0, 2):
            managed = bridge.bridge_export(dtype.encode(), flipped)
            check(managed, "export of", dtype, bridge.bridge_error())
            array = np.from_dlpack(Capsule(managed))
            wanted = (np.flip(expected, flipped) if flipped >= 0 else expected).astype(dtype)
            check(array.dtype == wanted.dtype and np.array_equal(array, wanted), "export of", dtype, flipped)
            del array
        source = np.arange(24).reshape(2, 3, 4).astype(dtype)[:, ::-1, 1:3]
        users = sys.getrefcount(source)
        capsule = source.__dlpack__()
        managed = pointer(capsule, b"dltensor")
        rename(capsule, USED)
        check(bridge.bridge_import(ctypes.c_void_p(managed)), "import of", dtype, bridge.bridge_error())
        check(bridge.bridge_dtype().decode() == dtype, "dtype of", dtype)
        check(bridge.bridge_data() == source.ctypes.data, "address of", dtype)
        check(tuple(bridge.bridge_extent(i) for i in range(bridge.bridge_rank())) == source.shape, "shape")
        check(tuple(bridge.bridge_stride(i) for i in range(bridge.bridge_rank())) == source.strides, "strides")
        check(sys.getrefcount(source) > users, dtype, "is held")
        bridge.bridge_fill(ctypes.c_double(5))
        check((source == 5).all(), "fill of", dtype)
        bridge.bridge_forget()
        del capsule
        gc.collect()
        check(sys.getrefcount(source) == users, dtype, "is let go")


def main():
    random = np.random.default_rng(1)
    tool = Tool(sys.argv[1])
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        reads_what_numpy_wrote(tool, folder, random)
        refuses_other_dtypes(tool, folder)
        writes_what_numpy_reads(tool, folder, random)
        exchanges_archives(tool, folder, random)
    if len(sys.argv) > 2:
        exchanges_memory(sys.argv[2])
    for failure in failures[:40]:
        print(failure)
    print(f"NumPy {np.__version__}: {checks} checks, {len(failures)} failures")
    return 1 if failures or checks < 1000 else 0


sys.exit(main())
