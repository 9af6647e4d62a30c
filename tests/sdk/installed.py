#!/usr/bin/env python3
"""Uses an installed Atoll as a third party would: installs this build to a temporary prefix, moves
it, and works in an empty folder with nothing but the moved tree.

installed.py SCENARIO BUILD_FOLDER SOURCE_FOLDER WORK_FOLDER    (SCENARIO: a function use_… below)

WORK_FOLDER is emptied first. It has the same name in every run, so that a compiler cache helps.
"""
import fcntl
import json
import os
import pathlib
import platform
import re
import resource
import shutil
import signal
import subprocess
import sys


class Failed(Exception):
    pass


def require(condition, what):
    if not condition:
        raise Failed(what)


class Installed:
    """A moved tree, an empty folder, and an environment that knows of nothing else."""

    def __init__(self, build, source, work):
        self.build, self.source, self.work = build, source, work
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(parents=True)
        with open(build / "install.lock", "w", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            subprocess.run(["meson", "install", "-C", build, "--no-rebuild", "--quiet", "--destdir",
                            work / "staged"], check=True, stdout=subprocess.DEVNULL)
        libraries = list((work / "staged").rglob("libatoll.so"))
        require(len(libraries) == 1, f"one library is installed, not {libraries}")
        libdir = libraries[0].parent
        prefix = next(p for p in libdir.parents if (p / "bin/atoll").exists())
        self.prefix = work / "moved"
        prefix.rename(self.prefix)
        shutil.rmtree(work / "staged")
        self.libdir = self.prefix / libdir.relative_to(prefix)
        self.tool = self.prefix / "bin/atoll"
        self.empty = work / "empty"
        self.empty.mkdir()

        dropped = ("ATOLL_", "LD_LIBRARY_PATH", "PKG_CONFIG_", "CMAKE_", "CPATH", "LIBRARY_PATH",
                   "MESON_", "DESTDIR")
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(dropped)}
        self.env["PKG_CONFIG_PATH"] = str(self.libdir / "pkgconfig")
        self.env["CMAKE_PREFIX_PATH"] = str(self.prefix)
        self.compilers = {k: self.env.get(k, default).split()
                          for k, default in (("CC", "cc"), ("CXX", "c++"))}

    def run(self, *command, cwd=None, status=0, **kwargs):
        """Output and errors together; Failed unless it ends with `status`."""
        kwargs.setdefault("env", self.env)
        done = subprocess.run([str(c) for c in command], cwd=cwd or self.empty, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, **kwargs)
        if done.returncode != status:
            raise Failed(f"{' '.join(str(c) for c in command)}: exit status {done.returncode}, "
                         f"need {status}\n{done.stdout}")
        return done.stdout

    def usage(self, *command):
        """The most memory that it has at a time, in KiB."""
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, env=self.env) as process:
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        require(process.returncode == 0, f"{command}: status {process.returncode}")
        return usage.ru_maxrss

    def tree(self):
        return sorted(str(p.relative_to(self.empty)) for p in self.empty.rglob("*"))

    def has_command(self, name):
        return re.search(rf"^  {name}\b", self.run(self.tool, "--help"), re.MULTILINE)

    def configure_cmake(self, folder, build="build-cmake", status=0):
        """Returns what CMake printed, line breaks as spaces: it wraps messages."""
        options, env = ["-DCMAKE_EXPORT_COMPILE_COMMANDS=ON"], dict(self.env)
        for key, language in (("CC", "C"), ("CXX", "CXX")):
            compiler = self.compilers[key]
            if pathlib.Path(compiler[0]).name == "ccache" and len(compiler) > 1:
                options.append(f"-DCMAKE_{language}_COMPILER_LAUNCHER={compiler[0]}")
                compiler = compiler[1:]
            env[key] = " ".join(compiler)
        text = self.run("cmake", "-G", "Ninja", *options, "-S", folder, "-B", folder / build,
                        status=status, env=env)
        return re.sub(r"\s+", " ", text)

    def check_compile_commands(self, build):
        """Headers come from the moved tree, none from this project's sources."""
        text = (build / "compile_commands.json").read_text(encoding="utf-8")
        folders = set()
        for entry in json.loads(text):
            for flag in re.findall(r"(?:-I|-isystem )\s*(\S+)", entry["command"]):
                folders.add((pathlib.Path(entry["directory"]) / flag).resolve())
        others = [f for f in folders if self.empty not in f.parents]
        require(others == [self.prefix / "include"], f"include folders are {others}")

    def check_plugin(self, plugin):
        """A bare name, one symbol."""
        symbols = [line.split()[-1]
                   for line in self.run("nm", "-D", "--defined-only", plugin).splitlines()]
        require(symbols == ["atoll_plugin_query_v0"], f"{plugin} exports {symbols}")
        require(str(self.source / "sdk") not in self.run("strings", plugin),
                f"{plugin} names the source tree")


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


# ---- Scenarios ----------------------------------------------------------------------------------


def use_tool(atoll):
    """atoll new-plugin: bad input is an error with status 2 that leaves nothing behind."""
    # Backends are light until they are used: cuBLAS alone would map 200 MB.
    kilobytes = atoll.usage(atoll.tool, "info")
    require(kilobytes < 30_000, f"atoll info: {kilobytes} KiB")
    own = sorted(p.parent.name for p in (atoll.source / "plugins").glob("*/meson.build"))
    require(len(own) >= 4, f"plugins of the runtime: {own}")
    cases = [([name], "the runtime uses the name") for name in own + ["core", "device"]]
    cases += [([name], "cannot be named") for name in
              ("Acme", "1st", "a-b", "a/b", "../up", "a b", "", "x" * 32, "ümlaut", ".", "newPlugin")]
    cases += [(["newplugin"], "is the placeholder"),
              (["acme", "--kind", "both"], "--kind"), (["acme", "--language", "rust"], "--language"),
              (["acme", "--kind", "async", "--language", "c"], "choose --language cpp"),
              ([], "name"),
              (["acme", "-o", "there"], "exists already"), (["acme", "-o", "there/"], "exists already"),
              (["acme", "-o", "dangling"], "exists already"),
              (["acme", "-o", "nowhere/acme"], "create it first"),
              (["acme", "-o", "file/acme"], "create it first")]
    (atoll.empty / "there").mkdir()
    (atoll.empty / "dangling").symlink_to("nowhere")
    write(atoll.empty / "file", "")
    before = atoll.tree()
    for arguments, message in cases:
        text = atoll.run(atoll.tool, "new-plugin", *arguments, status=2)
        require(message in text, f"new-plugin {arguments} says '{message}', not: {text}")
        require(atoll.tree() == before, f"new-plugin {arguments} leaves {atoll.tree()}")

    # A full disk: no file may be longer than a few bytes.
    def full_disk():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (600, 600))
    text = atoll.run(atoll.tool, "new-plugin", "acme", status=1, preexec_fn=full_disk)
    require("cannot write" in text, text)
    require(atoll.tree() == before, f"a full disk leaves {atoll.tree()}")

    if os.geteuid() != 0: # root may write everywhere
        (atoll.empty / "there").chmod(0o500)
        text = atoll.run(atoll.tool, "new-plugin", "acme", "-o", "there/acme", status=2)
        require("cannot write to" in text, text)
        (atoll.empty / "there").chmod(0o700)

    text = atoll.run(atoll.tool, "new-plugin", "acme", "-o", "it's here")
    require("cd 'it'\\''s here'\n" in text, f"a folder as a word of a shell, not: {text}")
    facts = json.loads(atoll.run(atoll.tool, "new-plugin", "acme", "--kind", "override", "--language", "c", "-o", "there/acme", "--json"))
    files = sorted(p.name for p in (atoll.empty / "there/acme").iterdir())
    require(files == sorted(facts["files"]) == [".gitignore", "CMakeLists.txt", "README.md", "acme.c",
                                                "meson.build", "test_acme.cpp"], f"{files} and {facts}")
    text = (atoll.empty / "there/acme/README.md").read_text(encoding="utf-8")
    require("square" in text and "device type `acme`" not in text and "DESCRIPTION" not in text, f"the README is about what was chosen: {text}")

    # Without the template: an error that says what to do.
    shutil.rmtree(atoll.prefix / "share/atoll/template")
    require("install Atoll" in atoll.run(atoll.tool, "new-plugin", "acme", status=1), "what to do")


def templates(atoll):
    """Every variant of the template, written to the empty folder."""
    for kind, language in (("device", "c"), ("device", "cpp"), ("async", "cpp"), ("override", "c"), ("override", "cpp")):
        name = f"{kind}_{language}"
        atoll.run(atoll.tool, "new-plugin", name, "--kind", kind, "--language", language)
        for file in (atoll.empty / name).iterdir():
            require("newplugin" not in file.name + file.read_text(encoding="utf-8"),
                    f"the placeholder is gone from {file}")
        yield name


def follow_next_lines(atoll, word):
    """What new-plugin prints works in a shell that knows nothing of this Atoll."""
    bare = {k: v for k, v in atoll.env.items() if k not in ("PKG_CONFIG_PATH", "CMAKE_PREFIX_PATH")}
    name = f"next_{word.split()[0]}"
    text = atoll.run(atoll.tool, "new-plugin", name, "--kind", "override", env=bare)
    lines = [line for line in text.splitlines() if line.startswith("  ") and (" cd " in line or word in line)]
    require(len(lines) == 2, f"two lines of {text}")
    atoll.run("sh", "-ec", "\n".join(lines), env=bare)


def check_links(atoll):
    """The installed pages point at installed files."""
    pages = list((atoll.prefix / "share/atoll/docs").glob("*.md"))
    require(len(pages) >= 3, f"pages: {pages}")
    for page in pages:
        text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        for link in re.findall(r"\]\(([^)#:]+)", text):
            require((page.parent / link).exists(), f"{page.name}: {link} leads nowhere")


def check_installed_plugin(atoll, name):
    """Installed by the vendor's build, found without a search path."""
    listed = json.loads(atoll.run(atoll.tool, "info", "--plugins", "--json"))["plugins"]
    found = [p for p in listed if p["name"] == name]
    require(len(found) == 1 and found[0]["loaded"] and
            found[0]["path"].startswith(str(atoll.prefix)), f"{name}: {found}")


def use_template_meson(atoll):
    """The template builds with meson, warning-free, and passes its tests."""
    tests = ["use"] + (["conformance"] if atoll.has_command("check") else [])
    for name in templates(atoll):
        tree = atoll.empty / name
        atoll.run("meson", "setup", tree / "build", tree, "-Dwerror=true", "-Dbuildtype=plain")
        atoll.run("meson", "compile", "-C", tree / "build")
        atoll.run("meson", "test", "-C", tree / "build", "--no-rebuild", "--print-errorlogs", *tests)
        atoll.check_compile_commands(tree / "build")
        atoll.check_plugin(tree / "build" / f"atoll-{name}.so")
    follow_next_lines(atoll, "meson setup")
    atoll.run("meson", "install", "-C", atoll.empty / name / "build", "--no-rebuild")
    check_installed_plugin(atoll, name)


def use_template_cmake(atoll):
    """The template builds with CMake and passes its tests."""
    tests = ["--tests-regex", "use" if not atoll.has_command("check") else "."]
    for name in templates(atoll):
        tree = atoll.empty / name
        atoll.configure_cmake(tree)
        build = tree / "build-cmake"
        atoll.run("cmake", "--build", build)
        atoll.run("ctest", "--test-dir", build, "--output-on-failure", "--no-tests=error", *tests)
        atoll.check_compile_commands(build)
        atoll.check_plugin(build / f"atoll-{name}.so")
    follow_next_lines(atoll, "cmake -S")
    atoll.run("cmake", "--install", build)
    check_installed_plugin(atoll, name)


def check_file_operations(atoll, folder, flags):
    """Starting on a thousand nodes at once is a load on the file server: what load_plugin("cpu") asks of it."""
    if not shutil.which("strace"):
        print("left out: there is no strace")
        return
    program = write(folder / "load.cpp", """#include <atoll/atoll.hpp>
#include <string_view>
int main(int count, char **names) {
    for (int i = 1; i < count; ++i)
        if (std::string_view(names[i]) == "all")
            Atoll::load_all_plugins();
        else
            Atoll::load_plugin(names[i]);
}
""")
    atoll.run(*atoll.compilers["CXX"], program, "-o", folder / "load", *flags)

    def operations(*plugins):
        log = folder / "operations"
        atoll.run("strace", "-f", "-e", "trace=%file,%process", "-o", log, folder / "load", *plugins)
        return log.read_text(encoding="utf-8").splitlines()

    without, loading = operations(), operations("cpu")
    require(len(loading) - len(without) <= 30, "\n".join(loading))
    require(not any("O_CREAT" in line or "fork" in line or "vfork" in line for line in loading), "\n".join(loading))
    # A BLAS is opened by the first product: alone it would take more memory than all plugins.
    opened = [line for line in operations("all") if "openat" in line and "ENOENT" not in line]
    require(any("atoll-cpu" in line for line in opened), "\n".join(opened))
    blas = [line for line in opened if re.search(r"lib(open|cu|mkl|c)?blas|libmkl", line)]
    require(not blas, f"load_all_plugins opens {blas}")
    kilobytes = atoll.usage(folder / "load", "all")
    require(kilobytes < 30_000, f"load_all_plugins: {kilobytes} KiB")


def use_host(atoll):
    """A host application through pkg-config and through CMake; what find_package refuses."""
    readme = (atoll.source / "README.md").read_text(encoding="utf-8")
    first, application = (block for block in re.findall(r"```cpp\n(.*?)```", readme, re.DOTALL)
                          if "int main" in block)
    host = atoll.empty / "host"
    main = write(host / "first.cpp", first)
    flags = ["-std=c++20", *atoll.run("pkg-config", "--cflags", "--libs", "atoll").split()]
    require(flags.count("-std=c++20") == 1, f"the standard is the user's: {flags}")
    atoll.run(*atoll.compilers["CXX"], main, "-o", host / "first", *flags)
    output = atoll.run(host / "first", env={**atoll.env, "LD_LIBRARY_PATH": str(atoll.libdir)})
    require("dummy:0" in output, output)

    check_file_operations(atoll, host, [*flags, f"-Wl,-rpath,{atoll.libdir}"])

    # What the headers need, in one error each.
    for header, option, cure in (("atoll.hpp", "-std=c++17", "-std=c++20"), ("atoll.hpp", "-fno-exceptions", "-fno-exceptions"),
                                 ("plugin.hpp", "-std=c++17", "-std=c++20"), ("plugin.hpp", "-fno-exceptions", "in C")):
        text = atoll.run(*atoll.compilers["CXX"], "-fsyntax-only", "-include", f"atoll/{header}", "-x", "c++", *flags, option,
                         os.devnull, status=1)
        require(text.count("error: ") == 1 and cure in text, f"{header} with {option}: {text}")

    files = write(host / "files.cpp", """#include <atoll/atoll.hpp>
#include <atoll/npy.hpp>
int main() {
    Atoll::load_plugin("cpu");
    Atoll::write_npz("out.npz", {{"a", Atoll::tensor({1, 2, 3})}});
    return Atoll::read_npz("out.npz", "a").size() == 3 ? 0 : 1;
}
""")
    flags = atoll.run("pkg-config", "--cflags", "--libs", "atoll-io").split()
    atoll.run(*atoll.compilers["CXX"], "-std=c++20", files, "-o", host / "files", *flags)
    atoll.run(host / "files", env={**atoll.env, "LD_LIBRARY_PATH": str(atoll.libdir)})
    needed = {library: set(re.findall(r"NEEDED\s+(\S+)", atoll.run("objdump", "-p", atoll.libdir / library)))
              for library in ("libatoll.so", "libatoll-io.so")}
    require(not any("zip" in name or "crypto" in name for name in needed["libatoll.so"]) and
            any(name.startswith("libzip.") for name in needed["libatoll-io.so"]), f"{needed}")

    require((atoll.prefix / "share/atoll/LICENSE").exists(), "the licence is installed")
    if shutil.which("help2man"):
        pages = list(atoll.prefix.rglob("man1/atoll.1*"))
        require(len(pages) == 1 and "new-plugin" in pages[0].read_text(encoding="utf-8").replace("\\-", "-"), f"manual pages: {pages}")

    write(host / "main.cpp", application)
    (project,) = re.findall(r"```cmake\n(.*?)```", readme, re.DOTALL)
    write(host / "CMakeLists.txt", project + """if(TARGET atoll::plugin)
  message(FATAL_ERROR "asked for core only")
endif()
""")
    atoll.configure_cmake(host)
    atoll.run("cmake", "--build", host / "build-cmake")
    atoll.check_compile_commands(host / "build-cmake")
    done = subprocess.run([host / "build-cmake/app"], env=atoll.env, capture_output=True, text=True)
    promised = re.search(r"`(\[tensor.index\].*?)`", readme)[1]
    require(done.returncode == 2 and done.stderr == promised + "\n", f"{done.returncode}: {done.stderr}")

    version = atoll.run("pkg-config", "--modversion", "atoll").strip()
    major, minor, _ = (int(n) for n in version.split("."))
    missing = "Could not find a configuration file for package \"atoll\" that is compatible"
    cases = [
        ("", None), (f"{major}.{minor}", None), (f"{version} EXACT", None), (f"{major}.{minor}...99", None),
        ("COMPONENTS plugin", None), ("COMPONENTS io", None), ("COMPONENTS tapp", None), ("COMPONENTS kernels", None), ("OPTIONAL_COMPONENTS brew", None),
        (f"{major + 1}", missing), (f"{major}.{minor + 1}", missing), (f"{major}.{minor}.99", missing),
        (f"{major + 1}...99", missing), (f"0...<{version}", missing),
        ("COMPONENTS core brew", "Atoll has no component 'brew'; it has: core (host applications), io, kernels, plugin, tapp"),
    ]
    if major == 0:
        cases.append((f"0.{minor - 1}" if minor else "1", missing))
    for arguments, message in cases:
        # In C alone, as a vendor may: nothing may ask for a C++ compiler.
        project = atoll.empty / "find"
        version_first = arguments[:1].isdigit()
        required = f"{arguments} REQUIRED" if version_first else f"REQUIRED {arguments}"
        shutil.rmtree(project, ignore_errors=True)
        write(project / "CMakeLists.txt", f"""cmake_minimum_required(VERSION 3.20)
project(find LANGUAGES C)
find_package(atoll {required})
""")
        text = atoll.configure_cmake(project, status=0 if message is None else 1)
        require(message is None or message in text, f"find_package(atoll {arguments}): {text}")
    (atoll.prefix / "share/atoll/plugin.map").unlink()
    shutil.rmtree(atoll.empty / "find/build-cmake")
    write(atoll.empty / "find/CMakeLists.txt", """cmake_minimum_required(VERSION 3.20)
project(find LANGUAGES C)
find_package(atoll REQUIRED)
""")
    text = atoll.configure_cmake(atoll.empty / "find", status=1)
    require("plugin.map is missing" in text, text)
    # What is there can be used alone.
    (atoll.libdir / "libatoll-io.so").resolve().unlink()
    write(atoll.empty / "find/CMakeLists.txt", """cmake_minimum_required(VERSION 3.20)
project(find LANGUAGES C)
find_package(atoll REQUIRED COMPONENTS kernels OPTIONAL_COMPONENTS core io plugin)
message(STATUS "found ${atoll_kernels_FOUND} ${atoll_core_FOUND} ${atoll_io_FOUND} ${atoll_plugin_FOUND}")
if(TARGET atoll::io OR TARGET atoll::plugin)
  message(FATAL_ERROR "a target of what is not there")
endif()
""")
    text = atoll.configure_cmake(atoll.empty / "find")
    require("found TRUE TRUE FALSE FALSE" in text, text)


def use_tapp(atoll):
    """A C program for TAPP built by hand, and the same program under the tracer and on another device."""
    program = atoll.prefix / "share/atoll/examples/tapp/tucker.c"
    flags = atoll.run("pkg-config", "--cflags", "--libs", "tapp-atoll").split()
    require("-latoll" not in flags, f"programs link what they call: {flags}")
    atoll.run(*atoll.compilers["CC"], "-std=c11", program, "-o", atoll.empty / "tucker", *flags, "-lm")
    env = {**atoll.env, "LD_LIBRARY_PATH": str(atoll.libdir)}
    for device in ("cpu", "dummy:0"):
        text = atoll.run(atoll.tool, "trace", "--", atoll.empty / "tucker", env={**env, "ATOLL_TAPP_DEVICE": device})
        calls = re.search(rf"^core\.matmul +{device.split(':')[0]}\b", text, re.MULTILINE)
        require("all is as it must be" in text and calls, text)
    text = atoll.run(atoll.empty / "tucker", env={**env, "ATOLL_TAPP_DEVICE": "abacus"}, status=1)
    require("error 1007" in text and "abacus" in text, text)


def use_kernels(atoll):
    """The example built by hand, with the shared and with the static library, and what both bring along."""
    program = atoll.prefix / "share/atoll/examples/kernels/covariance.c"
    cc = [*atoll.compilers["CC"], "-std=c11", program]
    flags = atoll.run("pkg-config", "--cflags", "--libs", "atoll-kernels").split()
    private = atoll.run("pkg-config", "--static", "--libs", "atoll-kernels").split()
    archive = atoll.libdir / "libatoll-kernels.a"
    atoll.run(*cc, "-o", atoll.empty / "shared", *flags, "-lm", "-pthread")
    atoll.run(*cc, "-o", atoll.empty / "static", f"-I{atoll.prefix}/include", archive,
              *(f for f in private if f != "-latoll-kernels"), "-lm", "-pthread")
    env = {**atoll.env, "LD_LIBRARY_PATH": str(atoll.libdir)}
    # Opening the library runs no code of a level that the processor may not have, and the levels share none: each has one
    # name to itself.
    sections = re.findall(r"^File: .*\((atoll_kernels_level_v.)((?:.|\n)*?)(?=^File: |\Z)", atoll.run("readelf", "-WS", archive), re.MULTILINE)
    require(sections and not [name for name, text in sections if "init_array" in text], f"constructors in {archive}")
    names = re.findall(r"^(atoll_kernels_level_v.).*:\n((?:.+\n)*)", atoll.run("nm", "-g", "--defined-only", archive), re.MULTILINE)
    require(len(names) == len(sections) and all(text.split()[2:] == [name] for name, text in names), f"global names: {names}")

    flags = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").split()
    found = [name[-2:] for name, _ in names
             if {"v1": "sse2", "v2": "sse4_2", "v3": "avx2", "v4": "avx512vl"}[name[-2:]] in flags or platform.machine() != "x86_64"]
    for name in ("shared", "static"):
        text = atoll.run(atoll.empty / name, env=env)
        require("all is as it must be" in text, text)
        require(platform.machine() != "x86_64" or text.startswith(f"x86-64-{max(found)} kernels"), f"the best of {found}, not {text}")
    library = atoll.libdir / "libatoll-kernels.so"
    loaded = atoll.run("ldd", library)
    require(not re.search(r"atoll|blas|tbb|fmt|boost", loaded.replace(str(atoll.libdir), "")), loaded)


def use_examples(atoll):
    """Copies of the installed examples: each builds with meson, some with CMake too, and passes its tests."""
    check_links(atoll)
    own = atoll.prefix / "share/atoll/examples"
    for name, build in (("hello", "meson"), ("hello", "cmake"), ("interposer", "meson"),
                        ("grown_device", "meson"), ("linalg", "meson"), ("tapp", "meson"), ("tapp", "cmake"),
                        ("kernels", "meson"), ("kernels", "cmake")):
        tree = atoll.empty / f"{name}_{build}"
        shutil.copytree(own / name, tree)
        if build == "meson":
            tests = [] if atoll.has_command("check") else ["--no-suite", "conformance"]
            # The guide promises that a C++ library of a plugin's own works.
            static = ["-Dcpp_link_args=-static-libstdc++ -static-libgcc"] if name == "hello" else []
            atoll.run("meson", "setup", tree / "build", tree, "-Dwerror=true", "-Dbuildtype=plain", *static)
            atoll.run("meson", "compile", "-C", tree / "build")
            text = atoll.run("meson", "test", "-C", tree / "build", "--no-rebuild", "--verbose", *tests)
        else:
            atoll.configure_cmake(tree, "build")
            atoll.run("cmake", "--build", tree / "build")
            text = atoll.run("ctest", "--test-dir", tree / "build", "--verbose", "--no-tests=error")
        require("all is as it must be" in text or "the plugin conforms" in text, text)
        atoll.check_compile_commands(tree / "build")
        for plugin in (tree / "build").glob("*.so"):
            atoll.check_plugin(plugin)


def main():
    scenario, *folders = sys.argv[1:]
    build, source, work = (pathlib.Path(f).resolve() for f in folders)
    try:
        globals()["use_" + scenario](Installed(build, source, work / scenario))
    except Failed as failure:
        print(failure)
        return 1
    print(f"{scenario}: all is as it must be")
    return 0


sys.exit(main())
