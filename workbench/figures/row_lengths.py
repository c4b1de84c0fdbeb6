"""Histogram of the entries per row of a sparse matrix."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from workbench.errors import InputError
from workbench.figures.style import new_figure
from workbench.scenes.style import COLOURS

MAX_BARS = 60
LOG_SCALE_RATIO = 100.0
"""Ratio of the highest to the lowest bar from which the vertical axis is logarithmic."""


def row_lengths(lengths: np.ndarray, *, title: str = "", width: float = 4.2) -> Figure:
    """Histogram of row lengths, with bins of one or more integers.

    lengths: entries per row, integer, shape (N,). width in inches. Cost: one pass over `lengths`. Raises InputError
    for a matrix without rows.
    """
    counts, edges = binned(lengths)
    figure = new_figure(width, 0.8 * width)
    axes = figure.add_subplot()
    axes.bar(edges[:-1], counts, np.diff(edges), align="edge", color=COLOURS[0], edgecolor="#ffffff", linewidth=0.4)
    some = counts[counts > 0]
    if some.max() >= LOG_SCALE_RATIO * some.min():
        axes.set_yscale("log")
        axes.set_ylim(0.5, None)
    else:
        axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    mean = float(lengths.mean())
    axes.axvline(mean, color=COLOURS[1], linestyle="--", linewidth=1.2, label=f"mean {mean:.3g}")
    axes.legend(frameon=False, fontsize="small")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    each = int(edges[1] - edges[0])
    axes.set_xlabel("entries per row" if each == 1 else f"entries per row, {each} per bar")
    axes.set_ylabel("rows")
    axes.set_title(title)
    axes.spines[["top", "right"]].set_visible(False)
    return figure


def binned(lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Number of rows per bin, shape (k,), and bin edges halfway between integers, shape (k + 1,)."""
    if not lengths.size:
        raise InputError("a matrix without rows has no row lengths")
    low, high = int(lengths.min()), int(lengths.max())
    each = -(-(high - low + 1) // MAX_BARS)
    bars = -(-(high - low + 1) // each)
    counts = np.bincount((lengths - low) // each, minlength=bars)
    return counts, low - 0.5 + each * np.arange(bars + 1)
