"""Names, types and constants in C, and definitions of a text for its functions: structs, operations on vectors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np

from workbench.compiler.tree import Function, Pointer, Room, Scalar, Type, Vector

Language = Literal["opencl", "cuda"]
SCALARS: dict[Scalar, str] = {"i": "I64", "b": "int", "f": "float", "d": "double"}
MEMORY = {"b1": "unsigned char", "i1": "signed char", "u1": "unsigned char", "i2": "short", "u2": "unsigned short"}
MEMORY |= {"i4": "int", "u4": "unsigned int", "i8": "I64", "u8": "I64", "f4": "float", "f8": "double"}
"""Integers of 64 bits have a sign, as in registers."""
ROUNDED = """DEVICE I64 rounded_quotient(I64 a, I64 b)
{
    if (b == 0) return 0;
    if (b == -1) return (I64)(0 - (U64)a);
    return a/b - (a%b != 0 && (a%b < 0) != (b < 0));
}
DEVICE I64 rounded_remainder(I64 a, I64 b)
{
    if (b == 0 || b == -1) return 0;
    return a%b + (a%b != 0 && (a%b < 0) != (b < 0) ? b : 0);
}
"""
"""Quotients of integers are rounded down; by 0 they are 0. The least integer over -1 is no number."""


def in_c(name: str) -> str:
    """The name of a variable: no keyword, no macro, and no other variable of the text has it.

    Those of the text end with an underscore; parts of arrays and of tuples, which have points, end with a number.
    """
    return name.replace("_", "__").replace(".", "_") if "." in name else name + "_"


def function_in_c(function: Function) -> str:
    """The name of a helper, which the names of variables do not hide."""
    return f"{in_c(function.name)}_f"


def number(t: Scalar, value: object) -> str:
    """A constant number."""
    assert isinstance(value, int | float)
    if t in ("i", "b"):
        # The lowest integer has no literal: a literal has no sign.
        text = "-9223372036854775807 - 1" if value == -(1 << 63) else str(int(value))
        return f"({text})" if value < 0 else text
    end, exact = ("f", float(np.float32(value))) if t == "f" else ("", float(value))
    if math.isfinite(exact):
        text = f"{exact!r}{end}"
        return f"({text})" if text.startswith("-") else text
    sign = "-" if exact < 0 else ""
    return f"({sign}{'0.0' if math.isnan(exact) else '1.0'}{end}/0.0{end})"


class Definitions:
    """Structs and functions that a text needs, by their names, each after those that it needs itself."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}
        self._vectors: dict[tuple[str, str], str] = {}

    def type(self, t: Type) -> str:
        """The name of a type."""
        match t:
            case Pointer(memory, own, group):
                return f"{'' if own else 'LOCAL ' if group else 'GLOBAL '}{MEMORY[memory]}*"
            case Vector(of, width):
                name = f"V{width}{of}"
                return self._define(name, f"typedef struct {{ {SCALARS[of]} v[{width}]; }} {name};")
            case Room():
                raise AssertionError("memory is no value")
        return SCALARS[t]

    def declared(self, name: str, t: Type) -> str:
        """The declaration of a variable."""
        return (
            f"{MEMORY[t.memory]} {in_c(name)}[{t.numbers}]" if isinstance(t, Room) else f"{self.type(t)} {in_c(name)}"
        )

    def results(self, types: Sequence[Type]) -> str:
        """The type of what a function returns."""
        if len(types) < 2:
            return self.type(types[0]) if types else "void"
        names = [self.type(t) for t in types]
        name = "R_" + "_".join(each.replace(" ", "").replace("*", "p") for each in names)
        fields = " ".join(f"{each} f{k};" for k, each in enumerate(names))
        return self._define(name, f"typedef struct {{ {fields} }} {name};")

    def rounded(self, sign: str) -> str:
        """The function for // or % of integers."""
        self._define("rounded", ROUNDED)
        return "rounded_quotient" if sign == "//" else "rounded_remainder"

    def of_vectors(self, t: Vector, name: str, parameters: str, entry: str) -> str:
        """The name of a function that makes a vector. entry: its k-th number."""
        of = self.type(t)
        loop = f"for (int k = 0; k < {t.width}; k++) r.v[k] = {entry};"
        return self._define(f"{of}_{name}", f"DEVICE {of} {of}_{name}({parameters}) {{ {of} r; {loop} return r; }}")

    def picked(self, t: Vector, places: Sequence[int], width: int) -> str:
        """The name of a function of two vectors that returns the numbers at these places."""
        of, given = self.type(t), self.type(Vector(t.of, width))
        name = f"{of}_of_{given}_" + "_".join(map(str, places))
        parts = " ".join(f"r.v[{k}] = {'ab'[p // width]}.v[{p % width}];" for k, p in enumerate(places))
        return self._define(name, f"DEVICE {of} {name}({given} a, {given} b) {{ {of} r; {parts} return r; }}")

    def vector(self, t: Vector, values: Sequence[object]) -> str:
        """The name of a function that returns a constant vector."""
        of = self.type(t)
        parts = " ".join(f"r.v[{k}] = {number(t.of, value)};" for k, value in enumerate(values))
        name = self._vectors.setdefault((of, parts), f"{of}_constant_{len(self._vectors)}")
        return self._define(name, f"DEVICE {of} {name}(void) {{ {of} r; {parts} return r; }}")

    def _define(self, name: str, text: str) -> str:
        self.texts.setdefault(name, text)
        return name
