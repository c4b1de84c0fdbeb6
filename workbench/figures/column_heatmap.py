"""Heat map of the relative residual by column and iteration."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from workbench.figures.block_runs import block_history, title_of
from workbench.figures.style import new_figure
from workbench.recording import Record

FLOOR = -16.0
"""The least logarithm shown, for a residual that is zero."""


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
    figure.colorbar(image, ax=axes, label="log₁₀ relative residual ‖rⱼ‖ / ‖bⱼ‖")
    converged = relative <= tolerance
    if converged.any() and min(converged.shape) > 1:
        axes.contourf(converged, levels=[0.5, 1.5], colors="none", hatches=["////"])
    elif converged.any():
        for j, k in np.argwhere(converged):
            axes.axvspan(k - 0.5, k + 0.5, (s - j - 1) / s, (s - j) / s, fill=False, hatch="////", linewidth=0)
    axes.set(xlabel="iteration k", ylabel="column j", title=title or title_of(record))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    mark = Patch(facecolor="none", edgecolor="#000000", hatch="////", label=f"converged, at most {tolerance:.0e}")
    figure.legend(handles=[mark], loc="outside lower left", fontsize="small", frameon=False)
    return figure
