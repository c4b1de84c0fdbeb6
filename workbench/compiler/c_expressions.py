"""Expressions in C, in the common subset of OpenCL C and CUDA C, and what they are made of: names, types and constants,
and definitions of a text for its functions, which are structs and operations on vectors.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np

from workbench.compiler.tree import POSITIVE, Function, Node, Pointer, Room, Scalar, Type, Vector

Language = Literal["opencl", "cuda"]
SCALARS: dict[Scalar, str] = {"i": "I64", "b": "int", "f": "float", "d": "double"}
MEMORY = {
    **{"b1": "unsigned char", "i1": "signed char", "u1": "unsigned char", "i2": "short", "u2": "unsigned short"},
    **{"i4": "int", "u4": "unsigned int", "i8": "I64", "u8": "I64", "f4": "float", "f8": "double"},
}
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


PRODUCTS = {"f": "__fmul_rn", "d": "__dmul_rn"}
"""CUDA's products that are not contracted with sums."""
TESTS = "<", "<=", ">", ">=", "==", "!="
OF_VECTORS = {"+": "add", "-": "sub", "*": "mul", "/": "div"}


class Expressions:
    """The expressions of one function. defined: of the whole text."""

    def __init__(self, function: Function, defined: Definitions, language: Language) -> None:
        self.function, self.defined = function, defined
        self._exact = language == "cuda" and "contract" not in function.licences

    def text(self, node: Node) -> str:
        """An expression."""
        match node:
            case Node("const", Vector() as t, _, tuple(values)):
                return f"{self.defined.vector(t, values)}()"
            case Node("const", "i" | "b" | "f" | "d" as t, _, value):
                return number(t, value)
            case Node("var" | "room", _, _, str(name)):
                return in_c(name)
            case Node("place", _, (pointer, index)):
                return f"({self.text(pointer)} + {self.text(index)})"
            case Node("load", t, (pointer, index)):
                return self._loaded(t, pointer, index)
            case Node("if", t, (test, one, two)):
                return f"({self.text(test)} ? {self._wide(one)} : {self.text(two)})"
            case Node("and" | "or" as word, _, (left, right)):
                return f"({self.text(left)} {'&&' if word == 'and' else '||'} {self.text(right)})"
            case Node("below", _, (left, right)):
                # One comparison: with two of them the loads behind it take many registers.
                return f"((U64){self.text(left)} < (U64){self.text(right)})"
            case Node("not", _, (of,)):
                return f"!{self.text(of)}"
            case Node("call", _, _, Function()):
                return self.called(node)
            case Node("device", _, args, str(name)):
                return self._call(name, args) if args else name
            case Node("fn", _, args, str(name)):
                return self._call("fabs" if name == "abs" else name, args)
            case Node(_, Vector() as t):
                return self._vector(node, t)
            case Node("neg", _, (of,)):
                return f"(-{self.text(of)})"
            case Node("to", t, (of,)):
                return f"({self.defined.type(t)})({self.text(of)})"
            case Node(("//" | "%") as sign, _, (left, right), of) if of == POSITIVE and not _is_power_of_two(right):
                return f"({self._wide(left)} {sign[0]} {self._wide(right)})"
            case Node(sign, t, (left, right)):
                return self._operation(sign, t, left, right)
        raise AssertionError(node.op)

    def test(self, node: Node) -> str:
        """The expression in a test: compilers warn of two pairs of parentheses around a comparison."""
        return self.text(node)[1:-1] if node.op in TESTS else self.text(node)

    def called(self, node: Node) -> str:
        """A call of a helper."""
        assert isinstance(node.of, Function)
        read = zip(node.args, node.of.parameters_read, strict=True)
        return self._call(function_in_c(node.of), tuple(each for each, wanted in read if wanted))

    def _call(self, name: str, args: tuple[Node, ...]) -> str:
        return f"{name}({', '.join(map(self.text, args))})"

    def _wide(self, node: Node) -> str:
        """An integer of 64 bits also where it is a literal or a macro, which would be one of 32."""
        text = self.text(node)
        return f"(I64){text}" if node.type == "i" and node.op in ("const", "device") and not node.args else text

    def _loaded(self, t: Type, pointer: Node, index: Node) -> str:
        assert isinstance(pointer.type, Pointer)
        memory, own, group = pointer.type
        if isinstance(t, Vector):
            name = f"load_{memory}{'_own' if own else '_group' if group else ''}"
            name = self.defined.of_vectors(t, name, f"{self.defined.type(pointer.type)} p", "p[k]")
            return f"{name}({self.text(pointer)} + {self.text(index)})"
        found = f"{self.text(pointer)}[{self.text(index)}]"
        if t == "i" and memory not in ("i8", "u8"):
            return f"(I64){found}"
        return f"({found} != 0)" if t == "b" else found

    def _operation(self, sign: str, t: Type, left: Node, right: Node) -> str:
        if sign in ("//", "%"):
            if _is_power_of_two(right) and isinstance(by := right.of, int):
                more = f">> {by.bit_length() - 1}" if sign == "//" else f"& {by - 1}"
                return f"({self._wide(left)} {more})"
            return self._call(self.defined.rounded(sign), (left, right))
        if sign == "*" and self._exact and isinstance(t, str) and t in PRODUCTS:
            return self._call(PRODUCTS[t], (left, right))
        return f"({self._wide(left)} {sign} {self.text(right)})"

    def _vector(self, node: Node, t: Vector) -> str:
        of, scalar = self.defined.type(t), SCALARS[t.of]
        match node:
            case Node("neg", _, args):
                name = self.defined.of_vectors(t, "neg", f"{of} a", "-a.v[k]")
            case Node("to", _, (given,) as args):
                kind = self.defined.type(given.type)
                name = self.defined.of_vectors(t, f"of_{kind}", f"{kind} a", "a.v[k]")
            case Node("splat", _, args):
                name = self.defined.of_vectors(t, "splat", f"{scalar} a", "a")
            case Node("fma", _, args):
                name = self.defined.of_vectors(t, "fma", f"{of} a, {of} b, {of} c", "fma(a.v[k], b.v[k], c.v[k])")
            case Node("head", _, args):
                name = self.defined.of_vectors(t, "head", f"{of} a, I64 n", "k < n ? a.v[k] : 0")
            case Node("pick", _, (Node(type=Vector(_, width)), _) as args, tuple(places)):
                name = self.defined.picked(t, places, width)
            case Node(sign, _, args):
                product = self._exact and sign == "*"
                entry = f"{PRODUCTS[t.of]}(a.v[k], b.v[k])" if product else f"a.v[k] {sign} b.v[k]"
                word = OF_VECTORS[sign] + "_exact" * product
                name = self.defined.of_vectors(t, word, f"{of} a, {of} b", entry)
        return self._call(name, args)


def _is_power_of_two(of: Node) -> bool:
    return of.op == "const" and isinstance(of.of, int) and of.of > 0 and of.of.bit_count() == 1
