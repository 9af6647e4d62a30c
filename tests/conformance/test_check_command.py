#!/usr/bin/env python3
"""`atoll check` as a user runs it: exit status, JSON, JUnit XML, the support matrix, mistakes.

test_check_command.py ATOLL FOLDER_OF_BROKEN_PLUGINS
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

atoll, folder = sys.argv[1], pathlib.Path(sys.argv[2])
failures = []


def check(*arguments, before=(), **environment):
    return subprocess.run([*before, atoll, "check", *map(str, arguments)], capture_output=True,
                          text=True, timeout=200, check=False, env=os.environ | environment)


def expect(true, what, run):
    if not true:
        failures.append(f"{what}: status {run.returncode}\n{run.stdout[-2000:]}{run.stderr[-2000:]}")


good, wrong = folder / "override-conforms.so", folder / "override-wrong_int32.so"

with tempfile.TemporaryDirectory() as scratch:
    junit, matrix = pathlib.Path(scratch, "results.xml"), pathlib.Path(scratch, "SUPPORT.md")
    run = check(wrong, "--json", "--junit", junit, "--matrix", matrix)
    expect(run.returncode == 1, "a plugin that does not conform has exit status 1", run)
    report = json.loads(run.stdout)
    expect(report["failed"] > 0 and report["name"] == "override_add", "JSON", run)
    expect(len(report["results"]) == report["passed"] + report["failed"] + report["skipped"],
           "JSON counts add up", run)
    root = ElementTree.parse(junit).getroot()
    expect(int(root.get("tests")) == len(report["results"]) == len(list(root.iter("testcase"))),
           "JUnit has a test case per check", run)
    expect(int(root.get("failures")) == report["failed"] == len(list(root.iter("failure"))),
           "JUnit has the failures", run)
    expect(all(f.text == f.get("message") and f.get("type") for f in root.iter("failure")),
           "JUnit says why, for readers of attributes and of texts", run)
    expect("| core.add | ✗ | ✓ |" in matrix.read_text(encoding="utf-8"), "the matrix", run)

    run = check(good, "--junit", pathlib.Path(scratch, "no", "folder.xml"))
    expect(run.returncode == 2 and "cannot write" in run.stderr, "an unwritable file", run)

for bad, words in ((("--deadline", "nan"), "a number"), (("--deadline", "0"), "deadline"),
                   (("--junit", "a", "--matrix", "a"), "a file of its own")):
    run = check(good, *bad)
    expect(run.returncode == 2 and words in run.stderr, f"refuses {bad}", run)
run = check(good, "--with", "nowhere")
expect(run.returncode == 2 and "nothing was checked" in run.stderr, "says what --with lacks", run)

run = check(good)
expect(run.returncode == 0 and "the plugin conforms" in run.stdout, "exit status 0", run)
expect(run.stderr == "", "nothing on standard error where it is no terminal", run)

run = check(wrong)
expect("FAILED functions/core.add@cpu:int32/contiguous" in run.stdout, "where it failed", run)
expect("does not conform" in run.stdout, "the verdict", run)

run = check(wrong, "--fail-fast")
expect(run.returncode == 1 and " 1 failed, 1 skipped" in run.stdout
       and "left out after a failure" in run.stdout, "stops at the first failure", run)

run = check(good, "--filter", "file/*")
expect(run.returncode == 0 and "6 checks" in run.stdout
       and "all checks that match 'file/*' passed" in run.stdout, "a filter", run)
run = check(good, "--list")
expect(run.returncode == 0 and "functions/core.add@cpu:int32/strided" in run.stdout, "a list", run)
run = check(good, "--no-isolate")
expect(run.returncode == 0, "without isolation", run)

run = check(good, "--filter", "functions/*")
expect("the plugin conforms" not in run.stdout, "a filter gives no verdict", run)

# What a plugin prints, or does to the process, is not taken for the report.
misdeeds = folder / "toy-misdeeds.so"
for options in ((), ("--no-isolate",)):
    run = check(misdeeds, "--json", "--filter", "load/plugin/*", *options,
                ATOLL_TEST_MISDEED="load:print")
    expect(json.loads(run.stdout)["name"] == "toy", f"JSON beside other output, {options}", run)
    for border in ("constructor", "load", "kernel"):
        for end in ("exit", "_exit", "_Exit", "quick_exit"):
            run = check(misdeeds, "--json", "--filter", "[lf]*/*", *options,
                        ATOLL_TEST_MISDEED=f"{border}:{end}")
            expect(run.returncode == 1, f"{end} in {border} has exit status 1, {options}", run)
            expect(options or json.loads(run.stdout)["failed"] > 0, f"{end} in {border}, JSON", run)

# Without /proc some checks are skipped; none fails.
hidden = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c",
          'mount -t tmpfs none /proc && exec "$@"', "sh"]
if shutil.which("unshare") and subprocess.run([*hidden, "true"], check=False,
                                              capture_output=True).returncode == 0:
    run = check(folder / "toy-conforms.so", "--filter", "[dl]*", before=hidden)
    expect(run.returncode == 0 and "which shows the threads, cannot be read" in run.stdout
           and "which shows the memory" in run.stdout, "a machine without /proc", run)

# Mistakes: said in a line, never a trace of the stack.
run = check(folder / "nothing-there.so")
expect(run.returncode == 2 and "there is no file" in run.stderr, "no such file", run)
run = check(folder)
expect(run.returncode == 2 and "a folder" in run.stderr, "a folder", run)
run = check(good, "--filter", "no/such/*")
expect(run.returncode == 2 and "no check matches" in run.stderr, "a filter without a match", run)
run = check(good, "--deadline", "-1")
expect(run.returncode == 2, "a negative deadline", run)
run = check()
expect(run.returncode == 2 and "plugin is required" in run.stderr, "no argument", run)
run = check(__file__)
expect(run.returncode == 1 and "not an ELF file" in run.stdout, "a file that is no plugin", run)

print("\n".join(failures))
sys.exit(1 if failures else 0)
