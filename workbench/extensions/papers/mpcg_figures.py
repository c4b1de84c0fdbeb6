"""Chen: Figures 4, 5 and 6."""

from __future__ import annotations

import dataclasses
import functools
import statistics
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from workbench.extensions.papers import items, mpcg
from workbench.extensions.papers.comparison import Compared
from workbench.extensions.papers.items import Case, Drawn, Item, Turned, Values, Work
from workbench.extensions.papers.mpcg import BOXES, CACHE, FIT, GPU_OF_SWEEPS, OVERLAP, SECONDS, TIME, in_boxes
from workbench.extensions.papers.mpcg_model import MPCG, fitted, printed_seconds
from workbench.extensions.papers.mpcg_sweeps import modelled_gpu, printed, sweeps_of
from workbench.lines.schedule import operator_of
from workbench.plots.scenes.scene import Axis
from workbench.records import kernel_table
from workbench.run import Run, run_through

DOMAIN = 300
"""N of Figures 4 and 5."""


def fig4(values: Values) -> Iterator[Case]:
    """Relative residuals of MPCG for all numbers of boxes; in a report next to the counts of the sum of the boxes."""
    n, overlap = values["n"], values["overlap"]
    here = items.size_here(n, values)
    for boxes in BOXES:
        curves = functools.partial(_residuals, f"{boxes} boxes, N = {here}")
        works = [Work(f"{boxes} boxes, N = {here}", in_boxes(here, "mpcg", boxes, overlap), _counts, curves=curves)]
        if "report" in values:
            sums = in_boxes(here, "sum-cg", boxes)
            works.append(Work(f"sum, {boxes} boxes", sums, {"sum_cg_iterations": "iterations"}))
        row = {"boxes": boxes, "N": n, "N_here": here, "printed_iterations": None}
        yield Case(row | {"modelled_iterations": MPCG.get(n, {}).get(boxes)}, works)


def _residuals(name: str, solved: items.Solved) -> list[items.Curve]:
    y = np.array(solved.residuals)
    return [items.Curve(name, np.arange(float(y.size)), y, items.COUNTED)]


def _counts(solved: items.Solved) -> dict[str, Any]:
    at = {k: solved.residuals[k] if k < len(solved.residuals) else None for k in (10, 20)}
    return {"measured_iterations": solved.iterations} | {f"residual_at_{k}": found for k, found in at.items()}


def _gains(rows: list[dict[str, Any]]) -> None:
    for row in rows:
        if row.get("sum_cg_iterations"):
            row["gain_percent"] = 100 * (1 - row["measured_iterations"] / row["sum_cg_iterations"])


@dataclasses.dataclass(frozen=True)
class InBoxes:
    """A solve whose kernels are timed: its iterations, and their seconds with those of the solves in boxes."""

    n: int
    boxes: str
    overlap: int

    def __call__(self) -> tuple[int, float, float]:
        # Compiles.
        run_through(Run(in_boxes(16, "mpcg", "2x2")))
        result = run_through(Run(in_boxes(self.n, "mpcg", self.boxes, self.overlap), trace=True))
        assert result.trace is not None
        inside = [row["seconds"] for row in kernel_table(result.trace) if operator_of(row["kernel"]) == "M"]
        return result.iterations, result.iteration_seconds, sum(inside)


def fig5(values: Values) -> Iterator[Case]:
    """Seconds of MPCG, in boxes and in all else, for all numbers of boxes."""
    n, overlap = values["n"], values["overlap"]
    here, known = items.size_here(n, values), n in MPCG and overlap == OVERLAP.paper
    for boxes in BOXES:
        row = {"boxes": boxes, "N": n, "N_here": here, "printed_s": printed_seconds(n, boxes) if n == DOMAIN else None}
        model = functools.partial(_split, n, boxes)
        work = Work(
            f"{boxes} boxes, N = {here}", InBoxes(here, boxes, overlap), functools.partial(_parts, model, known)
        )
        yield Case(row, [work], functools.partial(model, MPCG[n][boxes]) if known else dict)


def _split(n: int, boxes: str, iterations: int) -> dict[str, float]:
    """Modelled seconds on the paper's machines, in boxes and in all else."""
    fit = fitted()
    parts = {
        "modelled_in_boxes_s": fit.solves(n, boxes, iterations),
        "modelled_line_10_s": fit.line10(n, boxes, iterations),
    }
    return {"modelled_s": fit.seconds(n, boxes, iterations), **parts}


def _parts(
    model: Callable[[int], Mapping[str, float]], known: bool, found: tuple[int, float, float]
) -> dict[str, float]:
    iterations, seconds, inside = found
    row = {"measured_s": seconds, "measured_in_boxes_s": inside, "measured_other_s": max(0.0, seconds - inside)}
    return row if known else {**row, **model(iterations)}


def _barrier() -> float:
    """Microseconds of a Jacobi sweep in the paper's persistent kernel, which hardly depend on its size."""
    return round(statistics.mean(1e6 * seconds / sweeps_of(n) for n, seconds, _ in printed()["fig6"]["rows"]), 2)


def fig6(values: Values) -> Iterator[Case]:
    """Jacobi sweeps by a launch each and by one kernel for all of them."""
    persistent = {n: (seconds, share) for n, seconds, share in printed()["fig6"]["rows"]}
    first = {n: gpu for n, _, gpu, _ in printed()["table1"]["rows"]}

    def modelled(n: int) -> dict[str, float]:
        launches = modelled_gpu(n, constant=True, where=mpcg.turned_gpu(values))
        return {"modelled_launches_s": launches, "modelled_persistent_s": 1e-6 * values["barrier"] * sweeps_of(n)}

    for n, _, gpu, _ in printed()["table2"]["rows"]:
        here = items.size_here(n, values)
        row: dict[str, Any] = {"N": n, "printed_launches_s": gpu, "N_here": here}
        if n in persistent:
            seconds, share = persistent[n]
            row |= {"printed_persistent_s": seconds, "printed_ratio": share}
            row |= {"ratio_to_table_1": seconds / first[n], "ratio_to_table_2": seconds / gpu}
        works = mpcg.measured_sweeps(here, values, {"_plain": "plain", "_auto": "auto"})
        yield Case(row, works, functools.partial(modelled, n))


FIGURES = (
    Item(
        name="fig4",
        title="Figure 4: relative residuals of MPCG by boxes",
        cases=fig4,
        named=("boxes",),
        x=Axis("iteration", "count", whole=True, word="iteration"),
        y=Axis("relative residual", log=True),
        finish=_gains,
        turned=(mpcg.sides(DOMAIN), OVERLAP),
        notes=(
            "The paper prints curves and no counts. It says that more boxes need more iterations; with an overlap of "
            "one point boxes of equal sides need fewer than their neighbours (3 x 3 fewer than 2 x 3, 4 x 4 fewer "
            "than 3 x 4).",
            "Modelled: the counts behind the model of Table 3, f = 1, exact solves, overlap of one point.",
        ),
        found=mpcg.at_most,
        quick=128,
    ),
    Item(
        name="fig5",
        title="Figure 5: seconds of MPCG, in boxes and in line 10",
        cases=fig5,
        named=("boxes",),
        x=Axis("boxes", names=BOXES),
        y=TIME,
        across="boxes",
        drawn=(
            Drawn("modelled_in_boxes_s", items.MODELLED, "in boxes, modelled", "in boxes"),
            Drawn("modelled_line_10_s", items.MODELLED, "line 10, modelled", "line 10, other"),
            Drawn("measured_s", items.MEASURED, "total here, N = {N_here}", "total"),
            Drawn("measured_in_boxes_s", items.MEASURED, "in boxes here, N = {N_here}", "in boxes"),
            Drawn("measured_other_s", items.MEASURED, "line 10 and all else here, N = {N_here}", "line 10, other"),
        ),
        compared=(dataclasses.replace(SECONDS, curve="total", uncounted=lambda _: "a row of Table 3"),),
        turned=(mpcg.sides(DOMAIN), OVERLAP),
        notes=(
            "Printed: totals of Table 3; the paper's bars carry no numbers. It says that the time in boxes falls and "
            "that of the sum in line 10 rises with the number of boxes, as modelled.",
            FIT,
            "Measured: exact solves, one box after another; all else: products with stored terms, A, and vectors.",
        ),
        found=mpcg.with_fit,
        quick=128,
    ),
    Item(
        name="fig6",
        title="Figure 6: Jacobi sweeps by launches and in a persistent kernel",
        cases=fig6,
        named=("N",),
        x=Axis(
            "points per side N", "count", log=True, word="N", marks=[line[0] for line in printed()["table2"]["rows"]]
        ),
        y=Axis("time of 5 N² Jacobi sweeps", "s", log=True),
        across="N",
        drawn=tuple(
            Drawn(f"measured_{device}_{kernel}_s", items.MEASURED, f"{where} here, {kernel}", across="N_here")
            for device, where in (("cpu", "cores"), ("opencl", "OpenCL"), ("cuda", "CUDA"))
            for kernel in ("plain", "auto")
        ),
        compared=(
            dataclasses.replace(
                mpcg.sweeps_compared(
                    "launches", "launches", "measured_cuda_plain_s", "measured_opencl_plain_s", reasons=CACHE
                ),
                uncounted=lambda _: "a row of Table 2",
            ),
            mpcg.sweeps_compared(
                "persistent",
                "persistent",
                "measured_cuda_auto_s",
                "measured_opencl_auto_s",
                fitted="the time of a barrier, to both",
            ),
            Compared(
                printed="printed_ratio",
                ours="ratio_to_table_1",
                uncounted=lambda _: "the quotient of two printed numbers",
            ),
        ),
        turned=(
            *GPU_OF_SWEEPS,
            Turned(
                "barrier",
                "GPU's barrier between blocks, µs",
                items.geometric(0.1, 100, 31, _barrier()),
                _barrier(),
                whose="ours",
            ),
        ),
        notes=(
            "Constant coefficients, single precision; measured and modelled as in Table 2. Plain: a pass over memory "
            "for each Jacobi sweep (solver 2). Auto: what the device chooses, on CUDA one persistent kernel for all "
            "of them where it fits, else several Jacobi sweeps for each pass.",
            f"Modelled, persistent: {_barrier():.2f} microseconds for a Jacobi sweep whatever its size, the time of "
            "the barrier between blocks: the mean of both printed times.",
            "The printed ratios are those to Table 1, whose solver reads coefficients at every point; to solver 2, "
            "which the figure names, they are larger.",
        ),
        found=mpcg.at_most,
        accelerated=True,
    ),
)
