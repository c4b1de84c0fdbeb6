"""Convergence of a run with many right-hand sides: all columns as a band, the rank, and the smallest pivot."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from workbench.figures.block_runs import AXES, block_history, places, title_of
from workbench.figures.style import curve_style, new_figure
from workbench.recording import BlockHistory, Record

FAINT = 0.25
"""Opacity of the curve of one column, and of the band."""


def block_convergence(
    record: Record,
    *,
    tolerance: float | None = None,
    against: str = "iterations",
    title: str = "",
    width: float = 5.5,
    height: float = 5.2,
) -> Figure:
    """||r_j||/||b_j|| of all columns j, above the rank of the directions and the smallest pivot.

    The band reaches from the smallest to the largest column; the strong curve is the largest, which ends the run. The
    pivot is the smallest over the largest of the factorization that decided the rank. tolerance: drawn as a horizontal
    line. against: `iterations` or `products`, columns multiplied by A. Sizes in inches. Raises InputError for a run
    with one right-hand side and for another axis.
    """
    history = block_history(record)
    x = places(history, against)
    figure = new_figure(width, height)
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(2, 1))
    _columns(above, x, history, tolerance)
    above.set_title(title or title_of(record))
    _rank(below, x, history)
    below.set_xlabel(AXES[against])
    below.xaxis.set_major_locator(MaxNLocator(integer=True))
    return figure


def _columns(axes: Axes, x: np.ndarray, history: BlockHistory, tolerance: float | None) -> None:
    columns = np.where(history.columns > 0, history.columns, np.nan)
    colour = curve_style(0).colour
    # Columns that are zero have no curve, and a row may have no column that has begun.
    known = np.isfinite(columns).any(axis=1)
    low, high = np.full(len(columns), np.nan), np.full(len(columns), np.nan)
    low[known], high[known] = np.nanmin(columns[known], axis=1), np.nanmax(columns[known], axis=1)
    axes.semilogy(x, columns, color=colour, linewidth=0.6, alpha=FAINT)
    axes.fill_between(x, low, high, color=colour, alpha=FAINT / 2, linewidth=0, label=f"{columns.shape[1]} columns")
    axes.semilogy(x, high, color=colour, linewidth=1.6, label="largest")
    if tolerance is not None:
        axes.axhline(tolerance, color="#555555", linestyle=":", linewidth=1, label="tolerance")
    axes.set_ylabel("relative residual ‖rⱼ‖ / ‖bⱼ‖")
    axes.legend()


def _rank(axes: Axes, x: np.ndarray, history: BlockHistory) -> None:
    rank, pivot = curve_style(1), curve_style(2)
    axes.step(x, history.rank, where="mid", color=rank.colour, label="rank")
    axes.set_ylabel("rank")
    axes.set_ylim(0, 1.15 * max(1, int(history.rank.max(initial=1))))
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    handles = list(axes.get_lines())
    if np.isfinite(history.pivot).any():
        right = axes.twinx()
        handles += right.semilogy(x, history.pivot, color=pivot.colour, linestyle="--", label="smallest pivot")
        right.set_ylabel("smallest / largest pivot")
    axes.legend(handles=handles, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, frameon=False)
