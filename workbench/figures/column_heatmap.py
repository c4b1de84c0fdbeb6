"""Heat map of the relative residual by column and iteration."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle
from matplotlib.ticker import MaxNLocator

from workbench.figures.block_runs import block_history, title_of
from workbench.figures.style import new_figure
from workbench.recording import Record

FLOOR = -16.0
"""The least logarithm, also that of a residual of zero, which has the colour of the smallest positive one."""


def column_heatmap(
    record: Record, *, tolerance: float, title: str = "", width: float = 6.0, height: float | None = None
) -> Figure:
    """log10 of ||r_j||/||b_j|| by column j and iteration k; cells at or below the tolerance are hatched.

    Columns that have not begun are white. Sizes in inches; the default height follows the number of columns. Raises
    InputError for a run with one right-hand side.
    """
    relative = block_history(record).columns.T
    s = len(relative)
    values = np.full(relative.shape, np.nan)
    values[relative == 0] = FLOOR
    positive = relative > 0
    values[positive] = np.maximum(np.log10(relative[positive]), FLOOR)
    figure = new_figure(width, height or min(7.0, 2.2 + 0.16 * s))
    axes = figure.add_subplot()
    image = axes.imshow(np.ma.masked_invalid(values), cmap="cividis", aspect="auto", interpolation="nearest")
    if positive.any():
        # A column that is zero would take the scale to the floor, and leave the others one colour.
        image.set_clim(vmin=values[positive].min())
    figure.colorbar(image, ax=axes, label="log₁₀ ‖rⱼ‖ / ‖bⱼ‖")
    _hatch(axes, relative <= tolerance)
    axes.set(xlabel="iteration k", ylabel="column j", title=title or title_of(record))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.yaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    mark = Patch(facecolor="#666666", edgecolor="#ffffff", hatch="////", label=f"converged, at most {tolerance:.0e}")
    figure.legend(handles=[mark], loc="outside lower left", fontsize="small", frameon=False)
    return figure


def _hatch(axes: Axes, converged: np.ndarray) -> None:
    """Hatch the cells that are true, one rectangle per run of neighbours in a row."""
    for j, row in enumerate(converged):
        edges = np.flatnonzero(np.diff(np.concatenate([[False], row, [False]]).astype(int)))
        for begin, end in edges.reshape(-1, 2):
            corner, across = (float(begin) - 0.5, j - 0.5), float(end - begin)
            axes.add_patch(Rectangle(corner, across, 1, fill=False, edgecolor="#ffffff", hatch="////", linewidth=0))
