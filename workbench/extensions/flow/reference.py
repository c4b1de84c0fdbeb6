"""Published results for rising bubbles."""

from __future__ import annotations

import functools
import tomllib
from pathlib import Path
from typing import NamedTuple

from workbench.extensions.flow.rising_bubbles import RisingBubbles
from workbench.problems import Problem


class Reference(NamedTuple):
    """A measure by several groups, and its times. what: in words."""

    what: str
    values: tuple[float, ...]
    times: tuple[float, ...]
    groups: tuple[str, ...]

    @property
    def mean(self) -> float:
        """The mean over the groups."""
        return sum(self.values) / len(self.values)


@functools.cache
def first_case() -> dict[str, Reference]:
    """Results of test case 1 of Hysing et al. (2009), by column of the series. Source: see its TOML file."""
    stored = tomllib.loads((Path(__file__).parent / "data" / "hysing.toml").read_text(encoding="utf-8"))
    groups = tuple(stored["groups"])
    return {
        name: Reference(found["what"], tuple(found["values"]), tuple(found["times"]), groups)
        for name, found in stored["case1"].items()
    }


def is_first_case(problem: Problem) -> bool:
    """True for the first test case, on any grid."""
    own = {"n", "until", "start", "volume_error"}
    return isinstance(problem, RisingBubbles) and own >= problem.differing.keys()
