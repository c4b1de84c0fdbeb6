"""Items of the papers that can be turned: a table or figure as printed points, curves that follow parameters, and how
their points are computed or modelled. One declaration per item, in one file per paper (`items_two_level.py` and so on).
"""

from __future__ import annotations

import dataclasses
import functools
import importlib
import statistics
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from workbench.data_files import data_folder
from workbench.errors import InputError, quoted
from workbench.number_text import chosen
from workbench.papers.comparison import NOTABLE, deviation
from workbench.run import Configuration, Result
from workbench.scenes.scene import Axis

PRINTED, COUNTED, MEASURED, MODELLED = "printed", "counted here", "measured here", "modelled"
"""Where the numbers of a curve come from. Counts are the same on every machine, times are of this one."""
Values = Mapping[str, Any]
"""The value of each parameter of an item by name."""
FILES = {
    "two-level": "two_level_pcg_gpu",
    "hybrid-pipecg": "hybrid_pipecg",
    "block-cg": "block_cg_opencl",
    "mpcg": "mpcg_erlang_cuda",
}
"""The papers, and the files in data/papers with what they print."""


@dataclasses.dataclass(frozen=True, eq=False)
class Curve:
    """Points (x, y), both of shape (n,). source: one of the four above. of: the printed curve that it is compared with,
    "" for none."""

    name: str
    x: np.ndarray
    y: np.ndarray
    source: str
    of: str = ""


@dataclasses.dataclass(frozen=True)
class Turned:
    """A parameter that can be turned. choices: its values in order, that of the paper among them; `paper` is that.

    words: writes a value. menu: choices have no order and are listed. whose: whose value `paper` is, "ours" where the
    paper does not say, "" where that is not shown. limit: it says how far points go, and changes none.
    """

    name: str
    title: str
    choices: tuple[Any, ...]
    paper: Any
    words: Callable[[Any], str] = chosen
    menu: bool = False
    whose: str = "paper"
    limit: bool = False

    def __post_init__(self) -> None:
        if self.paper not in self.choices:
            raise InputError(f"{self.name}: the paper's value {self.paper!r} must be one of {self.choices}")


@dataclasses.dataclass(frozen=True)
class Solved:
    """What is kept of a solve. Seconds: medians where it was repeated. residuals: relative, shape (iterations + 1,)."""

    iterations: int
    converged: bool
    setup_seconds: float
    iteration_seconds: float
    residuals: tuple[float, ...]

    @classmethod
    def of(cls, results: Sequence[Result]) -> Solved:
        """One or several solves of the same configuration."""
        first = results[0]
        residuals = tuple(float(value) for value in first.record().relative_residual)
        setup = statistics.median(result.setup_seconds for result in results)
        iterating = statistics.median(result.iteration_seconds for result in results)
        return cls(first.iterations, bool(first.converged), setup, iterating, residuals)


@dataclasses.dataclass(frozen=True, eq=False)
class Step:
    """One computation behind points. work: a solve, or a frozen dataclass that is called; equal work is done once.

    words: what is computed. read: the points of curves that follow from its `Solved`, or from what it returned. timed:
    its seconds are shown, so that it is repeated after a solve that loads kernels.
    """

    words: str
    work: Configuration | Callable[[], Any]
    read: Callable[[Any], Iterable[Curve]]
    timed: bool = False


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class Item:
    """A table or figure of a paper. printed: its points, rings in every picture.

    steps: what is computed at some values of the parameters, the quickest first. modelled: curves that are functions of
    the parameters. notes: what is modelled and assumed. reason: why points deviate by more than 15% at the paper's
    values; "" where that is not explained.
    """

    paper: str
    name: str
    title: str
    x: Axis
    y: Axis
    turned: tuple[Turned, ...]
    printed: Callable[[], list[Curve]] = list
    steps: Callable[[Values], Iterable[Step]] = lambda _values: ()
    modelled: Callable[[Values], list[Curve]] = lambda _values: []
    notes: tuple[str, ...] = ()
    reason: str = ""

    @property
    def paper_values(self) -> dict[str, Any]:
        """The value that each parameter has in the paper."""
        return {each.name: each.paper for each in self.turned}


@dataclasses.dataclass(frozen=True)
class Paper:
    """A paper with its items. name: as `reproduce` takes it. who: authors, year, and an earlier paper on the same."""

    name: str
    title: str
    who: str
    items: tuple[Item, ...]


@dataclasses.dataclass(frozen=True)
class ComparedPoint:
    """A printed point and ours. ours: None while it is not computed, and where nothing of ours belongs to it."""

    curve: str
    x: float
    printed: float
    ours: float | None
    source: str

    @property
    def percent(self) -> float | None:
        """The deviation of ours from the print, in percent; None where there is nothing of ours."""
        return deviation(self.printed, self.ours)


def compared(printed: Sequence[Curve], ours: Sequence[Curve]) -> list[ComparedPoint]:
    """All printed points, each with the point of ours at the same x; what was counted or measured before what was
    modelled."""
    order = (COUNTED, MEASURED, MODELLED)
    found: dict[tuple[str, float], tuple[float, str]] = {}
    for curve in sorted(ours, key=lambda curve: -order.index(curve.source)):
        found |= {(curve.of, float(x)): (float(y), curve.source) for x, y in zip(curve.x, curve.y, strict=True)}
    return [
        ComparedPoint(curve.name, float(x), float(y), *found.get((curve.name, float(x)), (None, "")))
        for curve in printed
        for x, y in zip(curve.x, curve.y, strict=True)
    ]


def mean_deviation(points: Sequence[ComparedPoint]) -> float | None:
    """The mean of the absolute deviations in percent; None where nothing is compared."""
    known = [abs(point.percent) for point in points if point.percent is not None]
    return statistics.mean(known) if known else None


def far_off(points: Sequence[ComparedPoint]) -> list[ComparedPoint]:
    """Those that deviate by more than `NOTABLE` percent, the farthest first."""
    far = [point for point in points if point.percent is not None and abs(point.percent) > NOTABLE]
    return sorted(far, key=lambda point: -abs(point.percent or 0.0))


def joined(parts: Iterable[Curve]) -> list[Curve]:
    """Curves of equal name and source as one, with ascending x."""
    by_name: dict[tuple[str, str, str], list[Curve]] = {}
    for part in parts:
        by_name.setdefault((part.name, part.source, part.of), []).append(part)
    made = []
    for (name, source, of), found in by_name.items():
        x, y = (np.concatenate(values) for values in zip(*((part.x, part.y) for part in found), strict=True))
        order = np.argsort(x, kind="stable")
        made.append(Curve(name, x[order], y[order], source, of))
    return made


def point(name: str, x: float, y: float, source: str, of: str = "") -> Curve:
    """A curve of one point."""
    return Curve(name, np.array([x], float), np.array([y], float), source, of)


def geometric(low: float, high: float, count: int, *also: float) -> tuple[float, ...]:
    """Values in equal ratios with three digits, and a few others."""
    return tuple(sorted({*(float(f"{value:.3g}") for value in np.geomspace(low, high, count)), *also}))


@functools.cache
def papers() -> dict[str, Paper]:
    """All papers by name, with title, authors and year as in data/papers."""
    found = {}
    for name, file in FILES.items():
        about = tomllib.loads((data_folder() / "papers" / f"{file}.toml").read_text(encoding="utf-8"))
        items = importlib.import_module(f"workbench.papers.items_{name.replace('-', '_')}").ITEMS
        found[name] = Paper(name, about["title"], _who(about), items)
    return found


def _who(about: Mapping[str, Any]) -> str:
    who = ", ".join(str(about[key]) for key in ("authors", "year") if key in about)
    earlier = about.get("earlier")
    return f"{who}; earlier, {earlier['year']}: {earlier['title']}" if earlier else who


def item_of(paper: str, name: str) -> Item:
    """An item by the names of its paper and its own. Raises InputError, which lists them, for an unknown one."""
    known = papers()
    if paper not in known:
        raise InputError(f"a paper is one of {', '.join(known)}, got {quoted(paper)}")
    found = {item.name: item for item in known[paper].items}
    if name not in found:
        raise InputError(f"an item of {paper} is one of {', '.join(found)}, got {quoted(name)}")
    return found[name]
