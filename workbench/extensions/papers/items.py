"""Items of the papers: a table or figure, declared once, for `workbench reproduce` and for the page.

Rows hold what is printed, what is computed here and what is modelled; the curves of a picture are columns of them.
"""

from __future__ import annotations

import dataclasses
import math
import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from workbench.errors import InputError
from workbench.extensions.papers.comparison import THEIRS, Compared, PrintedValue, Row, row_name
from workbench.extensions.papers.printed import printed_text
from workbench.plots.scenes.scene import Axis, Layer
from workbench.run import Configuration, Result, Stopping
from workbench.words.numbers import chosen

COUNTED, MEASURED, MODELLED = "counted here", "measured here", "modelled"
"""Sources of the numbers of a curve that are ours. Counts are equal on all machines, times are of this one."""
FIRST_STEPS = Stopping(maxiter=2)
"""Stopping criteria of the solve before a timed one: it loads and compiles all kernels."""
ROUNDS, ENOUGH = 3, 2.0
"""Solves that are timed at most, and the seconds of iterations after which none is repeated."""
MEDIANS = f"Times are medians of up to {ROUNDS} solves, after one that is not timed."
Values = Mapping[str, Any]
"""The value of each parameter of an item by name. In a report also max_n, device (measured in place of the paper's
GPU), accelerator_here (this machine's, "" for none), why (a sentence on that), and report, which is True."""
SHOWN = "shown"
"""The column with a name in the picture, which the table of a report leaves out."""


@dataclasses.dataclass(frozen=True, eq=False)
class Curve:
    """Points (x, y), both of shape (n,). source: one of the three above, or of `THEIRS`. of: the printed curve
    that it belongs to, "" for none. texts: printed numbers in the digits of the paper."""

    name: str
    x: np.ndarray
    y: np.ndarray
    source: str
    of: str = ""
    texts: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Turned:
    """A parameter that can be turned. choices: its values in order, that of the paper among them; `paper` is that.

    words: writes a value. menu: choices have no order and are listed. whose: whose value `paper` is, "ours" where the
    paper does not say, "" where that is not shown. limit: it says how far points go, and changes none. printed: the
    value as the paper states it, where it states another quantity.
    """

    name: str
    title: str
    choices: tuple[Any, ...]
    paper: Any
    words: Callable[[Any], str] = chosen
    menu: bool = False
    whose: str = "paper"
    limit: bool = False
    printed: str = ""

    def __post_init__(self) -> None:
        if self.paper not in self.choices:
            raise InputError(f"{self.name}: the paper's value {self.paper!r} must be one of {self.choices}")


@dataclasses.dataclass(frozen=True)
class Solved:
    """Data kept of solves of one configuration. counts: iterations from each start. Seconds: medians, also of the
    phases of the setup. histories: relative residuals from each start, shape (iterations + 1,)."""

    counts: tuple[int, ...]
    converged: bool
    setup_seconds: float
    iteration_seconds: float
    histories: tuple[tuple[float, ...], ...] = ()
    phases: Mapping[str, float] = dataclasses.field(default_factory=dict)

    @classmethod
    def of(cls, results: Sequence[Result]) -> Solved:
        """One or several solves of the same configuration."""
        phases = [[(phase["name"], phase["seconds"]) for phase in one.summary["setup_phases"]] for one in results]
        return cls(
            tuple(one.iterations for one in results),
            all(one.converged for one in results),
            statistics.median(one.setup_seconds for one in results),
            statistics.median(one.iteration_seconds for one in results),
            tuple(tuple(float(value) for value in one.record().relative_residual) for one in results),
            {
                each: statistics.median(sum(taken for name, taken in of_one if name == each) for of_one in phases)
                for each, _ in phases[0]
            },
        )

    @property
    def iterations(self) -> float:
        """The mean over the starts."""
        return statistics.mean(self.counts)

    @property
    def range(self) -> list[int]:
        return [min(self.counts), max(self.counts)]

    @property
    def residuals(self) -> tuple[float, ...]:
        """Relative residuals from the first start."""
        return self.histories[0]

    def counts_to(self, rtol: float) -> list[int]:
        """Iterations to a tolerance from each start; the last one where it is not met."""
        return [next((k for k, each in enumerate(one) if each <= rtol), len(one) - 1) for one in self.histories]

    def tolerance_at(self, iterations: int) -> float | None:
        """The tolerance that ends this many iterations, the median over the starts; None where a solve is shorter."""
        if any(len(one) <= iterations for one in self.histories):
            return None
        return statistics.median(min(one[: iterations + 1]) for one in self.histories)


@dataclasses.dataclass(frozen=True, eq=False)
class Work:
    """One computation behind a row.

    words: what is computed. what: a solve, or a frozen dataclass that is called; equal work is done once. read: what
    follows from its `Solved`, or from what it returned: the column of that, the attributes in columns, or a function
    that returns columns. timed: its seconds are shown, so that it is repeated after a solve that loads kernels. seeds:
    of the random starts in a report. curves: whole curves that follow from it too.
    """

    words: str
    what: Configuration | Callable[[], Any]
    read: str | Mapping[str, str] | Callable[[Any], Row]
    timed: bool = False
    seeds: Sequence[int] = ()
    curves: Callable[[Any], list[Curve]] = lambda _: []

    def columns(self, found: object) -> Row:
        if isinstance(self.read, str):
            return {self.read: found}
        if isinstance(self.read, Mapping):
            return {column: getattr(found, name) for column, name in self.read.items()}
        return self.read(found)

    @property
    def key(self) -> object:
        """A key that equal works share, which are done once."""
        return self.what, self.timed, tuple(self.seeds)

    def done(self, solve: Callable[[Configuration], Result]) -> Any:
        """Its `Solved`, by a function that solves; or the value of a dataclass that is called."""
        if not isinstance(self.what, Configuration):
            return self.what()
        what = self.what
        if self.timed:
            solve(dataclasses.replace(what, stopping=FIRST_STEPS))
        if self.seeds:
            return Solved.of([solve(dataclasses.replace(what, seed=seed)) for seed in self.seeds])
        results = [solve(what)]
        while self.timed and len(results) < ROUNDS and sum(one.iteration_seconds for one in results) < ENOUGH:
            results.append(solve(what))
        return Solved.of(results)


@dataclasses.dataclass(frozen=True, eq=False)
class Case:
    """A row. row: what names it, and what is printed. works: what is computed for it, the quickest first. modelled:
    the columns of a model, which takes no solve, at most a few traced iterations on a small grid."""

    row: Row
    works: Sequence[Work] = ()
    modelled: Callable[[], Row] = dict

    def with_model(self) -> Case:
        """With the columns of the model in its row."""
        return dataclasses.replace(self, row={**self.row, **self.modelled()}, modelled=dict)


@dataclasses.dataclass(frozen=True)
class Drawn:
    """A column that is drawn. source: see `Curve`. name, of: of its curves, with {columns} of the row. across: the
    column along x, by default that of the item."""

    column: str
    source: str
    name: str
    of: str = ""
    across: str = ""


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class Item:
    """A table or figure of a paper.

    cases: its rows at some values of the parameters. named: the columns that name a row. across: the column along x;
    names where x has names. compared: printed columns and ours, with the reasons of deviations; those with the name of
    a curve are drawn. drawn: other columns that are. drawn_as: ours, "curves", "points" or "bars". behind: layers below
    all curves. finish: adds columns that follow from those of several works or rows. notes: what is modelled and
    assumed. found: sentences on the rows of a report. smallest, quick: sizes as in `Target`. on_device: it takes a
    device in place of the paper's GPU. accelerated: it has columns of this machine's accelerator. paper: its name, set
    where papers are listed.
    """

    name: str
    title: str
    cases: Callable[[Values], Iterable[Case]]
    named: tuple[str, ...]
    x: Axis
    y: Axis
    across: str = ""
    compared: tuple[Compared, ...] = ()
    drawn: tuple[Drawn, ...] = ()
    drawn_as: str = "curves"
    behind: Callable[[], Sequence[Layer]] = tuple
    finish: Callable[[list[dict[str, Any]]], None] = lambda _: None
    turned: tuple[Turned, ...] = ()
    notes: tuple[str, ...] = ()
    found: Callable[[list[dict[str, Any]], Values], list[str]] = lambda _rows, _values: []
    smallest: int = 16
    quick: int = 64
    on_device: bool = False
    accelerated: bool = False
    paper: str = ""

    @property
    def paper_values(self) -> dict[str, Any]:
        """The value that each parameter has in the paper."""
        return {each.name: each.paper for each in self.turned}

    @property
    def draws(self) -> bool:
        """True if a figure of it is written next to its rows."""
        return not self.name.startswith("table")

    def printed(self) -> list[Curve]:
        """The printed values, as curves; nothing is computed."""
        farthest = {each.name: each.choices[-1] for each in self.turned if each.limit}
        return self.curves([case.row for case in self.cases({**self.paper_values, **farthest})], *THEIRS)

    def rows(self, cases: Sequence[Case], known: Mapping[tuple[int, int], Any]) -> list[dict[str, Any]]:
        """The rows as far as they are known, all with the same columns. known: what works gave, by the places of the
        case and of the work in it."""
        found: list[dict[str, Any]] = [{} for _ in cases]
        for (at, place), result in known.items():
            found[at] |= cases[at].works[place].columns(result)
        return self.joined(cases, found)

    def joined(self, cases: Sequence[Case], found: Sequence[Row]) -> list[dict[str, Any]]:
        """The rows of some cases with the columns that were found for each."""
        rows = [{**case.row, **columns} for case, columns in zip(cases, found, strict=True)]
        columns = dict.fromkeys(column for row in rows for column in row)
        rows = [{column: row.get(column) for column in columns} for row in rows]
        self.finish(rows)
        return rows

    def curves(self, rows: Sequence[Row], *sources: str) -> list[Curve]:
        """The columns that are drawn, those of equal name and source as one curve with ascending x. sources: by default
        all but what is printed."""
        points: dict[tuple[str, str, str], list[tuple[float, float]]] = {}
        for each in self._all_drawn():
            for row in rows if each.source in (sources or (COUNTED, MEASURED, MODELLED)) else ():
                for y in _numbers(row.get(each.column)):
                    key = each.name.format_map(row), each.source, each.of.format_map(row)
                    points.setdefault(key, []).append((self.place(row, each.across), y))
        return [_curve(points, *key) for key in points]

    def place(self, row: Row, across: str = "") -> float:
        """The place of a row along x, by its column or another."""
        at = row[across or self.across]
        return float(at if self.x.names is None else list(self.x.names).index(at))

    def points(self, rows: Sequence[Row]) -> list[Point]:
        """All printed points, each with ours as far as it is known."""
        return [
            Point(each.curve.format_map(row), self.place(row), value)
            for each in self.compared
            for row in rows
            if each.curve and (value := each.of(row, row_name(row, self.named))) is not None
        ]

    def _all_drawn(self) -> Iterator[Drawn]:
        for each in self.compared:
            if each.curve and each.drawn:
                yield Drawn(each.printed, each.source, each.curve)
                yield Drawn(each.modelled, MODELLED, f"{each.curve}, modelled", each.curve)
                if isinstance(each.ours, str) and not each.elsewhere:
                    yield Drawn(each.ours, COUNTED, each.here or each.curve, each.curve)
        yield from self.drawn


@dataclasses.dataclass(frozen=True)
class Point:
    """A printed point of a curve, with its comparison."""

    curve: str
    x: float
    value: PrintedValue


def _numbers(value: object) -> Iterator[float]:
    """The points of a cell: both ends of a range."""
    for each in value if isinstance(value, (list, tuple)) else (value,):
        if isinstance(each, (int, float)) and not math.isnan(each):
            yield each


def _curve(points: Mapping[Any, list[tuple[float, float]]], *key: str) -> Curve:
    name, source, of = key
    ordered = sorted(points[key], key=lambda point: point[0])
    x, y = np.array(ordered, float).T
    texts = tuple(printed_text(value) for _, value in ordered) if source in THEIRS else ()
    return Curve(name, x, y, source, of, texts)


def geometric(low: float, high: float, count: int, *also: float) -> tuple[float, ...]:
    """Values in equal ratios with three digits, and a few others."""
    return tuple(sorted({*(float(f"{value:.3g}") for value in np.geomspace(low, high, count)), *also}))


def ratio(above: float | None, below: float | None) -> float | None:
    """The ratio of two numbers; None where one of them is not known."""
    return above / below if above and below else None


def size_here(n: int, values: Values) -> int:
    """Our size for one of the paper."""
    return min(n, values.get("max_n", n))
