"""Types of expressions, and the conversions between them."""

from __future__ import annotations

import ast
import dataclasses
import math
from collections.abc import Mapping
from typing import NoReturn

import numpy as np

from workbench.kernel_language.grammar import SIGNS, TESTS, Kernel, refuse
from workbench.kernel_language.tree import (
    INTEGER,
    ROWS,
    TRUTH,
    Both,
    Call,
    Choice,
    Comparison,
    Constant,
    Convert,
    Element,
    Expression,
    Negation,
    Not,
    Operation,
    Type,
    Variable,
    real_of,
)

WHOLE, FRACTION = Type(INTEGER), Type(np.dtype(np.float64), weak=True)
"""The types of integers, and of literals that are fractions."""
_TEST = Type(TRUTH)
_ONLY_INTEGER = ("//", "%", "&", "|", "<<", ">>")


def meet(a: Type, b: Type) -> Type:
    """The type in which both are computed."""
    row = a.row or b.row
    if a.weak != b.weak:
        strong, weak = (b, a) if a.weak else (a, b)
        if strong.dtype.kind in "fc" or weak.dtype.kind != "f":
            return dataclasses.replace(strong, row=row)
        # An integer meets a fraction, whose type is found when that meets another number.
        return dataclasses.replace(weak, row=row)
    if a.is_integer != b.is_integer:
        return dataclasses.replace(b if a.is_integer else a, row=row)
    return Type(a.dtype if a.dtype == b.dtype else np.result_type(a.dtype, b.dtype), row, a.weak)


class Expressions:
    """The types of arguments, and of variables as far as they are known; typed expressions from those of Python."""

    def __init__(self, kernel: Kernel, kinds: Mapping[str, Type], vector: np.dtype, wide: np.dtype) -> None:
        self.kernel, self.kinds, self.vector, self.wide = kernel, kinds, vector, wide
        self.variables: dict[str, Type] = {}
        self.loops: set[str] = set()
        self.used: set[str] = set()
        self.arrays: set[str] = set()
        self.read: set[str] = set()
        self.written: set[str] = set()
        self.known: set[str] = set()
        """The variables that have a value at the present line."""

    def integer(self, node: ast.expr) -> Expression:
        made = self.expression(node)
        if not made.type.is_integer:
            self.refuse(node, "an integer is needed")
        return self.convert(made, WHOLE, node)

    def expression(self, node: ast.expr) -> Expression:
        match node:
            case ast.Constant(value=bool() as value):
                return Constant(value, _TEST)
            case ast.Constant(value=int() as value):
                return Constant(value, Type(INTEGER, weak=True))
            case ast.Constant(value=float() as value) if math.isfinite(value):
                return Constant(value, FRACTION)
            case ast.Name(id=name):
                return self._name(name, node)
            case ast.Subscript(value=ast.Name(id=name), slice=place):
                kind = self.array(name, node)
                self.read.add(name)
                found = Element(name, self.integer(place), kind)
                return Convert(found, WHOLE) if kind.is_integer and kind != WHOLE else found
            case ast.BinOp(left=left, op=op, right=right):
                return self._operation(SIGNS[type(op)], self.expression(left), self.expression(right), node)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                value = self._number(operand)
                return Negation(value, value.type)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return Not(self.test(operand))
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                return self._comparison(TESTS[type(op)], left, right)
            case ast.BoolOp(op=op, values=values):
                return Both(tuple(self.test(value) for value in values), isinstance(op, ast.Or))
            case ast.IfExp(test=test, body=body, orelse=orelse):
                chosen, other = self.expression(body), self.expression(orelse)
                kind = chosen.type if chosen.type == other.type else meet(chosen.type, other.type)
                if kind.row:
                    self.refuse(node, "rows of block vectors are not chosen between")
                return Choice(self.test(test), self.convert(chosen, kind, node), self.convert(other, kind, node), kind)
            case ast.Call(func=ast.Name(id=name), args=args):
                return self._call(name, args, node)
        self.refuse(node, "this is no expression of kernels")

    def _name(self, name: str, node: ast.expr) -> Expression:
        if name == self.kernel.row:
            return Variable(name, WHOLE)
        if name in self.variables:
            if name not in self.known:
                self.refuse(node, "this variable may be read before it is assigned")
            return Variable(name, self.variables[name])
        kind = self._kind(name, node)
        made = Variable(name, kind)
        return Convert(made, WHOLE) if kind.is_integer and kind != WHOLE else made

    def _kind(self, name: str, node: ast.expr) -> Type:
        """The type of an argument."""
        if name not in self.kinds:
            self.refuse(node, f"{name} is neither a variable nor an argument with a type")
        self.used.add(name)
        return self.kinds[name]

    def array(self, name: str, node: ast.expr) -> Type:
        if name in self.variables or name == self.kernel.row:
            self.refuse(node, f"{name} is no array")
        self.arrays.add(name)
        return self._kind(name, node)

    def _operation(self, sign: str, left: Expression, right: Expression, node: ast.expr) -> Expression:
        for side in (left, right):
            if side.type.dtype == TRUTH:
                self.refuse(node, "a test is no number")
        kind = meet(left.type, right.type)
        if sign in _ONLY_INTEGER and not kind.is_integer:
            self.refuse(node, f"{sign} is for integers")
        if sign == "/" and kind.is_integer:
            if not kind.weak:
                self.refuse(node, "/ is for fractions; integers have //")
            kind = FRACTION
        if kind.row and (sign == "/" or kind.is_integer):
            self.refuse(node, "rows of block vectors have + - *, of real and complex numbers")
        if sign == "*" and (kind.row or kind.is_complex) and not kind.weak:
            return self._product(kind, left, right, node)
        return Operation(sign, self.convert(left, kind, node), self.convert(right, kind, node), kind)

    def _product(self, kind: Type, left: Expression, right: Expression, node: ast.expr) -> Operation:
        """A product of complex numbers or of rows: a real factor, or a number of a row, stays that."""

        def simple(side: Expression) -> bool:
            return (kind.row and not side.type.row) or (kind.is_complex and not side.type.is_complex and not kind.row)

        if simple(right) and not simple(left):
            left, right = right, left
        factor = kind
        if simple(left):
            factor = Type(kind.dtype if kind.row else real_of(kind.dtype))
        return Operation("*", self.convert(left, factor, node), self.convert(right, kind, node), kind)

    def _comparison(self, sign: str, left: ast.expr, right: ast.expr) -> Comparison:
        """Of complex numbers the real parts are compared."""
        sides = [self._real(self._number(side)) for side in (left, right)]
        kind = meet(sides[0].type, sides[1].type)
        if kind.row:
            self.refuse(ast.Compare(left, [], [right]), "rows of block vectors are not compared")
        return Comparison(sign, self.convert(sides[0], kind, left), self.convert(sides[1], kind, right))

    def _call(self, name: str, args: list[ast.expr], node: ast.expr) -> Expression:
        if name == "inside":
            return self._inside(args[0])
        values = [self._number(argument) for argument in args]
        first, kind = values[0], values[0].type
        match name:
            case "conj":
                return Call("conj", (first,), kind) if kind.is_complex else first
            case "real":
                return self._real(first)
            case "wide" | "narrow" if not kind.row:
                dtype = self.wide if name == "wide" else self.vector
                return self.convert(first, Type(dtype if kind.is_complex else real_of(dtype)), node)
            case "abs" | "sqrt" if not kind.row:
                if name == "abs":
                    return Call(name, (first,), Type(real_of(kind.dtype), weak=kind.weak))
                if kind.is_integer and not kind.weak:
                    self.refuse(node, "sqrt is for fractions")
                kind = FRACTION if kind.is_integer else kind
                return Call(name, (self.convert(first, kind, node),), kind)
            case "min" | "max":
                kind = meet(kind, values[1].type)
                if not kind.row and not kind.is_complex:
                    return Call(name, tuple(self.convert(value, kind, node) for value in values), kind)
        self.refuse(node, "the kernel language has no such function of these numbers")

    def _real(self, value: Expression) -> Expression:
        kind = value.type
        return Call("real", (value,), Type(real_of(kind.dtype), kind.row)) if kind.is_complex else value

    def _inside(self, place: ast.expr) -> Expression:
        """0 <= place < rows; of a row and a distance, which is not negative, one side is known."""
        value = self.integer(place)
        from_row = (
            isinstance(place, ast.BinOp) and isinstance(place.left, ast.Name) and place.left.id == self.kernel.row
        )
        above, below = Comparison(">=", value, Constant(0, WHOLE)), Comparison("<", value, ROWS)
        if from_row and isinstance(value, Operation) and value.sign == "-":
            return Comparison(">=", value.left, value.right)
        if from_row and isinstance(value, Operation) and value.sign == "+":
            return below
        return Both((above, below), any=False)

    def _number(self, node: ast.expr) -> Expression:
        made = self.expression(node)
        if made.type.dtype == TRUTH:
            self.refuse(node, "a test is no number")
        return made

    def test(self, node: ast.expr) -> Expression:
        """A test; an integer, as in C, is true unless it is 0."""
        made = self.expression(node)
        if made.type.dtype == TRUTH:
            return made
        if not made.type.is_integer:
            self.refuse(node, "a fraction is no test")
        return Comparison("!=", self.convert(made, WHOLE, node), Constant(0, WHOLE))

    def convert(self, value: Expression, kind: Type, node: ast.AST) -> Expression:
        """The value in a type."""
        have = value.type
        if have == kind:
            return value
        if isinstance(value, Constant) and not kind.row and have.dtype != TRUTH:
            if kind.is_integer and not have.is_integer:
                self.refuse(node, f"{value.value} does not become an integer")
            return Constant(value.value, kind)
        if TRUTH in (have.dtype, kind.dtype):
            self.refuse(node, "a test and a number do not mix")
        if (have.is_complex and not kind.is_complex) or (kind.is_integer and not have.is_integer):
            self.refuse(node, f"{have.dtype} does not become {kind.dtype} by itself")
        if have.row:
            self.refuse(node, f"a row of a block vector of {have.dtype} becomes nothing else")
        if kind.row:
            return Convert(self.convert(value, Type(kind.dtype), node), kind)
        return _settled(value, kind) if have.weak else Convert(value, kind)

    def refuse(self, node: ast.AST, why: str) -> NoReturn:
        refuse(self.kernel.name, node, why)


def _settled(value: Expression, kind: Type) -> Expression:
    """An expression of literals, or of integers that meet a literal fraction, in the type of what it meets."""
    match value:
        case Constant(value=number):
            return Constant(number, kind)
        case Negation(value=inner):
            return Negation(_settled(inner, kind), kind)
        case Operation(sign=sign, left=left, right=right):
            return Operation(sign, _settled(left, kind), _settled(right, kind), kind)
        case Choice(test=test, body=body, otherwise=otherwise):
            return Choice(test, _settled(body, kind), _settled(otherwise, kind), kind)
        case Call(function=function, arguments=arguments):
            return Call(function, tuple(_settled(argument, kind) for argument in arguments), kind)
        case Convert(value=inner):
            return Convert(inner, kind)
    return value if value.type == kind else Convert(value, kind)
