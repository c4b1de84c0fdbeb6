"""Expressions: their kinds and their code."""

from __future__ import annotations

import abc
import ast
import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from workbench.jit.by_threads import ARGUMENTS, LAST
from workbench.jit.front_end.kinds import (
    BIT,
    BYTE,
    INTEGER,
    TRUTH,
    WORD,
    Array,
    UnsupportedError,
    Value,
    array,
    common,
    in_register,
    number,
    parts_of,
    real_of,
    united,
)
from workbench.jit.front_end.numbers import Numbers

NOTHING = Value((), ())
_OF_LLVM = {"sqrt": "llvm.sqrt", "abs": "llvm.fabs"}


class Expressions(Numbers, abc.ABC):
    """Expressions of a function.

    namespace: what names mean that are no variables. made: the function of LLVM; entry: writes at its start, where
    variables get their places. arguments: the kind of what `arguments_` returns, whose parts `read` finds in its words.
    """

    namespace: dict[str, Any]
    made: Any
    entry: Any
    arguments: Any
    read: Callable[[Any, Any, Any], list[Any]]

    @abc.abstractmethod
    def variable(self, name: str) -> Value | None:
        """What a variable holds; None where there is none of this name."""

    @abc.abstractmethod
    def inlined(self, function: Any, values: list[Value]) -> Value:
        """What a function of numba returns."""

    def value(self, node: ast.expr) -> Value:
        """The value of an expression."""
        match node:
            case ast.Constant(value=value):
                return self.constant(value)
            case ast.Name(id=name):
                return self.variable(name) or self.constant(self.namespace.get(name))
            case ast.Tuple(elts=nodes):
                values = [self.value(each) for each in nodes]
                return Value(tuple(each.kind for each in values), tuple(part for each in values for part in each.parts))
            case ast.Subscript(value=of, slice=place):
                return self.load(self.subscript(self.value(of), place))
            case ast.Attribute(value=of, attr=name):
                return self._attribute(self.value(of), name)
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
                return self.constant(-value)
            case ast.UnaryOp(op=ast.USub(), operand=of):
                return self.negative(self.value(of))
            case ast.BinOp(op=op, left=left, right=right):
                return self.operation(op, self.value(left), self.value(right))
            case ast.UnaryOp(op=ast.Not()) | ast.Compare():
                return Value(TRUTH, (self.test(node),))
            case ast.BoolOp():
                return Value(TRUTH, (self._answer(node, self._true),))
            case ast.IfExp():
                return self._choice(node)
            case ast.Call(keywords=[]):
                return self._call(node)
        raise UnsupportedError(ast.unparse(node))

    def test(self, node: ast.expr) -> Any:
        """A bit: whether a condition holds."""
        match node:
            case ast.BoolOp():
                return self._answer(node, self.test)
            case ast.UnaryOp(op=ast.Not(), operand=of):
                return self.builder.not_(self.test(of))
            case ast.Compare(left=left, ops=ops, comparators=nodes):
                values = [self.value(each) for each in (left, *nodes)]
                tests = [self.comparison(*three) for three in zip(ops, values, values[1:], strict=False)]
                return functools.reduce(self.builder.and_, tests)
        return self.truth(self.value(node))

    def branch(self, node: ast.expr, yes: Any, no: Any, test: Callable[[ast.expr], Any] | None = None) -> None:
        """Continue at `yes` where a condition holds, else at `no`; test: of its parts without `and` and `or`.

        It leaves as soon as the answer is known. LLVM makes a choice between values of a bit that is tested later, and
        what follows would wait for both values.
        """
        match node:
            case ast.BoolOp(op=op, values=[*nodes, last]):
                for each in nodes:
                    more = self.made.append_basic_block("test")
                    self.branch(each, *((more, no) if isinstance(op, ast.And) else (yes, more)), test)
                    self.builder.position_at_end(more)
                self.branch(last, yes, no, test)
            case ast.UnaryOp(op=ast.Not(), operand=of):
                self.branch(of, no, yes)
            case _:
                self.builder.cbranch((test or self.test)(node), yes, no)

    def _true(self, node: ast.expr) -> Any:
        value = self.value(node)
        if value.kind != TRUTH:
            raise UnsupportedError("a number of `and` or `or`")
        return value.parts[0]

    def _answer(self, node: ast.BoolOp, test: Callable[[ast.expr], Any]) -> Any:
        """A bit: `and` or `or` of what `test` finds."""
        yes, no, end = (self.made.append_basic_block(name) for name in ("yes", "no", "tested"))
        self.branch(node, yes, no, test)
        for block in (yes, no):
            self.builder.position_at_end(block)
            self.builder.branch(end)
        self.builder.position_at_end(end)
        answer = self.builder.phi(BIT)
        for block, bit in ((yes, 1), (no, 0)):
            answer.add_incoming(BIT(bit), block)
        return answer

    def _choice(self, node: ast.IfExp) -> Value:
        yes, no, end = (self.made.append_basic_block(name) for name in ("yes", "no", "chosen"))
        self.branch(node.test, yes, no)
        made = []
        for start, each in ((yes, node.body), (no, node.orelse)):
            self.builder.position_at_end(start)
            made.append((self.value(each), self.builder.block))
        kind, ends = united(*(value.kind for value, _ in made)), []
        for value, block in made:
            self.builder.position_at_end(block)
            ends.append((self.converted(value, kind).parts, self.builder.block))
            self.builder.branch(end)
        self.builder.position_at_end(end)
        chosen = [self.builder.phi(part) for part in parts_of(kind)]
        for parts, block in ends:
            for phi, part in zip(chosen, parts, strict=True):
                phi.add_incoming(part, block)
        return Value(kind, tuple(chosen))

    def _attribute(self, of: Value, name: str) -> Value:
        if isinstance(of.kind, Array):
            lengths = of.parts[1:]
            match name:
                case "size":
                    return Value(INTEGER, (functools.reduce(self.builder.mul, lengths),))
                case "shape":
                    return Value((INTEGER,) * len(lengths), lengths)
        elif name in ("real", "imag") and number(of.kind).kind == "c":
            return Value(real_of(of.kind), (of.parts[name == "imag"],))
        elif name == "real":
            return of
        raise UnsupportedError(f".{name}")

    # Arrays and tuples.

    def entries(self, of: Value) -> list[Value]:
        """The entries of a tuple."""
        if isinstance(of.kind, Array | np.dtype):
            raise UnsupportedError("entries of something that is no tuple")
        parts = iter(of.parts)
        return [Value(kind, tuple(next(parts) for _ in parts_of(kind))) for kind in of.kind]

    def element(self, of: Value, place: Any, *, inbounds: bool = False) -> Value:
        """One element of an array, counted row by row."""
        dtype = array(of.kind).dtype
        place = self.builder.shl(place, WORD(1)) if dtype.kind == "c" else place
        return Value(Array(dtype, 0), (self.builder.gep(of.parts[0], [place], inbounds=inbounds),))

    def load(self, found: Value) -> Value:
        """The number where a subscript leads to one element; else what it leads to."""
        if not isinstance(found.kind, Array) or found.kind.ndim:
            return found
        dtype, parts = found.kind.dtype, tuple(map(self.builder.load, self._places(found)))
        return Value(dtype, (self.builder.icmp_unsigned("!=", parts[0], BYTE(0)),) if dtype == TRUTH else parts)

    def store(self, found: Value, value: Value) -> None:
        """Store into one element."""
        if not isinstance(found.kind, Array) or found.kind.ndim:
            raise UnsupportedError("assignment to several elements")
        parts = self.converted(value, found.kind.dtype).parts
        for part, place in zip(parts, self._places(found), strict=True):
            self.builder.store(self.builder.zext(part, BYTE) if found.kind.dtype == TRUTH else part, place)

    def _places(self, found: Value) -> list[Any]:
        first = found.parts[0]
        complex_ = found.kind.dtype.kind == "c"
        return [first, self.builder.gep(first, [WORD(1)], inbounds=True)] if complex_ else [first]

    def subscript(self, of: Value, node: ast.expr) -> Value:
        """The part of an array to which indices lead, of its last one a slice perhaps; the entry of a tuple."""
        if not isinstance(of.kind, Array):
            return self._entry(self.entries(of), node)
        nodes = node.elts if isinstance(node, ast.Tuple) else [node]
        if not of.kind.ndim:
            return of  # The first word at a pointer.
        if len(nodes) > of.kind.ndim:
            raise UnsupportedError("more indices than an array has")
        place, lengths = WORD(0), of.parts[1:]
        kept = list(lengths[len(nodes) :])
        for k, (each, length) in enumerate(zip(nodes, lengths, strict=False)):
            if isinstance(each, ast.Slice):
                if k < len(nodes) - 1:
                    raise UnsupportedError("a slice before an index")
                start, count = self._slice(each, length)
                kept = [count, *kept]
            else:
                start = self._index(each, length)
            place = start if k == 0 else self.builder.add(self.builder.mul(place, length), start)
        for length in lengths[len(nodes) :]:
            place = self.builder.mul(place, length)
        return Value(Array(of.kind.dtype, len(kept)), (*self.element(of, place).parts, *kept))

    def _entry(self, values: list[Value], node: ast.expr) -> Value:
        if isinstance(node, ast.Constant):
            if node.value not in range(len(values)):
                raise UnsupportedError("an index beyond a tuple")
            return values[int(node.value)]  # pyright: ignore[reportArgumentType]
        if len({each.kind for each in values}) != 1:
            raise UnsupportedError("a variable index of a tuple of several kinds")
        place, chosen = self.integer(self.value(node)), values[0].parts
        for k, each in enumerate(values[1:], 1):
            here = self.builder.icmp_signed("==", place, WORD(k))
            chosen = [self.builder.select(here, a, b) for a, b in zip(each.parts, chosen, strict=True)]
        return Value(values[0].kind, tuple(chosen))

    def _index(self, node: ast.expr, length: Any) -> Any:
        value = self.value(node)
        place = self.integer(value)
        return place if value.kind.kind == "u" else self._from_end(place, length)

    def _from_end(self, place: Any, length: Any) -> Any:
        """A negative place counts from the end."""
        negative = self.builder.icmp_signed("<", place, WORD(0))
        return self.builder.select(negative, self.builder.add(place, length), place)

    def _slice(self, node: ast.Slice, length: Any) -> tuple[Any, Any]:
        """First place and number of places of a slice."""
        if node.step is not None:
            raise UnsupportedError("the step of a slice")
        ends = []
        for each, missing in ((node.lower, WORD(0)), (node.upper, length)):
            ends.append(missing if each is None else self._within(self.integer(self.value(each)), length))
        return ends[0], self._greater(self.builder.sub(ends[1], ends[0]), WORD(0))

    def _within(self, place: Any, length: Any) -> Any:
        """An end of a slice; branches, which processors foresee, are faster here than choices."""
        builder, end = self.builder, self.entry.alloca(WORD)
        builder.store(place, end)
        with builder.if_then(builder.icmp_unsigned(">", place, length), likely=False):
            place = self._greater(self._from_end(place, length), WORD(0))
            builder.store(builder.select(builder.icmp_signed("<", place, length), place, length), end)
        return builder.load(end)

    def _greater(self, a: Any, b: Any) -> Any:
        return self.builder.select(self.builder.icmp_signed(">", a, b), a, b)

    # Functions.

    def _call(self, node: ast.Call) -> Value:
        match node.func:
            case ast.Attribute(value=ast.Name(id="np"), attr=name):
                return self._of_numpy(name, [self.value(each) for each in node.args])
            case ast.Attribute(value=ast.Attribute(value=of, attr="dtype"), attr="type"):
                return self.converted(self.value(node.args[0]), array(self.value(of).kind).dtype)
            case ast.Name(id=name):
                values = [self.value(each) for each in node.args]
                function = self.namespace.get(name)
                if hasattr(function, "py_func"):
                    return self.inlined(function, values)
                return self._word(name, values)
        raise UnsupportedError(ast.unparse(node))

    def _word(self, name: str, values: list[Value]) -> Value:
        builder = self.builder
        match name, values:
            case (("min" | "max"), [first, *others]):
                return self._extreme(ast.Lt() if name == "min" else ast.Gt(), first, others)
            case "abs", [value]:
                return self._of_numpy("abs", values)
            case "int", [value]:
                return self.converted(value, INTEGER)
            case "len", [value]:
                return Value(INTEGER, (WORD(len(self.entries(value))),))
            case "at", [of, place]:
                return self.load(self.element(of, self.integer(place), inbounds=True))
            case "set_at", [of, place, value]:
                self.store(self.element(of, self.integer(place), inbounds=True), value)
                return NOTHING
            case "_next", [taken, thread]:
                counters, _, apart = taken.parts
                counter = builder.gep(counters, [builder.mul(self.integer(thread), apart)])
                return Value(INTEGER, (builder.atomic_rmw("add", counter, WORD(1), "monotonic"),))
            case (("quotient" | "remainder"), [a, b]):
                divide = builder.udiv if name == "quotient" else builder.urem
                return Value(INTEGER, (divide(self.integer(a), self.integer(b)),))
            case "complex", [real, imaginary]:
                kind = common(common(real.kind, imaginary.kind), np.dtype(np.float32))
                parts = [self.converted(each, kind).parts[0] for each in (real, imaginary)]
                return Value(np.result_type(kind, np.complex64), tuple(parts))
            case _ if name == ARGUMENTS:
                return Value(self.arguments, tuple(self.read(builder, values[0].parts[0], self.arguments)))
            case _ if name == LAST:
                state, count = (each.parts[0] for each in values)
                left = builder.atomic_rmw("sub", state, count, "acq_rel")
                return Value(TRUTH, (builder.icmp_signed("==", left, count),))
        raise UnsupportedError(f"{name}()")

    def _of_numpy(self, name: str, values: list[Value]) -> Value:
        first = values[0]
        kind = number(first.kind)
        match name:
            case "conj" if kind.kind == "c":
                return Value(kind, (first.parts[0], self.builder.fneg(first.parts[1])))
            case "conj" if kind.kind == "f":
                return first
            case "abs" if kind.kind == "i":
                value = self.converted(first, INTEGER)
                return Value(INTEGER, (self._greater(value.parts[0], self.builder.neg(value.parts[0])),))
            case "sqrt" | "abs" if kind.kind == "f":
                found = self.builder.module.declare_intrinsic(_OF_LLVM[name], [in_register(kind)])
                return Value(kind, (self.builder.call(found, first.parts, fastmath=self.flags),))
            case "float32" | "float64" | "complex64" | "complex128" | "int32" | "int64" | "uint32" | "uint64":
                return self.converted(first, np.dtype(name))
        raise UnsupportedError(f"np.{name}")

    def _extreme(self, op: ast.cmpop, best: Value, others: list[Value]) -> Value:
        for value in others:
            kind = united(best.kind, value.kind)
            best, value = self.converted(best, kind), self.converted(value, kind)
            better = self.comparison(op, value, best)
            best = Value(kind, (self.builder.select(better, value.parts[0], best.parts[0]),))
        return best
