"""Tiwari, Vadhiyar: Figures 4 to 6 of 2022 and 6 to 8 of 2021, speedups matrix by matrix, modelled."""

from __future__ import annotations

import dataclasses
import functools
import statistics
from collections.abc import Iterator, Sequence
from typing import Any

from workbench.devices.dry_run import Sizes
from workbench.extensions.models import host_and_gpu as hybrid_machines
from workbench.extensions.models.host_and_gpu import machine
from workbench.extensions.models.schedules import LIBRARY, METHODS, Method, expected
from workbench.extensions.papers import items
from workbench.extensions.papers.comparison import Compared
from workbench.extensions.papers.hybrid_model import HYBRIDS, MODEL, printed_best, systems
from workbench.extensions.papers.hybrid_pipecg import printed
from workbench.extensions.papers.items import SHOWN, Case, Drawn, Item, Turned, Values
from workbench.extensions.papers.standing import Reason, Support
from workbench.machines.profile import Number, Profile, profile
from workbench.machines.retime import Machine
from workbench.plots.scenes.scene import Axis

BARS: dict[str, Method] = METHODS | {f"{name} library": method for name, method in LIBRARY.items()}
"""Methods by the names of columns; library: one pass per line, as with PETSc and Paralution."""
MATRICES = tuple(name for name, *_ in printed()["matrices"]["rows"])
POISSON = tuple(name for name, *_ in printed()["poisson125"]["rows"])


def _label(bar: str) -> str:
    return BARS[bar].label + ("" if BARS[bar].fuse else ", as libraries")


KINDS = {"mean": statistics.mean, "max": max}
"""Summaries of the speedups over all matrices, which the papers print."""
FUSED, LIBRARIES = "fused passes", "one pass per line, as libraries"
BASELINE = Turned("baseline", "baseline", (LIBRARIES, FUSED), LIBRARIES, str, menu=True)
BANDWIDTHS = {"cores": "cores' bandwidth", "accelerator": "GPU's bandwidth", "link": "link's bandwidth"}
TIMES = tuple(
    Turned(
        name,
        f"{title}, times the machine's",
        items.geometric(0.25, 4, 33, 1.0),
        1.0,
        lambda factor: f"{factor:.3g}",
        whose="",
    )
    for name, title in BANDWIDTHS.items()
)


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
        return (self.baseline, *self.bars, *self.hybrids)

    @property
    def hybrids(self) -> tuple[str, ...]:
        return ("hybrid3",) if self.poisson else HYBRIDS


# The papers find PIPECG-OpenMP the slowest for every matrix because of its vector operations: not fused.
CPU_BARS = ("pipecg cpu library", "PIPECG-OpenMP", ("pipecg cpu", "cg cpu", "cg cpu library"))
GPU_BARS = ("pipecg gpu library", "PETSc-PIPECG-GPU", ("pipecg gpu", "cg gpu", "cg gpu library"))
CHARTS = {
    "fig4": Chart("2022, Figure 4: speedup over versions on the CPU", ("k40",), *CPU_BARS),
    "fig5": Chart("2022, Figure 5: speedup over versions on the GPU", ("k40",), *GPU_BARS),
    "fig6": Chart("2022, Figure 6: speedup beyond the GPU's memory, Poisson", ("k40", "v100"), *CPU_BARS, poisson=True),
    "fig6-2021": Chart("2021, Figure 6: speedup over versions on the CPU", ("k20m",), *CPU_BARS),
    "fig7-2021": Chart("2021, Figure 7: speedup over versions on the GPU", ("k20m",), *GPU_BARS),
    "fig8-2021": Chart("2021, Figure 8: speedup beyond the GPU's memory, Poisson", ("k20m",), *CPU_BARS, poisson=True),
}
"""Both papers have a Figure 6."""


def turned_machine(name: str, values: Values) -> Machine:
    """The machine with its bandwidths times the factors that were turned."""
    found = machine(name)
    accelerator = _times(found.accelerator, values["accelerator"], "bandwidth_nominal", "bandwidth_measured")
    accelerator = _times(accelerator, values["link"], "to_host_bandwidth", "to_device_bandwidth")
    return Machine(_times(found.cores, values["cores"], "bandwidth_nominal", "bandwidth_measured"), accelerator)


def _times(where: Profile, factor: float, *quantities: str) -> Profile:
    known = {name: found for name in quantities if isinstance(found := getattr(where, name), Number)}
    return dataclasses.replace(
        where, **{name: dataclasses.replace(found, value=factor * found.value) for name, found in known.items()}
    )


def bars(name: str, values: Values) -> Iterator[Case]:
    """The speedups of a chart over its baseline, for each of its matrices; on the page also those of the best hybrid
    method over PCG, with their mean and maximum."""
    chart, report = CHARTS[name], "report" in values
    baseline, columns = chart.baseline, chart.columns
    pcg = baseline.replace("pipecg", "cg")
    if not report:
        if values["baseline"] == FUSED:
            baseline, pcg = (each.removesuffix(" library") for each in (baseline, pcg))
        columns = chart.hybrids if chart.poisson else (pcg, *chart.hybrids)
    claimed = printed()["claims"]
    for where in chart.machines if report else (values["machine"],):
        turned = turned_machine(where, values)
        for matrix, sizes, machines in systems():
            if ("Poisson" in matrix) != chart.poisson or (report and where not in machines):
                continue
            row = {"machine": where, "matrix": matrix, "N": sizes.size, SHOWN: matrix.removesuffix(" Poisson")}
            if chart.poisson:
                said = claimed.get(f"out_of_gpu_memory_{where}") if where in machines else None
                row["printed_hybrid3"] = said.get(row[SHOWN]) if isinstance(said, dict) else said
            else:
                row["printed_best"] = printed_best(sizes.size)
            yield Case(row, modelled=functools.partial(_speedups, chart, baseline, columns, sizes, turned))
        for kind in () if report or chart.poisson else KINDS:
            over_pcg = claimed[f"vs_pcg_{'cpu' if 'cpu' in pcg else 'gpu'}"][kind]
            yield Case({"machine": where, "matrix": kind, SHOWN: kind, "printed_over_pcg": over_pcg})


def _speedups(chart: Chart, baseline: str, columns: Sequence[str], sizes: Sizes, where: Machine) -> dict[str, Any]:
    """Speedups over the baseline; None where a system does not fit."""
    base = expected(BARS[baseline], sizes, where).seconds
    taken = {bar: expected(BARS[bar], sizes, where).seconds for bar in columns}
    row: dict[str, Any] = {bar: base / seconds if base and seconds else None for bar, seconds in taken.items()}
    if chart.poisson:
        return row
    fitting = {hybrid: seconds for hybrid in chart.hybrids if (seconds := taken[hybrid])}
    pcg = taken[columns[0]]
    row["best_hybrid"] = min(fitting, key=fitting.__getitem__, default=None)
    return row | ({"over_pcg": pcg / min(fitting.values())} if "pipecg" not in columns[0] and pcg and fitting else {})


def _over_all(rows: list[dict[str, Any]]) -> None:
    """Mean and maximum of the speedups over PCG."""
    known = [row["over_pcg"] for row in rows if row.get("over_pcg") is not None]
    for row in rows:
        if row["matrix"] in KINDS and known:
            row["over_pcg"] = KINDS[row["matrix"]](known)


INCLUDES_FUSED = Reason(
    "in a fused pass the dot products cost no memory traffic of their own, so that moving them to the cores saves "
    "nothing; hybrid 3 gains more, and the papers' times for it include setup",
    Support.PLAUSIBLE,
)
OF_PAPERS = ("k20m", "k40")
"""Machines by which the papers' ranges of rows were found."""
BEST = Compared(
    printed="printed_best",
    modelled="best_hybrid",
    reasons={", hybrid1": INCLUDES_FUSED, ", hybrid2": INCLUDES_FUSED},
    uncounted=lambda row: "" if row["machine"] in OF_PAPERS else "the papers' ranges of rows are of other machines",
)
SPEEDUP = Compared(
    printed="printed_hybrid3",
    modelled="hybrid3",
    quantity="speed-up of hybrid 3",
    curve=_label("hybrid3"),
    reasons={
        "6M Poisson, k20m": Reason(
            "the share of the rows that fits the GPU limits the modelled speedup, and falls with N; why the printed "
            "one rises is not known",
            Support.UNKNOWN,
        ),
        "4.5M Poisson, k20m": Reason(
            "the papers choose the share of the rows by products with the first rows, and say that a better choice "
            "would gain more",
            Support.PLAUSIBLE,
        ),
    },
)
MEANS = {
    "mean": Reason(
        "the nominal bandwidths of the assumed hosts, and times of hybrid 3 that include its setup in the papers",
        Support.PLAUSIBLE,
    ),
    "max over PCG on the GPU": Reason(
        "a candidate: with a second kernel and the copy of a scalar for each of the library's three dot products, 3 x "
        "(9.27 + 6) µs, the one value tried, the maximum is 4.8; but the mean is then farther off",
        Support.UNKNOWN,
    ),
    "max over PCG on the CPU": Reason(
        "of 15 pairs of a latency of loops and a share of bandwidth that were tried for the cores none gives more than "
        "5.2; a baseline 2.2 times slower is needed",
        Support.UNKNOWN,
    ),
}
OVER_PCG = Compared(
    printed="printed_over_pcg",
    modelled="over_pcg",
    curve="best hybrid over PCG",
    reasons=MEANS,
    uncounted=lambda _: "a row of the item on claims",
)


def _found(chart: Chart, rows: list[dict[str, Any]], _values: Values) -> list[str]:
    """Sentences on how often the model agrees with statements of the papers on all matrices."""
    if chart.poisson:
        return []
    slowest = sum(min(row[bar] for bar in chart.columns) == row[chart.baseline] for row in rows)
    best = sum(row["best_hybrid"] == row["printed_best"] for row in rows)
    slow = [
        row["matrix"]
        for row in rows
        if min(row[each] for each in chart.hybrids if row[each]) < max(row[bar] for bar in chart.bars if row[bar])
    ]
    beaten = (
        [
            "The papers: all hybrid methods are faster than all versions on the CPU, for all matrices. In the model "
            f"they are not for {', '.join(slow)}. Plausible: its loops on the cores have no latency."
        ]
        if slow and chart.baseline == CPU_BARS[0]
        else []
    )
    return [
        f"The papers: {chart.named} is the slowest for every matrix. In the model it is for {slowest} of {len(rows)}. "
        f"The best hybrid method is that of the papers' ranges of rows for {best} of {len(rows)} (target best).",
        *beaten,
    ]


def _item(name: str, chart: Chart) -> Item:
    names = dict.fromkeys((*chart.machines, "k20m", "k40", "v100", "h200"))
    turned = (
        Turned("machine", "machine", tuple(names), chart.machines[0], lambda each: profile(each).title, menu=True),
        BASELINE,
        *TIMES,
    )
    return Item(
        name=name,
        title=chart.title,
        cases=functools.partial(bars, name),
        named=("matrix", "machine"),
        x=Axis("125-point Poisson matrix", names=POISSON)
        if chart.poisson
        else Axis("matrix", names=(*MATRICES, *KINDS)),
        y=Axis(f"speedup over {chart.named}, modelled"),
        across=SHOWN,
        drawn=tuple(
            Drawn(bar, items.MODELLED, _label(bar), _label(bar))
            for bar in BARS
            if bar != "hybrid3" or not chart.poisson
        ),
        drawn_as="bars",
        finish=_over_all,
        compared=(
            (dataclasses.replace(SPEEDUP, uncounted=lambda _: "a row of the item on claims"),)
            if chart.poisson
            else (dataclasses.replace(BEST, uncounted=lambda _: "a row of the item on the best method"), OVER_PCG)
        ),
        turned=turned,
        notes=(
            f"Speedups over {chart.named}, modelled as {_label(chart.baseline)}. As libraries: a pass per line, as in "
            "PETSc and Paralution; else fused passes. The papers draw bars without numbers; printed is what their "
            "text says"
            + (", for a machine a range." if chart.poisson else ": the mean and the largest speedup over PCG."),
            *MODEL,
            *hybrid_machines.NOTES,
        ),
        found=functools.partial(_found, chart),
    )


FIGURES = tuple(_item(name, chart) for name, chart in CHARTS.items())
