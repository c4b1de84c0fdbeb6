"""Data dependence of a method's lines: the reductions of an iteration, and the operators that can overlap with them.

A dot product is known only after a reduction over all processors, so the number of reductions that must follow one
another in an iteration decides how a method scales. It follows from the lines: a few iterations are unrolled, and every
value records all values that it depends on.
"""

from __future__ import annotations

import dataclasses

from workbench.lines.parse import parse
from workbench.lines.shapes import infer_vectors
from workbench.lines.types import Application, Dot, Line

ITERATIONS = 6
"""Enough for the chains to settle; the iteration that is counted lies in the middle."""
MIDDLE = 3


@dataclasses.dataclass(frozen=True)
class Waiting:
    """reductions: how many must follow one another in an iteration. hidden: the operators independent of each."""

    reductions: int
    hidden: tuple[tuple[str, ...], ...]


@dataclasses.dataclass(frozen=True)
class _Value:
    """One line of one iteration: `depends_on` are all values before it that it is computed from, itself included."""

    line: Line
    iteration: int
    depth: int
    """Dot products on the longest path to this value."""
    depends_on: frozenset[int]


def waiting(text: str) -> Waiting:
    """The reductions of one iteration of a program and what may overlap with each."""
    values = _unrolled(parse(text))
    vectors = infer_vectors([value.line for value in values], ())
    last = [value for value in values if value.iteration == ITERATIONS - 1]
    steering = frozenset[int]().union(*(value.depends_on for value in last if value.line.target in vectors))
    before, after = (_depth(values, iteration, vectors) for iteration in (MIDDLE - 1, MIDDLE))
    # Dot products as deep as each other share a reduction, though their lines may belong to two iterations.
    groups = [
        {place for place in steering if isinstance(values[place].line, Dot) and values[place].depth == depth}
        for depth in range(before + 1, after + 1)
    ]
    return Waiting(after - before, tuple(_independent(values, group) for group in groups))


def _unrolled(lines: tuple[Line, ...]) -> list[_Value]:
    values: list[_Value] = []
    newest: dict[str, int] = {}
    for iteration in range(ITERATIONS):
        for line in lines:
            read = [values[newest[name]] for name in line.reads if name in newest]
            depth = max((value.depth for value in read), default=0) + isinstance(line, Dot)
            depends_on = frozenset({len(values)}).union(*(value.depends_on for value in read))
            newest[line.target] = len(values)
            values.append(_Value(line, iteration, depth, depends_on))
    return values


def _depth(values: list[_Value], iteration: int, vectors: frozenset[str]) -> int:
    return max(value.depth for value in values if value.iteration == iteration and value.line.target in vectors)


def _independent(values: list[_Value], group: set[int]) -> tuple[str, ...]:
    """The operators that neither make what the dot products of a group read, nor need what they give."""
    needed = frozenset[int]().union(*(values[place].depends_on for place in group))
    return tuple(
        value.line.operator
        for place, value in enumerate(values)
        if isinstance(value.line, Application) and place not in needed and not value.depends_on & group
    )
