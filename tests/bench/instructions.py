#!/usr/bin/env python3
"""Instructions of rows of `atoll bench`, counted by valgrind: they do not vary as times do.

instructions.py REPEATED_ROWS

REPEATED_ROWS is the program of repeated_rows.cpp. Fails if a row takes more than LIMITS says, which
is what it took when measured, rounded up by some 3 %: who adds instructions on purpose measures the
time of the row, and raises its limit. Exit status 77, a skipped test: without valgrind, or on a
processor whose kernels are not those of level v3, the best that valgrind knows.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

CALLS, ELEMENTS = 1000, 1_000_000
# With GCC 12; per call of small rows, per element of those of a million.
LIMITS = {
    "o1": 1245, "o2": 608, "o3": 495, "o4": 2065, "g1": 2250,
    "g2": 3205, "g3": 2015, "g4": 2135, "g5": 3850, "g6": 2395,
    "g7": 5345, "g8": 4680, "g9": 3145,
    "e3": 4.7, "e8": 1.3, "e9": 5.05, "e10": 15.8, "e11": 7.75,
    "e12": 16.1, "e13": 12.95, "e17": 4.15, "e19": 1.55, "r5": 1.0,
    "s1": 4.15, "s2": 3.5, "s3": 3.1, "s4": 0.32, "s5": 3.1, "s6": 12.1, "s7": 30.5,
    "p4": 49.4, "p11": 0.8,
}


def is_small(row):
    return row[0] in "og"


def main():
    if not shutil.which("valgrind"):
        print("left out: there is no valgrind")
        sys.exit(77)
    flags = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8")
    if not re.search(r"\bavx2\b.*\bfma\b|\bfma\b.*\bavx2\b", flags):
        print("left out: the processor has no AVX2")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        output = pathlib.Path(folder) / "callgrind"
        repeats = [f"{row}={CALLS if is_small(row) else 1}" for row in LIMITS]
        subprocess.run(["valgrind", "-q", "--tool=callgrind", "--instr-atstart=no", "--combine-dumps=yes",
                        f"--callgrind-out-file={output}", sys.argv[1], *repeats], check=True)
        text = output.read_text(encoding="utf-8")
    counts = dict(re.findall(r"^desc: Trigger: Client Request: (\w+)$.*?^(?:totals|summary): (\d+)", text,
                             re.MULTILINE | re.DOTALL))
    too_many = []
    for row, limit in LIMITS.items():
        count = int(counts[row]) / (CALLS if is_small(row) else ELEMENTS)
        unit = "call" if is_small(row) else "element"
        print(f"{row:<4} {count:9.2f} instructions per {unit}, at most {limit}")
        if count > limit:
            too_many.append(row)
    if too_many:
        sys.exit(f"more instructions than the limit: {', '.join(too_many)}")


main()
