"""Kernels and helpers from Python functions, and what is refused in them."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import keyword
import re
import textwrap
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

FUNCTIONS = {"conj": 1, "real": 1, "abs": 1, "sqrt": 1, "min": 2, "max": 2, "wide": 1, "narrow": 1, "inside": 1}
"""The functions of the language, and how many arguments they have."""
LOOPS = {"range": (1, 3), "unrolled": (1, 1)}
"""What a loop may run over, with the least and the most arguments."""
SIGNS: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.LShift: "<<",
    ast.RShift: ">>",
}
TESTS: dict[type[ast.cmpop], str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
}
_NAME = re.compile(r"[a-z]([a-z0-9_]*[a-z0-9])?")
_NUMBA = """add_products add_scaled at conjugated filled kernel np put quotient remainder scaled_by set_at shared take
    taken threads total widened work zeros"""
_C = """asm auto bool case catch char class complex const constant default delete do double enum explicit export extern
    false float friend generic global goto half imaginary inline int kernel local long make mutable namespace new
    operator pipe private protected public quad register restrict short signed sizeof static struct switch template this
    throw true try typedef typename uchar uint ulong uniform union unsigned ushort using virtual void volatile"""
RESERVED = frozenset([*_NUMBA.split(), *_C.split(), *keyword.kwlist, *FUNCTIONS, *LOOPS])
"""Words of the printed texts and of their languages."""


class KernelError(Exception):
    """A text that is not in the kernel language; the sentence quotes the line."""


@dataclasses.dataclass(frozen=True, eq=False)
class Kernel:
    """A kernel whose types are not known yet.

    dots: it returns (left, right), of which (left, right), (right, right) and (left, left) are summed. sums: numbers
    that are summed; without dots it returns as many. halo: an expression for a distance; `inside` is true in rows
    farther than that from the first and the last. names: the globals of its module, for helpers and constants.
    function: as the compiler for the cores reads it.
    """

    tree: ast.FunctionDef
    names: Mapping[str, Any]
    dots: bool = False
    sums: int = 0
    halo: ast.expr | None = None
    function: Any = None

    @property
    def name(self) -> str:
        return self.tree.name

    @property
    def row(self) -> str:
        """The name of the row."""
        return self.tree.args.args[0].arg

    @property
    def parameters(self) -> list[str]:
        """The names after the row."""
        return [argument.arg for argument in self.tree.args.args[1:]]

    def arguments(self, numbered: Mapping[str, int]) -> list[str]:
        """The arguments, where some parameters stand for several."""
        parts = (
            [f"{name}_{k}" for k in range(numbered[name])] if name in numbered else [name] for name in self.parameters
        )
        return [name for part in parts for name in part]

    @property
    def constants(self) -> dict[str, Any]:
        """The constants that have a default."""
        pairs = zip(self.tree.args.kwonlyargs, self.tree.args.kw_defaults, strict=True)
        return {argument.arg: ast.literal_eval(default) for argument, default in pairs if default is not None}


@dataclasses.dataclass(frozen=True, eq=False)
class Helper:
    """An expression with parameters, substituted where a kernel calls it; each argument is evaluated once."""

    tree: ast.FunctionDef
    names: Mapping[str, Any]

    @property
    def parameters(self) -> list[str]:
        return [argument.arg for argument in self.tree.args.args]

    @property
    def expression(self) -> ast.expr:
        last = self.tree.body[-1]
        assert isinstance(last, ast.Return) and last.value is not None
        return last.value


def kernel(*, dots: bool = False, sums: int = 0, halo: str = "") -> Callable[[Callable[..., Any]], Kernel]:
    """Decorator of kernels, for the arguments see `Kernel`; halo: the text of the expression. Raises KernelError."""

    def decorate(function: Callable[..., Any]) -> Kernel:
        tree = _tree(function)
        _Checker(tree).kernel(2 if dots else sums)
        distance = ast.parse(halo, mode="eval").body if halo else None
        if distance is not None:
            _Checker(tree).expression(distance)
        return Kernel(tree, function.__globals__, dots, 3 if dots else sums, distance, function)

    return decorate


helpers: dict[Any, Helper] = {}
"""By their functions."""


def helper(function: Callable[..., Any]) -> Any:
    """Decorator of helpers, functions of positional parameters that return one expression. Raises KernelError."""
    tree = _tree(function)
    _Checker(tree).helper()
    helpers[function] = Helper(tree, function.__globals__)
    return function


def refuse(name: str, node: ast.AST, why: str) -> NoReturn:
    """Raise KernelError for a node of the kernel of that name."""
    raise KernelError(f"kernel {name}: {why}: {ast.unparse(node).splitlines()[0]}")


def check_name(of: str, name: str, node: ast.AST) -> None:
    """Raise KernelError for a name that a printed text may use itself, or that one of its languages reserves."""
    if not _NAME.fullmatch(name):
        refuse(of, node, f"the name {name} is not in lower case, or ends with an underscore")
    if name in RESERVED:
        refuse(of, node, f"the name {name} is a word of the printed texts")


def _tree(function: Callable[..., Any]) -> ast.FunctionDef:
    tree = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    assert isinstance(tree, ast.FunctionDef)
    if tree.body and isinstance(tree.body[0], ast.Expr) and isinstance(tree.body[0].value, ast.Constant):
        # The docstring.
        del tree.body[0]
    return tree


class _Checker:
    """Walks through a function and raises KernelError at the first thing that is not in the language."""

    def __init__(self, tree: ast.FunctionDef) -> None:
        self._tree = tree
        self._in_loop = False
        self._fixed = {argument.arg for argument in (*tree.args.args, *tree.args.kwonlyargs)}

    def kernel(self, returned: int) -> None:
        """A kernel that returns so many values."""
        self._head(least=1)
        body = list(self._tree.body)
        last = body[-1] if body else None
        if isinstance(last, ast.Return):
            del body[-1]
        values = _returned(last)
        if len(values) != returned:
            self._refuse(last or self._tree, f"{returned} values are summed, and the last line returns {len(values)}")
        for value in values:
            self.expression(value)
        self._block(body)

    def helper(self) -> None:
        self._head(least=0)
        body = self._tree.body
        if self._tree.args.kwonlyargs or len(body) != 1 or not isinstance(body[0], ast.Return) or not body[0].value:
            self._refuse(self._tree, "a helper has positional parameters and returns one expression")
        self.expression(body[0].value)

    def expression(self, node: ast.expr) -> None:
        match node:
            case ast.Constant(value=bool() | int() | float()):
                return
            case ast.Name():
                return
            case ast.Subscript(value=ast.Name(), slice=place):
                return self.expression(place)
            case ast.Subscript(value=ast.Subscript(value=ast.Name(), slice=which), slice=place):
                return self._all(which, place)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in SIGNS:
                return self._all(left, right)
            case ast.UnaryOp(op=ast.USub() | ast.Not(), operand=operand):
                return self.expression(operand)
            case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in TESTS:
                return self._all(left, right)
            case ast.BoolOp(values=values):
                return self._all(*values)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return self._all(test, body, orelse)
            case ast.Call(func=ast.Name(id=name), args=args, keywords=[]):
                if len(args) != FUNCTIONS.get(name, len(args)):
                    self._refuse(node, f"{name} takes {FUNCTIONS[name]}, not {len(args)} arguments")
                return self._all(*args)
        self._refuse(node, "this is no expression of kernels")

    def _head(self, least: int) -> None:
        args = self._tree.args
        if args.vararg or args.kwarg or args.posonlyargs or args.defaults or len(args.args) < least:
            self._refuse(self._tree, "parameters are the row, arrays and numbers, then keyword-only constants")
        # Constants are folded, so their names are not printed.
        for argument in args.args:
            check_name(self._tree.name, argument.arg, self._tree)

    def _all(self, *nodes: ast.expr) -> None:
        for node in nodes:
            self.expression(node)

    def _block(self, lines: list[ast.stmt], *, in_loop: bool | None = None) -> None:
        outer = self._in_loop
        self._in_loop = outer if in_loop is None else in_loop
        for line in lines:
            self._statement(line)
        self._in_loop = outer

    def _statement(self, line: ast.stmt) -> None:
        match line:
            case ast.Assign(targets=[target], value=value):
                self._target(target, line)
                self.expression(value)
            case ast.AugAssign(target=target, op=op, value=value) if type(op) in SIGNS:
                self._target(target, line)
                self.expression(value)
            case ast.For(target=ast.Name(id=name), iter=ast.Call(func=ast.Name(id=over), args=args), body=body):
                least, most = LOOPS.get(over, (1, 0))
                if not least <= len(args) <= most or line.orelse:
                    self._refuse(line, "a loop runs over range or unrolled, without else")
                self._variable(name, line)
                self._all(*args)
                # Of an unrolled loop nothing is left that could be broken off.
                self._block(body, in_loop=over == "range")
            case ast.While(test=test, body=body, orelse=[]):
                self.expression(test)
                self._block(body, in_loop=True)
            case ast.If(test=test, body=body, orelse=orelse):
                self.expression(test)
                self._block([*body, *orelse])
            case ast.Break() | ast.Continue():
                if not self._in_loop:
                    self._refuse(line, "the innermost loop here is none, or is unrolled")
            case ast.Return():
                self._refuse(line, "only the last line may return")
            case _:
                self._refuse(line, "this is no statement of kernels")

    def _target(self, target: ast.expr, line: ast.stmt) -> None:
        match target:
            case ast.Name(id=name):
                self._variable(name, line)
            case ast.Subscript():
                self.expression(target)
            case _:
                self._refuse(line, "a variable or an element is assigned, one in a line")

    def _variable(self, name: str, line: ast.stmt) -> None:
        if name in self._fixed:
            self._refuse(line, f"{name} is a parameter, which cannot be assigned")
        check_name(self._tree.name, name, line)

    def _refuse(self, node: ast.AST, why: str) -> NoReturn:
        refuse(self._tree.name, node, why)


def _returned(last: ast.stmt | None) -> list[ast.expr]:
    if not isinstance(last, ast.Return) or last.value is None:
        return []
    return last.value.elts if isinstance(last.value, ast.Tuple) else [last.value]
