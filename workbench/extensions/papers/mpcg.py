"""Tables 1 to 3 of Chen, "Parallel Implementation of Multipreconditioned Conjugate Gradient Methods".

Figures 4 to 6 are in `mpcg_figures`.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Iterator, Mapping
from typing import Any

from workbench.extensions.papers import items
from workbench.extensions.papers.comparison import Compared
from workbench.extensions.papers.items import Case, Drawn, Item, Turned, Values, Work
from workbench.extensions.papers.mpcg_model import (
    CG,
    LIMITS_MB,
    MPCG,
    SUM_CG,
    Fit,
    fitted,
    fitted_by_blocks,
    fitted_by_size,
    printed_seconds,
)
from workbench.extensions.papers.mpcg_sweeps import (
    GPU,
    SWEEPS,
    Sweeps,
    modelled_cpu,
    modelled_gpu,
    point_seconds,
    printed,
)
from workbench.extensions.papers.standing import Reason, Support
from workbench.machines.describe import describe_machine
from workbench.machines.profile import Number, Profile, profile
from workbench.plots.scenes.scene import Axis
from workbench.run import Configuration, Stopping, configure
from workbench.words.numbers import count

CG_OPERATIONS = 20
"""Operations of CG per iteration and unknown: 10 for a product with 5 entries per row, 10 for vectors."""
SIDE = ("N", "N_here")
"""Columns of a row with the paper's size and ours."""
NO_REASONS: dict[str, Reason] = {}
CACHE = {
    "": Reason(
        "the arrays fit the second-level cache of the GPU, which is assumed, and the model reads them from its memory",
        Support.PLAUSIBLE,
    )
}
LARGE_BLOCKS = Reason(
    "a slower line 10 for new blocks beyond a cache, with two more fitted numbers and a limit picked from six, leaves "
    "no time of the table beyond 15%; a rate for each N does so too",
    Support.PLAUSIBLE,
)
SECONDS = Compared(
    printed="printed_s",
    modelled="modelled_s",
    ours="measured_s",
    sizes=SIDE,
    elsewhere=True,
    reasons={"": LARGE_BLOCKS},
    fitted="two numbers, to these 15 times",
)
BOXES = tuple(printed()["table3"]["boxes"])
OVERLAP = Turned("overlap", "overlap of the boxes, points", (0, 1, 2, 4, 8, 16), 1, count, whose="ours")
"""The paper prints no overlap; the model of its table has 1."""
TIME = Axis("time", "s", log=True)


def in_boxes(n: int, solver: str, boxes: str = "", overlap: int = 1) -> Configuration:
    """A solve of `poisson-fd` with f = 1 to the tolerance of Table 3, preconditioned by exact solves in boxes.

    n: intervals per side. boxes: such as "2x3"; empty for no preconditioner. overlap: points.
    """
    first = f"schwarz:{boxes},overlap={overlap}" if boxes else "none"
    return configure("poisson-fd", n=n, solver=solver, preconditioner=first, stopping=Stopping(rtol=1e-6))


def sides(paper: int) -> Turned:
    """The slider of sizes. paper: intervals per side at which it begins."""
    return Turned("n", "intervals per side N", (50, 100, 150, 200, 250, 300, 400, 500), paper, count, whose="")


def at_most(rows: list[dict[str, Any]], values: Values) -> list[str]:
    """A sentence on the machine of the measurements, and one if some sizes are smaller than the paper's."""
    about, most, largest = describe_machine(), values["max_n"], max(row["N"] for row in rows)
    load = f"Measured on {about['cpu']}, {about['cores_usable']} cores; other load on this machine raises times."
    short = f"N here is at most {most}; --max-n {largest} takes the paper's sizes."
    return [f"{load} {values['why']}".strip(), *([short] if largest > most else [])]


def _gpu_of_sweeps() -> tuple[Turned, Turned]:
    where = profile(GPU)
    bandwidth, launch = 1e-9 * where.bandwidth.value, 1e6 * where.required("launch_latency").value
    return (
        Turned("bandwidth", "GPU's bandwidth, GB/s", items.geometric(20, 8000, 41, bandwidth), bandwidth, whose="ours"),
        Turned("launch", "GPU's latency of a launch, µs", items.geometric(0.1, 100, 31, launch), launch, whose="ours"),
    )


GPU_OF_SWEEPS = _gpu_of_sweeps()


def turned_gpu(values: Values) -> Profile:
    """The profile of the paper's GPU, with the bandwidth (GB/s) and the latency (µs) of the sliders."""
    return dataclasses.replace(
        profile(GPU),
        bandwidth_nominal=Number(1e9 * values["bandwidth"], "assumed", "turned by hand"),
        launch_latency=Number(1e-6 * values["launch"], "assumed", "turned by hand"),
    )


AUTO = {"": "auto"}
"""The kernel of sweeps that the device prefers, in a column without an ending."""


def measured_sweeps(n: int, values: Values, kernels: Mapping[str, str] = AUTO, *, constant: bool = True) -> list[Work]:
    """Measurements of Jacobi sweeps on the cores, and in a report on the accelerator of this machine.

    kernels: names of kernels by the ending of their columns. constant: constant coefficients.
    """
    return [
        Work(f"Jacobi sweeps, N = {n}, {device}", Sweeps(n, device, constant, kernel), f"measured_{device}{end}_s")
        for device in filter(None, ("cpu", values.get("accelerator_here")))
        for end, kernel in kernels.items()
    ]


def sweeps(table: str, values: Values) -> Iterator[Case]:
    """Table 1 or 2: Jacobi sweeps on one box, with coefficients at every point or constant ones."""
    constant = table == "table2"

    def modelled(n: int) -> dict[str, float]:
        gpu = modelled_gpu(n, constant=constant, where=turned_gpu(values))
        return {"modelled_cpu_s": modelled_cpu(n, table), "modelled_gpu_s": gpu}

    for n, cpu, gpu, speedup in printed()[table]["rows"]:
        here = items.size_here(n, values)
        row = {"N": n, "printed_cpu_s": cpu, "printed_gpu_s": gpu, "printed_speedup": speedup, "N_here": here}
        yield Case(row, measured_sweeps(here, values, constant=constant), functools.partial(modelled, n))


def _speedups(rows: list[dict[str, Any]]) -> None:
    """Add the speedup of the accelerator over the cores to each row, None where one was not measured."""
    for row in rows:
        accelerator = row.get("measured_cuda_s") or row.get("measured_opencl_s")
        row["measured_speedup"] = items.ratio(row.get("measured_cpu_s"), accelerator)


def sweeps_compared(
    which: str, curve: str, *ours: str, reasons: Mapping[str, Reason] = NO_REASONS, fitted: str = ""
) -> Compared:
    """A comparison of the seconds of Jacobi sweeps: printed, modelled, and measured here in columns `ours`."""
    names: dict[str, Any] = {"printed": f"printed_{which}_s", "modelled": f"modelled_{which}_s", "curve": curve}
    return Compared(**names, ours=ours, sizes=SIDE, elsewhere=True, reasons=reasons, fitted=fitted)


def _sweeps(table: str, what: str) -> Item:
    """Table 1 or 2."""
    return Item(
        name=table,
        title=f"Table {table[-1]}: 5 N² Jacobi sweeps on N × N points, {what}",
        cases=functools.partial(sweeps, table),
        named=("N",),
        x=Axis("points per side N", "count", log=True, word="N", marks=[line[0] for line in printed()[table]["rows"]]),
        y=TIME,
        across="N",
        drawn=(Drawn("measured_cpu_s", items.MEASURED, "cores here", across="N_here"),),
        finish=_speedups,
        compared=(
            sweeps_compared("cpu", "CPU", "measured_cpu_s", fitted="the time of a point, to these times"),
            sweeps_compared("gpu", "GPU", "measured_cuda_s", "measured_opencl_s", reasons=CACHE),
            Compared(printed="printed_speedup", ours="measured_speedup", sizes=SIDE, elsewhere=True),
        ),
        turned=GPU_OF_SWEEPS,
        notes=(
            f"Measured: {SWEEPS} Jacobi sweeps in single precision, the median of several rounds, times 5 N² / "
            f"{SWEEPS}; 5 N² sweeps are not measured. On the cores all threads share a box; the paper's program is "
            "sequential.",
            f"Modelled, CPU: the paper's program takes {1e9 * point_seconds(table):.3g} ns for a point in a Jacobi "
            "sweep, the same for every N: fitted, as the paper names no processor.",
            "Modelled, GPU: a launch of 2.2 microseconds in each Jacobi sweep, fitted to N = 50, and its arrays over "
            "the bandwidth of an assumed GTX 1060 (data/machines); the paper names no GPU.",
        ),
        found=at_most,
        accelerated=True,
    )


def table3(values: Values) -> Iterator[Case]:
    """Seconds of MPCG; in a report next to CG with the sum of the same boxes and CG."""
    report, overlap, turned = "report" in values, values["overlap"], values["n"]
    lines = {n: dict(zip(BOXES, seconds, strict=True)) for n, seconds in reversed(printed()["table3"]["rows"])}
    sizes: list[int] = [*lines, *([turned] if turned not in lines else [])]
    for n, boxes in itertools.product(sizes, BOXES):
        here, works = items.size_here(n, values), []
        known, words = n in lines and overlap == OVERLAP.paper, f"{boxes} boxes, N = {here}"
        if report or n == turned:
            read = functools.partial(_read_table3, n, boxes, known=known)
            works.append(Work(words, in_boxes(here, "mpcg", boxes, overlap), read, timed=True))
        if report:
            for name, other in (("sum_cg", in_boxes(here, "sum-cg", boxes)), ("cg", in_boxes(here, "cg"))):
                columns = {f"measured_{name}_s": "iteration_seconds", f"{name}_iterations": "iterations"}
                works.append(Work(f"{name}, {words}", other, columns, timed=True))
        row = {"N": n, "boxes": boxes, "printed_s": lines.get(n, {}).get(boxes), "N_here": here}
        yield Case(row, works, functools.partial(_modelled_table3, n, boxes) if known else dict)


def _read_table3(n: int, boxes: str, solved: items.Solved, *, known: bool) -> dict[str, float]:
    row = {"measured_s": solved.iteration_seconds, "iterations": solved.iterations}
    return row if known else {**row, "modelled_s": fitted().seconds(n, boxes, int(solved.iterations))}


def _modelled_table3(n: int, boxes: str) -> dict[str, float]:
    """Modelled seconds by the iterations that are known without a solve, those for an overlap of one point."""
    fit = fitted()
    sums = fit.solves(n, boxes, SUM_CG[n][boxes])
    return {"modelled_s": fit.seconds(n, boxes, MPCG[n][boxes]), "modelled_sum_cg_s": sums}


def with_fit(rows: list[dict[str, Any]], values: Values) -> list[str]:
    """The fitted numbers and their accuracy, as sentences."""
    fit = fitted()
    found = f"The multiple is {fit.factor:.3g}, the rate {1e-9 * fit.rate:.3g} GFLOP/s"
    return [f"{found}; they meet Table 3 to {100 * fit.rms:.1f}% rms.", *at_most(rows, values)]


def _found_in_table3(rows: list[dict[str, Any]], values: Values) -> list[str]:
    return [_by_size(), _by_blocks(), _competitors(fitted()), *with_fit(rows, values)]


def _by_size() -> str:
    """A sentence on the deviations of the model from Table 3, which depend on N."""
    found = fitted_by_size()
    rates = ", ".join(f"{1e-9 * rate:.3g} for N = {n}" for n, rate in found.rates.items())
    return (
        f"The deviations go with N: with a rate of line 10 for each, {rates} GFLOP/s, the model meets the table to "
        f"{100 * found.rms:.1f}% rms and {100 * found.most:.0f}% at most. Iterations that grow faster with N than "
        "those counted here would do the same, by a tenth or two from N = 300 to 500; the paper prints neither."
    )


def _by_blocks() -> str:
    """A sentence on the fit with two rates of line 10, for new blocks up to a limit and beyond it."""
    found = fitted_by_blocks()
    fast, slow = (1e-9 * rate for rate in found.rates)
    tried = ", ".join(f"{limit:g}" for limit in LIMITS_MB)
    return (
        f"Line 10 at {fast:.3g} GFLOP/s where a new block (8 k N² bytes) is at most {found.limit:g} MB and at "
        f"{slow:.3g} beyond, boxes times {found.factor:.3g}: {100 * found.rms:.1f}% rms and {100 * found.most:.0f}% at "
        f"most, the best limit of {tried} MB. It may be the last cache of a machine that the paper does not name."
    )


def _competitors(fit: Fit) -> str:
    """A sentence on modelled times of CG on the paper's machines, with the sum of the solves and without boxes."""
    cases = [(n, boxes) for n, counts in MPCG.items() for boxes in counts]
    ratios = [SUM_CG[n][boxes] / MPCG[n][boxes] for n, boxes in cases]
    wins = sum(fit.solves(n, boxes, SUM_CG[n][boxes]) < printed_seconds(n, boxes) for n, boxes in cases)
    plain = {n: CG_OPERATIONS * n * n * iterations / fit.rate for n, iterations in CG.items()}
    return (
        f"CG with the sum of the same solves needs {min(ratios):.2g} to {max(ratios):.2g} times as many iterations and "
        f"no line 10: modelled on the paper's machines it is faster than the printed time in {wins} of {len(cases)} "
        "cases. CG without boxes, at the rate of line 10, would take "
        + ", ".join(f"{seconds:.2g} s at N = {n} ({CG[n]} iterations)" for n, seconds in plain.items())
        + "."
    )


FIT = (
    "Modelled: T = it t + 2 it² k² N² / rate for it iterations, k boxes solved at the same time, each in t, a "
    "multiple of the time of 5 m Jacobi sweeps on m = N²/k points in Table 2; that multiple and the rate of line 10 "
    "are fitted to the 15 entries of Table 3. Iterations are those of exact solves in boxes; the paper prints neither "
    "overlap nor f nor counts."
)
TABLES = (
    _sweeps("table1", "coefficients at every point"),
    _sweeps("table2", "constant coefficients"),
    Item(
        name="table3",
        title="Table 3: seconds of MPCG to a relative residual of 10⁻⁶",
        cases=table3,
        named=("N", "boxes"),
        x=Axis("boxes", names=BOXES),
        y=TIME,
        across="boxes",
        compared=(dataclasses.replace(SECONDS, curve="N = {N}"),),
        drawn=(Drawn("measured_s", items.MEASURED, "N = {N}, here", "N = {N}"),),
        turned=(sides(300), OVERLAP),
        notes=(
            FIT,
            "2 x 3 boxes are larger than 3 x 3 and need more iterations, hence the minimum of the printed times at 3 "
            "x 3; their rise after it is line 10.",
            "Measured: boxes are solved exactly and one after another, in double precision, and terms are stored on "
            "their boxes alone, so that line 10 costs N² operations per old block and not k² N².",
        ),
        found=_found_in_table3,
    ),
)
