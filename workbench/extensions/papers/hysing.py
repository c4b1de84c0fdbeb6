"""Hysing et al. 2009, "Quantitative benchmark computations of two-dimensional bubble dynamics": test cases 1 and 2."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from workbench.extensions.flow.reference import CASES, Reference, band, references
from workbench.extensions.flow.scenes import spread_of_groups
from workbench.extensions.papers import items
from workbench.extensions.papers.comparison import REFERENCE, Compared, Row
from workbench.extensions.papers.items import Case, Curve, Drawn, Item, Turned, Values, Work
from workbench.extensions.papers.printed import printed_in
from workbench.extensions.papers.standing import Reason, Support
from workbench.plots.scenes.scene import Axis, Layer, PointsOf
from workbench.sequences.sequence import Sequence as Flow
from workbench.words.numbers import count

GRIDS = (20, 40, 80, 160)
"""Cells across the width; the box is twice as high."""
METHOD: dict[str, Any] = {"preconditioner": "neumann:2", "deflation": "levelset:8"}
TITLES = {"case1": "case 1", "case2": "case 2"}
SPANS = {"circularity": (0.4, 1.0)}
"""Ends of a measure over time, where those from 0 would hide the spread of the groups."""
SECOND_FROM = 1.3
"""The time between the two greatest rise velocities of test case 2."""


@dataclasses.dataclass(frozen=True, eq=False)
class Rise:
    """The quantities with reference values, the relative change of the bubble's area, and all values over time.

    second_velocity: the greatest rise velocity after the time `SECOND_FROM`. series: by column, each of shape (steps,).
    """

    circularity: float
    circularity_time: float
    rise_velocity: float
    rise_velocity_time: float
    second_velocity: float
    centre: float
    area_change: float
    steps: int
    iterations: float
    series: dict[str, np.ndarray]


@dataclasses.dataclass(frozen=True)
class RisingBubble:
    """A test case, "case1" or "case2", on n x 2n cells to time 3.

    Cost: a second for n = 20, about eight times as much for each doubling.
    """

    case: str
    n: int

    def __call__(self) -> Rise:
        run = Flow("rising-bubbles", n=self.n, **CASES[self.case], **METHOD).run()
        series = {name: np.array(values, float) for name, values in run.series.items()}
        time, velocity = series["time"], series["rise_velocity"]
        early = np.where(time < SECOND_FROM, velocity, -np.inf)
        least, most = int(series["circularity"].argmin()), int(early.argmax())
        return Rise(
            float(series["circularity"][least]),
            float(time[least]),
            float(velocity[most]),
            float(time[most]),
            float(velocity[time >= SECOND_FROM].max()),
            float(series["centre"][-1]),
            float(series["volume"][-1] / series["volume"][0] - 1),
            time.size,
            float(series["iterations"].mean()),
            {name: series[name] for name in ("time", *MEASURES)},
        )


GROUPS: list[str] = printed_in("hysing")["groups"]
MEASURES = {"circularity": "circularity", "rise_velocity": "rise velocity", "centre": "height of the centre, widths"}


def _grids(values: Values) -> list[int]:
    """Cells across of the rows; a report has those of up to a sixth of its largest size, or 40."""
    most = max(values["max_n"] // 6, min(values["max_n"], 40)) if "report" in values else GRIDS[-1]
    return [n for n in GRIDS if n <= min(values["largest"], most)]


def _columns(found: Rise) -> Row:
    return {name: value for name, value in vars(found).items() if name != "series"}


def _work(case: str, n: int, curves: Sequence[str] = ()) -> Work:
    """A test case on a grid. curves: columns of the series that are drawn whole."""

    def drawn(found: Rise) -> list[Curve]:
        time, name = found.series["time"], f"{TITLES[case]}, {n} x {2 * n} cells"
        return [Curve(name, time, found.series[measure], items.COUNTED, TITLES[case]) for measure in curves]

    return Work(f"test {TITLES[case]} on {n} x {2 * n} cells", RisingBubble(case, n), _columns, curves=drawn)


def _cases(case: str, values: Values) -> Iterator[Case]:
    known: dict[str, Any] = {}
    for name, reference in printed_in("hysing")[case].items():
        found = reference["values"]
        known[f"reference_{name}"] = [min(found), max(found)]
        known |= {f"{group}_{name}": value for group, value in zip(GROUPS, found, strict=True)}
        if "times" in reference:
            known[f"reference_{name}_time"] = reference["times"]
    for n in _grids(values):
        yield Case({"cells": f"{n} x {2 * n}", "n": n, **known}, [_work(case, n)])


def _deviations(case: str, rows: list[dict[str, object]]) -> None:
    for row in rows:
        for name, reference in references(case).items():
            found = row.get(name)
            row[f"{name}_percent"] = 100 * abs(found / reference.mean - 1) if isinstance(found, float) else None


def _areas(rows: list[dict[str, object]], _values: Values) -> list[str]:
    """How well the area is kept."""
    changes = [abs(found) for row in rows if isinstance(found := row.get("area_change"), float)]
    return [f"The area of the bubble at the end is that of the beginning to {max(changes):.1g} on all grids."]


def _compared(name: str, curve: str) -> Compared:
    reason = {"": Reason("a grid of few cells; the deviation falls with every refinement", Support.MEASURED)}
    where = {"curve": curve, "source": REFERENCE, "drawn": False}
    return Compared(printed=f"reference_{name}", ours=name, reasons=reason, **where)


CURVES = {name: reference.what for case in CASES for name, reference in references(case).items()}
LARGEST = Turned("largest", "largest grid, cells across", GRIDS, 160, count, limit=True, whose="")
SOURCES = (
    f"The reference values are those of three groups, {', '.join(GROUPS[:-1])} and {GROUPS[-1]}; their range is the "
    f"tolerance. Source: {printed_in('hysing')['source']}.",
    "Scheme: level set and projection, docs/flow.md; each pressure equation to dt rms(div u) of 1e-6.",
)
CASE_NOTES = {
    "case1": (),
    "case2": (
        "Ratios of 1000 in density and 100 in viscosity, and a surface tension 12.5 times smaller. The groups do not "
        "agree on the circularity, since one has the bubble break up, so that none is compared. What is thinner than a "
        "cell vanishes here, and its volume goes back into the bubble, also that of pieces that break off. Measured: "
        "its centre is then too high.",
    ),
}


def _case(case: str) -> Item:
    """The deviations of a test case from the reference values, by grid."""
    curves = {name: CURVES[name] for name in references(case)}
    return Item(
        name=case,
        title=f"Test {TITLES[case]}: deviation of a rising bubble from the reference values",
        cases=functools.partial(_cases, case),
        named=("cells",),
        x=Axis("cells across the width", "count", log=True, marks=list(GRIDS)),
        y=Axis("deviation from the mean of the groups, %", log=True),
        across="n",
        compared=tuple(_compared(*each) for each in curves.items()),
        drawn=tuple(Drawn(f"{name}_percent", items.COUNTED, curve) for name, curve in curves.items()),
        finish=functools.partial(_deviations, case),
        turned=(LARGEST,),
        notes=(*SOURCES, *CASE_NOTES[case]),
        found=_areas,
        smallest=20,
        quick=40,
    )


def _over_time(measure: str, values: Values) -> Iterator[Case]:
    """Both test cases on the finest grid."""
    for case, title in TITLES.items():
        for n in _grids(values)[-1:]:
            row: dict[str, Any] = {"case": title, "cells": f"{n} x {2 * n}", "time": 3.0}
            if (spread := band(case, measure)) is not None:
                row["groups_at_the_end"] = [float(spread.low[-1]), float(spread.high[-1])]
            yield Case(row, [dataclasses.replace(_work(case, n, (measure,)), read=_at_end(measure))])


def _at_end(measure: str) -> Callable[[Rise], Row]:
    return lambda found: {f"{measure}_at_the_end": float(found.series[measure][-1])}


def _behind(measure: str) -> list[Layer]:
    """The spread of the groups over time, and their extremes, which are marks."""
    spreads = [(place, title, band(case, measure)) for place, (case, title) in enumerate(TITLES.items())]
    layers: list[Layer] = [
        dataclasses.replace(found, name=f"{title}, {found.name}", style=place)
        for place, title, one in spreads
        if one is not None and (found := spread_of_groups(one))
    ]
    for place, (case, title) in enumerate(TITLES.items()):
        reference = references(case).get(measure)
        if reference is not None and reference.times:
            layers.append(_marks(title, reference, place))
    return layers


def _marks(title: str, reference: Reference, style: int) -> PointsOf:
    by_group = zip(reference.groups, reference.values, reference.times, strict=True)
    said = [[f"{title}, {reference.what}", f"{group}: {value:g} at time {time:g}"] for group, value, time in by_group]
    at = np.array(reference.times), np.array(reference.values)
    return PointsOf(f"{title}, {reference.what}, {REFERENCE}", *at, style, size=6, texts=said)


def _time_item(measure: str, title: str) -> Item:
    return Item(
        name=measure.removeprefix("rise_"),
        title=f"{title.partition(',')[0].capitalize()} over time, test cases 1 and 2",
        cases=functools.partial(_over_time, measure),
        named=("case",),
        x=Axis("time", span=(0.0, 3.0)),
        y=Axis(title, span=SPANS.get(measure)),
        across="time",
        behind=functools.partial(_behind, measure),
        turned=(dataclasses.replace(LARGEST, paper=40),),
        notes=(
            *SOURCES,
            "The bands are the spread of FreeLIFE and MooNMD at tenths of a unit of time, from series of the groups, "
            "since the paper draws curves and prints their extremes alone. No series of TP2D was found. Marks are the "
            "printed extremes of the three groups, which the items on the cases compare.",
        ),
        smallest=20,
        quick=40,
    )


ITEMS = (*map(_case, CASES), *(_time_item(*each) for each in MEASURES.items()))
