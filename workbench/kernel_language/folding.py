"""Constants, and what they decide: branches, unrolled loops, numbered arguments; helpers are substituted."""

from __future__ import annotations

import ast
import inspect
import operator
from collections.abc import Callable, Mapping
from typing import Any

from workbench.kernel_language.grammar import Helper, Kernel, helpers, refuse

_OPERATIONS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.USub: operator.neg,
    ast.Not: operator.not_,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}


class Folded(ast.NodeTransformer):
    """Folds the statements of a kernel, a copy of them, and its halo.

    constants: values by name. numbered: the parameters that stand for several arguments, with their number. interior:
    `inside` is true.
    """

    def __init__(
        self, kernel: Kernel, constants: Mapping[str, Any], numbered: Mapping[str, int], *, interior: bool
    ) -> None:
        self._kernel, self._numbered, self._interior = kernel, numbered, interior
        self._where = "edge_" if kernel.halo is not None and not interior else ""
        self._constants = dict(constants)
        self._names = kernel.names
        stored = {node.id for node in ast.walk(kernel.tree) if isinstance(node, ast.Name) and _is_stored(node)}
        self._local = {kernel.row, *kernel.parameters, *stored}
        self._before: list[ast.stmt] = []
        """The assignments of helpers' arguments, before the statement that is being folded."""
        self._only_once = True
        """Whether what is being folded is evaluated once, whenever its statement is."""
        self._made = 0

    def block(self, lines: list[ast.stmt]) -> list[ast.stmt]:
        """The statements that are left, and those that the folding adds."""
        made: list[ast.stmt] = []
        for line in _copied(lines):
            outer, self._before = self._before, []
            found = self.visit(line)
            made += [*self._before, *(found if isinstance(found, list) else [found])]
            self._before = outer
        return made

    def expression(self, node: ast.expr) -> ast.expr:
        """An expression outside of statements, in which helpers may have names and constants as arguments only."""
        return self._sometimes(_copied(node))

    def _sometimes(self, node: ast.expr) -> ast.expr:
        """The expression, which may be evaluated never or several times, so that nothing may move before it."""
        outer, self._only_once = self._only_once, False
        made = self.visit(node)
        self._only_once = outer
        return made

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id in self._constants:
            return ast.Constant(self._constants[node.id])
        known = self._names.get(node.id)
        if not _is_stored(node) and node.id not in self._local and isinstance(known, int | float):
            return ast.Constant(known)
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        place = self.visit(node.slice)
        if not isinstance(node.value, ast.Name):
            return ast.Subscript(self.visit(node.value), place, node.ctx)
        name = node.value.id
        if name not in self._numbered:
            return ast.Subscript(node.value, place, node.ctx)
        if not isinstance(place, ast.Constant) or place.value not in range(self._numbered[name]):
            refuse(self._kernel.name, node, f"{name} is numbered from 0 to {self._numbered[name] - 1} by a constant")
        return ast.Name(f"{name}_{place.value}", node.ctx)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        assert isinstance(node.func, ast.Name)
        node.args = [self.visit(argument) for argument in node.args]
        known = self._names.get(node.func.id)
        if inspect.isfunction(known) and known in helpers:
            return self._substituted(helpers[known], node)
        if node.func.id == "inside" and self._interior:
            return ast.Constant(True)
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        node.left, node.right = self.visit(node.left), self.visit(node.right)
        return self._evaluated(node, node.op, node.left, node.right)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        node.operand = self.visit(node.operand)
        return self._evaluated(node, node.op, node.operand)

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        node.left, node.comparators = self.visit(node.left), [self.visit(node.comparators[0])]
        return self._evaluated(node, node.ops[0], node.left, node.comparators[0])

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        neutral = isinstance(node.op, ast.And)
        values: list[ast.expr] = [self.visit(node.values[0]), *(self._sometimes(value) for value in node.values[1:])]
        left = [value for value in values if not (isinstance(value, ast.Constant) and bool(value.value) == neutral)]
        if any(isinstance(value, ast.Constant) for value in left):
            return ast.Constant(not neutral)
        return ast.Constant(neutral) if not left else left[0] if len(left) == 1 else ast.BoolOp(node.op, left)

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        test = self.visit(node.test)
        if isinstance(test, ast.Constant):
            return self.visit(node.body if test.value else node.orelse)
        return ast.IfExp(test, self._sometimes(node.body), self._sometimes(node.orelse))

    def visit_If(self, node: ast.If) -> ast.stmt | list[ast.stmt]:
        test = self.visit(node.test)
        if isinstance(test, ast.Constant):
            return self.block(node.body if test.value else node.orelse)
        return ast.If(test, self.block(node.body), self.block(node.orelse))

    def visit_While(self, node: ast.While) -> ast.stmt:
        return ast.While(self._sometimes(node.test), self.block(node.body), [])

    def visit_For(self, node: ast.For) -> ast.stmt | list[ast.stmt]:
        assert isinstance(node.iter, ast.Call) and isinstance(node.iter.func, ast.Name)
        assert isinstance(node.target, ast.Name)
        arguments = [self.visit(argument) for argument in node.iter.args]
        if node.iter.func.id == "range":
            node.iter.args, node.body = arguments, self.block(node.body)
            return node
        (count,) = arguments
        if not isinstance(count, ast.Constant) or not isinstance(count.value, int):
            refuse(self._kernel.name, node, "the count of an unrolled loop is not a constant")
        made, outer = [], self._constants
        for k in range(count.value):
            self._constants = outer | {node.target.id: k}
            made += self.block(node.body)
        self._constants = outer
        return made

    def _substituted(self, of: Helper, node: ast.Call) -> ast.expr:
        """The helper's expression. An argument that is neither a name nor a constant is assigned to a variable."""
        if len(node.args) != len(of.parameters):
            refuse(self._kernel.name, node, f"{of.tree.name} takes {len(of.parameters)} arguments")
        values = {}
        for parameter, argument in zip(of.parameters, node.args, strict=True):
            if not isinstance(argument, ast.Name | ast.Constant):
                if not self._only_once:
                    refuse(self._kernel.name, node, f"{ast.unparse(argument)} must be assigned to a variable before")
                self._made += 1
                name = f"{parameter}_{self._made}_{self._where}"
                self._before.append(ast.Assign([ast.Name(name, ast.Store())], argument, lineno=0))
                argument = ast.Name(name, ast.Load())
            values[parameter] = argument
        outer, self._names = self._names, of.names
        made = self.visit(_Replaced(values).visit(_copied(of.expression)))
        self._names = outer
        return made

    def _evaluated(self, node: ast.expr, sign: ast.AST, *sides: ast.expr) -> ast.expr:
        """The value of an operation between constants."""
        if not all(isinstance(side, ast.Constant) for side in sides):
            return node
        values = [side.value for side in sides if isinstance(side, ast.Constant)]
        try:
            return ast.Constant(_OPERATIONS[type(sign)](*values))
        except ArithmeticError as error:
            refuse(self._kernel.name, node, str(error))


def _is_stored(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Store)


class _Replaced(ast.NodeTransformer):
    """Names replaced by expressions."""

    def __init__(self, values: Mapping[str, ast.expr]) -> None:
        self._values = values

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return _copied(self._values[node.id]) if node.id in self._values else node


def _copied(node: Any) -> Any:
    """A copy of a node or of a list of nodes with all below it; deepcopy takes ten times as long."""
    if isinstance(node, list):
        return [_copied(part) for part in node]
    if not isinstance(node, ast.AST):
        return node
    made = type(node).__new__(type(node))
    vars(made).update({name: _copied(value) for name, value in vars(node).items()})
    return made
