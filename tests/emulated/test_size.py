#!/usr/bin/env python3
"""The plugin for all architectures and dtypes is no larger than people want to install: test_size.py BYTES FILE

Counted without its symbols, as packages hold it.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

most, plugin = int(sys.argv[1]), sys.argv[2]
with tempfile.TemporaryDirectory() as folder:
    stripped = pathlib.Path(folder) / "plugin.so"
    subprocess.run([os.environ.get("STRIP", "strip"), "-o", stripped, plugin], check=True)
    size = stripped.stat().st_size
print(f"{plugin}: {size} bytes, at most {most} are meant")
sys.exit(size > most)
