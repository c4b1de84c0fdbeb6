"""Chen 2022: Tables 1 to 3 and Figure 4, to be turned."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator
from typing import Any

import numpy as np

from workbench.machine.profile import Number, profile
from workbench.number_text import count
from workbench.papers.items import COUNTED, MEASURED, MODELLED, Curve, Item, Solved, Step, Turned, Values, geometric
from workbench.papers.mpcg_counts import MPCG
from workbench.papers.mpcg_model import fitted
from workbench.papers.mpcg_printed import printed
from workbench.papers.mpcg_solves import in_boxes
from workbench.papers.mpcg_sweeps import GPU, modelled_cpu, modelled_gpu, sweep_seconds, sweeps_of
from workbench.scenes.scene import Axis

PAPER = "mpcg"
BOXES = tuple(printed()["table3"]["boxes"])
SIDES = tuple(sorted(MPCG))
CPU_NAME, GPU_NAME = "CPU", "GPU"
OVERLAP = Turned("overlap", "overlap of the boxes, points", (0, 1, 2, 4, 8, 16), 1, count, whose="ours")
"""The paper prints none; 1 is what its table is modelled with."""


def sweeps_printed(table: str) -> list[Curve]:
    sides, cpu, gpu, _ = np.array(printed()[table]["rows"], float).T
    return [Curve(CPU_NAME, sides, cpu, "printed"), Curve(GPU_NAME, sides, gpu, "printed")]


def sweeps_modelled(table: str, values: Values) -> list[Curve]:
    where = dataclasses.replace(
        profile(GPU),
        bandwidth_nominal=Number(1e9 * values["bandwidth"], "assumed", "turned by hand"),
        launch_latency=Number(1e-6 * values["launch"], "assumed", "turned by hand"),
    )
    sides = np.array([line[0] for line in printed()[table]["rows"]], float)
    constant = table == "table2"
    cpu = np.array([modelled_cpu(int(n), table) for n in sides])
    gpu = np.array([modelled_gpu(int(n), constant=constant, where=where) for n in sides])
    return [
        Curve(f"{CPU_NAME}, modelled", sides, cpu, MODELLED, CPU_NAME),
        Curve(f"{GPU_NAME}, modelled", sides, gpu, MODELLED, GPU_NAME),
    ]


@dataclasses.dataclass(frozen=True)
class Sweeps:
    """Seconds of 5 n^2 Jacobi sweeps here, from those of 400."""

    n: int
    constant: bool

    def __call__(self) -> float:
        return sweep_seconds(self.n, sweeps_of(self.n), constant=self.constant)


def sweeps_steps(table: str, _values: Values) -> Iterator[Step]:
    def read(n: int, seconds: float) -> list[Curve]:
        return [Curve("cores here", np.array([float(n)]), np.array([seconds]), MEASURED)]

    for n, *_ in printed()[table]["rows"]:
        yield Step(f"Jacobi sweeps, N = {n}", Sweeps(n, table == "table2"), functools.partial(read, n))


def jacobi(table: str, what: str) -> Item:
    """Table 1 or 2."""
    where = profile(GPU)
    bandwidth, launch = 1e-9 * where.bandwidth.value, 1e6 * where.required("launch_latency").value
    return Item(
        paper=PAPER,
        name=table,
        title=f"Table {table[-1]}: 5 N² Jacobi sweeps, {what}",
        x=Axis("points per side N", "count", log=True, word="N", marks=[line[0] for line in printed()[table]["rows"]]),
        y=Axis("time", "s", log=True),
        turned=(
            Turned("bandwidth", "GPU's bandwidth, GB/s", geometric(20, 8000, 41, bandwidth), bandwidth, whose="ours"),
            Turned("launch", "GPU's latency of a launch, µs", geometric(0.1, 100, 31, launch), launch, whose="ours"),
        ),
        printed=functools.partial(sweeps_printed, table),
        modelled=functools.partial(sweeps_modelled, table),
        steps=functools.partial(sweeps_steps, table),
        notes=(
            "Modelled, CPU: one time per point and Jacobi sweep, fitted, as the paper names no processor. Modelled, "
            "GPU: a launch per Jacobi sweep, and its arrays over the bandwidth of an assumed GTX 1060.",
            "Measured on all cores of this machine; the paper's program is sequential.",
        ),
        reason="the arrays fit the cache of the assumed GPU, so that the model is too slow for large N",
    )


def table3_printed() -> list[Curve]:
    places = np.arange(float(len(BOXES)))
    return [Curve(f"N = {n}", places, np.array(seconds), "printed") for n, seconds in printed()["table3"]["rows"]]


def table3_modelled(values: Values) -> list[Curve]:
    """From the counts that are known without a solve: those of an overlap of one point at the printed N."""
    if values["overlap"] != OVERLAP.paper:
        return []
    places = np.arange(float(len(BOXES)))
    times = {n: [fitted().seconds(n, boxes, MPCG[n][boxes]) for boxes in BOXES] for n in MPCG}
    return [Curve(f"N = {n}, modelled", places, np.array(found), MODELLED, f"N = {n}") for n, found in times.items()]


def table3_steps(values: Values) -> Iterator[Step]:
    n, overlap = values["n"], values["overlap"]
    known = overlap == OVERLAP.paper and n in MPCG

    def read(place: int, boxes: str, solved: Solved) -> list[Curve]:
        x = np.array([float(place)])
        here = Curve(f"N = {n}, here", x, np.array([solved.iteration_seconds]), MEASURED)
        if known:
            return [here]
        seconds = fitted().seconds(n, boxes, solved.iterations)
        return [here, Curve(f"N = {n}, modelled", x, np.array([seconds]), MODELLED, f"N = {n}")]

    for place, boxes in enumerate(BOXES):
        work = in_boxes(n, "mpcg", boxes, overlap)
        yield Step(f"{boxes} boxes, N = {n}", work, functools.partial(read, place, boxes), timed=True)


def fig4_steps(values: Values) -> Iterator[Step]:
    def read(boxes: str, solved: Solved) -> list[Curve]:
        return [Curve(f"{boxes} boxes", np.arange(float(len(solved.residuals))), np.array(solved.residuals), COUNTED)]

    n, overlap = values["n"], values["overlap"]
    for boxes in BOXES:
        yield Step(f"{boxes} boxes, N = {n}", in_boxes(n, "mpcg", boxes, overlap), functools.partial(read, boxes))


def sides(paper: int, *more: int) -> Turned:
    return Turned("n", "intervals per side N", tuple(sorted({*SIDES, *more})), paper, count, whose="")


NAMES: dict[str, Any] = {"names": BOXES}
ITEMS = (
    jacobi("table1", "coefficients at every point"),
    jacobi("table2", "constant coefficients"),
    Item(
        paper=PAPER,
        name="table3",
        title="Table 3: seconds of MPCG by boxes",
        x=Axis("boxes", **NAMES),
        y=Axis("time", "s", log=True),
        turned=(sides(300, 50, 100, 150, 250, 400), OVERLAP),
        printed=table3_printed,
        modelled=table3_modelled,
        steps=table3_steps,
        notes=(
            "Modelled: boxes solved at the same time on the paper's GPU, line 10 on its host, iterations of exact "
            "solves; two numbers are fitted to Table 3 (overlap 1). The paper prints neither overlap nor counts.",
            "Measured on this machine: boxes one after another, terms stored on their boxes alone.",
        ),
    ),
    Item(
        paper=PAPER,
        name="fig4",
        title="Figure 4: residuals of MPCG by boxes",
        x=Axis("iteration", "count", whole=True, word="iteration"),
        y=Axis("relative residual", log=True),
        turned=(sides(300, 50, 100, 150, 250, 400), OVERLAP),
        steps=fig4_steps,
        notes=("The paper draws curves and prints no counts, so that nothing is compared.",),
    ),
)
