"""Hysing et al. 2009, "Quantitative benchmark computations of two-dimensional bubble dynamics": test case 1."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np

from workbench.extensions.flow.reference import first_case
from workbench.extensions.papers import items
from workbench.extensions.papers.comparison import REFERENCE, Compared
from workbench.extensions.papers.items import Case, Drawn, Item, Turned, Values, Work
from workbench.extensions.papers.printed import printed_in
from workbench.extensions.papers.standing import Reason, Support
from workbench.plots.scenes.scene import Axis
from workbench.sequences.sequence import Sequence
from workbench.words.numbers import count

GRIDS = (20, 40, 80, 160)
"""Cells across the width; the box is twice as high."""
METHOD: dict[str, Any] = {"preconditioner": "neumann:2", "deflation": "levelset:8"}


@dataclasses.dataclass(frozen=True)
class Rise:
    """The quantities with reference values, and the relative change of the bubble's area."""

    circularity: float
    circularity_time: float
    rise_velocity: float
    rise_velocity_time: float
    centre: float
    area_change: float
    steps: int
    iterations: float


@dataclasses.dataclass(frozen=True)
class FirstCase:
    """Test case 1 on n x 2n cells to time 3. Cost: a second for n = 20, eight times as much for each doubling."""

    n: int

    def __call__(self) -> Rise:
        series = {name: np.array(values) for name, values in self._run().series.items()}
        least, most = int(series["circularity"].argmin()), int(series["rise_velocity"].argmax())
        return Rise(
            float(series["circularity"][least]),
            float(series["time"][least]),
            float(series["rise_velocity"][most]),
            float(series["time"][most]),
            float(series["centre"][-1]),
            float(series["volume"][-1] / series["volume"][0] - 1),
            series["time"].size,
            float(series["iterations"].mean()),
        )

    def _run(self) -> Sequence:
        return Sequence("rising-bubbles", n=self.n, **METHOD).run()


def _cases(values: Values) -> Iterator[Case]:
    known: dict[str, Any] = {}
    for name, reference in printed_in("hysing")["case1"].items():
        known |= {f"reference_{name}": reference["values"], f"reference_{name}_time": reference["times"]}
    columns = {field.name: field.name for field in dataclasses.fields(Rise)}
    for n in GRIDS:
        if n <= min(values["largest"], values.get("max_n", n)):
            work = Work(f"test case 1 on {n} x {2 * n} cells", FirstCase(n), columns)
            yield Case({"cells": f"{n} x {2 * n}", "n": n, **known}, [work])


def _deviations(rows: list[dict[str, object]]) -> None:
    for row in rows:
        for name, reference in first_case().items():
            found = row.get(name)
            row[f"{name}_percent"] = 100 * abs(found / reference.mean - 1) if isinstance(found, float) else None


def _compared(name: str, curve: str) -> Compared:
    reason = {"": Reason("a grid of few cells; the deviation falls with every refinement", Support.MEASURED)}
    where = {"curve": curve, "source": REFERENCE, "drawn": False}
    return Compared(printed=f"reference_{name}", ours=name, reasons=reason, **where)


CURVES = {
    "circularity": "least circularity",
    "rise_velocity": "greatest rise velocity",
    "centre": "centre at time 3",
}


CASE1 = Item(
    name="case1",
    title="Test case 1: deviation of a rising bubble from the reference values",
    cases=_cases,
    named=("cells",),
    x=Axis("cells across the width", "count", log=True, marks=list(GRIDS)),
    y=Axis("deviation from the mean of the groups, %", log=True),
    across="n",
    compared=tuple(_compared(*each) for each in CURVES.items()),
    drawn=tuple(Drawn(f"{name}_percent", items.COUNTED, curve) for name, curve in CURVES.items()),
    finish=_deviations,
    turned=(Turned("largest", "largest grid, cells across", GRIDS, 160, count, limit=True, whose=""),),
    notes=(
        f"The reference values are those of two groups, {' and '.join(printed_in('hysing')['groups'])}; their range is "
        f"the tolerance. Source: {printed_in('hysing')['source']}.",
        "Scheme: level set and projection, docs/flow.md; each pressure equation to dt rms(div u) of 1e-6.",
    ),
    smallest=20,
    quick=40,
)
