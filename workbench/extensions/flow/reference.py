"""Published results for rising bubbles: Hysing et al. 2009, test cases 1 and 2."""

from __future__ import annotations

import functools
import tomllib
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from workbench.extensions.flow.rising_bubbles import RisingBubbles
from workbench.problems import Problem

DATA = Path(__file__).parent / "data"
CASES: dict[str, dict[str, float]] = {
    "case1": {},
    "case2": {"eotvos": 125.0, "density_ratio": 1e-3, "viscosity_ratio": 1e-2},
}
"""The parameters of a test case that differ from the first one, which is the default of the problem."""
FREE = {"n", "until", "start", "volume_error"}
"""Parameters that belong to a computation, and not to a test case."""


class Reference(NamedTuple):
    """A measure by several groups, and its times, which are empty where none are published. what: in words."""

    what: str
    values: tuple[float, ...]
    times: tuple[float, ...]
    groups: tuple[str, ...]

    @property
    def mean(self) -> float:
        """The mean over the groups."""
        return sum(self.values) / len(self.values)


class Band(NamedTuple):
    """The least and greatest value of several groups over time, all of shape (times,)."""

    times: np.ndarray
    low: np.ndarray
    high: np.ndarray
    groups: tuple[str, ...]


@functools.cache
def references(case: str) -> dict[str, Reference]:
    """Results of a test case, "case1" or "case2", by measure. Source: see `data/hysing.toml`."""
    stored = _stored("hysing")
    groups = tuple(stored["groups"])
    return {
        name: Reference(found["what"], tuple(found["values"]), tuple(found.get("times", ())), groups)
        for name, found in stored[case].items()
    }


@functools.cache
def band(case: str, measure: str) -> Band | None:
    """The spread of the groups over time; None where no two series are stored. Source: `data/hysing_series.toml`."""
    stored = dict(_stored("hysing_series").get(case, {}))
    if not stored:
        return None
    times = np.array(stored.pop("times"))
    values = np.array([series[measure] for series in stored.values()])
    return Band(times, values.min(axis=0), values.max(axis=0), tuple(stored))


def case_of(problem: Problem) -> str:
    """The test case that a problem is, on any grid; "" for none of them."""
    if not isinstance(problem, RisingBubbles):
        return ""
    differing = {name: value for name, value in problem.differing.items() if name not in FREE}
    return next((case for case, parameters in CASES.items() if differing == parameters), "")


def _stored(name: str) -> dict[str, Any]:
    return tomllib.loads((DATA / f"{name}.toml").read_text(encoding="utf-8"))
