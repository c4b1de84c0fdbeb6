"""Several methods for many right-hand sides: iterations next to products with A."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from workbench.errors import InputError
from workbench.figures.block_runs import AXES, block_history, products
from workbench.figures.style import new_figure
from workbench.recording import Record
from workbench.scenes.style import curve_style

Runs = Record | Sequence[Record]
"""A run with many right-hand sides, or those of single columns, one after another."""


def block_comparison(
    runs: Mapping[str, Runs],
    *,
    tolerance: float | None = None,
    title: str = "",
    width: float = 8.0,
    height: float = 3.6,
) -> Figure:
    """The largest ||r_j||/||b_j|| against iterations k, and against columns multiplied by A, one curve per method.

    runs: by name in the legend; of a sequence of single columns iteration k is the k-th of each. Sizes in inches.
    Raises InputError without a run.
    """
    if not runs:
        raise InputError("a comparison needs at least one run")
    figure = new_figure(width, height)
    axes = figure.subplots(1, 2, sharey=True)
    for index, (name, given) in enumerate(runs.items()):
        largest, multiplied = _curve(given)
        style = curve_style(index)
        for panel, x in zip(axes, (np.arange(largest.size), multiplied), strict=True):
            shown = np.where(largest > 0, largest, np.nan)
            panel.semilogy(x, shown, color=style.colour, linestyle=style.linestyle, linewidth=1.4, label=name)
    for panel, label in zip(axes, AXES.values(), strict=True):
        if tolerance is not None:
            panel.axhline(tolerance, color="#666666", linewidth=0.8, linestyle=":", label="tolerance")
        panel.set_xlabel(label)
        panel.xaxis.set_major_locator(MaxNLocator(5, integer=True))
        panel.grid(True, which="major", color="#dddddd", linewidth=0.6)
    axes[0].set_ylabel("largest relative residual ‖rⱼ‖ / ‖bⱼ‖")
    figure.suptitle(title, fontsize="medium")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, fontsize="small", frameon=False)
    return figure


def _curve(given: Runs) -> tuple[np.ndarray, np.ndarray]:
    """The largest relative residual by iteration, and the columns multiplied up to it."""
    if isinstance(given, Record):
        return given.history["residual"], products(block_history(given))
    if not given:
        raise InputError("a comparison needs at least one run of a single column")
    curves = [one.relative_residual for one in given]
    most = max(curve.size for curve in curves)
    largest = np.max([np.pad(curve, (0, most - curve.size), mode="edge") for curve in curves], axis=0)
    k = np.arange(most)
    return largest, np.sum([np.minimum(k, curve.size - 1) for curve in curves], axis=0)
