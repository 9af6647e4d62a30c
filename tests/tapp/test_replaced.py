#!/usr/bin/env python3
"""Programs for TAPP run unmodified on somebody else's matrix product: test_replaced.py PLUGIN PROGRAM..."""
import os
import re
import subprocess
import sys

plugin, *programs = sys.argv[1:]


def run(program, plugins):
    return subprocess.run([program], env={**os.environ, "ATOLL_TAPP_PLUGINS": plugins}, capture_output=True, text=True,
                          check=False)


for program in programs:
    plain, replaced = run(program, ""), run(program, plugin)
    assert plain.returncode == 0 and "plain_gemm" not in plain.stderr, plain
    counted = re.search(r"^plain_gemm multiplied (\d+) times$", replaced.stderr, re.M)
    assert replaced.returncode == 0 and counted and int(counted[1]) > 0, replaced
missing = run(programs[0], "nowhere")
assert missing.returncode != 0 and "nowhere" in missing.stdout + missing.stderr, missing
