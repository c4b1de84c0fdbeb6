"""Two methods that should make the same iterates: at which iteration and line they part."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

from workbench.analysis.stepping import Moment, difference
from workbench.solvers.user_text import SCALARS

APART = 1e-6
"""Relative difference from which two values count as different; rounding stays far below it in a few iterations."""
COMPARED = ("x", "r", "u", *SCALARS)
"""The names that mean the same in all methods."""


@dataclasses.dataclass(frozen=True)
class Parting:
    """iteration: the first whose x differs, or that the second method does not reach. line: of the second method, the
    first that gives another value than the first method, by then; "" where it breaks down. apart: that relative
    difference."""

    iteration: int
    line: str
    apart: float


def parting(first: Sequence[Moment], second: Sequence[Moment]) -> Parting | None:
    """Where the second method parts from the first, of both of which `stepping.walk` has made the moments; None where x
    stays the same in all moments of the first. Cost: 2 N operations a moment and name."""
    for iteration, (one, other) in enumerate(zip(first, second, strict=False)):
        # NaN is apart too.
        if iteration and not difference(one, other, "x") <= APART:
            return _at(first, second, iteration)
    return Parting(len(second), "", math.nan) if len(second) < len(first) else None


def _at(first: Sequence[Moment], second: Sequence[Moment], last: int) -> Parting:
    """The first line that gives another value, in an iteration up to the last."""
    for one, other in zip(first[1 : last + 1], second[1 : last + 1], strict=False):
        for value in other.values:
            apart = difference(one, other, value.name) if value.name in COMPARED else 0.0
            if apart > APART:
                return Parting(last, value.text, apart)
    return Parting(last, "", difference(first[last], second[last], "x"))
