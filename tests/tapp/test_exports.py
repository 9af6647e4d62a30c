#!/usr/bin/env python3
"""What libtapp-atoll exports, links and is called, and that its sources use the public API alone.

test_exports.py LIBRARY SOURCES INTERFACE_HEADERS C_COMPILER...    (needs nm, objdump)
"""
import pathlib
import re
import subprocess
import sys
import tempfile

FUNCTIONS = """attr_clear attr_get attr_set check_success create_executor create_handle
create_tensor_info create_tensor_product destroy_executor destroy_handle destroy_status
destroy_tensor_info destroy_tensor_product execute_batched_product execute_product explain_error
get_extents get_nmodes get_strides set_extents set_nmodes set_strides""".split()


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def main():
    library, sources, public, *compiler = sys.argv[1:]
    failures = []
    symbols = sorted(line.split()[-1] for line in output("nm", "-D", "--defined-only", library).splitlines())
    if symbols != sorted("TAPP_" + name for name in FUNCTIONS) or len(symbols) != 22:
        failures.append(f"exports {symbols}")
    facts = output("objdump", "-p", library)
    if re.findall(r"SONAME\s+(\S+)", facts) != ["libtapp-atoll.so.0"]:
        failures.append("the soname is not libtapp-atoll.so.0")
    if not any(name.startswith("libatoll.so") for name in re.findall(r"NEEDED\s+(\S+)", facts)):
        failures.append("does not link libatoll")
    headers = {str(p.relative_to(folder)) for folder in public.split(":") for p in pathlib.Path(folder).rglob("*.h*")}
    files = [p for p in pathlib.Path(sources).iterdir() if p.suffix in (".cpp", ".hpp")]
    for path in files:
        for name in re.findall(r"#include\s*[<\"](atoll/[^>\"]+)", path.read_text(encoding="utf-8")):
            if name not in headers and not name.startswith("atoll/lists/"):
                failures.append(f"{path.name} includes {name}, which is not public")
    if len(files) < 8:
        failures.append(f"too few sources: {files}")
    # Each header alone, in C and in C++.
    include = pathlib.Path(sources) / "include"
    alone = [p.relative_to(include) for p in include.rglob("*.h")]
    with tempfile.TemporaryDirectory() as folder:
        for header in alone:
            for language, standard in (("c", "c99"), ("c", "c11"), ("c++", "c++11"), ("c++", "c++20")):
                file = pathlib.Path(folder) / "alone"
                file.write_text(f'#include "{header}"\n#include "{header}"\nint declared(void);\n', encoding="utf-8")
                done = subprocess.run([*compiler, "-x", language, f"-std={standard}", "-pedantic-errors", "-Wall", "-Wextra",
                                       "-Werror", "-fsyntax-only", "-I", include, file], capture_output=True, text=True)
                if done.returncode:
                    failures.append(f"{header} as {standard}: {done.stderr}")
    if len(alone) != 11:
        failures.append(f"headers: {alone}")
    for failure in failures:
        print(failure)
    print(f"{len(symbols)} symbols, {len(alone)} headers, {len(failures)} failures")
    return 1 if failures else 0


sys.exit(main())
