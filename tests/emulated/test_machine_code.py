#!/usr/bin/env python3
"""The kernels for dense operands move 16 bytes at a time: looked up in the machine code.

test_machine_code.py CUOBJDUMP OBJECT…
"""
import collections
import os
import re
import subprocess
import sys

tool, *objects = sys.argv[1:]
# Results of which no operand is read, and casts of which the wider side has the 16 bytes.
READS_NOTHING = re.compile(r"functor::is(neginf|posinf|inf|nan|finite), .*(Bool|int|long)> ")
CAST = re.compile(r"Dense<.*CastTo<")
# Of complex numbers a cast to reals reads every other number.
REAL_PART = re.compile(r"Dense<.*CastTo<([^<>]+)>, \1, .*Complex<")


def instructions(path):
    """Demangled name of each dense kernel → how often each width (bits) is loaded and stored."""
    env = {**os.environ, "PATH": os.path.dirname(tool) + ":" + os.environ["PATH"]} # it calls nvdisasm
    text = subprocess.run([tool, "-sass", path], capture_output=True, text=True, check=True, env=env).stdout
    kernels, current = collections.defaultdict(collections.Counter), None
    for line in text.splitlines():
        if "Function :" in line:
            name = line.split(":", 1)[1].strip()
            current = kernels[name] if "run_dense" in name else None
        elif current is not None and (found := re.search(r"\b(LDG|STG)\.([\w.]+)", line)):
            current[found[1], "128" in found[2].split(".")] += 1
    names = subprocess.run(["c++filt"], input="\n".join(kernels), capture_output=True, text=True, check=True).stdout
    return zip(names.splitlines(), kernels.values())


kernels = wrong = 0
for path in objects:
    for name, moves in instructions(path):
        kernels += 1
        wide = moves["LDG", True] > 0
        if READS_NOTHING.search(name) or REAL_PART.search(name):
            wide = True
        elif CAST.search(name):
            wide |= moves["STG", True] > 0
        if not wide:
            wrong += 1
            print(f"{path}: no load of 16 bytes in {name}")
print(f"{kernels} dense kernels, {wrong} without loads of 16 bytes")
sys.exit(1 if wrong or kernels < 100 else 0)
