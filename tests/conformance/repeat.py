#!/usr/bin/env python3
"""Runs `atoll check` again and again: its verdicts depend on the plugin, not on luck or load.

repeat.py TOOL PLUGIN... [--runs N] [--filter GLOB]

Of four runs one has the machine as it is, one a low priority beside a busy loop per processor, one a
single processor, and one a single processor that it shares with a busy loop. Memory is laid out
differently in every run (ASLR). With ATOLL_TEST_REPEATS=N, for nightly tests, N runs of the groups in
which time and threads matter, and N / 20 of everything. Exit status 0: the same verdict for every
check in every run.
"""
import argparse
import collections
import contextlib
import json
import os
import subprocess
import sys

TIMED = "[!fiu]*"  # not functions, interposed, undeclared
DEADLINE = 300  # seconds, far more than any check takes


@contextlib.contextmanager
def busy(processors):
    """An endless loop on each of `processors`."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"],
                              preexec_fn=lambda own=p: os.sched_setaffinity(0, {own})) for p in processors]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def verdicts(tool, plugin, pattern, run):
    """Name of a check → its outcome, with the reason unless it passed."""
    processors = sorted(os.sched_getaffinity(0))
    loaded, alone = run % 2 == 1, run % 4 >= 2
    own = [processors[run // 4 % len(processors)]] if alone else processors

    def prepare():
        os.sched_setaffinity(0, own)
        if loaded:
            os.nice(10)
    with busy(own if loaded else []):
        done = subprocess.run([tool, "check", plugin, "--json", "--filter", pattern, "--deadline", str(DEADLINE)],
                              capture_output=True, text=True, check=False, preexec_fn=prepare)
    if done.returncode not in (0, 1):
        sys.exit(f"{plugin}: exit status {done.returncode}: {done.stderr}")
    return {r["name"]: f"{r['outcome']} {r['message']}" for r in json.loads(done.stdout)["results"]}


def differences(tool, plugin, pattern, runs):
    """How many checks had different verdicts; prints them."""
    seen = collections.defaultdict(collections.Counter)
    for run in range(runs):
        for name, verdict in verdicts(tool, plugin, pattern, run).items():
            seen[name][verdict] += 1
    differ = [name for name, counts in seen.items() if len(counts) > 1 or counts.total() != runs]
    for name in differ:
        print(name)
        for verdict, count in seen[name].most_common():
            print(f"    {count:>4} of {runs}: {verdict}")
    print(f"{os.path.basename(plugin)} {pattern}: {runs} runs of {len(seen)} checks, {len(differ)} differ", flush=True)
    return len(differ) if seen else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tool")
    parser.add_argument("plugins", nargs="+")
    parser.add_argument("--runs", type=int, default=4)
    parser.add_argument("--filter", default="*")
    options = parser.parse_args()
    nightly = int(os.environ.get("ATOLL_TEST_REPEATS", "0"))
    series = [(TIMED, nightly), ("*", nightly // 20)] if nightly else [(options.filter, options.runs)]
    differ = 0
    for plugin in options.plugins:
        for pattern, runs in series:
            differ += differences(options.tool, plugin, pattern, runs)
    sys.exit(1 if differ else 0)


main()
