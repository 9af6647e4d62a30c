#!/usr/bin/env python3
"""Prints test cases that run the examples of generated headers: NAME=FILE..."""
import re
import sys


def main():
    for argument in sys.argv[1:]:
        name, path = argument.split("=", 1)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        functions = set(re.findall(r"^inline \w+ (\w+)\(", text, re.MULTILINE))
        examples = re.findall(r"^//   (.* = (?:\w+::)?(\w+)\(.*\);)$", text, re.MULTILINE)
        missing = functions - {function for _, function in examples}
        if missing or not examples:
            sys.exit(f"{path}: no example of {sorted(missing)}")
        print(f'TEST_CASE_FIXTURE(World, "examples of {name}") {{')
        for example, function in examples:
            print(f'    example("{function}", [&] {{ [[maybe_unused]] {example} }});')
        print("}")


main()
