"""What the literature has for rising bubbles."""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

from workbench.flow.rising_bubbles import RisingBubbles
from workbench.problems import Problem


class Reference(NamedTuple):
    """A value at a time. what: in words."""

    what: str
    value: float
    time: float


FIRST_CASE = {
    "circularity": Reference("least circularity", 0.9013, 1.90),
    "rise_velocity": Reference("greatest rise velocity", 0.2417, 0.92),
    "centre": Reference("centre at the end", 1.0813, 3.0),
}
"""Of the first test case of Hysing et al. (2009), by column of the series. Quoted from memory of the paper, since no
printed table was at hand."""


def is_first_case(problem: Problem) -> bool:
    """Whether a problem is the first test case, on any grid."""
    own = ("n", "until", "start", "volume_error")
    if not isinstance(problem, RisingBubbles):
        return False
    return RisingBubbles() == dataclasses.replace(problem, **{name: getattr(RisingBubbles(), name) for name in own})
