"""Stencil kernels of rows in C: one work-item computes one cell, in place of a loop over the cells of a row.

A kernel is a Python function of (taken, rows, ends, strides, ...) whose loops over the cells of a row have no
dependences among cells, as loops that a compiler takes several cells at once have. Each becomes a test whether the
work-item's cell is among them. What is stored at the row's place, `sums[row]` or `sums[k, row]`, is added up over the
cells, or its maximum is taken. Functions that it calls are written as well; all real numbers are of double precision.
"""

from __future__ import annotations

import ast
import inspect
import math
import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

REAL, WHOLE, TRUTH = "double", "I64", "bool"
SUM, MAXIMUM = "sum", "maximum"
FUNCTIONS = {"sqrt": "sqrt", "cos": "cos", "sin": "sin", "copysign": "copysign"}
OPERATORS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*"}
COMPARISONS = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
HEAD = """typedef unsigned char uchar_t;
#ifdef __CUDACC__
/* So that strides, and which terms a direction has, are constants; on processors it would only take long. */
#define UNROLL _Pragma("unroll")
#else
#define UNROLL
#endif
"""
GIVEN = ("rows", "ends", "strides")
"""The arguments after `taken` that every kernel has."""


class Kind(NamedTuple):
    """Of a value. scalar: its type in C, of an array that of its elements. dimensions: 0 for a number. reduced: how
    what cells store at the row's place is combined, of an array with a place for each row."""

    scalar: str
    dimensions: int = 0
    reduced: str = ""


class RowText(NamedTuple):
    """A kernel's text: functions before it, parameters, statements."""

    before: str
    declaration: str
    statements: str


def row_text(
    kernel: Callable[..., Any],
    kinds: Sequence[Kind],
    strides: Sequence[int],
    size: int,
    row: int,
    rows: int,
    *,
    aliased: bool = False,
) -> RowText:
    """The text of a kernel `cells` for arguments of these kinds, those behind `strides`.

    strides, size, row, rows: of the grid's directions, of an array of its cells, cells in a row, and how many rows,
    which become constants. aliased: two arguments are the same array.
    The parameters are rows, near, the arguments, and how many cells there are; near: which cells are computed, bytes.
    """
    made = _Functions(tuple(strides), size, row, rows)
    tree = _parsed(kernel)
    names = [argument.arg for argument in tree.args.args][len(GIVEN) + 1 :]
    arguments = dict(zip(names, kinds, strict=True))
    body = _Body(made, kernel.__globals__, {**arguments, "row": Kind(WHOLE), "column": Kind(WHOLE)}, is_kernel=True)
    loop = next(node for node in ast.walk(tree) if isinstance(node, ast.For) and _is_name(node.target, "row"))
    before = [node for node in tree.body if not isinstance(node, ast.For)]
    lines = body.block([*before, *loop.body], 1)
    reduced = {name: kind for name, kind in arguments.items() if kind.reduced}
    counts = {name: body.counts.get(name, 1) for name in reduced}
    head = [f"{REAL} all_{name}[{count}] = {{0}};" for name, count in counts.items()]
    tail = [line for name, kind in reduced.items() for line in _combined(name, kind.reduced, counts[name])]
    room = [f"SHARED({REAL}, room, GROUP);"] if reduced else []
    text = [
        *room,
        made.constants,
        *head,
        "FOR_EACH(item, n) {",
        f"    const I64 row = item / {row}, column = item % {row};",
        "    if (!near[rows[row] + column]) continue;",
        *(f"    {line}" for line in body.declarations()),
        *lines,
        "}",
        *tail,
    ]
    parameters = ["GLOBAL const I64* RESTRICT rows", "GLOBAL const uchar_t* RESTRICT near"]
    apart = [_parameter(name, kind) for name, kind in arguments.items()]
    # Else what is read must be read again after every store.
    parameters += apart if aliased else [parameter.replace("* ", "* RESTRICT ") for parameter in apart]
    declaration = ", ".join([*parameters, "const I64 n"])
    functions = HEAD + "".join(made.texts.values())
    return RowText(functions, declaration, "\n" + textwrap.indent("\n".join(text), "    ") + "\n}\n")


def _combined(name: str, how: str, count: int) -> list[str]:
    """Lines that store the sum or maximum over a group's items: name[k*groups + group]. NaN is kept."""
    own, other = "room[LOCAL_ID]", "room[LOCAL_ID + reach]"
    more = f"{own} + {other}" if how == SUM else f"{other} > {own} || {other} != {other} ? {other} : {own}"
    return [
        f"for (int k = 0; k < {count}; k++) {{",
        f"    {own} = all_{name}[k];",
        "    for (int reach = GROUP / 2; reach > 0; reach /= 2) {",
        "        BARRIER;",
        f"        if (LOCAL_ID < reach) {own} = {more};",
        "    }",
        f"    if (LOCAL_ID == 0) {_c(name)}[k*GROUPS + GROUP_ID] = room[0];",
        "    BARRIER;",
        "}",
    ]


def _parameter(name: str, kind: Kind) -> str:
    return f"GLOBAL {kind.scalar}* {_c(name)}" if kind.dimensions else f"const {kind.scalar} {_c(name)}"


def _parsed(function: Callable[..., Any]) -> ast.FunctionDef:
    tree = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    assert isinstance(tree, ast.FunctionDef)
    return tree


def _c(name: str) -> str:
    """A name in C, of which `new` is a word."""
    return name if name == "row" else f"{name}_"


def _is_name(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


class _Functions:
    """The functions that a kernel calls, by name and kinds, and what all of them know of the grid."""

    def __init__(self, strides: tuple[int, ...], size: int, row: int, rows: int) -> None:
        self.directions, self.size, self.row, self.rows = len(strides), size, row, rows
        self.constants = f"const I64 strides[{len(strides)}] = {{{', '.join(map(str, strides))}}};"
        self.texts: dict[tuple[str, tuple[Kind, ...]], str] = {}
        self._results: dict[tuple[str, tuple[Kind, ...]], str] = {}

    def call(self, function: Callable[..., Any], kinds: tuple[Kind, ...]) -> tuple[str, str]:
        """The name in C and the type of the result."""
        key = function.__name__, kinds
        name = function.__name__ + "_of_" + "".join(kind.scalar[0] + "a" * kind.dimensions for kind in kinds)
        if key not in self.texts:
            tree = _parsed(function)
            names = [argument.arg for argument in tree.args.args if argument.arg != "strides"]
            body = _Body(self, function.__globals__, dict(zip(names, kinds, strict=True)))
            lines = body.block(tree.body, 1)
            parameters = ", ".join(
                _parameter(name, kind).removeprefix("const ") for name, kind in zip(names, kinds, strict=True)
            )
            constants = [f"    {self.constants}"] if any(a.arg == "strides" for a in tree.args.args) else []
            text = [f"DEVICE {body.result} {name}({parameters}) {{", *constants]
            text += [*(f"    {line}" for line in body.declarations()), *lines, "}"]
            self._results[key], self.texts[key] = body.result, "\n".join(text) + "\n"
        return name, self._results[key]


class _Body:
    """Statements of one function. names: of its arguments, and of locals once they are assigned."""

    def __init__(
        self, made: _Functions, known: Mapping[str, Any], names: dict[str, Kind], *, is_kernel: bool = False
    ) -> None:
        self._made, self._known, self._names, self._is_kernel = made, known, names, is_kernel
        self._arguments, self.result, self._temporaries = set(names), WHOLE, 0
        self.counts: dict[str, int] = {}

    def declarations(self) -> list[str]:
        """Of the locals."""
        local = {name: kind for name, kind in self._names.items() if name not in self._arguments}
        return [f"{'GLOBAL ' if k.dimensions else ''}{k.scalar}{'*' * k.dimensions} {_c(n)};" for n, k in local.items()]

    def block(self, nodes: Sequence[ast.stmt], depth: int) -> list[str]:
        return ["    " * depth + line for node in nodes for line in self._statement(node)]

    def _statement(self, node: ast.stmt) -> list[str]:
        match node:
            case ast.Expr(ast.Constant()):
                return []
            case ast.Expr(ast.Call(ast.Name("set_at"), [array, place, value])):
                return [f"{self._text(array)}[{self._text(place)}] = {self._text(value)};"]
            case ast.Assign([ast.Tuple(targets)], ast.Tuple(values)):
                return self._together(targets, values)
            case ast.Assign([ast.Subscript(ast.Name(name), place)], value):
                return self._combine(name, place, value)
            case ast.Assign([ast.Name(name)], value):
                return [self._assigned(name, value)]
            case ast.AugAssign(ast.Name(name), operator, value):
                return [f"{_c(name)} {OPERATORS[type(operator)]}= {self._text(value)};"]
            case ast.If(test, body, otherwise):
                more = ["} else {", *self.block(otherwise, 1)] if otherwise else []
                return [f"if ({self._text(test)}) {{", *self.block(body, 1), *more, "}"]
            case ast.Return(value) if value is not None:
                text, kind = self._expression(value)
                self.result = REAL if REAL in (kind.scalar, self.result) else kind.scalar
                return [f"return {text};"]
            case ast.For(ast.Name(name), ast.Call(ast.Name("range"), bounds), body):
                return self._loop(name, bounds, body)
        raise TypeError(f"a kernel of rows has no statement such as {ast.unparse(node)}")

    def _loop(self, name: str, bounds: list[ast.expr], body: list[ast.stmt]) -> list[str]:
        self._arguments.add(name)
        self._names[name] = Kind(WHOLE)
        place = _c(name)
        first = self._text(bounds[0]) if len(bounds) > 1 else "0"
        last = self._text(bounds[-1])
        if not self._is_kernel or ast.unparse(bounds[-1]) == "strides.size":
            # So that strides, and which terms a direction has, are constants.
            unrolled = ["UNROLL"] if ast.unparse(bounds[-1]) == "strides.size" else []
            return [
                *unrolled,
                f"for (I64 {place} = {first}; {place} < {last}; {place}++) {{",
                *self.block(body, 1),
                "}",
            ]
        return [f"{{ const I64 {place} = {first} + column; if ({place} < {last}) {{", *self.block(body, 1), "} }"]

    def _together(self, targets: list[ast.expr], values: list[ast.expr]) -> list[str]:
        """Several at once: values may read what is assigned."""
        names = [target.id for target in targets if isinstance(target, ast.Name)]
        read = {node.id for value in values for node in ast.walk(value) if isinstance(node, ast.Name)}
        if not read & set(names):
            return [self._assigned(name, value) for name, value in zip(names, values, strict=True)]
        self._temporaries += 1
        held = [f"{name}_{self._temporaries}" for name in names]
        lines = [self._assigned(name, value) for name, value in zip(held, values, strict=True)]
        return lines + [self._assigned(n, ast.Name(h)) for n, h in zip(names, held, strict=True)]

    def _assigned(self, name: str, value: ast.expr) -> str:
        text, kind = self._expression(value)
        before = self._names.get(name, kind)
        self._names[name] = Kind(REAL) if REAL in (kind.scalar, before.scalar) and not kind.dimensions else kind
        return f"{_c(name)} = {text};"

    def _combine(self, name: str, place: ast.expr, value: ast.expr) -> list[str]:
        at = self._text(place.elts[0]) if isinstance(place, ast.Tuple) else "0"
        if isinstance(place, ast.Tuple):
            last = int(at) if at.isdigit() else self._made.directions - 1
            self.counts[name] = max(self.counts.get(name, 1), last + 1)
        text, target = self._text(value), f"all_{name}[{at}]"
        if self._names[name].reduced == SUM:
            return [f"{target} += {text};"]
        return [f"{{ const {REAL} v = {text}; if (v > {target} || v != v) {target} = v; }}"]

    def _text(self, node: ast.expr) -> str:
        return self._expression(node)[0]

    def _expression(self, node: ast.expr) -> tuple[str, Kind]:
        match node:
            case ast.Constant(bool(value)):
                return str(int(value)), Kind(WHOLE)
            case ast.Constant(int(value)):
                return str(value), Kind(WHOLE)
            case ast.Constant(float(value)):
                return repr(value), Kind(REAL)
            case ast.Name(name):
                return _c(name), self._names[name]
            case ast.Attribute(ast.Name("strides"), "size"):
                return str(self._made.directions), Kind(WHOLE)
            case ast.Attribute(ast.Name("math"), "pi"):
                return repr(math.pi), Kind(REAL)
            case ast.Subscript(ast.Name(name), place):
                return self._element(name, place)
            case ast.UnaryOp(ast.USub(), value):
                text, kind = self._expression(value)
                return f"(-{text})", kind
            case ast.UnaryOp(ast.Not(), value):
                return f"(!{self._text(value)})", Kind(WHOLE)
            case ast.BinOp(left, operator, right):
                return self._arithmetic(left, operator, right)
            case ast.BoolOp(operator, values):
                sign = " && " if isinstance(operator, ast.And) else " || "
                return f"({sign.join(map(self._text, values))})", Kind(WHOLE)
            case ast.Compare(left, operators, rights):
                sides = [self._text(side) for side in (left, *rights)]
                signs = [COMPARISONS[type(operator)] for operator in operators]
                parts = [f"({a} {sign} {b})" for a, sign, b in zip(sides[:-1], signs, sides[1:], strict=True)]
                return f"({' && '.join(parts)})", Kind(WHOLE)
            case ast.IfExp(test, one, two):
                (a, kind), (b, other) = self._expression(one), self._expression(two)
                return f"({self._text(test)} ? {a} : {b})", _joined(kind, other)
            case ast.Call(function, arguments):
                return self._call(function, arguments)
        raise TypeError(f"a kernel of rows has no expression such as {ast.unparse(node)}")

    def _element(self, name: str, place: ast.expr) -> tuple[str, Kind]:
        if name == "strides":
            return f"strides[{self._text(place)}]", Kind(WHOLE)
        if name in ("rows", "ends"):
            first = f"rows[{self._text(place)}]"
            return (first if name == "rows" else f"({first} + {self._made.row})"), Kind(WHOLE)
        kind = self._names[name]
        if isinstance(place, ast.Tuple):
            outer, inner = (self._text(one) for one in place.elts)
            return f"{_c(name)}[{outer}*{self._made.rows} + {inner}]", Kind(REAL if kind.scalar == REAL else WHOLE)
        if kind.dimensions == 2:
            return f"({_c(name)} + {self._text(place)}*(I64){self._made.size})", Kind(kind.scalar, 1)
        return f"{_c(name)}[{self._text(place)}]", Kind(REAL if kind.scalar == REAL else WHOLE)

    def _arithmetic(self, left: ast.expr, operator: ast.operator, right: ast.expr) -> tuple[str, Kind]:
        (a, kind), (b, other) = self._expression(left), self._expression(right)
        if isinstance(operator, ast.Pow) and b == "2":
            return f"({a} * {a})", kind
        if isinstance(operator, ast.Div):
            return f"((double){a} / {b})", Kind(REAL)
        return f"({a} {OPERATORS[type(operator)]} {b})", _joined(kind, other)

    def _call(self, function: ast.expr, arguments: list[ast.expr]) -> tuple[str, Kind]:
        if isinstance(function, ast.Attribute):
            return f"{FUNCTIONS[function.attr]}({', '.join(map(self._text, arguments))})", Kind(REAL)
        assert isinstance(function, ast.Name)
        given = [self._expression(one) for one in arguments if not _is_name(one, "strides")]
        texts, kinds = [text for text, _ in given], tuple(kind for _, kind in given)
        match function.id:
            case "at":
                return f"{texts[0]}[{texts[1]}]", Kind(REAL if kinds[0].scalar == REAL else WHOLE)
            case "abs":
                return f"fabs({texts[0]})", Kind(REAL)
            case "min" | "max" as name:
                kind = _joined(*kinds)
                if kind.scalar == REAL:
                    return f"f{name}((double){texts[0]}, (double){texts[1]})", kind
                sign = "<" if name == "min" else ">"
                return f"({texts[0]} {sign} {texts[1]} ? {texts[0]} : {texts[1]})", kind
        called = self._known[function.id]
        name, result = self._made.call(getattr(called, "py_func", called), kinds)
        return f"{name}({', '.join(texts)})", Kind(result)


def _joined(one: Kind, other: Kind) -> Kind:
    return Kind(REAL if REAL in (one.scalar, other.scalar) else WHOLE)
