"""Chen: Figures 4, 5 and 6, measured here and modelled on the paper's machines, with what is printed in numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from workbench.devices.default_accelerator import default_accelerator
from workbench.figures import draw
from workbench.papers.mpcg import Progress, about_here, fit_sentence
from workbench.papers.mpcg_counts import MPCG
from workbench.papers.mpcg_model import fitted
from workbench.papers.mpcg_printed import printed, printed_seconds
from workbench.papers.mpcg_solves import STOPPING, seconds_in_boxes, solved
from workbench.papers.mpcg_sweeps import modelled_gpu, sweep_seconds, sweeps_of
from workbench.papers.reproduction import Reproduction, style_of
from workbench.scenes.convergence import convergence_scene
from workbench.scenes.scene import Axis, BarsOf, CurveOf, Layer, Scene

DOMAIN = 300
"""N of Figures 4 and 5."""
KERNELS = ("plain", "auto")
"""Of `box_sweeps`, in Figure 6."""


def fig4(max_n: int, progress: Progress) -> Reproduction:
    """Relative residuals of MPCG against iterations for all numbers of boxes."""
    here, rows, records = min(DOMAIN, max_n), [], []
    for boxes in printed()["table3"]["boxes"]:
        progress(f"figure 4: {boxes} boxes, N = {here}")
        block, whole = solved(here, "mpcg", boxes), solved(here, "sum-cg", boxes)
        row: dict[str, Any] = {"boxes": boxes, "N": DOMAIN, "N_here": here, "printed_iterations": None}
        row |= {"modelled_iterations": MPCG[DOMAIN][boxes], "measured_iterations": block.iterations}
        row |= {"sum_cg_iterations": whole.iterations, "gain_percent": 100 * (1 - block.iterations / whole.iterations)}
        relative = block.record().relative_residual
        row |= {f"residual_at_{k}": float(relative[k]) if k < relative.size else None for k in (10, 20)}
        rows.append(row)
        records.append(block.record())
    title = f"Figure 4: relative residuals of MPCG, N = {here}"
    labels = [f"{row['boxes']} boxes" for row in rows]
    notes = [
        "The paper prints curves and no counts. It says that more boxes need more iterations; with an overlap of one "
        "point boxes of equal sides need fewer than their neighbours (3 x 3 fewer than 2 x 3, 4 x 4 fewer than 3 x 4).",
        "Modelled: the counts behind the model of Table 3, f = 1, exact solves, overlap of one point.",
        *_smaller(here),
    ]
    scene = convergence_scene(records, labels, tolerance=STOPPING.rtol)
    return Reproduction("fig4", title, rows, notes, draw(scene, title=title))


def fig5(max_n: int, progress: Progress) -> Reproduction:
    """Seconds of MPCG, in boxes and in all else, for all numbers of boxes."""
    here, fit, rows = min(DOMAIN, max_n), fitted(), []
    # Compiles.
    solved(16, "mpcg", "2x2")
    for boxes in printed()["table3"]["boxes"]:
        progress(f"figure 5: {boxes} boxes, N = {here}")
        result, iterations = solved(here, "mpcg", boxes, trace=True), MPCG[DOMAIN][boxes]
        row: dict[str, Any] = {"boxes": boxes, "N": DOMAIN, "printed_s": printed_seconds(DOMAIN, boxes)}
        row["modelled_s"] = fit.seconds(DOMAIN, boxes, iterations)
        row["modelled_in_boxes_s"] = fit.solves(DOMAIN, boxes, iterations)
        row["modelled_line_10_s"] = fit.line10(DOMAIN, boxes, iterations)
        in_boxes = seconds_in_boxes(result)
        row |= {"N_here": here, "measured_s": result.iteration_seconds, "measured_in_boxes_s": in_boxes}
        row["measured_other_s"] = max(0.0, result.iteration_seconds - in_boxes)
        rows.append(row)
    notes = [
        "Printed: totals of Table 3; the paper's bars carry no numbers. It says that the time in boxes falls and that "
        "of the sum in line 10 rises with the number of boxes, as modelled.",
        f"Modelled: {fit_sentence()}",
        "Measured: exact solves, one box after another; other: the products with stored terms, A, and vectors.",
        *about_here(),
        *_smaller(here),
    ]
    title = f"Figure 5: seconds of MPCG, N = {DOMAIN}"
    return Reproduction("fig5", title, rows, notes, _split(rows, title))


def fig6(max_n: int, progress: Progress) -> Reproduction:
    """Jacobi sweeps by a launch each and by one kernel for all of them."""
    accelerator, why = default_accelerator()
    persistent = {n: seconds for n, seconds, _ in printed()["fig6"]["rows"]}
    ratios = {n: ratio for n, _, ratio in printed()["fig6"]["rows"]}
    first = {n: gpu for n, _, gpu, _ in printed()["table1"]["rows"]}
    rows = []
    for n, _, gpu, _ in printed()["table2"]["rows"]:
        here = min(n, max_n)
        progress(f"figure 6: N = {here}")
        row: dict[str, Any] = {"N": n, "printed_launches_s": gpu, "printed_persistent_s": persistent.get(n)}
        row |= {"printed_ratio": ratios.get(n), "ratio_to_table_1": None, "ratio_to_table_2": None}
        if n in persistent:
            row |= {"ratio_to_table_1": persistent[n] / first[n], "ratio_to_table_2": persistent[n] / gpu}
        row |= {"modelled_launches_s": modelled_gpu(n, constant=True), "N_here": here}
        row |= _measured("cpu", "cpu", here) | _measured(accelerator or "accelerator", accelerator, here)
        rows.append(row)
    per_sweep = [1e6 * seconds / sweeps_of(n) for n, seconds in persistent.items()]
    notes = [
        "Seconds of 5 N^2 Jacobi sweeps, constant coefficients, single precision; measured and modelled as in Table 2.",
        "launches, plain: a pass over memory for each Jacobi sweep (solver 2). auto: what the device chooses, on "
        "CUDA one persistent kernel for all of them where it fits, else several Jacobi sweeps for each pass.",
        "The printed ratios are those to Table 1, whose solver reads coefficients at every point; to solver 2, which "
        "the figure names, they are larger.",
        f"The persistent kernel takes {' and '.join(f'{each:.2f}' for each in per_sweep)} microseconds for a Jacobi "
        "sweep at N = 50 and 100, whatever its size: the time of the barrier between blocks.",
        *about_here(why),
    ]
    if rows[-1]["N"] > max_n:
        notes.append(f"N here is at most {max_n}; --max-n {rows[-1]['N']} takes the paper's sizes.")
    title = "Figure 6: Jacobi sweeps by launches and in a persistent kernel"
    return Reproduction("fig6", title, rows, notes, _kernels(rows, accelerator, title))


def _measured(label: str, device: str, n: int) -> dict[str, float | None]:
    """Seconds of both kernels on a device, None without one."""
    named = {f"measured_{label}_{kernel}_s": kernel for kernel in KERNELS}
    return {
        key: sweep_seconds(n, sweeps_of(n), device, kernel=kernel) if device else None for key, kernel in named.items()
    }


def _split(rows: list[dict[str, Any]], title: str) -> Figure:
    """Stacked bars of the paper's machines and of this one, each on an axis from 0."""
    theirs = _bars(rows, "modelled_in_boxes_s", "modelled_line_10_s")
    places, totals = np.arange(len(rows)), np.array([row["printed_s"] for row in rows], float)
    printed_ones = CurveOf("printed", places, totals, style_of("printed"), every=True, only=True)
    boxes = Axis("boxes", names=[row["boxes"] for row in rows])
    above = Scene("theirs", boxes, Axis("seconds on the paper's machines, modelled"), [*theirs, printed_ones])
    here = Axis(f"seconds here, N = {rows[0]['N_here']}, measured")
    return draw(above, Scene("ours", boxes, here, _bars(rows, "measured_in_boxes_s", "measured_other_s")), title=title)


def _bars(rows: list[dict[str, Any]], *parts: str) -> list[Layer]:
    """The time in boxes, and on it that of line 10 and all else."""
    solves, other = (np.array([row[part] for row in rows], float) for part in parts)
    places = np.arange(len(rows))
    return [
        BarsOf("in boxes", places, solves, 0.8, style=0),
        BarsOf("line 10, other", places, solves + other, 0.8, solves, style=1),
    ]


def _kernels(rows: list[dict[str, Any]], accelerator: str, title: str) -> Figure:
    """Seconds against N on logarithmic axes: markers for what is printed, lines for the rest."""
    named = {"printed, launches": "printed_launches_s", "printed, persistent": "printed_persistent_s"}
    named["modelled, launches"] = "modelled_launches_s"
    styles = [style_of("printed"), style_of("printed", 1), style_of("modelled")]
    for source, device in {"cpu": "cpu", **({"accelerator": accelerator} if accelerator else {})}.items():
        named |= {f"{device}, here, {kernel}": f"measured_{device}_{kernel}_s" for kernel in KERNELS}
        styles += [style_of(source, which) for which in range(len(KERNELS))]
    layers = []
    for style, (label, key) in zip(styles, named.items(), strict=True):
        size = "N_here" if key.startswith("measured") else "N"
        x, y = (np.array([row[name] for row in rows if row[key]], float) for name in (size, key))
        layers.append(CurveOf(label, x, y, style, every=True, only=key.startswith("printed")))
    x_axis = Axis("N", "count", log=True, marks=[row["N"] for row in rows])
    return draw(Scene("kernels", x_axis, Axis("seconds of 5 N² Jacobi sweeps", log=True), layers), title=title)


def _smaller(here: int) -> list[str]:
    return [f"N here is {here}; --max-n {DOMAIN} takes the paper's size."] if here < DOMAIN else []
