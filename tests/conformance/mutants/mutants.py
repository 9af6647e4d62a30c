#!/usr/bin/env python3
"""Mutation testing of the conformance kit: plugins with one fault each, which `atoll check` must find.

mutants.py BUILD [--list FOLDER] [--sample N] [--only GLOB] [--jobs N]

mutants.txt lists the faults: `class | checks | old => new`, under the file that they change. `checks`
are those expected to find the fault; they run first, and all others only if they do not. A fault
that the kit cannot find stands in survivors.txt, with the reason why no application can notice it.
Exit status 0: every fault is found or listed, and no listed one is found.

Files of plugins/cuda are compiled against the emulation of CUDA; the header of a file may name the
unit to compile: `[file > unit]`. There `checks` may be `test: CASE`, of the emulation's own test.
"""
import argparse
import concurrent.futures
import fnmatch
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

here = pathlib.Path(__file__).resolve().parent
source = here.parents[2]
# Around a kernel of dummy, for faults of all functions: a copy of the call whose parts may be changed.
ALTERED = """{
    atoll_call c = copy->call();
    std::vector<std::int64_t> shape(c.shape, c.shape + c.rank);
    std::vector<atoll_operand> o(c.operands, c.operands + c.operand_count);
    std::vector<std::vector<std::int64_t>> s;
    for (auto &operand : o) {
        s.emplace_back(operand.strides, operand.strides + c.rank);
        operand.strides = s.back().data();
    }
    std::int64_t n = 1;
    for (auto extent : shape) n *= extent;
    c.shape = shape.data();
    c.operands = o.data();
    const int r = c.rank;
    (void)n, (void)r;
    %s
    kernel(c);
    }"""


class Mutant:
    def __init__(self, file, number, kind, checks, change):
        self.file, _, unit = file.partition(" > ")
        self.unit, self.kind, self.checks = unit or self.file, kind, checks
        file = self.file
        name = pathlib.Path(file) if unit else pathlib.Path(file).with_suffix("")
        self.name = "/".join(name.parts[-2:]) + f":{number}"
        self.text = change
        self.old, self.new = (part.strip() for part in change.replace("\\n", "\n").split(" =>", 1))

    def mutated(self):
        text = (source / self.file).read_text(encoding="utf-8")
        old, new = self.old, self.new
        if old == "ALTER":
            old, new = "kernel(copy->call());", ALTERED % new
            text = text.replace("fault = state.faults.later(call)]",
                                "fault = state.faults.later(call), late = call]")
        if text.count(old) != 1:
            sys.exit(f"{self.file}: '{old}' occurs {text.count(old)} times, need once")
        return text.replace(old, new)


def read_mutants(folder):
    mutants, file = [], None
    for line in (folder / "mutants.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            file, number = line[1:-1], 0
        elif line and not line.startswith("#"):
            kind, checks, change = (part.strip() for part in line.split(" | ", 2))
            number += 1
            mutants.append(Mutant(file, number, kind, checks, change))
    return mutants


def read_survivors(folder):
    """`old => new` of a fault → the reason."""
    lines = (folder / "survivors.txt").read_text(encoding="utf-8").splitlines()
    return dict(line.rsplit(" -- ", 1) for line in lines if line and not line.startswith("#"))


class Builder:
    def __init__(self, build, scratch):
        self.build, self.scratch = pathlib.Path(build).resolve(), pathlib.Path(scratch)
        commands = json.loads((self.build / "compile_commands.json").read_text(encoding="utf-8"))
        self.commands = {}
        for entry in commands:
            if "tests/emulated/atoll-cuda" in entry["output"]:
                self.commands[f"emulated {pathlib.Path(entry['file']).stem}"] = entry["command"]
            path = os.path.relpath(self.build / entry["file"], source)
            self.commands.setdefault(path, entry["command"])

    def compile(self, mutant):
        """The plugin with the fault. Throws where the compiler refuses it."""
        work = self.scratch / re.sub("[/:]", "_", mutant.name)
        work.mkdir()
        if mutant.file.startswith("plugins/cuda/"):
            return self.compile_emulated(mutant, work)
        original = source / mutant.file
        changed, object_, plugin = work / original.name, work / "mutant.o", work / "atoll-mutant.so"
        changed.write_text(mutant.mutated(), encoding="utf-8")
        words = shlex.split(self.commands[mutant.file]) if mutant.file in self.commands else [
            "c++", "-std=c++20", "-fvisibility=hidden", f"-I{source}/sdk/include"]
        if mutant.file.endswith(".c") and mutant.file not in self.commands:
            words[:2] = ["cc", "-std=c17"]
        skip, flags = False, []
        for word in words:
            if skip or word in ("-o", "-MF", "-MQ", "-c"):
                skip = not skip and word != "-c"
            elif not word.startswith(("-O", "-Werror", "-MD")) and not word.endswith((".cpp", ".c")):
                flags.append(word)
        subprocess.run([*flags, "-w", "-O1", "-fPIC", f"-iquote{original.parent}", "-c", str(changed),
                        "-o", str(object_)], cwd=self.build, check=True, timeout=300)
        others = []
        if mutant.file.startswith("plugins/dummy/"):
            dummy = self.build / "plugins/dummy"
            others = [str(dummy / "libdummy_parts.a")]
            if original.name != "plugin.cpp":
                others.insert(0, str(dummy / "atoll-dummy.so.p/plugin.cpp.o"))
        subprocess.run(["c++", "-shared", "-o", str(plugin), str(object_), *others, "-pthread", "-lm",
                        f"-Wl,--version-script={source}/sdk/plugin.map"], check=True, timeout=300)
        return plugin

    def compile_emulated(self, mutant, work):
        """All units are those of the build, but for the one with the fault."""
        folder, emulated = source / "plugins/cuda", self.build / "tests/emulated"
        copy, object_, plugin = work / "cuda", work / "mutant.o", work / "atoll-mutant.so"
        shutil.copytree(folder, copy)
        (copy / pathlib.Path(mutant.file).relative_to("plugins/cuda")).write_text(
            mutant.mutated(), encoding="utf-8")
        unit = pathlib.Path(mutant.unit)
        main = work / "unit.cpp"
        main.write_text(f'#include "{copy / unit.relative_to("plugins/cuda")}"\n', encoding="utf-8")
        words = shlex.split(self.commands[f"emulated {unit.stem}"])
        replaced = os.path.relpath(folder, self.build)
        words = [word.replace(replaced, str(copy)) if word.startswith("-I") else word for word in words]
        words = words[:words.index("-MD")] + ["-w", "-o", str(object_), "-c", str(main)]
        subprocess.run(words, cwd=self.build, check=True, timeout=600)
        end = f"{unit.stem}.cpp.o"
        units = [path for path in (emulated / "atoll-cuda.so.p").glob("*.o")
                 if not path.name.endswith(("_" + end, "." + end))]
        subprocess.run(["c++", "-shared", "-o", str(plugin), str(object_), *map(str, sorted(units)),
                        str(emulated / "libcudart-emulated.so"), f"-Wl,-rpath,{emulated}", "-ldl", "-pthread",
                        f"-Wl,--version-script={source}/sdk/plugin.map"], check=True, timeout=300)
        return plugin

    def program_with(self, case):
        """The emulation's test that has such a case."""
        for program in sorted((self.build / "tests/emulated").glob("atoll_tests_*")):
            if not program.is_file():
                continue
            counted = subprocess.run([str(program), "--count", "--test-case=" + case],
                                     capture_output=True, text=True, check=True, timeout=60)
            if not counted.stdout.rstrip().endswith(" 0"):
                return program
        sys.exit(f"no test of the emulation has a case '{case}'")

    def found(self, mutant, plugin, checks):
        if checks.startswith("test: "):
            return subprocess.run(
                [str(self.program_with(checks[6:])), "--test-case=" + checks[6:]],
                env=os.environ | {"ATOLL_EMULATED_CUDA": str(plugin)}, stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL, check=False, timeout=900).returncode != 0
        # On the emulation whole checks take seconds, and must not seem to hang on a busy machine.
        deadline = "60" if mutant.file.startswith("plugins/cuda/") else "10"
        run = subprocess.run([str(self.build / "tools/atoll"), "check", str(plugin), "--filter", checks,
                              "--deadline", deadline, "--fail-fast"], capture_output=True, text=True, check=False,
                             timeout=900)
        if run.returncode not in (0, 1):
            raise RuntimeError(f"{mutant.name}: exit status {run.returncode} of the kit: {run.stderr}")
        return run.returncode == 1

    def examine(self, mutant):
        try:
            plugin = self.compile(mutant)
        except subprocess.CalledProcessError:
            return "does not compile"
        result = "survives"
        if self.found(mutant, plugin, mutant.checks):
            result = "found"
        elif mutant.checks != "*" and self.found(mutant, plugin, "*"):
            result = "found by other checks"
        plugin.unlink()
        return result


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build")
    parser.add_argument("--list", type=pathlib.Path, default=here)
    parser.add_argument("--sample", type=int, default=0)
    parser.add_argument("--only", default="*")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    mutants = [m for m in read_mutants(options.list) if fnmatch.fnmatch(m.name, options.only)]
    survivors = read_survivors(options.list)
    if options.sample and os.environ.get("ATOLL_TEST_MUTANTS") != "all":
        mutants = [m for m in mutants if m.text not in survivors]
        step = max(1, len(mutants) // options.sample)
        mutants = mutants[step // 2::step][:options.sample]
    wrong, classes, lived = [], {}, 0
    with tempfile.TemporaryDirectory() as scratch, \
            concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        builder = Builder(options.build, scratch)
        for mutant, result in zip(mutants, pool.map(builder.examine, mutants)):
            listed = mutant.text in survivors
            lived += result == "survives"
            classes.setdefault(mutant.kind, []).append(result)
            as_listed = result != "does not compile" and (result == "survives") == listed
            wrong += [] if as_listed else [mutant.name]
            print(f"{'ok  ' if as_listed else 'FAIL'} {mutant.name}: {result}: {mutant.text}", flush=True)
    for kind, results in sorted(classes.items()):
        print(f"{kind:<12} {len(results):>4} mutants {results.count('survives'):>3} survive")
    print(f"{len(mutants)} mutants, {len(mutants) - lived} found, {lived} survive, {len(wrong)} not as "
          "listed")
    sys.exit(1 if wrong else 0)


main()
