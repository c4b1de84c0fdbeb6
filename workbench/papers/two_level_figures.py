"""Gupta, van Gijzen, Vuik 2013: figures, from solves run on request."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from workbench.figures import draw
from workbench.papers.reproduction import Progress, Reproduction
from workbench.papers.timing import MEDIANS, medians
from workbench.papers.two_level import FULL_SIZE_2D, LEVEL_ONE, printed, timed
from workbench.papers.two_level_model import MACHINES, NOTE, Method, seconds_of_iteration, seconds_of_setup
from workbench.run import Result, configure
from workbench.scenes.scene import Axis, BarsOf, CurveOf, PointsOf, Scene


def fig1(max_n: int, progress: Progress) -> Reproduction:
    """The spectrum of the 16 x 16 two-layer problem, with a jump caused by the density contrast."""
    progress("figure 1: eigenvalues of the 16 x 16 problem")
    matrix = configure("two-layer", n=16).problem.assemble().operator.to_csr().toarray()
    values = np.linalg.eigvalsh(matrix)
    gaps = values[1:] / values[:-1]
    jump = int(np.argmax(gaps)) + 1
    rows = [
        {
            "eigenvalues": values.size,
            "smallest": float(values[0]),
            "largest": float(values[-1]),
            "largest_jump_after": jump,
            "jump_factor": float(gaps[jump - 1]),
            "below_a_tenth_of_the_largest": int(np.count_nonzero(values < 0.1 * values[-1])),
        }
    ]
    points = PointsOf("", np.arange(1, values.size + 1), values, size=1.5, marker=".")
    scene = Scene("spectrum", Axis("index", "count", whole=True), Axis("eigenvalue of A", log=True), [points])
    notes = ["The paper prints only the figure, which shows the same jump between the two phases."]
    return Reproduction("fig1", "Figure 1: spectrum of the two-layer problem", rows, notes, draw(scene))


def fig9(max_n: int, progress: Progress, device: str = "cpu") -> Reproduction:
    """Explicit inverse against triangular solves, block-IC."""
    names = ("block_ic(2n)", "block_ic(4n)", "block_ic(8n)")
    title = "Figure 9: explicit inverse against triangular solves, block-IC"
    notes = [
        "The paper: for block-IC the coarse solver hardly matters, since its preconditioner takes most of an iteration "
        "on the GPU. On the cores it takes a smaller part, and the coarse solver shows; see dense over inverse.",
    ]
    return _coarse_strategies("fig9", title, names, max_n, notes, progress, device)


def fig10(max_n: int, progress: Progress, device: str = "cpu") -> Reproduction:
    """Explicit inverse against triangular solves, Neumann(2)."""
    title = "Figure 10: explicit inverse against triangular solves, Neumann(2)"
    return _coarse_strategies("fig10", title, ("neumann(2)",), max_n, [_factor_of_four()], progress, device)


def _factor_of_four() -> str:
    """What the printed factor says of a row of the paper's triangular solves, if it holds for n = 1024."""
    factor = printed()["claims"]["explicit_inverse_over_triangular_solve"]
    (seconds,) = (line[2] for line in printed()["table1"]["rows"] if line[0] == "neumann(2)")
    (iterations,) = (line[-1] for line in printed()["table2"]["rows"] if line[0] == "neumann(2)")
    rows = 2 * 2 * FULL_SIZE_2D
    microseconds = 1e6 * (factor - 1) * seconds / iterations / rows
    return (
        f"The paper's factor of {factor} for Neumann(2) on its GPU leaves, at n = {FULL_SIZE_2D} and {seconds} s for "
        f"{iterations} iterations with the inverse, {microseconds:.2g} microseconds for each of the {rows} rows of the "
        "two substitutions: about the time of a launch, and far from that of the bytes of a row."
    )


def fig11(max_n: int, progress: Progress, device: str = "cpu") -> Reproduction:
    """Setup time as a share of the total for triangular solves, by number of deflation vectors."""
    title = "Figure 11: setup share, triangular solves"
    return _setup_shares("fig11", title, "dense-cholesky", max_n, progress, device)


def fig12(max_n: int, progress: Progress, device: str = "cpu") -> Reproduction:
    """The same for the explicit inverse."""
    return _setup_shares("fig12", "Figure 12: setup share, explicit inverse", "inverse", max_n, progress, device)


STRATEGIES = {"inverse": "inverse", "dense": "dense-cholesky", "band": "cholesky"}
"""Coarse solvers by the names of columns: the paper's two, and the band that takes the place of its second one here."""


def _coarse_strategies(
    name: str,
    title: str,
    first_levels: tuple[str, ...],
    max_n: int,
    notes: list[str],
    progress: Progress,
    device: str,
) -> Reproduction:
    sizes = [n for n in (128, 256, 512, 1024) if n <= max_n]
    rows: list[dict[str, Any]] = []
    for first in first_levels:
        for n in sizes:
            progress(f"{name}: {first} at n = {n}")
            results = {
                column: timed("two-layer", n, LEVEL_ONE[first], "stripes", coarse=coarse, device=device)
                for column, coarse in STRATEGIES.items()
            }
            seconds = {column: medians(found)[1] for column, found in results.items()}
            iterations = results["inverse"][0].iterations
            method = Method("two-layer", n, LEVEL_ONE[first], "stripes", "inverse")
            modelled = [iterations * seconds_of_iteration(method, machine) for machine in MACHINES]
            rows.append(
                {"preconditioner": first, "n": n}
                | {f"{column}_s": taken for column, taken in seconds.items()}
                | {f"{column}_over_inverse": seconds[column] / seconds["inverse"] for column in ("dense", "band")}
                | {"modelled_cpu_s": modelled[0], "modelled_gpu_s": modelled[1]}
            )
    notes = [
        *notes,
        "dense: the paper's method, two triangular solves with a dense factor (coarse dense-cholesky); band: ours, of "
        "half-bandwidth 2 for 2n stripes. " + _found(rows, device),
        f"{NOTE} They are for our iterations, and the same for inverse and dense factor, which have the same bytes.",
        MEDIANS,
    ]
    return Reproduction(name, title, rows, notes, _coarse_strategy_figure(rows, first_levels, sizes))


def _found(rows: list[dict[str, Any]], device: str) -> str:
    """A sentence on the largest sizes: what the factor of four is here."""
    last = [row for row in rows if row["n"] == rows[-1]["n"]]
    dense, band = ([f"{row[f'{which}_over_inverse']:.2g}" for row in last] for which in ("dense", "band"))
    return (
        f"At n = {rows[-1]['n']} on device {device} the dense factor takes {' to '.join(sorted({*dense}))} times as "
        f"long as the inverse, the band {' to '.join(sorted({*band}))}."
    )


def _coarse_strategy_figure(rows: list[dict[str, Any]], first_levels: tuple[str, ...], sizes: list[int]) -> Figure:
    """Iteration time against n for each preconditioner and coarse solver."""
    layers = []
    labels = {"inverse_s": "explicit inverse", "dense_s": "dense triangular solves", "band_s": "band"}
    for place, first in enumerate(first_levels):
        of_first = [row for row in rows if row["preconditioner"] == first]
        for style, (column, label) in enumerate(labels.items(), len(labels) * place):
            seconds = np.array([row[column] for row in of_first])
            layers.append(CurveOf(f"{first}, {label}", np.array(sizes), seconds, style, every=True))
    x = Axis("grid points per side n", "count", log=True, marks=sizes)
    return draw(Scene("coarse solvers", x, Axis("iteration time", "s", log=True), layers))


PHASES = {"AZ": "AZ_s", "coarse matrix E": "E_s", "coarse solver": "E_solver_s"}
"""The phases of a setup that the paper lists, by their names here; the rest is space, x, b, A, M and the start."""
BARS = {
    "setup_percent": "measured here",
    "modelled_cpu_percent": "Q9550, modelled",
    "modelled_gpu_percent": "C2070, modelled",
}


def _setup_shares(name: str, title: str, coarse: str, max_n: int, progress: Progress, device: str) -> Reproduction:
    n = min(512, max_n)
    rows: list[dict[str, Any]] = []
    for per_row in (1, 2, 4, 8):
        progress(f"{name}: {per_row * n} vectors at n = {n}")
        results = timed("two-layer", n, "neumann:2", f"stripes:{per_row}", coarse=coarse, device=device)
        setup, iterating = medians(results)
        row = {"vectors": per_row * n, "n": n, "setup_percent": 100 * setup / (setup + iterating)}
        method = Method("two-layer", n, "neumann:2", f"stripes:{per_row}", coarse)
        for which, machine in zip(("cpu", "gpu"), MACHINES, strict=True):
            modelled = seconds_of_setup(method, machine), results[0].iterations * seconds_of_iteration(method, machine)
            row[f"modelled_{which}_percent"] = 100 * modelled[0] / sum(modelled)
        phases = {column: _median_of_phase(results, phase) for phase, column in PHASES.items()}
        rest = setup - sum(phases.values())
        rows.append({**row, "setup_s": setup, **phases, "other_setup_s": rest, "total_s": setup + iterating})
    places, wide = np.arange(len(rows)), 0.8 / len(BARS)
    bars = [
        BarsOf(label, places + (k - 1) * wide, np.array([row[column] for row in rows]), 0.9 * wide, style=k)
        for k, (column, label) in enumerate(BARS.items())
    ]
    x = Axis("deflation vectors", names=[str(row["vectors"]) for row in rows])
    scene = Scene("setup share", x, Axis("setup share of the total (%)", span=(0, 100)), bars, title=f"n = {n}")
    notes = [
        f"The paper prints these as figures, (a) for its CPU and (b) for its GPU; measured is device {device} here.",
        f"{NOTE} Setups are factor or inverse at peak, on the GPU with the copy of the data.",
        "The paper: a setup for triangular solves takes a third of one for the inverse. Factor and inverse alone have "
        "d^3/3 and 2 d^3 operations, a sixth.",
        MEDIANS,
    ]
    return Reproduction(name, title, rows, notes, draw(scene))


def _median_of_phase(results: Sequence[Result], phase: str) -> float:
    """Seconds of a phase of the setup."""
    return statistics.median(
        sum(one["seconds"] for one in result.summary["setup_phases"] if one["name"] == phase) for result in results
    )
