#!/usr/bin/env python3
"""tools/gpu-check.sh on the emulated device: steps run, fail, and are summed up.

test_gpu_check.py SCRIPT    (ATOLL, PLUGIN and ATOLL_PLUGIN_PATH say what is checked)
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

# In place of compute-sanitizer: fails where a fault could hide in the cache, and reports the
# function `sum` under racecheck.
SANITIZER = """#!/bin/bash
[ "$ATOLL_CUDA_CACHE_BYTES" = 0 ] || { echo "a cache"; exit 3; }
tool=$2; shift 4
case "$tool $*" in "racecheck "*core.sum@*) exit 9 ;; esac
exec "$@"
"""
failures = []


def check(good, *what):
    if not good:
        failures.append(" ".join(str(part) for part in what))


def run(folder, *steps, **environment):
    environment = {"FUNCTIONS": "sum", "OUT": str(folder / "out"), "ATOLL_TESTS": str(folder), **environment}
    done = subprocess.run([sys.argv[1], *steps], capture_output=True, text=True,
                          env={**os.environ, **environment})
    lines = folder / "out/steps.jsonl"
    results = [json.loads(line) for line in lines.read_text().splitlines()] if lines.exists() else []
    return done, {r["step"]: r["status"] for r in results}


def main():
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        done, results = run(folder, "info", "misspelt")
        check(done.returncode == 2 and "misspelt" in done.stderr and not results, done)
        stub = folder / "sanitizer"
        stub.write_text(SANITIZER)
        stub.chmod(0o755)
        done, results = run(folder, "racecheck", "info", "memcheck", SANITIZER=str(stub))
        logs = "".join(log.read_text() for log in (folder / "out").glob("*.log"))
        check(results == {"racecheck": 1, "info": 0, "memcheck": 0}, done.stdout, logs)
        check(done.returncode == 1 and done.stdout.endswith(f"2 passed, 1 failed; results are in {folder}/out\n"),
              done.stdout)
        check("FAILED (1)" in (folder / "out/summary.txt").read_text(), done.stdout)
        devices = json.loads((folder / "out/devices.json").read_text())["devices"]
        facts = next(d["facts"] for d in devices if d["name"] == "cuda:0")
        check(facts["compute_capability"] == "9.0", facts)
        done, results = run(folder, "memcheck", SANITIZER="no-such-program")
        check(done.returncode == 1 and results == {"memcheck": 1}, done)
    for failure in failures:
        print(failure)
    sys.exit(1 if failures else 0)


main()
