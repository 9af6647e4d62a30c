#!/usr/bin/env python3
"""Compares a file of the repository with what a command prints; --write, first, brings it up to date."""
import subprocess
import sys


def main():
    write = sys.argv[1] == "--write"
    path, *command = sys.argv[1 + write :]
    run = subprocess.run(command, capture_output=True, text=True)
    sys.stderr.write(run.stderr)
    if run.returncode:
        sys.exit(f"{command[0]} failed with status {run.returncode}")
    if write:
        with open(path, "w", encoding="utf-8") as file:
            file.write(run.stdout)
        return
    with open(path, encoding="utf-8") as file:
        if file.read() != run.stdout:
            sys.exit(f"{path} is out of date: run `{sys.argv[0]} --write {path} {' '.join(command)}`")


main()
