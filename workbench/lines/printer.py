"""Expressions of entries as program text, in two dialects: numba's Python, and what CUDA C and OpenCL C share."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection
from typing import Protocol

import numpy as np

from workbench.lines.entries import Element
from workbench.lines.types import Binary, Call, Entry, Expression, Name, Negation, Number, Selection

_C_OPERATIONS = {"+": "ADD", "-": "SUB", "*": "MUL", "/": "DIV"}


class Dialect(Protocol):
    """How the parts of an expression are written; parts arrive as text."""

    def element(self, element: Element) -> str: ...
    def number(self, value: float) -> str: ...
    def binary(self, sign: str, left: str, right: str) -> str: ...
    def negation(self, operand: str) -> str: ...
    def call(self, function: str, argument: str) -> str: ...
    def selection(self, sign: str, left: str, right: str, body: str, otherwise: str) -> str: ...


def printed(node: Expression, dialect: Dialect) -> str:
    """An expression of entries in a dialect."""
    match node:
        case Name() | Entry():
            return dialect.element(node)
        case Number():
            return dialect.number(node.value)
        case Binary():
            return dialect.binary(node.sign, printed(node.left, dialect), printed(node.right, dialect))
        case Negation():
            return dialect.negation(printed(node.operand, dialect))
        case Call():
            return dialect.call(node.function, printed(node.argument, dialect))
        case Selection():
            sides = printed(node.test.left, dialect), printed(node.test.right, dialect)
            branches = printed(node.body, dialect), printed(node.otherwise, dialect)
            return dialect.selection(node.test.sign, *sides, *branches)


def variable(letter: str, element: Element) -> str:
    """The variable of an entry: s_alpha for a scalar, s0x1_alpha for an entry of a small matrix."""
    if isinstance(element, Name):
        return f"{letter}_{element.name}"
    return f"{letter}{element.row}x{element.column}_{element.name}"


@dataclasses.dataclass(frozen=True)
class Numba:
    """Python for numba. Names in `vectors` are v_name, others have the letter `scalar`; constants are of `dtype`."""

    dtype: np.dtype
    vectors: Collection[str]
    scalar: str

    def element(self, element: Element) -> str:
        return variable("v" if element.name in self.vectors else self.scalar, element)

    def number(self, value: float) -> str:
        return f"np.{np.finfo(self.dtype).dtype.name}({value!r})"

    def binary(self, sign: str, left: str, right: str) -> str:
        if sign == "/" and self.dtype.kind == "c":
            # numba's complex / raises on a zero divisor, whatever the error model; NumPy's division does not.
            return f"np.true_divide({left}, {right})"
        return f"({left} {sign} {right})"

    def negation(self, operand: str) -> str:
        return f"(-{operand})"

    def call(self, function: str, argument: str) -> str:
        return f"np.{function}({argument})"

    def selection(self, sign: str, left: str, right: str, body: str, otherwise: str) -> str:
        kind = f"np.{self.dtype.name}"
        return f"({kind}({body}) if np.real({left}) {sign} np.real({right}) else {kind}({otherwise}))"


@dataclasses.dataclass(frozen=True)
class C:
    """C of the prelude's macros in the type `kind`, T or W. Names in `vectors` are v_name, others have the letter
    `scalar`."""

    dtype: np.dtype
    kind: str
    vectors: Collection[str]
    scalar: str

    def element(self, element: Element) -> str:
        return variable("v" if element.name in self.vectors else self.scalar, element)

    def number(self, value: float) -> str:
        single = np.finfo(self.dtype).dtype.itemsize == 4
        return f"{self.kind}_OF({value!r}{'f' if single else ''})"

    def binary(self, sign: str, left: str, right: str) -> str:
        return f"{self.kind}_{_C_OPERATIONS[sign]}({left}, {right})"

    def negation(self, operand: str) -> str:
        return f"{self.kind}_NEG({operand})"

    def call(self, function: str, argument: str) -> str:
        return f"{self.kind}_{function.upper()}({argument})"

    def selection(self, sign: str, left: str, right: str, body: str, otherwise: str) -> str:
        return f"({self.kind}_REAL({left}) {sign} {self.kind}_REAL({right}) ? {body} : {otherwise})"
