#!/usr/bin/env python3
"""The kernels for dense operands, and reductions and scans, move 16 bytes at a time: looked up in the machine code.

test_machine_code.py CUOBJDUMP OBJECT…
"""
import collections
import os
import re
import subprocess
import sys

tool, *objects = sys.argv[1:]
# A thread of reduce_columns<…, 1u> takes one result's elements, one of scan_columns elements of rows side by side.
KERNEL = re.compile(r"(run_dense|reduce_rows|reduce_columns|scan_totals|scan_within)<")
NARROW = re.compile(r"reduce_columns<.*, 1u>\(")
# Of one byte each, eight results are what a thread has registers for.
FEW_RESULTS = re.compile(r"reduce_columns<.*::Place<Atoll::kernels::Bool>, .*, 8u>\(")
# Results of which no operand is read, and casts of which the wider side has the 16 bytes.
READS_NOTHING = re.compile(r"functor::is(neginf|posinf|inf|nan|finite), .*(Bool|int|long)> ")
CAST = re.compile(r"Dense<.*CastTo<")
# Of complex numbers a cast to reals reads every other number.
REAL_PART = re.compile(r"Dense<.*CastTo<([^<>]+)>, \1, .*Complex<")


def instructions(path):
    """Demangled name of each kernel → how often each width (bits) is loaded and stored."""
    env = {**os.environ, "PATH": os.path.dirname(tool) + ":" + os.environ["PATH"]} # it calls nvdisasm
    text = subprocess.run([tool, "-sass", path], capture_output=True, text=True, check=True, env=env).stdout
    kernels, current = collections.defaultdict(collections.Counter), None
    for line in text.splitlines():
        if "Function :" in line:
            current = kernels[line.split(":", 1)[1].strip()]
        elif current is not None and (found := re.search(r"\b(LDG|STG)\.([\w.]+)", line)):
            current[found[1], "128" in found[2].split(".")] += 1
    names = subprocess.run(["c++filt"], input="\n".join(kernels), capture_output=True, text=True, check=True).stdout
    return [(name, moves) for name, moves in zip(names.splitlines(), kernels.values())
            if KERNEL.search(name) and not NARROW.search(name)]


kernels = wrong = 0
for path in objects:
    found = instructions(path)
    if not found:
        wrong += 1
        print(f"{path}: none of the kernels")
    for name, moves in found:
        kernels += 1
        wide = moves["LDG", True] > 0
        if READS_NOTHING.search(name) or FEW_RESULTS.search(name) or REAL_PART.search(name):
            wide = True
        elif CAST.search(name):
            wide |= moves["STG", True] > 0
        if not wide:
            wrong += 1
            print(f"{path}: no load of 16 bytes in {name}")
print(f"{kernels} kernels, {wrong} without loads of 16 bytes")
sys.exit(1 if wrong or kernels < 100 else 0)
