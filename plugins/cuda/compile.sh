#!/bin/sh
# Runs a compiler that reports on what it made (ptxas -v): compile.sh REPORT COMMAND…
# The report goes to the file, all else where it belongs.
report=$1
shift
"$@" 2>"$report"
status=$?
grep -v -E '^ptxas info|bytes stack frame' "$report" >&2
exit $status
