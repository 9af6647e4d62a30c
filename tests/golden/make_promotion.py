#!/usr/bin/env python3
"""Writes promotion.inc: for every two dtypes that Atoll has too, NumPy's result dtype, and whether
NumPy casts an output from the first to the second without being asked to."""
import pathlib

import numpy

NAMES = """bool int8 int16 int32 int64 uint8 uint16 uint32 uint64
           float16 float32 float64 complex64 complex128""".split()


def identifier(dtype):
    return "bool_" if dtype.name == "bool" else dtype.name


lines = ["// NumPy's rules: PROMOTE(a, b, result, can_cast(a, b, 'same_kind')). Written by make_promotion.py."]
for a in NAMES:
    for b in NAMES:
        result = numpy.promote_types(a, b)
        lines.append(
            f"PROMOTE({identifier(numpy.dtype(a))}, {identifier(numpy.dtype(b))}, {identifier(result)}, "
            f"{str(numpy.can_cast(a, b, 'same_kind')).lower()})"
        )
lines.append("#undef PROMOTE")
pathlib.Path(__file__).with_name("promotion.inc").write_text("\n".join(lines) + "\n")
