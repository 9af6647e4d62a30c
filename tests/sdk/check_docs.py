#!/usr/bin/env python3
"""Do the SDK's pages say what is so? Code is quoted verbatim from the file that is named above it
(`<!-- from FILE -->`), names of the ABI exist, and links lead somewhere.

check_docs.py SOURCE_FOLDER
"""
import pathlib
import re
import sys

QUOTE = re.compile(r"<!-- from (\S+) -->\n```\w+\n(.*?)```", re.DOTALL)
CODE = re.compile(r"```cpp\n(.*?)```", re.DOTALL)
NAME = re.compile(r"\b(?:ATOLL|atoll)_\w+")
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")
# Environment variables, and what the CMake package defines.
OTHER = re.compile(r"ATOLL_(PLUGIN_PATH|PLUGINS_DISABLE|PLUGINS_LOCK|INTERPOSERS|SAFE_MODE|ACME_UNITS|TRACE_TIMES)"
                   r"|atoll_(PLUGIN_DIR|add_plugin)")


def check(page, source, names):
    text = page.read_text(encoding="utf-8")
    quotes = QUOTE.findall(text)
    for file, code in quotes:
        path = source / file
        if not path.exists():
            yield f"there is no {file}"
        elif code not in path.read_text(encoding="utf-8"):
            yield f"{file} does not have:\n{code}"
    if len(quotes) != len(CODE.findall(text)):
        yield "C++ that is quoted from nowhere"
    for name in set(NAME.findall(text)):
        if name.rstrip("_") not in names and not OTHER.fullmatch(name):
            yield f"there is no {name}"
    for link in LINK.findall(CODE.sub("", text)):
        if not (page.parent / link).exists():
            yield f"{link} leads nowhere"


def main():
    source = pathlib.Path(sys.argv[1])
    names = set()
    for root in ("sdk/include", "core/include", "plugins/cpu/kernels/include", "plugins/cuda/include", "plugins/dummy/include"):
        for header in (source / root).rglob("*"):
            if header.is_file():
                names.update(re.findall(r"\w+", header.read_text(encoding="utf-8")))
    # ATOLL_FN_add, ATOLL_DTYPE_FLOAT32: made of the lists.
    for listed, pattern, prefix in (("functions", r"^ATOLL_FUNCTION\( *\d+, (\w+)", "ATOLL_FN_"),
                                    ("device_functions", r"^ATOLL_DEVICE_FUNCTION\( *\d+, (\w+)",
                                     "ATOLL_DEVICE_FN_"),
                                    ("status", r"^ATOLL_STATUS\( *\d+, (\w+)", "ATOLL_STATUS_"),
                                    ("dtypes", r"^ATOLL_DTYPE\( *\d+, (\w+)", "ATOLL_DTYPE_")):
        text = (source / f"sdk/include/atoll/lists/{listed}.inc").read_text(encoding="utf-8")
        names.update(prefix + name for name in re.findall(pattern, text, re.MULTILINE))
    own = [source / "sdk/docs" / f"{page}.md" for page in ("vendor-guide", "interposers", "versioning")]
    failures = [f"{page.name}: {failure}" for page in own for failure in check(page, source, names)]
    device = (source / "sdk/template/device/newplugin.cpp").read_text(encoding="utf-8")
    if device.count("\n") >= 150:
        failures.append("the guide promises a device in less than 150 lines")
    for failure in failures:
        print(failure)
    print(f"{len(own)} pages, {len(failures)} failures")
    return 1 if failures else 0


sys.exit(main())
