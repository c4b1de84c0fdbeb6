"""Tali, Vainikko: Figures 5 and 6, measured here in single precision and modelled on the paper's machines."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.extensions.papers import items
from workbench.extensions.papers.block_cg import ROWS_PER_N, System, by_table2, flops_printed, printed, scaled, system
from workbench.extensions.papers.block_cg_iteration import (
    GROUP,
    ITERATIONS,
    WAIT,
    Iteration,
    cupy_seconds,
    host_sums,
    iteration,
    scipy_seconds,
)
from workbench.extensions.papers.comparison import Compared
from workbench.extensions.papers.items import Case, Drawn, Item, Turned, Values, Work
from workbench.extensions.papers.standing import Reason, Support
from workbench.machines.describe import describe_machine
from workbench.machines.profile import profile
from workbench.plots.scenes.scene import Axis
from workbench.words.numbers import count

if TYPE_CHECKING:
    from workbench.extensions.papers.comparison import Row


CPU, GPU = "i5-8250u", "rtx2080s"
MACHINES = (GPU, CPU, "k20m", "v100", "h200")
STEADY = 7
"""Right-hand sides up to which the printed times of both matrices of Figure 6 grow evenly."""
USUAL_GROUP = 256
"""Work-items of a group, as programs usually take."""
COLUMNS = (1, 2, 3, 4, 6, 8, 10, 12, 16, 20)
"""Right-hand sides measured, of those in Figure 6."""
RATE = Axis("GFLOP/s by the paper's count", log=True)
LINES = {name: (kind, n, nnz) for name, kind, n, nnz, *_ in printed()["table1"]["rows"]}
FIG6 = printed()["fig6"]["rates"]
MATRICES, GROWING = tuple(LINES), tuple(FIG6)
ON_HOST, ON_DEVICE = "partial sums on the host", "on the device"
SUMS = Turned("sums", "dot products on a GPU", (ON_HOST, ON_DEVICE), ON_HOST, str, menu=True)
WAIT_US = 1e6 * WAIT
WAITS = (0.0, *items.geometric(1, 10_000, 25, WAIT_US))
WAITING = Turned("wait", "wait of the host per iteration, µs", WAITS, WAIT_US, whose="ours")
"""The paper does not say how long its host waits: ours is what its smallest matrices take."""
SIZES = (16, 64, 128, 512)
SIZE = Turned("size", "largest stand-in, rows", SIZES, 512, lambda size: count(ROWS_PER_N * size), whose="", limit=True)
system_of = functools.lru_cache(maxsize=2)(system)


@dataclasses.dataclass(frozen=True)
class Measured:
    """An iteration with b right-hand sides, with its operations by the paper's count. n: rows of the matrix."""

    iteration: Iteration
    gflop: float
    b: int
    n: int
    itemsize: int
    source: str

    @property
    def rate(self) -> float:
        return self.gflop / self.iteration.seconds

    def modelled(self, machine: str, wait: float = 0.0, *, sums: bool = False) -> float:
        """GFLOP/s on a machine. wait: of the host, in seconds. sums: it adds up partial sums of dot products."""
        where = profile(machine)
        seconds = self.iteration.modelled(where)
        if where.kind == "gpu":
            seconds += wait + (host_sums(where, self.n, self.b, self.itemsize) if sums else 0.0)
        return self.gflop / seconds


@dataclasses.dataclass(frozen=True)
class BlockIteration:
    """An iteration with b right-hand sides, measured here. size: stand-ins have at most ROWS_PER_N `size` rows."""

    matrix: str
    size: int
    b: int
    device: str = "cpu"

    def __call__(self) -> Measured:
        found = system_of(self.matrix, self.size)
        single, gflop = found.single, self.b * _gflop(found)
        ours = iteration(single, self.b, self.device)
        return Measured(ours, gflop, self.b, single.shape[0], single.dtype.itemsize, found.source)


@dataclasses.dataclass(frozen=True)
class Library:
    """GFLOP/s of CG with one right-hand side by SciPy, or by CuPy on a GPU."""

    matrix: str
    size: int
    name: str

    def __call__(self) -> float:
        found = system_of(self.matrix, self.size)
        return _gflop(found) / (scipy_seconds if self.name == "SciPy" else cupy_seconds)(found.single)


def _gflop(found: System) -> float:
    return 1e-9 * flops_printed(found, found.single)


def works(
    matrix: str, b: int, values: Values, read: str | Mapping[str, str] | Callable[[Any], Row], *libraries: str
) -> Iterator[Work]:
    """An iteration on the cores, and in a report on this machine's accelerator and by libraries."""
    size, words = values.get("max_n", values["size"]), f"{matrix}, b = {b}"
    yield Work(words, BlockIteration(matrix, size, b), read)
    if found := values.get("accelerator_here"):
        yield Work(f"{words}, {found}", BlockIteration(matrix, size, b, found), {found: "rate"})
    for name in libraries if "report" in values else ():
        if name != "CuPy" or found == "cuda":
            yield Work(f"{matrix}, {name}", Library(matrix, size, name), name)


def _on_gpu(found: Measured, machine: str, values: Values) -> dict[str, Any]:
    """Rates on the 2080S or another machine: as the paper's program waits and sums dot products, and of our lines."""
    there = found.modelled(machine, 1e-6 * values["wait"], sums=values["sums"] == ON_HOST)
    return {"modelled_2080S": there, "modelled_without_waits_2080S": found.modelled(machine), "cpu": found.rate}


def fig5(values: Values) -> Iterator[Case]:
    """GFLOP/s with one right-hand side: printed, modelled and measured, next to libraries."""

    def read(found: Measured) -> dict[str, Any]:
        row = {"n": found.n, "ours_is": found.source, "modelled_i5": found.modelled(CPU)}
        return {**_on_gpu(found, GPU, values), **row}

    for matrix, *rates in printed()["fig5"]["rows"]:
        names = ("clSPARSE_i5", "i5", "clSPARSE_2080S", "2080S")
        row = {f"printed_{name}": None if math.isnan(rate) else rate for name, rate in zip(names, rates, strict=True)}
        kind, n, nnz = LINES[matrix]
        flops = by_table2(n, nnz, is_complex=kind.startswith("complex"))
        row |= {"printed_2080S_ms": 1e-6 * flops / rates[-1], "printed_n": n, "n": None}
        yield Case({"matrix": matrix, **row}, [*works(matrix, 1, values, read, "SciPy", "CuPy")])


def _cores_fit(rows: list[dict[str, Any]], values: Values) -> list[str]:
    """The printed rates of the i5 next to those by its bandwidth, and the times of its iterations that fit them."""
    factors = [row["modelled_i5"] / row["printed_i5"] for row in rows]
    parts, seconds = [], []
    for name, _, rate, *_ in printed()["fig5"]["rows"]:
        kind, n, nnz = LINES[name]
        if kind == "real":
            parts.append((1, n, nnz))
            seconds.append(1e-9 * by_table2(n, nnz, is_complex=False) / rate)
    fixed, row, entry = np.linalg.solve(np.array(parts, float), seconds)
    return [
        f"Not explained: the printed rates of the i5, {min(factors):.0f} to {max(factors):.0f} times below those by "
        f"its bandwidth. With the three real matrices, an iteration takes {1e3 * fixed:.2g} ms, {1e9 * row:.2g} ns for "
        f"each row and {1e9 * entry:.2g} ns for each non-zero: neither memory nor arithmetic takes so long, and "
        "clSPARSE is slower still.",
        *_about(values),
    ]


def fig6(values: Values) -> Iterator[Case]:
    """GFLOP/s against the number of right-hand sides; on the page those of one matrix at a time are computed."""
    report, machine = "report" in values, values["machine"]

    def read(found: Measured) -> dict[str, Any]:
        return {**_on_gpu(found, machine, values), "n": found.n, "ours_is": found.source}

    for matrix, rates in FIG6.items():
        for b, rate in enumerate(rates, 1):
            if b not in COLUMNS and report:
                continue
            row = {"matrix": matrix, "b": b, "printed_2080S": rate, "printed_gain": rate / rates[0]}
            row |= {"printed_n": LINES[matrix][1], "n": None}
            known = b in COLUMNS and (report or matrix == values["matrix"])
            yield Case(row, [*works(matrix, b, values, read, "SciPy")] if known else [])


def _gains(rows: list[dict[str, Any]]) -> None:
    """Add the gains over the row of one right-hand side."""
    one = {row["matrix"]: row.get("cpu") for row in rows if row["b"] == 1}
    for row in rows:
        row["cpu_gain"] = items.ratio(row.get("cpu"), one[row["matrix"]])


def _rows_fit(_rows: list[dict[str, Any]], values: Values) -> list[str]:
    """Times of a further right-hand side by the printed rates, as sentences."""
    where, slopes = profile(GPU), []
    for name, rates in FIG6.items():
        _, n, nnz = LINES[name]
        b = np.arange(1, STEADY + 1)
        seconds = 1e-9 * by_table2(n, nnz, is_complex=False) * b / np.array(rates[:STEADY])
        slopes.append(1e9 * np.polyfit(b, seconds, 1)[0] / n)
    single, group = (1e9 * host_sums(where, 10**6, 1, 4, each) / 10**6 for each in (GROUP, USUAL_GROUP))
    return [
        f"Up to b = {STEADY} a further right-hand side takes {min(slopes):.2g} and {max(slopes):.2g} ns per row, "
        "though the rows of m_t1 have 14 times as many non-zeros: not the product grows with b, but something of "
        f"vectors, as the paper supposes of its partial sums. In the model they take {single:.2g} ns per row if each "
        f"work-item leaves one to the host, and {group:.2g} ns for groups of {USUAL_GROUP}, so that groups of one "
        "are taken: fitted. The text supports it, taken literally: it has the rows' groups a multiple of the "
        "work-group. Not explained: the time of m_t1 for b = 1, and its "
        f"growth beyond b = {STEADY}.",
        *_about(values),
    ]


def _about(values: Values) -> list[str]:
    about = describe_machine()
    load = "other load on this machine lowers rates."
    here = f"Measured on {about['cpu']}, {about['cores_usable']} cores; {load} {values['why']}"
    return [here.strip(), *scaled(values["max_n"])]


NOTES = (
    "GFLOP/s by the paper's operation count, single precision, no preconditioner.",
    "Modelled: bytes of our lines over the bandwidth in data/machines, and a launch latency for each pass; on a GPU "
    f"{1e3 * WAIT:.1g} ms of waiting too, and copies and additions of partial sums of dot products on the host, as in "
    "the paper.",
    f"Measured rates are those of the median of {ITERATIONS - 1} iterations, on stand-ins where a matrix is not here; "
    "the paper divides the time of 5000.",
)
I5 = {
    "": Reason(
        "the text takes a group of rows to be a multiple of the work-group, which makes groups of one on the i5; the "
        "paper's kernels written so take a third of the printed time of a row, and nothing takes that of a non-zero",
        Support.UNKNOWN,
    )
}
WAITED = "the wait of the host, to the three smallest matrices, and groups of one, to Figure 6"
ON_2080S = Compared(
    printed="printed_2080S",
    source=printed()["figures"]["source"],
    modelled="modelled_2080S",
    ours=("cuda", "opencl"),
    sizes=("printed_n", "n"),
    model_of_ours=True,
    elsewhere=True,
    fitted=WAITED,
)
HERE = {"cpu": "cores here", "opencl": "OpenCL here", "cuda": "CUDA here", "SciPy": "SciPy here", "CuPy": "CuPy here"}
FIGURES = (
    Item(
        name="fig5",
        title="Figure 5: GFLOP/s with one right-hand side",
        cases=fig5,
        named=("matrix",),
        x=Axis("matrix", names=MATRICES),
        drawn_as="points",
        y=RATE,
        across="matrix",
        compared=(
            dataclasses.replace(ON_2080S, curve="2080S"),
            dataclasses.replace(
                ON_2080S,
                printed="printed_i5",
                modelled="modelled_i5",
                ours="cpu",
                curve="i5",
                reasons=I5,
                fitted="",
            ),
            *(
                Compared(printed=f"printed_clSPARSE_{name}", curve=f"clSPARSE, {name}", source=ON_2080S.source)
                for name in ("2080S", "i5")
            ),
        ),
        drawn=tuple(Drawn(column, items.MEASURED, name) for column, name in HERE.items()),
        turned=(SUMS, WAITING, SIZE),
        notes=(
            *NOTES,
            "The printed rates of the 2080S give 0.6 ms for an iteration of the three smallest matrices, whatever "
            "their size, which is the wait of the model. Not explained: the 1.5 ms that m_t1 takes beyond it, 0.15 ns "
            "for each non-zero, eight times as long as the device needs to read one; as much for each would make up "
            "for what parabolic_fem takes beyond its model too.",
            "clSPARSE is not available; SciPy's CG and, on CUDA, CuPy's take its place in a report. Their iterations "
            "cost the same for a matrix that is not Hermitian, though they do not converge.",
        ),
        found=_cores_fit,
        quick=32,
        accelerated=True,
    ),
    Item(
        name="fig6",
        title="Figure 6: GFLOP/s with b right-hand sides",
        cases=fig6,
        named=("matrix", "b"),
        x=Axis("right-hand sides b", "count", whole=True, word="b"),
        y=RATE,
        across="b",
        compared=(dataclasses.replace(ON_2080S, curve="{matrix}"),),
        drawn=tuple(Drawn(column, items.MEASURED, f"{{matrix}}, {name}") for column, name in HERE.items()),
        finish=_gains,
        turned=(
            Turned("matrix", "matrix", GROWING, GROWING[0], str, menu=True),
            Turned("machine", "machine of the model", MACHINES, GPU, lambda name: profile(name).title, menu=True),
            SUMS,
            WAITING,
            SIZE,
        ),
        notes=(
            *NOTES,
            f"The paper stops at b = {printed()['claims']['most_right_hand_sides']} for m_t1, with "
            f"{printed()['claims']['gflops_at_most']} GFLOP/s. Its recurrences are those of pseudo-block-cg.",
            "Iterations are those of CG for every b: the paper's solver saves time per iteration, never iterations. "
            "block-cg saves iterations too (docs/family.md).",
        ),
        found=_rows_fit,
        quick=32,
        accelerated=True,
    ),
)
