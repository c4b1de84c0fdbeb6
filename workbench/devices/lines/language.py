"""The language of paper lines: text in, a list of checked lines out. Nothing here knows a device.

    s = A(p)                                   an operator applied to a vector, alone on its line
    delta = (p, s)                             the dot product sum(conj(p)*s)
    alpha = gamma/delta if delta > 0 else 0    a scalar line
    x = x + alpha*p                            a vector line, element by element

Names are vectors or scalars; which is which follows from how they are used and from what the caller gives.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
import re
import sys
import textwrap
import threading
import warnings

from workbench.errors import InputError

FUNCTIONS = ("sqrt", "abs", "conj")
_filters = threading.Lock()
_OPERATIONS = (ast.Add, ast.Sub, ast.Mult, ast.Div)
_COMPARISONS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)


class LinesError(InputError):
    """A line that cannot be understood or does not fit what it is given; the sentence quotes the line."""


@dataclasses.dataclass(frozen=True)
class Formula:
    """target = expression, for scalars and for vectors alike."""

    target: str
    expression: ast.expr
    text: str

    @functools.cached_property
    def names(self) -> tuple[str, ...]:
        """The names that the expression reads, each once, in order."""
        found = [node.id for node in ast.walk(self.expression) if isinstance(node, ast.Name)]
        return tuple(dict.fromkeys(name for name in found if name not in FUNCTIONS))


@dataclasses.dataclass(frozen=True)
class Dot:
    """target = (left, right), the sum of conj(left)*right."""

    target: str
    left: str
    right: str
    text: str


@dataclasses.dataclass(frozen=True)
class Application:
    """target = operator(argument)."""

    target: str
    operator: str
    argument: str
    text: str


Line = Formula | Dot | Application


@functools.lru_cache(maxsize=1024)
def operands(line: Line) -> tuple[str, ...]:
    """The names that a line reads."""
    match line:
        case Application():
            return (line.argument,)
        case Formula():
            return line.names
        case Dot():
            return (line.left, line.right)


@functools.lru_cache(maxsize=256)
def parse(text: str) -> tuple[Line, ...]:
    """The lines of a program, in order. Raises LinesError for anything outside the language."""
    source = textwrap.dedent(text)
    strange = next((character for character in source if "\ud800" <= character <= "\udfff"), None)
    if strange:
        row = next(row for row in source.splitlines() if strange in row).strip()
        raise LinesError(f"line {row!r} holds {strange!r}, an unpaired surrogate; delete it")
    try:
        # Python warns of what it may refuse one day, such as 0if, on a console that the writer may not see.
        with _filters, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            module = ast.parse(source)
    except SyntaxError as error:
        quoted = (error.text or "").strip()
        raise LinesError(f"line {quoted!r} is no formula: {error.msg}") from None
    rows = [row.encode() for row in re.split("\r\n|\r|\n", source)]
    lines = tuple(_line(statement, _segment(rows, statement)) for statement in module.body)
    if not lines:
        raise LinesError("the text holds no line; write at least one formula such as x = x + alpha*p")
    return lines


def _segment(rows: list[bytes], statement: ast.stmt) -> str:
    """The text of a statement: ast.get_source_segment cuts the whole source anew for each. Columns count bytes."""
    assert statement.end_lineno is not None
    own = rows[statement.lineno - 1 : statement.end_lineno]
    own[-1] = own[-1][: statement.end_col_offset]
    own[0] = own[0][statement.col_offset :]
    return b"\n".join(own).decode()


def _line(statement: ast.stmt, text: str) -> Line:
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        raise LinesError(f"line {text!r} must have the form name = expression")
    target, value = statement.targets[0], statement.value
    if not isinstance(target, ast.Name):
        raise LinesError(f"line {text!r} must assign to one name")
    if target.id in FUNCTIONS:
        raise LinesError(f"line {text!r} assigns to {target.id}, which is a function of the language")
    if isinstance(value, ast.Tuple):
        return _dot(target.id, value, text)
    if isinstance(value, ast.Call) and not _is_function(value):
        return _application(target.id, value, text)
    _check_expression(value, text)
    return Formula(target.id, value, text)


def _dot(target: str, value: ast.Tuple, text: str) -> Dot:
    match value.elts:
        case [ast.Name(id=left), ast.Name(id=right)]:
            return Dot(target, left, right, text)
    raise LinesError(f"line {text!r}: a dot product is written (a, b) with two vector names")


def _application(target: str, call: ast.Call, text: str) -> Application:
    if not isinstance(call.func, ast.Name) or call.keywords or len(call.args) != 1:
        raise LinesError(f"line {text!r}: an operator is written A(p) with one vector name")
    argument = call.args[0]
    if not isinstance(argument, ast.Name):
        raise LinesError(f"line {text!r}: an operator takes one vector name; put the expression on a line of its own")
    if argument.id == target:
        raise LinesError(f"line {text!r} overwrites its own argument; give the product a name of its own")
    return Application(target, call.func.id, argument.id, text)


def _is_function(node: ast.Call) -> bool:
    return isinstance(node.func, ast.Name) and node.func.id in FUNCTIONS


def _check_expression(node: ast.expr, text: str) -> None:
    match node:
        case ast.Name(id=name):
            if name in FUNCTIONS:
                raise LinesError(f"line {text!r}: {name} is a function of the language; it is written {name}(a)")
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            if abs(number) > sys.float_info.max:
                raise LinesError(f"line {text!r} holds a number above {sys.float_info.max:.3g}, the largest there is")
        case ast.BinOp(op=operation) if isinstance(operation, _OPERATIONS):
            _check_expression(node.left, text)
            _check_expression(node.right, text)
        case ast.UnaryOp(op=ast.USub() | ast.UAdd()):
            _check_expression(node.operand, text)
        case ast.Call(args=[argument], keywords=[]) if _is_function(node):
            _check_expression(argument, text)
        case ast.Call() if _is_function(node):
            raise LinesError(f"line {text!r}: {ast.unparse(node.func)} takes one argument")
        case ast.Call():
            raise LinesError(f"line {text!r}: an operator must stand alone on its line, as in s = A(p)")
        case ast.IfExp(test=ast.Compare(ops=[comparison], comparators=[right])) if isinstance(comparison, _COMPARISONS):
            for part in (node.test.left, right, node.body, node.orelse):  # pyright: ignore[reportAttributeAccessIssue]
                _check_expression(part, text)
        case _:
            raise LinesError(
                f"line {text!r}: {ast.unparse(node)!r} is outside the language; it has + - * /, "
                f"{', '.join(FUNCTIONS)}, a dot product (a, b), an operator A(p) and a if b > c else d"
            )
