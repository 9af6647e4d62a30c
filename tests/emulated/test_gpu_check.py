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
# In place of `atoll`: lists the checks that it is to run; the one of `sum` fails.
LISTING = """#!/bin/bash
case "$*" in
  check*--filter*) "$REAL" "${@:1:4}" --list; [[ $* != *core.sum@* ]] ;;
  *) exec "$REAL" "$@" ;;
esac
"""
# In place of a test program.
PROGRAM = """#!/bin/bash
echo "[doctest] test cases:  2 |  $((2 - STATUS)) passed"
exit "$((${ATOLL_TEST_GPU:+STATUS}))"
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


def script(path, text):
    path.write_text(text)
    path.chmod(0o755)
    return str(path)


def conformance(folder):
    """Each check is in one part, also where one process is all there is."""
    atoll = os.environ["ATOLL"]
    listed = subprocess.run([atoll, "check", os.environ["PLUGIN"], "--list"], capture_output=True,
                            text=True).stdout.splitlines()
    stub = script(folder / "atoll", LISTING)
    for jobs, parts in (("1", 3), ("4", 5)):
        _, results = run(folder, "conformance", ATOLL=stub, REAL=atoll, JOBS=jobs)
        logs = [log.read_text().splitlines() for log in (folder / "out/conformance").glob("*.log")]
        taken = [line for log in logs for line in log if not line.startswith("== ")]
        check(len(logs) == parts, len(logs), "parts with", jobs, "jobs")
        check(sorted(taken) == sorted(listed), len(taken), "checks of", len(listed))
        lines = (folder / "out/conformance.log").read_text().splitlines()
        check(sum(line.startswith("FAILED (1)") for line in lines) == 1 and len(lines) == parts, lines)
        check(results == {"conformance": 1}, results)


def programs(folder):
    """The test programs that take a GPU."""
    script(folder / "atoll_tests_other", "#!/bin/bash\nexit 1\n")
    _, results = run(folder, "tests")
    check(results == {"tests": 1}, "no program, but", results)
    script(folder / "atoll_tests_good", PROGRAM.replace("STATUS", "0"))
    done, results = run(folder, "tests")
    check(results == {"tests": 0} and done.stderr == "", "a good program, but", results, done.stderr)
    script(folder / "atoll_tests_bad", PROGRAM.replace("STATUS", "1"))
    _, results = run(folder, "tests")
    log = (folder / "out/tests.log").read_text()
    check(results == {"tests": 1} and "test cases: 2 | 1 passed" in log
          and "test cases: 2 | 2 passed" in log and "other" not in log, results, log)
    done, results = run(folder, "programs", ATOLL_PLUGIN_PATH="")
    check(results == {"programs": 1} and "PATH: cpu dummy dummy_min;" in done.stderr, results, done.stderr)


def main():
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        done, results = run(folder, "info", "misspelt")
        check(done.returncode == 2 and "misspelt" in done.stderr and not results, done)
        stub = script(folder / "sanitizer", SANITIZER)
        done, results = run(folder, "racecheck", "info", "memcheck", SANITIZER=stub)
        logs = "".join(log.read_text() for log in (folder / "out").rglob("*.log"))
        check(results == {"racecheck": 1, "info": 0, "memcheck": 0}, done.stdout, logs)
        check(done.returncode == 1 and done.stdout.endswith(f"2 passed, 1 failed; results are in {folder}/out\n"),
              done.stdout)
        check("FAILED (1)" in (folder / "out/summary.txt").read_text(), done.stdout)
        devices = json.loads((folder / "out/devices.json").read_text())["devices"]
        facts = next(d["facts"] for d in devices if d["name"] == "cuda:0")
        check(facts["compute_capability"] == "9.0", facts)
        done, results = run(folder, "memcheck", SANITIZER="no-such-program")
        check(done.returncode == 1 and results == {"memcheck": 1}, done)
        conformance(folder)
        programs(folder)
    for failure in failures:
        print(failure)
    sys.exit(1 if failures else 0)


main()
