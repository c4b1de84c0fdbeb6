"""Formulas of x, y and z such as `1 + 0.5*sin(2*pi*x)*y**2`, checked when they are read and never run as Python.

The text is parsed with Python's grammar, and every node of the tree must be one of those listed here: numbers, names,
+ - * / **, comparisons, and/or/not, `this if condition else that`, and calls of the functions in the table.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
import re
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np

from workbench.errors import InputError
from workbench.problems.formula_words import ARITHMETIC, COMPARISONS, CONSTANTS, FUNCTIONS, choose
from workbench.registry import unknown_name

LONGEST = 500
"""Characters."""
DEEPEST = 100
"""Operations within one another; a sum of k terms counts k."""
LARGEST_EXPONENT = 64
"""For exponents that are numbers: larger ones leave the range of float64 for almost any base."""
FOREIGN = re.compile(r"[^A-Za-z0-9 .+\-*/(),<>=!]")
FACTOR = re.compile(r"(?<![A-Za-z0-9.])(?>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)(?=[A-Za-z])")
"""A number with a letter right behind it."""
UNFINISHED = "+-*/(,<>=!"
HINTS = {"^": "write ** for a power", "[": "use round brackets", "{": "use round brackets", "&": "write and"}

Values = dict[str, np.ndarray]
Evaluate = Callable[[Values], Any]


@dataclasses.dataclass(frozen=True)
class Formula:
    """A formula that has been checked. Call it with an array for every name: formula(x=x, y=y).

    The arrays are broadcast against one another, and the values have their common shape, float64. Both sides of a
    condition are computed; what is not defined is NaN or infinite, without a warning. A comparison counts 1 or 0.
    Cost: a pass over memory for each operation, on the shape of its operands alone, so axes of shape (1, n) and (n, 1)
    are cheap where a part depends on one of them.
    """

    text: str
    names: tuple[str, ...]
    _evaluate: Evaluate = dataclasses.field(repr=False, compare=False)

    @classmethod
    def parse(cls, text: str, names: Sequence[str] = ("x", "y")) -> Formula:
        """Read a formula of these names. Raises InputError with the column, counted from 1, for whatever is no formula.

        Bounds: 500 characters, 100 operations within one another, 64 for an exponent that is a number.
        """
        return _parse(text, tuple(names))

    def __call__(self, **axes: Any) -> np.ndarray:
        values = {name: np.asarray(axes[name], dtype=np.float64) for name in self.names}
        shape = np.broadcast_shapes(*(value.shape for value in values.values()))
        with np.errstate(all="ignore"):
            found = self._evaluate(values)
        return np.array(np.broadcast_to(found, shape), dtype=np.float64)


@functools.lru_cache(maxsize=256)
def _parse(text: str, names: tuple[str, ...]) -> Formula:
    if not text.strip():
        raise InputError("the formula is empty; write a number, or a formula such as 1 + x*y")
    if len(text) > LONGEST:
        raise InputError(f"the formula has {len(text)} characters, at most {LONGEST} are allowed; make it shorter")
    if foreign := FOREIGN.search(text):
        character = foreign.group()
        _refuse(foreign.start(), f"{character!r} has no meaning in a formula", HINTS.get(character, "take it out"))
    if factor := FACTOR.search(text):
        _refuse(factor.end(), "a number is followed by a letter", "write * between factors, as 2*x")
    if text.rstrip()[-1] in UNFINISHED:
        _refuse(len(text.rstrip()), "the formula ends too early", f"something must follow {text.rstrip()[-1]}")
    # Python reads no expression that begins with blanks, and columns count from the user's first character.
    start = len(text) - len(text.lstrip())
    try:
        tree = ast.parse(text[start:], mode="eval")
    except SyntaxError as error:
        said = "" if error.msg.startswith("invalid syntax") else f" ({error.msg})"
        column = start + max((error.offset or 1) - 1, 0)
        _refuse(column, f"the formula cannot be read here{said}", "check brackets and operators")
    except (ValueError, MemoryError, RecursionError):
        raise InputError("the formula is nested too deeply; use fewer brackets") from None
    return Formula(text, names, _Reader(names, start).build(tree.body, 0))


def _refuse(column: int, what: str, way_out: str = "") -> NoReturn:
    raise InputError(f"column {column + 1}: {what}{'; ' if way_out else ''}{way_out}")


class _Reader:
    """Turns a tree into nested functions, node by node; whatever is not listed is refused."""

    def __init__(self, names: tuple[str, ...], start: int) -> None:
        self._names = names
        self._start = start

    def build(self, node: ast.expr, depth: int) -> Evaluate:
        if depth > DEEPEST:
            self._refuse(node, f"more than {DEEPEST} operations lie within one another", "make it shorter")
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
        self._refuse(node, "this is no part of a formula", "use numbers, names, + - * / **, comparisons and functions")

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

        def evaluate(at: Values) -> Any:
            values = [part(at) for part in built]
            pairs = zip(compare, values[:-1], values[1:], strict=True)
            return _as_number(functools.reduce(np.logical_and, [act(one, other) for act, one, other in pairs]))

        return evaluate

    def _call(self, node: ast.Call, depth: int) -> Evaluate:
        if not isinstance(node.func, ast.Name):
            self._refuse(node, "this cannot be called", "write * between factors")
        name = node.func.id
        if name in self._names or name in CONSTANTS:
            self._refuse(node, f"{name} is no function", f"write {name}*(...) for a product")
        if name not in FUNCTIONS:
            self._refuse(node, unknown_name("function", name, FUNCTIONS))
        if node.keywords:
            self._refuse(node, f"{name} takes no arguments by name", "leave out the =")
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
        if not size <= LARGEST_EXPONENT:
            self._refuse(node, f"this exponent is {size:.3g}", f"at most {LARGEST_EXPONENT} is allowed")

    def _refuse(self, node: ast.expr, what: str, way_out: str = "") -> NoReturn:
        _refuse(self._start + node.col_offset, what, way_out)


def _joining(op: ast.boolop) -> Callable[[Any, Any], Any]:
    return np.logical_and if isinstance(op, ast.And) else np.logical_or


def _as_number(truth: Any) -> Any:
    return np.asarray(truth, dtype=np.float64)
