#!/usr/bin/env python3
"""What the built files export and link, and that the core names no backend.

test_exports.py CORE_FOLDER LIBRARY FOLDER_OF_PLUGINS...    (needs ldd, nm)
"""
import pathlib
import re
import subprocess
import sys

BACKENDS = ["cpu", "cuda", "dummy", "gpu", "hip", "openblas", "cblas", "cublas", "mkl", "tbb"]
# A word of an identifier: is_cpu and CUDA_PATH count, cpuid and dummyfy do not, nor does what the
# compiler knows of the processor (__builtin_cpu_supports).
WORD = re.compile(r"(?<![a-z])(?<!__builtin_)(" + "|".join(BACKENDS) + r")(?![a-z])", re.IGNORECASE)
TOKEN = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)
      | (?P<include>\#\s*include\s*[<"][^>"\n]*[>"])
      | (?P<string>"(?:\\.|[^"\\\n])*")
      | (?P<character>(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+')""",
    re.DOTALL | re.VERBOSE)

failures = []


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def check_links(library):
    """The core must not bring a backend's libraries into a process, not even through others."""
    for line in output("ldd", library).splitlines():
        if re.search(r"openblas|blas|tbb|cuda|cublas|nvrtc", line.split("(")[0], re.IGNORECASE):
            failures.append(f"{library} links {line.strip()}")


def check_exports(plugin):
    """One symbol, so that plugins cannot meet each other's."""
    symbols = [line.split()[-1] for line in output("nm", "-D", "--defined-only", plugin).splitlines()]
    if symbols != ["atoll_plugin_query_v0"]:
        failures.append(f"{plugin} exports {symbols}, need atoll_plugin_query_v0 alone")


def check_library_exports(library):
    """The public namespace and the C functions: nothing that only the library's sources share, nothing of other libraries,
    and nothing of the SDK, which plugins bring in the version that they were compiled with."""
    lines = output("nm", "-DC", "--defined-only", library).splitlines()
    symbols = [line.split(maxsplit=2)[2] for line in lines]
    names = [re.sub(r"^(typeinfo|typeinfo name|vtable) for ", "", symbol) for symbol in symbols]
    wrong = [name for name in names if not re.match(r"Atoll::(?!detail::|sdk::)|Atoll::detail::call_|atoll_range_(push|pop)$", name)]
    if wrong or "Atoll::load_plugin" not in {name.split("(")[0] for name in names}:
        failures.append(f"{library} exports {len(names)} symbols; not to be exported: {wrong}")


def backend_names(source):
    """(line, what) for each place where C++ code names a backend.

    Comments may, as examples. So may a sentence for the user ("call load(\\"cpu\\")"): a name in the
    midst of other words routes nothing. A literal that is a name, with or without an index, does."""
    found = []

    def at(position):
        return source.count("\n", 0, position) + 1

    def blank(match):
        kind, text = match.lastgroup, match.group()
        if kind == "include" and WORD.search(text):
            found.append((at(match.start()), text))
        if kind == "string":
            if re.fullmatch(r"\W*(" + "|".join(BACKENDS) + r")[:_.]?[\d{}]*\W*", text[1:-1],
                            re.IGNORECASE):
                found.append((at(match.start()), text))
        return "".join(c if c == "\n" else " " for c in text)

    code = TOKEN.sub(blank, source)
    for match in WORD.finditer(code):
        line = code[code.rfind("\n", 0, match.start()) + 1:].split("\n", 1)[0]
        found.append((at(match.start()), line.strip()))
    return found


def check_rule():
    """The rule itself: what it must see, and what it must let pass."""
    caught = ['if (type == "cpu") {}', "bool is_cpu;", "#include <cuda.h>", 'f("dummy:0")',
              "int CUDA_thing;", "openblas_set_num_threads(1);", '"dummy:{}"', "char c = '\"'; int tbb;"]
    passed = ['// the cpu', '/* cuda\n dummy */', 'g("call load(\\"cpu\\") first");', "__get_cpuid(1);",
              "#include <cpuid.h>", 'h("// cpu stands in a sentence");', "std::cout << 1'000'000;"]
    failures.extend(f"the rule misses {text}" for text in caught if not backend_names(text))
    failures.extend(f"the rule is wrong about {text}" for text in passed if backend_names(text))


def main():
    core, library, *folders = sys.argv[1:]
    plugins = sorted(str(p) for folder in folders for p in pathlib.Path(folder).glob("*.so"))
    check_rule()
    check_links(library)
    check_library_exports(library)
    for plugin in plugins:
        check_exports(plugin)
    sources = sorted(p for p in pathlib.Path(core).rglob("*") if p.suffix in {".cpp", ".hpp", ".h"})
    if len(sources) < 20 or not plugins:
        failures.append(f"too little to look at: {len(sources)} sources in {core}, {len(plugins)} plugins")
    for path in sources:
        for line, what in backend_names(path.read_text()):
            failures.append(f"{path}:{line}: the core names a backend: {what}")
    for failure in failures:
        print(failure)
    print(f"{len(sources)} sources, {len(plugins)} plugins, {len(failures)} failures")
    return 1 if failures else 0


sys.exit(main())
