"""The agreement of an item with its paper: points that are compared, and those to which the model does not apply."""

from __future__ import annotations

import dataclasses
import statistics
from collections.abc import Sequence

from workbench.extensions.papers.comparison import NOT_APPLIED, READ_OFF, REFERENCE
from workbench.extensions.papers.items import Point
from workbench.extensions.papers.standing import NOTABLE
from workbench.words.numbers import number


@dataclasses.dataclass(frozen=True)
class Agreement:
    """points: of the paper with a counterpart here. known: those that are computed. off: those of them to which the
    model does not apply."""

    points: Sequence[Point]
    known: Sequence[Point]
    off: Sequence[Point]

    @property
    def near(self) -> list[Point]:
        """The points that are compared in percent."""
        return [point for point in self.known if point.value.applies]

    @property
    def mean(self) -> float | None:
        """The mean of their absolute deviations in percent; None where there is none."""
        return statistics.mean(abs(point.value.percent or 0.0) for point in self.near) if self.near else None

    @property
    def source(self) -> str:
        """The source of the paper's numbers, in a word or two."""
        return {READ_OFF: "the figure", REFERENCE: "the reference"}.get(self.points[0].value.source, "print")

    @property
    def badge(self) -> tuple[str, str]:
        """The agreement in a few words, and its tone."""
        if not self.points:
            return "no numbers in the paper", ""
        if not self.known:
            return "printed sizes not computed", ""
        if self.mean is None or 2 * len(self.off) > len(self.known):
            return NOT_APPLIED, "off"
        rest = f", {len(self.off)} of {len(self.known)} points off" if self.off else ""
        tone = "far" if self.off or self.mean > NOTABLE else "near"
        return f"{number(self.mean)}% from {self.source}{rest}", tone


def agreement(points: Sequence[Point]) -> Agreement:
    """The agreement of some points, as far as ours are known."""
    compared = [point for point in points if not point.value.alone]
    known = [point for point in compared if point.value.percent is not None]
    return Agreement(compared, known, [point for point in known if not point.value.applies])
