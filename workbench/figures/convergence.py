"""Convergence plot: relative residual against iterations or time, for several runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, MaxNLocator

from workbench.figures.style import new_figure
from workbench.recording import Record
from workbench.scenes.style import curve_style

MARKS = 8
"""Markers per curve."""
RING: dict[str, Any] = {
    "marker": "o", "markersize": 8, "mfc": "none", "mec": "#000000", "mew": 1.0, "linestyle": "",
}  # fmt: skip


def convergence(
    records: Sequence[Record],
    labels: Sequence[str] | None = None,
    *,
    tolerance: float | None = None,
    positions: Sequence[np.ndarray] | None = None,
    xlabel: str = "iteration",
    xunit: str = "",
    legend: str = "inside",
    drift: bool = False,
    title: str = "",
    width: float = 5.5,
    height: float = 3.6,
) -> Figure:
    """Semilogarithmic plot of ||r||/||b|| against iterations, one curve per run; rings mark true residuals b - A x.

    labels: one per run, by default the names of its parts. tolerance: drawn as a horizontal line. positions: x
    coordinates of the samples of each run, shape (iterations + 1,), such as seconds; by default iteration numbers.
    xunit: unit of the x axis, printed with an SI prefix, as in ms. legend: `inside` or `below` the axes. drift: also
    draw ||Z^T r||/||b|| of deflated runs, dotted, which should stay near rounding. Sizes in inches.
    """
    figure = new_figure(width, height)
    axes = figure.add_subplot()
    has_rings = False
    names = list(labels) if labels is not None else [record.label for record in records]
    for index, (record, name) in enumerate(zip(records, names, strict=True)):
        style = curve_style(index)
        relative = record.relative_residual
        places = np.arange(relative.size) if positions is None else positions[index]
        axes.semilogy(
            places,
            np.where(relative > 0, relative, np.nan),
            color=style.colour,
            linestyle=style.linestyle,
            linewidth=1.3,
            marker=style.marker,
            markersize=4,
            markevery=max(1, relative.size // MARKS),
            label=name,
            gid=f"run {index}",
        )
        if drift:
            _draw_drift(axes, record, places, style.colour, name, f"run {index}")
        has_rings = _draw_true_residuals(axes, record, places, f"run {index}") or has_rings
    if has_rings:
        # One legend entry for all rings, after those of the runs.
        axes.plot([], [], label="true residual", **RING)
    if tolerance:
        axes.axhline(tolerance, color="#666666", linewidth=0.8, linestyle=(0, (1, 2)), label="tolerance")
    _label_axes(axes, xlabel, xunit, title)
    if names and legend == "below":
        figure.legend(loc="outside lower left", fontsize="small", frameon=False)
    elif names:
        axes.legend(fontsize="small", framealpha=0.9)
    return figure


def _draw_true_residuals(axes: Axes, record: Record, places: np.ndarray, gid: str) -> bool:
    """Draw rings at the true residuals, smaller ones if there are many; return whether there are any."""
    confirmed = record.history.true_residuals
    if not confirmed.size:
        return False
    rings = confirmed[:, 1] / record.norm_of_b
    size = RING["markersize"] if len(rings) <= MARKS else 4
    axes.semilogy(places[confirmed[:, 0].astype(int)], rings, label="_ring", gid=gid, **{**RING, "markersize": size})
    return True


def _label_axes(axes: Axes, xlabel: str, xunit: str, title: str) -> None:
    axes.set_xlabel(xlabel)
    if xunit:
        axes.xaxis.set_major_locator(MaxNLocator(6))
        axes.xaxis.set_major_formatter(EngFormatter(xunit))
    axes.set_ylabel("relative residual ‖r‖ / ‖b‖")
    axes.set_title(title)
    axes.grid(True, which="major", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)


def _draw_drift(axes: Axes, record: Record, places: np.ndarray, colour: str, name: str, gid: str) -> None:
    measured = record.history["drift"]
    known = np.flatnonzero(measured > 0)
    if known.size:
        values = measured[known] / record.norm_of_b
        label = f"‖Zᵀr‖ / ‖b‖ of {name}"
        axes.semilogy(places[known], values, color=colour, linestyle=(0, (1, 1.5)), linewidth=1.0, label=label, gid=gid)
