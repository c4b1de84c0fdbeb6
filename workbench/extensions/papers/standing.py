"""The standing of a printed number next to ours: what counts as agreement, and what a reason rests on."""

from __future__ import annotations

import collections
import dataclasses
import enum
from collections.abc import Iterable, Mapping
from typing import Protocol

NOTABLE = 15.0
"""Percent beyond which a deviation from the print needs a reason."""
NOT_EXPLAINED = "not explained"


class Support(enum.Enum):
    """The ground of a reason."""

    MEASURED = "measured"
    """Counted or measured here, or stated by the paper."""
    PLAUSIBLE = "plausible"
    """It fits what is printed, and nobody has measured it."""
    UNKNOWN = NOT_EXPLAINED
    """It says what was found, and does not explain the deviation."""


@dataclasses.dataclass(frozen=True)
class Reason:
    """A reason of a deviation; where something was fitted its text says what, and from how many tries.

    Examples:
        >>> from workbench.extensions.papers.standing import Reason, Support
        >>> Reason("the arrays fit the cache", Support.PLAUSIBLE).words
        'plausible: the arrays fit the cache'
    """

    text: str
    support: Support

    @property
    def words(self) -> str:
        return f"{self.support.value}: {self.text}"


class Standing(enum.Enum):
    """The ways in which a printed number stands to ours; the first five are compared independently."""

    WITHIN = f"within {NOTABLE:.0f}%"
    FITTED = f"within {NOTABLE:.0f}% by a fit"
    """The model has numbers that were fitted to these entries."""
    EXPLAINED = "explained by a measurement"
    PLAUSIBLE = "plausible, not measured"
    OPEN = NOT_EXPLAINED
    NOT_COMPARED = "cannot be compared"
    """Of another size or machine, or without a counterpart here."""
    NOT_COUNTED = "not counted"
    """Ours is made from the print, no paper prints it, or it is a row of another item."""


INDEPENDENT = (Standing.WITHIN, Standing.FITTED, Standing.EXPLAINED, Standing.PLAUSIBLE, Standing.OPEN)
OF_SUPPORT = {
    Support.MEASURED: Standing.EXPLAINED,
    Support.PLAUSIBLE: Standing.PLAUSIBLE,
    Support.UNKNOWN: Standing.OPEN,
}


class Mark(enum.Enum):
    """The state of a whole item in one word: that of its worst number."""

    OPEN = "open"
    PLAUSIBLE = "plausible"
    EXPLAINED = "explained"
    AGREES = "agrees"
    NOT_COMPARED = "cannot be compared"
    """Nothing is compared independently: of another size, machine or item, or made from the print."""
    NO_NUMBERS = "no numbers"
    """The paper prints none, or another item compares them."""
    FAILED = "failed"

    @property
    def sign(self) -> str:
        return SIGNS[self]


SIGNS = {
    Mark.OPEN: "?",
    Mark.PLAUSIBLE: "~",
    Mark.EXPLAINED: "=",
    Mark.AGREES: "\N{CHECK MARK}",
    Mark.NOT_COMPARED: "\N{EN DASH}",
    Mark.NO_NUMBERS: "\N{MIDDLE DOT}",
    Mark.FAILED: "\N{MULTIPLICATION SIGN}",
}
WORST = {Standing.OPEN: Mark.OPEN, Standing.PLAUSIBLE: Mark.PLAUSIBLE, Standing.EXPLAINED: Mark.EXPLAINED}


def mark_of(counts: Mapping[Standing, int]) -> Mark:
    """The mark of an item by how many of its numbers stand in each way.

    Examples:
        >>> from workbench.extensions.papers.standing import Standing, mark_of
        >>> mark_of({Standing.WITHIN: 4, Standing.PLAUSIBLE: 1}).value
        'plausible'
    """
    for standing, mark in WORST.items():
        if counts.get(standing):
            return mark
    if any(counts.get(each) for each in INDEPENDENT):
        return Mark.AGREES
    return Mark.NOT_COMPARED if any(counts.values()) else Mark.NO_NUMBERS


class Standable(Protocol):
    @property
    def standing(self) -> Standing: ...


def tally(values: Iterable[Standable]) -> Mapping[Standing, int]:
    """How many printed numbers stand in each way; all ways, in their order."""
    counts = collections.Counter(value.standing for value in values)
    return {each: counts[each] for each in Standing}


def tally_words(counts: Mapping[Standing, int]) -> str:
    """The counts as a sentence.

    Examples:
        >>> from workbench.extensions.papers.standing import Standing, tally_words
        >>> tally_words({Standing.WITHIN: 2, Standing.OPEN: 1, Standing.NOT_COUNTED: 3})
        '3 compared independently: 2 within 15%, 1 not explained; 3 not counted'
    """
    compared = sum(counts.get(each, 0) for each in INDEPENDENT)
    parts = [f"{counts[each]} {each.value}" for each in INDEPENDENT if counts.get(each)]
    others = [f"{counts[each]} {each.value}" for each in Standing if each not in INDEPENDENT and counts.get(each)]
    begin = f"{compared} compared independently{': ' if parts else ''}{', '.join(parts)}"
    return "; ".join([begin, *others])
