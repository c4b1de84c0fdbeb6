"""Boxes and directions of multipreconditioned CG on the grid of a problem in 2D."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import Figure

from workbench.errors import InputError
from workbench.figures.colormaps import VIK
from workbench.figures.style import new_figure
from workbench.scenes.style import COLOURS

FAINTEST = 1e-6
"""The least value that is shown, relative to the largest."""
MOST = 16
"""Directions that are drawn."""


def boxes_over_field(
    values: np.ndarray, grid: tuple[int, ...], pieces: Sequence[np.ndarray], *, label: str, width: float = 5.5
) -> Figure:
    """The outlines of the pieces of a Schwarz method over a field, with its colour bar. Size in inches.

    values: shape (N,); their absolute values are shown, on a logarithmic scale over six decades. pieces: the unknowns
    of each. label: of the colour bar, with its unit. Neighbouring outlines overlap where the boxes do. Raises
    InputError for a grid that is not in 2D.
    """
    _check(grid)
    figure = new_figure(width, 0.85 * width, square=True)
    axes = figure.subplots()
    sizes = np.abs(values).reshape(grid)
    largest = float(sizes.max()) or 1.0
    faintest = FAINTEST * largest
    scale = LogNorm(faintest, largest)
    shown = axes.imshow(np.maximum(sizes, faintest), origin="lower", cmap="cividis", norm=scale)
    figure.colorbar(shown, label=label, shrink=0.85)
    for place, piece in enumerate(pieces):
        y, x = np.divmod(piece, grid[1])
        low, high = (x.min() - 0.5, y.min() - 0.5), (x.max() + 0.5, y.max() + 0.5)
        corners = np.array([low, (high[0], low[1]), high, (low[0], high[1]), low])
        axes.plot(*corners.T, color="white", linewidth=2.6)
        axes.plot(*corners.T, color=COLOURS[place % 6], linewidth=1.4)
        middle = (low[0] + high[0]) / 2, (low[1] + high[1]) / 2
        axes.text(*middle, str(place), color="white", ha="center", va="center")
    _bare(axes, grid)
    axes.set(xlabel="x (points)", ylabel="y (points)")
    return figure


def directions_on_grid(block: np.ndarray, grid: tuple[int, ...], *, title: str = "", width: float = 5.5) -> Figure:
    """The directions of an iteration as small pictures, at most 16, each scaled by its largest value. Size in inches.

    block: shape (N, k). title: above them, none if empty. Raises InputError for a grid that is not in 2D, and for
    no direction.
    """
    _check(grid)
    count = min(MOST, block.shape[1])
    if not count:
        raise InputError("this iteration has no directions to draw; all depended on those before")
    columns = math.ceil(math.sqrt(count))
    rows = -(-count // columns)
    figure = new_figure(width, width * rows / columns + 0.5, square=True)
    every, scale = figure.subplots(rows, columns, squeeze=False), Normalize(-1, 1)
    for place, axes in enumerate(every.flat):
        axes.set_axis_off()
        if place < count:
            direction = np.real(block[:, place])
            largest = np.abs(direction).max() or 1.0
            axes.imshow(direction.reshape(grid) / largest, origin="lower", cmap=VIK, norm=scale)
            axes.set_title(f"p{place}", fontsize="small")
    if title:
        figure.suptitle(title)
    figure.colorbar(ScalarMappable(scale, VIK), ax=every, label="direction / its largest value (1)", shrink=0.6)
    return figure


def _check(grid: tuple[int, ...]) -> None:
    if len(grid) != 2:
        raise InputError(f"this figure is for grids in 2D, and the grid has {len(grid)} dimensions")


def _bare(axes: Axes, grid: tuple[int, ...]) -> None:
    axes.set_xlim(-1, grid[1])
    axes.set_ylim(-1, grid[0])
