"""Convergence of a run with many right-hand sides: all columns as a band."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from workbench.figures.block_runs import AXES, block_history, places, title_of
from workbench.figures.style import new_figure
from workbench.recording import Record
from workbench.scenes.style import curve_style

FAINT = 0.25
"""Opacity of the curve of one column, and of the band."""


def block_convergence(
    record: Record,
    *,
    tolerance: float | None = None,
    against: str = "iterations",
    title: str = "",
    width: float = 5.5,
    height: float = 3.8,
) -> Figure:
    """||r_j||/||b_j|| of all columns j.

    The band reaches from the smallest to the largest column; the strong curve is the largest, which ends the run.
    tolerance: drawn as a horizontal line. against: `iterations` or `products`, columns multiplied by A. Sizes in
    inches. Raises InputError for a run with one right-hand side and for another axis.
    """
    history = block_history(record)
    x = places(history, against)
    figure = new_figure(width, height)
    axes = figure.add_subplot()
    columns = np.where(history.columns > 0, history.columns, np.nan)
    colour = curve_style(0).colour
    # Columns that are zero have no curve, and a row may have no column that has begun.
    known = np.isfinite(columns).any(axis=1)
    low, high = np.full(len(columns), np.nan), np.full(len(columns), np.nan)
    low[known], high[known] = np.nanmin(columns[known], axis=1), np.nanmax(columns[known], axis=1)
    axes.semilogy(x, columns, color=colour, linewidth=0.6, alpha=FAINT)
    axes.fill_between(x, low, high, color=colour, alpha=FAINT / 2, linewidth=0, label="all columns")
    axes.semilogy(x, high, color=colour, linewidth=1.6, label="largest")
    if tolerance is not None:
        axes.axhline(tolerance, color="#555555", linestyle=":", linewidth=1, label="tolerance")
    axes.set(xlabel=AXES[against], ylabel="relative residual ‖rⱼ‖ / ‖bⱼ‖", title=title or title_of(record))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.legend()
    return figure
