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
from workbench.papers.block_cg import System, flops_printed, printed, scaled, systems
from workbench.papers.block_cg_iteration import ITERATIONS, cupy_seconds, iteration, scipy_seconds
from workbench.papers.reproduction import Progress, Reproduction, style_of
from workbench.scenes.scene import Axis, CurveOf, Scene

CPU, GPU = "i5-8250u", "rtx2080s"
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
        row["modelled_2080S"] = work / ours.modelled(profile(GPU))
        far = iteration(matrix, 1, accelerator).seconds if accelerator else None
        row |= {accelerator or "accelerator": far and work / far}
        row["CuPy"] = work / cupy_seconds(matrix) if accelerator == "cuda" else None
        row |= {"printed_clSPARSE_2080S": gpu_library, "printed_2080S_ms": 1e-6 * flops_printed(system) / gpu}
        rows.append(row | {"ours_is": system.source})
    notes = [
        "GFLOP/s by the paper's operation count, single precision, no preconditioner.",
        *_about(why),
        "The printed rates of the 2080S give 0.6 ms for an iteration of the three smallest matrices, whatever their "
        "size: the paper's solver waits for the device after its kernels and sums dot products on the host. The large "
        "ones take 2 ms more, less than a tenth of the device's bandwidth.",
        "Not explained: the printed rates of the i5, 26 to 44 times below those by its bandwidth. clSPARSE is slower "
        "still on it, so the kernels of the paper alone are not the reason.",
        "clSPARSE is not available; SciPy's CG and, on CUDA, CuPy's take its place. Their iterations cost the same for "
        "a matrix that is not Hermitian, though they do not converge.",
        *scaled(max_n),
    ]
    title = "Figure 5: GFLOP/s with one right-hand side"
    return Reproduction("fig5", title, rows, notes, _rates(rows, accelerator, title))


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


def _styles(accelerator: str) -> dict[str, int]:
    """The style of each rate in both figures."""
    printed_ones = ("printed_2080S", "printed_i5", "printed_clSPARSE_2080S", "printed_clSPARSE_i5")
    styles = {key: style_of("printed", which) for which, key in enumerate(printed_ones)}
    styles |= {"modelled_2080S": style_of("modelled"), "modelled_i5": style_of("modelled", 1), "cpu": style_of("cpu")}
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
        named = {"printed, 2080S": "printed_2080S", "modelled, 2080S": "modelled_2080S", "CPU, here": "cpu"}
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
        "Iterations are those of CG for every b: the paper's solver saves time per iteration, never iterations. "
        "block-cg saves iterations too (docs/family.md).",
        *scaled(max_n),
    ]
    title = "Figure 6: GFLOP/s with b right-hand sides"
    return Reproduction("fig6", title, rows, notes, draw(*panels, side_by_side=True, width=8.5, title=title))


def _growing(system: System, rates: list[float], accelerator: str, progress: Progress) -> list[dict[str, Any]]:
    matrix = system.single
    flops = 1e-9 * flops_printed(system, matrix)
    by_scipy = flops / scipy_seconds(matrix)
    rows = []
    for b in (count for count in COLUMNS if count <= len(rates)):
        progress(f"figure 6: {system.source}, b = {b}")
        ours = iteration(matrix, b)
        row = {"matrix": system.source, "b": b, "printed_2080S": rates[b - 1], "printed_gain": rates[b - 1] / rates[0]}
        row |= {"modelled_2080S": b * flops / ours.modelled(profile(GPU)), "cpu": b * flops / ours.seconds}
        row["cpu_gain"] = row["cpu"] / rows[0]["cpu"] if rows else 1.0
        far = iteration(matrix, b, accelerator) if accelerator else None
        rows.append(row | {accelerator or "accelerator": far and b * flops / far.seconds, "SciPy": by_scipy})
    return rows


def _about(why: str) -> list[str]:
    about = describe_machine()
    return [
        f"Measured on {about['cpu']}, {about['cores_usable']} cores; other load on this machine lowers rates. {why}",
        "Modelled: bytes of our lines over the bandwidth in data/machines, and a launch latency for each pass; waiting "
        "for the host and copies of dot products are left out.",
        f"Measured rates are those of the median of {ITERATIONS - 1} iterations; the paper divides the time of 5000.",
    ]
