#!/usr/bin/env python3
"""The rows of `atoll bench` in two builds, on the same machine.

    compare_builds.py [--turns N] [--threads N] [--json] BEFORE AFTER [ROW...]

BEFORE and AFTER are build folders or installation prefixes. The two take turns, the one that begins
too, and the best of each counts. A ratio below 1 says that AFTER is faster. Rows are names or
patterns ('g*'); without any: all.
"""
import argparse
import json
import math
import os
import pathlib
import subprocess
import sys

OPTIONS = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
OPTIONS.add_argument("before", metavar="BEFORE", type=pathlib.Path)
OPTIONS.add_argument("after", metavar="AFTER", type=pathlib.Path)
OPTIONS.add_argument("rows", nargs="*", metavar="ROW")
OPTIONS.add_argument("--turns", type=int, default=5, help="how often each is measured")
OPTIONS.add_argument("--threads", type=int, default=1)
OPTIONS.add_argument("--json", action="store_true")
options = OPTIONS.parse_args()


class Build:
    def __init__(self, folder):
        folder = folder.resolve()
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("ATOLL_")}
        installed = folder / "bin/atoll"
        self.command = installed if installed.exists() else folder / "tools/atoll"
        if not self.command.exists():
            sys.exit(f"compare_builds: neither {installed} nor {self.command} is there")
        if self.command != installed:
            # An installed library has its plugins beside it, one of a build tree does not.
            folders = sorted({str(file.parent) for file in folder.glob("plugins/**/atoll-*.so")})
            self.environment["ATOLL_PLUGIN_PATH"] = ":".join(folders)

    def bench(self, *arguments):
        command = [str(self.command), "bench", *arguments, "--json"]
        done = subprocess.run(command, capture_output=True, text=True, env=self.environment)
        if done.returncode != 0:
            sys.exit(f"compare_builds: {' '.join(command)} failed: {done.stderr.strip()}")
        return json.loads(done.stdout)


def main():
    before, after = builds = [Build(folder) for folder in (options.before, options.after)]
    listed = [{row["id"]: row["what"] for row in build.bench("--list", *options.rows)} for build in builds]
    both = [name for name in listed[0] if name in listed[1]]
    if not both:
        sys.exit("compare_builds: the two have no row in common")
    results = []
    for name in both:
        best = {before: math.inf, after: math.inf}
        for turn in range(options.turns):
            for build in builds if turn % 2 == 0 else reversed(builds):
                measured = build.bench(name, "--threads", str(options.threads))["rows"][0]
                best[build] = min(best[build], measured.get("seconds", math.inf))
        if math.inf in best.values():
            continue  # not on this machine
        ratio = best[after] / best[before]
        results.append({"id": name, "what": listed[0][name], "before": best[before],
                        "after": best[after], "ratio": ratio})
        if not options.json:
            print(f"{name:4} {listed[0][name]:60} {best[before] * 1e6:12.3f} µs {best[after] * 1e6:12.3f} µs"
                  f"  ratio {ratio:6.3f}", flush=True)
    if not results:
        sys.exit("compare_builds: no row has figures in both")
    if options.json:
        print(json.dumps(results, indent=2))
    else:
        mean = math.exp(sum(math.log(r["ratio"]) for r in results) / len(results))
        print(f"geometric mean of {len(results)} rows: {mean:.3f}")


main()
