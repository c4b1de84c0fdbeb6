"""Paper lines entry by entry: formulas of block vectors and small matrices as scalar formulas of their entries.

A row of an N x s block vector is s entries, a small matrix rows x columns entries; a vector and a scalar are one each.
Kernels compute with entries only, so that printers know no shapes.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable, Mapping

from workbench.lines.shapes import shape_of
from workbench.lines.types import (
    Binary,
    Call,
    Comparison,
    Dot,
    Entry,
    Expression,
    Formula,
    Kind,
    Name,
    Negation,
    Number,
    Selection,
    Shape,
    Shapes,
)

Element = Name | Entry
"""A number in a kernel: a scalar, an element of a vector, or an entry."""


@dataclasses.dataclass(frozen=True)
class Assignment:
    """target = expression, all of entries."""

    target: Element
    expression: Expression


@dataclasses.dataclass(frozen=True)
class Sum:
    """target = the sum over all rows of conj(left)*right."""

    target: Element
    left: Element
    right: Element


def elements(name: str, shapes: Shapes) -> tuple[Element, ...]:
    """The entries of a name, row by row."""
    shape = shapes[name]
    if shape.kind in (Kind.SCALAR, Kind.VECTOR):
        return (Name(name),)
    return tuple(Entry(name, row, column) for row in range(shape.rows) for column in range(shape.columns))


def offset_of(element: Element, shapes: Shapes) -> int:
    """Words from the first entry of a small matrix to this one; matrices lie among the scalars row by row."""
    return 0 if isinstance(element, Name) else element.row * shapes[element.name].columns + element.column


def slot_of(element: Element, slots: Mapping[str, int], shapes: Shapes) -> int:
    """The place of a scalar, or of an entry of a small matrix, among the scalars."""
    return slots[element.name] + offset_of(element, shapes)


def of_line(line: Formula | Dot, shapes: Shapes) -> tuple[Assignment | Sum, ...]:
    """A formula as assignments to the entries of its target, a dot product as sums."""
    if isinstance(line, Dot):
        return tuple(
            Sum(target, left, right)
            for target, (left, right) in zip(elements(line.target, shapes), _pairs(line, shapes), strict=True)
        )
    targets = elements(line.target, shapes)
    made = [Assignment(target, _entry(line.expression, target, shapes)) for target in targets]
    if len(targets) == 1 or line.target not in line.reads:
        return tuple(made)
    # Each entry may need all old ones, so that new ones wait in temporaries until all are computed.
    waiting = [_waiting(target, shapes[line.target]) for target in targets]
    first = [dataclasses.replace(one, target=place) for one, place in zip(made, waiting, strict=True)]
    return (*first, *(Assignment(target, place) for target, place in zip(targets, waiting, strict=True)))


def of_lines(lines: Iterable[Formula | Dot], shapes: Shapes) -> list[Assignment | Sum]:
    """All lines entry by entry."""
    return [element for line in lines for element in of_line(line, shapes)]


def _pairs(line: Dot, shapes: Shapes) -> list[tuple[Element, Element]]:
    """The columns of each inner product, in the order of the entries of its target."""
    if line.columnwise:
        return list(zip(elements(line.left, shapes), elements(line.right, shapes), strict=True))
    return [(left, right) for left in elements(line.left, shapes) for right in elements(line.right, shapes)]


def _waiting(target: Element, shape: Shape) -> Entry:
    """The temporary of an entry: the entry of that name one height of the shape further down."""
    assert isinstance(target, Entry)
    return Entry(target.name, target.row + shape.rows, target.column)


def _entry(node: Expression, target: Element, shapes: Shapes) -> Expression:
    """The entry of an expression that is assigned to that of its target."""
    row, column = (target.row, target.column) if isinstance(target, Entry) else (0, 0)
    return entry(node, row, column, shapes)


def entry(node: Expression, row: int, column: int, shapes: Shapes) -> Expression:
    """The entry of an expression in a row (of a small matrix) and a column."""

    def here(part: Expression) -> Expression:
        return entry(part, row, column, shapes)

    match node:
        case Name():
            kind = shapes[node.name].kind
            if kind is Kind.BLOCK:
                return Entry(node.name, 0, column)
            return Entry(node.name, row, column) if kind is Kind.SMALL else node
        case Number() | Entry():
            return node
        case Binary(sign="@"):
            return _product(node, row, column, shapes)
        case Binary():
            return Binary(node.sign, here(node.left), here(node.right))
        case Negation():
            return Negation(here(node.operand))
        case Call():
            return Call(node.function, here(node.argument))
        case Selection():
            test = Comparison(node.test.sign, here(node.test.left), here(node.test.right))
            return Selection(test, here(node.body), here(node.otherwise))


def _product(node: Binary, row: int, column: int, shapes: Shapes) -> Expression:
    """An entry of left @ right: the sum over k of left[row, k]*right[k, column], or left*right for a scalar."""
    right = shape_of(node.right, shapes)
    assert right is not None
    if right.kind is Kind.SCALAR:
        return Binary("*", entry(node.left, row, column, shapes), entry(node.right, row, column, shapes))
    terms = [
        Binary("*", entry(node.left, row, k, shapes), entry(node.right, k, column, shapes)) for k in range(right.rows)
    ]
    return functools.reduce(lambda total, term: Binary("+", total, term), terms)
