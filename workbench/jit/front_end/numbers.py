"""Conversion and arithmetic of values."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np
from llvmlite import ir

from workbench.jit.front_end.kinds import (
    DOUBLE,
    INTEGER,
    TRUTH,
    UNSIGNED,
    WORD,
    UnsupportedError,
    Value,
    common,
    in_register,
    number,
    real_of,
)

_SIGNS = {ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
_FRACTIONS = {ast.Add: "fadd", ast.Sub: "fsub", ast.Mult: "fmul", ast.Div: "fdiv"}
_INTEGERS = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul"}
_BITS = {ast.BitAnd: "and_", ast.BitOr: "or_", ast.BitXor: "xor"}


class Numbers:
    """Code for numbers, written by `builder`.

    flags: LLVM's licences for fractions. raising: whether division by zero fails, as in Python; else it is that of
    processors for fractions, and 0 for integers.
    """

    builder: Any
    flags: tuple[str, ...]
    raising: bool

    def constant(self, value: Any) -> Value:
        """A truth, an integer or a fraction of Python."""
        kind = {bool: TRUTH, int: INTEGER, float: DOUBLE}.get(type(value))
        if kind is None or (kind == INTEGER and not -(2**63) <= value < 2**63):
            raise UnsupportedError(f"the constant {value!r}")
        return Value(kind, (ir.Constant(in_register(kind), value),))

    def converted(self, value: Value, kind: Any) -> Value:
        """The value as one of another kind."""
        if value.kind == kind:
            return value
        if number(value.kind).kind == "c":
            if number(kind).kind != "c":
                raise UnsupportedError("a complex number as a real one")
            parts = [self._part(part, real_of(value.kind), real_of(kind)) for part in value.parts]
            return Value(kind, tuple(parts))
        real = self._part(value.parts[0], value.kind, real_of(number(kind)))
        return Value(kind, (real, real.type(0)) if kind.kind == "c" else (real,))

    def _part(self, part: Any, before: np.dtype, after: np.dtype) -> Any:
        """A real number of another type."""
        made, builder = in_register(after), self.builder
        if before == after:
            return part
        if after == TRUTH:
            return self.truth(Value(before, (part,)))
        if before.kind in "biu":
            if isinstance(part, ir.Constant):
                return made(float(part.constant) if after.kind == "f" else int(part.constant))
            if after.kind == "f":
                return (builder.sitofp if before.kind == "i" else builder.uitofp)(part, made)
            if before.itemsize >= after.itemsize and before != TRUTH:
                return builder.trunc(part, made) if before.itemsize > after.itemsize else part
            return (builder.sext if before.kind == "i" else builder.zext)(part, made)
        if after.kind == "f":
            return (builder.fpext if before.itemsize < after.itemsize else builder.fptrunc)(part, made)
        return (builder.fptosi if after.kind == "i" else builder.fptoui)(part, made)

    def integer(self, value: Value) -> Any:
        """A word with an integer."""
        if number(value.kind).kind not in "biu":
            raise UnsupportedError("a fraction where an integer is needed")
        return self.converted(value, UNSIGNED if value.kind.kind == "u" else INTEGER).parts[0]

    def truth(self, value: Value) -> Any:
        """A bit: whether a truth holds, or an integer is not 0."""
        if value.kind == TRUTH:
            return value.parts[0]
        if number(value.kind).kind not in "iu":
            raise UnsupportedError("a fraction as a test")
        return self.builder.icmp_unsigned("!=", value.parts[0], value.parts[0].type(0))

    def negative(self, value: Value) -> Value:
        """-value."""
        if number(value.kind).kind in "fc":
            return Value(value.kind, tuple(map(self.builder.fneg, value.parts)))
        if value.kind.kind == "i":
            return Value(INTEGER, (self.builder.neg(self.integer(value)),))
        raise UnsupportedError("- of a number without a sign")

    def operation(self, op: ast.operator, left: Value, right: Value) -> Value:
        """left op right."""
        kind = common(left.kind, right.kind)
        if type(op) in _BITS and left.kind == right.kind == TRUTH:
            kind = TRUTH
        elif isinstance(op, ast.Div) and kind.kind in "iu":
            kind = DOUBLE
        elif isinstance(op, ast.LShift | ast.RShift):
            kind = UNSIGNED if left.kind.kind == "u" else INTEGER
        a, b = self.converted(left, kind).parts, self.converted(right, kind).parts
        if kind.kind == "c":
            return Value(kind, self._complex(op, a, b))
        made = (self._fraction if kind.kind == "f" else self._integer)(op, a[0], b[0], unsigned=kind == UNSIGNED)
        return Value(kind, (made,))

    def _fraction(self, op: ast.operator, a: Any, b: Any, **_: bool) -> Any:
        if type(op) not in _FRACTIONS:
            raise UnsupportedError(f"{type(op).__name__} of fractions")
        if isinstance(op, ast.Div) and self.raising:
            self._fail_where(self.builder.fcmp_ordered("==", b, b.type(0)))
        return getattr(self.builder, _FRACTIONS[type(op)])(a, b, flags=self.flags)

    def _integer(self, op: ast.operator, a: Any, b: Any, *, unsigned: bool) -> Any:
        if type(op) in _INTEGERS:
            return getattr(self.builder, _INTEGERS[type(op)])(a, b, flags=() if unsigned else ("nsw",))
        if type(op) in _BITS:
            return getattr(self.builder, _BITS[type(op)])(a, b)
        match op:
            case ast.LShift():
                return self.builder.shl(a, b)
            case ast.RShift():
                return (self.builder.lshr if unsigned else self.builder.ashr)(a, b)
            case ast.FloorDiv() | ast.Mod():
                return self._division(isinstance(op, ast.FloorDiv), a, b, unsigned=unsigned)
        raise UnsupportedError(f"{type(op).__name__} of integers")

    def _division(self, whole: bool, a: Any, b: Any, *, unsigned: bool) -> Any:
        """a // b, or a % b: rounded down."""
        builder, by_zero = self.builder, None
        if not isinstance(b, ir.Constant):
            by_zero = builder.icmp_signed("==", b, WORD(0))
            if self.raising:
                self._fail_where(by_zero)
            else:
                b = builder.select(by_zero, WORD(1), b)
        if unsigned:
            made = (builder.udiv if whole else builder.urem)(a, b)
        else:
            rest = builder.srem(a, b)
            opposite = builder.icmp_signed("<", builder.xor(rest, b), WORD(0))
            rounded_up = builder.and_(builder.icmp_signed("!=", rest, WORD(0)), opposite)
            plain, lower = rest, builder.add(rest, b)
            if whole:
                plain = builder.sdiv(a, b)
                lower = builder.sub(plain, WORD(1))
            made = builder.select(rounded_up, lower, plain)
        return made if by_zero is None or self.raising else builder.select(by_zero, WORD(0), made)

    def _fail_where(self, test: Any) -> None:
        """End as a kernel that failed: its threads do not count as ended."""
        with self.builder.if_then(test, likely=False):
            self.builder.ret_void()

    def _complex(self, op: ast.operator, left: tuple[Any, ...], right: tuple[Any, ...]) -> tuple[Any, ...]:
        (a, b), (c, d) = left, right
        match op:
            case ast.Add() | ast.Sub():
                return self._fraction(op, a, c), self._fraction(op, b, d)
            case ast.Mult():
                ac, bd, ad, bc = (self._fraction(op, x, y) for x, y in ((a, c), (b, d), (a, d), (b, c)))
                return self._fraction(ast.Sub(), ac, bd), self._fraction(ast.Add(), ad, bc)
        raise UnsupportedError(f"{type(op).__name__} of complex numbers")

    def comparison(self, op: ast.cmpop, left: Value, right: Value) -> Any:
        """A bit: left op right."""
        if type(op) not in _SIGNS:
            raise UnsupportedError(type(op).__name__)
        sign, kind = _SIGNS[type(op)], common(left.kind, right.kind)
        if kind == INTEGER and UNSIGNED in (left.kind, right.kind):
            kind = UNSIGNED
            if not all(each.kind.kind == "u" or _is_not_negative(each) for each in (left, right)):
                raise UnsupportedError("comparison of integers with and without a sign")
        a, b = self.converted(left, kind).parts, self.converted(right, kind).parts
        if kind.kind in "iu":
            return (self.builder.icmp_signed if kind == INTEGER else self.builder.icmp_unsigned)(sign, a[0], b[0])
        compare = self.builder.fcmp_unordered if sign == "!=" else self.builder.fcmp_ordered
        tests = [compare(sign, x, y, flags=self.flags) for x, y in zip(a, b, strict=True)]
        if len(tests) == 1:
            return tests[0]
        if sign not in ("==", "!="):
            raise UnsupportedError("order of complex numbers")
        return (self.builder.and_ if sign == "==" else self.builder.or_)(*tests)


def _is_not_negative(value: Value) -> bool:
    """Whether this is a constant from 0 on."""
    return isinstance(value.parts[0], ir.Constant) and value.parts[0].constant >= 0
