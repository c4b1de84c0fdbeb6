"""Tali, Vainikko: Figures 5 and 6, measured here in single precision and modelled on the paper's machines."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from workbench.devices.default_accelerator import default_accelerator
from workbench.figures import draw
from workbench.machine.describe import describe_machine
from workbench.machine.profile import profile
from workbench.operators import Matrix
from workbench.papers.block_cg import System, by_table2, flops_printed, printed, scaled, systems
from workbench.papers.block_cg_iteration import (
    GROUP,
    ITERATIONS,
    WAIT,
    Iteration,
    cupy_seconds,
    host_sums,
    iteration,
    scipy_seconds,
)
from workbench.papers.reproduction import Progress, Reproduction, style_of
from workbench.scenes.scene import Axis, CurveOf, Scene

CPU, GPU = "i5-8250u", "rtx2080s"
STEADY = 7
"""Right-hand sides up to which the printed times of both matrices of Figure 6 grow evenly."""
USUAL_GROUP = 256
"""Work-items of a group, as programs usually take."""
COLUMNS = (1, 2, 3, 4, 6, 8, 10, 12, 16, 20)
"""Right-hand sides measured, of those in Figure 6."""
RATE = Axis("GFLOP/s by the paper's count", log=True)


def fig5(max_n: int, progress: Progress) -> Reproduction:
    """GFLOP/s with one right-hand side: printed, modelled and measured, next to libraries."""
    accelerator, why = default_accelerator()
    lines = {name: rest for name, *rest in printed()["fig5"]["rows"]}
    rows = []
    for system in systems(max_n, progress):
        i5_library, i5, gpu_library, gpu = (None if math.isnan(value) else value for value in lines[system.name])
        assert gpu is not None
        progress(f"figure 5: {system.name}")
        matrix = system.single
        work = 1e-9 * flops_printed(system, matrix)
        ours = iteration(matrix, 1)
        row: dict[str, Any] = {"matrix": system.name, "printed_i5": i5}
        row |= {"modelled_i5": work / ours.modelled(profile(CPU)), "cpu": work / ours.seconds}
        row |= {"SciPy": work / scipy_seconds(matrix), "printed_clSPARSE_i5": i5_library, "printed_2080S": gpu}
        row |= _modelled(work, ours, matrix, 1)
        far = iteration(matrix, 1, accelerator).seconds if accelerator else None
        row |= {accelerator or "accelerator": far and work / far}
        row["CuPy"] = work / cupy_seconds(matrix) if accelerator == "cuda" else None
        row |= {"printed_clSPARSE_2080S": gpu_library, "printed_2080S_ms": 1e-6 * flops_printed(system) / gpu}
        rows.append(row | {"printed_n": system.n, "n": matrix.shape[0], "ours_is": system.source})
    notes = [
        "GFLOP/s by the paper's operation count, single precision, no preconditioner.",
        *_about(why),
        "The printed rates of the 2080S give 0.6 ms for an iteration of the three smallest matrices, whatever their "
        "size, which is the wait of the model. Not explained: the 1.5 ms that m_t1 takes beyond it, 0.15 ns for each "
        "non-zero, eight times as long as the device needs to read one; as much for each would make up for what "
        "parabolic_fem takes beyond its model too.",
        _cores_fit(rows),
        "clSPARSE is not available; SciPy's CG and, on CUDA, CuPy's take its place. Their iterations cost the same for "
        "a matrix that is not Hermitian, though they do not converge.",
        *scaled(max_n),
    ]
    title = "Figure 5: GFLOP/s with one right-hand side"
    return Reproduction("fig5", title, rows, notes, _rates(rows, accelerator, title))


def _cores_fit(rows: list[dict[str, Any]]) -> str:
    """How far the printed rates of the i5 are below its bandwidth, and what they say of its iterations."""
    factors = [row["modelled_i5"] / row["printed_i5"] for row in rows]
    lines = {name: (kind, n, nnz) for name, kind, n, nnz, *_ in printed()["table1"]["rows"]}
    parts, seconds = [], []
    for name, _, rate, *_ in printed()["fig5"]["rows"]:
        kind, n, nnz = lines[name]
        if kind == "real":
            parts.append((1, n, nnz))
            seconds.append(1e-9 * by_table2(n, nnz, is_complex=False) / rate)
    fixed, row, entry = np.linalg.solve(np.array(parts, float), seconds)
    return (
        f"Not explained: the printed rates of the i5, {min(factors):.0f} to {max(factors):.0f} times below those by "
        f"its bandwidth. With the three real matrices, an iteration takes {1e3 * fixed:.2g} ms, {1e9 * row:.2g} ns for "
        f"each row and {1e9 * entry:.2g} ns for each non-zero: neither memory nor arithmetic takes so long, and "
        "clSPARSE is slower still."
    )


def _rates(rows: list[dict[str, Any]], accelerator: str, title: str) -> Figure:
    """A mark for every rate of every matrix, on a logarithmic axis."""
    layers = []
    for key, style in _styles(accelerator).items():
        known = [place for place, row in enumerate(rows) if row.get(key) is not None]
        rates = np.array([rows[place][key] for place in known], float)
        if known:
            layers.append(CurveOf(key.replace("_", " "), np.array(known), rates, style, every=True, only=True))
    matrices = Axis("matrix", names=[row["matrix"] for row in rows])
    return draw(Scene("rates", matrices, RATE, layers), title=title, width=8.0)


def _modelled(work: float, ours: Iteration, matrix: Matrix, b: int) -> dict[str, float]:
    """Rates on the 2080S for so many 10^9 operations: of our lines, and as the paper's program sums dot products."""
    where, n = profile(GPU), matrix.shape[0]
    seconds = ours.modelled(where)
    there = seconds + WAIT + host_sums(where, n, b, matrix.dtype.itemsize)
    return {"modelled_2080S": work / seconds, "modelled_host_sums_2080S": work / there}


def _styles(accelerator: str) -> dict[str, int]:
    """The style of each rate in both figures."""
    printed_ones = ("printed_2080S", "printed_i5", "printed_clSPARSE_2080S", "printed_clSPARSE_i5")
    styles = {key: style_of("printed", which) for which, key in enumerate(printed_ones)}
    modelled = ("modelled_2080S", "modelled_i5", "modelled_host_sums_2080S")
    styles |= {key: style_of("modelled", which) for which, key in enumerate(modelled)} | {"cpu": style_of("cpu")}
    styles |= {accelerator: style_of("accelerator")} if accelerator else {}
    return styles | {"SciPy": style_of("library"), "CuPy": style_of("library", 1)}


def fig6(max_n: int, progress: Progress) -> Reproduction:
    """GFLOP/s against the number of right-hand sides."""
    accelerator, why = default_accelerator()
    rows, panels = [], []
    curves = printed()["fig6"]
    for system in (found for found in systems(max_n, progress) if found.name in curves):
        made = _growing(system, curves[system.name], accelerator, progress)
        rows += made
        named = {"printed, 2080S": "printed_2080S", "modelled, 2080S": "modelled_2080S"}
        named |= {"modelled, sums on the host, 2080S": "modelled_host_sums_2080S", "CPU, here": "cpu"}
        named |= {f"{accelerator}, here": accelerator} if accelerator else {}
        named["SciPy column by column, here"] = "SciPy"
        b, *rates = (np.array([row[key] for row in made]) for key in ("b", *named.values()))
        styles = _styles(accelerator)
        layers = [CurveOf(label, b, rate, styles[named[label]]) for label, rate in zip(named, rates, strict=True)]
        panels.append(Scene(system.source, Axis(f"right-hand sides, {system.source}", "count"), RATE, layers))
    claims = printed()["claims"]
    notes = [
        "GFLOP/s by the paper's operation count times b, single precision, pseudo-block-cg (the paper's recurrences).",
        *_about(why),
        f"The paper stops at b = {claims['most_right_hand_sides']} for m_t1, with {claims['gflops_at_most']} GFLOP/s.",
        _rows_fit(),
        "Iterations are those of CG for every b: the paper's solver saves time per iteration, never iterations. "
        "block-cg saves iterations too (docs/family.md).",
        *scaled(max_n),
    ]
    title = "Figure 6: GFLOP/s with b right-hand sides"
    return Reproduction("fig6", title, rows, notes, draw(*panels, side_by_side=True, width=8.5, title=title))


def _rows_fit() -> str:
    """What the printed rates say of the time that a right-hand side takes."""
    where, slopes = profile(GPU), []
    for name, n, nnz in ((line[0], line[2], line[3]) for line in printed()["table1"]["rows"]):
        if name in printed()["fig6"]:
            rates = np.array(printed()["fig6"][name][:STEADY])
            b = np.arange(1, rates.size + 1)
            seconds = 1e-9 * by_table2(n, nnz, is_complex=False) * b / rates
            slopes.append(1e9 * np.polyfit(b, seconds, 1)[0] / n)
    single, group = (1e9 * host_sums(where, 10**6, 1, 4, each) / 10**6 for each in (GROUP, USUAL_GROUP))
    return (
        f"Up to b = {STEADY} a further right-hand side takes {min(slopes):.2g} and {max(slopes):.2g} ns per row, "
        "though the rows of m_t1 have 14 times as many non-zeros: not the product grows with b, but something of "
        f"vectors, as the paper supposes of its partial sums. In the model they take {single:.2g} ns per row if each "
        f"work-item leaves one to the host, and {group:.2g} ns for groups of {USUAL_GROUP}, so that groups of one "
        "are taken: fitted, and no statement on the program. Not explained: the time of m_t1 for b = 1, and its "
        f"growth beyond b = {STEADY}."
    )


def _growing(system: System, rates: list[float], accelerator: str, progress: Progress) -> list[dict[str, Any]]:
    matrix = system.single
    flops = 1e-9 * flops_printed(system, matrix)
    by_scipy = flops / scipy_seconds(matrix)
    rows = []
    for b in (count for count in COLUMNS if count <= len(rates)):
        progress(f"figure 6: {system.source}, b = {b}")
        ours = iteration(matrix, b)
        row = {"matrix": system.source, "b": b, "printed_2080S": rates[b - 1], "printed_gain": rates[b - 1] / rates[0]}
        row |= _modelled(b * flops, ours, matrix, b) | {"cpu": b * flops / ours.seconds}
        row["cpu_gain"] = row["cpu"] / rows[0]["cpu"] if rows else 1.0
        far = iteration(matrix, b, accelerator) if accelerator else None
        row |= {accelerator or "accelerator": far and b * flops / far.seconds, "SciPy": by_scipy}
        rows.append(row | {"printed_n": system.n, "n": matrix.shape[0]})
    return rows


def _about(why: str) -> list[str]:
    about = describe_machine()
    return [
        f"Measured on {about['cpu']}, {about['cores_usable']} cores; other load on this machine lowers rates. {why}",
        "Modelled: bytes of our lines over the bandwidth in data/machines, and a launch latency for each pass. Sums on "
        f"the host: {1e3 * WAIT:.1g} ms of waiting too, and copies and additions of partial sums, as in the paper.",
        f"Measured rates are those of the median of {ITERATIONS - 1} iterations; the paper divides the time of 5000.",
    ]
