"""Expressions: what they are, and tests, of which the second part is evaluated where it is needed."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable

from workbench.compiler.calls import Calls
from workbench.compiler.kinds import BOOL, Tile, Value, equal, in_tuple
from workbench.compiler.numbers import SIGNS, TESTS
from workbench.compiler.reader import named
from workbench.compiler.tree import If, Node, Set


class Expressions(Calls):
    """Expressions in the text of a function."""

    def value(self, node: ast.expr) -> Value:
        """The value of an expression."""
        match node:
            case ast.Constant(value=value):
                return self.literal(value, node)
            case ast.Name(id=name):
                self.check_set(name, node)
                if name in self.constants:
                    return self.constants[name]
                if (kind := self.kind_of(name)) is not None:
                    return self.variable(name, kind)
                return self.literal(self.known(node), node)
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                return in_tuple(self.values(elements))
            case ast.Subscript(value=of, slice=place):
                return self.load(self.subscript(self.value(of), place))
            case ast.Attribute(value=of, attr=name):
                known = self.known(node)
                return self.attribute(self.value(of), name, node) if known is None else self.literal(known, node)
            case ast.UnaryOp(op=ast.USub(), operand=of):
                return self.negative(self.value(of), node)
            case ast.BinOp(op=ast.Pow(), left=left, right=ast.Constant(value=int() as power)) if power > 0:
                base = found = self.kept(self.value(left))
                for _ in range(power - 1):
                    found = self.operation("*", found, base, node)
                return found
            case ast.BinOp(op=op, left=left, right=right) if type(op) in SIGNS:
                return self.combined(SIGNS[type(op)], self.value(left), right, node)
            case ast.UnaryOp(op=ast.Not()) | ast.Compare() | ast.BoolOp():
                return Value(BOOL, (self.test(node, kept=True),))
            case ast.IfExp():
                return self._choice(node)
            case ast.Call():
                return self.call(node)
        self.refuse(node, "no such expression in kernels")

    def combined(self, sign: str, left: Value, right: ast.expr, node: ast.AST) -> Value:
        """An operation. A product that is added to tiles is not rounded before, also where it is one of complex
        numbers."""
        if sign in ("+", "-") and isinstance(right, ast.BinOp) and isinstance(right.op, ast.Mult):
            left, one, two = self.values([right.left, right.right], left)
            if isinstance(left.kind, Tile) and left.kind.dtype.kind == "c":
                one = self.negative(one, node) if sign == "-" else one
                return self.sum_of_tiles(left, one, two, node)
            return self.operation(sign, left, self.operation("*", one, two, right), node)
        left, found = self.values([right], left)
        return self.operation(sign, left, found, node)

    def test(self, node: ast.expr, *, kept: bool = False) -> Node:
        """A truth: whether a condition holds. kept: as a value, where `and` and `or` of numbers are one of these."""
        match node:
            case ast.BoolOp(op=op, values=[first, *others]):
                found = self.test(first, kept=kept)
                for each in others:
                    word = "and" if isinstance(op, ast.And) else "or"
                    found = self._and_or(word, found, functools.partial(self.test, each, kept=kept))
                return found
            case ast.UnaryOp(op=ast.Not(), operand=of):
                found = self.test(of)
                if found.op == "const":
                    return Node("const", "b", (), not found.of)
                return Node("not", "b", (found,))
            case ast.Compare(left=left, ops=ops, comparators=others):
                return self._compared(self.value(left), ops, others, node)
        value = self.value(node)
        if len(value.parts) != 1:
            self.refuse(node, "not a truth")
        if kept and not equal(value.kind, BOOL):
            self.refuse(node, f"{named(value.kind)} among `and` and `or`, whose value would be a number; compare it")
        return self.truth(value)

    def _compared(self, left: Value, ops: list[ast.cmpop], others: list[ast.expr], node: ast.AST) -> Node:
        """A comparison with one number or several, each of which is evaluated where those before leave it open."""
        if type(ops[0]) not in TESTS:
            self.refuse(node, "no such comparison in kernels")
        left, right = self.values([others[0]], left)
        right = self.kept(right) if ops[1:] else right
        test = self.comparison(TESTS[type(ops[0])], left, right, node)
        if not ops[1:]:
            return test
        return self._and_or("and", test, lambda: self._compared(right, ops[1:], others[1:], node))

    def _and_or(self, word: str, found: Node, second: Callable[[], Node]) -> Node:
        """Both, or either; what the second one needs is written where the first one leaves it open."""
        if found.op == "const" and found.of == (word == "or"):
            return found
        with self.aside() as more:
            right = second()
        if found.op == "const":
            self.write(*more)
            return right
        if not more:
            return Node(word, "b", (found, right))
        answer = self.copied(found)
        assert isinstance(answer.of, str)
        then = (*more, Set(answer.of, right))
        self.write(If(answer, *((then, ()) if word == "and" else ((), then))))
        return answer

    def _choice(self, node: ast.IfExp) -> Value:
        test = self.test(node.test)
        if test.op == "const":
            return self.value(node.body if test.of else node.orelse)
        with self.aside() as one:
            yes = self.value(node.body)
        with self.aside() as two:
            no = self.value(node.orelse)
        kind = self.united(yes.kind, no.kind, node)
        with self.aside() as more:
            yes = self.converted(yes, kind)
        one += more
        with self.aside() as more:
            no = self.converted(no, kind)
        two += more
        if not one and not two and len(yes.parts) == 1:
            return Value(kind, (Node("if", yes.parts[0].type, (test, yes.parts[0], no.parts[0])),))
        body, otherwise, chosen = self.branches(test, [(one, yes.parts), (two, no.parts)])
        self.write(If(test, body, otherwise))
        return Value(kind, tuple(chosen))
