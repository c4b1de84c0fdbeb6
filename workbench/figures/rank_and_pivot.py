"""Rank of the search directions and smallest pivot of a run with many right-hand sides."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from workbench.figures.block_runs import block_history, title_of
from workbench.figures.style import new_figure
from workbench.recording import Record
from workbench.scenes.style import curve_style


def rank_and_pivot(record: Record, *, title: str = "", width: float = 5.5, height: float = 3.8) -> Figure:
    """The rank of the search directions above the smallest over the largest pivot, against iterations.

    A method without pivots says so in place of the curve. Sizes in inches. Raises InputError for a run with one
    right-hand side.
    """
    history = block_history(record)
    figure = new_figure(width, height)
    above, below = figure.subplots(2, 1, sharex=True)
    iterations, s = np.arange(history.count), history.columns.shape[1]
    above.step(iterations, history.rank, where="mid", color=curve_style(1).colour, label="rank")
    above.axhline(s, color="#666666", linewidth=0.8, linestyle=":", label=f"s = {s}")
    above.set(ylabel="rank (columns)", ylim=(0, 1.15 * s), title=title or title_of(record))
    above.yaxis.set_major_locator(MaxNLocator(integer=True))
    above.legend(fontsize="small")
    _pivot(below, iterations, history.pivot)
    below.set_xlabel("iteration k")
    below.xaxis.set_major_locator(MaxNLocator(integer=True))
    return figure


def _pivot(axes: Axes, iterations: np.ndarray, pivot: np.ndarray) -> None:
    axes.set_ylabel("smallest / largest\npivot (1)")
    if (pivot > 0).any():
        shown = np.where(pivot > 0, pivot, np.nan)
        axes.semilogy(iterations, shown, color=curve_style(2).colour, marker=".", markersize=4, linewidth=1)
        axes.set_ylim(min(0.05, float(np.nanmin(shown)) / 2), 2)
        axes.grid(True, which="major", color="#dddddd", linewidth=0.6)
        return
    axes.set_yticks([])
    axes.text(0.5, 0.5, "this method has no pivots", ha="center", va="center", transform=axes.transAxes)
