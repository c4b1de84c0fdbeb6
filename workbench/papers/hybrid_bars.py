"""Tiwari, Vadhiyar: Figures 4 to 6 of 2022 and 6 to 8 of 2021, speedups matrix by matrix, modelled."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from workbench.analysis.schedules import LIBRARY, METHODS, Expected, Method, expected
from workbench.devices.dry_run import Sizes
from workbench.figures import draw
from workbench.papers import hybrid_machines
from workbench.papers.comparison import Compared
from workbench.papers.hybrid_machines import machine
from workbench.papers.hybrid_model import HYBRIDS, MODEL, printed_best, systems
from workbench.papers.hybrid_pipecg import printed
from workbench.papers.reproduction import Progress, Reproduction, Target, style_of
from workbench.scenes.scene import Axis, BarsOf, CurveOf, Layer, LineAt, Scene

BARS: dict[str, Method] = METHODS | {f"{name} library": method for name, method in LIBRARY.items()}
"""Methods by the names of columns; library: one pass per line, as with PETSc and Paralution."""
WIDE = 0.8
"""Of the bars of a matrix together."""


@dataclasses.dataclass(frozen=True)
class Chart:
    """A bar chart of the papers. machines: its GPUs. baseline: the bar of height 1, and what it is there. bars: the
    others, without the hybrid methods. poisson: of systems that exceed the GPU's memory, which hybrid 3 alone solves.
    """

    title: str
    machines: tuple[str, ...]
    baseline: str
    named: str
    bars: tuple[str, ...]
    poisson: bool = False

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.baseline, *self.bars, *(("hybrid3",) if self.poisson else HYBRIDS))


# The papers find PIPECG-OpenMP the slowest for every matrix because of its vector operations: not fused.
CPU_BARS = ("pipecg cpu library", "PIPECG-OpenMP", ("pipecg cpu", "cg cpu", "cg cpu library"))
GPU_BARS = ("pipecg gpu library", "PETSc-PIPECG-GPU", ("pipecg gpu", "cg gpu", "cg gpu library"))
CHARTS = {
    "fig4": Chart("2022, Figure 4: over versions on the CPU", ("k40",), *CPU_BARS),
    "fig5": Chart("2022, Figure 5: over versions on the GPU", ("k40",), *GPU_BARS),
    "fig6": Chart("2022, Figure 6: Poisson problems beyond the GPU's memory", ("k40", "v100"), *CPU_BARS, poisson=True),
    "fig6-2021": Chart("2021, Figure 6: over versions on the CPU", ("k20m",), *CPU_BARS),
    "fig7-2021": Chart("2021, Figure 7: over versions on the GPU", ("k20m",), *GPU_BARS),
    "fig8-2021": Chart("2021, Figure 8: Poisson problems beyond the GPU's memory", ("k20m",), *CPU_BARS, poisson=True),
}
"""Both papers have a Figure 6."""


def bars(name: str, max_n: int, progress: Progress) -> Reproduction:
    """The speedups of a chart over its baseline, for each of its matrices."""
    chart, rows = CHARTS[name], []
    for where in chart.machines:
        progress(f"{name}: {where}")
        rows += [
            _row(chart, where, matrix, sizes)
            for matrix, sizes, machines in systems()
            if where in machines and ("Poisson" in matrix) == chart.poisson
        ]
    notes = [
        f"Speedups over {chart.named}, modelled here as `{chart.baseline}`. library: one pass per line, as in PETSc "
        "and Paralution; else fused passes. The papers draw bars without numbers; printed is what their text says.",
        *(_poisson_notes(rows) if chart.poisson else _notes(chart, rows)),
        *MODEL,
        *hybrid_machines.NOTES,
    ]
    return Reproduction(name, chart.title, rows, notes, _drawn(chart, rows))


FUSED = (
    "in a fused pass the dot products cost no memory traffic of their own, so that moving them to the cores saves "
    "nothing; hybrid 3 gains more, and the papers' times for it include setup"
)
BEST = Compared(printed="printed_best", modelled="best_hybrid", reasons={", hybrid1": FUSED, ", hybrid2": FUSED})
SPEEDUP = Compared(
    printed="printed_hybrid3",
    modelled="hybrid3",
    reasons={
        "6M Poisson, k20m": "the share of the rows that fits the GPU limits the speedup, and falls with N; the printed "
        "one rises",
        "4.5M Poisson, k20m": "the papers choose the share of the rows by products with the first rows, and say that a "
        "better choice would gain more",
    },
)
TARGETS = {
    name: Target(
        functools.partial(bars, name),
        draws=True,
        named=("matrix", "machine"),
        compared=(SPEEDUP if chart.poisson else BEST,),
    )
    for name, chart in CHARTS.items()
}


def _row(chart: Chart, where: str, matrix: str, sizes: Sizes) -> dict[str, Any]:
    found = {bar: expected(BARS[bar], sizes, machine(where)) for bar in chart.columns}
    base = found[chart.baseline].seconds
    assert base
    row: dict[str, Any] = {"machine": where, "matrix": matrix, "N": sizes.size}
    row |= {bar: _over(base, of_bar) for bar, of_bar in found.items()}
    if not chart.poisson:
        return row | {"best_hybrid": max(HYBRIDS, key=lambda each: row[each]), "printed_best": printed_best(sizes.size)}
    claimed = printed()["claims"][f"out_of_gpu_memory_{where}"]
    said = claimed.get(matrix.split()[0]) if isinstance(claimed, dict) else claimed
    row |= {"printed_hybrid3": said, "difference_percent": None}
    if said is not None:
        low, high = (min(said), max(said)) if isinstance(said, list) else (said, said)
        row["difference_percent"] = 100 * (row["hybrid3"] / min(max(row["hybrid3"], low), high) - 1)
    return row


def _over(base: float, found: Expected) -> float | None:
    """The speedup over so many seconds; None where the system does not fit."""
    return None if found.seconds is None else base / found.seconds


def _notes(chart: Chart, rows: list[dict[str, Any]]) -> list[str]:
    """How often the model agrees with what the papers say of all matrices."""
    slowest = sum(min(row[bar] for bar in chart.columns) == row[chart.baseline] for row in rows)
    best = sum(row["best_hybrid"] == row["printed_best"] for row in rows)
    return [
        f"The papers: {chart.named} is the slowest for every matrix. In the model it is for {slowest} of {len(rows)}. "
        f"The best hybrid method is that of the papers' ranges of rows for {best} of {len(rows)} (target best).",
    ]


def _poisson_notes(rows: list[dict[str, Any]]) -> list[str]:
    return [
        "difference: from the printed speedup, or from the nearer end of a printed range; 0 within it.",
        "On what the differences depend is said in target claims.",
    ]


def _style(place: int, column: str) -> int:
    """The hybrid methods have one colour in all charts."""
    return len(CPU_BARS[2]) + 1 + HYBRIDS.index(column) if column in HYBRIDS else place


def _drawn(chart: Chart, rows: list[dict[str, Any]]) -> Figure:
    """A group of bars for each matrix."""
    count, places = len(chart.columns), np.arange(len(rows))
    wide = WIDE / count
    layers: list[Layer] = []
    for k, column in enumerate(chart.columns):
        values = np.array([row[column] if row[column] is not None else np.nan for row in rows], float)
        layers.append(
            BarsOf(column, places + (k - (count - 1) / 2) * wide, values, 0.9 * wide, style=_style(k, column))
        )
    said = [(place, row["printed_hybrid3"]) for place, row in enumerate(rows) if row.get("printed_hybrid3")]
    points = [(place + (count - 1) / 2 * wide, each) for place, all_of in said for each in np.atleast_1d(all_of)]
    if points:
        x, y = np.array(points, float).T
        layers.append(CurveOf("printed, hybrid3", x, y, style_of("printed"), every=True, only=True))
    several = len(chart.machines) > 1
    names = [f"{row['matrix'].removesuffix(' Poisson')}{', ' + row['machine'] if several else ''}" for row in rows]
    layers.append(LineAt(1.0))
    scene = Scene("speedups", Axis("matrix", names=names), Axis(f"speedup over {chart.named}, modelled"), layers)
    return draw(scene, title=chart.title, width=8.5)
