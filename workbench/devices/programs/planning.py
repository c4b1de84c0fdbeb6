"""Plans of programs, made of texts, the names that they meet and what operators offer, and kept: a setup plans the same
programs as earlier ones of its kind, and planning takes longer than the iterations of a small solve.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from workbench.lines import schedule
from workbench.lines import shapes as typing_rules
from workbench.lines.parse import parse
from workbench.lines.schedule import Inlined, Step
from workbench.lines.shapes import infer
from workbench.lines.types import (
    SCALAR,
    VECTOR,
    Application,
    Line,
    LinesError,
    Shape,
    Shapes,
    Solve,
    tall_names,
    work_of,
)


@dataclasses.dataclass(frozen=True)
class Formula(Inlined):
    """An element-wise operator without its vectors, of which it has the names."""

    formula: str
    factors: Mapping[str, object] = dataclasses.field(hash=False)

    @classmethod
    def of(cls, operator: Inlined) -> Formula:
        """That of an operator."""
        return cls(operator.formula, dict.fromkeys(operator.factors))


class Offer(NamedTuple):
    """The traits of an operator that a plan depends on: the formula of an element-wise one, which joins passes; the dot
    products that any other computes with its product, and those with which it leaves it split."""

    formula: Formula | None = None
    dots: tuple[str, ...] = ()
    split_dots: tuple[str, ...] = ()


class Plans(NamedTuple):
    """Programs as planned: the lines of each with element-wise operators as formulas, its steps, and the shapes of all
    names. words: the scalars, small matrices and work spaces that need words. repeatable: as in
    `schedule.repeatable`, for each."""

    lines: tuple[tuple[Line, ...], ...]
    steps: tuple[tuple[Step, ...], ...]
    shapes: Shapes
    words: Mapping[str, Shape]
    repeatable: tuple[bool, ...]


@functools.lru_cache(256)
def planned(
    texts: tuple[str, ...],
    known: tuple[tuple[str, Shape], ...],
    vectors: tuple[str, ...],
    slots: tuple[str, ...],
    offers: tuple[tuple[str, Offer], ...],
    *,
    fuse: bool,
) -> Plans:
    """Plan programs that share a workspace; the first runs before the others. Raises LinesError.

    known: shapes of the vectors and scalars that there are, whose names are `vectors` and `slots`. offers: of the
    operators, by name.
    """
    parsed = [parse(text) for text in texts]
    inlined, shapes = _checked(parsed, dict(known), vectors, slots, dict(offers))
    tall = tall_names(shapes)
    persistent = set(vectors).union(*(schedule.read_first(lines, tall) for lines in inlined))
    schedule.refuse_lost(parsed, tall, persistent)
    everything = [line for lines in parsed for line in lines]
    offered = {name: offer for name, offer in offers if not _is_for_blocks(name, everything, shapes)}
    dots = {name: offered[name].dots if name in offered else () for name, _ in offers}
    steps = tuple(_steps(lines, tall, persistent, dots, offered, fuse=fuse) for lines in inlined)
    words = _words(parsed, inlined, shapes, tall)
    planned_ones = zip(inlined, steps, strict=True)
    return Plans(tuple(inlined), steps, shapes, words, tuple(schedule.repeatable(*each, tall) for each in planned_ones))


def _checked(
    parsed: Sequence[Sequence[Line]],
    known: Mapping[str, Shape],
    vectors: Collection[str],
    slots: Collection[str],
    offers: Mapping[str, Offer],
) -> tuple[list[tuple[Line, ...]], Shapes]:
    """The lines with element-wise operators as formulas, and the shapes of all names. Raises LinesError."""
    free = {name: shape for name, shape in known.items() if shape != SCALAR}
    typing_rules.check_scalars(parsed, infer([line for lines in parsed for line in lines], free), slots)
    formulas = {name: offer.formula for name, offer in offers.items() if offer.formula}
    inlined = [schedule.inline(lines, formulas) for lines in parsed]
    shapes = infer([line for lines in inlined for line in lines], known)
    typing_rules.check(parsed, shapes, [*vectors, *slots], offers)
    return [schedule.divide_scalars(lines, shapes) for lines in inlined], shapes


def _is_for_blocks(operator: str, lines: Iterable[Line], shapes: Shapes) -> bool:
    """True if an operator is applied to a block vector, with which it computes no dot products."""
    applied = [line for line in lines if isinstance(line, Application) and line.operator == operator]
    return any(shapes[line.argument] != VECTOR for line in applied)


def _steps(
    lines: Collection[Line],
    vectors: Collection[str],
    persistent: Collection[str],
    dots: Mapping[str, Collection[str]],
    offers: Mapping[str, Offer],
    *,
    fuse: bool,
) -> tuple[Step, ...]:
    """The steps of a program; the result of an operator stays split in two where only passes read it."""
    split = {
        name: offer.split_dots
        for name, offer in offers.items()
        if offer.dots and offer.split_dots and fuse and schedule.splits(lines, name, vectors, persistent)
    }
    return schedule.plan(lines, vectors, persistent, {**dots, **split}, split=split, fuse=fuse)


def _words(
    parsed: Sequence[Sequence[Line]], inlined: Sequence[Sequence[Line]], shapes: Shapes, vectors: Collection[str]
) -> dict[str, Shape]:
    """The scalars and small matrices that the lines set, and the work space of each solution."""
    targets = [line.target for lines in parsed for line in lines if line.target not in vectors]
    solves = [line for lines in inlined for line in lines if isinstance(line, Solve)]
    return {name: shapes[name] for name in targets} | {work_of(line): shapes[line.matrix] for line in solves}


@functools.lru_cache(512)
def planned_pass(
    text: str, known: tuple[str, ...], numbers: tuple[str, ...], formulas: tuple[tuple[str, Formula], ...]
) -> tuple[schedule.Pass, Shapes]:
    """The one pass of some lines. Raises LinesError for lines that take several."""
    lines = schedule.inline(parse(text), dict(formulas))
    shapes = infer(lines, dict.fromkeys(known, VECTOR) | dict.fromkeys(numbers, SCALAR))
    steps = schedule.plan(lines, tall_names(shapes), known, {})
    if len(steps) != 1 or not isinstance(steps[0], schedule.Pass) or steps[0].scalars:
        raise LinesError(f"these lines take {len(steps)} steps, not one pass over the vectors:\n{text}")
    return steps[0], shapes
