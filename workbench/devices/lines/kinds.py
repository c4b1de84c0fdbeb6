"""Which names are vectors and which are scalars: inferred from use, checked line by line."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from workbench.devices.lines.language import Application, Dot, Formula, Line, LinesError
from workbench.registry import unknown_name


def infer_vectors(lines: Iterable[Line], given: Collection[str]) -> frozenset[str]:
    """The names that must be vectors: those given, those in dot products and operators, and what is made of them."""
    lines = tuple(lines)
    vectors = set(given)
    for line in lines:
        if isinstance(line, Dot):
            vectors |= {line.left, line.right}
        elif isinstance(line, Application):
            vectors |= {line.target, line.argument}
    grown = True
    while grown:
        made = {line.target for line in lines if isinstance(line, Formula) and vectors.intersection(line.names)}
        grown = not made <= vectors
        vectors |= made
    return frozenset(vectors)


def check(lines: Iterable[Line], vectors: Collection[str], known: Collection[str], operators: Collection[str]) -> None:
    """Raise LinesError when a line reads a name that nobody set, or mixes up vectors and scalars.

    `known` are the names that hold a value before the first line.
    """
    values = set(known)
    lines = tuple(lines)
    later = {line.target for line in lines}
    for line in lines:
        match line:
            case Dot():
                if line.target in vectors:
                    raise LinesError(f"line {line.text!r} assigns a dot product, a scalar, to the vector {line.target}")
                reads: tuple[str, ...] = (line.left, line.right)
            case Application():
                if line.operator not in operators:
                    raise LinesError(f"line {line.text!r}: {unknown_name('operator', line.operator, operators)}")
                reads = (line.argument,)
            case Formula():
                reads = line.names
        for name in reads:
            if name not in values and name in later:
                raise LinesError(f"line {line.text!r} reads {name} before any line has set it; set it in a line above")
            if name not in values:
                raise LinesError(f"line {line.text!r}: {unknown_name('name', name, sorted(values))}")
        values.add(line.target)


def check_scalars(lines: Iterable[Line], vectors: Collection[str], scalars: Collection[str]) -> None:
    """Raise LinesError when a name that the caller gave as a number is used as a vector."""
    for line in lines:
        if line.target in scalars and line.target in vectors:
            raise LinesError(
                f"line {line.text!r} assigns a vector to the scalar {line.target}; "
                f"a dot product is written {line.target} = (a, b)"
            )
        if isinstance(line, Dot | Application):
            operands = (line.left, line.right) if isinstance(line, Dot) else (line.argument,)
            for name in operands:
                if name in scalars:
                    raise LinesError(f"line {line.text!r} needs the vector {name}, but {name} was given as a number")
