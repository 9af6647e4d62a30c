#!/usr/bin/env python3
"""Compares core/FUNCTIONS.md with what the program prints; --write brings it up to date."""
import subprocess
import sys


def main():
    program, path = sys.argv[1:3]
    run = subprocess.run([program], capture_output=True, text=True)
    sys.stderr.write(run.stderr)
    if run.returncode:
        sys.exit("the function table has gaps")
    if "--write" in sys.argv:
        with open(path, "w", encoding="utf-8") as file:
            file.write(run.stdout)
        return
    with open(path, encoding="utf-8") as file:
        if file.read() != run.stdout:
            sys.exit(f"{path} is out of date: run `{sys.argv[0]} {program} {path} --write`")


main()
