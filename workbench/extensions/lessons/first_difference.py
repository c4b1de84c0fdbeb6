"""Two methods that should make the same iterates: the first iteration and line at which they differ."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

from workbench.solvers.user_defined import SCALARS
from workbench.stepping.line_by_line import Moment, difference

SAME = 1e-6
"""Relative difference up to which two values count as the same; rounding stays far below it in a few iterations."""
COMPARED = ("x", "r", "u", *SCALARS)
"""The names that mean the same in all methods."""


@dataclasses.dataclass(frozen=True)
class FirstDifference:
    """iteration: the first whose x differs, or that the second method does not reach. line: of the second method, the
    first that gives another value than the first method, by then; "" where none does. at: the iteration of that line.
    relative: that relative difference. reached: False where the second method breaks down before that iteration."""

    iteration: int
    line: str
    at: int
    relative: float
    reached: bool = True


def first_difference(first: Sequence[Moment], second: Sequence[Moment]) -> FirstDifference | None:
    """The first difference of the second method from the first; None where x is the same in all moments of the first.

    Both are the moments of `stepping.walk`. Cost: 2 N operations a moment and name.
    """
    for iteration, (one, other) in enumerate(zip(first, second, strict=False)):
        # NaN differs too.
        if iteration and not difference(one, other, "x") <= SAME:
            return _at(first, second, iteration)
    if len(second) < len(first):
        return dataclasses.replace(_at(first, second, len(second)), reached=False)
    return None


def _at(first: Sequence[Moment], second: Sequence[Moment], last: int) -> FirstDifference:
    """The first line that gives another value, in an iteration up to the last."""
    for at, (one, other) in enumerate(zip(first[1 : last + 1], second[1 : last + 1], strict=False), 1):
        for value in other.values:
            found = difference(one, other, value.name) if value.name in COMPARED else 0.0
            if found > SAME:
                return FirstDifference(last, value.text, at, found)
    return FirstDifference(
        last, "", last, difference(first[last], second[last], "x") if last < len(second) else math.nan
    )
