#!/usr/bin/env python3
"""What `atoll info`, `bench` and `completion` say, as text and as JSON, and how they fail.

test_atoll.py TOOL OVERRIDE ZOO    (the plugins are found by ATOLL_PLUGIN_PATH)
"""
import collections
import fcntl
import json
import os
import pathlib
import pty
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import termios

failures = []


def check(good, *what):
    if not good:
        failures.append(" ".join(str(part) for part in what))


def run(*arguments, **environment):
    return subprocess.run([tool, *arguments], capture_output=True, text=True, timeout=300,
                          env={**os.environ, **environment})


def data(*arguments, **environment):
    """The JSON document, which must be all of the standard output."""
    result = run(*arguments, "--json", **environment)
    check(result.returncode == 0, arguments, result.returncode, result.stderr)
    return json.loads(result.stdout)


def explains_what_is_there():
    document = data("info")
    # Of the builds for several levels of the processor one is loaded.
    devices = [plugin["devices"] for plugin in document["plugins"]
               if plugin["loaded"] and plugin["name"] == "cpu"]
    check(devices == [["cpu"]], document["plugins"])
    devices = {device["name"]: device for device in document["devices"]}
    check(devices["cpu"]["host_memory"] and devices["cpu"]["total_memory"] > 0, devices["cpu"])
    check(not devices["dummy:1"]["inline"], "dummy:1 is asynchronous")
    check(list(devices["dummy:1"]["facts"]) == ["allocations", "taken_bytes"], devices["dummy:1"])
    check(int(devices["cpu"]["facts"]["threads"]) > 0, devices["cpu"]["facts"])
    check(re.fullmatch("x86-64-v[1-4]", devices["cpu"]["facts"]["level"]), devices["cpu"]["facts"])
    check(devices["cpu"]["byteswap"] and devices["cpu"]["mixed_dtypes"], devices["cpu"])
    first = os.environ["ATOLL_PLUGIN_PATH"].split(":")[0]
    check(os.path.samefile(document["search_path"][0], first), document["search_path"])
    check({"core", "device"} <= {module["name"] for module in document["modules"]}, "modules")
    text = run("info").stdout
    for word in ("cpu", "dummy:0", "core", "setting"):
        check(word in text, word, "is missing in", text)
    check("\033[" not in text, "colour in a pipe")


def says_why_a_plugin_is_refused():
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "broken.so").write_bytes(b"not a plugin")
        path = folder + ":" + os.environ["ATOLL_PLUGIN_PATH"]
        refused = [plugin for plugin in data("info", "--plugins", ATOLL_PLUGIN_PATH=path)["plugins"]
                   if plugin["path"].endswith("broken.so")]
        check(len(refused) == 1 and not refused[0]["loaded"] and refused[0]["reason"], refused)
        pathlib.Path(folder, "forged\nrow.so").write_bytes(b"not a plugin")
        text = run("info", "--plugins", ATOLL_PLUGIN_PATH=path).stdout
        check("row.so" in text and not any(line.startswith("row.so") for line in text.splitlines()), text)
        pathlib.Path(folder, "\033[31mred.so").write_bytes(b"not a plugin")
        text = run("info", "--plugins", ATOLL_PLUGIN_PATH=path).stdout
        check("red.so" in text and "\033" not in text, "colour by a name of a file")
        # A name that is no UTF-8, a folder whose name is too long for the system.
        pathlib.Path(os.fsdecode(os.fsencode(folder) + b"/odd\xff.so")).write_bytes(b"no plugin")
        path += ":/" + 300 * "x"
        names = [plugin["path"] for plugin in
                 data("info", "--plugins", ATOLL_PLUGIN_PATH=path)["plugins"]]
        check(any(name.endswith("odd\ufffd.so") for name in names), names)
        result = subprocess.run([tool, "info", "--plugins"], capture_output=True, timeout=300,
                                env={**os.environ, "ATOLL_PLUGIN_PATH": path})
        check(result.returncode == 0, result.stderr)
    # A second copy is not refused, but not needed.
    cpu = next(plugin["path"] for plugin in data("info", "--plugins")["plugins"] if plugin["loaded"]
               and plugin["name"] == "cpu")
    with tempfile.TemporaryDirectory() as folder:
        copies = [pathlib.Path(folder, order, "copy.so") for order in ("first", "second")]
        for copy in copies:
            copy.parent.mkdir()
            shutil.copy(cpu, copy)
        path = ":".join(str(copy.parent) for copy in copies)
        plugins = data("info", "--plugins", ATOLL_PLUGIN_PATH=path)["plugins"]
        states = {plugin["path"]: (plugin["loaded"], plugin["superseded"]) for plugin in plugins}
        check(states[str(copies[0])] == (True, False), states)
        check(states[str(copies[1])] == (False, True), states)
        text = run("info", "--plugins", ATOLL_PLUGIN_PATH=path).stdout
        check("not needed" in text and "refused" not in text, text)
    disabled = data("info", "--plugins", ATOLL_PLUGINS_DISABLE="dumm*")["plugins"]
    reasons = [plugin["reason"] for plugin in disabled if plugin["name"] == "dummy"]
    check(reasons and "ATOLL_PLUGINS_DISABLE" in reasons[0], reasons)


def survives_what_it_explains(zoo):
    """Plugins that end the process, or print, while they are loaded."""
    for name, why in (("constructor_exits", "status 7"), ("load_exits", "status 0"), ("query_aborts", "Aborted"),
                      ("constructor_crashes", "process of its own first")):
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(zoo / f"{name}.so", folder)
            path = folder + ":" + os.environ["ATOLL_PLUGIN_PATH"]
            result = run("info", "--json", ATOLL_PLUGIN_PATH=path)
            check(result.returncode == 0 and why in result.stderr, name, result.returncode, result.stderr)
            plugins = {plugin["name"]: plugin for plugin in json.loads(result.stdout)["plugins"]}
            check(not plugins[name]["loaded"] and "child" in plugins[name]["reason"], plugins[name])
            check(plugins["dummy"]["loaded"] and plugins["trace"]["loaded"], plugins)
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(zoo / "constructor_prints.so", folder)
        path = folder + ":" + os.environ["ATOLL_PLUGIN_PATH"]
        names = [plugin["name"] for plugin in data("info", ATOLL_PLUGIN_PATH=path)["plugins"]]
        check("constructor_prints" in names, names)


def says_where_settings_come_from():
    settings = {s["name"]: s for s in data("info", "--settings", ATOLL_CPU_THREADS="3")["settings"]}
    check(settings["cpu.threads"]["value"] == "3", settings["cpu.threads"])
    check(settings["cpu.threads"]["source"] == "ATOLL_CPU_THREADS", settings["cpu.threads"])
    check(settings["dummy.devices"]["source"] == "default", settings["dummy.devices"])
    safe = {s["name"]: s for s in data("info", "--settings", ATOLL_CPU_THREADS="3",
                                       ATOLL_SAFE_MODE="1")["settings"]}
    check(safe.get("cpu.threads", {}).get("value") != "3", "safe mode reads the environment")
    check("ignored" in safe["ATOLL_PLUGIN_PATH"]["source"], safe["ATOLL_PLUGIN_PATH"])
    own = {s["name"]: s for s in data("info", "--settings", ATOLL_PROBE="0",
                                      ATOLL_PLUGINS_DISABLE=b"\xff")["settings"]}
    check(own["ATOLL_PROBE"] == {"name": "ATOLL_PROBE", "value": "0", "source": "environment"}, own)
    check(own["ATOLL_PLUGINS_DISABLE"]["value"] == "\ufffd", own["ATOLL_PLUGINS_DISABLE"])


def shows_functions_and_chains():
    functions = {f["name"]: f for f in data("info", "--functions")["functions"]}
    check(len(functions) > 114, len(functions), "functions")
    on = {support["device"]: support for support in functions["core.sqrt"]["on"]}
    check("float32" in on["cpu"]["dtypes"] and "int8" not in on["cpu"]["dtypes"], on["cpu"])
    matrix = run("info", "--functions").stdout
    line = next(line for line in matrix.splitlines() if line.startswith("core.sqrt "))
    check(line.split()[3:].count("x") == len(on["cpu"]["dtypes"]), line)
    chains = data("info", "--interposers", ATOLL_INTERPOSERS="trace=core.add")["interposers"]
    check(chains["pushed"] == [{"name": "trace", "target": "core.add", "priority": 0}], chains)
    check(all(c["function"] == "core.add" and c["links"][0] == "interposer trace"
              for c in chains["chains"]) and chains["chains"], chains)


def measures_rows():
    document = data("bench", "o1", "e18", "--rounds", "1", "--seconds", "0.001")
    check([row["id"] for row in document["rows"]] == ["o1", "e18"], document)
    check(all(row["seconds"] > 0 for row in document["rows"]), document)
    rows = {row["id"] for row in data("bench", "--list")}
    check({"o1", "g5", "e20", "r7", "c3", "i3", "m7", "q1"} <= rows, rows)
    large = data("bench", "x*", "--elements", "4096", "--rounds", "1", "--seconds", "0.0001")["rows"]
    check(len(large) == 21 and all(row.get("seconds", 0) > 0 for row in large), large)
    sizes = {row["id"]: row.get("bytes", row.get("operations")) for row in large}
    check(sizes["x1"] == 3 * 4 * 4096 and sizes["x10"] == 2 * 4 * 4096 and sizes["x15"] == 2 * 32**3, sizes)
    # Another device does the same work with the same result.
    dummy = next(path for folder in os.environ["ATOLL_PLUGIN_PATH"].split(":")
                 for path in pathlib.Path(folder).glob("atoll-dummy.so"))
    row = data("bench", "o4", "--against", str(dummy), "--rounds", "1", "--seconds",
               "0.001")["rows"][0]
    check(row["largest_difference"] == 0 and row["ratio"] > 0, row)


def compares_a_replaced_function(override):
    """The plugin replaces sqrt of float64 on cpu, by -1."""
    document = data("bench", "e8", "e9", "--against", override, "--rounds", "1", "--seconds", "0.001")
    rows = {row["id"]: row for row in document["rows"]}
    check("skipped" in rows["e9"] and "seconds" not in rows["e9"], rows["e9"])
    check(rows["e8"]["largest_difference"] > 0, rows["e8"])
    rows = data("bench", "--against", override, "--rounds", "1", "--seconds", "0.0001")["rows"]
    ids = [row["id"] for row in rows]
    check("e8" in ids and "e9" not in ids and not any("skipped" in row for row in rows), rows)


def shows_libraries(folder):
    """The files that the plugin cpu needs; two copies of one are worth a warning."""
    document = data("info", "--libraries")["libraries"]
    found = {entry["library"]: entry for entry in document["mapped"]}
    check({"OpenBLAS", "oneTBB"} <= set(found), found)
    for entry in found.values():
        check(os.path.exists(entry["path"]) and entry["version"] and len(entry["build_id"]) >= 16, entry)
    check(any("atoll-cpu" in name for name in found["oneTBB"]["needed_by"]), found["oneTBB"])
    check(document["warnings"] == [], document["warnings"])
    copy = folder / "libtbb-other.so.12"
    shutil.copy(found["oneTBB"]["path"], copy)
    # The runtime of a sanitizer has to come before any other library.
    linked = subprocess.run(["ldd", tool], capture_output=True, text=True, check=True).stdout
    first = re.findall(r"/\S*/lib[at]san\S*", linked)
    both = " ".join([*first, str(copy), found["oneTBB"]["path"]])
    document = data("info", "--libraries", LD_PRELOAD=both)["libraries"]
    check(len(document["warnings"]) == 1 and str(copy) in document["warnings"][0], document)
    check("warning: two copies of oneTBB" in run("info", "--libraries", LD_PRELOAD=both).stdout, "the text")


def completes():
    for shell in ("bash", "zsh", "fish"):
        script = run("completion", shell).stdout
        check("--plugins" in script or "-l plugins" in script, shell, script)
    bash = shutil.which("bash")
    if bash:
        script = run("completion", "bash").stdout
        words = subprocess.run(
            [bash, "-c", script + "COMP_WORDS=(atoll info --pl) COMP_CWORD=2; _atoll; "
             "echo ${COMPREPLY[@]}"], capture_output=True, text=True).stdout
        check(words.split() == ["--plugins"], words)
        words = subprocess.run(
            [bash, "-c", script + "COMP_WORDS=(atoll new-plugin x --kind a) COMP_CWORD=4; _atoll; "
             "echo ${COMPREPLY[@]}; COMP_WORDS=(atoll completion f) COMP_CWORD=2; _atoll; echo ${COMPREPLY[@]}"],
            capture_output=True, text=True).stdout
        check(words.split() == ["async", "fish"], words)


def fits_the_terminal():
    """On a terminal of 60 columns no line of a table is longer, and nothing is lost."""
    for arguments in (("info", "--plugins"), ("info", "--settings"), ("bench", "--list"), ("info", "--devices"),
                      ("info", "--functions"), ("info", "--libraries"), ("info", "--modules"),
                      ("--help",), ("trace", "--help"), ("bench", "--help")):
        ours, its = pty.openpty()
        fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 60, 0, 0))
        with subprocess.Popen([tool, *arguments], stdout=its, env={**os.environ, "NO_COLOR": "1"}) as process:
            os.close(its)
            text = b""
            try:
                while part := os.read(ours, 4096):
                    text += part
            except OSError:  # the other end is closed
                pass
        os.close(ours)
        # A path alone in its line may be as long as it is.
        lines = [line for line in text.decode().split("\r\n") if not line.startswith("  /")]
        check(process.returncode == 0 and max(map(len, lines)) <= 60, arguments, max(lines, key=len))
        whole = "".join(run(*arguments).stdout.split())
        # Columns that would not fit are in further tables, which repeat the first ones.
        lost = collections.Counter(whole) - collections.Counter("".join(text.decode().split()))
        if "--devices" in arguments:  # between the two runs some memory was freed, or used
            lost = {c: n for c, n in lost.items() if c not in "0123456789.KMG"}
        check(not lost, arguments, "lost characters", lost)


def fails_with_a_sentence():
    for arguments, status, words in (
            ((), 2, "subcommand"),
            (("nonsense",), 2, "unknown command 'nonsense'; commands: info, "),
            (("inof",), 2, "did you mean 'info'?"),
            (("info", "--nonsense"), 2, "nonsense"),
            (("bench", "zz"), 2, "--list"),
            (("bench", "o1", "--device", "nowhere"), 1, "nowhere"),
            (("bench", "o1", "--device", "dummy:9"), 1, "dummy"),
            (("bench", "o1", "--against", "/nowhere.so"), 1, "/nowhere.so"),
            (("bench", "o1", "--threads", "-1"), 2, "threads"),
            (("completion", "csh"), 2, "csh")):
        result = run(*arguments)
        check(result.returncode == status, arguments, result.returncode, result.stderr)
        check(words in result.stderr, arguments, "says", result.stderr)
        check(result.stdout == "", arguments, "prints", result.stdout)
        check("terminate" not in result.stderr, arguments, result.stderr)
    # More than a buffer holds, less, and what is printed by no command.
    for arguments in (("info",), ("info", "--interposers"), ("--version",)):
        with open("/dev/full", "w", encoding="utf-8") as full:
            result = subprocess.run([tool, *arguments], stdout=full, stderr=subprocess.PIPE,
                                    text=True, timeout=300, check=False)
        check(result.returncode == 1 and "No space left" in result.stderr, arguments, result)


tool = sys.argv[1]
explains_what_is_there()
says_why_a_plugin_is_refused()
says_where_settings_come_from()
shows_functions_and_chains()
measures_rows()
survives_what_it_explains(pathlib.Path(sys.argv[3]))
compares_a_replaced_function(sys.argv[2])
with tempfile.TemporaryDirectory() as scratch:
    shows_libraries(pathlib.Path(scratch))
completes()
fits_the_terminal()
fails_with_a_sentence()
print("\n".join(failures))
sys.exit(1 if failures else 0)
