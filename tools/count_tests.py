#!/usr/bin/env python3
"""Counts test cases in meson's test logs (meson-logs/*.json) and prints `N passed, N failed`.

A doctest binary counts as its cases, as its own summary says. One that crashed, ran out of time or
failed without a failed case counts as one failure more. Any other test is one case.
"""

import json
import re
import sys

SUMMARY = re.compile(r"\[doctest\] test cases:\s*\d+\s*\|\s*(\d+) passed\s*\|\s*(\d+) failed")
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def count(entry):
    """(passed, failed) of one line of the log."""
    result = entry["result"]
    if result == "SKIP":
        return 0, 0
    good = result in ("OK", "EXPECTEDFAIL")
    summaries = SUMMARY.findall(COLOUR.sub("", entry.get("stdout") or ""))
    if not summaries:
        return (1, 0) if good else (0, 1)
    passed = sum(int(p) for p, _ in summaries)
    failed = sum(int(f) for _, f in summaries)
    # doctest says which cases failed; a sanitizer's exit status or a crash afterwards it cannot.
    return passed, failed if good or failed else 1


def main(logs):
    total_passed = total_failed = 0
    for log in logs:
        with open(log, encoding="utf-8") as lines:
            for line in lines:
                entry = json.loads(line)
                passed, failed = count(entry)
                if failed:
                    print(f"FAILED {entry['name']}: {failed} ({entry['result']})")
                total_passed += passed
                total_failed += failed
    print(f"{total_passed} passed, {total_failed} failed")
    return 1 if total_failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
