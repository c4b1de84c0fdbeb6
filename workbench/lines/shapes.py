"""The shape of every name: inferred from use, checked line by line.

Vectors and block vectors are those that the caller gives, the operands of dot products and operators, and what is made
of them. Everything else is a scalar, or a small matrix where it is made of Gram matrices.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterable, Mapping, Sequence

from workbench.lines.types import (
    SCALAR,
    VECTOR,
    Application,
    Binary,
    Call,
    Dot,
    Entry,
    Expression,
    Formula,
    Kind,
    Line,
    LinesError,
    Name,
    Negation,
    Number,
    Place,
    Selection,
    Shape,
    Shapes,
    Solve,
    block,
    small,
    walk,
)
from workbench.registry import unknown_name


def infer(lines: Iterable[Line], given: Mapping[str, Shape] | Collection[str]) -> dict[str, Shape]:
    """The shape of every name that the lines set or read, and of those given: a mapping, or the names of vectors."""
    known = given if isinstance(given, Mapping) else dict.fromkeys(given, VECTOR)
    return dict(_inferred(tuple(lines), tuple(known.items())))


@functools.lru_cache(512)
def _inferred(lines: tuple[Line, ...], given: tuple[tuple[str, Shape], ...]) -> dict[str, Shape]:
    """The shapes of `infer`, cached: a setup has most lines of earlier ones."""
    known = dict(given)
    with_rows = _with_rows(lines, {name for name, shape in known.items() if shape.has_rows})
    fixed = frozenset(known)
    _spread(lines, known, with_rows, fixed)
    for name in sorted(with_rows - set(known)):
        known[name] = VECTOR
    _spread(lines, known, with_rows, fixed)
    names = dict.fromkeys(name for line in lines for name in (*line.reads, line.target))
    return {**dict.fromkeys(names, SCALAR), **known}


def infer_vectors(lines: Iterable[Line], given: Mapping[str, Shape] | Collection[str]) -> frozenset[str]:
    """The names of vectors and block vectors."""
    return frozenset(name for name, shape in infer(lines, given).items() if shape.has_rows)


def _with_rows(lines: Sequence[Line], given: set[str]) -> set[str]:
    """The names with a row per unknown."""
    with_rows = set(given)
    for line in lines:
        if isinstance(line, Dot):
            with_rows |= {line.left, line.right}
        elif isinstance(line, Application):
            with_rows |= {line.target, line.argument}
    grown = True
    while grown:
        made = {line.target for line in lines if isinstance(line, Formula) and with_rows.intersection(line.reads)}
        grown = not made <= with_rows
        with_rows |= made
    return with_rows


def _spread(lines: Sequence[Line], known: dict[str, Shape], with_rows: set[str], fixed: Collection[str]) -> None:
    """Carry shapes along the lines until nothing changes. `fixed` are the caller's."""
    grown = True
    while grown:
        before = dict(known)
        for line in lines:
            shape = _result(line, known)
            if isinstance(line, Application) and line.argument not in known and line.target in known:
                known[line.argument] = known[line.target]
            may = shape is not None and shape.has_rows == (line.target in with_rows) and line.target not in fixed
            if may and _wider(known.get(line.target), shape):
                known[line.target] = shape  # pyright: ignore[reportArgumentType]
        grown = known != before


def _wider(old: Shape | None, new: Shape | None) -> bool:
    """True if a shape says more than the one known so far: a block than a vector, a small matrix than a scalar."""
    if old is None or new is None:
        return new is not None
    return (old.kind, new.kind) in ((Kind.VECTOR, Kind.BLOCK), (Kind.SCALAR, Kind.SMALL))


def _result(line: Line, known: Shapes) -> Shape | None:
    """The shape of what a line assigns as far as it is known; None also where shapes do not fit."""
    try:
        match line:
            case Application():
                return known.get(line.argument)
            case Dot():
                left, right = known.get(line.left), known.get(line.right)
                return None if left is None or right is None else _product_of(line, left, right)
            case Solve():
                return known.get(line.right)
            case Formula():
                return shape_of(line.expression, known)
    except _MisfitError:
        return None


class _MisfitError(Exception):
    """Shapes that do not fit; carries the rest of the sentence and the place."""

    def __init__(self, sentence: str, place: Place | None) -> None:
        super().__init__(sentence)
        self.place = place


def gram(left: Shape, right: Shape) -> Shape:
    """The shape of left^H right."""
    if left.kind is Kind.VECTOR and right.kind is Kind.VECTOR:
        return SCALAR
    if not (left.has_rows and right.has_rows) or left.kind is not right.kind:
        raise _MisfitError(f"has the operands {left} and {right}; take two of one kind", None)
    return small(left.columns, right.columns)


def _product_of(dot: Dot, left: Shape, right: Shape) -> Shape:
    """The shape of a dot product."""
    shape = gram(left, right)
    if not dot.columnwise or shape == SCALAR:
        return shape
    if left != right:
        raise _MisfitError(f"has the operands {left} and {right}; take two of equal width", None)
    return small(1, left.columns)


def shape_of(node: Expression, known: Shapes) -> Shape | None:
    """The shape of an expression, None where it follows from none of the known names. Raises where shapes misfit."""
    match node:
        case Name():
            return known.get(node.name)
        case Number() | Entry():
            return SCALAR
        case Negation():
            return shape_of(node.operand, known)
        case Call():
            return shape_of(node.argument, known)
        case Selection():
            found = [shape_of(part, known) for part in (node.test.left, node.test.right, node.body, node.otherwise)]
            shape: Shape | None = None
            for other in found:
                shape = _together(shape, other, node.place)
            return shape
        case Binary():
            left, right = shape_of(node.left, known), shape_of(node.right, known)
            return _product(left, right, node.place) if node.sign == "@" else _together(left, right, node.place)


def _together(left: Shape | None, right: Shape | None, place: Place) -> Shape | None:
    """The shape of two operands element by element: scalars fit all, and of a block a vector scales the rows and a
    1 x s matrix the columns."""
    if left is None or right is None or left == right:
        return left or right
    for one, other in ((left, right), (right, left)):
        if one.kind is Kind.SCALAR or (one.kind is Kind.VECTOR and other.kind is Kind.BLOCK):
            return other
        if one == small(1, other.columns) and other.kind is Kind.BLOCK:
            return other
    raise _MisfitError(f"combines {left} with {right} element by element; take equal shapes", place)


def _product(left: Shape | None, right: Shape | None, place: Place) -> Shape | None:
    """The shape of left @ right."""
    if left is None or right is None:
        return None
    if left.kind in (Kind.VECTOR, Kind.SCALAR) and right.kind is Kind.SCALAR:
        return left
    if right.kind is Kind.SMALL and left.columns == right.rows and left.kind in (Kind.BLOCK, Kind.SMALL):
        return block(right.columns) if left.has_rows else small(left.rows, right.columns)
    raise _MisfitError(
        f"multiplies {left} by {right}; @ takes a block vector or a small matrix on its left, and a small matrix with "
        "as many rows as that has columns on its right",
        place,
    )


def check(
    programs: Sequence[Sequence[Line]], shapes: Shapes, known: Collection[str], operators: Collection[str]
) -> None:
    """Raise LinesError when a line reads a name that no line sets, or where shapes do not fit.

    `known` are the names that hold a value before the first line.
    """
    values = set(known)
    later = {line.target for lines in programs for line in lines}
    for number, lines in enumerate(programs):
        for line in lines:
            try:
                _check_line(line, shapes, values, later, operators)
            except LinesError as error:
                error.program = number
                raise
            values.add(line.target)


def _check_line(
    line: Line, shapes: Shapes, values: set[str], later: Collection[str], operators: Collection[str]
) -> None:
    if isinstance(line, Dot) and shapes[line.target].has_rows:
        raise LinesError(f"line {line.text!r} assigns a dot product, a scalar, to the vector {line.target}", line.place)
    if isinstance(line, Application) and line.operator not in operators:
        complaint = unknown_name("operator", line.operator, operators)
        raise LinesError(f"line {line.text!r}: {complaint}", line.place)
    for name in line.reads:
        if name not in values and name in later:
            raise LinesError(
                f"line {line.text!r} reads {name} before any line has set it; set it in a line above",
                _place_of(name, line),
            )
        if name not in values:
            applied = f"operator {name!r} is applied as {name}(v)"
            complaint = applied if name in operators else unknown_name("name", name, sorted(values))
            raise LinesError(f"line {line.text!r}: {complaint}", _place_of(name, line))
    _check_shapes(line, shapes)


def _place_of(name: str, line: Line) -> Place:
    """The place where a line reads a name, or where the line begins."""
    if isinstance(line, Formula):
        return _first(name, line.expression) or line.place
    return line.place


def _first(name: str, node: Expression) -> Place | None:
    places = [part.place for part in walk(node) if isinstance(part, Name) and part.name == name]
    return min(places, key=lambda place: (place.line, place.column), default=None)


def _check_shapes(line: Line, shapes: Shapes) -> None:
    """Raise LinesError where operands do not fit one another or the target."""
    try:
        shape = _checked_result(line, shapes)
    except _MisfitError as error:
        raise LinesError(f"line {line.text!r} {error}", error.place or line.place) from None
    target = shapes[line.target]
    if shape != target and not (shape.kind is Kind.SCALAR and isinstance(line, Formula)):
        raise LinesError(f"line {line.text!r} assigns {shape} to {line.target}, {target}; rename it", line.place)


def _checked_result(line: Line, shapes: Shapes) -> Shape:
    match line:
        case Application():
            return shapes[line.argument]
        case Dot():
            return _product_of(line, shapes[line.left], shapes[line.right])
        case Solve():
            matrix, right = shapes[line.matrix], shapes[line.right]
            square = matrix.kind is right.kind and not matrix.has_rows and matrix.rows == matrix.columns == right.rows
            if not square:
                raise _MisfitError(f"solves with {matrix} for {right}; take a square matrix of as many rows", None)
            return right
        case Formula():
            shape = shape_of(line.expression, shapes)
            assert shape is not None
            return shape


def check_scalars(programs: Sequence[Sequence[Line]], shapes: Shapes, scalars: Collection[str]) -> None:
    """Raise LinesError when a name that the caller gave as a number is used as a vector."""
    for number, line in ((k, line) for k, lines in enumerate(programs) for line in lines):
        sentence = ""
        if line.target in scalars and shapes[line.target].has_rows:
            sentence = f"assigns a vector to the scalar {line.target}; a dot product is written {line.target} = (a, b)"
        elif isinstance(line, Dot | Application):
            wrong = next((name for name in line.reads if name in scalars), "")
            sentence = f"needs the vector {wrong}, but {wrong} was given as a number" if wrong else ""
        if sentence:
            raise LinesError(f"line {line.text!r} {sentence}", line.place, number)
