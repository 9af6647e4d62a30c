#!/usr/bin/env python3
"""What nvcc made of the kernels: none needs too many registers, and hardly any spills them to memory.

test_registers.py REPORT…    (of `ptxas -v`)
"""
import pathlib
import re
import subprocess
import sys

# With more registers a multiprocessor has room for fewer than 8 blocks of 64 threads, or 2 of 256.
MOST = 128
# The bytes that a thread may spill, by a part of the function's name.
SPILLS = {
    # One element at a time, by calls of load and store: some registers have to live across them.
    "11run_generalI": 16,
    "12scan_columnsI": 20,
    "11run_generalINS0_7GeneralINS_7kernels7functor3powENS3_7ComplexIfE": 44,
    "4loadE": 16,
    "5storeE": 16,
    "5orderE": 16,
    "__internal_accurate_pow": 16,  # of CUDA's own pow, which is a call for others
    "8PowersOfI": 12,
    "9offset_in": 4,
    # Packs, and elements that calls convert, in one loop.
    "11reduce_rowsI": 16,
    "7ExtremeINS_7kernels7ComplexIf": 20,
    "5PlaceI": 4,
    # Dense kernels: three operands in flight, and a function with a long tail.
    "9run_denseINS0_5DenseINS_7kernels7functor4clip": 40,
    "9run_denseINS0_5DenseINS_7kernels7functor5expm1": 4,
    # Across the calls for arguments that are hard to reduce.
    "9run_denseINS0_5DenseINS_7kernels7functor4tanhENS3_7Complex": 32,
    "9run_denseINS0_5DenseINS_7kernels7functor3powENS3_7Complex": 8,
}


def main():
    entry = re.compile(r"Compiling entry function '(\w+)' for '(\w+)'")
    kernels, wrong, most = 0, [], 0
    for path in map(pathlib.Path, sys.argv[1:]):
        name = function = ""
        for line in path.read_text(encoding="utf-8").splitlines():
            if found := entry.search(line):
                name = function = f"{found[1]} ({found[2]})"
                kernels += 1
            elif found := re.search(r"Function properties for (\w+)", line):
                function = found[1]  # the kernel's, or of a function that it calls
            elif found := re.search(r"(\d+) bytes spill stores, (\d+) bytes spill loads", line):
                allowed = max((bytes_ for part, bytes_ in SPILLS.items() if part in function), default=0)
                if max(map(int, found.groups())) > allowed:
                    wrong.append(f"{path.stem}: {function} in {name}: {line.strip()}")
            elif found := re.search(r"Used (\d+) registers", line):
                most = max(most, int(found[1]))
                if int(found[1]) > MOST:
                    wrong.append(f"{path.stem}: {name} uses {found[1]} registers, at most {MOST} are meant")
    if wrong:
        text = "\n".join(wrong)
        filtered = subprocess.run(["c++filt"], input=text, capture_output=True, text=True, check=False)
        print(filtered.stdout or text)
    print(f"{kernels} kernels, at most {most} registers, {len(wrong)} faults")
    return 1 if wrong or kernels == 0 else 0


sys.exit(main())
