"""Safe evaluation of formulas in x, y and z such as `1 + 0.5*sin(2*pi*x)*y**2`, without running them as Python.

The text is parsed with Python's grammar. Only these nodes are allowed: numbers, names, + - * / **, comparisons,
and/or/not, `this if condition else that`, and calls of the functions in `FUNCTIONS`.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
import math
import operator
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from workbench.errors import InputError
from workbench.registry import unknown_name

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


CONSTANTS = {"pi": math.pi, "e": math.e}
ARITHMETIC: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: np.divide,
    ast.Pow: np.power,
}
COMPARISONS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}


def _smallest(*values: np.ndarray | float) -> np.ndarray | float:
    return functools.reduce(np.minimum, values)


def _largest(*values: np.ndarray | float) -> np.ndarray | float:
    return functools.reduce(np.maximum, values)


def choose(condition: np.ndarray | float, yes: np.ndarray | float, no: np.ndarray | float) -> np.ndarray:
    """`yes` where the condition is not zero, else `no`, elementwise."""
    return np.where(condition != 0, yes, no)


FUNCTIONS: dict[str, tuple[Callable[..., np.ndarray | float], int, int]] = {
    **{name: (getattr(np, name), 1, 1) for name in ("sin", "cos", "tan", "exp", "log", "sqrt", "abs", "tanh", "floor")},
    "min": (_smallest, 2, 16),
    "max": (_largest, 2, 16),
    "where": (choose, 3, 3),
    "hypot": (np.hypot, 2, 2),
}
"""Functions by name, with their minimum and maximum numbers of arguments; log is the natural logarithm."""


MAX_LENGTH = 500
"""Characters."""
MAX_DEPTH = 100
"""Nested operations; a sum of k terms counts as k."""
MAX_EXPONENT = 64
"""Bound for constant exponents; larger ones overflow float64 for almost any base."""
FOREIGN = re.compile(r"[^A-Za-z0-9 .+\-*/(),<>=!]")
FACTOR = re.compile(r"(?<![A-Za-z0-9.])(?>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)(?=[A-Za-z])")
"""A number directly followed by a letter."""
UNFINISHED = "+-*/(,<>=!"
HINTS = {"^": "write ** for a power", "[": "use round brackets", "{": "use round brackets", "&": "write and"}

Values = dict[str, np.ndarray]
Evaluate = Callable[[Values], Any]


@dataclasses.dataclass(frozen=True)
class Formula:
    """A checked formula. Call it with an array for each name: formula(x=x, y=y).

    The arrays are broadcast against each other; the result is float64 and has their common shape. Both branches of a
    condition are evaluated; undefined values are NaN or infinite, without warnings. A comparison is 1 or 0.

    Cost: one pass over memory per operation, on the shape of its operands only; with axes of shape (1, n) and (n, 1),
    subexpressions in one variable are cheap.
    """

    text: str
    names: tuple[str, ...]
    _evaluate: Evaluate = dataclasses.field(repr=False, compare=False)

    @classmethod
    def parse(cls, text: str, names: Sequence[str] = ("x", "y")) -> Formula:
        """Parse a formula in these names. Raises InputError with the column, counted from 1, of a mistake.

        Limits: 500 characters, 100 nested operations, 64 for constant exponents.
        """
        return _parse(text, tuple(names))

    def __call__(self, **axes: ArrayLike) -> np.ndarray:
        values = {name: np.asarray(axes[name], dtype=np.float64) for name in self.names}
        shape = np.broadcast_shapes(*(value.shape for value in values.values()))
        with np.errstate(all="ignore"):
            found = self._evaluate(values)
        return np.array(np.broadcast_to(found, shape), dtype=np.float64)


@functools.lru_cache(maxsize=256)
def _parse(text: str, names: tuple[str, ...]) -> Formula:
    if not text.strip():
        raise InputError("the formula is empty; write a number, or a formula such as 1 + x*y")
    if len(text) > MAX_LENGTH:
        raise InputError(f"the formula has {len(text)} characters, at most {MAX_LENGTH} are allowed; make it shorter")
    if foreign := FOREIGN.search(text):
        character = foreign.group()
        _refuse(foreign.start(), f"{character!r} has no meaning in a formula", HINTS.get(character, "remove it"))
    if factor := FACTOR.search(text):
        _refuse(factor.end(), "a number is followed by a letter", "write * between factors, as 2*x")
    if text.rstrip()[-1] in UNFINISHED:
        _refuse(len(text.rstrip()), "the formula ends too early", f"something must follow {text.rstrip()[-1]}")
    # Python's parser refuses leading blanks; columns are counted from the first character of the user's text.
    start = len(text) - len(text.lstrip())
    try:
        tree = ast.parse(text[start:], mode="eval")
    except SyntaxError as error:
        detail = "" if error.msg.startswith("invalid syntax") else f" ({error.msg})"
        column = start + max((error.offset or 1) - 1, 0)
        _refuse(column, f"the formula cannot be read here{detail}", "check brackets and operators")
    except (ValueError, MemoryError, RecursionError):
        raise InputError("the formula is nested too deeply; use fewer brackets") from None
    return Formula(text, names, _Compiler(names, start).build(tree.body, 0))


def _refuse(column: int, what: str, hint: str = "") -> NoReturn:
    raise InputError(f"column {column + 1}: {what}{'; ' if hint else ''}{hint}")


class _Compiler:
    """Compiles a syntax tree to nested functions; raises InputError for nodes that are not allowed."""

    def __init__(self, names: tuple[str, ...], start: int) -> None:
        self._names = names
        self._start = start

    def build(self, node: ast.expr, depth: int) -> Evaluate:
        if depth > MAX_DEPTH:
            self._refuse(node, f"more than {MAX_DEPTH} operations are nested", "make it shorter")
        match node:
            case ast.Constant(value=value):
                return self._number(node, value)
            case ast.Name(id=name):
                return self._name(node, name)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in ARITHMETIC:
                act, one, other = ARITHMETIC[type(op)], self.build(left, depth + 1), self.build(right, depth + 1)
                if isinstance(op, ast.Pow):
                    self._check_exponent(right, other)
                return lambda at: act(one(at), other(at))
            case ast.UnaryOp(op=ast.USub() | ast.UAdd() | ast.Not() as op, operand=operand):
                of = self.build(operand, depth + 1)
                if isinstance(op, ast.Not):
                    return lambda at: _as_number(of(at) == 0)
                return (lambda at: -of(at)) if isinstance(op, ast.USub) else of
            case ast.BoolOp(op=op, values=operands):
                join, parts = _joining(op), [self.build(operand, depth + 1) for operand in operands]
                return lambda at: _as_number(functools.reduce(join, [part(at) != 0 for part in parts]))
            case ast.Compare(left=left, ops=ops, comparators=others) if all(type(op) in COMPARISONS for op in ops):
                return self._comparison([left, *others], [COMPARISONS[type(op)] for op in ops], depth)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                condition, yes, no = (self.build(part, depth + 1) for part in (test, body, orelse))
                return lambda at: choose(condition(at), yes(at), no(at))
            case ast.Call():
                return self._call(node, depth)
        self._refuse(node, "this is not allowed", "use numbers, names, + - * / **, comparisons and functions")

    def _number(self, node: ast.expr, value: object) -> Evaluate:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            self._refuse(node, "this is not a real number", "write digits, as 1 or 0.5 or 1e-3")
        try:
            number = np.float64(value)
        except OverflowError:
            number = np.float64(np.inf)
        if not np.isfinite(number):
            self._refuse(node, "this number is too large for float64", "at most 1.7e308 is possible")
        return lambda at: number

    def _name(self, node: ast.expr, name: str) -> Evaluate:
        if name in self._names:
            return lambda at: at[name]
        if name in FUNCTIONS:
            self._refuse(node, f"{name} is a function", f"write {name}(...)")
        if name not in CONSTANTS:
            self._refuse(node, unknown_name("name", name, [*self._names, *CONSTANTS, *FUNCTIONS]))
        number = np.float64(CONSTANTS[name])
        return lambda at: number

    def _comparison(self, parts: list[ast.expr], compare: list[Callable[[Any, Any], Any]], depth: int) -> Evaluate:
        built = [self.build(part, depth + 1) for part in parts]

        def evaluate(at: Values) -> np.ndarray:
            values = [part(at) for part in built]
            pairs = zip(compare, values[:-1], values[1:], strict=True)
            return _as_number(functools.reduce(np.logical_and, [act(one, other) for act, one, other in pairs]))

        return evaluate

    def _call(self, node: ast.Call, depth: int) -> Evaluate:
        if not isinstance(node.func, ast.Name):
            self._refuse(node, "this cannot be called", "write * between factors")
        name = node.func.id
        if name in self._names or name in CONSTANTS:
            self._refuse(node, f"{name} is not a function", f"write {name}*(...) for a product")
        if name not in FUNCTIONS:
            self._refuse(node, unknown_name("function", name, FUNCTIONS))
        if node.keywords:
            self._refuse(node, f"{name} takes no keyword arguments", "remove the =")
        act, fewest, most = FUNCTIONS[name]
        if not fewest <= len(node.args) <= most:
            count = fewest if fewest == most else f"{fewest} to {most}"
            self._refuse(node, f"{name} takes {count} argument{'s' * (most > 1)}, got {len(node.args)}")
        parts = [self.build(part, depth + 1) for part in node.args]
        return lambda at: act(*(part(at) for part in parts))

    def _check_exponent(self, node: ast.expr, exponent: Evaluate) -> None:
        if any(isinstance(part, ast.Name) and part.id in self._names for part in ast.walk(node)):
            return
        with np.errstate(all="ignore"):
            size = abs(exponent({}))
        if not size <= MAX_EXPONENT:
            self._refuse(node, f"this exponent is {size:.3g}", f"at most {MAX_EXPONENT} is allowed")

    def _refuse(self, node: ast.expr, what: str, hint: str = "") -> NoReturn:
        _refuse(self._start + node.col_offset, what, hint)


def _joining(op: ast.boolop) -> Callable[[Any, Any], Any]:
    return np.logical_and if isinstance(op, ast.And) else np.logical_or


def _as_number(truth: ArrayLike) -> np.ndarray:
    return np.asarray(truth, dtype=np.float64)
