"""The parser of paper lines: text in, typed lines out.

    s = A(p)                                   an operator applied to a vector, alone on its line
    delta = (p, s)                             the dot product p^H s; of block vectors the Gram matrix
    delta = dots(P, S)                         the dot products of corresponding columns, a 1 x s matrix
    alpha = gamma/delta if delta > 0 else 0    a scalar line
    x = x + alpha*p                            a vector update, element by element
    alpha = solve(delta, gamma)                delta^-1 gamma, small matrices, alone on its line
    X = X + P@alpha                            a block vector times a small matrix from the right

The syntax is Python's; `ast` reads it, and no node of `ast` leaves this module.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
import re
import sys
import textwrap
import warnings

from workbench.lines.types import (
    FUNCTIONS,
    Application,
    Binary,
    Call,
    Comparison,
    Dot,
    Expression,
    Formula,
    Line,
    LinesError,
    Name,
    Negation,
    Number,
    Place,
    Selection,
    Solve,
)
from workbench.process.forks import WorkLock

__all__ = ["parse", "parse_expression"]

SOLVE, DOTS = "solve", "dots"
EXAMPLES = {SOLVE: "alpha = solve(delta, gamma)", DOTS: "delta = dots(P, S)"}
MOST_LEVELS = 200
"""Levels of nested operations in a formula, such as a sum of 200 terms: Python compiles no more, and some drivers of
accelerators fewer."""
_SPLIT = "put parts of it on lines of their own"
_filters = WorkLock()
_SIGNS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.MatMult: "@"}
_COMPARISONS = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}


@functools.lru_cache(maxsize=256)
def parse(text: str) -> tuple[Line, ...]:
    """The lines of a program, in order. Raises LinesError, with its place, for anything outside the language.

    Examples:
        >>> from workbench.lines.parse import parse
        >>> [type(line).__name__ for line in (*parse("s = A(p)"), *parse("delta = (p, s)"))]
        ['Application', 'Dot']
    """
    source = textwrap.dedent(text)
    margins = _margins(text, source)
    _check_characters(source, margins)
    module = _module(source, margins)
    rows = [row.encode() for row in re.split("\r\n|\r|\n", source)]
    lines = tuple(_Statement(_segment(rows, statement), rows, margins).line(statement) for statement in module.body)
    if not lines:
        raise LinesError("the text holds no line; write at least one formula such as x = x + alpha*p")
    return lines


@functools.lru_cache(maxsize=256)
def parse_expression(text: str) -> Expression:
    """A formula by itself, such as that of an operator that acts element by element. Raises LinesError.

    Examples:
        >>> from workbench.lines.parse import parse_expression
        >>> str(parse_expression("0.5*v"))
        '(0.5 * v)'
    """
    (line,) = parse(f"formula = {text}")
    if not isinstance(line, Formula):
        raise LinesError(f"{text!r} is not a formula; an operator that acts element by element has one, such as d*v")
    return line.expression


def _margins(text: str, source: str) -> list[int]:
    """Characters of indentation that each row has lost."""
    pairs = zip(text.split("\n"), source.split("\n"), strict=True)
    return [len(before) - len(after) for before, after in pairs]


def _margin(margins: list[int], row: int) -> int:
    return margins[row - 1] if 0 < row <= len(margins) else 0


def _check_characters(source: str, margins: list[int]) -> None:
    for number, row in enumerate(source.splitlines(), 1):
        column, strange = next(
            ((k, character) for k, character in enumerate(row, 1) if "\ud800" <= character <= "\udfff"), (0, "")
        )
        if strange:
            place = Place(number, column + _margin(margins, number))
            raise LinesError(f"line {row.strip()!r} holds {strange!r}, an unpaired surrogate; delete it", place)


def _module(source: str, margins: list[int]) -> ast.Module:
    try:
        # Python warns of what it may refuse one day, such as 0if, on a console that the writer may not see.
        with _filters, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(source)
    except (RecursionError, MemoryError):
        raise LinesError(f"a formula has more than {MOST_LEVELS} levels of operations; {_SPLIT}") from None
    except SyntaxError as error:
        quoted, row = (error.text or "").strip(), error.lineno or 1
        place = Place(row, (error.offset or 1) + _margin(margins, row))
        raise LinesError(f"line {quoted!r}: {_complaint(error)}", place) from None


def _complaint(error: SyntaxError) -> str:
    """Python's message; where that is "invalid syntax", the text at which it stopped."""
    if not error.msg.startswith("invalid syntax"):
        return error.msg
    first = (error.offset or 1) - 1
    at = (error.text or "")[first : max(first + 1, (error.end_offset or 0) - 1)].strip()
    return f"unexpected {at!r}" if at else "unexpected end of the line"


def _segment(rows: list[bytes], statement: ast.stmt) -> str:
    """The text of a statement: ast.get_source_segment cuts the whole source again for each. Columns count bytes."""
    assert statement.end_lineno is not None
    own = rows[statement.lineno - 1 : statement.end_lineno]
    own[-1] = own[-1][: statement.end_col_offset]
    own[0] = own[0][statement.col_offset :]
    return b"\n".join(own).decode()


@dataclasses.dataclass(frozen=True)
class _Statement:
    """One statement. rows: the rows of the source; margins: the indentation that each has lost."""

    text: str
    rows: list[bytes]
    margins: list[int]

    def place(self, node: ast.stmt | ast.expr) -> Place:
        before = self.rows[node.lineno - 1][: node.col_offset].decode()
        return Place(node.lineno, len(before) + 1 + _margin(self.margins, node.lineno))

    def wrong(self, node: ast.stmt | ast.expr, complaint: str) -> LinesError:
        return LinesError(f"line {self.text!r}{complaint}", self.place(node))

    def check_levels(self, value: ast.expr) -> None:
        """Raise LinesError for a formula too deep for functions that descend into it, such as those of this class."""
        level: list[ast.AST] = [value]
        for _ in range(MOST_LEVELS):
            level = [part for node in level for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr)]
        if level:
            start = textwrap.shorten(self.text, 60)
            raise LinesError(
                f"line {start!r} has more than {MOST_LEVELS} levels of operations; {_SPLIT}", self.place(value)
            )

    def line(self, statement: ast.stmt) -> Line:
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            raise self.wrong(statement, " must have the form name = expression")
        target, value, place = statement.targets[0], statement.value, self.place(statement)
        if not isinstance(target, ast.Name):
            raise self.wrong(target, " must assign to one name")
        if target.id in FUNCTIONS:
            raise self.wrong(target, f" assigns to {target.id}, which is a function of the language")
        self.check_levels(value)
        match value:
            case ast.Tuple(elts=[ast.Name(id=left), ast.Name(id=right)]):
                return Dot(target.id, left, right, self.text, place)
            case ast.Tuple():
                raise self.wrong(value, ": a dot product is written (a, b) with two vector names")
            case ast.Call(func=ast.Name(id=name)) if name == SOLVE:
                return self.solve(target.id, value, place)
            case ast.Call(func=ast.Name(id=name)) if name == DOTS:
                return self.dots(target.id, value, place)
            case ast.Call() if not _is_function(value):
                return self.application(target.id, value, place)
        return Formula(target.id, self.expression(value), self.text, place)

    def solve(self, target: str, call: ast.Call, place: Place) -> Solve:
        match call:
            case ast.Call(args=[ast.Name(id=matrix), ast.Name(id=right)], keywords=[]):
                return Solve(target, matrix, right, self.text, place)
        raise self.wrong(call, ": a small system is solved by solve(a, b) with two names, which gives a^-1 b")

    def dots(self, target: str, call: ast.Call, place: Place) -> Dot:
        match call:
            case ast.Call(args=[ast.Name(id=left), ast.Name(id=right)], keywords=[]):
                return Dot(target, left, right, self.text, place, columnwise=True)
        raise self.wrong(call, ": the dot products of columns are written dots(a, b) with two block vectors")

    def application(self, target: str, call: ast.Call, place: Place) -> Application:
        if not isinstance(call.func, ast.Name) or call.keywords or len(call.args) != 1:
            raise self.wrong(call, ": an operator is written A(p) with one vector name")
        argument = call.args[0]
        if not isinstance(argument, ast.Name):
            raise self.wrong(argument, ": an operator takes one vector name; put the expression on a line of its own")
        if argument.id == target:
            raise self.wrong(argument, " overwrites its own argument; give the product a name of its own")
        return Application(target, call.func.id, argument.id, self.text, place)

    def expression(self, node: ast.expr) -> Expression:
        place = self.place(node)
        match node:
            case ast.Name(id=name):
                if name in FUNCTIONS:
                    raise self.wrong(node, f": {name} is a function of the language; it is written {name}(a)")
                return Name(name, place)
            case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
                return self.number(node, number)
            case ast.BinOp(op=operation) if type(operation) in _SIGNS:
                sign = _SIGNS[type(operation)]
                return Binary(sign, self.expression(node.left), self.expression(node.right), place)
            case ast.UnaryOp(op=ast.USub()):
                return Negation(self.expression(node.operand), place)
            case ast.UnaryOp(op=ast.UAdd()):
                return self.expression(node.operand)
            case ast.Call():
                return self.call(node, place)
            case ast.IfExp(test=ast.Compare(left=left, ops=[sign], comparators=[right])) if type(sign) in _COMPARISONS:
                test = Comparison(_COMPARISONS[type(sign)], self.expression(left), self.expression(right))
                return Selection(test, self.expression(node.body), self.expression(node.orelse), place)
            case ast.Tuple(elts=[ast.Name(), ast.Name()]):
                raise self.wrong(node, ": a dot product must stand alone on its line, as in c = (p, q)")
        raise self.wrong(
            node,
            f": {ast.unparse(node)!r} is outside the language; it has + - * / @, {', '.join(FUNCTIONS)}, "
            "a dot product (a, b), an operator A(p), solve(a, b) and a if b > c else d",
        )

    def number(self, node: ast.expr, number: float) -> Number:
        if abs(number) > sys.float_info.max:
            raise self.wrong(node, f" holds a number above {sys.float_info.max:.3g}, the largest there is")
        return Number(float(number), self.place(node))

    def call(self, node: ast.Call, place: Place) -> Call:
        match node:
            case ast.Call(func=ast.Name(id=name), args=[argument], keywords=[]) if _is_function(node):
                return Call(name, self.expression(argument), place)
            case ast.Call() if _is_function(node):
                raise self.wrong(node, f": {ast.unparse(node.func)} takes one argument")
            case ast.Call(func=ast.Name(id=name)) if name in EXAMPLES:
                raise self.wrong(node, f": {name} must stand alone on its line, as in {EXAMPLES[name]}")
        raise self.wrong(node, ": an operator must stand alone on its line, as in s = A(p)")


def _is_function(node: ast.Call) -> bool:
    return isinstance(node.func, ast.Name) and node.func.id in FUNCTIONS
