#!/usr/bin/env python3
"""Expressions that must not compile, each with words of the message that the compiler gives.

wrong_expressions.py CXX INCLUDE_FOLDER...

All are compiled at once, one function each. An expression that compiles, or whose message lacks the
words, is a failure; so is an error outside the expressions."""
import os
import re
import subprocess
import sys
import tempfile

HEAD = """#include <atoll/atoll.hpp>
#include <atoll/format.hpp>
using namespace Atoll;
"""
PARAMETERS = "Tensor t, Tensor m, const Tensor fixed, Device cpu"
# (expression, a regular expression for the message)
WRONG = [
    # Assigning to what is neither a handle nor a view.
    ("t.T() = m", "use of deleted function"),
    ("t.reshape({2, 3}) = m", "use of deleted function"),
    ("t.cast(float32) = m", "use of deleted function"),
    ("(t + m) = t", "use of deleted function"),
    ("t.squeeze() = m", "use of deleted function"),
    ("zeros({2}) = t", "use of deleted function"),
    ("sum(t) = 1", "use of deleted function"),
    ("t.flip(0) = 0", "use of deleted function"),
    ("t = 5", "use of deleted function"),
    ("t = 1.5f", "use of deleted function"),
    ("zeros(3)", "use of deleted function"),
    ("ones(3, 4)", "use of deleted function"),
    ("empty(3)", "use of deleted function"),
    ("t[0]", "use of deleted function"),
    # Flags are named, and axes come before numbers.
    ("sum(t, 0, true)", "const Atoll::SumOptions"),
    ("mean(t, 0, false)", "const Atoll::SumOptions"),
    ("var(t, 0, 1)", "VarOptions"),
    ("norm(t, {}, 2)", "NormOptions"),
    ("sort(t, 0, true)", "const Atoll::SortOptions"),
    ("argsort(t, 0, true)", "const Atoll::SortOptions"),
    ("searchsorted(t, m, true)", "const Atoll::SearchsortedOptions"),
    ("argmax(t, 0, true)", "const Atoll::AnyOptions"),
    ("sum(t, {.keepdims = true})", "use of deleted function.*Axes"),
    ("sum(t, true)", "use of deleted function.*Axes"),
    ("max(t, 0.0)", "use of deleted function.*Axes"),
    ("tensor({{t}})", "invalid initialization of reference of type .const Atoll::Nested"),
    ("linspace(0, 1, 5, true)", "no matching function for call to .linspace"),
    ("t.broadcast_to({2, 3}, false)", "BroadcastOptions"),
    # `*` is the matrix product.
    ("t *= m", "use of deleted function"),
    ("t(0) *= m", "use of deleted function"),
    ("t(m == 1) *= m", "use of deleted function"),
    ("t *= m(m == 1)", "use of deleted function"),
    # What writes is not const.
    ("fixed += 1", "discards qualifiers|no match for .operator\\+="),
    ("fixed.fill(0)", "discards qualifiers"),
    ("fixed.assign(t)", "discards qualifiers"),
    ("fixed.set_read_only()", "discards qualifiers"),
    ("const View row = t(0); row = 1", "discards qualifiers|no match for .operator="),
    # Old names.
    ("load(\"cpu\")", "not declared"),
    ("retire(\"cpu\")", "not declared"),
    ("nan_sum(t)", "not declared"),
    ("norm2(t)", "not declared"),
    # What is no number.
    ("t + nullptr", "no match for .operator\\+"),
    ("t + \"1\"", "no match for .operator\\+"),
    ("t == nullptr", "no match for .operator=="),
    ("t == \"1\"", "no match for .operator=="),
    ("t(1.5)", "no matching function for call to .Atoll::IndexElement"),
    ("t(true)", "no matching function for call to .Atoll::IndexElement"),
    ("full({2}, \"1\")", "Atoll::Scalar"),
    ("zeros(\"2\")", "no matching function for call to .zeros"),
    ("cpu + 1", "no match for .operator\\+"),
    ("std::vector<float> v = t", "conversion|convert"),
    ("double x = t", "cannot convert"),
    ("int n = t.item()", "cannot convert"),
    ("bool yes = t", "cannot convert"),
    ("Tensor x = 1.5", "conversion"),
    ("Tensor x = {1, 2}", "could not convert|converting"),
    ("View v", "no matching function"),
    ("View v = t", "conversion|converting"),
    ("t.item<std::string>()", "no dtype holds this C\\+\\+ type"),
    ("t.host_span<long double>()", "no dtype holds this C\\+\\+ type"),
    ("t.host_view<double, 2>()(1)", "no match for call"),
]


def messages(compiler, folders):
    """What the compiler says of each expression, by its number."""
    lines = [f"void f{i}({PARAMETERS}) {{ {expression}; }}" for i, (expression, _) in enumerate(WRONG)]
    with tempfile.NamedTemporaryFile("w", suffix=".cpp") as source:
        source.write(HEAD + "\n".join(lines) + "\n")
        source.flush()
        includes = [f"-I{folder}" for folder in folders]
        done = subprocess.run([*compiler, "-std=c++20", "-fsyntax-only", "-fmax-errors=0", *includes, source.name],
                              capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"})
        first = HEAD.count("\n") + 1
        said = {}
        function = None
        for line in done.stderr.splitlines():
            # "In function 'void f7(…)':" comes before the messages, which may point into a header.
            if named := re.search(r"In function .void f(\d+)\(", line):
                function = int(named[1])
            at = re.match(re.escape(source.name) + r":(\d+):", line)
            if at and int(at[1]) >= first:
                function = int(at[1]) - first
            if "error:" in line:
                said.setdefault(function, []).append(line.split("error:", 1)[1].strip())
        return said


def main():
    compiler, folders = sys.argv[1].split(";"), [word for word in sys.argv[2:] if word != "-v"]
    said = messages(compiler, folders)
    failures = 0
    if None in said:
        failures += 1
        print("errors outside the expressions:", *said[None], sep="\n  ")
    for i, (expression, words) in enumerate(WRONG):
        text = "\n  ".join(said.get(i, []))
        if not text:
            failures += 1
            print(f"compiles: {expression}")
        elif not re.search(words, text):
            failures += 1
            print(f"{expression}: need '{words}' in\n  {text}")
        elif "-v" in sys.argv:
            print(f"{expression}: {text}")
    print(f"{len(WRONG) - failures} passed, {failures} failed")
    return failures > 0


sys.exit(main())
